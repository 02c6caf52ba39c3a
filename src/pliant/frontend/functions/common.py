"""What NumPy's functions share: arguments, `out=`, dtypes asked of NumPy, and refusals."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Final, cast

import numpy as np

from pliant.core.ir import Value, const
from pliant.core.origin import here
from pliant.core.types import DTYPES
from pliant.errors import DomainError, DTypeError, IndexRangeError, ShapeError, UnsupportedError
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.convert import as_traced, cast_value, short, value_of
from pliant.frontend.failures import ensured
from pliant.ops.elementwise import convert
from pliant.ops.reduce import reduce_or

xp: Any = np
"""NumPy, called with traced arrays: its protocols lead back to the tables."""

NO_VALUE: Final = cast("Any", np)._NoValue


def is_sequence(x: Any) -> bool:
    """Whether an argument is a list or a tuple."""
    return isinstance(x, list | tuple)


def is_list(x: Any) -> bool:
    """Whether an argument is a list."""
    return isinstance(x, list)


def array_of(a: Any) -> TracedArray:
    """Anything array-like as an array that can be viewed: scalars are copied, weak numbers become solid."""
    x = as_traced(a)
    return fresh(x.value, is_array=True) if x.is_scalar or x.is_weak else x


def solid(a: Any) -> TracedArray:
    """Anything array-like with a dtype of its own: `np.asarray(1.0)` is a float64."""
    x = as_traced(a)
    return TracedArray(x.storage, x.lenses, is_scalar=x.is_scalar) if x.is_weak else x


def store_out(
    value: Value, out: Any = None, name: str = "this function", *, is_array: bool = False, casting: Any = "same_kind"
) -> Any:
    """`value` as a fresh array; or written to `out`, of the same shape, with NumPy's casting rule."""
    if out is None:
        return fresh(value, is_array=is_array)
    (out,) = out if is_sequence(out) else (out,)
    target = as_traced(out)
    if not np.can_cast(np.dtype(DTYPES[value.dtype]), target.dtype, casting):
        raise DTypeError(f"{name}: cannot write a result {value.type} to out= of {target.type}").at(("here", here()))
    if target.shape != value.shape:
        raise ShapeError(f"{name}: the result {value.type} does not have the shape of out= {target.type}").at(
            ("here", here())
        )
    target.replace(cast_value(value, target.type.dtype))
    return out


def check_out(out: Any, dtype: str, name: str, numpy: Callable[[Any, Any], Any]) -> None:
    """Refuse an `out=` of a dtype that NumPy's C function would: each has its rule, and NumPy 2.5 another one.

    numpy: the function, of an array of dtype `dtype` with one element, and the `out=`.
    """
    if out is None:
        return
    try:
        with warnings.catch_warnings(action="ignore"):
            numpy(np.zeros(1, DTYPES[dtype]), np.zeros(1, as_traced(out).dtype))
    except TypeError:
        message = f"{name}: cannot write a result of dtype {dtype} to out= of {as_traced(out).type}"
        raise DTypeError(message).at(("here", here())) from None


def unsupported(message: str, hint: str = "") -> UnsupportedError:
    """The error for what is not compiled, at the user's line."""
    return UnsupportedError(message, hint=hint).at(("here", here()))


def one_of(choices: Sequence[str], given: Any, name: str) -> Any:
    """A keyword's value, if it is one of the choices; else DomainError."""
    if given in choices:
        return given
    raise DomainError(f"{name} must be one of {', '.join(map(repr, choices))}, got {given!r}").at(("here", here()))


def only(name: str, **given: Any) -> None:
    """Refuse keywords that are neither absent nor None."""
    bad = [k for k, v in given.items() if v is not None and v is not NO_VALUE]
    if bad:
        raise unsupported(f"np.{name}: {', '.join(bad)}= is not supported")


def known(x: Any, what: str) -> Any:
    """A number, sequence or array that must be known while tracing, as NumPy sees it."""
    if is_sequence(x):
        return type(x)(known(v, what) for v in x)
    if isinstance(x, TracedArray):
        if x.concrete is None:
            message = f"{what} must be known while tracing, got {x.type}"
            hint = "take it from x.shape, or pass it as an argument that is a Python integer"
            if x.type.kind == "f" and not x.shape:
                hint = "int(k) is known, as each integer that data decide; a float is not"
            raise unsupported(message, hint).needing(x.value)
        return x.concrete[()]
    if isinstance(x, np.ndarray):
        return known(as_traced(x), what)
    return x


