"""Corners of NumPy's functions of what a mask selects: dtypes, copies, errors, lists and keywords beside it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import PliantError, UnsupportedError
from tests.frontend.numpy_harness import assert_same, leaves

X = np.array([1.5, -2, 3, 0.5, -1, 2])
SMALL = np.array([100, -3, 100, 7, 2], np.int8)
NOTHING = -np.abs(X)
WHOLE = np.array([1, -1, 3, 3])


def some(x: Any) -> Any:
    return x[x > 0]


def free_unknowns(x: Any) -> Any:
    free = x > 0
    return np.linalg.solve(np.diag(x * x)[np.ix_(free, free)], x[free])


def rows(x: Any) -> Any:
    return np.outer(some(x), x[:3])


def written_to(f: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """What a function leaves in its `out=` of three numbers."""

    def call(x: Any) -> Any:
        out = np.zeros(3)
        f(rows(x), out)
        return out

    return call


def copied_by(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Whether what is written to a result is seen in the argument."""

    def call(x: Any) -> Any:
        a, b = np.sort(some(x)), some(x)
        for part in (a, b):
            made = f(part)
            made[0] = 9.0
        return a, b

    return call


CORNERS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "polyval": (
        lambda x: (np.polyval([1.0, 2, 3], some(x)), np.polyval(np.polyfit(some(x), some(x) ** 2, 1), some(x))),
        X,
    ),
    "polyval of integers": (lambda x: np.polyval(np.array([1, 2]), np.flatnonzero(x > 0)), X),
    "free unknowns": (free_unknowns, X),
    "norm of integers": (lambda x: (np.linalg.norm(some(x)), np.linalg.norm(some(x), 1)), SMALL),
    "greatest of bytes": (lambda x: np.linalg.norm(some(x), np.inf), SMALL.astype(np.uint8)),
    "norm of a matrix": (lambda x: np.linalg.norm(rows(x), axis=(0, 1)), X),
    "vdot of matrices": (lambda x: np.vdot(rows(x), rows(x)), X),
    "products of integers": (lambda x: (some(x) @ some(x), np.sort(some(x)) @ np.sort(some(x))), SMALL),
    "dot of integers": (lambda x: (np.dot(some(x), some(x)), np.dot(2, some(x)), np.dot(2, np.sort(some(x)))), SMALL),
    "product of bools": (lambda x: (some(x) > 1) @ (some(x) > 1), X),
    "extract by numbers": (lambda x: np.extract(some(x).astype(int) % 2, some(x)), X),
    "extract by a list": (lambda x: (np.extract([1, 0, 1, 0], some(x)), np.extract([True], some(x))), X),
    "mask of one element": (lambda x: some(x)[np.array([True])], X),
    "mask of one element of one": (lambda x: some(x)[np.array([True])], np.array([-1.0, 2.0])),
    "select with a number": (lambda x: np.select([some(x) > 2, some(x) > 1], [some(x), 1], 0), SMALL),
    "select of float32": (lambda x: np.select([some(x) > 2], [some(x)], 0.5), X.astype(np.float32)),
    "select by numbers": (lambda x: np.select([some(x)], [some(x)], 0), X),
    "nanmax of NaN with initial": (lambda x: np.nanmax(np.where(some(x) > 0, np.nan, 0), initial=0.0), X),
    "nanmax of nothing with initial": (lambda x: np.nanmax(some(x), initial=0.0), NOTHING),
    "nanmax with where": (lambda x: np.nanmax(some(x), where=some(x) < 2, initial=-5.0), X),
    "mean as an integer": (lambda x: np.mean(np.sort(some(x)), dtype=int), X),
    "nearest quantile of integers": (lambda x: np.quantile(some(x), 0.5, method="nearest"), SMALL),
    "pad makes a copy": (copied_by(lambda a: np.pad(a, 0)), X),
    "tile makes a copy": (copied_by(lambda a: np.tile(a, ())), X),
    "roll makes a copy": (copied_by(lambda a: np.roll(a, ())), X),
    "order of complex NaN": (lambda x: np.argsort(x[x.imag > 0]), np.array([complex(np.nan, 5), 1 + 1j, 3 - 1j])),
    "bincount of negative numbers": (lambda x: np.bincount(x[x < 0], minlength=9), WHOLE),
    "bincount": (lambda x: np.bincount(x[x > 0], minlength=9), WHOLE),
    "interp of NaN in one sample": (lambda x: np.interp(x, x[:1], x[:1]), np.array([4, np.nan])),
    "no sections": (lambda x: np.array_split(some(x), 0), X),
    "take, clipped": (
        lambda x: (np.take(np.unique(x), [0, -3, 99], mode="clip"), some(x).take([[-1, 99]], mode="clip")),
        X,
    ),
    "take, wrapped": (lambda x: (np.take(some(x), [-9, 7], mode="wrap"), np.take(rows(x), [5], 0, mode="wrap")), X),
    "take of nothing, clipped": (lambda x: np.take(some(x), [0], mode="clip"), NOTHING),
    "take of nothing, wrapped": (lambda x: np.take(some(x), [0], mode="wrap"), NOTHING),
    "take in another mode": (lambda x: np.take(some(x), [0], mode="any"), X),  # type: ignore[call-overload]
    "vsplit of a line": (lambda x: np.vsplit(some(x), 2), X),
    "negative differences": (lambda x: np.diff(some(x), -1), X),
    "differences of bools": (lambda x: np.diff(some(x) > 1), X),
    "convolve of another mode": (lambda x: np.convolve(some(x), [1, 2], "foo"), X),
    "ediff1d of other dtypes": (lambda x: np.ediff1d(some(x), to_end=1.5), SMALL),
    "powers of those selected": (lambda i: 2 ** i[i >= 0], np.array([1, -1])),
    "sum of such powers": (lambda i: np.sum(np.power(i[i >= 0], i[i >= 0])), np.array([2, -1])),
    "a selection inserted": (lambda x: (np.insert(np.arange(5.0), 2, some(x)), np.insert(x, 1, some(x))), X),
    "columns deleted": (lambda x: (np.delete(rows(x), 1, axis=1), np.delete(rows(x), 0, axis=-1)), X),
    "rolled twice": (lambda x: (np.roll(some(x), (1, 2)), np.roll(some(x), (1,))), X),
    "outer of lists": (lambda x: (np.outer([1, 2], some(x)), np.add.outer([1.0, 2], some(x))), X),
    "lists beside it": (lambda x: (np.trapezoid([1, 2, 3, 4.0], some(x)), np.cov([1, 2, 3, 4.0], some(x))), X),
    "histogram of bools": (lambda x: (np.histogram(some(x) > 1, 2), np.histogram_bin_edges(some(x) > 1, 2)), X),
    "divmod": (lambda x: (divmod(some(x), 1), divmod(5, np.sort(some(x)))), X),
    "partition of nothing": (lambda x: np.partition(some(x), 2), NOTHING),
    "out= of sum": (written_to(lambda m, out: np.sum(m, axis=0, out=out)), X),
    "out= of std": (written_to(lambda m, out: np.std(m, axis=0, out=out)), X),
    "out= of median": (written_to(lambda m, out: np.median(m, axis=0, out=out)), X),
    "out= of nanmax": (written_to(lambda m, out: np.nanmax(m, axis=0, out=out)), X),
    "clip by a keyword": (lambda x: np.clip(some(x), min=x[0]), X),
    "diff with a traced number": (lambda x: np.diff(some(x), prepend=x[0]), X),
    "sum by keywords": (lambda x: (np.sum(some(x), initial=x[0]), np.sum(some(x), where=x[:4] > 0)), X),
    "average of rows": (lambda x: np.average(np.outer(some(x), x), axis=1, weights=x), X),
    "pad with a traced number": (lambda x: np.pad(some(x), 1, constant_values=x[0]), X),
    "keywords of others": (
        lambda x: (np.append(np.sort(some(x)), values=x), np.searchsorted(np.sort(some(x)), v=x)),
        X,
    ),
    "ddof by a number": (lambda x: np.var(np.sort(some(x)), ddof=np.sum(x > 2)), X),
    "repeat by NumPy's number": (lambda x: np.repeat(some(x), np.int64(2)), X),
    "all of them": (lambda x: (np.any(some(x) > 1), np.all(some(x) > 1)), X),
}


