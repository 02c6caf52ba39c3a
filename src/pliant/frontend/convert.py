"""Python and NumPy objects as traced arrays and values; NumPy's promotion and broadcasting."""

from __future__ import annotations

import operator
import warnings
from collections import deque
from collections.abc import Callable, Sequence, Set
from functools import lru_cache
from typing import Any, Final, cast

import numpy as np

from pliant.core.ir import Value, const
from pliant.core.origin import CodeOrigin, here
from pliant.core.types import DTYPES, Type
from pliant.errors import ArgumentError, AxisRangeError, DTypeError, NumberRangeError, ShapeError
from pliant.frontend.array import TracedArray, fresh, fresh_concrete, weak_kind
from pliant.frontend.guards import special
from pliant.frontend.kinds import as_tuple, is_array, is_of, is_sequence, is_traced
from pliant.frontend.rows import rows_of, runs
from pliant.frontend.tracing import current, short_of
from pliant.frontend.whole import element, fitted
from pliant.ops.complex import real
from pliant.ops.elementwise import convert
from pliant.ops.neighbours import with_neighbours_joined
from pliant.ops.shape import broadcast, concatenate, reshape

NUMBERS = (bool, int, float, complex)


def as_traced(x: Any, what: str = "an array") -> TracedArray:
    """Anything array-like as a traced array: NumPy arrays become implicit arguments, Python
    numbers weak scalars, nested sequences with traced elements are stacked."""
    if type(x) is TracedArray:
        return x
    if isinstance(x, np.ndarray):
        return TracedArray(*current().enter(x))
    if isinstance(x, NUMBERS) and not isinstance(x, np.generic):
        array = np.asarray(x)
        if array.dtype == object:
            raise too_large()
        return fresh_concrete(array, is_weak=True)
    if isinstance(x, np.generic):
        return fresh_concrete(x)
    if is_sequence(x) or is_of(x, range | deque):
        return from_sequence(x, what)
    if hasattr(x, "__traced__"):  # what NumPy makes an array of
        return x.__traced__()
    if hasattr(x, "refused"):  # an array of which not everything is known while tracing
        raise x.refused(f"a use as {what}")
    if isinstance(x, np.poly1d):
        return as_traced(x.coeffs, what)
    if hasattr(x, "__array__"):
        method = special(x, "__array__")
        return as_traced(_captured(x, what) if method is None else method(), what)
    raise ArgumentError(f"expected {what}, got {type(x).__name__}").at(("here", here()))


def said(x: object, protocol: str = "", depth: int = 4) -> Any:
    """The array that an object of the user's says it is, by `__array__`, in lists too; anything else as it is.

    protocol: by what its class may say more than that, and is asked by NumPy first.
    """
    kind = cast("Any", type(x))
    if kind is TracedArray or kind in NUMBERS:
        return x
    if kind in (list, tuple):
        held = [*cast("list[Any]", x)] if depth else []
        parts = [said(part, protocol, depth - 1) for part in held]
        return (
            cast("Any", kind)(parts) if any([p is not q for p, q in zip(parts, held, strict=True)]) else cast("Any", x)
        )
    method = None if protocol and hasattr(kind, protocol) else special(x, "__array__")
    return x if method is None else as_traced(method())


def _captured(x: Any, what: str) -> np.ndarray[Any, Any]:
    """An array of another library that a function reads from outside, as one of NumPy's."""
    try:
        return np.asarray(x)
    except (TypeError, RuntimeError) as error:  # what libraries trace, or differentiate, has no numbers
        raise ArgumentError(
            f"expected {what}, got {type(x).__name__}, which is made outside and has no numbers",
            hint="pass it as an argument",
        ).at(("here", here())) from error


def too_large() -> NumberRangeError:
    """The error about a Python int that is none of NumPy's integers."""
    return NumberRangeError("Python int too large to convert to C long", hint="write it as a float: 6e23").at(
        ("here", here())
    )


