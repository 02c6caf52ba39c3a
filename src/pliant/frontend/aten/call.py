"""One call of an operator of PyTorch's graphs, and what the tables of these operators share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, final

import numpy as np

from pliant.core.data import frozen
from pliant.errors import UnsupportedError
from pliant.frontend.convert import as_traced
from pliant.frontend.kinds import is_traced
from pliant.frontend.tracing import is_tracing

Array: TypeAlias = Any
Rule: TypeAlias = "Callable[..., Any]"
"""What an operator computes: of its call, and its operands, arrays and numbers as the graph has them."""


@final
@frozen
class Call:
    """What a graph knows of one call.

    name: of the operator, as `aten.add`. dtypes, shapes: of its results, empty for what is no tensor. common: the dtype
    that its operands are promoted to. line: of the user's program, if it is known.
    """

    name: str
    dtypes: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    common: str = ""
    line: str = ""

    @property
    def dtype(self) -> Any:
        """The dtype of its first result."""
        return np.dtype(self.dtypes[0])

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of its first result."""
        return self.shapes[0]

    @property
    def working(self) -> Any:
        """The dtype to compute in: the result's, if that is a float; else that of the promoted operands."""
        return self.dtype if self.dtype.kind in "fc" or not self.common else np.dtype(self.common)

    def refused(self, why: str = "", hint: str = "") -> UnsupportedError:
        """The error for a call that cannot be translated."""
        message = f"from_torch: {self.name} {why or 'has no translation'}"
        return UnsupportedError(
            f"{message}\n{self.line}" if self.line else message,
            hint=hint or "write this part with NumPy, or call it through pliant.diff.DifferentiateWith",
        )


def is_array(x: Any) -> bool:
    """Whether an operand is an array, and no number, text or None."""
    return hasattr(x, "dtype") and hasattr(x, "shape")


def cast(x: Any, dtype: Any) -> Any:
    """An array in another dtype; a number as it is."""
    return x if not is_array(x) or x.dtype == dtype else x.real.astype(dtype) if _drops(x, dtype) else x.astype(dtype)


def _drops(x: Any, dtype: Any) -> bool:
    return x.dtype.kind == "c" and np.dtype(dtype).kind not in "cb"


def own(x: Any) -> Any:
    """A copy of an array that may be written, with traced numbers too."""
    return x.copy() if is_traced(x) else as_traced(np.array(x)) if is_tracing() else np.array(x)


def axes_of(dims: int | Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """Axes, not negative; all of them where none are named."""
    if isinstance(dims, int):
        return (dims % max(rank, 1),)
    return tuple([d % max(rank, 1) for d in dims]) if dims else tuple(range(rank))


def axis_of(dim: int, x: Any) -> int:
    """An axis, not negative."""
    return dim % max(x.ndim, 1)


def at_least_1d(x: Any) -> Any:
    """A number as an array of one element, which has an axis 0."""
    return x if x.ndim else x.reshape(1)
