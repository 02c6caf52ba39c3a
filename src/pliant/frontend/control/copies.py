"""Lists and dicts that are one of two by a condition known only at run time: what stands for them is a copy.

K = L if c else M       K is a new list, of elements that are each one of two
K[0] = x                changes L[0] where c holds and M[0] where it does not, if the function can still see them
K.append(x)             would have to change one of them too: refused then
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from pliant.core.ir import Value, Values, const
from pliant.core.origin import here
from pliant.errors import UnsupportedError
from pliant.frontend.control.objects import containers
from pliant.frontend.convert import value_of
from pliant.frontend.tracing import Trace, current
from pliant.ops.bits import logical_not

WAYS: Final = 1000
"""Ways by conditions from one list to others that are told apart."""
OUTSIDE = ("pliant.frontend.retrace", "pliant.frontend.closed")
"""The modules that call the function that is traced."""


class Same(NamedTuple):
    """A list or dict that another one is if a condition holds, or if it does not. one_of: of those with one such
    object, no two are the same."""

    holder: Any
    condition: Value
    holds: bool
    one_of: Any = None


def stands_for(copy: Any, condition: Value, one: Any, two: Any) -> None:
    """Remember that the lists and dicts of a tree are those of one of two others."""
    for other, holds in ((one, True), (two, False)):
        _relate(copy, other, condition, holds=holds)


def in_other_places(copies: Sequence[Any], elements: Sequence[Any], places: Any) -> None:
    """Remember that the lists and dicts of copies are those of elements of a list, whose places are computed."""
    for copy, place in zip(copies, places, strict=True):
        for n, element in enumerate(elements):
            _relate(copy, element, value_of(place == n, "bool"), holds=True, one_of=places)


def _relate(tree: Any, other: Any, condition: Value, *, holds: bool, one_of: Any = None) -> None:
    """Remember that the lists and dicts of a tree are those of another one if a condition holds, or does not."""
    known = current().outermost.copies
    for a, b in zip(*map(_lists, (tree, other)), strict=True):
        if a is not b:
            known.setdefault(id(a), (a, []))[1].append(Same(b, condition, holds, one_of))
            known.setdefault(id(b), (b, []))[1].append(Same(a, condition, holds, one_of))


class Together:
    """The lists and dicts that a loop leaves, of which those that were one in its last step stay one."""

    def __init__(self) -> None:
        self.results: Any = None
        self.made: dict[int, Any] = {}  # by the id of what the step left

    def recipe(self, left: Any, make: Callable[[Values], Any], of: slice | None = None) -> Callable[[Values], Any]:
        """How to make what stands for something that the step left. of: which elements of what is made do."""
        before = _lists(left)[of is not None :]  # a list of elements is none that the step left

        def made(results: Values) -> Any:
            if self.results is not results:
                self.results, self.made = results, {}
            x = make(results)
            after = _lists(x if of is None else x[of])[of is not None :]
            for old, new in zip(before, after, strict=False):  # nothing where a name has no value
                first = self.made.setdefault(id(old), new)
                if first is not new:
                    stands_for(new, const(True, "bool"), first, first)
            return x

        return made if before else make


def is_same(x: Any, y: Any) -> Value | None:
    """The condition by which two lists or dicts are one, if one has stood for the other; None if they are not one."""
    known = current().outermost.copies
    if id(x) not in known or all([other is not y for other in _related(x)]):
        return None
    direct = [s for s in known[id(x)][1] if s.holder is y]
    if len(direct) != 1 or direct[0].condition.node.scope not in scopes_of(current()):
        raise UnsupportedError(
            f"whether this {type(x).__name__} is another one is decided by conditions known only at run time",
            hint="compare what they hold",
        ).at(("here", here()))
    return direct[0].condition if direct[0].holds else logical_not(direct[0].condition)


def any_same(holders: Sequence[Any]) -> bool:
    """Whether two of some containers are the same one, or by a condition."""
    ids = {id(x) for x in holders}
    return len(ids) < len(holders) or any([id(x) in ids for holder in holders for x in _related(holder)])


def _related(holder: Any) -> list[Any]:
    """The lists and dicts that one may be by conditions. A way to another one assumes what conditions hold; no two of
    them that contradict each other. Of very many ways, contradictions are not looked for."""
    known = current().outermost.copies
    todo: list[tuple[Any, frozenset[tuple[Value, bool]], Any]] = [(holder, frozenset(), None)]
    found, seen = dict[int, Any](), set[tuple[int, Any, int]]()
    while todo:
        x, assumed, came = todo.pop()
        if (id(x), assumed, id(came)) in seen:
            continue
        seen.add((id(x), assumed, id(came)))
        found[id(x)] = x
        for same in known[id(x)][1] if id(x) in known else ():
            is_contradicted = (same.condition, not same.holds) in assumed or (came is not None and same.one_of is came)
            if len(seen) > WAYS:
                todo += [] if id(same.holder) in found else [(same.holder, frozenset(), None)]
            elif not is_contradicted:
                todo.append((same.holder, assumed | {(same.condition, same.holds)}, same.one_of))
    return [x for x in found.values() if x is not holder]


def seen_too(holder: Any, *, is_item: bool) -> list[Same]:
    """A list or dict is about to be changed: which that the function can see are the same one by a condition. is_item:
    nothing but one of its items changes; an error if more does, or if two conditions decide."""
    known = current().outermost.copies
    if id(holder) not in known:
        return []
    found = {id(x): x for x in _related(holder)}
    visible = {id(x): name for name, x in _visible() if found.get(id(x)) is x}
    scopes = scopes_of(current())
    direct = [s for s in known[id(holder)][1] if id(s.holder) in visible and s.condition.node.scope in scopes]
    reached = {id(s.holder) for s in direct} if is_item else set[int]()
    name = next((name for number, name in visible.items() if number not in reached), None)
    if name is not None:
        kind = type(holder).__name__
        raise UnsupportedError(
            f"a {kind} is changed that may be the one that {name!r} holds, by a condition known only at run time",
            hint=f"change it before the condition, or make a copy of its own: {kind}(…)",
        ).at(("here", here()))
    return direct


def scopes_of(trace: Trace | None) -> set[int]:
    """The numbers of the traces whose values can be used."""
    found = set[int]()
    while trace is not None:
        found.add(trace.scope.number)
        trace = trace.parent
    return found


def _lists(tree: Any) -> list[Any]:
    return [x for x in containers(tree) if type(x) in (list, dict)]


def _visible() -> Iterator[tuple[str, Any]]:
    """The lists and dicts that the function that is traced can see, or what it was called by, and by what name."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and frame.f_globals.get("__name__") not in OUTSIDE:
        if not str(frame.f_globals.get("__name__")).startswith("pliant."):  # code that is executed may have none
            for name, held in frame.f_locals.items():
                for x in _lists(held):
                    yield name, x
        frame = frame.f_back
