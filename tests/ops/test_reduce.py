"""Reductions: values, NaN, ties, zeros, empty axes, and the laws of every primitive."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pliant.core.build import trace
from pliant.core.types import Type
from pliant.errors import DTypeError, ShapeError
from pliant.ops import RULES, reduce
from pliant.ops.reduce import (
    Argmax,
    Argmin,
    ReduceAnd,
    ReduceMax,
    ReduceMin,
    ReduceOr,
    ReduceProd,
    ReduceSum,
    reduce_max,
    reduce_prod,
    reduce_sum,
)
from pliant.ops.shape import broadcast, permute, reshape
from pliant.rewrite.engine import simplify
from pliant.testing import check_primitive, check_rule, reverse, run

F = Type("f64", (2, 3, 4))


def gradient(f, x):
    """The gradient of a scalar function, evaluated."""
    fn = trace(f, Type("f64", x.shape))
    return run(reverse(fn, (True,)), (x, np.ones(())))[0]


@pytest.mark.parametrize("axes", [(0,), (1, 2), (0, 2), (0, 1, 2)])
@pytest.mark.parametrize("cls", [ReduceSum, ReduceProd, ReduceMax, ReduceMin])
def test_reductions_obey_the_laws(cls, axes):
    oracle = {"add": np.sum, "mul": np.prod, "max": np.max, "min": np.min}[cls.fold]
    check_primitive(cls(axes), F, oracle=lambda x: oracle(x, axis=axes), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["i8", "u16", "i64", "f32", "f16"])
@pytest.mark.parametrize("cls", [ReduceSum, ReduceProd, ReduceMax, ReduceMin])
def test_reductions_keep_the_dtype(cls, dtype):
    check_primitive(cls((1,)), Type(dtype, (2, 3)), derivatives=False)


@pytest.mark.parametrize("cls", [ReduceSum, ReduceProd])
def test_sums_and_products_of_complex_numbers(cls):
    check_primitive(cls((1,)), Type("c128", (2, 3)), rtol=1e-5)


@pytest.mark.parametrize(("cls", "oracle"), [(ReduceAnd, np.all), (ReduceOr, np.any)])
def test_reductions_of_bools(cls, oracle):
    check_primitive(cls((0, 2)), Type("bool", (2, 3, 4)), oracle=lambda x: oracle(x, axis=(0, 2)))
    check_primitive(cls((0,)), Type("bool", (0, 3)), oracle=lambda x: oracle(x, axis=0))


@pytest.mark.parametrize(("cls", "oracle"), [(Argmax, np.argmax), (Argmin, np.argmin)])
@pytest.mark.parametrize("dtype", ["f64", "i32", "bool"])
def test_arg_extrema_obey_the_laws(cls, oracle, dtype):
    check_primitive(cls(1), Type(dtype, (2, 3, 4)), oracle=lambda x: oracle(x, axis=1))


def test_arg_extrema_take_the_first_and_nan_first_of_all():
    x = np.array([[1.0, 3, 3], [1, np.nan, 9], [2, 1, 1]])
    fn = trace(lambda x: (Argmax(1)(x), Argmin(1)(x)), Type("f64", (3, 3)))
    largest, smallest = run(fn, (x,))
    assert_array_equal(largest, [1, 1, 0])
    assert_array_equal(smallest, [0, 1, 1])


def test_extrema_propagate_nan():
    fn = trace(lambda x: (ReduceMax((0,))(x), ReduceMin((0,))(x)), Type("f64", (3,)))
    assert np.isnan(run(fn, (np.array([1, np.nan, 2]),))).all()


def test_ties_share_the_derivative_of_an_extremum():
    assert_array_equal(gradient(reduce_max, np.array([2.0, 1, 2, 2, 2])), [0.25, 0, 0.25, 0.25, 0.25])


@pytest.mark.parametrize(
    ("x", "wanted"),
    [([2.0, 3, 4], [12.0, 8, 6]), ([2.0, 0, 4], [0.0, 8, 0]), ([0.0, 3, 0], [0.0, 0, 0])],
)
def test_gradient_of_product_is_right_at_zeros(x, wanted):
    assert_array_equal(gradient(reduce_prod, np.array(x)), wanted)


@pytest.mark.parametrize("zeros", [0, 1, 2, 3])
def test_second_derivatives_of_product_are_right_at_zeros(zeros):
    x = np.array([0.0] * zeros + [2.0, 3, 5, 7][zeros:])
    check_primitive(ReduceProd((0,)), Type("f64", (4,)), draw=lambda rng: (x,))


def test_empty_axes_reduce_to_the_identity():
    fn = trace(lambda x: (ReduceSum((0,))(x), ReduceProd((0,))(x)), Type("f64", (0, 2)))
    total, product = run(fn, (np.zeros((0, 2)),))
    assert_array_equal(total, [0, 0])
    assert_array_equal(product, [1, 1])
    assert gradient(lambda x: reduce_sum(reduce_prod(x, (0,))), np.zeros((0, 2))).shape == (0, 2)


@pytest.mark.parametrize("cls", [ReduceMax, ReduceMin])
def test_extremum_of_nothing_is_an_error(cls):
    with pytest.raises(ShapeError, match="no elements along axes"):
        trace(cls((0,)), Type("f64", (0, 2)))
    assert trace(cls((1,)), Type("f64", (0, 2))).results[0].shape == (0,)


@pytest.mark.parametrize("cls", [Argmax, Argmin])
def test_place_of_extremum_of_nothing_is_an_error(cls):
    with pytest.raises(ShapeError, match="no elements along axis"):
        trace(cls(0), Type("f64", (0, 2)))


def test_wrong_axes_and_dtypes_are_errors():
    with pytest.raises(ShapeError, match="has no axes"):
        trace(ReduceSum((1, 1)), F)
    with pytest.raises(DTypeError, match="not defined for complex"):
        trace(ReduceMax((0,)), Type("c128", (2,)))


IDENTITIES = [
    (
        reduce.reduction_of_broadcast,
        lambda x: reduce_sum(broadcast(x, (5, 2, 7, 3, 4), (1, 3, 4)), (0, 1, 2)),
        ["reduce_sum", "mul"],
    ),
    (
        reduce.reduction_of_broadcast,
        lambda x: reduce_max(broadcast(x, (5, 2, 3, 4), (1, 2, 3)), (0, 2)),
        ["reduce_max"],
    ),
    (reduce.reduction_of_reduction, lambda x: reduce_max(reduce_max(x, (1,)), (1,)), ["reduce_max"]),
    (reduce.reduction_of_permute, lambda x: reduce_sum(permute(x, (2, 0, 1)), (0,)), ["reduce_sum"]),
    (reduce.reduction_of_single, lambda x: reduce_sum(reshape(x, (2, 1, 12)), (1,)), ["reshape", "add"]),
]


@pytest.mark.parametrize(("rule", "f", "after"), IDENTITIES)
def test_rules_are_true_and_leave_less(rule, f, after):
    check_rule(rule, F, program=f)
    text = str(simplify(trace(f, F), RULES))
    assert [line.split(" = ")[1].split("(")[0] for line in text.splitlines() if " = " in line] == after


def test_a_count_that_the_dtype_cannot_hold_is_summed():
    fn = simplify(trace(lambda x: reduce_sum(broadcast(x, (300,), ())), Type("i8")), RULES)
    assert_array_equal(run(fn, (np.asarray(1, "i1"),))[0], np.asarray(300 - 256, "i1"))


def test_every_rule_is_checked():
    assert {rule for rule, _, _ in IDENTITIES} == set(reduce.RULES) <= set(RULES)
