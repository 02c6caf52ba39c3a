"""Run a part of the user's function on trial: in a trace of its own, with all that it did taken back."""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import field
from types import CellType
from typing import Any, Final, TypeVar, final

from pliant.core.build import abstract, free_values
from pliant.core.data import frozen, mutable
from pliant.core.ir import Function, Value, Values
from pliant.core.origin import Origin, here
from pliant.core.scope import scope
from pliant.frontend.attributes import attributes, drop_attribute, put_attribute
from pliant.frontend.failures import numbers_of_failures
from pliant.frontend.guards import size_of
from pliant.frontend.kinds import is_table
from pliant.frontend.missing import MISSING
from pliant.frontend.tracing import Storage, Trace, back_in, thread, tracing
from pliant.frontend.twins import changed

T = TypeVar("T")

CHANGED: Final = "__pliant_changed__"
"""What an exception has that was raised after something was changed, which was taken back: text, as it is pickled."""


@final
@frozen
class Place:
    """Something that the user's function can change: a local name, an item, an attribute, or all items
    of a container. Two are equal if they are the same place."""

    kind: str  # "name", "item", "attribute", "whole", "rows": the items of the lists in a list
    holder: Any = field(hash=False, compare=False)
    key: Any  # the name of a cell; the key or name of an item or attribute
    number: int = 0  # the holder's id

    def get(self) -> Any:
        """What is there; MISSING if nothing is."""
        if self.kind == "name":
            try:
                return self.holder.cell_contents
            except ValueError:
                return MISSING
        if self.kind == "whole":
            return self.holder.copy() if hasattr(self.holder, "copy") else self.holder  # a tuple cannot be changed
        if self.kind == "rows":
            return [row.copy() for row in self.holder]
        if self.kind == "attribute":
            return attributes(self.holder).get(self.key, MISSING)
        try:
            return self.holder[self.key]
        except (KeyError, IndexError):
            return MISSING

    def set(self, content: Any) -> None:
        """Put something there, or take it away."""
        if self.kind == "name":
            if content is not MISSING:
                self.holder.cell_contents = content
            elif self.get() is not MISSING:
                del self.holder.cell_contents
        elif self.kind == "rows":
            for row, elements in zip(self.holder, content, strict=False):  # later ones are new, and are as they were
                row[:] = elements
        elif self.kind == "whole":
            if self.holder is not content:  # as a tuple is
                self.holder.clear()
                getattr(self.holder, "extend" if isinstance(self.holder, list | deque) else "update")(content)
        elif content is MISSING:
            (drop_attribute if self.kind == "attribute" else _drop_item)(self.holder, self.key)
        elif self.kind == "attribute":
            put_attribute(self.holder, self.key, content)
        else:
            self.holder[self.key] = content

    @property
    def is_whole(self) -> bool:
        """Whether it is all of a container."""
        return self.kind in ("whole", "rows")

    @property
    def rows(self) -> list[int]:
        """The ids of the lists of which it is all items."""
        return [id(row) for row in self.holder] if self.kind == "rows" else []

    @property
    def text(self) -> str:
        """The place as the user wrote it."""
        if self.kind == "item":
            return f"the item [{self.key!r}]"
        return {"name": str(self.key), "attribute": f".{self.key}"}.get(self.kind, f"the {type(self.holder).__name__}")


def _drop_item(holder: Any, key: Any) -> None:
    if not isinstance(holder, list):  # a list's length is what it was before as a whole
        holder.pop(key, None)


def place_of(kind: str, holder: Any, key: Any = None) -> Place:
    """A place, for comparison by the holder's identity."""
    return Place(kind, holder, key, id(holder))


def distinct(places: Iterable[Place]) -> list[Place]:
    """The places, each once, without the items of containers that are among them as a whole, and without lists whose
    items are among them as rows."""
    found = dict.fromkeys(places)
    rows = {number for p in found for number in p.rows}
    whole = rows | {p.number for p in found if p.is_whole}
    return [p for p in found if p.number not in (whole if p.kind == "item" else rows if p.kind == "whole" else ())]


def cells_of(names: Iterable[str], *blocks: Callable[..., Any] | None) -> list[Place]:
    """The places of local names that some blocks share."""
    found: dict[str, CellType] = {}
    for block in blocks:
        if block is not None:
            found.update(zip(block.__code__.co_freevars, block.__closure__ or (), strict=True))
    return [place_of("name", found[name], name) for name in names if name in found]


@final
class _Regions(threading.local):
    """The regions that this thread is in, outermost first."""

    def __init__(self) -> None:
        self.stack: list[Region] = []


_regions = _Regions()