def is_large(x: Any) -> bool:
    """Whether a number is a Python int beyond 64 bits with a sign."""
    return type(x) is int and not -(2**63) <= x < 2**63


def fitting(args: Sequence[Any], *, as_floats: bool = False) -> tuple[Any, ...]:
    """Operands with large Python ints as NumPy takes them beside the others: floats beside floats, or if the result is
    made of floats anyway, and unsigned beside what is so; NumberRangeError where NumPy has an OverflowError."""
    if not any([is_large(a) for a in args]):
        return tuple(args)
    types = [as_traced(a).type for a in args if not is_large(a)]
    if not as_floats and not any([t.kind in "fc" for t in types]):
        is_unsigned = {t.dtype for t in types} == {"u64"}
        if not all([is_unsigned and 0 <= a < 2**64 for a in args if is_large(a)]):
            raise too_large()
        return tuple([np.uint64(a) if is_large(a) else a for a in args])
    return tuple([literal(a, "f64") if is_large(a) else a for a in args])


def from_sequence(x: Sequence[Any], what: str = "an array") -> TracedArray:
    """`np.array` of nested lists that may hold traced arrays; always a fresh array."""
    elements = [*x]
    rows = rows_of(elements, is_weak=len(elements) > 0 and type(elements[0]) is TracedArray and elements[0].is_weak)
    if rows is not None:
        return fresh(rows.value, is_array=True)
    items: list[Any] = [item if is_traced(item) or is_array(item) else as_traced(item, what) for item in x]
    if not any(isinstance(item, TracedArray) and item.concrete is None for item in items):
        parts = [item.concrete if isinstance(item, TracedArray) else item for item in items]
        plain = (
            [p[()].item() if t.is_weak else p for p, t in zip(parts, map(as_traced, items), strict=True)]
            if items
            else []
        )
        return fresh_concrete(np.array(plain))
    arrays = [as_traced(item) for item in items]
    shape = arrays[0].shape
    for a in arrays:
        if a.shape != shape:
            raise ShapeError(f"expected parts of one shape, got {' and '.join(str(b.type) for b in arrays[:4])}").at(
                ("here", here())
            )
    dtype = short(np.result_type(*(a.dtype for a in arrays)))  # a Python float beside a float32 makes a float64 here
    joined = [(run, rows_of(run) if len(run) > 1 else None) for run in runs(arrays)]
    parts = tuple([reshape(value_of(run[0], dtype), (1, *shape)) if rows is None else value_of(rows, dtype)
                   for run, rows in joined])  # fmt: skip
    return fresh(concatenate(with_neighbours_joined(parts), 0), is_array=True)


def value_of(x: Any, dtype: str | None = None) -> Value:
    """The value of anything array-like, converted to an IR dtype."""
    if dtype == "f64" and type(x) in (float, int):  # the usual literals, fast
        return const(x, dtype)
    if dtype is not None and isinstance(x, NUMBERS) and not isinstance(x, np.generic):
        return const(literal(x, dtype), dtype)
    traced = as_traced(x)
    array = traced.concrete
    if dtype is not None and array is not None and array.ndim == 0:
        return const(literal(array[()].item(), dtype) if traced.is_weak else cast_number(array, dtype), dtype)
    if traced.is_weak and dtype is not None and dtype[0] in "iu" and dtype != "i64" and traced.type.kind == "i":
        if traced.storage.index is None:
            return fitted(traced.value, dtype)
        current().outermost.narrowed.add((traced.storage.index, dtype))
    return cast_value(traced.value, dtype) if dtype else traced.value


