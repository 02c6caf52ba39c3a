"""Bits, whole numbers and logic."""

from __future__ import annotations

from inspect import signature

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pliant.backends import backend_named
from pliant.core.build import trace
from pliant.core.ir import const
from pliant.core.types import Type
from pliant.ops import bits
from pliant.ops.bits import left_shift, logical_and, logical_not, logical_or, logical_xor, right_shift, truth
from pliant.ops.select import Select
from pliant.testing import check_rule, sample
from tests.ops.elementwise_cases import DTYPES_OF_KIND, value

LOGIC = {
    np.logical_and: logical_and,
    np.logical_or: logical_or,
    np.logical_xor: logical_xor,
    np.logical_not: logical_not,
}


@pytest.mark.parametrize("dtype", [d for ds in DTYPES_OF_KIND.values() for d in ds])
@pytest.mark.parametrize("wanted", LOGIC, ids=lambda f: f.__name__)
def test_logic_of_numbers_asks_whether_they_differ_from_zero(wanted, dtype):
    rng = np.random.default_rng(0)
    xs = [
        np.round(sample(rng, Type(dtype, (20,)), 0, 2)) if dtype != "bool" else rng.random(20) < 0.5
        for _ in range(wanted.nin)
    ]
    assert_array_equal(value(LOGIC[wanted], *xs), wanted(*xs))


def test_nan_is_true():
    assert_array_equal(value(truth, [np.nan, 0.0, -0.0]), [True, False, False])


@pytest.mark.parametrize("dtype", ["i8", "u8", "i32", "u64"])
def test_shifts_by_the_width_or_more_are_those_of_numpy(dtype):
    x, n = np.array([1, 5, 100], dtype.replace("i", "int").replace("u", "uint")), np.array([0, 7, 70])
    n = n.astype(x.dtype)
    assert_array_equal(value(left_shift, x, n), x << n)
    assert_array_equal(value(right_shift, x, n), x >> n)


@pytest.mark.parametrize("rule", [r for r in bits.RULES if r.sides], ids=lambda r: r.name)
def test_identity_is_exact_and_fires(rule):
    holes = signature(rule.sides).parameters
    check_rule(rule, *(Type("f64" if name in "xy" and len(holes) == 3 else "bool", (9,)) for name in holes))


def test_choice_between_false_and_true_is_the_opposite():
    check_rule(
        bits.select_false_true,
        Type("bool", (9,)),
        program=lambda c: Select()(c, const(False, "bool"), const(True, "bool")),
    )


@pytest.mark.parametrize("backend", ["llvm", "reference"])
@pytest.mark.parametrize("dtype", ["u8", "u16", "u32", "u64"])
def test_high_products_are_those_of_whole_numbers(dtype, backend):
    size, rng = int(dtype[1:]), np.random.default_rng(1)
    x, y = (rng.integers(0, 2**size - 1, 70, dtype=f"uint{size}", endpoint=True) for _ in range(2))
    x[:3], y[:3] = [0, 2**size - 1, 2**size - 1], [7, 2**size - 1, 1]
    (made,) = backend_named(backend).compile(trace(bits.high_product, Type(dtype, (70,)), Type(dtype, (70,))))([x, y])
    assert made.dtype == x.dtype
    assert made.tolist() == [a * b >> size for a, b in zip(x.tolist(), y.tolist(), strict=True)]
