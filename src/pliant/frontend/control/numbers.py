"""Python's numbers and its module `math`, for traced numbers: what they make is traced, and takes the dtype
of what it meets, as Python's numbers do. Where a function of `math` that makes floats raises ValueError or
OverflowError the result is NaN or inf, unless the program catches them; what becomes an integer raises them."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final, cast

import numpy as np

from pliant.core.origin import here
from pliant.core.types import Type
from pliant.errors import DTypeError, TracedValueError, UnsupportedError
from pliant.frontend.array import TracedArray
from pliant.frontend.control.branch import is_open
from pliant.frontend.control.ornone import OrNone, present
from pliant.frontend.control.ornone import truth as truth_of_object
from pliant.frontend.control.specials import binary, told
from pliant.frontend.convert import value_of
from pliant.frontend.functions import caught
from pliant.frontend.guards import special
from pliant.frontend.number import Kind, with_kind
from pliant.frontend.whole import element

FUNCTIONS: Final[Any] = np


def number(x: Any, dtype: str) -> TracedArray:
    """A traced number as a Python number of a dtype."""
    if x.type.kind == "c" and dtype != "c128":
        raise DTypeError("a complex number does not become a real one by itself", hint="take x.real").at(
            ("here", here())
        )
    x = x.reshape(())
    value = element(x.value, dtype) if dtype == "i64" and x.type.kind in "fu" else value_of(x, dtype)
    return with_kind(value, Kind(Type(dtype), is_scalar=True, is_weak=True))


def _converter(kind: Any, dtype: str) -> Callable[..., Any]:
    """`float(x)` and its like."""

    def made(*args: Any, **options: Any) -> Any:
        method = special(args[0], f"__{kind.__name__}__") if len(args) == 1 else None
        given = args if method is None else (method(),)
        if len(given) != 1 or not is_open(given[0]):
            return kind(*given, **options)
        return number(caught.whole(given[0]) if kind is int else given[0], dtype)

    return made


def truth(x: Any = False) -> Any:
    """`bool(x)`."""
    if type(x) is OrNone:
        return truth_of_object(x, truth)
    x = told(x)
    return number(x != 0, "bool") if is_open(x) else builtins.bool(x)


def _complex(*parts: Any, **options: Any) -> Any:
    """`complex(x)` and `complex(re, im)`."""
    if not any(map(is_open, parts)):
        return builtins.complex(*parts, **options)
    whole = parts[0] if len(parts) == 1 else parts[0] + 1j * parts[1]
    return number(whole, "c128")


def _round(x: Any, ndigits: Any = None) -> Any:
    """`round(x)`, to an integer if no digits are given."""
    if not is_open(x) or not (x.is_scalar or x.is_weak):
        return builtins.round(x, ndigits)
    if ndigits is not None:
        made = builtins.round(x, ndigits)
        return number(made, x.type.dtype) if x.is_weak else made
    return number(FUNCTIONS.rint(x), "i64")


def _pow(x: Any, y: Any, mod: Any = None) -> Any:
    """`pow(x, y, mod)`, of which Python has to know all numbers."""
    if mod is None:
        return binary("pow", x, y)
    unknown = [a.value for a in (x, y, mod) if is_open(a)]
    if unknown:
        message = "pow(x, y, mod) needs integers that are known while tracing"
        hint = "pass them as Python integers, or multiply in a loop: p = p * x % mod"
        raise TracedValueError(message, hint=hint).at(("here", here())).needing(*unknown)
    return cast("Any", builtins.pow)(*[operator.index(a) if type(a) is TracedArray else a for a in (x, y, mod)])


def _math(plain: Any, numpy: Callable[..., Any], dtype: str, *, is_float: bool = True) -> Callable[..., Any]:
    """A function of `math` by NumPy's; whether it makes floats of what it is given."""

    def made(*args: Any, **options: Any) -> Any:
        if not any(map(is_open, args)):
            return plain(*args, **options)
        given = [number(x, "f64") if is_float and is_open(x) else x for x in args]
        found = number(numpy(*given, **options), dtype)
        caught.in_domain(plain.__name__, found, tuple(given))
        return found

    return made


def _of_rows(plain: Any, numpy: Callable[..., Any]) -> Callable[..., Any]:
    """A function of `math` of whole sequences."""

    def made(*rows: Any) -> Any:
        rows = tuple([[*map(present, row)] if not isinstance(row, TracedArray) else row for row in rows])
        if not any([type(x) is TracedArray or any(map(is_open, x)) for x in rows]):
            return plain(*rows)
        return number(numpy(*[x if type(x) is TracedArray else FUNCTIONS.stack(x) for x in rows]), "f64")

    return made


def _refused(plain: Any, instead: str) -> Callable[..., Any]:
    """A function of `math` that NumPy does not have."""

    def made(*args: Any, **options: Any) -> Any:
        for x in filter(is_open, args):
            message = f"math.{plain.__name__} of a traced number {x.type}"
            raise UnsupportedError(message, hint=f"use {instead}").at(("here", here())).needing(x.value)
        return plain(*args, **options)

    return made


def _log(x: Any, base: Any = None) -> Any:
    """`log(x, base)`."""
    parts = [FUNCTIONS.log(v) if is_open(v) else math.log(v) for v in (x, base) if v is not None]
    return parts[0] / parts[1] if base is not None else parts[0]


