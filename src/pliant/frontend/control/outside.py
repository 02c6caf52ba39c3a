"""What a traced function leaves in objects, containers and names that outlive the call: no traced array.

class Model:
    def step(self, x):
        self.state = self.state + x      an error: `self` outlives the call, and what is set is known only at run time
        self.table = np.arange(3.0)      an array that is known while tracing is left as what NumPy makes
"""

from __future__ import annotations

import dis
from collections import deque
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from types import CellType, FunctionType
from typing import Any, Final, cast

import numpy as np

from pliant.core.origin import here
from pliant.errors import UnsupportedError
from pliant.frontend.array import TracedArray
from pliant.frontend.attributes import attributes
from pliant.frontend.bounded import Bounded
from pliant.frontend.control.fronts import Front
from pliant.frontend.control.lasting import note_left
from pliant.frontend.control.objects import flatten, is_own, unflatten
from pliant.frontend.control.ornone import OrNone
from pliant.frontend.control.region import Place, note, place_of
from pliant.frontend.control.unbound import Unbound
from pliant.frontend.guards import REACH, entries_of, is_module
from pliant.frontend.kinds import is_of
from pliant.frontend.missing import MISSING
from pliant.frontend.originals import original
from pliant.frontend.outernames import Name, is_named
from pliant.frontend.reached import reached
from pliant.frontend.selection import Selection
from pliant.frontend.sharing import containers, fill, parts_of
from pliant.frontend.text import Text
from pliant.frontend.tracing import Storage, Trace
from pliant.frontend.whose import is_plain

MOST: Final = 100_000
"""Objects outside among which what a trace has changed is looked for."""


@contextmanager
def nothing_left(trace: Trace, given: Iterable[Any], inside: Iterable[Any] = ()) -> Generator[None]:
    """Run a user's function inside; what it did outside is taken back if it raises, or leaves a traced array there.
    given: objects that are arguments, or whose method it is. inside: containers in which arguments are handed on."""
    trace.given = [*given]
    try:
        yield
        _check_arrays(trace)
        outside = _outside(trace, {*map(id, inside)})
        _check(trace, trace.cells | outside)
        _check_unseen(trace, outside)
    except BaseException:
        _restore(trace)
        take_back(trace.left)
        _take_away(trace)
        raise


def note_unseen(trace: Trace, fn: FunctionType) -> None:
    """Remember what is in all that a function without source may read and change: what it does is not seen."""
    if trace.blind.get(id(fn)) == len(trace.roots):
        return  # nothing more is known from outside than at its last call
    stored = {i.argval for i in dis.get_instructions(fn.__code__) if i.opname == "STORE_ATTR"}
    named = [fn.__globals__[name] for name in fn.__code__.co_names if name in fn.__globals__]
    held = [cell.cell_contents for cell in fn.__closure__ or () if cell != CellType()]
    trace.given += [*named, *held]
    for x in reached(trace, trace.given):
        if is_of(x, dict) and not x.keys().isdisjoint(("__name__", "__builtins__")):
            continue  # names of a module
        for owner, name, value in entries_of(x):
            trace.roots.setdefault((id(owner), name), (owner, name, value))
            if is_of(value, np.ndarray):
                trace.arrays.setdefault(id(value), (x, value, value.copy()))
        if isinstance(x, list | dict | set | deque):
            note(place_of("whole", x))
        elif is_plain(cast("Any", type(x))):
            for name in stored | attributes(x).keys():
                note(place_of("attribute", x, name))
    trace.blind[id(fn)] = len(trace.roots)


def _outside(trace: Trace, inside: set[int]) -> dict[int, Any]:
    """What outlives the call, by its ids and those of its `__dict__`: as much as it takes to find what was changed.
    inside: the ids of containers that are arguments."""
    changed = [place.holder for place in trace.left if place.number not in inside]
    changed = [x for x in changed if not (is_of(x, (type, CellType)) or is_module(x))]
    most = REACH
    while True:
        found = reached(trace, trace.given, most)
        outside = {id(x): x for x in found}
        outside |= {id(held): x for x in found if is_of(held := getattr(x, "__dict__", None), dict)}
        if len(found) < most or most >= MOST or all([_found_in(outside, x) is not MISSING for x in changed]):
            return outside
        most *= 4


def _found_in(outside: dict[int, Any], holder: Any) -> Any:
    """What is outside and has what a holder has; MISSING if nothing is."""
    return outside.get(id(holder), outside.get(id(getattr(holder, "__dict__", holder)), MISSING))


