"""What a compiled program assumes about the world outside its arguments, tested before it is used again."""

from __future__ import annotations

import builtins
import dis
import gc
import types
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from functools import partial
from typing import Any, Final, cast, final

import numpy as np

from pliant.core.data import mutable
from pliant.frontend.array import TracedArray
from pliant.frontend.attributes import attributes
from pliant.frontend.kinds import is_of
from pliant.frontend.missing import MISSING
from pliant.frontend.records import is_record
from pliant.frontend.tracing import Trace, thread
from pliant.frontend.whose import LIBRARIES, is_followed, is_plain

REACH: Final = 400  # how many entries of containers and objects are guarded per program
_VIEWS: Final[Any] = tuple([type(view) for view in ({0: 0}.keys(), {0: 0}.values(), {0: 0}.items())])


Parts = tuple[Any, Any, Any, Any]  # of a function: itself, its code, its defaults, and those by name

_CHANGEABLE: Final = 1 << 9  # of the flags of classes: made by Python, not by C


@final
@mutable
class Box:
    """A holder of one object, for guards on what is no global and no cell."""

    content: Any


@final
@mutable
class Slot:
    """An object whose attribute is guarded, for guards on what is in no dict."""

    content: Any


@final
@mutable
class Guards:
    """What a compiled program assumes about the world outside its arguments."""

    named: list[tuple[dict[Any, Any], Any, Any]] = field(default_factory=list[tuple[dict[Any, Any], Any, Any]])
    others: list[tuple[Any, Any, Any]] = field(default_factory=list[tuple[Any, Any, Any]])
    sizes: list[tuple[Any, Any]] = field(default_factory=list[tuple[Any, Any]])
    functions: list[Parts] = field(default_factory=list[tuple[Any, Any, Any, Any]])

    @property
    def entries(self) -> list[tuple[Any, Any, Any]]:
        """(owner, name, object) of all of them."""
        return self.named + self.others

    def hold(self) -> bool:
        """Whether every name, cell, attribute and item still has the same object."""
        for names, name, value in self.named:
            if names.get(name, MISSING) is not value:
                return False
        for holder, size in self.sizes:
            if size_of(holder) != size:
                return False
        for parts in self.functions:
            if any([now is not before for now, before in zip(parts_of(parts[0]), parts, strict=True)]):
                return False
        return not self.others or all([_look(owner, name) is value for owner, name, value in self.others])

    def broken(self) -> list[tuple[Any, Any, Any, Any]]:
        """(owner, name, object before, object now) of those that are not what they were."""
        found = [(owner, name, value, _look(owner, name)) for owner, name, value in self.entries]
        return [entry for entry in found if entry[2] is not entry[3]]


def note_members(trace: Trace, container: Any, x: Any, *, is_open: bool) -> None:
    """Guards on what a dict, list or set that outlives the call holds, as far as `x in container` depends on it."""
    holder: Any = container.mapping if is_of(container, _VIEWS) else container
    is_open = is_open or is_of(container, _VIEWS[1:])  # whose elements are no keys
    if not is_of(holder, list | dict | set) or id(holder) in trace.own:
        return
    if is_open or is_of(holder, list):
        note_size(trace, holder)
    members = entries_of(holder) if is_open else [] if is_of(holder, list) else [(holder, x, _look(holder, x))]
    for owner, name, value in members:
        trace.roots.setdefault((id(owner), name), (owner, name, value))


def held_by(trace: Trace, holder: Any, name: str, kind: type) -> Any:
    """The attribute of an object of a class as Python finds it; a guard on that it has none."""
    try:
        return getattr(holder, name)
    except AttributeError:
        if id(holder) not in trace.own:
            trace.roots.setdefault((id(holder), name), (Slot(holder), name, MISSING))
        note_class(trace, kind, name)
        raise


def note_size(trace: Trace, holder: Any) -> None:
    """A guard on how many elements a container has, and in which order a dict has its keys: before the function changes
    it, as each call would."""
    size = trace.sizes_before.get(id(holder), size_of(holder))
    trace.sizes.setdefault(id(holder), (holder, size))


def size_of(holder: Any) -> Any:
    """How many elements a container has; if it is a dict of several, its keys in their order."""
    return tuple(holder) if is_of(holder, dict) and len(holder) > 1 else len(holder)


def note_class(trace: Trace, kind: type, name: str) -> None:
    """Guards on what the classes of an object say of a name, up to the one that has it."""
    for names in map(names_of, kind.__mro__):
        content = names.get(name, MISSING)
        if isinstance(names, dict):
            trace.roots.setdefault((id(names), name), (names, name, content))
        if content is not MISSING:
            return


def special(x: Any, name: str) -> Callable[..., Any] | None:
    """A special method of an object of the user's, as the trace sees it; None if there is none."""
    kind = cast("Any", type(x))
    if kind is TracedArray or thread.trace is None or not is_plain(kind):
        return None
    found = getattr(kind, name, None)
    note_class(thread.trace.outermost, kind, name)
    see = thread.trace.outermost.see
    return partial(see(found), x) if see is not None and isinstance(found, types.FunctionType) else None


def names_of(kind: type) -> Mapping[str, Any]:
    """The names of a class. Of one that can be changed its own dict: what it shows of that is new at each reading."""
    shown = kind.__dict__
    return gc.get_referents(shown)[0] if kind.__flags__ & _CHANGEABLE else shown


