"""What is measured: a function of arrays written once over a namespace, and data to run it on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
import optree

Array = Any  # of NumPy, JAX or PyTorch
Function = Callable[..., Any]


@final
@dataclass(frozen=True)
class Case:
    """`fn(xp, *args)` on some data.

    kind: "value"; "gradient", which is of the first argument, with the value; "jacobian", of the first argument
    too; or "jacobian rows": of the first three arguments, for each entry of their first axes.
    own: versions for libraries that `fn` does not suit, by side; None where there is none.
    """

    group: str
    name: str
    fn: Function
    args: tuple[Any, ...]
    size: int = 0
    kind: str = "value"
    own: Mapping[str, Function | None] = field(default_factory=dict[str, "Function | None"])

    @property
    def dtype(self) -> str:
        """The dtype of its floats."""
        return str(next(a.dtype for a in leaves(self.args) if a.dtype.kind == "f"))

    @property
    def title(self) -> str:
        """Its name, kind and dtype."""
        return f"{self.name}: {self.kind}, {self.dtype}"


def leaves(tree: Any) -> list[Any]:
    """The arrays in tuples, lists and dicts, as NumPy's."""
    found: list[Any] = optree.tree_leaves(tree)
    return [np.asarray(leaf) for leaf in found]


def moved(case: Case, result: Any) -> int:
    """Bytes that a call has to read and write at least: its arguments and its result, once each."""
    return sum([a.nbytes for a in (*leaves(case.args), *leaves(result))])


def copy_of(size: int) -> Callable[[], object]:
    """A call that moves so many bytes: it reads one half, and writes the other."""
    source, target = np.ones(size // 2, np.uint8), np.empty(size // 2, np.uint8)
    return lambda: np.copyto(target, source)
