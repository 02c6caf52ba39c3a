"""Lists, dicts and objects that are one of two by a condition known only at run time: what stands for them is a copy.

K = L if c else M       K is a new list, of elements that are each one of two
K[0] = x                changes L[0] where c holds and M[0] where it does not, if the function can still see them
p = q if c else r       p is a new object: p.m = x sets q.m where c holds, and so on
K.append(x)             would have to change one of them too: refused then
"""

from __future__ import annotations

import gc
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import partial, reduce
from types import FunctionType, GeneratorType, MethodType
from typing import Any, Final, NamedTuple, TypeAlias, cast, final

from pliant.core.data import mutable
from pliant.core.ir import Value, const
from pliant.core.origin import here
from pliant.errors import UnsupportedError
from pliant.frontend.control.contents import contents
from pliant.frontend.control.objects import containers, is_own
from pliant.frontend.control.ornone import OrNone
from pliant.frontend.control.signals import LEFT, Signal
from pliant.frontend.control.unbound import Unbound
from pliant.frontend.convert import value_of
from pliant.frontend.reached import named, of_classes
from pliant.frontend.records import is_users
from pliant.frontend.tracing import Trace, current
from pliant.frontend.whose import is_plain
from pliant.ops.bits import logical_and, logical_not, logical_or

WAYS: Final = 1000
"""Ways by conditions from one list to others that are told apart."""
ITERATORS: Final = ("pliant.frontend.control.items", "pliant.frontend.control.iterators")
"""The modules of what loops go over by number."""
HOLDING: Final = {
    "pliant.frontend.calls": "args",
    **dict.fromkeys(("pliant.frontend.control.loops", "pliant.frontend.control.comprehension", *ITERATORS), "elements"),
}
"""By what name functions of modules hold what they go over, or hand to functions of Python's."""
OUTSIDE = ("pliant.frontend.retrace", "pliant.frontend.closed")
"""The modules that call the function that is traced."""
OUTER: Final = "a name outside"
FUNCTIONS: Final = (FunctionType, MethodType, partial)
HOLDERS: Final = (*FUNCTIONS, OrNone, Signal, Unbound)
"""Classes of what is no container of the user's, and holds some."""


class Same(NamedTuple):
    """What another list, dict or object is if a condition holds, or if it does not. one_of: of those with one such
    object, no two are the same."""

    holder: Any
    condition: Value
    holds: bool
    one_of: Any = None


@final
@mutable(eq=False)
class Head:
    """A list, dict or object that a step is given in place of one from before the loop, which is its first. names:
    those that steps bind."""

    holder: Any
    first: Any
    names: Sequence[str]
    is_changed: bool = False


def stands_for(copy: Any, condition: Value, one: Sequence[Any], two: Sequence[Any]) -> None:
    """Remember that the lists, dicts and objects of a tree are those of one of two others. one, two: what these hold,
    the tuples too."""
    for others, holds in ((one, True), (two, False)):
        for a, b in zip(containers(copy, tuples=True), others, strict=True):
            if a is not b and not isinstance(a, tuple):
                are_one(a, b, condition, holds=holds)


def in_other_places(copies: Sequence[Any], elements: Sequence[Any], places: Any) -> None:
    """Remember that what can be changed in copies is that of elements of a list, whose places are computed."""
    for copy, place in zip(copies, places, strict=True):
        for n, element in enumerate(elements):
            for a, b in zip(*map(containers, (copy, element)), strict=True):
                if a is not b:
                    are_one(a, b, value_of(place == n, "bool"), holds=True, one_of=places)


def are_one(one: Any, two: Any, condition: Value, *, holds: bool, one_of: Any = None) -> None:
    """Remember that two lists, dicts or objects are one if a condition holds, or does not."""
    known = current().outermost.copies
    for a, b in ((one, two), (two, one)):
        known.setdefault(id(a), (a, []))[1].append(Same(b, condition, holds, one_of))


def apart(copy: Any) -> None:
    """Forget what a list is a copy of, by conditions or places."""
    known = current().outermost.copies
    _, others = known.pop(id(copy), (copy, []))
    for same in others:
        found = known[id(same.holder)][1]
        found[:] = [other for other in found if other.holder is not copy]


def stand_in(heads: Any, firsts: Any, names: Sequence[str]) -> None:
    """Remember what the lists, dicts and objects of a tree that a step is given are before the loop. names: those that
    steps bind."""
    known = current().outermost.heads
    known.update(
        {id(x): Head(x, y, names) for x, y in zip(containers(heads), containers(firsts), strict=False) if x is not y}
    )


def are_changed(holders: Iterable[int]) -> set[int]:
    """Which of what steps are given was changed, or may be what was. holders: their ids."""
    heads = current().outermost.heads
    return {n for n in holders if n in heads and heads[n].is_changed}


def seen_by(holders: dict[int, Any]) -> str:
    """A name by which the function can see one of some lists, dicts and objects, by id; empty if there is none."""
    return next((name for name, x in _visible() if holders.get(id(x)) is x), "")


