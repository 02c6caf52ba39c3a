"""NumPy's functions of what a mask selects, as NumPy computes them: of nothing, of one element and of several."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pliant
from pliant.errors import ShapeError, UnsupportedError

Program = Callable[[Any], Any]


def some(x: Any) -> Any:
    return x[x > 0]


def square(x: Any) -> Any:
    m = np.outer(some(x), some(x))
    return m + np.eye(np.count_nonzero(x > 0)) * 3


def holed(x: Any) -> Any:
    return np.where(some(x) > 1, np.nan, some(x))


PROGRAMS: dict[str, Program] = {
    "nansum": lambda x: np.nansum(holed(x)),
    "nanprod": lambda x: np.nanprod(holed(x)),
    "nanmax": lambda x: np.nanmax(holed(x)),
    "nanmin": lambda x: np.nanmin(holed(x), keepdims=True),
    "nanmax of columns": lambda x: np.nanmax(np.where(np.outer(x, x) > 6, np.nan, np.outer(x, x))[x > 0], axis=0),
    "nanmean": lambda x: np.nanmean(holed(x)),
    "nanmean of rows": lambda x: np.nanmean(np.outer(x, x)[x > 0], axis=1),
    "nanvar": lambda x: np.nanvar(holed(x)),
    "nanstd": lambda x: np.nanstd(holed(x), ddof=1),
    "nansum of integers": lambda x: np.nansum(some(x).astype(int)),
    "average": lambda x: np.average(some(x)),
    "average by weights": lambda x: np.average(some(x), weights=some(x) ** 2, returned=True),
    "average of columns": lambda x: np.average(np.outer(x, x)[x > 0], axis=0, weights=some(x)),
    "average of integers": lambda x: np.average(some(x).astype(int)),
    "cov": lambda x: np.cov(some(x)),
    "cov of two": lambda x: np.cov(some(x), some(x) ** 2, bias=True),
    "corrcoef": lambda x: np.corrcoef(some(x), np.sin(some(x))),
    "corrcoef of one": lambda x: np.corrcoef(some(x)),
    "allclose": lambda x: np.allclose(some(x), 1),
    "array_equal": lambda x: (
        np.array_equal(some(x), np.sort(some(x))),
        np.array_equal(some(x), np.outer(x, x)[x > 0]),
    ),
    "array_equal of NaN": lambda x: np.array_equal(holed(x), holed(x), equal_nan=True),
    "histogram": lambda x: np.histogram(some(x), bins=4, range=(0, 3)),
    "histogram of edges": lambda x: np.histogram(some(x), [0, 0.5, 2], weights=some(x)),
    "histogram between its ends": lambda x: np.histogram(some(x), 3),
    "interp": lambda x: np.interp(some(x), np.arange(4.0), np.arange(4.0) ** 2),
    "interp in it": lambda x: np.interp([-1, 0.7, 1.5, 9], np.sort(some(x)), np.sort(some(x)) ** 2),
    "interp in it with ends": lambda x: np.interp(x, np.sort(some(x)), some(x), left=-1.0, right=7.0),
    "interp by name": lambda x: np.interp(x=[0.5], xp=np.sort(some(x)), fp=some(x)),
    "sorted": lambda x: (np.array(sorted(some(x))), np.array(sorted(some(x), key=np.sin, reverse=True))),
    "digitize": lambda x: np.digitize(some(x), [0, 1, 2]),
    "trapezoid": lambda x: np.trapezoid(some(x)),
    "trapezoid at places": lambda x: np.trapezoid(some(x), np.sort(some(x))),
    "trapezoid of rows": lambda x: np.trapezoid(np.outer(x, x)[x > 0], x),
    "trapezoid of columns": lambda x: np.trapezoid(np.outer(x, x)[x > 0], some(x), axis=0),
    "gradient": lambda x: np.gradient(some(x)) * some(x),
    "gradient with a distance": lambda x: np.gradient(some(x), 0.5),
    "ediff1d": lambda x: np.ediff1d(some(x)),
    "ediff1d with ends": lambda x: np.ediff1d(some(x), to_end=[1.0, 2.0], to_begin=5.0),
    "convolve": lambda x: np.convolve(some(x), [1, 0.5, 2]),
    "convolve both": lambda x: np.convolve(some(x), x[x < 1]),
    "convolve same": lambda x: np.convolve(some(x), [1, 0.5, 2], "same"),
    "convolve valid": lambda x: np.convolve([1, 0.5, 2], some(x), "valid"),
    "pad": lambda x: np.pad(some(x), (1, 2), constant_values=3.0),
    "delete first": lambda x: np.delete(some(x), 0),
    "delete last": lambda x: np.delete(some(x), -1),
    "insert": lambda x: (np.insert(some(x), 0, 5), np.insert(some(x), 0, [1, 2])),
    "insert in the middle": lambda x: (np.insert(some(x), 1, 5), np.insert(some(x), -1, [1, 2])),
    "insert where a sum says": lambda x: np.insert(some(x), np.sum(x > 2), 7),
    "delete in the middle": lambda x: (np.delete(some(x), 1), np.delete(some(x), -2)),
    "delete rows": lambda x: np.delete(np.outer(x, x)[x > 0], 0, axis=0),
    "pad several axes": lambda x: np.pad(np.outer(some(x), x), ((1, 0), (0, 2)), constant_values=2),
    "partition": lambda x: np.partition(some(x), 1)[1],
    "argpartition": lambda x: some(x)[np.argpartition(some(x), 0)][0],
    "lexsort": lambda x: np.lexsort((some(x), np.floor(some(x)))),
    "array_split": lambda x: tuple(np.array_split(some(x), 2)) + tuple(np.array_split(some(x), [1, 3])),
    "split": lambda x: tuple(np.split(np.concatenate((some(x), some(x))), 2)),
    "compress": lambda x: (np.compress(some(x) > 1, some(x)), some(x).compress(some(x) > 1)),
    "extract": lambda x: np.extract(some(x) > 1, some(x)),
    "moved axes": lambda x: (
        np.moveaxis(np.outer(some(x), x), 0, 1),
        np.rot90(np.outer(some(x), x)),
        np.fliplr(square(x)),
    ),
    "select": lambda x: np.select([some(x) > 2, some(x) > 1], [some(x), -some(x)], 0.5),
    "clip": lambda x: (np.clip(some(x), None, 1), np.clip(some(x), a_min=1, a_max=some(x) * 0.9)),
    "where=": lambda x: (np.mean(some(x), where=some(x) > 0.6), np.sum(some(x), where=some(x) > 1)),
    "var with correction": lambda x: (np.var(some(x), correction=1), np.std(some(x), ddof=2)),
    "nanargmax": lambda x: np.nanargmax(holed(x)),
    "nancumsum": lambda x: np.nancumsum(holed(x)),
    "nanmedian": lambda x: (np.nanmedian(holed(x)), np.nanpercentile(holed(x), [20, 70])),
    "diff with ends": lambda x: np.diff(some(x), prepend=0, append=[1, 2]),
    "cumulative_sum": lambda x: np.cumulative_sum(some(x), include_initial=True),
    "sums of all elements in order": lambda x: np.cumsum(np.outer(some(x), x)),
    "argmax of all elements": lambda x: np.argmax(np.outer(some(x), x)),
    "stacks with other arrays": lambda x: np.vstack([some(x), np.ones(np.count_nonzero(x > 0))]),
    "average of small integers": lambda x: np.average(
        np.array([100, 100], np.int8)[np.array([x[0] > -9, True])], weights=np.array([2, 2], np.int8)
    ),
    "array_equal of other lengths": lambda x: (
        np.array_equal(x[x > -9] * 0 + 1, np.ones(1)),
        np.array_equal(some(x), x),
        np.array_equal(x[x > -9], x),
    ),
    "histogram edges": lambda x: np.histogram_bin_edges(some(x), 3),
    "histogram of no columns": lambda x: np.histogram(np.outer(x, x)[:, x > 99], 3),
    "take": lambda x: np.take(some(x), [0, -1]),
    "take columns": lambda x: np.outer(x, x)[x > 0].take([1, 0], axis=1),
    "tile": lambda x: (np.tile(some(x), 3), np.tile(some(x), 0)),
    "repeat": lambda x: (np.repeat(some(x), 2), some(x).repeat(0)),
    "accumulate": lambda x: (np.maximum.accumulate(some(x)), np.add.accumulate(np.outer(x, x)[x > 0], axis=1)),
    "flatten": lambda x: (np.outer(some(x), x[x < 1]).flatten(), some(x).flatten()),
    "ravel": lambda x: np.outer(some(x), x[x < 1]).ravel() * 2,
    "reshape": lambda x: np.outer(some(x), x).reshape(-1),
    "meshgrid": lambda x: tuple(np.meshgrid(some(x), x[x < 1])),
    "meshgrid ij": lambda x: tuple(np.meshgrid(some(x), [1.0, 2.0], indexing="ij")),
    "column_stack": lambda x: np.column_stack([some(x), some(x) ** 2]),
    "vstack": lambda x: np.vstack([some(x), np.sin(some(x))]),
    "array of them": lambda x: np.array([some(x), some(x) * 2]).T,
    "vander": lambda x: (np.vander(some(x), 3), np.vander(some(x), 2, increasing=True)),
    "tril": lambda x: np.tril(square(x)),
    "triu": lambda x: np.triu(square(x), 1),
    "diag": lambda x: (np.diag(some(x)), np.diag(some(x), -1)),
    "diagonal": lambda x: (np.diag(square(x)), square(x).diagonal()),
    "trace": lambda x: np.trace(square(x)),
    "solve": lambda x: np.linalg.solve(square(x), some(x)),
    "solve for columns": lambda x: np.linalg.solve(square(x), np.outer(some(x), x)),
    "inv": lambda x: np.linalg.inv(square(x)),
    "det": lambda x: np.linalg.det(square(x)),
    "slogdet": lambda x: tuple(np.linalg.slogdet(square(x))),
    "cholesky": lambda x: np.linalg.cholesky(square(x)),
}
FITS: dict[str, Program] = {
    "polyfit of several": lambda x: np.polyfit(some(x), np.stack([np.sin(some(x)), np.cos(some(x))], 1), 1),
    "lstsq of few rows": lambda x: tuple(np.linalg.lstsq(np.vander(x[x > 1], 4), x[x > 1], rcond=None)),
    "polyfit": lambda x: np.polyfit(some(x), np.sin(some(x)), 1),
    "polyfit by weights": lambda x: np.polyfit(some(x), np.cos(some(x)), 2, w=some(x)),
    "lstsq": lambda x: np.linalg.lstsq(np.column_stack([some(x), some(x) ** 2]), np.sin(some(x)), rcond=None)[0],
    "residuals": lambda x: np.linalg.lstsq(np.column_stack([some(x), some(x) ** 2]), np.sin(some(x)), rcond=None)[1],
}
INPUTS = (
    np.array([1.0, -2, 3, 0.5, -1, 2.2, 0.7]), np.array([-1.0, 2.5, -3.0]), -np.ones(3), np.array([0.25, 0.75]),
)  # fmt: skip


def parts(made: Any) -> list[Any]:
    return list(made) if isinstance(made, tuple) else [made]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROGRAMS | FITS)
def test_they_are_numpys(name: str) -> None:
    f = (PROGRAMS | FITS)[name]
    for x in INPUTS[:1] if name in FITS else INPUTS:
        try:
            wanted = f(x.copy())
        except Exception as error:
            with pytest.raises(type(error)):
                pliant.jit(f)(x)
            continue
        for made, want in zip(parts(pliant.jit(f)(x)), parts(wanted), strict=True):
            assert_allclose(made, want, rtol=1e-10, atol=1e-12)
            assert np.asarray(made).dtype == np.asarray(want).dtype


NUMBERS = (
    "nanmean nanvar nanstd nansum nanmax average cov corrcoef trapezoid gradient ediff1d convolve pad insert tile repeat "
    "accumulate column_stack vander diag trace solve inv det interp polyfit lstsq"
).split()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["float32", "int32", "complex128"])
@pytest.mark.parametrize("name", NUMBERS)
def test_dtypes_are_numpys(name: str, dtype: str) -> None:
    def f(x: Any) -> Any:
        return (PROGRAMS | FITS)[name](x)

    x = INPUTS[0].astype(dtype) * 2
    if name == "interp" and dtype == "complex128":
        return
    wanted = parts(f(x.copy()))
    for made, want in zip(parts(pliant.jit(f)(x)), wanted, strict=True):
        assert np.asarray(made).dtype == np.asarray(want).dtype
        assert_allclose(
            made, want, rtol=1e-4 if dtype == "float32" else 1e-9, atol=1e-4 if dtype == "float32" else 1e-9
        )


@pytest.mark.parametrize("name", PROGRAMS | FITS)
def test_derivatives_and_batches(name: str) -> None:
    def loss(x: Any) -> Any:
        total = 0.0
        for n, part in enumerate(parts((PROGRAMS | FITS)[name](x))):
            total = total + np.sum(np.asarray(part) * (1.0 + n))
        return total * 1.0

    x = INPUTS[0] - 0.03
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        slopes = [(loss(x + d) - loss(x - d)) / 2e-6 for d in np.eye(x.size) * 1e-6]
        xs = np.stack([x, x[::-1], np.roll(x, 2) * 0.9])
        losses = [loss(row) for row in xs]
    assert_allclose(pliant.grad(loss)(x), slopes, rtol=2e-5, atol=2e-5)
    assert_allclose(pliant.vmap(loss)(xs), losses, rtol=1e-9)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ddof", [4, 5, 6])
@pytest.mark.parametrize("function", [np.var, np.std, np.nanvar, np.nanstd])
def test_spread_without_degrees_of_freedom(function: Callable[..., Any], ddof: int) -> None:
    for x in (INPUTS[0], (INPUTS[0] * 2).astype(int)):
        for f in (lambda x: function(some(x), ddof=ddof), lambda x: function(np.sort(some(x)), ddof=ddof)):
            assert_allclose(pliant.jit(f)(x), f(x))


@pytest.mark.parametrize(
    ("f", "error", "text"),
    [
        (lambda x: np.linalg.solve(square(x), np.ones(7)), ShapeError, "not known to be as many"),
        (lambda x: np.linalg.lstsq(np.vander(some(x), 2), x)[0], ShapeError, "not known to be as many"),
        (lambda x: np.interp(x, some(x), x[x < 1]), ValueError, "not of the same length"),
        (lambda x: np.average(some(x), weights=x[x < 1]), TypeError, "shapes of a and weights differ"),
    ],
)
def test_what_does_not_fit_together_is_an_error(f: Program, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        pliant.jit(f)(INPUTS[0])


@pytest.mark.usefixtures("for_all_data")
@pytest.mark.parametrize(
    ("f", "text"),
    [
        (lambda x: np.insert(some(x), [1, 2], 5.0), "np.insert at several places"),
        (lambda x: np.tile(some(x), (2, 2)), "np.tile along more axes than there are"),
        (lambda x: np.repeat(some(x), [1, 2]), "np.repeat of elements different numbers of times"),
        (lambda x: np.pad(some(x), 1, mode="edge"), "np.pad with anything but one number"),
        (lambda x: np.vander(some(x)), "np.vander without N="),
        (lambda x: np.polyfit(some(x), some(x), 1, full=True), "np.polyfit with full= or cov="),
        (lambda x: np.gradient(some(x), some(x)), "np.gradient"),
        (lambda x: np.digitize(x, some(x)), "np.digitize among"),
        (lambda x: np.trace(np.outer(some(x), x[x < 1])), "another diagonal than the main one"),
        (lambda x: np.linalg.inv(np.outer(some(x), x[x < 1])), "not known to be square"),
        (lambda x: np.quantile(x, some(x)), "np.quantile of so many numbers"),
        (lambda x: np.tril(some(x)), "np.tril of one axis"),
        (lambda x: np.cov(np.outer(some(x), x)), "np.cov or np.corrcoef of so many variables"),
        (lambda x: np.squeeze(some(x)), "np.squeeze without axis="),
        (lambda x: np.squeeze(some(x), 0), "np.squeeze of an axis not known to have one element"),
        (lambda x: np.unstack(some(x)), "np.unstack along such an axis"),
        (lambda x: np.roll(np.outer(some(x), x), 1), "np.roll of several axes as one"),
        (lambda x: np.cumulative_sum(np.outer(some(x), x)), "a scan without axis="),
        (lambda x: np.array_equiv(some(x), x[:1]), "np.array_equiv of what is broadcast"),
        (lambda x: np.lexsort((np.outer(some(x), x),)), "np.lexsort"),
        (lambda x: np.nanmean(some(x), where=some(x) > 1), "these arguments .*where"),
        (lambda x: some(x).put([0], 1.0, mode="clip"), ".put of"),
    ],
)
def test_what_is_left_is_refused_with_the_line(f: Program, text: str) -> None:
    with pytest.raises(UnsupportedError, match=text) as caught:
        pliant.jit(f)(INPUTS[0])
    assert "test_selected.py" in str(caught.value)
