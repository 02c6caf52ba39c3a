"""`np.arange`, `np.linspace`, `np.zeros` of extents known only at run time: as many elements as there are at most, and
how many there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeVar, cast

import numpy as np

from pliant.core.ir import const
from pliant.core.origin import here
from pliant.core.types import DTYPES
from pliant.errors import DomainError, TracedValueError, UnsupportedError
from pliant.frontend.array import TracedArray, fresh, fresh_concrete
from pliant.frontend.blocks import Extent
from pliant.frontend.bounded import bounded
from pliant.frontend.convert import along_axes, as_traced, cast_value, integer_of, result_dtype, short, value_of
from pliant.frontend.failures import fail_if
from pliant.frontend.sizes import Size, divided, larger, size_of, traced
from pliant.ops.compare import less
from pliant.ops.shape import iota

T = TypeVar("T")
EXACT: Final = 2.0**31  # numbers without a fraction below that are as good as integers


def arange(*args: Any, dtype: Any = None, device: Any = None, like: Any = None) -> Any:
    """The numbers from start to stop; None where they are complex, or arrays."""
    parts = [as_traced(a) for a in args]
    whole = [_as_integer(p) for p in parts]
    if not are_integers(whole):
        return _arange_of_floats(parts, dtype)
    start, stop, stride = bounds_of([size_of(p) for p in whole], Size(0), Size(1))
    step = stride.known
    if not step:
        return None
    away = stop - start if step > 0 else start - stop
    count = larger(divided(away + (abs(step) - 1), abs(step)), Size(0))
    most = count.range[1]
    if most is None:
        raise unbounded("np.arange", count)
    numbers = fresh(iota(most), is_array=True) * step + traced(start)
    to = short(dtype) if dtype is not None else _dtype_of(parts)
    return bounded(fresh(cast_value(numbers.value, to), is_array=True), (count,))


def _as_integer(x: TracedArray) -> TracedArray:
    """A known number without a fraction as an integer; anything else as it is."""
    known = None if x.shape or x.type.kind != "f" or x.concrete is None else float(x.concrete)
    return as_traced(int(known)) if known is not None and known.is_integer() and abs(known) < EXACT else x


def _dtype_of(parts: Sequence[TracedArray]) -> str:
    """The dtype of a range: as of such numbers and of one of NumPy's default integers, which are no shorter."""
    return result_dtype(*parts, as_traced(np.int64(0)))


def _arange_of_floats(parts: list[TracedArray], dtype: Any) -> Any:
    """np.arange of real numbers that are not all integers, as NumPy computes it: by the first two elements."""
    to = short(dtype) if dtype is not None else _dtype_of(parts)
    if not 1 <= len(parts) <= 3 or any([p.shape or p.type.kind not in "iuf" for p in parts]) or to[0] != "f":
        return None
    start, stop, step = bounds_of(parts, as_traced(0), as_traced(1))
    xp: Any = np
    (most,), (count,) = extents_of(xp.maximum(xp.ceil((stop - start) / step), 0).astype(int), "np.arange")
    first, second = (fresh(cast_value(value_of(x), to)) for x in (start, start + step))
    numbers = fresh(cast_value(iota(most), to), is_array=True)
    return bounded(first + numbers * (second - first), (count,))


def extents_of(shape: Any, name: str) -> tuple[tuple[int, ...], tuple[Extent, ...]]:
    """The shape that an array needs at most, and its extents; an error if nothing bounds one of them. name: of the
    function."""
    most, extents = list[int](), list[Extent]()
    for n in along_axes(shape):
        if not is_open(n):
            most.append(integer_of(n))
            extents.append(most[-1])
            continue
        size = size_of(n, name)
        high = size.range[1]
        if high is None:
            raise unbounded(name, size)
        if not size.is_at_least(0):
            fail_if(less(size.value, const(0, "i64")), ValueError("negative dimensions are not allowed"))
            size = larger(size, Size(0))
        most.append(max(high, 0))
        extents.append(size)
    return tuple(most), tuple(extents)


def is_open(n: Any) -> bool:
    """Whether a number is known only at run time."""
    return type(n) is TracedArray and n.concrete is None


def unbounded(name: str, size: Size) -> TracedValueError:
    """The error of an array of as many elements as nothing bounds."""
    error = TracedValueError(
        f"{name}: how many elements there are is known only at run time, and nothing bounds it",
        hint="say how many there are at most, as in min(k, 100); take a part of a larger array, as in np.zeros(100)[:k]"
        "; or pass it as a Python integer",
    )
    return error.at(("here", here()), *(("made here", atom.origin) for atom in size.atoms)).needing(*size.atoms)


def bounds_of(args: Sequence[T], zero: T, one: T) -> tuple[T, T, T]:
    """Start, stop and step of a range by its arguments."""
    start, stop, step = (zero, *args, one) if len(args) == 1 else (*args, one)[:3]
    return start, stop, step


def are_integers(args: Sequence[Any]) -> bool:
    """Whether arguments may be those of a range of integers."""
    parts = [as_traced(a) for a in args]
    return 1 <= len(parts) <= 3 and not any([p.shape or p.type.kind not in "iu" for p in parts])


def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None, axis: int = 0
) -> Any:
    """np.linspace between traced ends."""
    if is_open(num):
        return _linspace_of_unknown_number(start, stop, num, endpoint, (retstep, axis), dtype)
    num = integer_of(num)
    if num < 0:
        raise DomainError(f"np.linspace: the number of samples must not be negative, got {num}").at(("here", here()))
    a, b = as_traced(start) * 1.0, as_traced(stop) * 1.0  # differences of unsigned numbers would wrap
    wide = np.dtype(DTYPES[result_dtype(a, b, float(num))])
    parts = max(num - 1 if endpoint else num, 1)
    t = fresh_concrete((np.arange(num, dtype=wide) / wide.type(parts)).reshape(-1, *(1,) * max(a.ndim, b.ndim)))
    y = a + (b - a) * t
    if endpoint and num > 1:
        y[-1] = b  # not off by a rounding
    y = y if axis == 0 else cast("Any", np.moveaxis)(y, 0, axis)
    y = _samples(y, dtype)
    return (y, (b - a) / parts) if retstep else y


def _samples(y: Any, dtype: Any) -> Any:
    """Samples in the dtype that is asked for: whole numbers are those below."""
    if dtype is None:
        return y
    return (cast("Any", np.floor)(y) if np.issubdtype(dtype, np.integer) else y).astype(dtype)


def _linspace_of_unknown_number(
    start: Any, stop: Any, num: Any, endpoint: bool, others: tuple[Any, Any], dtype: Any
) -> Any:
    """np.linspace of so many samples as is known only at run time."""
    xp: Any = np
    if others != (False, 0):
        raise UnsupportedError(
            "np.linspace with retstep= or axis=, of a number of samples that is known only at run time",
            hint="start + (stop - start) * np.arange(num)[:, None] / (num - 1)",
        ).at(("here", here()))
    a, b = as_traced(start) * 1.0, as_traced(stop) * 1.0
    (most,), (count,) = extents_of(num, "np.linspace")
    places = fresh_concrete(np.arange(most, dtype=np.float64).reshape(-1, *(1,) * max(a.ndim, b.ndim)))
    parts = xp.maximum(num - 1 if endpoint else num, 1)
    y = a + (b - a) * (places / parts)
    if endpoint:  # the last is not off by a rounding
        y = xp.where((places == parts) & (num > 1), b, y)
    return bounded(_samples(y, dtype), (count, *y.shape[1:]))
