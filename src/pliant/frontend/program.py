"""A user's function as a program: parameters, results, what it writes, what its results view."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast, final

import numpy as np

from pliant.core.build import free_values, is_closed
from pliant.core.ir import Function, Value, param
from pliant.core.origin import Origin, ParameterOrigin, at
from pliant.core.types import DTYPES
from pliant.errors import NumberRangeError, PliantError, ReadOnlyError, TracedValueError, UnsupportedError
from pliant.frontend import kinds
from pliant.frontend.alias import Group, Shared, groups_of, is_injective
from pliant.frontend.array import TracedArray, view
from pliant.frontend.control.deques import as_deques
from pliant.frontend.control.outside import nothing_left, take_back
from pliant.frontend.control.perhaps import returned
from pliant.frontend.control.report import Report, reports_of
from pliant.frontend.control.unbound import as_of_one_function
from pliant.frontend.decided import Decided, Deciding, asking, decided_by
from pliant.frontend.failures import exception, failed_in, is_marked
from pliant.frontend.growing import Before, Ends, Growing, check_unseen
from pliant.frontend.guards import Guards, guards_of, reached
from pliant.frontend.instrumented import callee
from pliant.frontend.memory import Memories, Memory, memories_of
from pliant.frontend.needs import leaves_needed, may_be_known
from pliant.frontend.out import checked, stored
from pliant.frontend.outputs import After, Changed, Output, Pack, after_of, made_of, outputs_of
from pliant.frontend.printing import PRINTED
from pliant.frontend.sharing import as_one, containers
from pliant.frontend.signature import ROW_MAJOR, WEAK, Layouts, Order, check_number, flatten, leaf_type, unflatten
from pliant.frontend.tracing import ROOM, Lengths, Needs, Storage, Trace, strides_of, tracing
from pliant.frontend.view import Lens, PermuteLens, look
from pliant.frontend.whose import receivers
from pliant.ops.shape import Permute
from pliant.rewrite.explain import Log


@final
@dataclass(frozen=True)
class Program:
    """What `trace_program` returns: the IR, and how arguments and results map to it."""

    fn: Function
    leaves: tuple[int, ...]  # the argument leaves that are parameters, in order
    groups: tuple[Group, ...]  # parameters for arguments and captured arrays that overlap
    captured: tuple[Any, ...]  # the arrays of the remaining parameters
    outputs: tuple[Output, ...]
    structure: Any
    written: tuple[tuple[Any, int], ...]  # (leaf number, captured array or group; result number)
    met: tuple[Any, ...]  # arrays read from outside: numbered after the leaves, they are the places of groups
    watched: tuple[int, ...]  # places that are written, if only locally
    changed: Changed | None  # what became of the containers that were given, if they changed
    narrowed: tuple[tuple[int, str], ...]  # leaves that are Python ints used as a narrower dtype
    guards: Guards = field(repr=False)
    loops: tuple[Report, ...] = field(default=(), repr=False)  # what became of the loops of the source
    found: tuple[Log, ...] = field(default=(), repr=False)  # what `optimize` found for functions that it calls
    packs: tuple[Pack, ...] = ()  # vectors that results are put together to
    failed: int | None = None  # the result that is the number of the exception that the function raises, or 0
    failures: tuple[tuple[BaseException, Any], ...] = field(default=(), repr=False)  # these, and where
    known: tuple[int, ...] = ()  # leaves that are integers for whose values the program is made
    values: tuple[Any, ...] = ()  # these
    asked: Origin | None = field(default=None, repr=False)  # where the first of them had to be known
    decided: Decided | None = field(default=None, repr=False)  # numbers, computed from data, that it is made for
    layouts: Layouts = ROW_MAJOR
    outside: Memories = ()  # of captured arrays whose parameter is their memory
    forms: tuple[Any, ...] = ()  # of captured arrays

    def arguments(self, leaves: Sequence[Any]) -> list[Any]:
        """Arrays for the program's parameters."""
        given = [memory.of(leaves[i]) if (memory := self.memory(i)) else self.array(leaves[i]) for i in self.leaves]
        arrays = [*leaves, *self.met] if self.groups else ()
        captured = [m.of(a) if (m := self.captured_memory(n)) else a for n, a in enumerate(self.captured)]
        return [*given, *(g.flat(arrays) for g in self.groups), *captured]

    def memory(self, leaf: int) -> Memory | None:
        """How a leaf lies in its parameter, if that is its memory."""
        return self.layouts.memories[leaf] if self.layouts.memories else None

    @property
    def prints(self) -> bool:
        """Whether it prints."""
        return any([a is PRINTED for a in self.captured])

    def captured_memory(self, number: int) -> Memory | None:
        """How a captured array lies in its parameter, if that is its memory."""
        return self.outside[number] if self.outside else None

    def order(self, leaf: int) -> Order:
        """The order of the axes of a leaf, if the function gets them in another one."""
        return self.layouts.orders[leaf] if self.layouts.orders else None

    def array(self, leaf: Any) -> Any:
        """An argument as an array."""
        name = WEAK.get(cast("Any", type(leaf)))
        if name is None:
            return np.asarray(leaf)
        check_number(leaf, self.fn.name)
        return np.asarray(leaf, DTYPES[name])

    def fits(self, leaves: Sequence[Any]) -> bool:
        """Whether names outside are bound as they were, arrays lie and overlap as they did, and numbers that data
        decide are the same."""
        if not self.guards.hold() or forms_of(self.captured) != self.forms:
            return False
        if self.watched and groups_of([*leaves, *self.met], self.watched) != self.groups:
            return False
        return self.decided is None or self.decided.holds(self.arguments(leaves))

    def is_for(self, leaves: Sequence[Any]) -> bool:
        """Whether the arguments that are known are these."""
        return all([leaves[i] == x for i, x in zip(self.known, self.values, strict=True)])

    def check_writes(self, leaves: Sequence[Any]) -> None:
        """Refuse, before anything runs, what could not be written, or computed, as NumPy would."""
        self.check_numbers(leaves)
        for place, _ in self.written:
            if isinstance(place, Group):
                continue  # which of its arrays may be written is part of the pattern, and known while tracing
            target = leaves[place] if isinstance(place, int) else place
            if not target.flags.writeable:
                raise ReadOnlyError(f"{self.fn.name}: assignment destination is read-only")
            if not is_injective(target):
                raise UnsupportedError(
                    f"{self.fn.name} writes to an array that has several elements in one place of memory",
                    hint="pass a copy",
                )

    def check_numbers(self, leaves: Sequence[Any]) -> None:
        """Refuse Python integers that do not fit into the dtypes that they are used as."""
        for i, dtype in self.narrowed:
            limits = np.iinfo(DTYPES[dtype])
            if not limits.min <= leaves[i] <= limits.max:
                raise NumberRangeError(
                    f"{self.fn.name}: Python integer {leaves[i]} is out of bounds for {DTYPES[dtype]}",
                    hint="convert the array to a wider dtype with .astype(...), or pass the number as one of NumPy's",
                )

    def check_out(self, out: Any) -> list[Any]:
        """The arrays of `out=`, one per returned leaf, if the results fit into them."""
        return checked(out, [o.type for o in self.outputs], self.structure)

    @functools.cached_property
    def pinned(self) -> tuple[tuple[int, int], ...]:
        """(parameter, result) of what is written: its new content is made where the old one lies; elsewhere if the
        function may raise, and write nothing."""
        if self.failed is not None:
            return ()
        found: list[tuple[int, int]] = []
        for place, number in self.written:
            if isinstance(place, int):
                found += [] if self.memory(place) else [(self.leaves.index(place), number)]
            elif isinstance(place, Group):
                if place.is_whole:
                    found.append((len(self.leaves) + self.groups.index(place), number))
            else:
                first = len(self.leaves) + len(self.groups)
                found += [
                    (first + n, number)
                    for n, array in enumerate(self.captured)
                    if array is place and not self.captured_memory(n)
                ]
        return tuple(found)

    def held(self, tree: Any, given: Sequence[Any]) -> list[Any]:
        """The containers among the arguments, if the function changes some or returns some."""
        if self.changed is None and not any([o.kind == "container" for o in self.outputs]):
            return []
        return containers(tree, frozenset([id(x.whole) for x in given if type(x) is Growing]))

    def check(self, results: Sequence[Any]) -> None:
        """Raise what the function raises."""
        if self.failed is not None and (number := int(results[self.failed])):
            raise exception(*self.failures[number - 1])

    def finish(
        self, arrays: Sequence[Any], leaves: Sequence[Any], results: Sequence[Any], arguments: Sequence[Any],
        outs: Sequence[Any] | None = None,
    ) -> Sequence[Any]:  # fmt: skip
        """Write back what the function wrote, unless it did so in the arguments themselves, and make the leaves of what
        it returns; the arrays of `out=` get it too."""
        made = made_of(self.outputs, leaves, self.met, results)  # which may fail: then nothing is written
        if self.layouts.orders:
            made = [arrays[o.place] if self.is_turned_back(o) else m for o, m in zip(self.outputs, made, strict=True)]
        there = {number for p, number in self.pinned if results[number] is arguments[p]}
        for place, number in self.written:
            if number in there:
                continue
            if isinstance(place, Group):
                place.write_back([*leaves, *self.met], results[number])
            else:
                np.copyto(leaves[place] if isinstance(place, int) else place, results[number])
        if outs is not None:
            stored(made, outs, [o.is_view for o in self.outputs])
            made = outs
        return made

    def rebuilt(self, made: Sequence[Any], held: Sequence[Any], kept: Sequence[Any]) -> Any:
        """What the function returns, of its leaves, the containers that it was given, and those that these hold now."""
        lists = {"container": held, "kept": kept}
        made = [lists[o.kind][o.place] if o.kind in lists else m for o, m in zip(self.outputs, made, strict=True)]
        return unflatten(self.structure, made)

    def is_turned_back(self, output: Output) -> bool:
        """Whether what is returned is an argument whose axes are in another order than those of the leaf."""
        is_leaf = output.kind == "source" and type(output.place) is int and output.place < len(self.layouts.orders)
        return is_leaf and bool(output.lenses) and output.lenses == back(self.order(output.place))

    def update(
        self, held: Sequence[Any], given: Sequence[Any], leaves: Sequence[Any], results: Sequence[Any],
        returned: Sequence[Any],
    ) -> list[Any]:  # fmt: skip
        """Do to the caller's containers, `held`, what the function did to them, and return those that are there now.
        given: the leaves as they came, of which those that are there still are what they were. returned: those that
        the function returns."""
        if self.changed is None:
            return []
        outputs = self.changed.outputs
        made = made_of(outputs, leaves, self.met, results, returned)
        made = [given[o.place] if o.kind == "leaf" else m for o, m in zip(outputs, made, strict=True)]
        return self.changed.put(held, made, given)


