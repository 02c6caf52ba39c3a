"""Methods of `np.random.Generator` that draw whole numbers of a range, and places in arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

import numpy

from pliant.frontend.parameters import bounds_of, count_in, is_known, number_in, shape_of
from pliant.frontend.random.bits import bits_of
from pliant.frontend.random.checks import chances
from pliant.frontend.random.drawing import each, written
from pliant.frontend.random.methods import random
from pliant.frontend.random.whole import WIDTHS, Short, from_to, masked, masked_from_to, upto
from pliant.frontend.random.words import U64

np: Any = numpy  # or what a trace has in its place

MANY: Final = 10000
"""Things of which a sample is the end of a permutation, if it is no small part of them."""


def integers(
    rng: Any, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: bool = False
) -> Any:
    """Whole numbers from `low` up to `high`."""
    made: Any = np.int64 if dtype is int else dtype
    name = "integers" if rng.is_new else "randint"
    some = number_in(size) != 0
    if some is False:
        return np.empty(shape_of(size, ()), made)
    if high is None:
        low, high = 0, low
    low = low if is_known(low) else np.asarray(low)[()]
    high = high if is_known(high) else np.asarray(high)[()]
    low, last, least, most = bounds_of(name, low, high if endpoint else high - 1, dtype)
    if some and np.any(low < least):
        raise ValueError(f"low is out of bounds for {np.dtype(dtype).name}")
    if some and np.any(last > most):
        raise ValueError(f"high is out of bounds for {np.dtype(dtype).name}")
    if some and np.any(last < low) and np.any(low != 0):
        raise ValueError("low > high" if endpoint else "low >= high")
    if some and np.any(last < low):
        raise ValueError("high < 0" if endpoint else "high <= 0")
    shape = shape_of(size, (low, last))
    width = WIDTHS.get(np.dtype(dtype).name)
    if width is None:
        drawn = each(rng, from_to if rng.is_new else masked_from_to, shape, np.uint64, low, last)
    else:
        drawn = each(rng, Short(width, is_masked=not rng.is_new).from_to, shape, np.uint64, low, last)
    if shape is not None:
        return drawn.astype(made)
    if dtype is int or dtype is bool:
        return dtype(np.int64(drawn))
    return np.dtype(made).type(drawn)


def choice(
    rng: Any, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
) -> Any:
    """Elements, or numbers below one."""
    is_number = np.ndim(a) == 0
    count = a if is_number else np.shape(a)[axis]
    wanted = number_in(size) if replace else count_in(size)
    if count <= 0 and wanted:
        raise ValueError(
            "a must be a positive integer unless no samples are taken"
            if is_number
            else "a cannot be empty unless no samples are taken"
        )
    if not replace and wanted > count:
        raise ValueError("Cannot take a larger sample than population when replace is False")
    if is_known(wanted) and wanted == 0:
        return np.empty(shape_of(size, ()), np.int64 if is_number else np.asarray(a).dtype)
    if p is not None and not replace and np.sum(np.asarray(p) > 0) < wanted:
        raise ValueError("Fewer non-zero entries in p than size")
    if p is None:
        places = integers(rng, 0, count, size) if replace else _sample(rng, count, size, shuffle)
    else:
        p = np.asarray(p, np.float64)
        chances(p, count)
        places = likely(rng, p, size) if replace else likely_sample(rng, p, size)
    if is_number:
        return int(places) if size is None else places
    return np.take(np.asarray(a), places, axis)


def likely(rng: Any, p: Any, size: Any) -> Any:
    """Places, each with its probability."""
    total = np.cumsum(p)
    return np.searchsorted(total / total[-1], random(rng, size), side="right")


def likely_sample(rng: Any, p: Any, size: Any) -> Any:
    """So many places that differ, with their probabilities."""
    wanted = count_in(size)
    found, is_taken, count = np.zeros(wanted, np.int64), np.zeros(len(p), np.bool_), 0
    bits = bits_of(rng.parts)
    while count < wanted:
        total = np.cumsum(np.where(is_taken, 0.0, p))
        total = total / total[-1]
        for _ in range(wanted - count):
            place = np.searchsorted(total, bits.uniform(), side="right")
            if not is_taken[place]:
                is_taken[place] = True
                found[count] = place
                count += 1
    bits.store(rng.parts)
    return found[0] if size is None else found.reshape(shape_of(size, ()))


def _sample(rng: Any, count: Any, size: Any, shuffle: bool) -> Any:
    """So many places that differ, each as likely as the others. R. W. Floyd, Comm. ACM 30(9), 1987."""
    wanted = count_in(size)
    if count > MANY and wanted > count // (50 if shuffle else 20):
        left = count - wanted
        found = _permuted(rng, np.arange(count), max(left, 1), upto)[left + np.arange(wanted)]
    else:
        found, is_taken = np.zeros(wanted, np.int64), np.zeros(count, np.bool_)
        bits = bits_of(rng.parts)
        for k in range(wanted):
            last = count - wanted + k
            place = np.int64(upto(bits, U64(last)))
            place = np.int64(last) if is_taken[place] else place
            is_taken[place] = True
            found[k] = place
        bits.store(rng.parts)
        if shuffle:
            found = _permuted(rng, found, 1, upto)
    return found[0] if size is None else found.reshape(shape_of(size, ()))


def _permuted(rng: Any, x: Any, first: int = 1, draw: Callable[..., Any] = masked) -> Any:
    """A row of elements, each from `first` on in turn, from the last, exchanged with one before."""
    x = x.copy()
    bits = bits_of(rng.parts)
    for k in range(len(x) - 1, first - 1, -1):
        other = np.int64(draw(bits, U64(k)))
        held = x[k]
        x[k] = x[other]
        x[other] = held
    bits.store(rng.parts)
    return x


def permutation(rng: Any, x: Any, axis: int = 0) -> Any:
    """Elements, or numbers below one, in another order."""
    if np.ndim(x) == 0:
        if np.asarray(x).dtype.kind not in "iu":
            raise IndexError("x must be an integer or at least 1-dimensional")
        return _permuted(rng, np.arange(x))
    x = np.asarray(x)
    return np.take(x, _permuted(rng, np.arange(x.shape[axis])), axis)


def shuffle(rng: Any, x: Any, axis: int = 0) -> None:
    """Put elements of an array or list in another order."""
    if isinstance(x, list):
        x[:] = [x[k] for k in _permuted(rng, np.arange(len(cast("Any", x))))]
    else:
        x[...] = permutation(rng, x, axis)


def permuted(rng: Any, x: Any, axis: Any = None, out: Any = None) -> Any:
    """Elements along an axis in other orders, each part in one of its own."""
    x = np.asarray(x)
    if axis is None:
        made = _permuted(rng, x.reshape(-1)).reshape(x.shape)
    else:
        rows = np.moveaxis(x, axis, -1)
        table = np.array(rows).reshape(-1, rows.shape[-1])
        for n in range(len(table)):
            table[n] = _permuted(rng, table[n])
        made = np.moveaxis(table.reshape(rows.shape), -1, axis)
    return written(out, made)