def stored(x: Any, dtype: str, *, is_view: bool = False) -> Value:
    """The value that assigning x to elements of a dtype puts there: Python's numbers have to fit, arrays are cast.

    is_view: they are a view, in which NumPy's scalars have to fit as well, if its integers have a sign.
    """
    if is_sequence(x) and has_numbers_only(x):
        return fresh_concrete(_fitting(lambda: np.array(x, DTYPES[dtype]))).value
    check_real(x, dtype)
    if is_sequence(x) and dtype[0] in "iu":
        x = _each_stored(x, dtype)
    if not isinstance(x, NUMBERS) or isinstance(x, np.generic):
        x = as_traced(x)
        warn_of_lost_parts(x.dtype, dtype)
        is_number = x.type.kind == "f" if x.is_weak else x.is_scalar and is_view
        if is_number and x.type.kind in "iuf" and dtype[0] in ("iu" if x.is_weak else "i"):
            known = x.concrete
            return element(x.value, dtype) if known is None else const(literal(known[()], dtype), dtype)
    return value_of(x, dtype)


def _each_stored(xs: Sequence[Any], dtype: str) -> Any:
    """Nested lists as what their numbers are as elements of an integer dtype."""
    elements = [*xs]
    first = elements[0] if elements else None
    is_weak = type(first) is TracedArray and first.is_weak
    rows = rows_of(elements, is_weak=is_weak)
    if rows is None:
        return [
            _each_stored(x, dtype) if is_sequence(x) else fresh(stored(x, dtype, is_view=True)) if _is_number(x) else x
            for x in elements
        ]
    are_numbers = is_weak or (_is_number(first) and dtype[0] == "i")
    return fresh(element(rows.value, dtype), is_array=True) if are_numbers else rows


def _is_number(x: Any) -> bool:
    """Whether x is a number, Python's or NumPy's, and no array."""
    return x.is_weak or x.is_scalar if type(x) is TracedArray else isinstance(x, NUMBERS)


def filled(x: Any, dtype: str) -> Value:
    """The value that fills new elements of a dtype: Python's integers have to fit, floats are cast as arrays are."""
    if type(x) is float or (type(x) is TracedArray and x.is_weak and x.type.kind == "f"):
        number = as_traced(x)
        return value_of(TracedArray(number.storage, number.lenses), dtype)
    return value_of(x, dtype)


def check_real(x: Any, dtype: str) -> None:
    """Refuse Python's complex numbers, also in nested lists, where real ones are wanted: NumPy casts its own."""
    if is_sequence(x):
        for part in x:
            check_real(part, dtype)
    elif type(x) is TracedArray and x.is_weak and x.type.kind == "c" and dtype[0] in "fiu":
        literal(1j, dtype)


def warn_of_lost_parts(given: np.dtype[Any], dtype: str) -> None:
    """Warn, as NumPy does, where numbers of a complex dtype become real ones."""
    if given.kind != "c" or dtype[0] not in "fiu":
        return
    place = here()
    if isinstance(place, CodeOrigin):
        message = "Casting complex values to real discards the imaginary part"
        file, line = place.code.co_filename, place.span[0]
        warnings.warn_explicit(message, np.exceptions.ComplexWarning, file, line, registry=_warned)


_warned: Final[dict[Any, Any]] = {}  # where, for filters that show it once


def has_numbers_only(xs: Sequence[Any]) -> bool:
    """Whether nested lists hold nothing but numbers."""
    return all([has_numbers_only(x) if is_sequence(x) else isinstance(x, (*NUMBERS, np.generic)) for x in xs])


def literal(x: Any, dtype: str) -> Any:
    """A Python number as a number of `dtype`; NumberRangeError where NumPy has an OverflowError."""
    place = np.empty((), DTYPES[dtype])

    def fitting() -> Any:
        place[()] = x
        return place.item()

    return _fitting(fitting)


def _fitting(made: Callable[[], Any]) -> Any:
    """What NumPy makes of Python's numbers, or its refusal at the user's line."""
    try:
        return made()
    except OverflowError as error:
        raise NumberRangeError(str(error), hint="convert the array to a wider dtype with .astype(...)").at(
            ("here", here())
        ) from None
    except TypeError as error:
        raise DTypeError(str(error)).at(("here", here())) from None
    except ValueError as error:
        raise ShapeError(str(error)).at(("here", here())) from None