def trace_program(
    f: Callable[..., Any], leaves: Sequence[Any], structure: Any, names: Sequence[str], known: Sequence[int] = (),
    layouts: Layouts = ROW_MAJOR, room: int = ROOM, *, decides: bool = False,
) -> Program:  # fmt: skip
    """Trace `f(*args, **kwargs)` for arguments like `leaves`. What is written is known only then:
    if it overlaps other arrays, the function is traced again with those as one storage.
    known: leaves that are integers, for whose values the program is made; others are found to be.
    layouts: of leaves that are not row-major. room: how many elements a list may have that nothing bounds.
    decides: whether the program may be for some data alone: callers see whether it `fits` others."""
    groups: tuple[Group, ...] = ()
    met: tuple[Any, ...] = ()
    needs = Needs(frozenset(known), decides=decides)
    program = _trace(f, leaves, structure, names, groups, met, needs, layouts, room)
    watched = program.watched
    for _ in range(RETRACES):
        # Of arrays known to be one, a write of one to the other is none: it is watched still.
        watched = tuple(sorted({*program.watched, *[n for n in watched if n < len(leaves)]}))
        needed = groups_of([*leaves, *program.met], watched)
        if needed == groups:
            return replace(program, watched=watched)
        groups, met = needed, program.met
        needs = Needs(frozenset(program.known), decides=decides)
        program = _trace(f, leaves, structure, names, groups, met, needs, layouts, room)
    raise UnsupportedError(f"{program.fn.name}: what overlaps the arrays it writes changes from trace to trace")


