"""`isinstance`, `type` and class patterns, for traced values: their class is that of what they stand for."""

from __future__ import annotations

import builtins
import collections
from typing import Any, Final

import numpy as np

from pliant.frontend.array import TracedArray
from pliant.frontend.bounded import Bounded
from pliant.frontend.control.chosen import told
from pliant.frontend.control.deques import is_deque
from pliant.frontend.control.each import of_each
from pliant.frontend.control.ornone import OrNone, either, is_none, present, truth
from pliant.frontend.control.states import is_member
from pliant.frontend.control.unbound import Unbound, choice_of
from pliant.frontend.kinds import is_traced, stood_for
from pliant.frontend.random.generator import TracedGenerator
from pliant.frontend.selection import Selection

_OWN: Final = (TracedArray, Bounded, Selection)
_WHOLE: Final[tuple[Any, ...]] = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)
"""Classes whose pattern `list(x)` binds the object itself."""


def class_of(*args: Any) -> Any:
    """`type(x)`: an array's, a NumPy scalar's or a Python number's class."""
    x: Any = present(args[0]) if len(args) == 1 else args[0]
    if type(x) is Unbound:
        raise x.refused()
    if len(args) == 1 and is_member(x):
        return of_each(x, builtins.type)
    if len(args) == 1 and is_deque(x):
        return collections.deque
    if len(args) == 1 and type(x) is TracedGenerator:
        return x.kind
    if len(args) != 1 or type(x) not in _OWN:
        return builtins.type(*args)
    if not is_traced(x):
        return np.ndarray
    return stood_for(x)


def is_instance(x: Any, kinds: Any) -> Any:
    """`isinstance(x, kinds)`."""
    if type(x) is OrNone:
        held = truth(x, lambda part: is_instance(part, kinds))
        return either(held, is_none(x)) if isinstance(None, kinds) else held
    if type(x) is Unbound or (type(x) is TracedArray and x.is_weak and choice_of(x) is not None):
        return told(x, lambda part: is_instance(part, kinds))
    return issubclass(class_of(x), kinds) if type(x) in (*_OWN, TracedGenerator, list) else isinstance(x, kinds)


def part(x: Any, kind: Any, place: int | str) -> Any:
    """What the pattern at a place of a class pattern is about: the object itself, or an attribute."""
    if isinstance(place, str):
        return getattr(x, place)
    return x if kind in _WHOLE else getattr(x, kind.__match_args__[place])


def is_of(x: Any, kind: Any, count: int, *names: str) -> bool:
    """Whether a class pattern with so many parts by place, and these by name, may be about x."""
    if not is_instance(x, kind):
        return False
    by_place = () if kind in _WHOLE else kind.__match_args__[:count] if count else ()
    most = 1 if kind in _WHOLE else len(by_place)
    if count > most:
        raise TypeError(f"{kind.__name__}() accepts {most} positional sub-pattern{'s' * (most != 1)} ({count} given)")
    return all([hasattr(x, name) for name in (*by_place, *names)])
