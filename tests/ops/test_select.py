"""Choices, and cotangents that stay zero where a branch was not taken."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pliant.core.build import trace
from pliant.core.ir import const, nodes
from pliant.core.types import Type
from pliant.errors import DTypeError, ShapeError
from pliant.ops import select as module
from pliant.ops.compare import greater, greater_equal, less, maximum, not_equal
from pliant.ops.elementwise import absolute, convert, neg
from pliant.ops.power import power, sqrt
from pliant.ops.reduce import reduce_sum
from pliant.ops.select import Select, select, support
from pliant.ops.shape import broadcast, permute, reshape
from pliant.ops.transcendental import log
from pliant.testing import check_primitive, check_rule, reverse
from tests.ops.derivatives import gradient, second

F64 = Type("f64", (4,))
X = np.array([0.0, 1.0, -2.0, 0.0])


@pytest.mark.parametrize("shapes", [((3,), (3,), (3,)), ((), (3,), ()), ((2, 2), (), ()), ((), (), ())])
def test_select_obeys_the_laws(shapes):
    condition, x, y = shapes
    check_primitive(Select(), Type("bool", condition), Type("f64", x), Type("f64", y), oracle=np.where)


def test_select_wants_a_bool_and_two_of_one_dtype():
    with pytest.raises(DTypeError, match="select: wants a bool"):
        Select().infer(Type("i64"), F64, F64)
    with pytest.raises(ShapeError, match="do not fit together"):
        Select().infer(Type("bool", (3,)), F64, F64)


# where(c, f(x), 0) with f' infinite or NaN where c is false, at 0, 1, -2, 0; the mask meets f through something
MASKED = {
    "log": (lambda x: select(greater(x, 0), log(x), 0.0), [0, 1, 0, 0]),
    "sqrt": (lambda x: select(greater(x, 0), sqrt(x), 0.0), [0, 0.5, 0, 0]),
    "quotient": (lambda x: select(not_equal(x, 0), 1.0 / x, 0.0), [0, -1, -0.25, 0]),
    "quotient of two": (lambda x: select(not_equal(x, 0), x / absolute(x), 0.0), [0, 0, 0, 0]),
    "x log x": (lambda x: select(greater(x, 0), x * log(x), 0.0), [0, 1, 0, 0]),
    "square of log": (lambda x: select(greater(x, 0), log(x) * log(x) + log(x), 0.0), [0, 1, 0, 0]),
    "power": (lambda x: select(greater(x, 0), power(x, -0.5), 0.0), [0, -0.5, 0, 0]),
    "first branch": (lambda x: select(greater_equal(x, 0), 0.0, log(-x)), [0, 0, -0.5, 0]),
    "negation": (lambda x: select(greater(x, 0), neg(log(x)), 0.0), [0, -1, 0, 0]),
    "factor": (lambda x: select(greater(x, 0), 3.0 * log(x), 0.0), [0, 3, 0, 0]),
    "conversion": (lambda x: select(greater(x, 0), convert(convert(log(x), "f32"), "f64"), 0.0), [0, 1, 0, 0]),
    "reshape": (lambda x: select(greater(square(x), 0), reshape(log(square(x)), (2, 2)), 0.0), [0, 2, -1, 0]),
    "permute": (lambda x: select(greater(turned(x), 0), turned(log(x)), 0.0), [0, 1, 0, 0]),
    "broadcast": (lambda x: select(greater(repeated(x), 0), repeated(log(x)), 0.0), [0, 3, 0, 0]),
    "maximum": (lambda x: maximum(select(greater(x, 0), log(x), 0.0), -1.0), [0, 1, 0, 0]),
    "two masks": (lambda x: select(greater(x, 0), log(x), 0.0) + select(greater(x, 0.5), sqrt(x), 0.0), [0, 1.5, 0, 0]),
    "nested": (lambda x: select(greater(x, -1), select(greater(x, 0), log(x), 0.0), 0.0), [0, 1, 0, 0]),
    "three pieces": (lambda x: select(less(x, 0), 7.0, select(less(x, 0.5), 5.0, log(x))), [0, 1, 0, 0]),
    "both branches": (
        lambda x: select(greater(x, 0), sqrt(x), 0.0) - select(less(x, 0), sqrt(-x), 0.0),
        [0, 0.5, 8**-0.5, 0],
    ),
}


def square(x):
    """x² as a 2 × 2 matrix."""
    return reshape(x * x, (2, 2))


def turned(x):
    """x as a 2 × 2 matrix, transposed."""
    return permute(reshape(x, (2, 2)), (1, 0))


def repeated(x):
    """Three rows of x."""
    return broadcast(x, (3, 4), (1,))


@pytest.mark.parametrize("name", MASKED)
def test_branch_not_taken_has_a_zero_gradient(name):
    f, wanted = MASKED[name]
    assert_allclose(gradient(f, X), wanted)


@pytest.mark.parametrize("name", ["log", "sqrt", "quotient", "x log x", "power", "broadcast", "maximum"])
def test_branch_not_taken_has_a_zero_second_derivative(name):
    got = second(MASKED[name][0], X)
    assert_array_equal(np.isfinite(got), True)
    assert_array_equal(got[[0, 3]], 0)


def test_operand_repeated_under_a_mask_asks_whether_any_copy_counts():
    def f(s, b):
        return select(greater(b, 0), broadcast(log(s), (3,), ()), 0.0)

    assert gradient(f, 0.0, [-1.0, -1.0, -1.0])[0] == 0
    assert gradient(f, 0.5, [-1.0, 1.0, 1.0])[0] == 4


def test_rank_0_operand_under_a_mask_asks_whether_any_element_counts():
    def f(s, b):
        return select(greater(b, 0), log(s) * b, 0.0)

    assert gradient(f, 0.0, [-1.0, -1.0, -1.0])[0] == 0


def test_scalar_condition():
    assert gradient(lambda x, p: select(greater(p, 0), log(x), 0.0), X, -1.0)[0].tolist() == [0, 0, 0, 0]


def test_infinite_slope_of_the_branch_taken_stays():
    assert_array_equal(gradient(lambda x: select(greater_equal(x, 0), sqrt(x), 0.0), X)[[0, 1]], [np.inf, 0.5])


def test_nothing_is_made_where_there_is_no_mask():
    backward = reverse(trace(lambda x: reduce_sum(log(x) * sqrt(x) / x), F64), (True,))
    assert not [node for node in nodes(backward.results) if isinstance(node.op, Select)]


def test_one_mask_is_applied_once_to_a_product():
    backward = reverse(
        trace(lambda x, c: reduce_sum(select(c, 3.0 * log(x), 0.0)), F64, Type("bool", (4,))), (True, False)
    )
    assert len([node for node in nodes(backward.results) if isinstance(node.op, Select)]) == 2


def test_support_is_unknown_for_ordinary_values_and_found_behind_movements():
    fn = trace(lambda x, c: (x, reshape(-select(c, x, 0.0), (2, 2))), F64, Type("bool", (4,)))
    plain, masked = fn.results
    assert support(plain) is None
    mask = support(masked)
    assert mask is not None
    assert str(mask.type) == "bool[2, 2]"


def test_choices_that_are_none_vanish():
    types = Type("bool", (9,)), Type("f64", (9,)), Type("f64", (9,))
    check_rule(module.select_of_same, *types[:2], program=lambda c, x: select(c, x, x))
    check_rule(module.select_by_literal, *types[1:], program=lambda x, y: select(const(True, "bool"), x, y))
    check_rule(module.select_by_literal, *types[1:], program=lambda x, y: select(const(False, "bool"), x, y))
    check_rule(module.select_of_select, *types, program=lambda c, x, y: select(c, select(c, x, 1.0), y))
    check_rule(module.select_of_select, *types, program=lambda c, x, y: select(c, x, select(c, 1.0, y)))