def is_same(x: Any, y: Any) -> Value | None:
    """The condition by which two lists, dicts or objects are one, if one has stood for the other; None if they are not
    one."""
    known = current().outermost.copies
    if id(x) not in known:
        return None
    found, are_all = _ways(x)
    if id(y) not in found:
        return None
    scopes, ways = scopes_of(current()), _least(found[id(y)][1]) if are_all else []
    if not ways or not all([c.node.scope in scopes for way in ways for c, _ in way]):
        raise refused_same(type(x).__name__)
    return _any_of(ways)


def refused_same(kind: str) -> UnsupportedError:
    """The error of `is` that nobody can answer."""
    return UnsupportedError(
        f"whether this {kind} is another one is decided by conditions known only at run time",
        hint="compare what they hold",
    ).at(("here", here()))


def any_same(holders: Sequence[Any]) -> bool:
    """Whether two of some containers are the same one, or by a condition."""
    ids = {id(x) for x in holders}
    return len(ids) < len(holders) or any([id(x) in ids for holder in holders for x in related(holder)])


def related(holder: Any) -> list[Any]:
    """The lists, dicts and objects that one may be by conditions."""
    return [x for x, _ in _ways(holder)[0].values()]


Way: TypeAlias = "tuple[tuple[Value, bool], ...]"  # conditions, and whether they hold


def _ways(holder: Any) -> tuple[dict[int, tuple[Any, list[Way]]], bool]:
    """The lists, dicts and objects that one may be, by id, and by what conditions each. A way to another one assumes
    what conditions hold; no two of them that contradict each other, and not all that another way there does. Of very
    many ways, contradictions are not looked for, and only those by one condition are told: then they are not all."""
    todo: deque[tuple[Any, Way, Any]] = deque([(holder, (), None)])
    found, seen = dict[int, tuple[Any, list[Way]]](), dict[int, list[tuple[set[tuple[Value, bool]], Any]]]()
    count = 0
    while todo:
        x, assumed, came = todo.popleft()
        before = seen.setdefault(id(x), [])
        if any([way <= {*assumed} and (by is None or by is came) for way, by in before]):
            continue
        before.append(({*assumed}, came))
        count += 1
        found.setdefault(id(x), (x, []))[1].append(assumed)
        for same in _sames(id(x)):
            is_contradicted = (same.condition, not same.holds) in assumed or (came is not None and same.one_of is came)
            if count > WAYS:
                todo += [] if id(same.holder) in found else [(same.holder, (), None)]
            elif not is_contradicted:
                step = (same.condition, same.holds)
                todo.append((same.holder, assumed if step in assumed else (*assumed, step), same.one_of))
    found.pop(id(holder), None)
    if count > WAYS:
        return {n: (x, [way for way in ways if len(way) == 1]) for n, (x, ways) in found.items()}, False
    return found, True


def _sames(number: int) -> list[Same]:
    """What a list, dict or object is by one condition. number: its id."""
    known = current().outermost.copies
    return known[number][1] if number in known else []


def seen_too(holder: Any, *, is_item: bool) -> list[Same]:
    """A list, dict or object is about to be changed: which that the function can see are the same one by a condition.
    is_item: nothing but one of its items or attributes changes; an error if more does, or if nobody can say here by
    what condition."""
    check_sealed([holder])
    if not is_item:
        rows_let_go(holder)
    heads = current().outermost.heads
    if id(holder) in heads:
        heads[id(holder)].is_changed = True
    if id(holder) not in current().outermost.copies:
        return []
    (found, are_all), scopes, seen = _ways(holder), scopes_of(current()), [*_visible()]
    are_all = are_all or all([same.one_of is not None for n in (id(holder), *found) for same in _sames(n)])
    objects = [x for x, _ in found.values() if not isinstance(x, list | dict | deque)]
    visible = {id(x): OUTER for x in objects if not is_own(x)}
    visible |= {id(x): _text_of(name) for name, x in seen if id(x) in found and found[id(x)][0] is x}
    ones, others = current().outermost.ones, list[Same]()
    for head in [heads[n] for n in found if n in heads]:
        head.is_changed = True
        if name := next((name for name, y in seen if y is head.first and name not in head.names), ""):
            raise _changed(holder, _text_of(name), ())
    for number, name in visible.items():
        x, ways = found[number][0], _least(found[number][1])
        if is_item and ways and are_all and all([c.node.scope in scopes for way in ways for c, _ in way]):
            others.append(Same(x, _any_of(ways), holds=True))
        elif number in ones:
            ones[number].let_go()
        else:
            raise _changed(holder, name, ways)
    return others


def rows_let_go(holder: Any, but: Any = None) -> None:
    """More than an item of a list changes: nobody may look at what was read of lists in which it is, at places known
    only at run time, as rows."""
    top = current().outermost
    for number, row in [*top.read.items()]:
        if number in top.ones and row.elements is not but and any([x is holder for x in row.members]):
            top.rows.pop(number, None)
            top.ones[number].let_go()


