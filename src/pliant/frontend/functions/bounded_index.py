"""Indexing arrays whose extents are known only at run time by masks and by arrays of places."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.errors import NOWHERE
from pliant.frontend.bounded import Bounded, bounded, extents_of, filled, whole_of
from pliant.frontend.convert import as_traced
from pliant.frontend.functions.common import xp
from pliant.frontend.kinds import as_tuple
from pliant.frontend.listed import listed
from pliant.frontend.selection import all_listed
from pliant.frontend.sizes import Size, traced


def indexed(x: Bounded, key: Any) -> Any:
    """`x[key]` where the key is one array of truth values or of places."""
    items = as_tuple(all_listed(key)) if isinstance(key, tuple) else (all_listed(key),)
    if len(items) != 1:
        raise x.refused("indexing by an array beside other indices")
    k = items[0] if isinstance(items[0], Bounded) else as_traced(items[0])
    return _masked(x, k) if k.dtype == bool else _at(x, k)


def _masked(x: Bounded, key: Any) -> Any:
    """The elements where a mask holds, one after the other."""
    rank = len(extents_of(key))
    there = Bounded(xp.ones(x.whole.shape[:rank], bool), x.extents[:rank])
    mask = filled(np.logical_and(key, there), False)
    made = listed(x.whole[tuple(slice(n) for n in mask.shape)], mask)
    return bounded(whole_of(made), (*extents_of(made)[:1], *x.extents[rank:]))


def _at(x: Bounded, key: Any) -> Any:
    """The rows at places, counted from the end where they are negative."""
    count = x.extents[0]
    if isinstance(count, Size):
        n = traced(count)
        places = xp.where(key < 0, key + n, key)
        key = xp.where((places < 0) | (places >= n), NOWHERE, places)
    made = x.whole[key]
    return bounded(whole_of(made), (*extents_of(key), *x.extents[1:]))
