"""What CasADi and SymPy share: a system whose functions get NumPy arrays of scalar expressions."""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from pliant.core.ir import Node, Op
from pliant.core.origin import Nowhere
from pliant.diff.system import Abilities
from pliant.diff.systems.expressions import ExpressionArray, expressions, is_condition
from pliant.diff.systems.staged import Staged
from pliant.errors import PliantError
from pliant.ops.cond import Cond
from pliant.transforms.evaluate import evaluate, run_rule


@functools.cache
def namespace_of(kind: type[ExpressionArray]) -> Any:
    """NumPy, making arrays of expressions where it makes arrays of floats: they can be assigned to."""

    def lifting(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args, **kwargs: lifted(kind, function(*args, **kwargs))

    def astype(x: Any, dtype: Any) -> Any:
        if not isinstance(x, kind):
            return lifted(kind, np.astype(x, dtype))
        if np.dtype(dtype).kind != "f":
            raise kind.unsupported(f"astype({np.dtype(dtype)})")
        is_truth = any(map(is_condition, np.asarray(x).flat))
        return np.where(x, 1.0, 0.0) if is_truth else x

    def run(op: Op, args: Sequence[Any]) -> tuple[Any, ...]:
        condition, *xs = args or (None,)
        if isinstance(op, Cond) and isinstance(condition, kind) and condition.truth is None:
            sides = [evaluate(fn, tuple(xs), namespace) for fn in op.branches]
            return tuple([np.where(condition, x, y) for x, y in zip(*sides, strict=True)])
        return tuple([lifted(kind, y) for y in run_rule(op, namespace, [*args])])

    def told(error: Exception, node: Node) -> None:
        if isinstance(error, PliantError) and not isinstance(node.origin, Nowhere):
            error.at(("here", node.origin))

    rest = {name: getattr(np, name) for name in dir(np) if not name.startswith("_")}
    own = {name: lifting(rest[name]) for name in ("asarray", "zeros", "ones", "full", "zeros_like", "ones_like")}
    ways = {"astype": astype, "pliant_run": run, "pliant_error": told, "__name__": "numpy"}
    namespace = SimpleNamespace(**rest | own | ways)
    return namespace


def lifted(kind: type[ExpressionArray], x: Any) -> Any:
    """An array of floats as one of expressions; other arrays as they are."""
    array = np.asarray(x)
    if isinstance(x, kind) or array.dtype.kind not in "fO":
        return x
    return array.astype(object).view(kind)


class OnExpressions(Staged):
    """A system whose functions get NumPy arrays of scalar expressions: real ones."""

    abilities = Abilities(forward=True, reverse=True, is_traced=True, bakes=True, mutation="local", complex=False)

    @property
    @abstractmethod
    def kind(self) -> type[ExpressionArray]:
        """The class of its arrays."""

    @abstractmethod
    def variables(self, count: int) -> Sequence[Any]:
        """Fresh symbols."""

    @property
    def namespace(self) -> Any:
        """NumPy, for such arrays."""
        return namespace_of(self.kind)

    def symbol(self, x: Any) -> Any:
        """An array of fresh symbols."""
        array = np.asarray(x)
        return expressions(self.kind, self.variables(array.size), array.shape)

    def is_symbolic(self, x: Any) -> bool:
        """Floats: integers may be indices, which expressions are not."""
        return np.asarray(x).dtype.kind in "fO"

    def guard(self, x: Any) -> Any:
        """A copy: writes to it stay inside the program."""
        return x.copy()

    def array(self, x: Any) -> Any:
        """An array of expressions."""
        return lifted(self.kind, x)

    def eye(self, n: int, like: Any) -> Any:
        """The unit matrix."""
        return lifted(self.kind, np.eye(n))

    def zeros(self, shape: tuple[int, ...], like: Any) -> Any:
        """Zeros."""
        return lifted(self.kind, np.zeros(shape))

    def cast(self, x: Any, like: Any) -> Any:
        """Expressions have one precision."""
        return x

    def buffer(self, template: Any) -> Any:
        """Fresh zeros."""
        return lifted(self.kind, np.zeros(template.shape))