def check_sealed(holders: Iterable[Any]) -> None:
    """UnsupportedError if one of some objects that change is one that a list has a copy of, or is such a copy."""
    sealed = current().outermost.sealed
    if sealed and any([sealed.get(id(x)) is x for holder in holders for x in (holder, *related(holder))]):
        raise UnsupportedError(
            "an object is changed here that lists have copies of, since it is known only at run time how many elements "
            "they have, or which",
            hint="put another one in its place: out[k] = dataclasses.replace(out[k], t=…)",
        ).at(("here", here()))


def _text_of(name: str) -> str:
    """A name as the user knows it."""
    return "the returned value" if name == LEFT else repr(name) if name.isidentifier() else name


def _changed(holder: Any, name: str, ways: Sequence[Way]) -> UnsupportedError:
    """The error of a change to what a name may hold, by one of some ways, if they are known only at run time. Who
    raises it is traced again, with what steps leave known."""
    current().outermost.lengths.are_unknown = True
    kind = type(holder).__name__
    error = UnsupportedError(
        f"a {kind} is changed that may be the one that {name} holds, by a condition known only at run time",
        hint=f"change it before the condition, or make a copy of its own: "
        f"{kind if isinstance(holder, list | dict | deque) else 'copy.copy'}(…)",
    )
    return error.at(("here", here())).needing(*dict.fromkeys(c for way in ways for c, _ in way))


def _least(ways: Sequence[Way]) -> list[Way]:
    """The ways that assume no more than others do."""
    least: list[Way] = []
    for way in sorted(ways, key=len):
        if not any([{*way} >= {*other} for other in least]):
            least.append(way)
    return least


def _any_of(ways: Sequence[Way]) -> Value:
    """Whether all conditions of one of several ways hold."""
    each = [[c if holds else logical_not(c) for c, holds in way] or [const(True, "bool")] for way in ways]
    return reduce(logical_or, [reduce(logical_and, conditions) for conditions in each])


def scopes_of(trace: Trace | None) -> set[int]:
    """The numbers of the traces whose values can be used."""
    found = set[int]()
    while trace is not None:
        found.add(trace.scope.number)
        trace = trace.parent
    return found


def _visible() -> Iterator[tuple[str, Any]]:
    """The lists, dicts and objects that the function that is traced can see, or what it was called by, and by what
    name; those that loops will come to, and those that outlive the call, too."""
    seen = dict[int, Any]()
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and frame.f_globals.get("__name__") not in OUTSIDE:
        module, names = str(frame.f_globals.get("__name__")), frame.f_locals  # code that is executed may have none
        if module.startswith("pliant."):
            names = {"a loop or a call": names[HOLDING[module]]} if HOLDING.get(module) in names else {}
        for name, held in sorted(names.items(), key=lambda item: type(item[1]) in FUNCTIONS):  # which hold names, too
            for x in _all_held(held, seen):
                yield name, x
        frame = frame.f_back
    top = current().outermost
    for x in _all_held([*top.passed, *top.given, *named(top)], seen):
        yield OUTER, x


def _all_held(tree: Any, seen: dict[int, Any]) -> Iterator[Any]:
    """What can be changed in a tree, and in objects that it holds, whoever made them. seen: what is known of before."""
    todo: list[Any] = [tree]
    while todo:
        x = todo.pop()
        kind = cast("Any", type(x))
        is_object = kind in HOLDERS or is_users(kind) or is_plain(kind)
        is_iterator = not is_object and (issubclass(kind, Iterator) or kind.__module__ in ITERATORS)
        owner = cast("Any", (type(x) if is_object else x) if is_object or kind is type else None)
        if owner is not None and id(owner) not in seen:
            seen[id(owner)] = owner
            todo += of_classes(owner)
        if id(x) in seen or not (is_object or is_iterator or issubclass(kind, list | tuple | dict | deque)):
            continue
        seen[id(x)] = x
        if is_iterator:
            todo += _to_come(x)
            continue
        yield x
        todo += _held_by(x) if is_object else x.values() if issubclass(kind, dict) else x


def _held_by(x: Any) -> list[Any]:
    """What a function or an object holds, or the functions are that may be called by one name."""
    if type(x) is not Unbound:
        return contents(x)
    return [part for part in (x.choice or ())[1:] if type(part) in (*FUNCTIONS, Unbound)]


def _to_come(iterator: Any) -> list[Any]:
    """What an iterator, or what makes one, holds."""
    if isinstance(iterator, GeneratorType):
        return [] if iterator.gi_frame is None else [*iterator.gi_frame.f_locals.values()]
    held = gc.get_referents(iterator)
    functions = [x for x in held if isinstance(x, FunctionType) and x.__module__.startswith("pliant.")]
    cells = [cell for f in functions for cell in f.__closure__ or ()]
    return [*held, *[x for cell in cells for x in gc.get_referents(cell)]]