ENDED: Final = "__pliant_ended__"
"""What an exception has that ends a trace: its needs."""
RETRACES: Final = 8  # each adds an array to a group


def _trace(
    f: Callable[..., Any], leaves: Sequence[Any], structure: Any, names: Sequence[str],
    groups: tuple[Group, ...], met: tuple[Any, ...], needs: Needs, layouts: Layouts, room: int,
) -> Program:  # fmt: skip
    """Trace `f`: if that fails for want of numbers that are computed from integers among the arguments alone, with
    these known; else, of numbers that data decide, for what these are. An error of what was only guessed to need them
    is the first one."""
    first: Exception | None = None
    place: Origin | None = None
    while True:
        try:
            program = _trace_lengths(f, leaves, structure, names, groups, met, Lengths(room=room), needs, layouts)
            numbers = tuple(sorted(needs.known))
            return replace(program, known=numbers, values=tuple([leaves[i] for i in numbers]), asked=place)
        except Exception as error:
            is_users = is_marked(error)
            more, is_sure = (frozenset[int](), True) if is_users else leaves_needed(error, needs)
            decided = {} if is_users or (more and is_sure) else decided_by(error, needs)
            if not more and not decided:
                last = error if first is None or is_users else first
                last.__dict__[ENDED] = needs
                if first is None or is_users:  # a `raise` of the user
                    raise
                raise first from None
            first = first or (None if is_sure or decided else error)
            place = place or next((origin for _, origin in getattr(error, "places", ())), None)
            take_back(needs.left)
            needs = needs.deciding_too(decided) if decided else needs.knowing_too(more)


