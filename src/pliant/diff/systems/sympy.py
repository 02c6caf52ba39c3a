"""SymPy: f's program on arrays of SymPy's expressions, derivatives by its rules, run by `lambdify`."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from pliant.diff.optional import package
from pliant.diff.system import Arrays, Flat, Mode, Pushed
from pliant.diff.systems.expressions import ExpressionArray, array_class, expressions, is_condition, whole
from pliant.diff.systems.on_expressions import OnExpressions
from pliant.diff.systems.staged import Compiled

_NAMES: Final = {
    "sin": "sin", "cos": "cos", "tan": "tan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsin": "asin",
    "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh", "exp": "exp",
    "log": "log", "sqrt": "sqrt", "absolute": "Abs", "floor": "floor", "ceil": "ceiling", "sign": "sign",
    "maximum": "Max", "minimum": "Min", "fmax": "Max", "fmin": "Min", "arctan2": "atan2", "less": "Lt",
    "less_equal": "Le", "greater": "Gt", "greater_equal": "Ge", "equal": "Eq", "not_equal": "Ne",
    "bitwise_and": "And", "bitwise_or": "Or", "invert": "Not", "logical_and": "And", "logical_or": "Or",
    "logical_not": "Not",
}  # fmt: skip

_RELATIONS: Final = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")


def _package() -> Any:
    return package("sympy", "SymPy", "sympy")


@functools.cache
def _arrays() -> type[ExpressionArray]:
    """The class of arrays, with SymPy's functions."""
    sympy = _package()

    choice = _choice()
    named: dict[str, Any] = {name: getattr(sympy, other) for name, other in _NAMES.items()}
    unary: dict[str, Callable[[Any], Any]] = {
        "log1p": lambda x: sympy.log(1 + x),
        "log10": lambda x: sympy.log(x, 10),
        "expm1": lambda x: sympy.exp(x) - 1,
    }

    def hypot(x: Any, y: Any) -> Any:
        return sympy.sqrt(x * x + y * y)

    def where(condition: Any, x: Any, y: Any) -> Any:
        condition, x, y = map(sympy.sympify, (condition, x, y))
        x = x.args[1] if isinstance(x, choice) and x.args[0] == condition else x
        y = y.args[2] if isinstance(y, choice) and y.args[0] == condition else y
        if condition in (sympy.true, sympy.false) or x == y:
            return x if condition == sympy.true else y
        if is_condition(x) and is_condition(y):
            one = condition | y if x == sympy.true else condition & x
            return one if sympy.true == x or y == sympy.false else one | ~condition & y
        return choice(condition, x, y)

    def is_one_of_numbers(e: Any) -> bool:
        return all(map(is_one_of_numbers, e.args[1:])) if isinstance(e, choice) else e.is_number

    def compared(relation: Any) -> Callable[[Any, Any], Any]:
        def holds(x: Any, y: Any) -> Any:
            x, y = map(sympy.sympify, (x, y))
            if isinstance(x, choice) and y.is_number and is_one_of_numbers(x):  # a counter, or how a loop has ended
                return where(x.args[0], *[holds(e, y) for e in x.args[1:]])
            return relation(x, y)

        return holds

    named |= {name: compared(named[name]) for name in _RELATIONS}
    return array_class("SymPy", named | unary | {"hypot": hypot, "where": where})


@functools.cache
def _choice() -> Any:
    """`where` as a function of SymPy's. It may choose in conditions of others, which a Piecewise solves for x; and the
    same parts are met again and again, as after each step of a loop."""
    sympy = _package()

    class where(sympy.Function):
        nargs = 3

        @functools.cached_property
        def free_symbols(self) -> Any:
            return set[Any]().union(*[e.free_symbols for e in self.args])

        @sympy.cacheit
        def _eval_derivative(self, s: Any) -> Any:
            condition, x, y = self.args
            dx, dy = x.diff(s), y.diff(s)
            return dx if dx == dy else where(condition, dx, dy)

        def _eval_is_extended_real(self) -> bool | None:
            return all([e.is_extended_real for e in self.args[1:]]) or None

        def _numpycode(self, printer: Any) -> str:
            return f"where({', '.join(map(printer._print, self.args))})"

    return where