def _hypot(*xs: Any) -> Any:
    """`hypot` of any number of coordinates."""
    return FUNCTIONS.sqrt(_squares(FUNCTIONS.stack(xs))) if len(xs) != 2 else FUNCTIONS.hypot(*xs)


def _squares(x: Any) -> Any:
    return FUNCTIONS.sum(x * x)


def _dist(p: Any, q: Any) -> Any:
    """`dist` of two points."""
    return FUNCTIONS.sqrt(_squares(p - q))


def _isclose(a: Any, b: Any, *, rel_tol: float = 1e-9, abs_tol: float = 0.0) -> Any:
    """`isclose`, whose tolerance is relative to the larger number."""
    larger = FUNCTIONS.maximum(FUNCTIONS.abs(a), FUNCTIONS.abs(b))
    near = FUNCTIONS.abs(a - b) <= FUNCTIONS.maximum(rel_tol * larger, abs_tol)
    return FUNCTIONS.where(FUNCTIONS.isinf(larger), FUNCTIONS.equal(a, b), near)


def _modf(x: Any) -> Any:
    """`modf`: fraction and whole part."""
    return tuple([number(part, "f64") for part in FUNCTIONS.modf(x)]) if is_open(x) else math.modf(x)


def _frexp(x: Any) -> Any:
    """`frexp`: mantissa and exponent."""
    if not is_open(x):
        return math.frexp(x)
    mantissa, exponent = FUNCTIONS.frexp(x)
    return number(mantissa, "f64"), number(exponent, "i64")


def _presenting(plain: Any, made: Callable[..., Any]) -> Callable[..., Any]:
    """A function of numbers of which Python knows at run time whether they are None, which fails where one is."""

    def run(*args: Any, **options: Any) -> Any:
        if OrNone in map(type, args):
            error = _error_at_none(plain, args)
            args = tuple([present(x, error) for x in args])
        return made(*args, **options)

    return run


def _error_at_none(plain: Callable[..., Any], args: tuple[Any, ...]) -> TypeError:
    """What Python raises where those arguments are None that may be."""
    try:
        plain(*[None if type(x) is OrNone else 1 for x in args])
    except TypeError as error:
        return error
    raise AssertionError("functions of numbers take no None")


def _special(name: str) -> Callable[..., Any]:
    """A function of `scipy.special`, which takes as long to import as all of Pliant."""

    def made(x: Any) -> Any:
        return getattr(import_module("scipy.special"), name)(x)

    return made


_SAME: Final = (
    "sin cos tan sinh cosh tanh exp exp2 expm1 log1p log2 log10 sqrt cbrt fabs copysign fmod degrees radians nextafter"
).split()
_RENAMED: Final = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "asinh": "arcsinh", "acosh": "arccosh",
    "atanh": "arctanh", "pow": "power",
}  # fmt: skip

_SPECIAL: Final = {"erf": "erf", "erfc": "erfc", "lgamma": "gammaln"}
_REFUSED: Final = {
    "gamma": "np.exp(scipy.special.gammaln(x)) for x > 0", "factorial": "np.prod(np.arange(1, n + 1)) of a known n",
    "comb": "scipy.special.gammaln", "perm": "scipy.special.gammaln", "isqrt": "np.floor(np.sqrt(n))",
    "remainder": "x - y * np.rint(x / y)", "ulp": "np.spacing(np.abs(x))",
}  # fmt: skip

_NUMBERS: Final[dict[Any, Callable[..., Any]]] = {
    builtins.float: _converter(builtins.float, "f64"),
    builtins.int: _converter(builtins.int, "i64"),
    builtins.pow: _pow,
    builtins.complex: _complex,
    builtins.round: _round,
    **{getattr(math, n): _math(getattr(math, n), getattr(FUNCTIONS, n), "f64") for n in _SAME},
    **{getattr(math, n): _math(getattr(math, n), getattr(FUNCTIONS, m), "f64") for n, m in _RENAMED.items()},
    **{getattr(math, n): _math(getattr(math, n), getattr(FUNCTIONS, n), "i64") for n in ("floor", "ceil", "trunc")},
    **{
        getattr(math, n): _math(getattr(math, n), getattr(FUNCTIONS, n), "bool") for n in ("isnan", "isinf", "isfinite")
    },
    **{getattr(math, n): _math(getattr(math, n), getattr(FUNCTIONS, n), "i64", is_float=False) for n in ("gcd", "lcm")},
    **{getattr(math, n): _math(getattr(math, n), _special(m), "f64") for n, m in _SPECIAL.items()},
    **{getattr(math, n): _refused(getattr(math, n), instead) for n, instead in _REFUSED.items()},
    math.log: _math(math.log, _log, "f64"),
    math.hypot: _math(math.hypot, _hypot, "f64"),
    math.isclose: _math(math.isclose, _isclose, "bool"),
    math.ldexp: _math(math.ldexp, FUNCTIONS.ldexp, "f64", is_float=False),
    math.modf: _modf,
    math.frexp: _frexp,
    math.fsum: _of_rows(math.fsum, FUNCTIONS.sum),
    math.dist: _of_rows(math.dist, _dist),
}
NUMBERS: Final[dict[Any, Callable[..., Any]]] = {
    builtins.bool: truth,
    **{plain: _presenting(plain, made) for plain, made in _NUMBERS.items()},
}
"""What a traced function calls instead."""
