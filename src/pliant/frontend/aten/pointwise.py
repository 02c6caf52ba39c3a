"""PyTorch's operators on each element, in terms of NumPy's functions.

Where PyTorch's derivative takes a side, as at the corner of relu, so do these.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from scipy import special

from pliant.frontend.aten.call import Array, Call, Rule, cast

xp: Any = np
"""NumPy, called with traced arrays too: its protocols lead back to the tables."""
sp: Any = special


def alike(f: Callable[..., Array]) -> Rule:
    """f of operands in the dtype that the call computes in."""
    return lambda call, *xs, **_: f(*[cast(x, call.working) for x in xs])


def promoted(f: Callable[..., Array]) -> Rule:
    """f of operands in their common dtype, whatever the result is."""
    return lambda call, *xs, **_: f(*[cast(x, call.common) for x in xs])


def as_it_is(f: Callable[..., Array]) -> Rule:
    """f of operands that keep their dtypes."""
    return lambda call, *xs, **_: f(*xs)


def scaled(f: Callable[[Array, Array], Array]) -> Rule:
    """f of two operands, the second times alpha."""

    def rule(call: Call, x: Any, y: Any, alpha: Any = 1) -> Array:
        x, y = cast(x, call.working), cast(y, call.working)
        return f(x, y if alpha == 1 else y * alpha)

    return rule


def div(call: Call, x: Any, y: Any, *, rounding_mode: str | None = None) -> Array:
    """The quotient; its whole part by a mode."""
    x, y = cast(x, call.working), cast(y, call.working)
    if rounding_mode is None:
        return xp.true_divide(x, y)
    if rounding_mode == "floor":
        return xp.floor_divide(x, y)
    if call.dtype.kind in "iu":
        return (x - xp.fmod(x, y)) // y
    return xp.trunc(xp.true_divide(x, y))


def clamp(call: Call, x: Array, low: Any = None, high: Any = None) -> Array:
    """x within bounds, which count as x where they are met."""
    x, low, high = [cast(v, call.dtype) for v in (x, low, high)]
    x = x if low is None else xp.where(x < low, low, x)
    return x if high is None else xp.where(x > high, high, x)


def logistic(x: Array) -> Array:
    """1 / (1 + e⁻ˣ)."""
    return 1 / (1 + xp.exp(-x))


def gelu(call: Call, x: Array, *, approximate: str = "none") -> Array:
    """x·Φ(x), or by the approximation with tanh."""
    if approximate == "tanh":
        return 0.5 * x * (1 + xp.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
    return 0.5 * x * (1 + sp.erf(x * math.sqrt(0.5)))


def elu(call: Call, x: Array, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Array:
    """x, or α(eˣ − 1) below 0."""
    return xp.where(x > 0, x * scale, xp.expm1(x * input_scale) * (alpha * scale))


def softplus(call: Call, x: Array, beta: float = 1.0, threshold: float = 20.0) -> Array:
    """log(1 + eˣ)."""
    return xp.where(x * beta > threshold, x, xp.log1p(xp.exp(x * beta)) / beta)


def hardtanh(call: Call, x: Array, low: float = -1.0, high: float = 1.0) -> Array:
    """x within bounds, which count as constant where they are met."""
    return xp.where(x <= low, low, xp.where(x >= high, high, x)).astype(call.dtype)


def lerp(x: Array, y: Array, weight: Any) -> Array:
    """From x to y."""
    return x + weight * (y - x)


def nan_to_num(call: Call, x: Array, nan: Any = None, above: Any = None, below: Any = None) -> Array:
    """x, with numbers for what is none."""
    return xp.nan_to_num(x, nan=nan or 0.0, posinf=above, neginf=below)


def where(call: Call, c: Array, x: Any, y: Any) -> Array:
    """One of two by a condition."""
    return xp.where(c, cast(x, call.dtype), cast(y, call.dtype))


def added(f: Callable[[Array, Array], Array]) -> Rule:
    """x + value·f(y, z)."""

    def rule(call: Call, x: Array, y: Array, z: Array, *, value: Any = 1) -> Array:
        x, y, z = [cast(v, call.working) for v in (x, y, z)]
        return x + value * f(y, z)

    return rule


def _round(call: Call, x: Array, *, decimals: int = 0) -> Array:
    return xp.round(x, decimals)


_UNARY: Final = {
    "neg": xp.negative, "exp": xp.exp, "exp2": xp.exp2, "expm1": xp.expm1, "log": xp.log, "log2": xp.log2,
    "log10": xp.log10, "log1p": xp.log1p, "sqrt": xp.sqrt, "rsqrt": lambda x: 1 / xp.sqrt(x),
    "sin": xp.sin, "cos": xp.cos, "tan": xp.tan, "sinh": xp.sinh, "cosh": xp.cosh, "tanh": xp.tanh,
    "asin": xp.arcsin, "acos": xp.arccos, "atan": xp.arctan, "asinh": xp.arcsinh, "acosh": xp.arccosh,
    "atanh": xp.arctanh, "ceil": xp.ceil, "floor": xp.floor, "trunc": xp.trunc, "sign": xp.sign, "sgn": xp.sign,
    "reciprocal": lambda x: 1 / x, "sigmoid": logistic, "erf": sp.erf, "erfc": sp.erfc, "erfinv": sp.erfinv,
    "lgamma": sp.gammaln, "digamma": sp.psi, "special_ndtr": sp.ndtr, "square": xp.square, "deg2rad": xp.deg2rad,
    "rad2deg": xp.rad2deg, "positive": lambda x: x,
    "i0": xp.i0,
    "frac": lambda x: x - xp.trunc(x), "relu": lambda x: xp.where(x <= 0, xp.zeros_like(x), x),
    "silu": lambda x: x * logistic(x), "mish": lambda x: x * xp.tanh(xp.logaddexp(x, 0 * x)),
    "log_sigmoid_forward": lambda x: -xp.logaddexp(-x, 0 * x),
    "hardsigmoid": lambda x: xp.where(x <= -3, 0 * x, xp.where(x >= 3, 0 * x + 1, x / 6 + 0.5)),
    "hardswish": lambda x: xp.where(x <= -3, 0 * x, xp.where(x >= 3, x, x * (x + 3) / 6)),
}  # fmt: skip
_BINARY: Final = {
    "mul": xp.multiply, "remainder": xp.remainder, "fmod": xp.fmod, "pow": xp.power, "maximum": xp.maximum,
    "minimum": xp.minimum, "fmax": xp.fmax, "fmin": xp.fmin, "atan2": xp.arctan2, "hypot": xp.hypot,
    "copysign": xp.copysign, "ldexp": lambda x, n: x * xp.power(2.0, n),
    "logaddexp": xp.logaddexp, "logaddexp2": xp.logaddexp2, "xlogy": sp.xlogy,
    "special_xlog1py": sp.xlog1py, "heaviside": xp.heaviside, "nextafter": xp.nextafter,
    "floor_divide": xp.floor_divide,
    "bitwise_and": xp.bitwise_and, "bitwise_or": xp.bitwise_or, "bitwise_xor": xp.bitwise_xor,
    "bitwise_left_shift": xp.left_shift, "bitwise_right_shift": xp.right_shift,
    "__lshift__": xp.left_shift, "__rshift__": xp.right_shift, "gcd": xp.gcd,
    "complex": lambda x, y: x + 1j * y,
}  # fmt: skip
_TESTS: Final = {
    "eq": xp.equal, "ne": xp.not_equal, "lt": xp.less, "le": xp.less_equal, "gt": xp.greater, "ge": xp.greater_equal,
    "isnan": xp.isnan, "isinf": xp.isinf, "isfinite": xp.isfinite, "signbit": xp.signbit,
    "logical_and": xp.logical_and, "logical_or": xp.logical_or, "logical_xor": xp.logical_xor,
    "logical_not": xp.logical_not,
}  # fmt: skip
_OWN: Final[dict[str, Rule]] = {
    "abs": as_it_is(xp.absolute), "bitwise_not": as_it_is(xp.invert), "real": as_it_is(xp.real),
    "imag": as_it_is(xp.imag), "angle": as_it_is(xp.angle), "conj_physical": as_it_is(xp.conj),
    "_conj": as_it_is(xp.conj), "conj": as_it_is(xp.conj), "add": scaled(xp.add), "sub": scaled(xp.subtract),
    "rsub": scaled(lambda x, y: y - x), "div": div, "clamp": clamp,
    "clamp_min": clamp, "clamp_max": lambda call, x, high: clamp(call, x, None, high), "gelu": gelu, "elu": elu,
    "celu": lambda call, x, alpha=1.0: elu(call, x, alpha, 1.0, 1.0 / alpha), "softplus": softplus,
    "hardtanh": hardtanh, "leaky_relu": lambda call, x, slope=0.01: xp.where(x > 0, x, slope * x),
    "threshold": lambda call, x, low, value: xp.where(x <= low, cast(xp.full_like(x, value), call.dtype), x),
    "_prelu_kernel": alike(lambda x, w: xp.where(x > 0, x, w * x)), "lerp": alike(lerp), "nan_to_num": nan_to_num,
    "where": where, "addcmul": added(xp.multiply), "addcdiv": added(xp.true_divide), "round": _round,
    "masked_fill": lambda call, x, mask, value: where(call, mask, value, x),
    "log_sigmoid_forward": lambda call, x: (-xp.logaddexp(-x, 0 * x), xp.zeros(call.shapes[1], call.dtypes[1])),
}  # fmt: skip

POINTWISE: Final[dict[str, Rule]] = {
    **{name: alike(f) for name, f in (*_UNARY.items(), *_BINARY.items())},
    **{name: promoted(f) for name, f in _TESTS.items()},
    **_OWN,
}
"""Operators on each element, by the names that PyTorch's graphs have for them."""