@final
@dataclass(frozen=True)
class SymPy(OnExpressions):
    """Derivatives of SymPy's expressions, for small real functions.

    plain: Pliant traces f, and the program runs on expressions; else f itself does, on NumPy arrays
    of them. mode: what Jacobians and Hessians are made with; "both" takes the cheaper by the shapes.
    """

    modules = ("sympy",)
    pip = "sympy"
    mode: Mode = "both"
    plain: bool = True

    @property
    def kind(self) -> type[ExpressionArray]:
        """Arrays of SymPy's expressions."""
        return _arrays()

    def variables(self, count: int) -> Sequence[Any]:
        """Fresh symbols."""
        return [_package().Dummy(f"x{n}", real=True) for n in range(count)]

    def pushforward(self, fn: Flat, xs: Arrays, dxs: Arrays, is_many: bool) -> Pushed:
        """The Jacobian's expressions times the tangents."""
        ys, aux = fn(xs)
        made = [sum(_along(block, d, x) for block, d, x in zip(row, dxs, xs, strict=True)) for row in _table(ys, xs)]
        lead = dxs[0].shape[:1] if is_many else ()
        return ys, aux, self._shaped(made, ys, lead)

    def pullback(self, fn: Flat, xs: Arrays, seed: Callable[[Arrays], Arrays], is_many: bool) -> Pushed:
        """The cotangents times the Jacobian's expressions."""
        ys, aux = fn(xs)
        table, cts = _table(ys, xs), seed(ys)
        columns = [[row[n].T for row in table] for n in range(len(xs))]
        made = [sum(_along(block, ct, y) for block, ct, y in zip(c, cts, ys, strict=True)) for c in columns]
        return ys, aux, self._shaped(made, xs, cts[0].shape[:1] if is_many else ())

    def _shaped(self, made: Sequence[Any], like: Arrays, lead: tuple[int, ...]) -> Arrays:
        return tuple([
            expressions(self.kind, list(np.asarray(m).flat), (*lead, *a.shape)) for m, a in zip(made, like, strict=True)
        ])  # fmt: skip

    def compiled(self, symbols: Sequence[Any], results: Sequence[Any]) -> Compiled:
        """Python code of the expressions, common parts once."""
        names = [list(a.flat) if a.shape else a[()] for a in map(np.asarray, symbols)]
        values = [_smooth(e) for a in results for e in np.asarray(a).flat]
        function = _package().lambdify(names, values, modules="numpy", cse=True)
        take = [np.ndarray.ravel if np.ndim(a) else np.float64 for a in symbols]
        shapes = [np.shape(r) for r in results]
        ends = itertools.accumulate(map(math.prod, shapes), initial=0)
        parts = [(slice(*pair), shape) for pair, shape in zip(itertools.pairwise(ends), shapes, strict=True)]

        def run(given: Sequence[Any]) -> Sequence[Any]:
            arrays = list[Any]()
            with np.errstate(all="ignore"):  # both sides of a branch are computed
                made = function(*[t(x) for t, x in zip(take, given, strict=False)])
            for part, shape in parts:
                if shape:
                    array = np.array(made[part], np.float64)
                    arrays.append(array if len(shape) == 1 else array.reshape(shape))
                else:
                    arrays.append(np.float64(made[part.start]))
            return arrays

        return run


def _smooth(e: Any) -> Any:
    """An expression without the impulses that SymPy finds in second derivatives at kinks."""
    sympy = _package()
    return sympy.sympify(e).replace(sympy.DiracDelta, _nothing)


def _nothing(*args: Any) -> int:
    return 0


def _table(ys: Arrays, xs: Arrays) -> list[list[Any]]:
    """∂y/∂x for all pairs: matrices of expressions [size of y, size of x]."""
    sympify = _package().sympify
    return [
        [
            np.array([[sympify(e).diff(s) for s in np.asarray(x).flat] for e in np.asarray(y).flat], object)
            .reshape(y.size, x.size)
            for x in xs
        ]
        for y in ys
    ]  # fmt: skip


def _along(block: Any, seeds: Any, like: Any) -> Any:
    """A block of the Jacobian times one seed, or each of the stacked ones."""
    lead = np.shape(seeds)[: np.ndim(seeds) - like.ndim]
    return whole(np.asarray(seeds).reshape(*lead, like.size)) @ block.T
