"""Strided views of a vector: the laws of every primitive, and which simpler movements they are."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided
from numpy.testing import assert_array_equal

from pliant.core.build import trace
from pliant.core.ir import nodes
from pliant.core.types import Type
from pliant.errors import ShapeError
from pliant.ops.shape import Broadcast, Permute, Reshape, Slice
from pliant.ops.strided import Strided, strided
from pliant.testing import check_primitive, run

X = Type("f64", (24,))
VIEWS = [
    (0, (8, 1), (3, 5)),  # a part of each row
    (22, (-8, -2), (3, 4)),  # backward
    (0, (1, 8), (5, 3)),  # across
    (1, (1, 1), (5, 4)),  # windows, which share elements
    (3, (0, 2, 9), (2, 3, 2)),  # repeated
    (23, (), ()),
    (4, (7, 3), (1, 1)),
    (0, (5, 1), (0, 3)),
    (2, (3,), (6,)),
    (0, (6, 1), (4, 6)),
    (0, (0, 1), (3, 24)),
]


@pytest.mark.parametrize(("start", "step", "shape"), VIEWS)
@pytest.mark.parametrize("dtype", ["f64", "c128", "i8", "bool"])
def test_a_strided_view_obeys_the_laws(start, step, shape, dtype):
    def oracle(x):
        return as_strided(x[start:], shape, [s * x.itemsize for s in step])

    check_primitive(Strided(start, step, shape), X.with_dtype(dtype), oracle=oracle)


@pytest.mark.parametrize(("start", "step", "shape"), VIEWS)
def test_the_function_is_the_primitive(start, step, shape):
    x = np.arange(24.0)
    (made,) = run(trace(lambda v: strided(v, start, step, shape), X), [x])
    (wanted,) = run(trace(lambda v: Strided(start, step, shape)(v), X), [x])
    assert_array_equal(made, wanted)


@pytest.mark.parametrize(
    ("start", "step", "shape", "wanted"),
    [
        (0, (6, 1), (4, 6), {Reshape}),
        (0, (1, 6), (6, 4), {Reshape, Permute}),
        (0, (6, 1, 2), (4, 2, 3), {Reshape, Permute}),
        (2, (3,), (6,), {Strided}),
        (5, (0, 0), (2, 3), {Slice, Reshape, Broadcast}),
        (0, (0, 1), (3, 24), {Broadcast}),
        (0, (8, 0, 1), (3, 2, 5), {Strided, Broadcast}),
    ],
)
def test_the_simplest_movements_are_made(start, step, shape, wanted):
    fn = trace(lambda v: strided(v, start, step, shape), X)
    assert {type(n.op) for n in nodes(fn.results)} - {type(fn.params[0].op)} == wanted


@pytest.mark.parametrize(
    "op", [Strided(0, (8, 1), (4, 5)), Strided(-1, (1,), (3,)), Strided(1, (-2,), (2,)), Strided(0, (1,), (2, 2))]
)
def test_what_lies_outside_is_refused(op):
    with pytest.raises(ShapeError, match="strided"):
        trace(lambda v: op(v), X)


def test_a_matrix_is_no_vector():
    with pytest.raises(ShapeError, match="vector"):
        trace(lambda v: Strided(0, (1,), (2,))(v), Type("f64", (3, 4)))
