"""CasADi: f's program on arrays of CasADi's expressions, its derivatives as one CasADi function."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from pliant.diff.optional import package
from pliant.diff.system import Arrays, Flat, Mode, Pushed
from pliant.diff.systems.expressions import ExpressionArray, array_class, expressions
from pliant.diff.systems.on_expressions import OnExpressions
from pliant.diff.systems.staged import Compiled

_SAME: Final = (
    "sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh arctanh exp log log10 log1p expm1 sqrt floor ceil "
    "sign copysign hypot fmax fmin fmod arctan2"
).split()
_OTHER: Final = {
    "absolute": "fabs", "maximum": "fmax", "minimum": "fmin", "where": "if_else", "less": "lt", "less_equal": "le",
    "greater": "gt", "greater_equal": "ge", "equal": "eq", "not_equal": "ne", "bitwise_and": "logic_and",
    "bitwise_or": "logic_or", "invert": "logic_not", "logical_and": "logic_and", "logical_or": "logic_or",
    "logical_not": "logic_not",
}  # fmt: skip


def _package() -> Any:
    return package("casadi", "CasADi", "casadi")


@functools.cache
def _arrays() -> type[ExpressionArray]:
    """The class of arrays, with CasADi's functions."""
    casadi = _package()

    functions: dict[str, Callable[..., Any]] = {
        **{name: getattr(casadi, name) for name in _SAME},
        **{name: getattr(casadi, other) for name, other in _OTHER.items()},
    }
    return array_class("CasADi", functions)


@final
@dataclass(frozen=True)
class CasADi(OnExpressions):
    """Forward and reverse mode of CasADi's scalar expressions, for real functions.

    plain: Pliant traces f, and the program runs on expressions; else f itself does, on NumPy arrays
    of them. mode: what Jacobians and Hessians are made with; "both" takes the cheaper by the shapes.
    """

    modules = ("casadi",)
    pip = "casadi"
    mode: Mode = "both"
    plain: bool = True

    @property
    def kind(self) -> type[ExpressionArray]:
        """Arrays of `casadi.SX`."""
        return _arrays()

    def variables(self, count: int) -> Sequence[Any]:
        """Fresh symbols."""
        vector = _package().SX.sym("x", count)
        return [vector[n] for n in range(count)]

    def pushforward(self, fn: Flat, xs: Arrays, dxs: Arrays, is_many: bool) -> Pushed:
        """`casadi.jtimes`."""
        ys, aux = fn(xs)
        return ys, aux, self._times(ys, xs, dxs, ys, is_many, False)

    def pullback(self, fn: Flat, xs: Arrays, seed: Callable[[Arrays], Arrays], is_many: bool) -> Pushed:
        """`casadi.jtimes` of the transpose."""
        ys, aux = fn(xs)
        return ys, aux, self._times(ys, xs, seed(ys), xs, is_many, True)

    def _times(self, ys: Arrays, xs: Arrays, seeds: Arrays, like: Arrays, is_many: bool, transposed: bool) -> Arrays:
        """Columns of products, cut into arrays; seeds and results have a leading axis if there are many."""
        count = seeds[0].shape[0] if is_many else 1
        rows = [np.asarray(s).reshape(count, -1) for s in seeds]
        columns = [_vector([e for r in rows for e in r[n]]) for n in range(count)]
        y, x = (_vector([e for a in arrays for e in np.asarray(a).flat]) for arrays in (ys, xs))
        if not y.numel() or not x.numel():
            return tuple([self.zeros((count, *a.shape) if is_many else a.shape, a) for a in like])
        made = _package().jtimes(y, x, _package().horzcat(*columns), transposed)
        results: list[Any] = []
        start = 0
        for a in like:
            part = [made[start + n, m] for m in range(count) for n in range(a.size)]
            results.append(expressions(self.kind, part, (count, *a.shape) if is_many else a.shape))
            start += a.size
        return tuple(results)

    def compiled(self, symbols: Sequence[Any], results: Sequence[Any]) -> Compiled:
        """A CasADi function, called through memory of its own in each thread."""
        flat = [_vector(list(np.asarray(a).flat)) for a in (*symbols, *results)]
        function = _package().Function("program", flat[: len(symbols)], flat[len(symbols) :])
        local, count = threading.local(), len(symbols)
        shapes = [np.shape(a) for a in (*symbols, *results)]

        def run(given: Sequence[Any]) -> Sequence[Any]:
            if not hasattr(local, "call"):
                local.buffer, call = function.buffer()
                local.memory = [np.empty(shape) for shape in shapes]
                for n, array in enumerate(local.memory):
                    data = array.reshape(-1).data
                    local.buffer.set_arg(n, data) if n < count else local.buffer.set_res(n - count, data)
                local.call = call
            memory = local.memory
            for array, x in zip(memory, given, strict=False):
                array[...] = x
            local.call()
            return [array.copy() for array in memory[count:]]

        return run


def _vector(values: Sequence[Any]) -> Any:
    """Expressions and numbers as a column of CasADi's."""
    return _package().vertcat(*[_package().SX(v) for v in values])