def _trace_lengths(
    f: Callable[..., Any], leaves: Sequence[Any], structure: Any, names: Sequence[str],
    groups: tuple[Group, ...], met: tuple[Any, ...], lengths: Lengths, needs: Needs, layouts: Layouts,
) -> Program:  # fmt: skip
    """Trace `f`: if that fails where conditions extend lists, with loops unrolled whose conditions are known then."""
    try:
        return _trace_once(f, leaves, structure, names, groups, met, lengths, needs, layouts)
    except PliantError as error:
        if not lengths.are_unknown:
            raise
        take_back(needs.left)
        try:
            return _trace_once(f, leaves, structure, names, groups, met, Lengths(are_needed=True), needs, layouts)
        except PliantError:
            raise error from None


def _trace_once(
    f: Callable[..., Any], leaves: Sequence[Any], structure: Any, names: Sequence[str],
    groups: tuple[Group, ...], met: tuple[Any, ...], lengths: Lengths, needs: Needs, layouts: Layouts,
) -> Program:  # fmt: skip
    """Trace `f`; `groups` are of the leaves and then of `met`, the arrays that it reads from outside."""
    with tracing() as trace:
        trace.lengths, trace.needs, needs.left, trace.lies = lengths, needs, trace.left, layouts.lies
        needs.lines = trace.lines
        shared = _enter_groups(trace, groups, leaves, met, names)
        given, entered_at = _enter(trace, f, leaves, names, shared, layouts)
        needs.deciding = Deciding(trace, lambda: _arrays(entered_at, shared, leaves, met, layouts))
        trace.ends = ends = Ends(given, leaves)
        args, kwargs = whole = as_one(unflatten(structure, given), layouts.firsts, ends.closed)
        given = flatten(whole, ends.closed)[0] if layouts.firsts else given
        held = Before(containers(whole, ends.closed), ends)
        objects = [x for x in given if id(x) not in ends.closed]
        deciding = needs.deciding if needs.wanted else None
        with nothing_left(trace, [*objects, *receivers(f)]), as_of_one_function(), asking(deciding):
            made = as_deques(returned(callee(f, trace)(*args, **kwargs)))
        after = after_of(whole, structure, given, held)
        known = _known_containers(made, held, after, trace)
        made, made_structure = flatten(made, frozenset(known))
        check_unseen([*made, *after.new])
        outputs = outputs_of(made, after.new, known)
        results = outputs.results
        changed = after.changed(outputs.left)
        written = _written(given, trace, results)
        number = failed_in(trace)
        failed = None if number is None else len(results)
        results += [] if number is None else [number]
        sources = list(trace.captured.values())
    entered = tuple(s.entered for s in sources if s.entered is not None)
    flat = tuple(dict.fromkeys(s.entered for s, _ in shared.values() if s.entered is not None))
    fn = Function(getattr(f, "__name__", "fn"), (*entered_at.values(), *flat, *entered), tuple(results))
    check_escaped(fn, trace)
    captured = tuple(s.source for s in sources)
    watched = _watched(given, trace)
    return Program(
        fn, tuple(entered_at), groups, captured, outputs.returned, made_structure, written, tuple(trace.met.values()),
        watched, changed, tuple(sorted(trace.narrowed)), guards_of(trace, [(args, kwargs), *trace.passed]),
        loops=reports_of(trace), found=tuple(trace.found), packs=outputs.packs, failed=failed,
        failures=tuple(trace.failures), layouts=layouts, outside=memories_of(captured) if layouts.lies else (),
        forms=forms_of(captured), decided=needs.deciding.made(fn),
    )  # fmt: skip


