"""Writes to windows, and the reads and writes that are found to need none."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from pliant.core import ir
from pliant.core.build import trace
from pliant.core.ir import const, nodes
from pliant.core.types import Type
from pliant.errors import ShapeError
from pliant.ops import RULES, update
from pliant.ops.shape import Slice, broadcast, permute, reshape, slice_axis
from pliant.ops.update import AddSlice, UpdateSlice, apart, compose, pad, within
from pliant.pipeline import optimise
from pliant.rewrite.engine import simplify
from pliant.testing import check_primitive, check_rule, reverse, run

X = Type("f64", (5, 4))
WINDOWS = [((0, 0), (1, 1), (2, 3)), ((4, 3), (-2, -1), (3, 2)), ((1, 0), (1, 3), (0, 2)), ((0, 0), (1, 1), (5, 4))]


@pytest.mark.parametrize(("start", "step", "length"), WINDOWS)
@pytest.mark.parametrize("cls", [UpdateSlice, AddSlice])
def test_writes_to_windows_obey_the_laws(cls, start, step, length):
    def oracle(x, u):
        y = x.copy()
        y[Slice(start, step, length).slices()] = u if cls is UpdateSlice else u + x[Slice(start, step, length).slices()]
        return y

    check_primitive(cls(start, step), X, Type("f64", length), oracle=oracle)


def test_scalars_can_be_written():
    check_primitive(UpdateSlice((), ()), Type("f64"), Type("f64"), oracle=lambda x, u: u)
    check_primitive(AddSlice((), ()), Type("f64"), Type("f64"), oracle=lambda x, u: x + u)


def test_a_window_that_does_not_fit_is_an_error():
    with pytest.raises(ShapeError, match="lie outside an axis"):
        trace(UpdateSlice((4, 0), (1, 1)), X, Type("f64", (2, 4)))


@pytest.mark.parametrize("value", [0, -1.5])
def test_pad_surrounds(value):
    x = np.arange(6.0).reshape(2, 3)
    fn = trace(lambda x: pad(x, (1, 0), (2, 3), value), Type("f64", (2, 3)))
    assert_array_equal(run(fn, (x,))[0], np.pad(x, ((1, 2), (0, 3)), constant_values=value))


def texts(f, *types):
    return str(simplify(trace(f, *types), RULES))


def at(x, i):
    """x[i] of a vector."""
    return reshape(slice_axis(x, 0, i, 1), ())


def put(x, i, u):
    """x after x[i] = u."""
    return UpdateSlice((i,), (1,))(x, reshape(u, (1,)))


def test_reads_find_what_was_written():
    x, u = Type("f64", (6,)), Type("f64", (3,))
    assert texts(lambda x, u: Slice((2,), (1,), (2,))(UpdateSlice((1,), (1,))(x, u)), x, u).count("slice") == 1
    assert "update" not in texts(lambda x, u: Slice((4,), (1,), (2,))(UpdateSlice((1,), (1,))(x, u)), x, u)
    assert "update" not in texts(lambda x, u: Slice((1,), (2,), (3,))(UpdateSlice((0,), (2,))(x, u)), x, u)
    assert "update" in texts(lambda x, u: Slice((3,), (1,), (2,))(UpdateSlice((1,), (1,))(x, u)), x, u)
    assert "add_slice" not in texts(lambda x, u: Slice((1,), (1,), (2,))(AddSlice((1,), (1,))(x, u)), x, u)


def test_reads_look_through_other_writes():
    def f(x, u):
        for i in range(3):
            x = put(x, i, at(u, i))
        return at(x, 0)

    assert "update" not in texts(f, Type("f64", (6,)), Type("f64", (3,)))


def test_augmented_assignment_to_a_window_is_an_addition_into_it():
    def f(x, u):
        return UpdateSlice((1,), (1,))(x, Slice((1,), (1,), (3,))(x) + u)

    text = texts(f, Type("f64", (6,)), Type("f64", (3,)))
    assert "add_slice" in text
    assert "update_slice" not in text


def test_cotangents_of_windows_accumulate_without_dense_zeros():
    def f(x):
        return at(x, 0) * at(x, 1) + at(slice_axis(x, 0, 2, 4), 1) + at(x, 5)

    backward = simplify(reverse(trace(f, Type("f64", (6,))), (True,)), RULES)
    assert str(backward).count("broadcast(0.0") == 1
    assert str(backward).count("add_slice") == 3
    assert_array_equal(run(backward, (np.arange(1.0, 7), np.ones(())))[0], [2, 1, 0, 1, 0, 1])


V, U = Type("f64", (6,)), Type("f64", (2,))
PUT, ADD, READ = UpdateSlice((1,), (2,)), AddSlice((1,), (2,)), Slice((1,), (2,), (2,))
BESIDE = UpdateSlice((0,), (2,))


def zeros(n):
    return ir.operators.zeros(Type("f64", (n,)))


def pairs(x):
    return reshape(x, (3, 2))


def row(u):
    return reshape(u, (1, 2))


FIRST, LAST, ADDED = UpdateSlice((0, 0), (1, 1)), UpdateSlice((0, 1), (1, 1)), AddSlice((0, 0), (1, 1))


def filled(number):
    return broadcast(const(number, "f64"), (2, 3), ())


def column(u):
    return reshape(u, (2, 1))


def columns(x):
    return reshape(slice_axis(x, 0, 2, 4), (2, 2))


def test_columns_that_are_not_all_or_written_twice_stay_writes():
    U1, U2 = Type("f64", (2, 1)), Type("f64", (2, 2))
    for f, types in (
        (lambda u: FIRST(filled(1.0), u), (U1,)),
        (lambda u: ADDED(FIRST(filled(1.0), u), u), (U1,)),
        (lambda u, v: ADDED(LAST(filled(1.0), v), u), (U1, U2)),
        (lambda u, v: LAST(UpdateSlice((0, 2), (1, 1))(filled(0.0), u), v), (U1, U2)),
    ):
        assert "concatenate" not in str(simplify(trace(f, *types), update.RULES))


def turned(x):
    return permute(x, (1, 0))


IDENTITIES = [
    (update.slice_of_update, lambda x, u: READ(PUT(x, u))),
    (update.slice_of_update, lambda x, u: READ(ADD(x, u))),
    (update.slice_of_update, lambda x, u: Slice((0,), (2,), (3,))(PUT(x, u))),
    (update.write_of_everything, lambda x, u: UpdateSlice((0,), (1,))(u, slice_axis(x, 0, 3, 2))),
    (update.write_of_everything, lambda x, u: AddSlice((0,), (1,))(u, slice_axis(x, 0, 3, 2))),
    (update.update_of_own_slice, lambda x, u: PUT(x, READ(x))),
    (update.update_of_own_slice, lambda x, u: PUT(BESIDE(x, u), READ(x))),
    (update.update_of_own_sum, lambda x, u: PUT(x, u + READ(x))),
    (update.update_of_own_sum, lambda x, u: PUT(x, READ(x) - u)),
    (update.update_of_own_sum, lambda x, u: PUT(BESIDE(x, u), READ(x) - u)),
    (update.update_of_zeros_with_update_of_zeros, lambda x, u: PUT(zeros(9), UpdateSlice((0,), (2,))(zeros(3), u))),
    (update.add_slice_of_zeros, lambda x, u: ADD(x, zeros(2))),
    (update.add_slice_of_zeros, lambda x, u: ADD(zeros(6), u)),
    (update.writes_of_all_columns, lambda x, u: LAST(FIRST(filled(1.0), column(u)), columns(x))),
    (update.writes_of_all_columns, lambda x, u: ADDED(LAST(filled(0.0), columns(x)), column(u))),
    (update.write_of_permute, lambda x, u: UpdateSlice((1, 0), (1, 2))(turned(pairs(x)), row(u))),
    (update.write_of_permute, lambda x, u: AddSlice((0, 0), (1, 1))(turned(pairs(x)), row(u))),
    (update.slice_of_permute, lambda x, u: Slice((1, 2), (-1, -2), (2, 2))(turned(pairs(x)))),
]


def test_axes_of_written_and_read_windows_go_where_those_of_the_array_do():
    def f(x, u):
        y = permute(x, (2, 0, 1))
        y = AddSlice((1, 0, 2), (1, 1, -1))(UpdateSlice((0, 1, 0), (1, 1, 1))(y, u), u)
        return Slice((1, 1, 0), (2, -1, 1), (2, 2, 3))(y), permute(y, (1, 2, 0))

    fn = trace(f, Type("f64", (2, 3, 4)), Type("f64", (2, 1, 2)))
    made = optimise(fn)
    assert [n.args[0] for n in nodes(made.results) if isinstance(n.op, UpdateSlice)] == [made.params[0]]
    xs = [np.arange(24.0).reshape(2, 3, 4), np.array([[[5.0, 7.0]], [[-1.0, 3.0]]])]
    for got, wanted in zip(run(made, xs), run(fn, xs), strict=True):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize(("rule", "f"), IDENTITIES)
def test_rules_are_true(rule, f):
    check_rule(rule, V, U, program=f)


def test_every_rule_is_checked():
    assert {rule for rule, _ in IDENTITIES} == set(update.RULES) <= set(RULES)


PROGRESSIONS = [(s, d, n) for s, d, n in product(range(6), (-2, -1, 1, 2, 3), range(4)) if 0 <= s + d * (n - 1) < 6]


def elements(p):
    return [p[0] + p[1] * j for j in range(p[2])]


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(PROGRESSIONS), st.sampled_from(PROGRESSIONS))
def test_windows_know_what_lies_in_them(p, q):
    a, b = (Slice(*((n,) for n in w)) for w in (p, q))
    assert apart(a, b) <= set(elements(p)).isdisjoint(elements(q))
    inner = within(a, b)
    assert (inner is not None) == (set(elements(q)) <= set(elements(p)))
    if inner is not None:
        both = compose(a, inner)
        assert elements((both.start[0], both.step[0], both.length[0])) == elements(q)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(PROGRESSIONS), st.sampled_from(["set", "add", "copy"])), max_size=6),
    st.sampled_from(PROGRESSIONS),
)
def test_rules_keep_the_values_of_random_writes(writes, last):
    def f(x, u):
        for number, ((s, d, n), kind) in enumerate(writes):
            new = slice_axis(u, 0, number, n) if kind != "copy" else Slice((s,), (d,), (n,))(x) + slice_axis(u, 0, 0, n)
            x = (AddSlice if kind == "add" else UpdateSlice)((s,), (d,))(x, new)
        return x, Slice(*((n,) for n in last))(x)

    fn = trace(f, Type("f64", (6,)), Type("f64", (12,)))
    xs = np.arange(6.0), 2.0 ** np.arange(12)
    for got, wanted in zip(run(simplify(fn, update.RULES), xs), run(fn, xs), strict=True):
        assert_array_equal(got, wanted)
