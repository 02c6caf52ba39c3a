"""Writes that nobody reads have no part in the program, nor in its derivative."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from pliant.core.build import trace
from pliant.core.types import Type
from pliant.core.verify import verify
from pliant.ops.power import sqrt
from pliant.ops.reduce import reduce_sum
from pliant.ops.shape import Slice, reshape, slice_axis
from pliant.ops.update import AddSlice, UpdateSlice
from pliant.passes.dead_writes import drop_dead_writes
from pliant.testing import reverse, run

X = Type("f64", (6,))
PROGRESSIONS = [(s, d, n) for s in range(6) for d in (-2, -1, 1, 2) for n in range(4) if 0 <= s + d * (n - 1) < 6]


def at(x, i):
    """x[i] of a vector."""
    return reshape(slice_axis(x, 0, i, 1), ())


def put(x, i, u):
    """x after x[i] = u."""
    return UpdateSlice((i,), (1,))(x, reshape(u, (1,)))


def gradient(f, x):
    fn = drop_dead_writes(trace(f, Type("f64", x.shape)))
    return run(reverse(fn, (True,)), (x, np.ones(())))[0]


def test_a_store_that_is_overwritten_has_no_gradient():
    def f(x):
        y = put(x, 0, sqrt(at(x, 0)))
        return reduce_sum(put(put(y, 1, at(x, 1)), 0, at(x, 0) - 1.0))

    assert_array_equal(gradient(f, np.zeros(3)), [1, 1, 1])


def test_however_many_stores_lie_between():
    def f(x):
        y = x
        for i in range(50):
            y = put(y, i, sqrt(at(x, i)))
        for i in range(50):
            y = put(y, i, 2.0 * at(x, i))
        return reduce_sum(y)

    assert_array_equal(gradient(f, np.zeros(50)), np.full(50, 2.0))


def writes_left(f):
    fn = drop_dead_writes(trace(f, X))
    return str(verify(fn)).count("update_slice") + str(fn).count("add_slice")


def test_a_read_between_keeps_the_store():
    def f(x):
        y = put(x, 0, at(x, 1))
        return put(y, 0, at(x, 2)), at(y, 0)

    assert writes_left(f) == 2


def test_a_read_of_other_elements_does_not():
    def f(x):
        y = put(x, 0, at(x, 1))
        return put(y, 0, at(x, 2)), at(y, 3), Slice((5,), (-1,), (4,))(y)

    assert writes_left(f) == 1


def test_a_result_is_read():
    def f(x):
        y = put(x, 0, at(x, 1))
        return put(y, 0, at(x, 2)), y

    assert writes_left(f) == 2


def test_a_wide_write_hides_what_lies_below():
    def f(x):
        y = AddSlice((2,), (1,))(put(put(x, 0, at(x, 1)), 1, at(x, 2)), slice_axis(x, 0, 0, 2))
        return UpdateSlice((3,), (-1,))(y, slice_axis(x, 0, 0, 4))

    assert writes_left(f) == 1


writes = st.tuples(st.sampled_from(PROGRESSIONS), st.sampled_from(["set", "add", "read", "branch"]))


@given(st.lists(writes, max_size=12), st.sampled_from(PROGRESSIONS))
def test_values_of_random_writes_stay(writes, last):
    def f(x, u):
        seen = [x]
        for number, ((s, d, n), kind) in enumerate(writes):
            window = Slice((s,), (d,), (n,))
            new = slice_axis(u, 0, number, n)
            y = seen[-2:][0] if kind == "branch" else seen[-1]
            new = window(seen[-1]) + new if kind == "read" else new
            seen.append((AddSlice if kind == "add" else UpdateSlice)((s,), (d,))(y, new))
        return seen[-1], Slice(*((n,) for n in last))(seen[len(seen) // 2])

    fn = trace(f, X, Type("f64", (16,)))
    xs = np.arange(6.0), 2.0 ** np.arange(16)
    for got, wanted in zip(run(verify(drop_dead_writes(fn)), xs), run(fn, xs), strict=True):
        assert_array_equal(got, wanted)
