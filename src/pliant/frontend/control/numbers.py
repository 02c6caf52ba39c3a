"""Python's numbers and its module `math`, for traced numbers: what they make is traced, and takes the dtype
of what it meets, as Python's numbers do. Where `math` raises ValueError or OverflowError the result is NaN or inf."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pliant.core.origin import here
from pliant.core.types import Type
from pliant.errors import DTypeError
from pliant.frontend.array import TracedArray
from pliant.frontend.control.branch import is_open
from pliant.frontend.convert import value_of
from pliant.frontend.number import Kind, with_kind

FUNCTIONS: Final[Any] = np


def number(x: Any, dtype: str) -> TracedArray:
    """A traced number as a Python number of a dtype."""
    if x.type.kind == "c" and dtype != "c128":
        raise DTypeError("a complex number does not become a real one by itself", hint="take x.real").at(
            ("here", here())
        )
    whole = FUNCTIONS.trunc(x) if dtype == "i64" and x.type.kind == "f" else x
    return with_kind(value_of(whole.reshape(()), dtype), Kind(Type(dtype), is_scalar=True, is_weak=True))


def _converter(kind: Any, dtype: str) -> Callable[..., Any]:
    """`float(x)` and its like."""

    def made(*args: Any, **options: Any) -> Any:
        return number(args[0], dtype) if len(args) == 1 and is_open(args[0]) else kind(*args, **options)

    return made


def _bool(x: Any = False) -> Any:
    """`bool(x)`."""
    return number(x != 0, "bool") if is_open(x) else builtins.bool(x)


def _complex(*parts: Any, **options: Any) -> Any:
    """`complex(x)` and `complex(re, im)`."""
    if not any(map(is_open, parts)):
        return builtins.complex(*parts, **options)
    whole = parts[0] if len(parts) == 1 else parts[0] + 1j * parts[1]
    return number(whole, "c128")


def _round(x: Any, ndigits: Any = None) -> Any:
    """`round(x)`, to an integer if no digits are given."""
    if not is_open(x) or ndigits is not None:
        return builtins.round(x, ndigits)
    return number(FUNCTIONS.rint(x), "i64")


def _math(plain: Any, numpy: Callable[..., Any], dtype: str) -> Callable[..., Any]:
    """A function of `math` by NumPy's."""

    def made(*args: Any, **options: Any) -> Any:
        if not any(map(is_open, args)):
            return plain(*args, **options)
        return number(numpy(*[number(x, "f64") if is_open(x) else x for x in args], **options), dtype)

    return made


def _log(x: Any, base: Any = None) -> Any:
    """`log(x, base)`."""
    return FUNCTIONS.log(x) if base is None else FUNCTIONS.log(x) / FUNCTIONS.log(base)


_SAME: Final = (
    "sin cos tan sinh cosh tanh exp exp2 expm1 log1p log2 log10 sqrt cbrt fabs hypot copysign fmod degrees radians "
    "nextafter"
).split()
_RENAMED: Final = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "asinh": "arcsinh", "acosh": "arccosh",
    "atanh": "arctanh", "pow": "power",
}  # fmt: skip

_TESTS: Final = ("isnan", "isinf", "isfinite")

NUMBERS: Final[dict[Any, Callable[..., Any]]] = {
    builtins.float: _converter(builtins.float, "f64"),
    builtins.int: _converter(builtins.int, "i64"),
    builtins.bool: _bool,
    builtins.complex: _complex,
    builtins.round: _round,
    **{getattr(math, n): _math(getattr(math, n), getattr(FUNCTIONS, n), "f64") for n in _SAME},
    **{getattr(math, n): _math(getattr(math, n), getattr(FUNCTIONS, m), "f64") for n, m in _RENAMED.items()},
    **{getattr(math, n): _math(getattr(math, n), getattr(FUNCTIONS, n), "i64") for n in ("floor", "ceil", "trunc")},
    **{
        getattr(math, n): _math(getattr(math, n), getattr(FUNCTIONS, n), "bool") for n in ("isnan", "isinf", "isfinite")
    },
    math.log: _math(math.log, _log, "f64"),
}
"""What a traced function calls instead."""
