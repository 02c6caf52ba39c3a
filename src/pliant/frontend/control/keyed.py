"""Dicts read and written at a traced key: their keys are numbers, or tuples of numbers, and which of them it is becomes
a place in a list."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable
from typing import Any, cast

import numpy as np

from pliant.core.ir import Param
from pliant.errors import UnsupportedError
from pliant.frontend.array import TracedArray, fresh_concrete
from pliant.frontend.convert import value_of
from pliant.frontend.failures import fail_if
from pliant.frontend.members import plain_member
from pliant.frontend.sizes import size_of

FUNCTIONS: Any = np


def is_asked(holder: Iterable[Any], key: Any) -> bool:
    """Whether a traced number is looked up among numbers, or a tuple of which one is traced among tuples of numbers."""
    if type(key) is not tuple:
        return _is_open(key) and bool(holder) and all(map(_is_known, holder))
    parts, others = cast("tuple[Any, ...]", key), [*holder]
    if not any(map(_is_open, parts)) or not all([_is_open(p) or _is_known(p) for p in parts]):
        return False
    return bool(others) and all([type(k) is tuple and _are_numbers(k, len(parts)) for k in others])


def is_traced(key: Any) -> bool:
    """Whether a key is a traced number, or a tuple that has some."""
    return any(map(is_traced, cast("Any", key))) if type(key) is tuple else type(key) is TracedArray


def _is_open(x: Any) -> bool:
    return type(x) is TracedArray and x.concrete is None and not x.shape


def _are_numbers(key: tuple[Any, ...], count: int) -> bool:
    return len(key) == count and all(map(_is_known, key))


def _is_known(x: Any) -> bool:
    """Whether something is a number that is known while tracing: Python's, NumPy's or a traced one."""
    if type(x) is TracedArray:
        return x.concrete is not None and not x.shape
    return isinstance(x, bool | int | float | np.number | np.bool_)


def is_among(keys: Any, key: Any) -> Any:
    """Whether a traced key is one of others."""
    return FUNCTIONS.any(_same(keys, key))


def place_in(keys: Any, key: Any) -> Any:
    """The place of a traced key that is one of others."""
    return FUNCTIONS.argmax(_same(keys, key))


def place_among(keys: list[Any], key: Any, missing: Exception | None = None) -> Any:
    """The place of a traced key among others; the function raises `missing`, a KeyError, if it is none of them."""
    keys = [*map(plain_member, keys)]
    if keys == list(range(len(keys))) and key.type.kind in "iub":
        low, high = size_of(key).range
        if low is not None and low >= 0 and high is not None and high < len(keys):
            return key
    missing = missing or KeyError(f"the key is none of {', '.join(map(repr, keys))}")
    fail_if(value_of(~is_among(keys, key), "bool"), missing)
    return place_in(keys, key)


def taken_by_index(key: Any) -> Iterable[Any]:
    """The keys that a key is at the steps of loops, if it is the index of one, or a tuple of such and of known ones;
    none if it is something else."""
    if type(key) is tuple:
        parts = cast("tuple[Any, ...]", key)
        return itertools.product(*[taken_by_index(part) if _is_open(part) else (part,) for part in parts])
    size = size_of(key) if type(key) is TracedArray and key.type.kind in "iu" else size_of(0)
    low, high = size.range
    if len(size.terms) != 1 or not isinstance(size.atoms[0].op, Param) or low is None or high is None:
        return range(0)
    return range(low, high + 1, abs(size.terms[0][1]))


def new_key(keys: list[Any]) -> UnsupportedError:
    """The error of a write at a traced key that a dict does not have."""
    return UnsupportedError(
        f"a dict gets a new key that is known only at run time: it has {', '.join(map(repr, map(plain_member, keys)))}",
        hint="give it all keys before",
    )


def _same(keys: Any, key: Any) -> Any:
    """For each of the keys whether it is this one."""
    if type(key) is not tuple:
        return FUNCTIONS.equal(fresh_concrete(np.array([*map(plain_member, keys)])), key)
    pairs = zip(zip(*keys, strict=True), cast("tuple[Any, ...]", key), strict=True)
    return functools.reduce(FUNCTIONS.logical_and, [_same(column, part) for column, part in pairs])