def telling(function: Callable[..., Any], note: Callable[[Any], None], holder: Any = None) -> Callable[..., Any]:
    """A function that is not the user's, which tells of what it is given before it looks at that. holder: of what it is
    a method."""

    def run(*args: Any, **options: Any) -> Any:
        for x in (holder, *args, *options.values()):
            note(x)
        return function(*args, **options)

    return run


def note_names(trace: Trace, names: dict[str, Any], code: types.CodeType) -> None:
    """Guards on the global names that code reads, and what is defined in it, as they are before it runs."""
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    for name in [i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")]:
        if name in names or not hasattr(builtins, name):
            trace.roots.setdefault((id(names), name), (names, name, names.get(name, MISSING)))
    for each in inner:
        note_names(trace, names, each)


def _is_ours(owner: Any) -> bool:
    """Whether the owner of a name is a module or class of Pliant, which stay what they are."""
    names = cast("dict[Any, Any]", owner) if type(owner) is dict else {}
    return str(names.get("__module__", names.get("__name__"))).startswith("pliant.")


def is_module(names: Any) -> bool:
    """Whether names are the global ones of a module."""
    return type(names) is dict and "__name__" in names


def guards_of(trace: Trace, own: Any) -> Guards:
    """The names a trace read, and the entries of the containers and objects they hold; but not those of the
    containers in `own`, which it made for itself."""
    private = {*_containers(own)}
    found = [
        e for e in _found(trace) if not (isinstance(e[0], Box | tuple) or id(_holder(e[0])) in private)
    ]  # the same for ever
    named = [e for e in found if type(e[0]) is dict]
    sizes = [(holder, size) for holder, size in trace.sizes.values() if id(holder) not in private]
    functions = [parts_of(fn) for _, fn in trace.instrumented.values() if not is_followed(fn)]
    return Guards(named, [e for e in found if type(e[0]) is not dict], sizes, functions)


def _holder(owner: Any) -> Any:
    """The object that an owner of a name is about."""
    return owner.content if is_of(owner, Slot) else owner


def parts_of(fn: Any) -> Parts:
    """What can be set of a function that stays the same object."""
    return fn, fn.__code__, fn.__defaults__, fn.__kwdefaults__


def _found(trace: Trace) -> list[tuple[Any, Any, Any]]:
    """The names that a trace read, and the entries of the containers and objects that they hold; but not of those that
    it has made, which each call makes anew."""
    entries = [e for e in trace.roots.values() if not (_is_ours(e[0]) or _is_made(trace, e))]
    defaults = [part for _, fn in trace.instrumented.values() for part in (fn.__defaults__, fn.__kwdefaults__)]
    queue = [v for _, _, v in entries] + [part for part in defaults if part is not None]
    found, seen_ids = list(entries), {id(v) for v in queue}
    while queue and len(found) < REACH:
        holder = queue.pop(0)
        for owner, name, value in () if id(holder) in trace.own else entries_of(holder):
            if _is_made(trace, (owner, name, value)):
                continue
            found.append((owner, name, value))
            if id(value) not in seen_ids:
                seen_ids.add(id(value))
                queue.append(value)
    return found


def _is_made(trace: Trace, entry: tuple[Any, Any, Any]) -> bool:
    """Whether an entry is one of what the trace has made: what is outside holds nothing traced."""
    owner, name, value = entry
    return id(_holder(owner)) in trace.own or _is_traced(name) or _is_traced(value)


def _is_traced(x: Any) -> bool:
    """Whether it is a traced array, or a tuple in which there is one."""
    return type(x) is TracedArray or (type(x) is tuple and any(map(_is_traced, cast("tuple[Any, ...]", x))))


def _containers(tree: Any) -> Iterator[int]:
    """Which objects nested containers are, by id."""
    if is_of(tree, dict | list | tuple):
        yield id(tree)
        for part in tree.values() if is_of(tree, dict) else tree:
            yield from _containers(part)
    elif is_record(cast("Any", type(tree))):
        yield from (id(tree), id(getattr(tree, "__dict__", tree)))
        for part in attributes(tree).values():
            yield from _containers(part)


def entries_of(holder: Any) -> list[tuple[Any, Any, Any]]:
    """(owner, key, value) of a mutable container's items or an object's attributes; True for what a set has."""
    if is_of(holder, set):
        return [(holder, k, True) for k in holder]
    if is_of(holder, dict):
        return [(holder, k, v) for k, v in holder.items()]
    if is_of(holder, list | tuple | deque):
        return [(holder, i, v) for i, v in enumerate(holder)]
    plain = (
        types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType, staticmethod, classmethod, np.ndarray,
        np.generic,
    )  # fmt: skip
    if isinstance(holder, plain) or type(holder).__module__.partition(".")[0] in (*LIBRARIES, "llvmlite"):
        return []  # a compiled function traced inside another one has put down itself what it reads
    held: Any = getattr(holder, "__dict__", None)
    return [(held, k, v) for k, v in held.items()] if is_of(held, dict) else []


def _look(owner: Any, name: Any) -> Any:
    """What an owner holds under a name now."""
    if isinstance(owner, types.CellType):
        try:
            return owner.cell_contents
        except ValueError:
            return MISSING
    if isinstance(owner, Box):
        return owner.content
    if isinstance(owner, Slot):
        return getattr(owner.content, name, MISSING)
    if isinstance(owner, set):
        return name in owner
    try:
        return owner[name]
    except (KeyError, IndexError):
        return MISSING
