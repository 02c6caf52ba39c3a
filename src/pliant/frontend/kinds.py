"""What a user's object is, as questions a type checker understands."""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np

from pliant.frontend.array import TracedArray, weak_kind


def is_of(x: Any, kind: Any) -> bool:
    """`isinstance`, for what may hold anything: what is asked says no more about x."""
    return isinstance(x, kind)


def is_sequence(x: Any) -> TypeGuard[tuple[Any, ...] | list[Any]]:
    """Whether x is a tuple or a list."""
    return isinstance(x, tuple | list)


def is_table(x: Any) -> TypeGuard[dict[Any, Any]]:
    """Whether x is a dict."""
    return isinstance(x, dict)


def is_array(x: Any) -> TypeGuard[np.ndarray[Any, Any]]:
    """Whether x is a NumPy array."""
    return isinstance(x, np.ndarray)


def is_traced(x: Any) -> TypeGuard[TracedArray]:
    """Whether x is an array of the program being traced."""
    return type(x) is TracedArray


def stood_for(x: TracedArray) -> type:
    """The class of what a traced value stands for."""
    return weak_kind(x) if x.is_weak else x.dtype.type if x.is_scalar else np.ndarray


def as_tuple(x: Any) -> tuple[Any, ...]:
    """A tuple or list as a tuple; anything else as a tuple of one."""
    return tuple(x) if is_sequence(x) else (x,)


def itself(x: Any) -> Any:
    """What users know something as: a function of NumPy's, of what stands for it in a traced function."""
    kind: Any = x.__class__
    return x.pliant_itself if hasattr(kind, "pliant_itself") else x
