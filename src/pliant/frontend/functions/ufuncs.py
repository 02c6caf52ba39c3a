"""NumPy's ufuncs over primitives. A builder takes values of the loop's dtypes, one shape or rank 0."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pliant.core.ir import Const, Value, const
from pliant.core.types import Type
from pliant.frontend.failures import fail_if
from pliant.frontend.sizes import range_of
from pliant.ops import bits, compare, elementwise, power, rounding, special, stable, transcendental
from pliant.ops.complex import Complex, conj, imag, real
from pliant.ops.einsum import einsum
from pliant.ops.einsum import matmul as matrix_product
from pliant.ops.reduce import reduce_or
from pliant.ops.select import select

Builder = Callable[..., Any]


def _absolute(x: Value) -> Value:
    return x if x.dtype == "bool" else elementwise.absolute(x)


def _whole(round_off: Builder) -> Builder:
    """A rounding that leaves whole numbers as they are."""

    def rounded(x: Value) -> Value:
        return round_off(x) if x.type.is_float else x

    return rounded


def _ordered(test: Builder) -> Builder:
    """A comparison; complex numbers are ordered by real part, then by imaginary part, unless one is NaN."""

    def ordered(x: Value, y: Value) -> Value:
        if x.dtype[0] != "c":
            return test(x, y)
        same = bits.bitwise_and(compare.equal(real(x), real(y)), test(imag(x), imag(y)))
        strict = compare.less if test in (compare.less, compare.less_equal) else compare.greater
        is_known = bits.invert(bits.bitwise_or(compare.isnan(imag(x)), compare.isnan(imag(y))))
        return bits.bitwise_or(bits.bitwise_and(strict(real(x), real(y)), is_known), same)

    return ordered


def _widely(build: Builder) -> Builder:
    """A function of halves that is computed in f32 and rounded once, as NumPy does."""

    def rounded(x: Value) -> Value:
        return elementwise.convert(build(elementwise.convert(x, "f32")), "f16") if x.dtype == "f16" else build(x)

    return rounded


def _complex_reciprocal(x: Value) -> Value:
    """1 / x as NumPy makes it of the quotient of both parts, unlike its division: of 0 both parts are NaN."""
    a, b = real(x), imag(x)
    is_steep = bits.logical_not(compare.less_equal(elementwise.absolute(b), elementwise.absolute(a)))
    large, small = select(is_steep, b, a), select(is_steep, a, b)
    ratio = small / large
    size = large + small * ratio
    one, other = 1.0 / size, ratio / size
    return Complex()(select(is_steep, other, one), -select(is_steep, one, other))


def _reciprocal(x: Value) -> Value:
    if x.type.kind == "c":
        return _complex_reciprocal(x)
    if x.type.is_float:
        return power.reciprocal(x)
    of_zero = elementwise.convert(const(math.inf, "f64"), x.dtype) if x.dtype in ("i32", "i64") else const(0, x.dtype)
    large = select(compare.equal(x, const(0, x.dtype)), of_zero, const(0, x.dtype))
    return select(compare.equal(_absolute(x), const(1, x.dtype)), x, large)


def _divmod(x: Value, y: Value) -> tuple[Value, Value]:
    return rounding.floor_divide(x, y), rounding.remainder(x, y)


def _power(x: Value, n: Value) -> Value:
    """xⁿ, or NumPy's error."""
    check_second(np.power, x.dtype, n)
    return _power_step(x, n)


def _power_step(x: Value, n: Value) -> Value:
    """xⁿ; for the exponent 1/2 the root, as NumPy has it: they differ at -0.0 and -inf."""
    is_half = isinstance(n.op, Const) and n.op.value == 0.5 and x.dtype[0] == "f"
    return power.sqrt(x) if is_half else power.power(x, n)


def _positive(x: Value) -> Value:
    return x


