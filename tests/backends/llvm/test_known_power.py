"""Powers with known exponents: within two ulps, and what a power gives of zeros, infinities and negative numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pliant
from pliant.backends.llvm import BACKEND
from pliant.backends.llvm.compiler import compiled
from pliant.backends.llvm.known_power import INVERSE, MENDED, ROOTS, SUITED, is_known
from pliant.backends.llvm.whole_power import LARGEST
from pliant.core.build import trace
from pliant.core.ir import const
from pliant.core.types import Type
from pliant.ops.power import power

WHOLE = (5, 6, 7, 12, 23, 31, 32, 100, 365, LARGEST - 1)
EXPONENTS = sorted({*SUITED, MENDED, *[-p for p in (*ROOTS, *INVERSE, MENDED)], *WHOLE, -4, *[-p for p in WHOLE]})
DTYPES = {"f64": np.float64, "f32": np.float32}
SPECIAL = (
    0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 2.0, -2.0, 16.0, 5e-324, -5e-324, 1e-310, 2.3e-308, 1.7e308, -1.7e308,
    1e-45, 1e-40, 1.2e-38, 3.4e38, 1e206, 1e-206, 1e154, 1e162, 1e26, 1e20, 1e-26,
)  # fmt: skip


def by_pliant(x, exponent, dtype):
    fn = trace(lambda x: power(x, const(exponent, dtype)), Type(dtype, x.shape))
    return BACKEND.compile(fn)([x])[0]


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="no wider format to compare with")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("exponent", EXPONENTS)
def test_known_powers_are_within_two_ulps(exponent, dtype):
    rng = np.random.default_rng(0)
    ends = np.finfo(DTYPES[dtype])
    largest = min(np.log(ends.max), -np.log(ends.tiny)) / max(abs(exponent), 1)
    x = np.exp(rng.uniform(-largest, largest, 50_000)).astype(DTYPES[dtype])
    got = by_pliant(x, exponent, dtype)
    exact = x.astype(np.longdouble) ** np.longdouble(exponent)
    assert (np.abs(got - exact) / np.spacing(exact.astype(x.dtype))).max() <= 2


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="no wider format to compare with")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("exponent", EXPONENTS)
def test_powers_leave_the_range_where_they_should(exponent, dtype):
    """Of numbers of all sizes, those below the least normal one too."""
    ends = np.finfo(DTYPES[dtype])
    x = (
        np.longdouble(2) ** np.linspace(np.log2(np.longdouble(ends.smallest_subnormal)), ends.maxexp - 1, 20_000)
    ).astype(DTYPES[dtype])
    with np.errstate(all="ignore"):
        exact = (x.astype(np.longdouble) ** np.longdouble(exponent)).astype(x.dtype)
    got = by_pliant(x, exponent, dtype)
    np.testing.assert_allclose(got, exact, rtol=3 * ends.eps, atol=ends.smallest_subnormal)


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="no wider format to compare with")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("exponent", [*WHOLE, -4, *[-p for p in WHOLE]])
def test_whole_powers_are_rounded_once(exponent, dtype):
    """But for those close to the least normal number."""
    rng = np.random.default_rng(1)
    x = np.exp(rng.uniform(-1, 1, 50_001) * 0.9 * np.log(np.finfo(DTYPES[dtype]).max) / abs(exponent))
    x = (x * rng.choice([-1, 1], x.size)).astype(DTYPES[dtype])
    exact = x.astype(np.longdouble) ** np.longdouble(exponent)
    error = np.abs(by_pliant(x, exponent, dtype) - exact) / np.abs(np.spacing(exact.astype(x.dtype)))
    assert error.max() <= 0.502


@pytest.mark.parametrize("exponent", [-31, -4, -2.5, -2, 0.75, 1.5, 3, 4, 5, 12, 100])
def test_half_precision_gives_what_numpy_gives(exponent):
    x = np.arange(2**16, dtype=np.uint16).view(np.float16)
    with np.errstate(all="ignore"):
        wanted = np.power(x, np.float16(exponent))
        got = pliant.jit(lambda x: x ** np.float16(exponent))(x)
    np.testing.assert_allclose(got, wanted, rtol=1e-3, atol=np.finfo(np.float16).smallest_subnormal)
    np.testing.assert_array_equal(np.signbit(got)[~np.isnan(x)], np.signbit(wanted)[~np.isnan(x)])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("exponent", EXPONENTS)
def test_special_numbers_give_what_numpy_gives(exponent, dtype):
    with np.errstate(all="ignore"):
        x = np.array(SPECIAL).astype(DTYPES[dtype])
        wanted = np.power(x, x.dtype.type(exponent)) if exponent != 0.5 else np.float_power(x, 0.5).astype(x.dtype)
    got = by_pliant(x, exponent, dtype)
    np.testing.assert_allclose(
        got, wanted, rtol=3e-7 if dtype == "f32" else 5e-16, atol=np.finfo(x.dtype).smallest_subnormal
    )
    np.testing.assert_array_equal(np.signbit(got)[~np.isnan(wanted)], np.signbit(wanted)[~np.isnan(wanted)])


def test_other_exponents_and_dtypes_are_not_known():
    assert not any([is_known(p, "f64") for p in (0.1, 1 / 3, 2.75, LARGEST + 1.0, -3.5, 1e300, math.inf, math.nan)])
    assert not is_known(1.5, "c128")


def test_derivatives_are_known_powers_too():
    x = np.linspace(0.1, 3, 50)
    got = pliant.grad(lambda x: np.sum(x**-1.5))(x)
    np.testing.assert_allclose(got, -1.5 * x**-2.5, rtol=1e-15)
    text = compiled(pliant.trace(pliant.grad(lambda x: np.sum(x**0.25)), x), (), (), sharing=False)[1]
    assert "pow" not in text


@pytest.mark.parametrize("n", [0, 1, 7, 1000])
@pytest.mark.parametrize("exponent", [5, 12, -5])
def test_derivatives_of_whole_powers_are_products(exponent, n):
    x = np.linspace(-2, 3, n)
    slope = pliant.grad(lambda x: np.sum(x ** float(exponent)))
    np.testing.assert_allclose(slope(x), exponent * x ** (exponent - 1.0), rtol=1e-15)
    curve = pliant.grad(lambda x: np.sum(slope(x)))
    np.testing.assert_allclose(curve(x), exponent * (exponent - 1) * x ** (exponent - 2.0), rtol=1e-15)
    text = compiled(pliant.trace(curve, x), (), (), sharing=False)[1]
    assert "pow" not in text
