"""Elementwise primitives in native code against NumPy: every dtype, usual and special numbers."""

from __future__ import annotations

import platform
from dataclasses import fields

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pliant
from pliant import ops
from pliant.backends.llvm import BACKEND
from pliant.backends.llvm.compiler import can, compiled
from pliant.backends.llvm.jit import optimised
from pliant.core.build import trace
from pliant.core.ir import const
from pliant.core.types import DTYPES, Type
from pliant.errors import PliantError
from pliant.ops.base import Elementwise
from pliant.ops.elementwise import Convert
from pliant.testing import run, sample, special

SHAPE = (33,)
RTOL = {"f16": 4e-3, "f32": 4e-6, "c64": 4e-6}
SUMS = ("log_gamma",)
"""What is as exact as its terms are: near a zero they are larger."""


def operand_types(op, dtype):
    """Operand types that a primitive takes, dtype being the main one; None if it takes no such dtype."""
    for count in (1, 2, 3):
        types = [Type(dtype, SHAPE)] * count
        if op.name == "select":
            types[0] = Type("bool", SHAPE)
        try:
            op.infer(*types)
        except (PliantError, TypeError, ValueError, IndexError):
            continue
        return types
    return None


SELECTED = [cls for cls in ops.ALL.values() if issubclass(cls, Elementwise) and not hasattr(cls, "failure")]
PRIMITIVES = [cls() for cls in SELECTED if not fields(cls)]
NATIVE = [
    (op, dtype)
    for op in PRIMITIVES
    for dtype in DTYPES
    if (types := operand_types(op, dtype)) and can(op, tuple(types))
    if not (op.name == "pow" and dtype[0] == "i")  # NumPy's raises; see `test_euclid`
]


def assert_same(op, types, xs, rtol):
    atol = 8 * np.finfo(xs[-1].dtype).eps if op.name in SUMS else 0
    fn = trace(op.apply, *types)
    (wanted,) = run(fn, tuple(xs))
    (got,) = BACKEND.compile(fn)(xs)
    assert got.dtype == wanted.dtype
    assert_allclose(got, wanted, rtol=rtol, atol=atol, err_msg=str(xs))


@pytest.mark.parametrize("name", sorted({op.name for op, _ in NATIVE}))
def test_native_code_agrees_with_numpy(name):
    rng = np.random.default_rng(0)
    for op, dtype in NATIVE:
        if op.name == name:
            types = operand_types(op, dtype)
            rtol = RTOL.get(dtype, 1e-14)
            assert_same(op, types, [sample(rng, t, -3, 3) for t in types], rtol)
            assert_same(op, types, [special(rng, t) for t in types], rtol)


@pytest.mark.parametrize("to", DTYPES)
def test_conversions_agree_with_numpy(to):
    rng = np.random.default_rng(0)
    for dtype in DTYPES:
        x = sample(rng, Type(dtype, SHAPE), -3 if to[0] != "u" else 0, 100)
        assert_same(Convert(to), [Type(dtype, SHAPE)], [x], RTOL.get(to, 1e-15))


@pytest.mark.parametrize("dtype", ["i8", "i16", "i32", "i64", "u8", "u64"])
@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod", "left_shift", "right_shift"])
def test_whole_numbers_never_trap(name, dtype):
    limits = np.iinfo(DTYPES[dtype])
    numbers = [limits.min, limits.max, 0, 1, 7, limits.min + 1, 100] + ([-1, -7] if limits.min else [])
    x, y = (a.ravel() for a in np.meshgrid(np.array(numbers, DTYPES[dtype]), np.array(numbers, DTYPES[dtype])))
    op = ops.ALL[name]()
    with np.errstate(all="ignore"):
        assert_same(op, [Type(dtype, x.shape)] * 2, [x, y], 0)


def test_conversion_out_of_range_is_no_undefined_behaviour():
    x = np.array([1e300, -1e300, np.nan, np.inf, 3.7, -3.7])
    with np.errstate(all="ignore"):
        wanted = x.astype("i8"), x.astype(np.int64)
    del wanted  # what NumPy gives depends on the machine; here it only has to be the same each time
    fn = trace(Convert("i64").apply, Type("f64", (6,)))
    first, second = BACKEND.compile(fn)([x])[0], BACKEND.compile(fn)([x])[0]
    assert_array_equal(first, second)
    assert_array_equal(first[4:], [3, -3])


