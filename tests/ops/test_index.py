"""Gather and scatter: NumPy's values and exact derivatives, repeated places included."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pliant.core import ir
from pliant.core.build import trace
from pliant.core.ir import const
from pliant.core.types import Type
from pliant.errors import DTypeError, IndexRangeError, ShapeError
from pliant.ops import RULES, index, index_rules
from pliant.ops.compare import less
from pliant.ops.elementwise import convert
from pliant.ops.index import (
    Gather,
    ScatterAdd,
    ScatterSet,
    add_along,
    dynamic_slice,
    dynamic_update_slice,
    gather,
    put_along,
    scatter_add,
    scatter_set,
    take_along,
    wrap,
)
from pliant.ops.reduce import reduce_sum
from pliant.ops.shape import iota, permute
from pliant.ops.update import UpdateSlice
from pliant.rewrite.engine import simplify
from pliant.testing import check_primitive, check_rule, reverse, run, sample

CASES = [  # shape of x, number of indices, their shape, leading axes shared
    ((5,), 1, (4,), 0),
    ((5, 2), 1, (), 0),
    ((3, 4, 2), 2, (2, 3), 0),
    ((3, 4), 2, (), 0),
    ((2, 5), 1, (2, 3), 1),
    ((2, 3, 4, 2), 1, (2, 3, 5), 2),
    ((2, 3), 1, (2,), 1),
]


def draw_for(*types, extents):
    """Operands with repeated places."""

    def draw(rng):
        ints = iter(extents)
        return [rng.integers(0, next(ints), t.shape) if t.dtype == "i64" else sample(rng, t) for t in types]

    return draw


def types_for(shape, count, places, shared, dtype="f64"):
    x = Type(dtype, shape)
    indices = [Type("i64", places)] * count
    return x, indices, Type(dtype, (*places, *shape[shared + count :])), shape[shared : shared + count]


@pytest.mark.parametrize("case", CASES)
def test_gather_obeys_the_laws(case):
    x, indices, _, extents = types_for(*case)
    check_primitive(Gather(case[3]), x, *indices, draw=draw_for(x, *indices, extents=extents))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("cls", [ScatterSet, ScatterAdd])
def test_scatter_obeys_the_laws_with_repeated_places(cls, case):
    x, indices, u, extents = types_for(*case)
    check_primitive(cls(case[3]), x, *indices, u, draw=draw_for(x, *indices, u, extents=extents))


@pytest.mark.parametrize("dtype", ["bool", "i32", "c128"])
def test_any_dtype_can_be_moved(dtype):
    x, indices, u, extents = types_for((5, 2), 1, (3,), 0, dtype)
    check_primitive(ScatterSet(), x, *indices, u, draw=draw_for(x, *indices, u, extents=extents))
    check_primitive(Gather(), x, *indices, draw=draw_for(x, *indices, extents=extents))


def test_values_are_those_of_numpy():
    rng = np.random.default_rng(0)
    x, i, j = rng.normal(size=(3, 4, 2)), rng.integers(0, 3, 20), rng.integers(0, 4, 20)
    u = rng.normal(size=(20, 2))
    types = [Type("f64", x.shape), Type("i64", (20,)), Type("i64", (20,)), Type("f64", u.shape)]
    fn = trace(lambda x, i, j, u: (gather(x, i, j), scatter_set(x, (i, j), u), scatter_add(x, (i, j), u)), *types)
    got = run(fn, (x, i, j, u))
    put, added = x.copy(), x.copy()
    put[i, j] = u
    np.add.at(added, (i, j), u)
    for a, b in zip(got, (x[i, j], put, added), strict=True):
        assert_array_equal(a, b)


def test_nothing_gathered_and_nothing_scattered():
    types = Type("f64", (0, 2)), Type("i64", (0,)), Type("f64", (0, 2))
    fn = trace(lambda x, i, u: (gather(x, i), scatter_set(x, (i,), u), scatter_add(x, (i,), u)), *types)
    got = run(fn, (np.zeros((0, 2)), np.zeros(0, int), np.zeros((0, 2))))
    assert [y.shape for y in got] == [(0, 2)] * 3


@pytest.mark.parametrize(("bad", "given"), [(-1, -6), (5, 5)])  # negative ones were counted from the end
@pytest.mark.parametrize("name", ["gather", "scatter_set", "scatter_add"])
def test_index_out_of_range_is_an_error(name, bad, given):
    types = Type("f64", (5,)), Type("i64", (2,)), Type("f64", (2,))
    made = {"gather": lambda x, i, u: gather(x, i)}.get(name, lambda x, i, u: getattr(index, name)(x, (i,), u))
    with pytest.raises(IndexRangeError, match=rf"index {given} is out of range for axis 0 of extent 5"):
        run(trace(made, *types), (np.zeros(5), np.array([0, bad]), np.zeros(2)))


def test_indices_that_do_not_fit_are_errors():
    x, i = Type("f64", (5, 2)), Type("i64", (3,))
    with pytest.raises(DTypeError, match="expected i64"):
        trace(gather, x, Type("i32", (3,)))
    with pytest.raises(ShapeError, match="one common shape"):
        trace(gather, x, i, Type("i64", (4,)))
    with pytest.raises(ShapeError, match="do not fit"):
        trace(gather, x, i, i, i)
    with pytest.raises(ShapeError, match="does not fit the places"):
        trace(lambda x, i, u: scatter_set(x, (i,), u), x, i, Type("f64", (3, 1)))


def pullback(f, *xs, ct):
    """Cotangents of the float arguments."""
    types = [Type({"f": "f64", "i": "i64"}[x.dtype.kind], x.shape) for x in xs]
    return run(reverse(trace(f, *types), tuple(t.is_float for t in types)), (*xs, ct))


X, AT, Y, CT = np.array([1.0, 2, 3]), np.array([1, 1]), np.array([5.0, 7]), np.array([1.0, 10, 100])


def test_gradient_of_assignment_to_repeated_places_is_that_of_the_last_write():
    dx, dy = pullback(lambda x, i, y: scatter_set(x, (i,), y), X, AT, Y, ct=CT)
    assert_array_equal(dx, [1, 0, 100])
    assert_array_equal(dy, [0, 10])


def test_gradient_of_augmented_assignment_to_repeated_places_is_exact():
    dx, dy = pullback(lambda x, i, y: scatter_set(x, (i,), gather(x, i) + y), X, AT, Y, ct=CT)
    assert_array_equal(dx, [1, 10, 100])
    assert_array_equal(dy, [0, 10])


def test_gradient_of_scatter_add_reaches_every_addend():
    dx, dy = pullback(lambda x, i, y: scatter_add(x, (i,), y), X, AT, Y, ct=CT)
    assert_array_equal(dx, CT)
    assert_array_equal(dy, [10, 10])


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_take_put_and_add_along_an_axis(axis):
    rng = np.random.default_rng(axis)
    x = rng.normal(size=(2, 3, 4))
    shape = tuple(5 if a == axis else n for a, n in enumerate(x.shape))
    i, u = rng.integers(0, x.shape[axis], shape), rng.normal(size=shape)
    types = Type("f64", x.shape), Type("i64", shape), Type("f64", shape)
    fn = trace(
        lambda x, i, u: (take_along(x, i, axis), put_along(x, i, u, axis), add_along(x, i, u, axis)),
        *types,
    )
    taken, put, added = run(fn, (x, i, u))
    wanted, total = x.copy(), x.copy()
    np.put_along_axis(wanted, i, u, axis)
    places = list(np.ogrid[tuple(map(slice, shape))])
    places[axis] = i
    np.add.at(total, tuple(places), u)
    assert_array_equal(taken, np.take_along_axis(x, i, axis))
    assert_array_equal(put, wanted)
    assert_allclose(added, total)


@pytest.mark.parametrize("lengths", [(1, 2, 4), (2, 2, 2), (1, 1, 1), (3, 4, 5), (3, 4, 1), (3, 1, 5)])
def test_dynamic_slices_read_and_write_a_block(lengths):
    x = np.random.default_rng(0).normal(size=(3, 4, 5))
    u = np.random.default_rng(1).normal(size=lengths)
    starts = tuple(np.asarray((n - m) // 2 + (n - m) % 2) for n, m in zip(x.shape, lengths, strict=True))
    types = Type("f64", x.shape), Type("f64", lengths), *[Type("i64")] * 3
    fn = trace(lambda x, u, *s: (dynamic_slice(x, s, lengths), dynamic_update_slice(x, u, s)), *types)
    block = tuple(slice(s, s + n) for s, n in zip(starts, lengths, strict=True))
    wanted = x.copy()
    wanted[block] = u
    read, written = run(fn, (x, u, *starts))
    assert_array_equal(read, x[block])
    assert_array_equal(written, wanted)


def test_dynamic_slice_with_literal_starts_is_a_slice():
    fn = trace(lambda x: dynamic_slice(x, (const(1, "i64"), const(0, "i64")), (2, 3)), Type("f64", (4, 3)))
    assert "gather" not in str(fn)
    assert "slice" in str(fn)


def test_wrap_counts_negative_indices_from_the_end():
    fn = trace(lambda i: wrap(i, 5), Type("i64", (4,)))
    assert_array_equal(run(fn, (np.array([-5, -1, 0, 4]),))[0], [0, 4, 0, 4])


def texts(f, *types):
    return str(simplify(trace(f, *types), RULES))


def test_cotangents_of_reads_accumulate_without_dense_zeros():
    def f(x, i, j):
        return reduce_sum(x * x) + reduce_sum(gather(x, i)) + reduce_sum(gather(x, j))

    types = Type("f64", (100,)), Type("i64", (3,)), Type("i64", (3,))
    backward = simplify(reverse(trace(f, *types), (True, False, False)), RULES)
    text = str(backward)
    assert text.count("scatter_add(") == 2
    assert "broadcast(0.0" not in text
    x, i, j = np.arange(100.0), np.array([1, 1, 5]), np.array([99, 0, 5])
    wanted = 2 * x
    np.add.at(wanted, i, 1.0)
    np.add.at(wanted, j, 1.0)
    assert_array_equal(run(backward, (x, i, j, np.ones(())))[0], wanted)


def test_what_was_just_scattered_is_read_back():
    types = Type("f64", (5, 3)), Type("i64"), Type("f64", (3,))
    assert "gather" not in texts(lambda x, i, u: gather(scatter_set(x, (i,), u), i), *types)
    twice = Type("f64", (5,)), Type("i64", (2,)), Type("f64", (2,))
    assert "gather" in texts(lambda x, i, u: gather(scatter_set(x, (i,), u), i), *twice)


def test_augmented_assignment_is_a_scatter_add_only_where_places_are_unique():
    def f(x, i, u):
        return scatter_set(x, (i,), gather(x, i) + u)

    assert "scatter_add" in texts(f, Type("f64", (5, 3)), Type("i64"), Type("f64", (3,)))
    assert "scatter_add" not in texts(f, Type("f64", (5,)), Type("i64", (2,)), Type("f64", (2,)))


def zeros(*shape):
    return ir.operators.zeros(Type("f64", shape))


def place(u):
    """0 or 1, which is not known."""
    return convert(less(reduce_sum(u, (0, 1)), 0.0), "i64")


IDENTITIES = [
    (index_rules.add_of_write_into_zeros, lambda x, u: x + scatter_add(zeros(4, 3), (iota(2),), u)),
    (index_rules.add_of_write_into_zeros, lambda x, u: UpdateSlice((1, 0), (1, 1))(zeros(4, 3), u) + x),
    (
        index_rules.add_of_write_into_zeros,
        lambda x, u: (
            x
            + permute(UpdateSlice((0, 1), (1, 1))(ir.operators.zeros(Type("f64", (3, 4))), permute(u, (1, 0))), (1, 0))
        ),
    ),
    (index_rules.gather_at_known_place, lambda x, u: reduce_sum(u, (0,)) + gather(x, const(2, "i64"))),
    (
        index_rules.gather_at_known_place,
        lambda x, u: reduce_sum(u, (0, 1)) * gather(x, const(3, "i64"), const(1, "i64")),
    ),
    (index_rules.gather_of_scatter, lambda x, u: gather(scatter_set(x, (iota(2),), u, unique=True), iota(2))),
    (index_rules.gather_of_scatter, lambda x, u: gather(scatter_add(x, (iota(2),), u, unique=True), iota(2))),
    (
        index_rules.gather_beside_scatter,
        lambda x, u: gather(scatter_set(x, (place(u) + 2,), reduce_sum(u, (0,))), place(u) + 1),
    ),
    (
        index_rules.gather_beside_scatter,
        lambda x, u: gather(scatter_add(x, (place(u) + 1,), reduce_sum(u, (0,))), place(u)),
    ),
    (
        index_rules.scatter_set_of_own_sum,
        lambda x, u: scatter_set(x, (iota(2),), gather(x, iota(2)) + u, unique=True),
    ),
    (
        index_rules.scatter_set_of_own_sum,
        lambda x, u: scatter_set(x, (iota(2),), gather(x, iota(2)) - u, unique=True),
    ),
    (
        index_rules.scatter_add_to_cleared,
        lambda x, u: scatter_add(
            scatter_set(x, (iota(2),), zeros(2, 3), unique=True), (iota(2),), u + gather(x, iota(2)), unique=True
        ),
    ),
    (index_rules.scatter_add_of_zeros, lambda x, u: scatter_add(x, (iota(2),), zeros(2, 3))),
]


@pytest.mark.parametrize(("rule", "f"), IDENTITIES)
def test_rules_are_true(rule, f):
    check_rule(rule, Type("f64", (4, 3)), Type("f64", (2, 3)), program=f)


def test_every_rule_is_checked():
    assert {rule for rule, _ in IDENTITIES} == set(index_rules.RULES) <= set(RULES)
