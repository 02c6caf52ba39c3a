"""Functions of each element that are no ufuncs, and comparisons of whole arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from pliant.core.ir import Value, const
from pliant.core.origin import here
from pliant.errors import DTypeError, ShapeError
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.convert import as_traced, cast_value, integer_of, result_dtype, value_of
from pliant.frontend.functions.common import (
    array_of,
    inexact,
    known,
    real_only,
    solid,
    store_out,
    unsupported,
    xp,
)
from pliant.frontend.functions.reduce import truth_of
from pliant.ops import bits, compare, elementwise, power, rounding, transcendental
from pliant.ops.complex import Complex, imag, real
from pliant.ops.reduce import reduce_and
from pliant.ops.select import select
from pliant.ops.shape import broadcast


def round_(a: Any, decimals: Any = 0, out: Any = None) -> Any:
    """np.round: to the even neighbour of two, as NumPy by scaling."""
    x, places = as_traced(a), integer_of(known(decimals, "decimals="))
    if x.type.dtype == "bool" and places:
        raise DTypeError(f"np.round: {x.type} has no decimals").at(("here", here()))
    value = elementwise.convert(x.value, "f16") if x.type.dtype == "bool" else x.value
    if value.dtype[0] in "iu":
        if places < 0:
            unit = const(10.0**-places, "f64")
            near = rounding.rint(elementwise.div(elementwise.convert(value, "f64"), unit))
            value = elementwise.convert(elementwise.mul(near, unit), value.dtype)
        return store_out(value, out, "np.round")
    if value.dtype[0] == "c":  # each part by itself: what is infinite makes the other one NaN in products
        made = Complex()(_rounded(real(value), places), _rounded(imag(value), places))
    else:
        made = _rounded(value, places)
    return store_out(made, out, "np.round")


def _rounded(x: Value, places: int) -> Value:
    """Floats rounded to a number of decimals."""
    if not places:
        return rounding.rint(x)
    unit = const(10.0 ** abs(places), x.dtype)
    up, down = (elementwise.mul, elementwise.div) if places > 0 else (elementwise.div, elementwise.mul)
    return down(rounding.rint(up(x, unit)), unit)


def fix(x: Any, out: Any = None) -> Any:
    """np.fix."""
    a = as_traced(x)
    value = a.value if a.type.kind in "biu" else rounding.trunc(a.value)
    return store_out(value, out, "np.fix")


def angle(z: Any, deg: bool = False) -> Any:
    """np.angle."""
    x = as_traced(z)
    if x.type.kind != "c":
        made = as_traced(xp.arctan2(0, x)).value
    else:
        made = transcendental.arctan2(imag(x.value), real(x.value))
    return fresh(rounding.rad2deg(made) if deg else made)


def isreal(x: Any) -> Any:
    """np.isreal."""
    return as_traced(x).imag == 0


def iscomplex(x: Any) -> Any:
    """np.iscomplex."""
    return fresh(bits.invert(as_traced(isreal(x)).value))


def _infinite(sign: int) -> Callable[..., Any]:
    def test(x: Any, out: Any = None) -> Any:
        a = real_only("isposinf" if sign > 0 else "isneginf", as_traced(x).value)
        if a.dtype[0] in "biu":
            return store_out(broadcast(const(False, "bool"), a.shape, ()), out)
        return store_out(compare.equal(a, const(sign * math.inf, a.dtype)), out)

    return test


isposinf, isneginf = _infinite(1), _infinite(-1)

_LARGEST = {"f16": 65504.0, "f32": float(np.finfo(np.float32).max), "f64": float(np.finfo(np.float64).max)}


def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """np.nan_to_num; with copy=False it writes into `x`."""
    a = as_traced(x)
    value = a.value

    def cleaned(part: Value) -> Value:
        dtype = part.dtype
        top, low = (posinf, neginf)
        high = const(_LARGEST[dtype], dtype) if top is None else value_of(top, dtype)
        below = const(-_LARGEST[dtype], dtype) if low is None else value_of(low, dtype)
        made = select(compare.isnan(part), value_of(nan, dtype), part)
        made = select(compare.equal(part, const(math.inf, dtype)), high, made)
        return select(compare.equal(part, const(-math.inf, dtype)), below, made)

    if value.dtype[0] == "c":
        value = Complex()(cleaned(real(value)), cleaned(imag(value)))
    elif value.dtype[0] == "f":
        value = cleaned(value)
    if copy or a.is_scalar:
        return fresh(value)
    a.replace(value)
    return a


def isclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Any:
    """np.isclose."""
    x, y = as_traced(a), as_traced(b)
    if not y.type.is_float and not y.is_weak:
        y = y.astype(np.result_type(y.dtype, 1.0))
    with_tolerance = xp.less_equal(xp.abs(x - y), atol + rtol * xp.abs(y)) & xp.isfinite(y)
    made = with_tolerance | xp.equal(x, y)
    return made | (xp.isnan(x) & xp.isnan(y)) if equal_nan else made


def allclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Any:
    """np.allclose, a traced bool."""
    return _truth(isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    """np.array_equal: a traced bool, or False if the shapes differ."""
    x, y = as_traced(a1), as_traced(a2)
    if x.shape != y.shape:
        return False
    same = xp.equal(x, y)
    if equal_nan and x.type.is_float and y.type.is_float:
        same = same | (xp.isnan(x) & xp.isnan(y))
    return _truth(same)


def array_equiv(a1: Any, a2: Any) -> Any:
    """np.array_equiv: a traced bool, or False if the shapes do not fit."""
    x, y = as_traced(a1), as_traced(a2)
    try:
        np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return False
    return _truth(xp.equal(x, y))


def _truth(x: Any) -> TracedArray:
    """Whether all are true: one of Python's bools."""
    return TracedArray(fresh(reduce_and(as_traced(x).value)).storage, is_scalar=True, is_weak=True)


