"""What else than arrays and their containers a function returns: objects and sets that it makes are those of the
trace, and each call returns copies of them; what holds a traced array is an error.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import partial
from types import CellType, FunctionType
from typing import Any, Final, final

from pliant.core.frozen import frozen
from pliant.errors import UnsupportedError
from pliant.frontend.array import TracedArray
from pliant.frontend.control.objects import is_own
from pliant.frontend.guards import REACH, reached
from pliant.frontend.kinds import is_of
from pliant.frontend.members import traced_in
from pliant.frontend.objects import ObjectArray
from pliant.frontend.tracing import Trace
from pliant.frontend.whose import is_plain, kind_of

_SETS: Final = (set, dict, bytearray)


@final
@frozen
class Fresh:
    """What a call returns copies of. outside: what stays as it is in them."""

    model: Any
    outside: Sequence[Any]

    def made(self) -> Any:
        """A new one."""
        return copy.deepcopy(self.model, {id(x): x for x in self.outside})


def new_ones(leaves: Sequence[Any], trace: Trace) -> dict[int, Fresh]:
    """Those that the trace has made of what a function returns, besides the containers that it is made of: by their
    ids."""
    found = [x for x in leaves if is_of(x, _SETS) or (is_plain(kind_of(x)) and is_own(x))]
    outside = reached(trace, trace.given) if found else []
    known = {*map(id, outside)}
    if len(outside) >= REACH:
        return {}
    return {id(x): Fresh(x, outside) for x in found if id(x) not in known and _can_be_copied(x)}


def _can_be_copied(x: Any) -> bool:
    try:
        copy.deepcopy(x)
    except (TypeError, ValueError):  # it holds a module, a lock, an open file
        return False
    return True


def without_arrays(m: Any) -> Any:
    """A returned object that is no number, if it holds no traced array: these end with the call."""
    for name, held in getattr(m, "__dict__", {}).items():
        if type(held) is ObjectArray and not isinstance(m, type):
            raise held.refused(f"returning an object of class {type(m).__name__}, with .{name}")
        if type(held) is TracedArray and not isinstance(m, type):
            raise _holding(m, held, f"whose .{name} is", "a tuple or a dict")
    is_function = isinstance(m, FunctionType | partial)
    held = traced_in(_closed_over(m) if is_function else m)
    if held is not None and is_function:
        raise UnsupportedError(
            f"returning a function that holds a traced array {held.type}",
            hint="return the array, and make the function of it after the call",
        ).at(("made here", held.value.origin))
    if held is not None:
        raise _holding(m, held, "in which there is", "a list, a tuple or a dict")
    return m


def _closed_over(m: Any) -> list[Any]:
    """What a function holds."""
    if isinstance(m, partial):
        return [m.args, m.keywords, *_closed_over(m.func)]
    return [cell.cell_contents for cell in getattr(m, "__closure__", None) or () if cell != CellType()]


def _holding(m: Any, held: TracedArray, where: str, instead: str) -> UnsupportedError:
    """The error about an object that holds a traced array. instead: what may hold it."""
    error = UnsupportedError(
        f"returning an object of class {type(m).__name__}, {where} a traced array {held.type}",
        hint=f'return its arrays, in {instead}; or register the class with optree, namespace="pliant"',
    ).at(("made here", held.value.origin))
    error.made = (m,)
    return error