def constant(number: Any, dtype: str) -> Value:
    """A literal of a dtype."""
    return const(number, dtype)


def widened(x: TracedArray, dtype: Any, out: Any = None) -> Value:
    """The value that `sum` and `prod` add up: with `out` in the dtype that both can be converted to, else narrow
    integers and bools as 64 bits."""
    dtype = dtype_beside(x, out) if dtype is None else dtype
    if dtype is not None:
        return cast_value(x.value, short(dtype))
    kind = x.type.kind
    return convert(x.value, {"b": "i64", "i": "i64", "u": "u64"}.get(kind, x.type.dtype))


def dtype_beside(x: TracedArray, out: Any) -> Any:
    """The dtype that NumPy reduces an array in that goes into `out`: that one is an operand too. None without `out`."""
    if out is None:
        return None
    (out,) = out if is_sequence(out) else (out,)
    return np.promote_types(x.dtype, as_traced(out).dtype)


def inexact(x: TracedArray, dtype: Any = None) -> Value:
    """The value as a float: integers and bools become f64."""
    if dtype is not None:
        return cast_value(x.value, short(dtype))
    return x.value if x.type.is_float else convert(x.value, "f64")


def real_only(name: str, x: Value) -> Value:
    """A value that must not be complex, as NumPy's function has it."""
    if x.dtype[0] == "c":
        raise DTypeError(f"np.{name} is not defined for complex numbers: {x.type}", hint="use .real or np.abs").at(
            ("here", here())
        )
    return x


def no_bools(name: str, x: TracedArray) -> TracedArray:
    """An array that must not be one of bools, which have no differences."""
    if x.type.dtype == "bool":
        raise DTypeError(f"np.{name}: bools cannot be subtracted: {x.type}", hint="use .astype(float)").at(
            ("here", here())
        )
    return x


def numpy_dtype(call: Callable[..., Any], *xs: Any) -> str:
    """The dtype of a NumPy function's result, asked of NumPy on samples of one element."""
    samples = [np.ones(1, DTYPES[x.type.dtype]) if isinstance(x, TracedArray) and not x.is_weak else x for x in xs]
    with np.errstate(all="ignore"):
        return short(np.asarray(call(*samples)).dtype)


def refuse(name: str, hint: str) -> Callable[..., Any]:
    """A NumPy function that Pliant does not compile, and what to do instead."""

    def refused(*args: Any, **options: Any) -> Any:
        raise unsupported(f"np.{name} is not supported", hint)

    refused.__name__ = name
    return refused


def unless(bad: Any, x: TracedArray, failure: str) -> TracedArray:
    """An array; at run time the error of that name if something holds anywhere."""
    mask = as_traced(bad).value
    code = convert(reduce_or(mask, tuple(range(mask.type.rank))) if mask.shape else mask, "i64")
    return fresh(ensured(x.value, code, failure), is_array=not x.is_scalar)


def index_value(x: Any, call: Callable[[Any], Any]) -> Value:
    """Indices as i64; NumPy's error where its function, called with indices of that dtype, takes none of them."""
    indices = as_traced(np.zeros(0, int) if is_sequence(x) and not len(x) else x)
    try:
        call(np.zeros(1, indices.dtype))
    except (TypeError, IndexError) as error:
        kind = IndexRangeError if isinstance(error, IndexError) else DTypeError
        raise kind(str(error), hint=f"convert the indices, {indices.type}, with .astype(int)").at(
            ("here", here())
        ) from None
    return value_of(indices, "i64")


__all__ = [
    "NO_VALUE",
    "array_of",
    "check_out",
    "constant",
    "index_value",
    "inexact",
    "is_list",
    "is_sequence",
    "known",
    "no_bools",
    "numpy_dtype",
    "only",
    "real_only",
    "refuse",
    "solid",
    "store_out",
    "unless",
    "unsupported",
    "widened",
    "xp",
]
