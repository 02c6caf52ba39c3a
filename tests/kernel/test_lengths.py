"""Loops that end where masks and blocks do: the same numbers, and no work beyond."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pliant.backends.llvm import BACKEND
from pliant.backends.llvm.compiler import can
from pliant.core.build import trace
from pliant.core.ir import const
from pliant.core.types import Type
from pliant.kernel.build import build
from pliant.kernel.ir import Nest
from pliant.kernel.lengths import Limits
from pliant.ops.bits import logical_and
from pliant.ops.block import AddBlock, read_block, update_block
from pliant.ops.compare import less
from pliant.ops.reduce import reduce_max, reduce_prod, reduce_sum
from pliant.ops.select import select
from pliant.ops.shape import broadcast, iota, permute, reshape
from pliant.testing import run

RNG = np.random.default_rng(0)
INT, X, A = Type("i64"), Type("f64", (9,)), Type("f64", (5, 7))


def nests(fn):
    """The nests of a function."""
    return [step for step in build(fn, can).steps if isinstance(step, Nest)]


def limited(fn):
    """How many loops of a function end early."""
    return sum([len(nest.limits) for nest in nests(fn)])


def mask(n, axis, shape):
    """Where the index along an axis is less than n."""
    return broadcast(less(iota(shape[axis]), n), shape, (axis,))


def same(fn, *operands):
    """Native results, which must be NumPy's."""
    (got,), (wanted,) = BACKEND.compile(fn)(operands), run(fn, operands)
    assert_allclose(got, wanted, rtol=1e-13)
    return got


@pytest.mark.parametrize(("fold", "identity"), [(reduce_sum, 0.0), (reduce_prod, 1.0), (reduce_max, -np.inf)])
def test_a_reduction_ends_where_its_mask_does(fold, identity):
    fn = trace(lambda x, n: fold(select(mask(n, 0, (9,)), x, const(identity, "f64")), (0,)), X, INT)
    assert limited(fn) == 1
    for n in range(-1, 11):
        same(fn, RNG.normal(size=9), np.array(n))


@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize(("fold", "identity"), [(reduce_sum, 0.0), (reduce_max, -np.inf)])
def test_a_reduction_ends_where_its_mask_does_along_axes_that_stay(fold, identity, axes):
    def f(x, n, m):
        both = logical_and(mask(n, 0, (5, 7)), mask(m, 1, (5, 7)))
        return fold(select(both, x * 2.0, const(identity, "f64")), axes)

    fn = trace(f, A, INT, INT)
    assert limited(fn) == 2
    for n in range(-1, 7):
        same(fn, RNG.normal(size=(5, 7)), np.array(n), np.array(3))
        same(fn, RNG.normal(size=(5, 7)), np.array(2), np.array(n))


def test_an_array_in_memory_ends_where_it_was_made_to_end_by_a_computed_number():
    """Its reader computes the end too, which none of its elements is made of."""

    def f(x, n):
        y = select(mask(n + 1, 0, (9,)), x, const(0.0, "f64"))
        return y, reduce_sum(reshape(y, (9, 1)), (0,)), reshape(y, (9, 1)) * 2.0

    fn = trace(f, X, INT)
    assert limited(fn) == 2
    for n in range(-2, 10):
        operands = RNG.normal(size=9), np.array(n)
        for got, wanted in zip(BACKEND.compile(fn)(operands), run(fn, operands), strict=True):
            assert_allclose(got, wanted, rtol=1e-13)


def test_the_sum_of_nothing_is_positive_zero():
    fn = trace(lambda x, n: reduce_sum(select(mask(n, 0, (9,)), x, const(0.0, "f64"))), X, INT)
    assert not np.signbit(same(fn, -np.ones(9), np.array(0)))


def test_a_mask_along_two_axes_ends_both_loops():
    def f(a, m, n):
        both = logical_and(mask(m, 0, (5, 7)), mask(n, 1, (5, 7)))
        return reduce_sum(select(both, a, const(0.0, "f64")))

    fn = trace(f, A, INT, INT)
    assert limited(fn) == 2
    for m in range(6):
        same(fn, RNG.normal(size=(5, 7)), np.array(m), np.array(2))


def test_only_loops_that_are_reduced_over_end_early():
    fn = trace(lambda a, n: reduce_sum(select(mask(n, 0, (5, 7)), a, const(0.0, "f64")), (1,)), A, INT)
    same(fn, RNG.normal(size=(5, 7)), np.array(3))