@pytest.mark.parametrize("name", CORNERS)
def test_a_corner_is_numpys(name: str) -> None:
    f, x = CORNERS[name]
    with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
        try:
            wanted = leaves(f(x.copy()))
        except Exception as error:
            with pytest.raises((type(error), UnsupportedError)):
                pliant.jit(f)(x)
            return
        for made, want in zip(leaves(pliant.jit(f)(x)), wanted, strict=True):
            assert_same(made, np.asarray(want), 64)


@pytest.mark.usefixtures("for_all_data")
@pytest.mark.parametrize(
    ("f", "text"),
    [
        (lambda x: np.linalg.norm(rows(x), 1, axis=(0, 1)), "np.linalg.norm with ord=1"),
        (lambda x: np.dot(rows(x), np.zeros((2, 3, 2))), "np.dot with more axes"),
        (lambda x: np.insert(x, np.nonzero(x > 0)[0], 1), "np.insert at several places"),
        (lambda x: np.gradient(x[:4], some(x)), "np.gradient of several axes"),
        (lambda x: np.gradient(some(x), axis=1), "np.gradient of several axes"),
        (lambda x: np.histogram(x, bins=np.sort(some(x))), "np.histogram with so many edges"),
    ],
)
def test_what_is_left_is_refused(f: Callable[[Any], Any], text: str) -> None:
    with pytest.raises(PliantError, match=text):
        pliant.jit(f)(X)


@pytest.mark.parametrize("choose", [lambda x: x[x > 1], np.unique], ids=["mask", "unique"])
@pytest.mark.parametrize("number", [300, -1, 2.7, np.float64(2.5), np.nan, [1, 2, 3]], ids=str)
def test_numbers_written_to_what_is_chosen_have_to_fit(number: Any, choose: Callable[[Any], Any]):
    """As in NumPy: Python integers that do not fit into uint8 are an error, and not wrapped around."""

    def f(x: Any) -> Any:
        w = choose(x)
        w[...] = number
        return w

    x = np.array([2, 3, 4], np.uint8)
    expected = raised_by(f, x)
    if expected is None:
        np.testing.assert_array_equal(pliant.jit(f)(x), f(x))
        return
    with pytest.raises(type(expected), match=str(expected)):
        pliant.jit(f)(x)


def raised_by(f: Callable[[Any], Any], x: Any) -> Exception | None:
    try:
        f(x)
    except (OverflowError, ValueError) as error:
        return error
    return None