def mask_of(where: Any) -> Value:
    """A mask, as the keyword `where` takes one: bools, and nothing that could become them."""
    mask = as_traced(where)
    if mask.type.dtype != "bool":
        message = f"Cannot cast array data from {mask.dtype!r} to dtype('bool') according to the rule 'safe'"
        raise DTypeError(message, hint="where= takes a mask, as x != 0").at(("here", here()))
    return mask.value


def cast_number(x: Any, dtype: str) -> Any:
    """A NumPy number as one of another dtype."""
    with np.errstate(all="ignore"):
        return np.asarray(x if dtype[0] in "cb" else x.real).astype(DTYPES[dtype]).item()


def cast_value(x: Value, dtype: str) -> Value:
    """`x` as another dtype; complex → real drops the imaginary part."""
    if x.dtype[0] == "c" and dtype[0] in "fiu":
        x = real(x)
    return convert(x, dtype)


def short(dtype: Any) -> str:
    """IR name of anything NumPy accepts as a dtype: `short(float)` is `f64`."""
    found = short_of(np.dtype(dtype))
    if found is None:
        raise DTypeError(f"expected a bool, int, float or complex dtype, got {np.dtype(dtype).name}").at(
            ("here", here())
        )
    return found


def sample(x: Any) -> Any:
    """What promotion looks at: a dtype, or a Python number for a weak scalar."""
    if type(x) is TracedArray:
        return weak_kind(x)(1) if x.is_weak else np.dtype(DTYPES[x.type.dtype])
    if isinstance(x, NUMBERS) and not isinstance(x, np.generic):
        return x
    return as_traced(x).dtype if is_sequence(x) else np.asarray(x).dtype


def result_dtype(*xs: Any) -> str:
    """IR name of the dtype NumPy promotes the operands to (NEP 50)."""
    samples: list[Any] = [sample(x) for x in xs]
    try:
        return _promoted(tuple([cast("Any", s if isinstance(s, np.dtype) else type(s)) for s in samples]))
    except TypeError as error:
        raise DTypeError(str(error)).at(("here", here())) from None


@lru_cache(maxsize=4096)
def _promoted(kinds: tuple[Any, ...]) -> str:
    """The promotion of dtypes and of Python's number types."""
    samples: list[Any] = [k if isinstance(k, np.dtype) else k(1) for k in kinds]
    return short(np.result_type(*samples))