def test_a_mask_with_another_number_beyond_it_ends_nothing():
    fn = trace(lambda x, n: reduce_sum(select(mask(n, 0, (9,)), x, const(1.0, "f64"))), X, INT)
    assert same(fn, np.zeros(9), np.array(4)) == 5


def test_long_sums_end_early_too():
    wide = Type("f64", (5000,))
    fn = trace(lambda x, n: reduce_sum(select(mask(n, 0, (5000,)), x, const(0.0, "f64"))), wide, INT)
    x = RNG.normal(size=5000)
    for n in (0, 1, 1023, 1024, 1025, 4999, 5000):
        same(fn, x, np.array(n))


def test_a_sum_of_products_of_blocks_ends_where_both_do():
    def f(x, y, i, n):
        return reduce_sum(read_block(x, [i], [n], (7,)) * read_block(y, [const(0, "i64")], [n], (7,)))

    fn = trace(f, X, X, INT, INT)
    assert limited(fn) == 1
    for n in range(-1, 8):
        same(fn, RNG.normal(size=9), RNG.normal(size=9), np.array(2), np.array(n))


def test_products_of_blocks_of_two_lengths_end_nowhere():
    def f(x, y, m, n):
        start = [const(0, "i64")]
        return reduce_sum(read_block(x, start, [m], (9,)) * read_block(y, start, [n], (9,)))

    fn = trace(f, X, X, INT, INT)
    assert limited(fn) == 0
    y = np.full(9, np.inf)
    assert np.isnan(same(fn, RNG.normal(size=9), y, np.array(3), np.array(5)))


def test_what_lies_beyond_a_block_is_stored_without_a_mask():
    def f(a, i, n):
        return reshape(read_block(a, [i, const(0, "i64")], [const(1, "i64"), n], (1, 7)), (7,))

    fn = trace(f, A, INT, INT)
    assert limited(fn) == 1
    for n in range(8):
        same(fn, RNG.normal(size=(5, 7)), np.array(2), np.array(n))


def test_a_block_is_written_within_its_lengths_where_the_array_lies():
    def f(a, u, i, n):
        return update_block(a, u, [i, i], [n, n])

    fn = trace(f, A, Type("f64", (4, 4)), INT, INT)
    assert limited(fn) == 2
    for n in range(5):
        same(fn, RNG.normal(size=(5, 7)), RNG.normal(size=(4, 4)), np.array(1), np.array(n))


@pytest.mark.parametrize("shift", [-2, -1, 0, 1, 2])
def test_a_block_may_be_made_of_the_array_it_is_written_to(shift):
    def f(x, k, n):
        moved = read_block(x, [k + const(shift, "i64")], [n], (5,))
        return AddBlock((1,))(x, moved, k, n)

    fn = trace(f, X, INT, INT)
    for n in range(6):
        same(fn, np.arange(9.0), np.array(2), np.array(n))


def test_masks_and_blocks_say_where_they_end():
    fn = trace(lambda a, n: select(mask(n, 1, (5, 7)), a, const(2.0, "f64")), A, INT)
    value = fn.results[0]
    limits = Limits()
    assert limits.masks.of(value.args[0]) == {1: fn.params[1]}
    assert limits.of(value) == ((None, fn.params[1]), 2.0)
    assert limits.of(fn.params[0]) is None
    assert_array_equal(run(fn, (np.zeros((5, 7)), np.array(7)))[0], np.zeros((5, 7)))


def test_an_array_in_another_order_of_axes_ends_where_it_did():
    def f(a, n):
        turned = permute(select(mask(n, 1, (5, 7)), a, const(0.0, "f64")), (1, 0))
        return select(permute(mask(n, 1, (5, 7)), (1, 0)), turned * turned, const(0.0, "f64"))

    fn = trace(f, A, INT)
    assert Limits().of(fn.results[0]) == ((fn.params[1], None), 0.0)
    assert Limits().of(fn.results[0].args[1]) == ((fn.params[1], None), 0.0)
    assert limited(fn) == 1
    for n in (0, 3, 7):
        same(fn, RNG.normal(size=(5, 7)), np.array(n))


@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("fold", [reduce_sum, reduce_prod, reduce_max])
def test_a_choice_by_one_condition_has_no_end(fold, axes):
    other = {reduce_sum: 0.0, reduce_prod: 1.0, reduce_max: -np.inf}[fold]
    fn = trace(lambda n, a: fold(select(less(n, const(3, "i64")), a, const(other, "f64")), axes), INT, A)
    assert limited(fn) == 0
    for n in (2, 3):
        same(fn, np.array(n), RNG.normal(size=(5, 7)))