def check_second(ufunc: np.ufunc, dtype: str, n: Value, used: Callable[[Value], Value] = _positive) -> None:
    """Note NumPy's error about second operands of a ufunc: whole numbers have no negative whole powers.

    used: takes what holds for each of n to what holds for those that are used.
    """
    if ufunc is not np.power or dtype[0] != "i":
        return
    narrow = n.node.args[0].dtype[0] if isinstance(n.op, elementwise.Convert) else ""
    low = n.op.value if isinstance(n.op, Const) else range_of(n)[0] if n.type == Type("i64") else None
    if narrow not in ("b", "u") and (low is None or low.real < 0):
        negative = used(compare.less(n, const(0, n.dtype)))
        fail_if(reduce_or(negative), ValueError("Integers to negative integer powers are not allowed."))


def _einsum(subscripts: str, first: Builder) -> Builder:
    """A product of two arrays by subscripts; `first` acts on the first."""

    def product(x: Value, y: Value) -> Value:
        return einsum(subscripts, first(x), y)

    return product


def _square(x: Value) -> Value:
    return elementwise.mul(x, x)


_FLOATING: Final[dict[np.ufunc, Builder]] = {
    np.exp: transcendental.exp,
    np.exp2: transcendental.exp2,
    np.expm1: transcendental.expm1,
    np.log: transcendental.log,
    np.log2: transcendental.log2,
    np.log10: transcendental.log10,
    np.log1p: transcendental.log1p,
    np.logaddexp: transcendental.logaddexp,
    np.logaddexp2: transcendental.logaddexp2,
    np.sin: transcendental.sin,
    np.cos: transcendental.cos,
    np.tan: transcendental.tan,
    np.arcsin: transcendental.arcsin,
    np.arccos: transcendental.arccos,
    np.arctan: transcendental.arctan,
    np.arctan2: transcendental.arctan2,
    np.sinh: transcendental.sinh,
    np.cosh: transcendental.cosh,
    np.tanh: transcendental.tanh,
    np.arcsinh: transcendental.arcsinh,
    np.arccosh: transcendental.arccosh,
    np.arctanh: transcendental.arctanh,
    np.sqrt: power.sqrt,
    np.cbrt: power.cbrt,
    np.hypot: power.hypot,
    np.float_power: power.power,
    np.deg2rad: _widely(rounding.deg2rad),
    np.radians: _widely(rounding.deg2rad),
    np.rad2deg: _widely(rounding.rad2deg),
    np.degrees: _widely(rounding.rad2deg),
}

_ARITHMETIC: Final[dict[np.ufunc, Builder]] = {
    np.add: elementwise.add,
    np.subtract: elementwise.sub,
    np.multiply: elementwise.mul,
    np.divide: elementwise.div,
    np.floor_divide: rounding.floor_divide,
    np.remainder: rounding.remainder,
    np.fmod: rounding.fmod,
    np.divmod: _divmod,
    np.power: _power,
    np.negative: elementwise.neg,
    np.positive: _positive,
    np.absolute: _absolute,
    np.fabs: _absolute,
    np.sign: elementwise.sign,
    np.square: _square,
    np.reciprocal: _reciprocal,
    np.conjugate: conj,
    np.maximum: compare.maximum,
    np.minimum: compare.minimum,
    np.fmax: compare.fmax,
    np.fmin: compare.fmin,
    np.rint: _whole(rounding.rint),
    np.floor: _whole(rounding.floor),
    np.ceil: _whole(rounding.ceil),
    np.trunc: _whole(rounding.trunc),
    np.modf: rounding.modf,
    np.frexp: rounding.frexp,
    np.ldexp: rounding.ldexp,
    np.copysign: rounding.copysign,
    np.nextafter: rounding.nextafter,
    np.spacing: rounding.spacing,
    np.heaviside: rounding.heaviside,
    np.gcd: bits.gcd,
    np.lcm: bits.lcm,
}

