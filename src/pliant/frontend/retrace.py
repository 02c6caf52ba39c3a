"""A user's function traced to a program, anew with what a failed trace lacked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from pliant.core.build import free_values, is_closed
from pliant.core.ir import Function, Value
from pliant.core.origin import Origin
from pliant.errors import PliantError, TracedValueError, UnsupportedError
from pliant.frontend.alias import Group, Shared, groups_of
from pliant.frontend.array import TracedArray
from pliant.frontend.changed import After, after_of
from pliant.frontend.control.deques import as_deques
from pliant.frontend.control.oneof import check_ones
from pliant.frontend.control.outside import nothing_left, take_back, taken_back_of, unless_it_raises
from pliant.frontend.control.perhaps import check_orders, returned
from pliant.frontend.control.report import reports_of
from pliant.frontend.control.unbound import as_of_one_function
from pliant.frontend.decided import Deciding, asking, decided_by
from pliant.frontend.entering import arrays_of, entered_groups, entered_leaves
from pliant.frontend.failures import failed_in, is_marked, is_of_run_time
from pliant.frontend.growing import Before, Ends, check_unseen
from pliant.frontend.guards import guards_of
from pliant.frontend.instrumented import callee
from pliant.frontend.members import with_plain_members
from pliant.frontend.memory import memories_of
from pliant.frontend.needs import guessed, leaves_needed, values_of
from pliant.frontend.outputs import Output, outputs_of
from pliant.frontend.program import Program, forms_of
from pliant.frontend.reached import reached
from pliant.frontend.sharing import as_one, containers
from pliant.frontend.signature import ROW_MAJOR, Layouts, flatten, unflatten
from pliant.frontend.tracing import ROOM, Lengths, Needs, Storage, Trace, tracing

ENDED: Final = "__pliant_ended__"
"""What an exception has that ends a trace: its needs."""
RETRACES: Final = 8  # each adds an array to a group


def trace_program(
    f: Callable[..., Any], leaves: Sequence[Any], structure: Any, names: Sequence[str], needs: Needs | None = None,
    layouts: Layouts = ROW_MAJOR, room: int = ROOM,
) -> Program:  # fmt: skip
    """Trace `f(*args, **kwargs)` for arguments like `leaves`. What is written is known only then:
    if it overlaps other arrays, the function is traced again with those as one storage.
    needs: says for what the program may be made; more may be found. layouts: of leaves that are not row-major.
    room: how many elements a list may have that nothing bounds."""
    groups: tuple[Group, ...] = ()
    met: tuple[Any, ...] = ()
    needs = needs or Needs()
    watched: tuple[int, ...] = ()
    for _ in range(RETRACES):
        program, left = _trace(f, leaves, structure, names, groups, met, needs, layouts, room)
        with unless_it_raises(left):
            # Of arrays known to be one, a write of one to the other is none: it is watched still.
            watched = tuple(sorted({*program.watched, *[n for n in watched if n < len(leaves)]}))
            needed = groups_of([*leaves, *program.met], watched)
            if needed == groups:
                return replace(program, watched=watched)
        take_back(left)
        groups, met = needed, program.met
        known = frozenset(program.known)
        needs = Needs(known, decides=needs.decides, guesses=needs.guesses, guessed=program.guessed)
    raise UnsupportedError(
        f"{getattr(f, '__name__', 'fn')}: what overlaps the arrays it writes changes from trace to trace"
    )


def _trace(
    f: Callable[..., Any], leaves: Sequence[Any], structure: Any, names: Sequence[str],
    groups: tuple[Group, ...], met: tuple[Any, ...], needs: Needs, layouts: Layouts, room: int,
) -> tuple[Program, dict[Any, tuple[Any, Any]]]:  # fmt: skip
    """Trace `f`: if that fails for want of numbers that are computed from integers among the arguments alone, with
    these known; else, of numbers that data decide, for what these are. An error of what was only guessed to need them
    is the first one. Returns the program, and what the trace has changed outside."""
    first: Exception | None = None
    place: Origin | None = None
    while True:
        try:
            program = _trace_lengths(f, leaves, structure, names, groups, met, Lengths(room=room), needs, layouts)
            bounds = guessed(needs)
            if bounds:
                take_back(needs.left)
                needs = needs.guessing(bounds)
                continue
            numbers = tuple(sorted(needs.known))
            values = tuple([leaves[i] for i in numbers])
            made = replace(program, known=numbers, values=values, guessed=needs.guessed, asked=place)
            return made, needs.left
        except Exception as error:
            is_users = is_marked(error)
            more, is_sure = (frozenset[int](), True) if is_users else leaves_needed(error, needs)
            decided = {} if is_users or (more and is_sure) else decided_by(error, needs)
            if not more and not decided and needs.is_given_up:
                needs = needs.patient()
                continue
            if not more and not decided:
                last = error if first is None or is_users else first
                last.__dict__[ENDED] = needs
                if first is None or is_users:  # a `raise` of the user
                    raise
                raise first from None
            first = first or (None if is_sure or decided else error)
            place = place or next((origin for _, origin in getattr(error, "places", ())), None)
            needs = needs.deciding_too(decided) if decided else needs.knowing_too(more)


def _trace_lengths(
    f: Callable[..., Any], leaves: Sequence[Any], structure: Any, names: Sequence[str],
    groups: tuple[Group, ...], met: tuple[Any, ...], lengths: Lengths, needs: Needs, layouts: Layouts,
) -> Program:  # fmt: skip
    """Trace `f`: if that fails where conditions extend lists, with loops unrolled whose conditions are known then:
    those in which the lists are made for which it fails, or all. What a trace that fails did outside is taken back."""

    def once(lengths: Lengths) -> Program:
        needs.left = {}
        try:
            return _trace_once(f, leaves, structure, names, groups, met, lengths, needs, layouts)
        except BaseException:
            take_back(needs.left)
            raise

    try:
        return once(lengths)
    except PliantError as error:
        if not lengths.are_unknown:
            raise
        deciding = needs.deciding
        known = None if leaves_needed(error, needs)[1] else lengths.known_for(values_of(error))
        while known is not None:
            try:
                return once(known)
            except PliantError as again:
                known = known.known_for(values_of(again))
        try:
            return once(Lengths(are_needed=True))
        except PliantError as again:
            begun = needs.deciding.trace.scope.number
            if all([value.node.scope < begun for value in values_of(again)]):
                needs.deciding = deciding  # it is the first trace that wants to know numbers
            raise error from None


def _trace_once(
    f: Callable[..., Any], leaves: Sequence[Any], structure: Any, names: Sequence[str],
    groups: tuple[Group, ...], met: tuple[Any, ...], lengths: Lengths, needs: Needs, layouts: Layouts,
) -> Program:  # fmt: skip
    """Trace `f`; `groups` are of the leaves and then of `met`, the arrays that it reads from outside."""
    name = getattr(f, "__name__", "fn")
    with tracing() as trace:
        trace.lengths, trace.needs, needs.left, trace.lies = lengths, needs, trace.left, layouts.lies
        trace.arguments = leaves
        needs.lines = trace.lines
        shared = entered_groups(trace, groups, leaves, met, names)
        given, entered_at = entered_leaves(trace, f, leaves, names, shared, layouts)
        needs.deciding = Deciding(trace, lambda: arrays_of(entered_at, shared, leaves, met, layouts, name))
        trace.ends = ends = Ends(given, leaves)
        trace.passed.append(whole := as_one(unflatten(structure, given), layouts.firsts, ends.closed))
        given = flatten(whole, ends.closed)[0] if layouts.firsts else given
        trace.leaves = given
        held = Before(containers(whole, ends.closed), ends)
        objects = [x for x in given if id(x) not in ends.closed]
        deciding = needs.deciding if needs.wanted else None
        seen_from = [*objects, f, *map(type, held.containers)]
        with nothing_left(trace, seen_from, held.containers), as_of_one_function(), asking(deciding):
            try:
                made = with_plain_members(as_deques(returned(callee(f, trace)(*whole[0], **whole[1]))))
            except Exception as error:
                if not is_of_run_time(error):
                    raise
                made = None
            with_plain_members(whole)
            check_orders(containers((made, whole), ends.closed))
            check_ones(trace, made, whole, ends.closed)
        after = after_of(whole, structure, given, held)
        known = _known_containers(made, held, after, trace)
        made, made_structure = flatten(made, frozenset(() if layouts.are_results else known))
        check_unseen([*made, *after.new])
        outputs = outputs_of(made, after.new, known, are_results=layouts.are_results)
        results = outputs.results
        changed = after.changed(outputs.left)
        written = _written(given, trace, results)
        number = failed_in(trace)
        failed = None if number is None else len(results)
        results += [] if number is None else [number]
        sources = list(trace.captured.values())
    entered = tuple(s.entered for s in sources if s.entered is not None)
    flat = tuple(dict.fromkeys(s.entered for s, _ in shared.values() if s.entered is not None))
    params = (*entered_at.leaves.values(), *flat, *entered, *entered_at.vectors.values())
    fn = Function(name, params, tuple(results))
    check_escaped(fn, trace)
    captured = tuple(s.source for s in sources)
    return Program(
        fn, tuple(entered_at.leaves), groups, captured, outputs.returned, made_structure, written,
        tuple(trace.met.values()), _watched(given, trace), changed, tuple(sorted(trace.narrowed)),
        guards_of(trace, trace.passed),
        loops=reports_of(trace), found=tuple(trace.found), packs=outputs.packs, failed=failed,
        failures=tuple(trace.failures), layouts=layouts, outside=memories_of(captured) if layouts.lies else (),
        forms=forms_of(captured), decided=needs.deciding.made(fn), lasting=tuple(trace.lasting.values()),
        identities=tuple(trace.identities.items()), locked=tuple(trace.locked.values()),
        vectors=tuple(entered_at.vectors), taken_back=taken_back_of(trace),
        left=dict(trace.left) if trace.lasting else {},
    )  # fmt: skip


def _known_containers(made: Any, before: Before, after: After, trace: Trace) -> dict[int, Output]:
    """What a function returns of the containers that it was given, that are in them after it, or that are outside, by
    the ids of these."""
    known = {id(x): Output("kept", n) for n, x in enumerate(after.containers)}
    known |= {n: Output("container", place) for n, place in (trace.taken | before.numbers).items()}
    others = {*map(id, containers(made))} - known.keys() - trace.own.keys()
    outside = reached(trace, trace.given) if others else ()
    return known | {id(x): Output("static", x) for x in outside if id(x) in others}


def check_escaped(fn: Function, trace: Trace) -> None:
    """TracedValueError if the program reads what another call's trace made, or one inside this one."""
    if is_closed(fn.results, trace.scope):
        return
    for value in free_values(fn, trace.scope.number):
        if value.node.scope > trace.scope.number:
            raise TracedValueError(
                f"a traced array {value.type} is kept when the function that made it ends, which is traced by itself: "
                "it has a derivative of its own, or is checkpointed, differentiated or batched",
                hint="return it from that function; what it puts into lists, objects or names ends with it",
            ).at(("made here", value.origin))
        raise TracedValueError(
            f"a traced array {value.type} of another call is used here: it was kept when that call ended",
            hint="return arrays rather than storing them in objects, lists or global names",
        ).at(("made here", value.origin))


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
