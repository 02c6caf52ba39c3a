"""The dot primitive: values, dtypes and laws."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.core.types import Type
from pliant.errors import DTypeError, ShapeError
from pliant.ops import contract
from pliant.ops.contract import Dot, dot_general
from pliant.ops.shape import permute
from pliant.testing import check_primitive, check_rule

MATRICES = Dot(((1,), (0,)), ((), ()))
BATCHED = Dot(((2,), (1,)), ((0,), (2,)))


@pytest.mark.parametrize("dtype", ["f64", "c128"])
@pytest.mark.parametrize(
    ("op", "x", "y", "subscripts"),
    [
        (MATRICES, (2, 3), (3, 4), "ij,jk->ik"),
        (BATCHED, (2, 3, 4), (5, 4, 2), "bij,kjb->bik"),
        (Dot(((2, 0), (1, 3)), ((), ())), (2, 3, 4), (5, 4, 1, 2), "abc,dcea->bde"),
        (Dot(((0,), (0,)), ((), ())), (3,), (3,), "i,i->"),
        (Dot(((), ()), ((0,), (0,))), (3, 2), (3,), "bi,b->bi"),
    ],
)
def test_dot_is_einsum_and_obeys_the_laws(op, x, y, subscripts, dtype):
    check_primitive(op, Type(dtype, x), Type(dtype, y), oracle=lambda a, b: np.einsum(subscripts, a, b))


@pytest.mark.parametrize("dtype", ["bool", "i8", "u16", "i64", "f16", "f32", "c64"])
def test_dot_keeps_the_dtype(dtype):
    check_primitive(BATCHED, Type(dtype, (2, 3, 4)), Type(dtype, (5, 4, 2)), derivatives=False)


def test_dot_of_bools_asks_whether_any_pair_is_true():
    check_primitive(MATRICES, Type("bool", (4, 3)), Type("bool", (3, 5)), oracle=lambda x, y: x @ y)


@pytest.mark.parametrize(("x", "y"), [((0, 3), (3, 2)), ((2, 0), (0, 3)), ((2, 3), (3, 0))])
def test_dot_of_empty_arrays(x, y):
    check_primitive(MATRICES, Type("f64", x), Type("f64", y), oracle=lambda x, y: x @ y)


def test_dot_refuses_what_does_not_fit():
    with pytest.raises(ShapeError, match="do not fit"):
        MATRICES.infer(Type("f64", (2, 3)), Type("f64", (4, 5)))
    with pytest.raises(ShapeError, match="has no axes"):
        MATRICES.infer(Type("f64", (2,)), Type("f64", (2,)))
    with pytest.raises(DTypeError, match="different dtypes"):
        MATRICES.infer(Type("f64", (2, 3)), Type("f32", (3, 5)))


def test_sizes_are_those_of_a_batched_matrix_product():
    assert BATCHED.sizes(Type("f64", (2, 3, 4)), Type("f64", (5, 4, 2))) == (2, 3, 5, 4)


def both_ways(w, x):
    return dot_general(w, x, ((0,), (0,))) + dot_general(w, x, ((1,), (0,)))


def both_ways_of_rows(w, x):
    return dot_general(w, permute(x, (1, 0)), ((1,), (0,))) + dot_general(w, x, ((0,), (1,)))


def both_ways_turned(w, x):
    one, other = dot_general(w, x, ((0,), (0,))), dot_general(w, permute(x, (1, 0)), ((1,), (1,)))
    return permute(other, (1, 0)) + permute(one, (1, 0))


@pytest.mark.parametrize(
    ("program", "shape"), [(both_ways, (5, 9)), (both_ways_of_rows, (9, 5)), (both_ways_turned, (5, 9))]
)
@pytest.mark.parametrize("dtype", ["f64", "c128"])
def test_products_of_a_matrix_both_ways_are_one(program, shape, dtype):
    check_rule(contract.sum_of_both_ways, Type(dtype, (5, 5)), Type(dtype, shape), program=program)


@pytest.mark.parametrize(
    "f", [np.cov, np.corrcoef, lambda x: np.cov(x, rowvar=False), lambda x: x @ x.T, lambda x: x.T @ x]
)
def test_gradients_of_a_product_with_itself_are_one_product(f):
    report = str(
        pliant.explain(pliant.grad(lambda x: np.sum(f(x) ** 3)), np.random.default_rng(0).normal(size=(80, 90)))
    )
    assert report.count("product: ") == 2
