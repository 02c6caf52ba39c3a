"""`np.arange` between bounds known only at run time: as many numbers as there are at most, and how many there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from pliant.frontend.array import fresh
from pliant.frontend.bounded import bounded
from pliant.frontend.convert import as_traced, cast_value, result_dtype, short
from pliant.frontend.sizes import Size, divided, larger, size_of, traced
from pliant.ops.shape import iota

T = TypeVar("T")


def arange(*args: Any, dtype: Any = None, device: Any = None, like: Any = None) -> Any:
    """The integers from start to stop; None where no extent bounds how many there are, or they are no integers."""
    parts = [as_traced(a) for a in args]
    if not are_integers(args):
        return None
    start, stop, stride = bounds_of([size_of(p) for p in parts], Size(0), Size(1))
    step = stride.known
    if not step:
        return None
    away = stop - start if step > 0 else start - stop
    count = larger(divided(away + (abs(step) - 1), abs(step)), Size(0))
    most = count.range[1]
    if most is None:
        return None
    numbers = fresh(iota(most), is_array=True) * step + traced(start)
    to = short(dtype) if dtype is not None else result_dtype(*parts)
    return bounded(fresh(cast_value(numbers.value, to), is_array=True), (count,))


def bounds_of(args: Sequence[T], zero: T, one: T) -> tuple[T, T, T]:
    """Start, stop and step of a range by its arguments."""
    start, stop, step = (zero, *args, one) if len(args) == 1 else (*args, one)[:3]
    return start, stop, step


def are_integers(args: Sequence[Any]) -> bool:
    """Whether arguments may be those of a range of integers."""
    parts = [as_traced(a) for a in args]
    return 1 <= len(parts) <= 3 and not any([p.shape or p.type.kind not in "iu" for p in parts])