def sinc(x: Any) -> Any:
    """np.sinc: sin(πx) / πx, with the right derivatives at 0 of the first order."""
    a = inexact(as_traced(x))
    scaled = elementwise.mul(a, const(math.pi, a.dtype))
    at_zero = compare.equal(scaled, const(0, a.dtype))
    safe = select(at_zero, const(1, a.dtype), scaled)
    ratio = elementwise.div(transcendental.sin(safe), safe)
    near = elementwise.sub(const(1, a.dtype), elementwise.div(elementwise.mul(scaled, scaled), const(6, a.dtype)))
    return fresh(select(at_zero, near, ratio))


def i0(x: Any) -> Any:
    """np.i0: the modified Bessel function of order 0, (1/π)·∫ exp(x·cos t) dt over [0, π].

    Near 0 its series Σ (x²/4)ᵏ/k!², whose terms have one sign; further away exp(x)/√(2πx) times the asymptotic one.
    """
    given = real_only("i0", inexact(as_traced(x)))
    dtype = given.dtype if given.dtype in I0_TERMS else "f64"
    size = elementwise.absolute(elementwise.convert(given, dtype) if given.dtype != dtype else given)
    bound, many, few = I0_TERMS[dtype]
    end = const(bound, dtype)
    is_near = compare.less(size, end)
    near, far = select(is_near, size, end), select(is_near, end, size)
    eighth = elementwise.mul(near, const(0.125, dtype))  # the coefficients of its powers are no tiny numbers
    close = _polynomial(elementwise.mul(eighth, eighth), [16**k / math.factorial(k) ** 2 for k in range(many + 1)])
    rates = [math.prod([(2 * j - 1) ** 2 / j for j in range(1, k + 1)]) for k in range(few + 1)]
    series = _polynomial(elementwise.div(const(0.125, dtype), far), rates)
    half = transcendental.exp(elementwise.mul(far, const(0.5, dtype)))  # its square may be beyond all numbers
    scale = elementwise.div(half, elementwise.mul(power.sqrt(far), const(math.sqrt(2 * math.pi), dtype)))
    y = select(is_near, close, elementwise.mul(elementwise.mul(scale, series), half))
    return fresh(cast_value(y, given.dtype), is_array=True)


I0_TERMS: Final = {"f32": (9.0, 16, 13), "f64": (20.0, 35, 26)}
"""Dtype → from where on the asymptotic series is better, and the last terms of both: the next are lost in rounding."""


def _polynomial(x: Value, coefficients: Sequence[float]) -> Value:
    """Σ cₖ·xᵏ by Horner's rule."""
    *rest, y = [const(c, x.dtype) for c in coefficients]
    for c in reversed(rest):
        y = elementwise.add(elementwise.mul(y, x), c)
    return y


def real_if_close(a: Any, tol: Any = 100) -> Any:
    """np.real_if_close of a real array; of a complex one the dtype would depend on the numbers."""
    x = as_traced(a)
    if x.type.kind == "c":
        raise unsupported("np.real_if_close: whether the result is complex would depend on the numbers", "use x.real")
    return array_of(x)


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """np.piecewise: every function is applied to all of x, and the results are chosen from."""
    a = array_of(solid(x))
    is_one = np.ndim(condlist[0]) == 0 and a.ndim > 0
    conditions = [fresh(truth_of(c), is_array=True) for c in ([condlist] if is_one else list(condlist))]
    functions = list(funclist)
    if len(functions) - len(conditions) not in (0, 1):
        message = f"np.piecewise: {len(conditions)} conditions, but {len(functions)} functions"
        raise ShapeError(message).at(("here", here()))
    made: Any = xp.zeros_like(a)
    if len(functions) == len(conditions) + 1:
        made = _applied(functions.pop(), a, args, kw)
    for condition, function in zip(conditions, functions, strict=True):
        made = xp.where(condition, _applied(function, a, args, kw), made)
    return made


def _applied(function: Any, x: TracedArray, args: tuple[Any, ...], options: dict[str, Any]) -> TracedArray:
    y = function(x, *args, **options) if callable(function) else function
    return fresh(cast_value(value_of(y), x.type.dtype), is_array=True)


def vander(x: Any, N: Any = None, increasing: bool = False) -> TracedArray:
    """np.vander."""
    a = array_of(solid(x))
    if a.ndim != 1:
        raise ShapeError(f"np.vander: x must be a one-dimensional array or sequence, got {a.type}").at(("here", here()))
    count = a.shape[0] if N is None else integer_of(known(N, "N="))
    dtype = result_dtype(a, fresh(const(0, "i64")))
    column = fresh(value_of(a, dtype), is_array=True)
    columns: list[Any] = []
    power: Any = xp.ones_like(column)
    for _ in range(count):
        columns.append(power)
        power = power * column
    if not columns:
        return xp.zeros_like(column)[:, None][:, :0]
    return xp.stack(columns if increasing else columns[::-1], 1)


FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.round: round_,
    np.around: round_,
    np.fix: fix,
    np.angle: angle,
    np.isreal: isreal,
    np.iscomplex: iscomplex,
    np.isposinf: isposinf,
    np.isneginf: isneginf,
    np.nan_to_num: nan_to_num,
    np.isclose: isclose,
    np.allclose: allclose,
    np.array_equal: array_equal,
    np.array_equiv: array_equiv,
    np.sinc: sinc,
    np.i0: i0,
    np.real_if_close: real_if_close,
    np.piecewise: piecewise,
    np.vander: vander,
}
"""NumPy's functions of each element."""
