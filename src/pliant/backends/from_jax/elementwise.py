"""Operations on each element."""

from __future__ import annotations

from functools import reduce
from typing import Any, Final

import numpy as np

from pliant.backends.from_jax.walk import Rule, short
from pliant.core.ir import Value, const
from pliant.core.types import DTYPES
from pliant.errors import UnsupportedError
from pliant.ops import bits, compare, complex, elementwise, power, rounding, special, stable, transcendental
from pliant.ops.bitcast import bitcast
from pliant.ops.custom import Barrier, stop_gradient
from pliant.ops.select import select
from pliant.ops.shape import broadcast, reshape

SAME: Final[dict[str, Any]] = {
    "add": elementwise.add, "add_any": elementwise.add, "sub": elementwise.sub, "mul": elementwise.mul,
    "neg": elementwise.neg, "abs": elementwise.absolute, "sign": elementwise.sign, "max": compare.maximum,
    "min": compare.minimum, "eq": compare.equal, "ne": compare.not_equal, "lt": compare.less,
    "le": compare.less_equal, "gt": compare.greater, "ge": compare.greater_equal, "is_finite": compare.isfinite,
    "exp": transcendental.exp, "exp2": transcendental.exp2, "expm1": transcendental.expm1,
    "log": transcendental.log, "log1p": transcendental.log1p, "sin": transcendental.sin,
    "cos": transcendental.cos, "tan": transcendental.tan, "asin": transcendental.arcsin,
    "acos": transcendental.arccos, "atan": transcendental.arctan, "atan2": transcendental.arctan2,
    "sinh": transcendental.sinh, "cosh": transcendental.cosh, "tanh": transcendental.tanh,
    "asinh": transcendental.arcsinh, "acosh": transcendental.arccosh, "atanh": transcendental.arctanh,
    "pow": power.power, "sqrt": power.sqrt, "cbrt": power.cbrt, "square": power.square,
    "erf": special.erf, "erfc": special.erfc, "lgamma": special.log_gamma, "digamma": special.digamma,
    "floor": rounding.floor, "ceil": rounding.ceil, "nextafter": rounding.nextafter, "rem": rounding.fmod,
    "and": bits.bitwise_and, "or": bits.bitwise_or, "xor": bits.bitwise_xor, "not": bits.invert,
    "shift_left": bits.left_shift, "real": complex.real, "imag": complex.imag, "complex": complex.complex,
    "stop_gradient": stop_gradient,
}  # fmt: skip
"""The function of their operands that operations are, whatever their parameters are."""


def _plain(f: Any) -> Rule:
    return lambda *xs, **_: f(*xs)


def _aligned(f: Rule) -> Rule:
    """A rule for operands that may have axes of extent 1 in place of others."""

    def rule(*xs: Value, **params: Any) -> Any:
        shapes = [x.shape for x in xs if x.shape]
        if len(set(shapes)) > 1:
            shape = tuple([max(sizes) if 0 not in sizes else 0 for sizes in zip(*shapes, strict=True)])
            xs = tuple([widened(x, shape) if x.shape else x for x in xs])
        return f(*xs, **params)

    return rule


def widened(x: Value, shape: tuple[int, ...]) -> Value:
    """x repeated along axes of extent 1."""
    if x.shape == shape:
        return x
    kept = [a for a, (n, m) in enumerate(zip(x.shape, shape, strict=True)) if n == m]
    return broadcast(reshape(x, [x.shape[a] for a in kept]), shape, tuple(kept))


def lt_to(x: Value, y: Value, **_: Any) -> Value:
    """Whether x comes before y in the total order of floats: -NaN, numbers, NaN; zeros by their signs."""
    return compare.less(_ordered(x), _ordered(y))


def le_to(x: Value, y: Value, **_: Any) -> Value:
    """Whether x comes before y in the total order of floats, or is y."""
    return compare.less_equal(_ordered(x), _ordered(y))


