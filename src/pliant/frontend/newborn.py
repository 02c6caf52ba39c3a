"""Which lists, dicts and objects a call of Python's own functions has made: those that nothing else holds."""

from __future__ import annotations

import copy
import dataclasses
import sys
import types
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final, cast

import numpy as np

from pliant.frontend.adopt import adopt
from pliant.frontend.attributes import attributes, put_attribute
from pliant.frontend.control.objects import is_own
from pliant.frontend.control.region import born
from pliant.frontend.kinds import is_of
from pliant.frontend.whose import is_plain

COPIES: Final = frozenset((copy.copy, copy.deepcopy, dataclasses.replace, dataclasses.asdict))
"""Functions of Python's that make what they return."""


def making(function: Any, run: Callable[..., Any]) -> Callable[..., Any]:
    """`run`, which calls `function`: what a class, a constructor, a copy or a method of a set makes needs no guards
    from then on."""
    is_maker = is_of(function, type | types.GenericAlias) or is_of(getattr(function, "__self__", None), type | set)
    return partial(_made, run) if is_maker or function in COPIES else run


def _made(run: Callable[..., Any], /, *args: Any, **options: Any) -> Any:
    found = [run(*args, **options)]  # an object that a class keeps and returns again is not new
    _note(found)
    return found[0]


def new_or_known(run: Callable[..., Any]) -> Callable[..., Any]:
    """`run` of a library's function: arrays that it makes are the traced function's own; those that something else
    holds are outside."""
    return lambda *args, **options: own_arrays([run(*args, **options)])


def own_arrays(found: list[Any]) -> Any:
    """The one element of a list, which nothing else holds if it is new: new arrays as traced ones that know their
    content."""
    if found[0].__class__ is tuple and _holders(found)[0] == _LONE:
        parts = [*found.pop()]
        return tuple([adopt(x) if is_new else x for x, is_new in zip(parts, _are_new(parts), strict=True)])
    return adopt(found.pop()) if _are_new(found)[0] else found.pop()


def _are_new(found: Sequence[Any]) -> list[bool]:
    """For each element of a list, which holds it alone, whether it is an array in memory that nothing else holds."""
    lone = [type(x) is np.ndarray and n == _LONE for x, n in zip(found, _holders(found), strict=True)]
    bases = [x.base if is_lone else None for x, is_lone in zip(found, lone, strict=True)]
    shared = [n > _LONE + 1 or not is_of(b, np.ndarray) for b, n in zip(bases, _holders(bases), strict=True)]
    return [
        is_lone and (x.flags.owndata if b is None else not is_shared)
        for x, b, is_lone, is_shared in zip(found, bases, lone, shared, strict=True)
    ]


def constructed(kind: Any, seen: Callable[[Any], Any], /, *args: Any, **options: Any) -> Any:
    """A new object of a class of the user, whose `__init__` is run as the trace has `seen` it."""
    made = kind.__new__(kind)  # an abstract class refuses
    born(made)
    later = getattr(kind, "__post_init__", None)
    held: Any = getattr(made, "__dict__", {})
    if hasattr(kind, "__dataclass_fields__") and isinstance(later, types.FunctionType):
        held["__post_init__"] = types.MethodType(seen(later), made)
    init: Any = kind.__init__
    (seen(init) if isinstance(init, types.FunctionType) else init)(made, *args, **options)
    held.pop("__post_init__", None)
    note_parts(made)  # of a dataclass, by its default factories
    return made


def note_parts(made: Any) -> None:
    """Note what only a new object holds."""
    _note([*parts_held(made)], 1)


def inherit(x: Any, name: str, read: Callable[[Any, str], Any]) -> None:
    """Make an attribute that a new object has from its class its own: there a condition looks for what was before."""
    kind = cast("Any", type(x))
    is_inherited = is_own(x) and is_plain(kind) and hasattr(kind, name) and name not in attributes(x)
    if is_inherited and not hasattr(getattr(kind, name), "__get__"):
        put_attribute(x, name, read(x, name))


def _note(found: Sequence[Any], others: int = 0) -> None:
    """Note those of a list that so many others hold, and what only they hold."""
    for x, count in zip(found, _holders(found), strict=True):
        if count == _LONE + others and (is_of(x, _CONTAINERS) or is_plain(cast("Any", type(x)))):
            born(x)
            note_parts(x)


def _holders(found: Sequence[Any]) -> list[int]:
    """For each element of a list how many things hold it, this function among them."""
    return [sys.getrefcount(x) for x in found]


def parts_held(x: Any) -> Iterable[Any]:
    """What a container or object holds."""
    if is_of(x, dict):
        return x.values()
    return x if is_of(x, _CONTAINERS[:-1]) else attributes(x).values()


_CONTAINERS: Final = (list, dict, set, deque, types.SimpleNamespace)
_LONE: Final = _holders([[]])[0]