def _restore(trace: Trace) -> list[Any]:
    """Undo what functions without source have written to arrays while they were traced; return what holds these."""
    changed = [entry for entry in trace.arrays.values() if entry[1].tobytes() != entry[2].tobytes()]
    for _, array, before in changed:
        np.copyto(array, before)
    return [holder for holder, *_ in changed]


def _check_arrays(trace: Trace) -> None:
    holders = _restore(trace)
    if holders:
        kind = type(holders[0]).__name__
        error = UnsupportedError(
            f"a function without source writes to an array that a {kind} from outside of the function holds",
            hint="write the function in a file; or pass the array as an argument",
        )
        error.holders = tuple(holders)
        raise error


def check_strangers(trace: Trace, held: Iterable[Any], now: Iterable[Any]) -> None:
    """UnsupportedError if something from outside that is no argument is among the containers that arguments hold now.
    held: these before."""
    new = {id(x): x for x in now if id(x) not in trace.taken and id(x) not in trace.own}
    for x in held:
        new.pop(id(x), None)
    strangers = [x for x in reached(trace, trace.given) if id(x) in new] if new else []
    if strangers:
        kind = type(strangers[0]).__name__
        error = UnsupportedError(
            f"a {kind} from outside of the function is put into an argument", hint="make it an argument, too"
        ).at(("here", here()))
        error.holders = tuple(strangers)
        raise error


def take_back(left: dict[Any, tuple[Any, Any]]) -> None:
    """Undo what a trace did outside."""
    for place, (before, _) in reversed(left.items()):
        is_cut = place.kind == "item" and is_of(place.holder, list) and place.get() is MISSING
        if not is_cut:  # else all of the list is set too
            place.set(before)


@contextmanager
def unless_it_raises(left: dict[Any, tuple[Any, Any]]) -> Generator[None]:
    """What a trace did outside is taken back if what is run inside raises."""
    try:
        yield
    except BaseException:
        take_back(left)
        raise


def taken_back_of(trace: Trace) -> tuple[Place, ...]:
    """The places in what outlives the call that derivatives and batches have set, and taken back: not those of what
    stands for arguments while it is traced."""
    inside = {id(x) for tree in trace.passed for x in containers(tree)} - trace.taken.keys()
    places = [_real(place, trace) for place in trace.taken_back]
    return tuple([place for place in places if place.number not in inside])


def _real(place: Place, trace: Trace) -> Place:
    """The name from outside for which a cell of the trace stands; any other place itself."""
    return trace.behind[place.number][1] if place.number in trace.behind else place


@contextmanager
def put_back(places: Iterable[Place], arrays: Iterable[Any], objects: tuple[Any, ...] = ()) -> Generator[None]:
    """What is run inside leaves nothing at these places, nor in these arrays, nor in objects and what they hold."""
    held = [(x, parts_of(x) or []) for x in containers(objects)]
    arrays = [*arrays, *[x for x in flatten(objects)[0] if is_of(x, np.ndarray)]]
    before = [(place, place.get()) for place in places]
    contents = [(array, array.copy()) for array in arrays]
    try:
        yield
    finally:
        for place, content in reversed(before):
            place.set(content)
        for x, parts in held:
            fill(x, parts)
        for array, content in contents:
            if array.tobytes() != content.tobytes():
                np.copyto(array, content)


def _check(trace: Trace, outside: dict[int, Any]) -> None:
    """UnsupportedError if something is left in what is outside: objects, by their ids and those of their `__dict__`."""
    error: UnsupportedError | None = None
    for place, (before, origin) in [*trace.left.items()]:
        found = _found_in(outside, place.holder)
        is_outside = isinstance(place.holder, type) or found is not MISSING
        if not is_outside or id(place.holder) in trace.own:
            continue
        content = place.get()
        if _is_untouched(place, before):
            continue
        unknown = [x for x in flatten(content, is_own)[0] if _is_unknown(x)]
        is_longer = place.is_whole and is_of(place.holder, list) and len(content) > len(before)
        is_longer = is_longer and id(place.holder) not in trace.sizes  # else each call is traced, which appends to it
        if unknown or is_longer:
            error = error or UnsupportedError(
                f"{_text(place, trace)} outlives the call, and is {_what(unknown)}",
                hint="return the array, and set it after the call; or write to an array that is there, as in "
                "self.state[...] = x, which reaches it at every call, or to a pliant.Ref"
                + ("; or keep it in an attribute or item, as in self.state = x" if place.kind == "name" else ""),
            ).at(("changed here", origin))
            error.holders = (*error.holders, _argument(trace, place, place.holder if found is MISSING else found))
            continue
        note_left(trace, *_settled(place, before, trace))
    if error is not None:
        raise error


