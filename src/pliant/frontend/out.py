"""`out=` of compiled functions: the caller's arrays for the results, checked before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pliant.core.types import DTYPES, Type
from pliant.errors import ArgumentError, DTypeError, ReadOnlyError, ShapeError, UnsupportedError
from pliant.frontend.alias import groups_of, is_injective, share
from pliant.frontend.convert import as_traced
from pliant.frontend.signature import containers, flatten

Typed = Sequence[Type | None]  # a type per returned leaf; None for one that is no array or number


def checked(out: Any, types: Typed, structure: Any) -> list[Any]:
    """The arrays of `out`, one per returned leaf; an error unless each result fits into its own."""
    arrays, found = flatten(out)
    if found != structure:
        raise _other_structure(found, structure)
    for array, type in zip(arrays, types, strict=True):
        _check(array, type)
    if groups_of(arrays, range(len(arrays))):
        raise ArgumentError("out=: arrays for different results overlap in memory", hint="give each result its own")
    return arrays


def _other_structure(found: Any, structure: Any) -> ArgumentError:
    return ArgumentError(
        f"out= has structure {containers(found)}, the results have {containers(structure)}",
        hint="* is an array or a number",
    )


def _check(array: Any, type_: Type | None) -> None:
    if type_ is None:
        raise ArgumentError(
            "out=: a result that is no array or number, or whose shape is known only after the call, cannot be written",
            hint="do not return it",
        )
    if type(array) is not np.ndarray:
        raise ArgumentError(f"out=: expected a numpy.ndarray for the result {type_}, got {type(array).__name__}")
    if array.shape != type_.shape:
        raise ShapeError(f"out=: expected shape {type_.shape} for the result {type_}, got {array.shape}")
    if array.dtype != np.dtype(DTYPES[type_.dtype]):
        raise DTypeError(
            f"out=: expected dtype {np.dtype(DTYPES[type_.dtype])} for the result {type_}, got {array.dtype}"
        )
    if not array.flags.writeable:
        raise ReadOnlyError("out=: the array is read-only")
    if not is_injective(array):
        raise UnsupportedError("out=: the array has several elements in one place of memory")


def stored(made: Sequence[Any], arrays: Sequence[Any], is_view: Sequence[bool]) -> None:
    """Copy results into the caller's arrays; one that `is_view` may lie in memory that is written here, its own array's
    too: what NumPy copies from one vector into another that overlaps it is not what was there before."""
    safe: list[Any] = list(made)
    for i, (y, a) in enumerate(zip(made, arrays, strict=True)):
        if is_view[i] and y is not a and any([share(y, b) for b in arrays]):
            safe[i] = y.copy()
    for array, y in zip(arrays, safe, strict=True):
        if y is not array:
            np.copyto(array, y)


def run_into(out: Any, call: Callable[[], Any], *, is_traced: bool) -> Any:
    """`call()` stored in `out`, where no compiled program is used: in another trace, or with NumPy."""
    leaves, structure = flatten(call())
    if not is_traced:
        types = [as_type(y) for y in leaves]
        stored(leaves, checked(out, types, structure), [isinstance(y, np.ndarray) for y in leaves])
        return out
    targets, found = flatten(out)
    if found != structure:
        raise _other_structure(found, structure)
    values = [as_traced(y).value for y in leaves]
    for target, value in zip(targets, values, strict=True):
        to = as_traced(target)
        if to.type != value.type:
            kind = ShapeError if to.shape != value.shape else DTypeError
            raise kind(f"out=: expected an array of type {value.type}, got {to.type}")
        to.replace(value)
    return out


def as_type(y: Any) -> Type | None:
    """IR type of an array or number; None for anything else."""
    if not isinstance(y, np.ndarray | np.generic | bool | int | float | complex):
        return None
    array = np.asarray(y)
    return next((Type(short, array.shape) for short, full in DTYPES.items() if np.dtype(full) == array.dtype), None)