@final
@mutable(eq=False)
class Region:
    """A part of a function, run on trial."""

    trace: Trace
    is_loop: bool
    effects: dict[Place, Any] = field(default_factory=dict[Place, Any])  # what was there before
    born: dict[int, Any] = field(default_factory=dict[int, Any])  # containers made in here, by id
    missed: set[str] = field(default_factory=set[str])  # names that were read where they may have no value
    origins: dict[Place, Origin] = field(default_factory=dict[Place, Origin])  # of what was changed first
    settled: dict[Place, Any] = field(default_factory=dict[Place, Any])  # what names held that hold what that is here
    orders: list[Any] = field(default_factory=list[Any])  # of dicts, as conditions in here decide them: see `perhaps`

    @contextmanager
    def inside(self) -> Generator[None]:
        """Add values to the region after it was left."""
        before = thread.trace
        with scope(self.trace.scope):
            thread.update(self.trace, thread.is_jit_disabled)
            try:
                yield
            finally:
                thread.update(before, thread.is_jit_disabled)

    def tell_apart(self) -> None:
        """Of dicts that have the keys of before, in their order, have items changed, and not all of them: what was
        taken out was put back."""
        for whole, before in [*self.effects.items()]:
            if whole.kind != "whole" or not is_table(before) or [*before] != [*whole.holder]:
                continue
            earlier = {*itertools.takewhile(lambda place, whole=whole: place != whole, self.effects)}
            items = {place_of("item", whole.holder, key): content for key, content in before.items()}
            items = {p: x for p, x in items.items() if p not in earlier and p.get() is not x}
            later = [p for p in self.effects if p.number == whole.number and p.kind in ("whole", "item")]
            for place in [p for p in later if p not in earlier]:
                del self.effects[place]
            self.effects |= items
            self.origins |= dict.fromkeys(items, self.origins[whole])

    def owns(self, storage: Any) -> bool:
        """Whether an allocation was made in here."""
        return storage.trace is self.trace

    @property
    def written(self) -> dict[Storage, Value]:
        """The allocations made outside that were written, with what they hold now."""
        storages = {id(s): s for s, *_ in self.trace.journal if s.trace is not self.trace}
        return {s: s.value for s in storages.values()}

    def function(self, name: str, params: Values, results: Sequence[Value], free: Values) -> Function:
        """Results as a function of parameters and of values from outside."""
        return abstract(tuple(results), (*params, *free), name)

    def free(self, results: Sequence[Value]) -> Values:
        """What the results read from outside."""
        return free_values(Function("region", (), tuple(results)), self.trace.scope.number)


@contextmanager
def region(*, is_loop: bool = False) -> Generator[Region]:
    """A trial: at its end names, items, attributes and allocations are as they were."""
    with tracing() as trace:
        trace.is_region = True
        made = Region(trace, is_loop)
        orders = trace.outermost.orders
        known = dict(orders)
        _regions.stack.append(made)
        try:
            yield made
        finally:
            _regions.stack.pop()
            for place, content in reversed(made.effects.items()):
                place.set(content)
            made.orders = [order for n, order in orders.items() if order is not known.get(n)]
            orders.clear()
            orders.update(known)


def _note_before(place: Place) -> None:
    """Remember what is at a place in all functions that this is in and whose changes are taken back."""
    trace = thread.trace
    while trace is not None:
        if place.number in trace.twins:
            raise changed(place.holder)
        if trace.before is not None and place not in trace.before:
            trace.before[place] = place.get(), here()
        trace = trace.parent


def note(place: Place) -> None:
    """Remember what is at a place, which is about to change."""
    _note_before(place)
    if _regions.stack:
        region = _regions.stack[-1]
        if place not in region.effects and place.number not in region.born:
            region.effects[place], region.origins[place] = place.get(), here()
    else:
        _remember(place)


def note_one_by_one(lists: list[Any]) -> None:
    """Lists of a list that were to be one array change each by itself from here on."""
    region, rows = _regions.stack[-1] if _regions.stack else None, place_of("rows", lists)
    if region is not None and rows in region.effects:
        for row, elements in zip(lists, region.effects.pop(rows), strict=True):
            place = place_of("whole", row)
            region.effects.setdefault(place, elements)
            region.origins.setdefault(place, region.origins[rows])


def note_name(place: Place) -> None:
    """Remember what a name of a function around the one that is run is bound to: in all regions that this one was not
    called in, as the blocks of the statement at hand do not say that they bind it."""
    _note_before(place)
    content = place.get()
    for region in reversed(_regions.stack):
        if place.number in region.born:
            return
        content = region.settled.get(place, content)
        if place not in region.effects:
            region.effects[place] = content
    _remember(place)