def forms_of(arrays: Sequence[Any]) -> tuple[Any, ...]:
    """What can be set of arrays that stay the same objects."""
    return tuple([(a.dtype, a.shape, a.strides) for a in arrays])


def _known_containers(made: Any, before: Before, after: After, trace: Trace) -> dict[int, Output]:
    """What a function returns of the containers that it was given, that are in them after it, or that are outside, by
    the ids of these."""
    known = {id(x): Output("kept", n) for n, x in enumerate(after.containers)}
    known |= {n: Output("container", place) for n, place in (trace.taken | before.numbers).items()}
    others = {*map(id, containers(made))} - known.keys() - trace.own.keys()
    outside = reached(trace, trace.given) if others else ()
    return known | {id(x): Output("static", x) for x in outside if id(x) in others}


def _enter(
    trace: Trace, f: Callable[..., Any], leaves: Sequence[Any], names: Sequence[str],
    shared: dict[int, tuple[Storage, tuple[Lens, ...]]], layouts: Layouts,
) -> tuple[list[Any], dict[int, Value]]:  # fmt: skip
    """What the function gets for each leaf, and the parameters, by the leaf's number."""
    given: list[Any] = []
    params: dict[int, Value] = {}
    for i, (leaf, name) in enumerate(zip(leaves, names, strict=True)):
        type_ = None if i in trace.needs.known else leaf_type(leaf, name)
        turn = back(layouts.orders[i]) if layouts.orders else ()
        if type_ is None or i in shared:
            given.append(_known(leaf, turn) if type_ is None else _turned(TracedArray(*shared[i]), turn))
            continue
        memory = layouts.memories[i] if layouts.memories else None
        with at(ParameterOrigin.of(name, f)):
            value = params[i] = param(memory.type if memory else type_, name if name.isidentifier() else f"x{i}")
            content = memory.shown(value) if memory else value
        is_array = kinds.is_array(leaf)
        is_writeable = not is_array or leaf.flags.writeable
        storage = Storage(trace, content, index=i, writeable=is_writeable, strides=strides_of(leaf))
        storage.is_callers_wish = not is_writeable
        given.append(TracedArray(storage, turn, is_scalar=not is_array, is_weak=type(cast("Any", leaf)) in WEAK))
        if may_be_known(leaf):
            trace.needs.leaves[value] = i
    return given, params


