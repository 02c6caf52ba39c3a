"""The logarithm of the gamma function and its derivative in native code, against sums of their own and SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

import pliant
from pliant.backends.llvm import BACKEND
from pliant.core.build import trace
from pliant.core.types import Type
from pliant.ops.special import digamma, log_gamma

DTYPES = {"f64": np.float64, "f32": np.float32}
FUNCTIONS = {"gammaln": (log_gamma, special.gammaln), "psi": (digamma, special.psi)}
SPECIAL = (
    0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, -2.0, -5.0, 1.0, 2.0, 3.0, 8.0, np.nextafter(8, 0), 1e-30, -1e-30, 1e30,
    -1e30, 0.5, 1.5, 2.5, -0.5, -1.5,
)  # fmt: skip


def native(op, x):
    dtype = next(d for d, t in DTYPES.items() if t == x.dtype)
    return BACKEND.compile(trace(lambda a: op.apply(a)[0], Type(dtype, x.shape)))([x])[0]


def ulps(got, wanted):
    """Of the result, or of 1 where that is more: near zeros of a function its errors are those of its terms."""
    return np.abs(got - wanted) / np.maximum(np.abs(wanted), 1) / np.finfo(got.dtype).eps


def positive(dtype):
    rng = np.random.default_rng(0)
    parts = [rng.uniform(1e-3, 12, 5000), 10.0 ** rng.uniform(-30, 30, 5000), 1 + rng.normal(0, 1e-3, 1000)]
    return np.concatenate(parts).astype(DTYPES[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_errors_are_small(name, dtype):
    op, wanted = FUNCTIONS[name]
    x = positive(dtype)
    assert ulps(native(op, x), wanted(x.astype(np.float64))).max() <= 8


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_below_zero_are_reflected(dtype):
    x = -np.random.default_rng(0).uniform(1e-3, 30, 5000).astype(DTYPES[dtype])
    wide = x.astype(np.longdouble)
    sine = np.sin(np.pi * (wide - np.rint(wide)).astype(np.float64))
    wanted = math.log(math.pi) - np.log(np.abs(sine * wide)) - special.gammaln(-x.astype(np.float64))
    assert ulps(native(log_gamma, x), wanted).max() <= 8
    angle = np.pi * (wide - np.rint(wide)).astype(np.float64)
    assert ulps(native(digamma, x), special.psi(1 - x.astype(np.float64)) - np.pi / np.tan(angle)).max() <= 12


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_arguments_give_what_scipy_gives(name, dtype):
    op, wanted = FUNCTIONS[name]
    x = np.array(SPECIAL, DTYPES[dtype])
    got, exact = native(op, x), wanted(x.astype(np.float64)).astype(x.dtype)
    np.testing.assert_allclose(got, exact, rtol=8 * np.finfo(x.dtype).eps, atol=8 * np.finfo(x.dtype).eps)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_some_numbers_below_zero_leave_their_neighbours_alone(name, dtype):
    op, _ = FUNCTIONS[name]
    x = positive(dtype)[:100]
    whole = native(op, x)
    mixed = np.where(np.arange(100) % 7 == 3, -x, x)
    np.testing.assert_array_equal(native(op, mixed)[mixed > 0], whole[mixed > 0])


def test_factorials_are_those_of_whole_numbers():
    n = np.arange(1, 30)
    wanted = [math.log(math.factorial(k - 1)) for k in range(1, 30)]
    assert ulps(native(log_gamma, n.astype(float)), np.array(wanted)).max() <= 3


def test_gradients_of_log_gamma_call_no_python():
    text = str(pliant.explain(pliant.grad(lambda x: np.sum(special.gammaln(x))), np.linspace(1, 9, 300)))
    assert "0 calls into Python" in text
    assert "no vectors" not in text
