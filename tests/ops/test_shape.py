"""Movements: the laws of every primitive, and identities between them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pliant.core.build import trace
from pliant.core.types import Type
from pliant.errors import ShapeError
from pliant.ops import RULES, shape_rules
from pliant.ops.shape import (
    Broadcast,
    Concatenate,
    Iota,
    Permute,
    Reshape,
    Slice,
    broadcast,
    concatenate,
    flip,
    move_axis,
    permute,
    reshape,
    slice_axis,
)
from pliant.rewrite.engine import simplify
from pliant.testing import check_primitive, check_rule, run

F = Type("f64", (3, 4))

PRIMITIVES = [
    Broadcast((2, 3, 5, 4), (1, 3)),
    Broadcast((3, 4), (0, 1)),
    Broadcast((0, 3, 4), (1, 2)),
    Reshape((2, 3, 2)),
    Reshape((12,)),
    Permute((1, 0)),
    Slice((2, 0), (-1, 2), (3, 2)),
    Slice((0, 3), (1, -3), (0, 2)),
    Slice((1, 1), (5, 7), (1, 1)),
]


@pytest.mark.parametrize("op", PRIMITIVES)
@pytest.mark.parametrize("dtype", ["f64", "c128", "i8", "bool"])
def test_movements_obey_the_laws(op, dtype):
    check_primitive(op, F.with_dtype(dtype))


@pytest.mark.parametrize("axis", [0, 1])
def test_concatenation_obeys_the_laws(axis):
    others = [Type("f64", (5, 4)), Type("f64", (0, 4))] if axis == 0 else [Type("f64", (3, 1)), Type("f64", (3, 2))]
    check_primitive(Concatenate(axis), F, *others, oracle=lambda *xs: np.concatenate(xs, axis))


def test_iota_counts():
    check_primitive(Iota(5), oracle=lambda: np.arange(5))
    check_primitive(Iota(0), oracle=lambda: np.arange(0))


@pytest.mark.parametrize("op", PRIMITIVES)
def test_values_are_those_of_numpy(op):
    x = np.arange(12.0).reshape(3, 4)
    wanted = {
        Broadcast: lambda: np.broadcast_to(
            np.expand_dims(x, [a for a in range(len(op.shape)) if a not in op.axes]), op.shape
        ),
        Reshape: lambda: x.reshape(op.shape),
        Permute: lambda: x.transpose(op.order),
        Slice: lambda: x[np.ix_(*(s + d * np.arange(n) for s, d, n in zip(op.start, op.step, op.length, strict=True)))],
    }[type(op)]()
    assert_array_equal(run(trace(op, F), (x,))[0], wanted)


@pytest.mark.parametrize(
    "op",
    [
        Broadcast((3, 5), (0, 1)),
        Broadcast((4, 3), (1, 0)),
        Reshape((5,)),
        Reshape((-3, -4)),
        Permute((0, 0)),
        Slice((0, 0), (1, 1), (4, 1)),
        Slice((0, 0), (-1, 1), (2, 1)),
        Slice((0,), (1,), (1,)),
        Concatenate(2),
    ],
)
def test_what_does_not_fit_is_an_error(op):
    with pytest.raises(ShapeError, match=op.name):
        trace(op, F)


def test_functions_make_nothing_where_nothing_changes():
    def f(x):
        same = permute(reshape(broadcast(x, (3, 4), (0, 1)), (3, 4)), (0, 1))
        return concatenate((slice_axis(same, 0, 0, 3),), 0)

    fn = trace(f, F)
    assert fn.results == fn.params


def test_flip_reverses_axes():
    x = np.arange(12.0).reshape(3, 4)
    assert_array_equal(run(trace(lambda x: flip(x, (0, 1)), F), (x,))[0], x[::-1, ::-1])


def first(x):
    """x[0, 0]."""
    return Reshape(())(Slice((0, 0), (1, 1), (1, 1))(x))


IDENTITIES = [
    (shape_rules.movement_of_nothing, lambda x: Reshape((3, 4))(x), 0),
    (shape_rules.movement_of_nothing, lambda x: Permute((0, 1))(x), 0),
    (shape_rules.movement_of_nothing, lambda x: Slice((0, 0), (1, 1), (3, 4))(x), 0),
    (shape_rules.movement_of_nothing, lambda x: Broadcast((3, 4), (0, 1))(x), 0),
    (shape_rules.reshape_of_reshape, lambda x: Reshape((3, 4))(Reshape((12,))(x)), 0),
    (shape_rules.reshape_of_reshape, lambda x: Reshape((4, 3))(Reshape((12,))(x)), 1),
    (
        shape_rules.reshape_of_broadcast,
        lambda x: Reshape((6,))(Broadcast((2, 3), ())(Reshape(())(slice_axis(slice_axis(x, 0, 1, 1), 1, 2, 1)))),
        3,
    ),
    (shape_rules.permute_of_permute, lambda x: Permute((1, 0))(Permute((1, 0))(x)), 0),
    (shape_rules.permute_of_permute, lambda x: Permute((2, 1, 0))(Permute((1, 2, 0))(Reshape((3, 2, 2))(x))), 2),
    (
        shape_rules.broadcast_of_broadcast,
        lambda x: Broadcast((2, 5, 3, 4), (0, 2, 3))(Broadcast((2, 3, 4), (1, 2))(x)),
        1,
    ),
    (shape_rules.permute_of_broadcast, lambda x: Permute((2, 0, 1))(Broadcast((2, 3, 4), (1, 2))(x)), 2),
    (shape_rules.slice_of_slice, lambda x: Slice((1, 0), (1, 1), (1, 2))(Slice((2, 3), (-1, -1), (3, 4))(x)), 1),
    (shape_rules.slice_of_slice, lambda x: flip(flip(x, (0, 1)), (0, 1)), 0),
    (
        shape_rules.slice_of_broadcast,
        lambda x: Slice((1, 1, 0), (1, 1, 2), (1, 2, 2))(Broadcast((2, 3, 4), (1, 2))(x)),
        2,
    ),
    (
        shape_rules.slice_of_broadcast,
        lambda x: Slice((1, 0, 0), (1, 1, 1), (2, 3, 4))(Broadcast((4, 3, 4), (1, 2))(x)),
        1,
    ),
    (shape_rules.slice_of_concatenate, lambda x: Slice((4, 0), (1, 2), (2, 2))(Concatenate(0)(x, x)), 1),
]


@pytest.mark.parametrize(("rule", "f", "size"), IDENTITIES)
def test_rules_are_true_and_leave_less(rule, f, size):
    check_rule(rule, F, program=f)
    assert str(simplify(trace(f, F), RULES)).count(" = ") == size


def test_slice_across_two_pieces_stays():
    text = str(simplify(trace(lambda x: Slice((2, 0), (1, 2), (2, 2))(Concatenate(0)(x, x)), F), RULES))
    assert "concatenate" in text


def test_every_rule_is_checked():
    assert {rule for rule, _, _ in IDENTITIES} == set(shape_rules.RULES) <= set(RULES)


@pytest.mark.parametrize("source", range(-3, 3))
@pytest.mark.parametrize("destination", range(-3, 3))
def test_an_axis_is_moved_as_in_numpy(source: int, destination: int) -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    got = run(trace(lambda x: move_axis(x, source, destination), Type("f64", x.shape)), (x,))[0]
    assert_array_equal(got, np.moveaxis(x, source, destination))