@pytest.mark.parametrize("given", ["f16", "f32", "f64"])
@pytest.mark.parametrize("dtype", ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"])
def test_a_float_becomes_the_same_whole_number_alone_as_among_others(given, dtype):
    edges = [2.0**n + d for n in (7, 8, 15, 16, 31, 32, 63, 64) for d in (-1.0, -0.5, 0.0, 0.5)]
    with np.errstate(over="ignore"):
        x = np.array([*edges, *[-e for e in edges], 0.7, -0.7, 1e300, np.inf, -np.inf, np.nan]).astype(DTYPES[given])
    alone = BACKEND.compile(trace(Convert(dtype).apply, Type(given)))
    together = BACKEND.compile(trace(Convert(dtype).apply, Type(given, x.shape)))([x])[0]
    assert_array_equal([alone([np.asarray(number)])[0] for number in x], together)


def test_a_float_alone_becomes_a_whole_number_by_one_instruction():
    if platform.machine() in ("x86_64", "AMD64"):
        _, text = compiled(trace(Convert("i64").apply, Type("f64")), {}, (), sharing=True)
        assert "cvttsd2si64" in text
        assert "fptosi" not in optimised(text)


@pytest.mark.parametrize("name", ["exp", "log", "sin", "cos", "tanh", "log1p", "expm1", "pow", "arctan2"])
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_vector_math_is_within_four_ulp(name, dtype):
    rng = np.random.default_rng(0)
    op = ops.ALL[name]()
    n = 10_000
    low, high = {"log": (1e-3, 50), "pow": (0.1, 5), "log1p": (-0.9, 50)}.get(name, (-20, 20))
    types = operand_types(op, dtype)
    types = [t.with_shape((n,)) for t in types]
    xs = [sample(rng, t, low, high) for t in types]
    fn = trace(op.apply, *types)
    (got,) = BACKEND.compile(fn)(xs)
    function = {"pow": np.power}.get(name) or getattr(np, name)
    exact = function(*[x.astype(np.longdouble) for x in xs])
    error = np.abs((got - exact) / np.spacing(np.abs(exact).astype(got.dtype)))
    assert error.max() <= 4.5


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_extrema_of_odd_numbers_are_those_of_numpy(name, dtype):
    odd = np.array([0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan], DTYPES[dtype])
    x, y = (part.ravel() for part in np.meshgrid(odd, odd))
    fn = trace(ops.ALL[name](), Type(dtype, x.shape), Type(dtype, x.shape))
    assert_array_equal(BACKEND.compile(fn)([x, y])[0], getattr(np, name)(x, y))
    for number in odd:
        for args in ((odd, number), (number, odd)):
            assert_array_equal(pliant.jit(getattr(np, name))(*args), getattr(np, name)(*args))


@pytest.mark.parametrize("power", [3, 4])
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_third_and_fourth_powers_are_within_two_ulp(power, dtype):
    rng = np.random.default_rng(0)
    x = (rng.choice([-1, 1], 20_000) * np.exp(rng.uniform(-40, 40, 20_000) / power)).astype(DTYPES[dtype])
    x[:8] = 0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, np.finfo(x.dtype).max
    fn = trace(lambda x: ops.ALL["pow"]()(x, const(power, dtype)), Type(dtype, x.shape))
    (got,) = BACKEND.compile(fn)([x])
    with np.errstate(over="ignore", under="ignore"):
        exact = x.astype(np.longdouble) ** power
        wanted = x**power
    ends = ~np.isfinite(wanted) | (wanted == 0)
    assert_array_equal(got[ends], wanted[ends])
    assert_array_equal(np.signbit(got), np.signbit(wanted))
    error = np.abs((got[~ends] - exact[~ends]) / np.spacing(np.abs(wanted[~ends])))
    assert error.max() <= 2


def test_third_and_fourth_powers_of_whole_numbers_are_those_of_numpy():
    x = np.arange(-2_000_000, 2_000_000, 1001)
    for power in (3, 4):
        fn = trace(lambda x, n=power: ops.ALL["pow"]()(x, const(n, "i64")), Type("i64", x.shape))
        assert_array_equal(BACKEND.compile(fn)([x])[0], x**power)
