"""Folds for `pliant.reduce`: one pass over rows, in memory for one state, with exact derivatives.

>>> import numpy as np, pliant
>>> from pliant import folds
>>> pliant.reduce(folds.logsumexp, None, np.array([1000.0, 1001.0]))
np.float64(1001.3132616875182)
>>> pliant.reduce(folds.maximum.of(lambda x: -np.abs(x)), None, np.array([-3.0, 2.0]))
np.float64(-2.0)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias, final

import numpy as np

from pliant.control import custom_derivative, stop_gradient
from pliant.core.data import frozen

Tree: TypeAlias = Any

where: Any = np.where  # of traced arrays too


@final
@frozen
class Fold:
    """What to do with rows one after the other.

    start: from a row, of which only shapes and dtypes matter, to the state before any row.
    step: (state, row) → state, of the same types. finish: state → result.
    """

    start: Callable[[Tree], Tree]
    step: Callable[[Tree, Tree], Tree]
    finish: Callable[[Tree], Tree]

    def of(self, f: Callable[[Tree], Tree]) -> Fold:
        """This fold over f(row) in place of the rows."""

        def start(row: Tree) -> Tree:
            return self.start(f(row))

        def step(state: Tree, row: Tree) -> Tree:
            return self.step(state, f(row))

        return Fold(start, step, self.finish)


def filled(x: Any, number: Any, dtype: Any = None) -> Any:
    """An array of x's shape."""
    return np.full(np.shape(x), number, np.asarray(number).dtype if dtype is None else dtype)


def dtype_of(x: Any) -> Any:
    """NumPy's dtype of an array or a number."""
    return x.dtype if hasattr(x, "dtype") else np.asarray(x).dtype


def total_dtype(x: Any) -> Any:
    """The dtype in which NumPy adds up numbers of x's dtype."""
    return np.sum(np.zeros(0, dtype_of(x))).dtype


def lowest(dtype: Any) -> Any:
    """Less than, or equal to, all numbers of a dtype."""
    return -np.inf if np.issubdtype(dtype, np.floating) else np.iinfo(dtype).min


def highest(dtype: Any) -> Any:
    """Greater than, or equal to, all numbers of a dtype."""
    return np.inf if np.issubdtype(dtype, np.floating) else np.iinfo(dtype).max


def _same(state: Tree) -> Tree:
    return state


def _running(start: Callable[[Any], Any], step: Callable[[Any, Any], Any]) -> Fold:
    return Fold(start, step, _same)


def _tangent(_: Any, tangents: Any) -> Any:
    return tangents[1]


def _first(value: Any, like: Any) -> Any:
    return value


routed: Final = custom_derivative(_first, jvp=_tangent)
"""The first argument's value, the second one's derivative."""


def _extremum(worst: Callable[[Any], Any], better: Callable[[Any, Any], Any]) -> Fold:
    """The best row, element by element; rows that tie share its derivative equally."""

    def start(x: Any) -> Any:
        dtype = dtype_of(x)
        return filled(x, worst(dtype), dtype), filled(x, 0, dtype), filled(x, 0)

    def step(state: Any, x: Any) -> Any:
        best, sums, count = state
        now: Any = stop_gradient(x)
        new = better(best, now)
        is_ahead, is_equal = new != best, now == best
        added = where(is_equal, sums + x, sums)
        number = where(is_equal, count + 1, count)
        return new, where(is_ahead, x, added), where(is_ahead, 1, number)

    def finish(state: Any) -> Any:
        best, sums, count = state
        return routed(best, sums / np.maximum(count, 1)) if np.issubdtype(dtype_of(best), np.floating) else best

    return Fold(start, step, finish)


def _place(worst: Callable[[Any], Any], is_better: Callable[[Any, Any], Any]) -> Fold:
    """The number of the first best row."""

    def start(x: Any) -> Any:
        return filled(x, worst(dtype_of(x)), dtype_of(x)), filled(x, 0), 0

    def step(state: Any, x: Any) -> Any:
        best, place, i = state
        new = is_better(x, best) | (np.isnan(x) & ~np.isnan(best))
        return where(new, x, best), where(new, i, place), i + 1

    def finish(state: Any) -> Any:
        return state[1]

    return Fold(start, step, finish)


def _shifted(best: Any, x: Any) -> tuple[Any, Any]:
    """The greatest exponent so far, and what to take off exponents: a constant to derivatives."""
    new = np.maximum(best, stop_gradient(x))
    return new, where(np.isfinite(new), new, 0.0)


def _start_of_exponents(x: Any) -> Any:
    return filled(x, -np.inf, dtype_of(x)), filled(x, 0.0, dtype_of(x))


def _add_exponent(state: Any, x: Any) -> Any:
    best, total = state
    new, shift = _shifted(best, x)
    return new, total * np.exp(best - shift) + np.exp(x - shift)


def _log_of_total(state: Any) -> Any:
    best, total = state
    return where(np.isfinite(best), best, 0.0) + np.log(total)


def _start_of_average(row: Any) -> Any:
    x, v = row
    return *_start_of_exponents(x), filled(v, 0.0, np.result_type(dtype_of(x), dtype_of(v)))


def _add_weighted(state: Any, row: Any) -> Any:
    (best, total, average), (x, v) = state, row
    new, shift = _shifted(best, x)
    before, weight = np.exp(best - shift), np.exp(x - shift)
    axes = np.shape(x) + (1,) * (np.ndim(v) - np.ndim(x))
    return new, total * before + weight, average * np.reshape(before, axes) + np.reshape(weight, axes) * v


def _average(state: Any) -> Any:
    _, total, average = state
    return average / np.reshape(total, np.shape(total) + (1,) * (np.ndim(average) - np.ndim(total)))


def _start_of_moments(x: Any) -> Any:
    return 0.0, filled(x, 0.0), filled(x, 0.0)


def _add_moments(state: Any, x: Any) -> Any:
    count, mean, squares = state
    away = x - mean
    mean = mean + away / (count + 1.0)
    return count + 1.0, mean, squares + away * (x - mean)


def _moments(state: Any) -> Any:
    count, mean, squares = state
    return mean, squares / count


total = _running(lambda x: filled(x, 0, total_dtype(x)), lambda s, x: s + x)
"""The sum."""

product = _running(lambda x: filled(x, 1, total_dtype(x)), lambda s, x: s * x)
"""The product; its derivative is right at zeros too."""

any_ = _running(lambda x: filled(x, False), np.logical_or)
"""Whether any row is true."""

all_ = _running(lambda x: filled(x, True), np.logical_and)
"""Whether all rows are true."""

maximum = _extremum(lowest, np.maximum)
"""The greatest row, element by element; ties share the derivative equally."""

minimum = _extremum(highest, np.minimum)
"""The least row, element by element; ties share the derivative equally."""

argmax = _place(lowest, np.greater)
"""The number of the first row that is greatest."""

argmin = _place(highest, np.less)
"""The number of the first row that is least."""

logsumexp = Fold(_start_of_exponents, _add_exponent, _log_of_total)
"""log Σ exp(row), where no exp overflows."""

softmax_weighted = Fold(_start_of_average, _add_weighted, _average)
"""Of rows (x, v): the average of the v with weights exp(x); x has v's leading axes."""

moments = Fold(_start_of_moments, _add_moments, _moments)
"""Mean and variance, by Welford's method."""


__all__ = [
    "Fold",
    "all_",
    "any_",
    "argmax",
    "argmin",
    "logsumexp",
    "maximum",
    "minimum",
    "moments",
    "product",
    "softmax_weighted",
    "total",
]