@contextmanager
def bound_here(names: dict[Place, tuple[Any, Any]]) -> Generator[None]:
    """Names bound to what they are known to hold in a block. names: what each is bound to before, and in the block;
    what the block binds anew stays so."""
    held = _regions.stack[-1].settled if _regions.stack else dict[Place, Any]()
    held |= {place: before for place, (before, _) in names.items()}
    for place, (_, content) in names.items():
        place.set(content)
    try:
        yield
    finally:
        for place, (before, content) in names.items():
            held.pop(place, None)
            if place.get() is content:
                place.set(before)


def note_missed(name: str) -> None:
    """Note that a name is read where it may have no value."""
    for region in _regions.stack:
        region.missed.add(name)


def _remember(place: Place) -> None:
    """Remember, for the whole trace, what was at a place before the function changed it."""
    trace = thread.trace.outermost if thread.trace is not None else None
    if trace is not None and place not in trace.left and place.number not in trace.own:
        trace.left[place] = place.get(), here()
        if place.kind == "whole":
            trace.sizes_before.setdefault(place.number, size_of(place.holder))


def born(container: T) -> T:
    """A new list or dict: it needs no guards, and what a trial does to its own ones need not be taken back."""
    if thread.trace is not None:
        thread.trace.outermost.own[id(container)] = container
    if _regions.stack:
        _regions.stack[-1].born[id(container)] = container
    return container


@contextmanager
def where_made(container: Any) -> Generator[None]:
    """What is made inside belongs to where a container was made: steps of loops since then do not make it anew."""
    stack = _regions.stack
    count = next((n for n in range(len(stack), 0, -1) if id(container) in stack[n - 1].born), 0)
    inner = stack[count:]
    around = inner[0].trace.parent if inner else None
    if around is None:
        yield
        return
    del stack[count:]
    try:
        with back_in(around):
            yield
    finally:
        stack.extend(inner)


def regions_from(first: Region) -> list[Region]:
    """The regions that this thread is in, from one on."""
    return _regions.stack[_regions.stack.index(first) :]


def is_conditional(container: Any) -> bool:
    """Whether a condition decides if this part of the function is run, in which the container was not made."""
    for region in reversed(_regions.stack):
        if not region.is_loop or id(container) in region.born:
            return id(container) not in region.born
    return False


def in_loop() -> bool:
    """Whether the body of a loop is being traced once for all its steps."""
    return any([r.is_loop for r in _regions.stack])


def is_of_step(trace: Trace) -> bool:
    """Whether what a trace made is made anew in each step of the loop that this is in."""
    loops = [n for n, region in enumerate(_regions.stack) if region.is_loop]
    return not loops or any([region.trace is trace for region in _regions.stack[loops[-1] :]])


def on_trial() -> bool:
    """Whether what is done now may be taken back."""
    return bool(_regions.stack)


def depth() -> int:
    """How many loops this is inside of, whose bodies are traced once for all steps."""
    return sum([r.is_loop for r in _regions.stack])


@final
@mutable
class Outcome:
    """What a block did in a region."""

    region: Region
    result: Any
    contents: dict[Place, Any]
    written: dict[Storage, Value]

    @contextmanager
    def shown(self) -> Generator[None]:
        """With items, attributes and containers as the block left them, and what it left open of their orders."""
        changed = distinct([p for p in self.contents if p.kind != "name"])
        before = [(p, p.get()) for p in changed]
        orders = self.region.trace.outermost.orders
        known = dict(orders)
        orders.update({id(order[0]): order for order in self.region.orders})
        try:
            for place in changed:
                place.set(self.contents[place])
            yield
        finally:
            for place, content in reversed(before):
                place.set(content)
            orders.clear()
            orders.update(known)


def changes(block: Callable[[], Any]) -> bool:
    """Whether a block changes anything that was there before, of which it is run on trial."""
    with region() as made:
        block()
        return bool(made.effects or made.written)


def outcome(block: Callable[[], Any], cells: Sequence[Place], *, is_loop: bool = False) -> Outcome:
    """Run a block on trial, and take back what it did."""
    before = [cell.get() for cell in cells]
    try:
        with region(is_loop=is_loop) as made:
            try:
                done = block()
            except Exception as error:
                is_bound = any([cell.get() is not content for cell, content in zip(cells, before, strict=True)])
                if is_bound or made.effects or not made.written.keys() <= set(numbers_of_failures()):
                    setattr(error, CHANGED, True)
                raise
            made.tell_apart()
            places = [*cells, *made.effects]
            return Outcome(made, done, {place: place.get() for place in places}, made.written)
    finally:
        for cell, content in zip(cells, before, strict=True):
            cell.set(content)