def eq_to(x: Value, y: Value, **_: Any) -> Value:
    """Whether the bits of both are the same."""
    return compare.equal(_ordered(x), _ordered(y))


def _ordered(x: Value) -> Value:
    """Integers in the total order of floats."""
    if x.dtype[0] != "f":
        return x
    size = int(x.dtype[1:])
    bits_of = bitcast(x, f"i{size}")
    flipped = bits.bitwise_xor(bits_of, const(2 ** (size - 1) - 1, f"i{size}"))
    return select(compare.less(bits_of, 0), flipped, bits_of)


def same(x: Value, **_: Any) -> Value:
    """The operand."""
    return x


def all_same(*xs: Value, **_: Any) -> list[Value]:
    """The operands."""
    return list(xs)


def optimization_barrier(*xs: Value, **_: Any) -> list[Value]:
    """The operands, known to no rewrite rule as these."""
    return [Barrier()(x) for x in xs]


def div(x: Value, y: Value, **_: Any) -> Value:
    """A quotient, of integers without its fraction."""
    if x.dtype[0] not in "iu":
        return elementwise.div(x, y)
    rest = rounding.fmod(x, y)
    return rounding.floor_divide(elementwise.sub(x, rest), y)


def integer_pow(x: Value, *, y: int, **_: Any) -> Value:
    """A power by a known integer."""
    if y == 0:
        return broadcast(const(1, x.dtype), x.shape, ())
    made = power.whole_power(x, abs(y)) if x.dtype[0] in "iu" or abs(y) < 4 else power.power(x, const(abs(y), x.dtype))
    return made if y > 0 else power.reciprocal(made)


def rsqrt(x: Value, **_: Any) -> Value:
    """One over the root."""
    return power.reciprocal(power.sqrt(x))


def logistic(x: Value, **_: Any) -> Value:
    """1/(1 + e⁻ˣ), of complex numbers too, without overflow."""
    if x.dtype[0] != "c":
        return stable.logistic(x)
    is_negative = compare.less(complex.real(x), 0)
    e = transcendental.exp(select(is_negative, x, elementwise.neg(x)))
    return elementwise.div(select(is_negative, e, 1), elementwise.add(e, 1))


def round_(x: Value, *, rounding_method: Any, **_: Any) -> Value:
    """The nearest whole number; of two the even one, or the one away from zero."""
    if int(rounding_method) == 1:
        return rounding.rint(x)
    whole = rounding.trunc(x)
    is_far = compare.greater_equal(elementwise.absolute(elementwise.sub(x, whole)), 0.5)
    one = broadcast(const(1, x.dtype), x.shape, ())
    return select(is_far, elementwise.add(whole, rounding.copysign(one, x)), whole)


def conj(x: Value, **_: Any) -> Value:
    """The conjugate, as a complex number."""
    if x.dtype[0] == "c":
        return complex.conj(x)
    return complex.complex(x, broadcast(const(0, x.dtype), x.shape, ()))


def clamp(low: Value, x: Value, high: Value, **_: Any) -> Value:
    """x between two bounds, on which it has no derivative."""
    low, high = (broadcast(b, x.shape, ()) if not b.shape else b for b in (low, high))
    return select(compare.less_equal(x, low), low, select(compare.greater_equal(x, high), high, x))


def select_n(which: Value, *cases: Value, **_: Any) -> Value:
    """One of several, by a truth value or a number."""
    if which.dtype == "bool":
        return select(which, cases[1], cases[0])
    numbered = list(enumerate(cases))
    return reduce(lambda made, k: select(compare.equal(which, k[0]), k[1], made), numbered[:-1], cases[-1])


def convert_element_type(x: Value, *, new_dtype: Any, **_: Any) -> Value:
    """In another dtype: as an integer, the nearest one there is, and 0 of NaN."""
    dtype = short(new_dtype)
    return _saturated(x, dtype) if x.dtype[0] == "f" and dtype[0] in "iu" else elementwise.convert(x, dtype)