def _argument(trace: Trace, place: Place, holder: Any) -> Any:
    """What may be an argument too, instead of being left with what is known only at run time at a place."""
    place = _real(place, trace)
    if is_named(place.holder):
        return Name(place)
    return holder.__dict__ if is_of(holder, FunctionType) else holder


def _check_unseen(trace: Trace, outside: dict[int, Any]) -> None:
    """UnsupportedError if what is outside holds traced arrays that no statement of the user has put there, but a method
    of Python's own."""
    left = _unseen(trace, outside.values())
    if left:
        holder: Any = left[0][0]
        error = UnsupportedError(
            f"a {cast('Any', type(holder)).__name__} from outside of the function outlives the call, and a function of "
            "Python's puts a traced array there",
            hint="return the array, and put it there after the call; or make what holds it an argument",
        )
        error.holders = tuple([x for x, _ in left])
        raise error


def _take_away(trace: Trace) -> None:
    """Have what is outside hold no traced arrays that were put there unseen."""
    for _, (owner, key, _) in reversed(_unseen(trace, reached(trace, trace.given))):
        before = trace.roots.get((id(owner), key), (owner, key, MISSING))[2]
        if before is MISSING and is_of(owner, list | deque):
            del owner[key]
        else:
            place_of("item", owner, key).set(before)


def _unseen(trace: Trace, outside: Iterable[Any]) -> list[tuple[Any, Any]]:
    """What is outside and holds traced arrays, with the entries where they are: a tuple is part of what holds it."""
    others = [x for x in {id(x): x for x in outside}.values() if id(x) not in trace.own and not is_of(x, tuple)]
    return [(x, entry) for x in others for entry in entries_of(x) if _is_made_by(trace, entry[2])]


def _is_made_by(trace: Trace, x: Any) -> bool:
    """Whether something is an array of a trace that is not known while tracing, or a tuple in which there is one."""
    if is_of(x, tuple):
        return any([_is_made_by(trace, part) for part in x])
    return type(x) is TracedArray and x.concrete is None and x.storage.trace.outermost is trace


def _is_untouched(place: Place, before: Any) -> bool:
    """Whether a name is bound to what it was bound to before: an array that is written in place is, too."""
    return place.kind == "name" and place.get() is before


def _settled(place: Place, before: Any, trace: Trace) -> tuple[Place, Any]:
    """A place that holds what NumPy would have left there, and what was there before: of a name for which another one
    stands while the function is traced, its own."""
    leaves, structure = flatten(place.get())
    plain = [_plain(x, trace) for x in leaves]
    if any([x is not y for x, y in zip(plain, leaves, strict=True)]):
        place.set(unflatten(structure, plain))
    real = _real(place, trace)
    if real is place:
        return place, before
    found, _ = trace.left.setdefault(real, (real.get(), here()))
    real.set(place.get())
    return real, found


def _is_unknown(x: Any) -> bool:
    """Whether something is known only at run time."""
    return isinstance(x, Unbound | Bounded | Selection | Front | OrNone | Text) or (
        type(x) is TracedArray and x.concrete is None and _of_outside(x) is None
    )


def _of_outside(x: TracedArray) -> Any:
    """The array from outside that an array is; None if it is none."""
    is_whole = type(x.storage) is Storage and not (x.lenses or x.is_scalar or x.is_weak)
    return x.storage.source if is_whole and is_of(x.storage.source, np.ndarray) else None


def _what(unknown: list[Any]) -> str:
    """What is wrong with what is left."""
    if not unknown:
        return "longer after each"
    x = unknown[0]
    if type(x) is Text:
        return "left with text made of a number that is known only at run time"
    is_array = type(x) is TracedArray
    text = f"a traced array {x.type}" if is_array else "what a condition decides that is known only at run time"
    return f"left with {text}"


def _plain(x: Any, trace: Trace) -> Any:
    """What NumPy would have left: of an array whose content is known, or of what stands for a function."""
    if type(x) is not TracedArray:
        return original(x, trace)
    if (array := _of_outside(x)) is not None:
        return array
    array = x.concrete
    return array.copy() if not (x.is_scalar or x.is_weak) else array[()].item() if x.is_weak else array[()]


def _text(place: Place, trace: Trace) -> str:
    """The place, as the user knows it."""
    place = _real(place, trace)
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
