"""np.packbits and np.unpackbits, by shifts: eight bits are one number of uint8."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.core.origin import here
from pliant.errors import DTypeError
from pliant.frontend.convert import axis_of, integer_of
from pliant.frontend.functions.common import array_of, known, solid, xp

BITS = 8


def unpackbits(a: Any, axis: Any = None, count: Any = None, bitorder: str = "big") -> Any:
    """np.unpackbits."""
    x, axis = _along(a, axis)
    if x.type.dtype != "u8":
        raise _wrong(f"np.unpackbits: expected an array of uint8, got {x.type}")
    bits = (xp.expand_dims(x, axis + 1) >> _shifts(bitorder, x.ndim - axis - 1)) & np.uint8(1)
    found: Any = bits.reshape(*x.shape[:axis], BITS * x.shape[axis], *x.shape[axis + 1 :])
    if count is None:
        return found
    n = integer_of(known(count, "count="))
    if n > found.shape[axis]:
        return _longer(found, axis, n)
    return found[(slice(None),) * axis + (slice(n),)]


def packbits(a: Any, axis: Any = None, bitorder: str = "big") -> Any:
    """np.packbits."""
    x, axis = _along(a, axis)
    if x.type.kind not in "iub":
        raise _wrong(f"np.packbits: expected an array of bool or integers, got {x.type}")
    count = -(-x.shape[axis] // BITS)
    bits = _longer((x != 0).astype(np.uint8), axis, BITS * count)
    rows = bits.reshape(*x.shape[:axis], count, BITS, *x.shape[axis + 1 :])
    return xp.sum(rows << _shifts(bitorder, x.ndim - axis - 1), axis=axis + 1, dtype=np.uint8)


def _along(a: Any, axis: Any) -> tuple[Any, int]:
    """The array and the axis of its bits; without one it is flat."""
    x = array_of(solid(a))
    return (x.reshape(-1), 0) if axis is None or not x.ndim else (x, axis_of(axis, x.ndim))


def _shifts(bitorder: str, rank: int) -> Any:
    """By how much each bit of a number is shifted, along an axis before `rank` others."""
    if bitorder not in ("big", "little"):
        raise ValueError("'order' must be either 'little' or 'big'")
    shifts = np.arange(BITS, dtype=np.uint8)
    return (shifts if bitorder == "little" else shifts[::-1]).reshape(BITS, *(1,) * rank)


def _longer(x: Any, axis: int, count: int) -> Any:
    """An array with zeros after its elements along an axis, so that there are `count`."""
    return xp.pad(x, [(0, count - n if a == axis else 0) for a, n in enumerate(x.shape)])


def _wrong(message: str) -> DTypeError:
    return DTypeError(message, hint="convert it with .astype(np.uint8)").at(("here", here()))


FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {np.packbits: packbits, np.unpackbits: unpackbits}
"""NumPy's functions of packed bits."""
