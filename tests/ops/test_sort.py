"""Sorting and searching: NumPy's order, stable, NaN last, with derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pliant
from pliant.backends.llvm import BACKEND
from pliant.core.build import trace
from pliant.core.types import DTYPES, Type
from pliant.errors import DTypeError, ShapeError
from pliant.ops.sort import Argpartition, Argsort, Partition, Ranked, Searchsorted, Sort, argsort, searchsorted, sort
from pliant.testing import check_primitive, reverse, run


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", ["f64", "i32", "bool", "u8", "f32"])
def test_sorts_obey_the_laws(axis, dtype):
    check_primitive(Sort(axis), Type(dtype, (4, 3)), oracle=lambda x: np.sort(x, axis))
    for stable in (True, False):
        check_primitive(
            Argsort(axis, stable), Type(dtype, (4, 3)), oracle=lambda x, s=stable: np.argsort(x, axis, stable=s)
        )


@pytest.mark.parametrize("axis", [0, 1])
def test_partitions_obey_the_laws(axis):
    check_primitive(Partition(axis, 1, 2), Type("f64", (4, 3)), oracle=lambda x: np.sort(x, axis))
    check_primitive(Argpartition(axis, 1, 2), Type("f64", (4, 3)), oracle=lambda x: np.argsort(x, axis))


@pytest.mark.parametrize(("axis", "first", "last"), [(0, 1, 2), (1, 0, 0), (1, 2, 2), (0, 0, 6), (1, 0, 2)])
def test_elements_of_some_ranks_obey_the_laws(axis, first, last):
    def oracle(x):
        return np.sort(x, axis).take(range(first, last + 1), axis)

    check_primitive(Ranked(axis, first, last), Type("f64", (7, 3)), oracle=oracle)


@pytest.mark.parametrize(("last", "share", "others"), [(2, 1 / 3, 0), (4, 2, 0), (5, 2, 4)])
def test_equal_elements_share_the_derivatives_of_their_ranks(last, share, others):
    x, ct = np.array([3.0, 1, 3, 2, 3, np.nan, 5]), np.arange(1.0, last)
    (back,) = run(reverse(trace(Ranked(0, 2, last), Type("f64", (7,))), (True,)), (x, ct))
    assert_allclose(back, [share, 0, share, 0, share, 0, others])


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(("first", "last"), [(0, 0), (300, 300), (599, 599), (290, 310), (0, 70), (530, 599)])
def test_partitions_with_ties_have_the_derivatives_of_sorted_elements(first, last, axis):
    x = np.round(np.random.default_rng(first).normal(size=(600, 3)), 1)
    x[5:8] = np.nan
    x, weights = (x, np.arange(1.0, last - first + 2)) if axis == 0 else (x.T, np.arange(1.0, last - first + 2))

    def weighed(order):
        def f(x):
            y = np.moveaxis(order(x), axis, -1)
            inside, before = y[..., first : last + 1], y[..., :first]
            return np.nansum(weights * inside**2) + np.sum(before**2) + np.nansum(y[..., last + 1 :] ** 3)

        return f

    def by_sort(x):
        return np.sort(x, axis)

    def by_partition(x):
        return np.partition(x, (first, last), axis)

    wanted = pliant.grad(weighed(by_sort))(x)
    assert_allclose(pliant.grad(weighed(by_partition))(x), wanted, rtol=1e-12)
    rows = np.moveaxis(x, 1 - axis, 0)
    one = pliant.grad(lambda x: np.sum(np.partition(x, (first, last))[first : last + 1] * weights))
    assert_allclose(pliant.vmap(one)(rows), [one(row) for row in rows])


def test_partitions_are_differentiated_without_sorting():
    x = np.random.default_rng(0).normal(size=5000)
    for f in (lambda x: np.partition(x, 100)[:100].sum(), lambda x: np.quantile(x, [0.5, 0.501]).sum()):
        assert "argsort" not in str(pliant.explain(pliant.grad(f), x))


def test_medians_and_quantiles_are_differentiated_without_sorting():
    x = np.random.default_rng(0).normal(size=(5, 100))
    for f in (lambda x: np.median(x, 1).sum(), lambda x: (np.quantile(x, 0.3, 1) ** 2).sum()):
        assert "argsort" not in str(pliant.explain(pliant.grad(f), x))
    back = pliant.grad(lambda x: np.median(x, 1).sum())(x)
    assert_array_equal(back, 0.5 * ((x == np.sort(x, 1)[:, [49]]) | (x == np.sort(x, 1)[:, [50]])))


def test_nan_is_last_and_equal_elements_keep_their_order():
    x = np.array([3, np.nan, 1, 3, 1, -np.inf])
    fn = trace(lambda x: (sort(x, 0), argsort(x, 0)), Type("f64", (6,)))
    ordered, places = run(fn, (x,))
    assert_array_equal(ordered, [-np.inf, 1, 1, 3, 3, np.nan])
    assert_array_equal(places, [5, 2, 4, 0, 3, 1])


def test_gradient_of_sort_goes_back_where_each_element_came_from():
    fn = reverse(trace(lambda x: sort(x, 0), Type("f64", (4,))), (True,))
    assert_array_equal(run(fn, (np.array([3.0, 1, 4, 2]), np.array([1.0, 2, 3, 4])))[0], [3, 1, 4, 2])


def test_equal_elements_share_the_derivative_of_sort():
    fn = reverse(trace(lambda x: sort(x, 0), Type("f64", (6,))), (True,))
    x, ct = np.array([3.0, 1, 3, 2, np.nan, 3]), np.array([1.0, 2, 3, 4, 8, 16])
    assert_array_equal(run(fn, (x, ct))[0], [5, 1, 5, 2, 16, 5])


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (1,)])
def test_sorts_of_nothing(shape):
    check_primitive(Sort(len(shape) - 1), Type("f64", shape))
    check_primitive(Argsort(len(shape) - 1), Type("f64", shape))


def ascending(rng):
    return np.sort(rng.integers(0, 5, 6).astype(float)), rng.integers(-1, 7, (2, 3)).astype(float)


@pytest.mark.parametrize("side", ["left", "right"])
def test_searching_obeys_the_laws(side):
    types = Type("f64", (6,)), Type("f64", (2, 3))
    check_primitive(Searchsorted(side), *types, draw=ascending, oracle=lambda a, v: np.searchsorted(a, v, side))


@pytest.mark.parametrize("side", ["left", "right"])
def test_searching_in_each_of_several_rows(side):
    rng = np.random.default_rng(0)
    a, v = np.sort(rng.normal(size=(4, 5)), 1), rng.normal(size=(4, 3))
    fn = trace(Searchsorted(side, shared=1), Type("f64", (4, 5)), Type("f64", (4, 3)))
    assert_array_equal(run(fn, (a, v))[0], [np.searchsorted(p, q, side) for p, q in zip(a, v, strict=True)])


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "i64", "u8", "bool"])
def test_rows_of_every_length_are_searched_as_by_numpy(dtype, side):
    rng = np.random.default_rng(0)
    odd = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0] if dtype[0] == "f" else [0, 1])
    for n in [*range(10), 31, 32, 33, 100]:
        a = np.sort(rng.permutation(np.concatenate((odd, rng.integers(-9, 9, n))))[:n].astype(DTYPES[dtype]))
        v = np.concatenate((odd, rng.integers(-9, 9, 40))).astype(DTYPES[dtype])
        compiled = BACKEND.compile(trace(Searchsorted(side), Type(dtype, a.shape), Type(dtype, v.shape)))
        assert_array_equal(compiled([a, v])[0], np.searchsorted(a, v, side))


def test_a_search_in_many_rows_counts_their_numbers_apart():
    a = np.sort(np.where(np.tri(5, 6, -1) > 0, np.nan, np.arange(6.0)), 1)
    v = np.full((5, 2), np.nan)
    for side in ("left", "right"):
        compiled = BACKEND.compile(trace(Searchsorted(side, shared=1), Type("f64", (5, 6)), Type("f64", (5, 2))))
        wanted = [np.searchsorted(p, q, side) for p, q in zip(a, v, strict=True)]
        assert_array_equal(compiled([a, v])[0], wanted)


def test_nan_is_searched_as_the_largest():
    a, v = np.array([1.0, 2, np.nan]), np.array([np.nan, np.inf])
    fn = trace(lambda a, v: (searchsorted(a, v), searchsorted(a, v, "right")), Type("f64", (3,)), Type("f64", (2,)))
    left, right = run(fn, (a, v))
    assert_array_equal(left, [2, 2])
    assert_array_equal(right, [3, 2])


def test_what_cannot_be_sorted_or_searched_is_an_error():
    with pytest.raises(ShapeError, match="has no axis"):
        trace(lambda x: sort(x, 1), Type("f64", (3,)))
    with pytest.raises(ShapeError, match="no places 2 to 3 along axis 0"):
        trace(Partition(0, 2, 3), Type("f64", (3,)))
    with pytest.raises(DTypeError, match="different dtypes"):
        trace(searchsorted, Type("f64", (3,)), Type("f32", (3,)))
    with pytest.raises(ShapeError, match="cannot be searched"):
        trace(searchsorted, Type("f64", (3, 2)), Type("f64", (3,)))
    with pytest.raises(ShapeError, match="expected 'left' or 'right'"):
        trace(lambda a, v: searchsorted(a, v, "both"), Type("f64", (3,)), Type("f64", (3,)))