@lru_cache(maxsize=4096)
def loop_dtypes(
    ufunc: np.ufunc, operands: tuple[Any, ...], out: Any = None, casting: Any = "same_kind"
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """IR dtypes that a ufunc computes with, and returns, for operand dtypes or Python types."""
    given = (*operands, *(None,) * ufunc.nout)
    if casting == "equiv" and any(isinstance(o, type) for o in operands):
        if ufunc.signature is None:  # resolve_dtypes crashes for Python's numbers and this rule: a call says what holds
            ufunc(*[o(1) if isinstance(o, type) else np.empty(0, o) for o in operands], dtype=out, casting=casting)
        casting = "no"
    if out is None:
        found = ufunc.resolve_dtypes(given, casting=casting)
    else:
        found = ufunc.resolve_dtypes(
            given, signature=(None,) * ufunc.nin + (np.dtype(out),) * ufunc.nout, casting=casting
        )
    return tuple(short(d) for d in found[: ufunc.nin]), tuple(short(d) for d in found[ufunc.nin :])


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape NumPy broadcasts to; ShapeError that names the operands' shapes."""
    first = shapes[0]
    if all(s == first or not s for s in shapes[1:]):
        return first
    try:
        return _broadcast(shapes)
    except ValueError:
        text = " and ".join(str(s) for s in shapes)
        raise ShapeError(f"operands could not be broadcast together: shapes {text}").at(("here", here())) from None


@lru_cache(maxsize=4096)
def _broadcast(shapes: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    return np.broadcast_shapes(*shapes)


def broadcast_value(x: Value, shape: tuple[int, ...]) -> Value:
    """`x` broadcast to `shape` by NumPy's rule; ShapeError if it does not fit."""
    if x.shape == shape:
        return x
    offset = len(shape) - len(x.shape)
    if offset < 0 and all(n == 1 for n in x.shape[: -offset or None][:-offset]):
        return broadcast_value(reshape(x, x.shape[-offset:]), shape)
    kept = [i for i, n in enumerate(x.shape) if n != 1 or (offset >= 0 and shape[i + offset] == 1)]
    if offset < 0 or any(x.shape[i] != shape[i + offset] for i in kept):
        raise ShapeError(f"could not broadcast {x.type} to shape {shape}").at(("here", here()), ("made here", x.origin))
    flat = reshape(x, tuple(x.shape[i] for i in kept))
    return broadcast(flat, shape, tuple(i + offset for i in kept))


def together(*xs: Any, dtype: str | None = None, is_elementwise: bool = False) -> tuple[Value, ...]:
    """Values of the operands, promoted to one dtype and broadcast to one shape. For elementwise
    primitives those of rank 0 stay so."""
    dtype = dtype or result_dtype(*xs)
    values = [value_of(x, dtype) for x in xs]
    shape = broadcast_shapes(*(v.shape for v in values))
    return tuple(v if is_elementwise and not v.shape else broadcast_value(v, shape) for v in values)


def integer_of(x: Any) -> int:
    """An argument that is an integer, as Python's; ArgumentError for a float or text, as in NumPy."""
    if type(x) is TracedArray:
        return x.__index__()
    try:
        return operator.index(x)
    except TypeError:
        hint = "n // 2 is an integer, n / 2 a float" if isinstance(x, float) else ""
        message = f"expected an integer, got {type(x).__name__} {x!r}"
        raise ArgumentError(message, hint=hint).at(("here", here())) from None


def axis_of(axis: Any, rank: int, name: str = "axis") -> int:
    """A non-negative axis number."""
    number = integer_of(axis)
    if not -rank <= number < rank:
        raise AxisRangeError(f"{name} {number} is out of bounds for an array of {rank} axes").at(("here", here()))
    return number % rank


def axes_of(axis: Any, rank: int) -> tuple[int, ...]:
    """Non-negative axis numbers; all axes for None."""
    if axis is None:
        return tuple(range(rank))
    axes = tuple(axis_of(a, rank) for a in each_axis(axis))
    if len(set(axes)) != len(axes):
        raise ShapeError(f"duplicate value in axis {axis}").at(("here", here()))
    return axes


def each_axis(axis: Any) -> tuple[Any, ...]:
    """The axes that an argument names: one, or those of a sequence, a set, a range, or an array of one axis."""
    return tuple(cast("Set[Any]", axis)) if isinstance(axis, Set) else along_axes(axis)


def shape_of(shape: Any) -> tuple[int, ...]:
    """A shape argument as a tuple of ints."""
    return tuple([integer_of(n) for n in along_axes(shape)])


def along_axes(shape: Any) -> tuple[Any, ...]:
    """What a shape argument has for each axis: the elements of a sequence, a range, or an array of one axis."""
    if is_traced(shape) and shape.concrete is not None:
        shape = shape.concrete
    is_line = (is_traced(shape) or is_array(shape)) and len(shape.shape) == 1
    return tuple(shape) if is_line or isinstance(shape, range) else as_tuple(shape)


def extents_of(shape: Any) -> tuple[int, ...]:
    """The shape of a new array as a tuple of ints, none of them negative."""
    found = shape_of(shape)
    if min(found, default=0) < 0:
        raise ShapeError(f"negative dimensions are not allowed: {found}").at(("here", here()))
    return found


def with_type(x: Value, type: Type) -> Value:
    """`x` converted and broadcast to a type, as an assignment does."""
    warn_of_lost_parts(np.dtype(DTYPES[x.dtype]), type.dtype)
    return broadcast_value(cast_value(x, type.dtype), type.shape)
