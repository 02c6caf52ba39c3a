"""Indexing arrays whose extents are known only at run time by masks and by arrays of places."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.core.ir import const
from pliant.errors import NOWHERE
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.bounded import Bounded, bounded, extents_of, filled, whole_of
from pliant.frontend.convert import as_traced
from pliant.frontend.failures import fail_if
from pliant.frontend.functions.common import xp
from pliant.frontend.kinds import as_tuple
from pliant.frontend.listed import listed
from pliant.frontend.selection import all_listed
from pliant.frontend.sizes import Size, size_of, traced
from pliant.ops.shape import broadcast


def indexed(x: Bounded, key: Any) -> Any:
    """`x[key]` where the key is one array of truth values or of places, which whole axes may come before."""
    lead = _whole_axes(key)
    k = _array_of(x, key[lead:] if lead else key)
    if k.dtype == bool:
        if lead:
            raise x.refused("indexing by a mask beside other indices")
        part, mask = _masked(x, k)
        made, rank = listed(part, mask), mask.ndim
        return bounded(whole_of(made), (*extents_of(made)[:1], *x.extents[rank:]))
    places = _places(x, k, lead)
    made = whole_of(x.whole[(*(slice(None),) * lead, places)])
    return bounded(made, (*x.extents[:lead], *extents_of(places), *x.extents[lead + 1 :]))


def put(x: Bounded, key: Any, y: Any) -> None:
    """`x[key] = y` where the key is one array of truth values or of places."""
    k = _array_of(x, key)
    if k.dtype == bool:
        part, mask = _masked(x, k)
        part[mask] = y
    else:
        x.whole[_places(x, k, 0)] = y


def _array_of(x: Bounded, key: Any) -> Any:
    """The array that a key is."""
    items = as_tuple(all_listed(key)) if isinstance(key, tuple) else (all_listed(key),)
    if len(items) != 1:
        raise x.refused("indexing by an array beside other indices")
    return items[0] if isinstance(items[0], Bounded) else as_traced(items[0])


def _masked(x: Bounded, key: Any) -> tuple[TracedArray, TracedArray]:
    """The view of the whole that a mask is of, and the mask, which holds nowhere beyond the extents."""
    rank = len(extents_of(key))
    everywhere = broadcast(const(True, "bool"), x.whole.shape[:rank], ())
    there = Bounded(fresh(everywhere, is_array=True), x.extents[:rank])
    for m, n in zip(extents_of(key), x.extents, strict=False):
        if m == 1 != n:  # it would be broadcast
            other = as_traced(xp.not_equal(traced(size_of(n)), 1))
            fail_if(other.value, IndexError("boolean index did not match indexed array: it has one element"))
    mask = filled(np.logical_and(key, there), False)
    return x.whole[tuple(slice(n) for n in mask.shape)], mask


def _whole_axes(key: Any) -> int:
    """How many axes a key leaves whole before it says something of one."""
    return next((n for n, k in enumerate(as_tuple(key)) if not (type(k) is slice and k == slice(None))), 0)


def _places(x: Bounded, key: Any, axis: int) -> Any:
    """Places along an axis, counted from the start, and nowhere if there is none in x."""
    count = x.extents[axis]
    if not isinstance(count, Size):
        return key
    n = traced(count)
    places = xp.where(key < 0, key + n, key)
    return xp.where((places < 0) | (places >= n), NOWHERE, places)