_TESTS: Final[dict[np.ufunc, Builder]] = {
    np.equal: compare.equal,
    np.not_equal: compare.not_equal,
    np.less: _ordered(compare.less),
    np.less_equal: _ordered(compare.less_equal),
    np.greater: _ordered(compare.greater),
    np.greater_equal: _ordered(compare.greater_equal),
    np.isnan: compare.isnan,
    np.isinf: compare.isinf,
    np.isfinite: compare.isfinite,
    np.signbit: compare.signbit,
    np.logical_and: bits.logical_and,
    np.logical_or: bits.logical_or,
    np.logical_xor: bits.logical_xor,
    np.logical_not: bits.logical_not,
    np.bitwise_and: bits.bitwise_and,
    np.bitwise_or: bits.bitwise_or,
    np.bitwise_xor: bits.bitwise_xor,
    np.invert: bits.invert,
    np.left_shift: bits.left_shift,
    np.right_shift: bits.right_shift,
    np.bitwise_count: bits.bitwise_count,
}

_PRODUCTS: Final[dict[np.ufunc, Builder]] = {
    np.matmul: matrix_product,
    np.vecdot: _einsum("...i,...i->...", conj),
    np.matvec: _einsum("...ij,...j->...i", _positive),
    np.vecmat: _einsum("...i,...ij->...j", conj),
}

UFUNCS: Final[dict[np.ufunc, Builder]] = {**_ARITHMETIC, **_FLOATING, **_TESTS, **_PRODUCTS}
"""Every ufunc of NumPy's but `isnat`: what makes its results."""

STEPS: Final[dict[np.ufunc, Builder]] = {**UFUNCS, np.power: _power_step}
"""The same for steps of loops, whose operands are checked before: see `check_second`."""


# --- SciPy's, known by name so that SciPy need not be imported


def _logit(p: Value) -> Value:
    return elementwise.sub(transcendental.log(p), transcendental.log1p(elementwise.neg(p)))


def _log_expit(x: Value) -> Value:
    zero = const(0, x.dtype)
    return elementwise.neg(transcendental.logaddexp(zero, elementwise.neg(x)))


def _xlog(log: Builder) -> Builder:
    """x·log y, which is 0 where x is 0 and y is no NaN, also where log y is infinite, or none."""

    def xlog(x: Value, y: Value) -> Value:
        has_none = bits.bitwise_and(bits.invert(compare.isfinite(log(y))), bits.invert(compare.isnan(y)))
        is_zero = bits.bitwise_and(compare.equal(x, const(0, x.dtype)), has_none)
        one = const(1, y.dtype)
        return select(is_zero, const(0, x.dtype), elementwise.mul(x, log(select(is_zero, one, y))))

    return xlog


def _entr(x: Value) -> Value:
    """−x·log x; 0 at 0, −∞ for negative x."""
    zero = const(0, x.dtype)
    inside = elementwise.neg(_xlog(transcendental.log)(x, x))
    return select(compare.less(x, zero), const(float("-inf"), x.dtype), inside)


def _exp10(x: Value) -> Value:
    return power.power(const(10, x.dtype), x)


def _ndtr(x: Value) -> Value:
    """The cumulative distribution of the standard normal: ½ erfc(−x/√2)."""
    return elementwise.mul(const(0.5, x.dtype), special.erfc(elementwise.mul(const(-math.sqrt(0.5), x.dtype), x)))


NAMED_UFUNCS: Final[dict[str, Builder]] = {
    "erf": special.erf,
    "erfc": special.erfc,
    "ndtr": _ndtr,
    "gammaln": special.log_gamma,
    "psi": special.digamma,
    "expit": stable.logistic,
    "logit": _logit,
    "log_expit": _log_expit,
    "xlogy": _xlog(transcendental.log),
    "xlog1py": _xlog(transcendental.log1p),
    "entr": _entr,
    "exp10": _exp10,
    "log1p": transcendental.log1p,
    "expm1": transcendental.expm1,
}
"""Ufuncs of `scipy.special`."""