def _saturated(x: Value, dtype: str) -> Value:
    """Floats as integers, of which those out of range are the least or the greatest."""
    x = elementwise.convert(x, "f32") if x.dtype == "f16" else x
    number, limits = np.dtype(DTYPES[x.dtype]).type, np.iinfo(DTYPES[dtype])
    most = number(limits.max)
    is_exact = int(most) == limits.max
    low, high = number(limits.min), most if is_exact else np.nextafter(most, number(0))
    known = select(compare.equal(x, x), x, 0)
    known = compare.minimum(compare.maximum(known, const(float(low), x.dtype)), const(float(high), x.dtype))
    made = elementwise.convert(known, dtype)
    if is_exact:
        return made
    return select(compare.greater_equal(x, const(float(most), x.dtype)), const(int(limits.max), dtype), made)


def bitcast_convert_type(x: Value, *, new_dtype: Any, **_: Any) -> Value:
    """The same bits as another dtype of as many."""
    dtype = short(new_dtype)
    if x.dtype.strip("biufcol") != dtype.strip("biufcol"):
        raise UnsupportedError(
            f"from_jax: bits of {x.dtype} as {dtype}, which has not as many, are not supported",
            hint="convert to a dtype of as many bits",
        )
    return bitcast(x, dtype)


def shift_right_arithmetic(x: Value, y: Value, **_: Any) -> Value:
    """Shifted to the right, with copies of the sign."""
    if x.dtype[0] == "i":
        return bits.right_shift(x, y)
    signed = "i" + x.dtype[1:]
    return bitcast(bits.right_shift(bitcast(x, signed), bitcast(y, signed)), x.dtype)


def shift_right_logical(x: Value, y: Value, **_: Any) -> Value:
    """Shifted to the right, with zeros."""
    if x.dtype[0] == "u":
        return bits.right_shift(x, y)
    unsigned = "u" + x.dtype[1:]
    return bitcast(bits.right_shift(bitcast(x, unsigned), bitcast(y, unsigned)), x.dtype)


def population_count(x: Value, **_: Any) -> Value:
    """How many bits are set; NumPy counts those of the absolute value."""
    unsigned = bitcast(x, "u" + x.dtype[1:]) if x.dtype[0] == "i" else x
    return elementwise.convert(bits.bitwise_count(unsigned), x.dtype)


def reduce_precision(x: Value, *, exponent_bits: int, mantissa_bits: int, **_: Any) -> Value:
    """The number as one of fewer bits: of those of a dtype of NumPy."""
    names = {(5, 10): "f16", (8, 23): "f32", (11, 52): "f64"}
    dtype = names.get((exponent_bits, mantissa_bits))
    if dtype is None:
        raise UnsupportedError(f"from_jax: numbers of {exponent_bits} and {mantissa_bits} bits are not supported")
    return elementwise.convert(elementwise.convert(x, dtype), x.dtype)


_RULES: Final[dict[str, Rule]] = {
    **{name: _plain(f) for name, f in SAME.items()},
    "device_put": all_same, "copy": same, "copy_p": same, "pvary": same, "optimization_barrier": optimization_barrier,
    "div": div, "integer_pow": integer_pow, "rsqrt": rsqrt, "logistic": logistic, "round": round_, "conj": conj,
    "clamp": clamp, "select_n": select_n, "convert_element_type": convert_element_type,
    "bitcast_convert_type": bitcast_convert_type, "shift_right_arithmetic": shift_right_arithmetic,
    "shift_right_logical": shift_right_logical, "population_count": population_count,
    "reduce_precision": reduce_precision, "lt_to": lt_to, "le_to": le_to, "eq_to": eq_to,
}  # fmt: skip
RULES: Final[dict[str, Rule]] = {
    name: rule if name in ("optimization_barrier", "device_put") else _aligned(rule) for name, rule in _RULES.items()
}