def _arrays(
    entered: dict[int, Value], shared: dict[int, tuple[Storage, tuple[Lens, ...]]], leaves: Sequence[Any],
    met: tuple[Any, ...], layouts: Layouts,
) -> dict[Value, Any]:  # fmt: skip
    """What the parameters for arguments, and for groups, hold."""
    memories = layouts.memories or (None,) * len(leaves)
    found = {
        value: memory.of(leaves[i]) if (memory := memories[i]) else np.asarray(leaves[i], DTYPES[value.dtype])
        for i, value in entered.items()
    }
    sources = {s.entered: s.source.group for s, _ in shared.values() if s.entered is not None}
    return found | {value: group.flat([*leaves, *met]) for value, group in sources.items()}


def _known(leaf: Any, turn: tuple[Lens, ...]) -> Any:
    """What a function gets for a leaf whose value is known."""
    return leaf.stand_in if type(leaf) is Growing else look(leaf, turn)


def _turned(x: TracedArray, lenses: tuple[Lens, ...]) -> TracedArray:
    return view(x, *lenses) if lenses else x


def back(order: Order) -> tuple[Lens, ...]:
    """What shows an array whose axes are in some order as it was before."""
    return () if order is None else (PermuteLens(Permute(order).inverse()),)


def check_escaped(fn: Function, trace: Trace) -> None:
    """TracedValueError if the program reads what another call's trace made."""
    if is_closed(fn.results, trace.scope):
        return
    for value in free_values(fn, trace.scope.number):
        raise TracedValueError(
            f"a traced array {value.type} of another call is used here: it was kept when that call ended",
            hint="return arrays rather than storing them in objects, lists or global names",
        ).at(("made here", value.origin))


def _enter_groups(
    trace: Trace, groups: tuple[Group, ...], leaves: Sequence[Any], met: tuple[Any, ...], names: Sequence[str]
) -> dict[int, tuple[Storage, tuple[Lens, ...]]]:
    """One storage for each group; by place, what its arrays look at."""
    made: dict[int, tuple[Storage, tuple[Lens, ...]]] = {}
    for number, group in enumerate(groups):
        given = tuple(names[m.place] for m in group.members if m.place < len(leaves))
        with at(ParameterOrigin(given[:1] or ("captured",), None)):
            value = param(group.type, f"shared{number}")
        lenses = group.lenses()
        storage = Storage(trace, value, source=Shared(group, tuple(lenses)), entered=value)
        for member, lens in zip(group.members, lenses, strict=True):
            made[member.place] = storage, lens
            if member.place >= len(leaves):
                trace.shared[id(met[member.place - len(leaves)])] = storage, lens
    return made


def _watched(given: Sequence[Any], trace: Trace) -> tuple[int, ...]:
    """Places of the arguments and of the arrays met outside that were written, if only for a while."""
    by_place: dict[int, Storage] = {i: g.storage for i, g in enumerate(given) if type(g) is TracedArray}
    for j, array in enumerate(trace.met.values()):
        by_place[len(given) + j] = trace.enter(array)[0]
    return tuple(i for i, storage in by_place.items() if storage.is_touched)


def _written(given: Sequence[Any], trace: Trace, results: list[Value]) -> tuple[tuple[Any, int], ...]:
    """(place, result number) of every argument and captured array that was written; adds results."""
    storages = [g.storage for g in given if type(g) is TracedArray] + list(trace.captured.values())
    storages += [storage for storage, _ in trace.shared.values()]
    written: list[tuple[Any, int]] = []
    for storage in {id(s): s for s in storages}.values():
        if storage.is_written:
            source = storage.source.group if isinstance(storage.source, Shared) else storage.source
            written.append((storage.index if storage.index is not None else source, len(results)))
            results.append(storage.value)
    return tuple(written)
