"""What a traced function leaves in objects, containers and names that outlive the call: no traced array.

class Model:
    def step(self, x):
        self.state = self.state + x      an error: `self` outlives the call, and what is set is known only at run time
        self.table = np.arange(3.0)      an array that is known while tracing is left as what NumPy makes
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Any, cast

from pliant.errors import UnsupportedError
from pliant.frontend.array import TracedArray
from pliant.frontend.control.objects import flatten, unflatten
from pliant.frontend.control.region import Place
from pliant.frontend.control.unbound import Unbound
from pliant.frontend.guards import reached
from pliant.frontend.tracing import Trace


@contextmanager
def nothing_left(trace: Trace, given: Iterable[Any]) -> Generator[None]:
    """Run a user's function inside; what it did outside is taken back if it fails, or leaves a traced array there.
    given: objects that are arguments, or whose method it is."""
    try:
        yield
        _check(trace, {*reached(trace, given), *trace.cells})
    except BaseException:
        for place, (before, _) in trace.left.items():
            if any(type(x) in (TracedArray, Unbound) for x in _leaves(place.get())):
                place.set(before)
        raise


def take_back(left: dict[Any, tuple[Any, Any]]) -> None:
    """Undo what a trace did outside, for another one of the same function."""
    for place, (before, _) in reversed(left.items()):
        place.set(before)


def _check(trace: Trace, outside: set[int]) -> None:
    error: UnsupportedError | None = None
    for place, (before, origin) in trace.left.items():
        is_outside = isinstance(place.holder, type) or id(place.holder) in outside
        if not is_outside or id(place.holder) in trace.own:
            continue
        leaves, structure = flatten(place.get())
        traced = [x for x in leaves if type(x) is TracedArray]
        unknown = [x for x in leaves if type(x) is Unbound or (type(x) is TracedArray and x.concrete is None)]
        if unknown:
            error = error or UnsupportedError(
                f"{_text(place, trace)} outlives the call, and is left with {_what(unknown[0])}",
                hint="return the array, and set it after the call; or write to an array that is there, as in "
                "self.state[...] = x, which reaches it at every call, or to a pliant.Ref",
            ).at(("changed here", origin))
            is_list = place.is_whole and type(cast("Any", place.holder)) is list
            is_growing = is_list and len(cast("Any", place.holder)) != len(before)  # each call would find another one
            error.holders = (*error.holders, None if is_growing else place.holder)
        elif traced:
            place.set(unflatten(structure, [_plain(x) for x in leaves]))
    if error is not None:
        raise error


def _leaves(content: Any) -> list[Any]:
    return flatten(content)[0]


def _what(x: Any) -> str:
    is_array = type(x) is TracedArray
    return f"a traced array {x.type}" if is_array else "what a condition decides that is known only at run time"


def _plain(x: Any) -> Any:
    """What NumPy would have made of an array whose content is known."""
    if type(x) is not TracedArray:
        return x
    array = x.concrete
    return array.copy() if not (x.is_scalar or x.is_weak) else array[()].item() if x.is_weak else array[()]


def _text(place: Place, trace: Trace) -> str:
    """The place, as the user knows it."""
    if place.kind == "name":
        return f"the name {place.key!r}, which is bound outside of the function,"
    holder: Any = place.holder
    kind = cast("Any", type(holder)).__name__
    if place.kind == "attribute":
        return f"attribute {place.key!r} of a {kind} from outside of the function"
    is_global = place.kind == "item" and kind == "dict" and "__name__" in holder
    if is_global:
        return f"the global name {place.key!r}"
    names = [name for _, name, value in trace.roots.values() if value is holder and isinstance(name, str) and name]
    return (
        f"the {kind} {names[0]!r} from outside of the function" if names else f"a {kind} from outside of the function"
    )
