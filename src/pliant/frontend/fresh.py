"""What else than arrays and their containers a function returns: objects and sets that it makes are those of the
trace, and each call returns copies of them; what holds a traced array is an error.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Sequence
from functools import partial
from types import CellType, FunctionType, MethodType
from typing import Any, Final, final

from pliant.core.data import frozen
from pliant.errors import UnsupportedError
from pliant.frontend.array import TracedArray
from pliant.frontend.attributes import attributes
from pliant.frontend.control.objects import is_own
from pliant.frontend.kinds import is_of
from pliant.frontend.members import traced_in
from pliant.frontend.newborn import parts_held
from pliant.frontend.objects import ObjectArray
from pliant.frontend.sharing import fill, mapped
from pliant.frontend.tracing import Trace
from pliant.frontend.whose import is_plain, kind_of

_CONTAINERS: Final = (list, dict, set, deque, bytearray)
_set: Final[Any] = dict.__setitem__  # type: ignore[reportUnknownMemberType]


@final
@frozen
class Fresh:
    """The objects and sets that calls return copies of, and what only these hold: all that the trace has made."""

    models: dict[int, Any]  # by their ids

    def made(self) -> dict[int, Any]:
        """New ones, by the ids of their models. What holds itself, or others, does so too."""
        new = {key: _empty(x) for key, x in self.models.items()}
        for key, x in self.models.items():
            _fill(new[key], x, new)
        return new


def fresh(leaves: Sequence[Any], trace: Trace) -> Fresh | None:
    """Those among what a function returns, besides the lists and dicts that it is made of; None if there are none. What
    the function leaves outside, too, is returned as it is."""
    if not any(map(_can_be_fresh, leaves)):
        return None
    outside = [place for place in trace.left if place.kind != "name" or id(place.holder) in trace.cells]
    kept = _own([place.get() for place in outside])
    return Fresh({key: x for key, x in _own(leaves).items() if key not in kept})


def _can_be_fresh(x: Any) -> bool:
    return is_own(x) and (is_of(x, _CONTAINERS) or is_plain(kind_of(x)))


def _own(roots: Sequence[Any]) -> dict[int, Any]:
    """What the trace has made of what is held by some objects, themselves too, by their ids."""
    found, todo = dict[int, Any](), [*roots]
    while todo:
        x = todo.pop()
        if is_of(x, tuple):
            todo += x
        elif id(x) not in found and _can_be_fresh(x):
            found[id(x)] = x
            todo += parts_held(x)
    return found


def _empty(x: Any) -> Any:
    """An object like another one, which is still to be given what it holds."""
    return copy.copy(x) if is_of(x, _CONTAINERS) else kind_of(x).__new__(kind_of(x))


def _fill(made: Any, x: Any, new: dict[int, Any]) -> None:
    """Have a copy hold the new ones in place of their models."""
    if is_of(x, dict):
        for key, part in x.items():
            _set(made, key, mapped(part, new))
    elif is_of(x, set):
        made.clear()
        made.update([mapped(part, new) for part in x])
    elif not is_of(x, bytearray):
        pairs = enumerate(x) if is_of(x, _CONTAINERS) else attributes(x).items()
        fill(made, [(key, mapped(part, new)) for key, part in pairs])


def without_arrays(m: Any) -> Any:
    """A returned object that is no number, if it holds no traced array: these end with the call."""
    for name, held in getattr(m, "__dict__", {}).items():
        if type(held) is ObjectArray and not isinstance(m, type):
            raise held.refused(f"returning an object of class {type(m).__name__}, with .{name}")
        if type(held) is TracedArray and not isinstance(m, type):
            raise _holding(m, held, f"whose .{name} is", "a tuple or a dict")
    is_function = _is_function(m)
    held = traced_in(_closed_over(m) if is_function else m)
    if held is not None and is_function:
        raise getattr(m, "pliant_refused", _function_holding)(held)
    if held is not None:
        raise _holding(m, held, "in which there is", "a list, a tuple or a dict")
    return m


def _is_function(x: Any) -> bool:
    """Whether something is a function, or one that Pliant has made."""
    return isinstance(x, FunctionType | MethodType | partial) or (callable(x) and kind_of(x).__module__ in _OWN)


_OWN: Final = ("pliant.api", "pliant.compiled")


def _function_holding(held: TracedArray) -> UnsupportedError:
    """The error about a function that holds a traced array."""
    return UnsupportedError(
        f"returning a function that holds a traced array {held.type}",
        hint="return the array, and make the function of it after the call",
    ).at(("made here", held.value.origin))


def _closed_over(function: Any) -> list[Any]:
    """What a function holds, and those that it holds do."""
    found, todo, seen = list[Any](), [function], set[int]()
    while todo:
        f = todo.pop()
        if id(f) in seen:
            continue
        seen.add(id(f))
        if isinstance(f, partial):
            parts: list[Any] = [f.func, *f.args, *f.keywords.values()]
        elif isinstance(f, MethodType):
            parts = [f.__func__, f.__self__]
        elif not isinstance(f, FunctionType):
            parts = [*attributes(f).values()]
        else:
            cells = [cell.cell_contents for cell in f.__closure__ or () if cell != CellType()]
            parts = [*cells, *(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()]
        for x in parts:
            (todo if _is_function(x) else found).append(x)
    return found


def _holding(m: Any, held: TracedArray, where: str, instead: str) -> UnsupportedError:
    """The error about an object that holds a traced array. instead: what may hold it."""
    error = UnsupportedError(
        f"returning an object of class {type(m).__name__}, {where} a traced array {held.type}",
        hint=f'return its arrays, in {instead}; or register the class with optree, namespace="pliant"',
    ).at(("made here", held.value.origin))
    error.made = (m,)
    return error
