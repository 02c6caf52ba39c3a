"""What is one of two objects by a condition known only at run time, as `is`, `==` and `isinstance` see it.

mode = Mode.A if c else Mode.B      `mode is Mode.A` is c, and so is `mode == Mode.A`
p = first if c else second          p is a copy, in place of both: `p is first` is c too
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, Protocol, cast

import numpy as np

from pliant.core import ir
from pliant.core.ir import Value, Values, const
from pliant.core.origin import here
from pliant.errors import UnsupportedError
from pliant.frontend.alias import Shared
from pliant.frontend.array import TracedArray
from pliant.frontend.bounded import Bounded
from pliant.frontend.control.copies import is_same, refused_same, scopes_of
from pliant.frontend.control.either import Either, arrays, is_twin, may_stand_for
from pliant.frontend.control.fronts import Front
from pliant.frontend.control.moved import Recipe
from pliant.frontend.control.objects import containers, flatten, is_own, is_sealed
from pliant.frontend.control.ornone import OrNone
from pliant.frontend.control.ornone import equal as equal_or_none
from pliant.frontend.control.region import Outcome
from pliant.frontend.control.signals import TRUTH
from pliant.frontend.control.unbound import Unbound, choice_of, is_chosen, note_which
from pliant.frontend.convert import value_of
from pliant.frontend.missing import MISSING
from pliant.frontend.number import is_number, with_kind
from pliant.frontend.selection import Selection
from pliant.frontend.tracing import current, is_tracing
from pliant.frontend.twins import are_twins
from pliant.ops.bits import logical_and, logical_not, logical_or
from pliant.ops.compare import equal as are_equal
from pliant.ops.select import select


def note_choice(copy: Any, condition: Value, one: Sequence[Any], two: Sequence[Any]) -> None:
    """Remember which lists, tuples, dicts and objects those of a copy stand for."""
    for made, a, b in zip(containers(copy, tuples=True), one, two, strict=True):
        if made is not a:
            note_which(made, condition, a, b)


class Sides(Protocol):
    """Two blocks, of which a condition says which one is run."""

    condition: Value
    sides: tuple[Outcome, Outcome]

    def slot(self, one: Value, two: Value) -> int:
        """The number of a result that is one of two values."""
        ...


def one_of_more(join: Sides, a: Any, b: Any) -> Recipe:
    """A name that is one of two objects, of which blocks left one or both as one of two objects."""
    first: Unbound = a if type(a) is Unbound else b
    one, two = told_outside(join, a, 0), told_outside(join, b, 1)

    def made(results: Values) -> Unbound:
        found = first.untold()
        if one is not None and two is not None:
            found.choice = join.condition, one(results), two(results)
        return found

    return made


def told_outside(join: Sides, x: Any, side: int) -> Recipe | None:
    """What one of the blocks left, outside of it; None if nobody can say there which object it is."""
    choice = choice_of(x) if type(x) in (Unbound, TracedArray) else None
    if choice is None:
        return None if x is MISSING or type(x) is Unbound else lambda _: x
    region, other = join.sides[side].region, join.sides[1 - side].region
    condition, *objects = choice
    parts = [told_outside(join, part, side) for part in objects]
    one, two = parts
    if one is None or two is None:
        return None
    if condition.node.scope != region.trace.scope.number:
        return lambda _: x
    with other.inside():
        nothing = ir.operators.zeros(condition.type)
    n = join.slot(condition, nothing) if side == 0 else join.slot(nothing, condition)

    def made(results: Values) -> Any:
        if type(x) is TracedArray:
            stands_for_it = TracedArray(x.storage, x.lenses)
            note_which(stands_for_it, results[n], one(results), two(results))
            return stands_for_it
        found = x.untold()
        found.choice = results[n], one(results), two(results)
        return found

    return made


def same(x: Any, y: Any) -> Any:
    """`x is y`."""
    if x is y or are_twins(x, y):
        return True
    if type(y) is bool and type(x) is TracedArray and x.is_weak and x.type.dtype == "bool":  # Python has one of each
        return x if y else with_kind(logical_not(x.value), TRUTH)
    if OrNone in (type(x), type(y)):
        return equal_or_none(x, y, same)
    for one, other in ((x, y), (y, x)):
        if type(one) is Unbound or choice_of(one) is not None:
            return told(one, lambda part, other=other: same(part, other))
    if type(x) is TracedArray and type(y) is TracedArray:
        return _are_one_array(x, y)
    for one, other in ((x, y), (y, x)):
        if is_tracing() and id(one) in current().outermost.read:
            return _is_row(one, other)
    condition = is_same(x, y) if is_tracing() else None
    if condition is None and type(x) is type(y) and is_sealed(x) and is_sealed(y):
        raise refused_same(type(x).__name__)
    return False if condition is None else with_kind(condition, TRUTH)


def _is_row(row: Any, other: Any) -> Any:
    """Whether a list that was read at a place known only at run time is another one."""
    read = current().outermost.read
    rows = [read[id(x)] for x in (row, other) if id(x) in read]
    if not {value_of(r.index).node.scope for r in rows} <= scopes_of(current()):
        raise refused_same("list")
    members: tuple[Any, ...] = rows[0].members
    places = [value_of(r.index % len(r.members), "i64") for r in rows]
    if len(rows) == 2 and [*map(id, members)] == [*map(id, rows[1].members)]:
        return with_kind(are_equal(*places), TRUTH)
    answers = [(n, same(member, other)) for n, member in enumerate(members)]
    held = [(n, value_of(answer, "bool")) for n, answer in answers if answer is not False]
    ways = [logical_and(are_equal(places[0], const(n, "i64")), holds) for n, holds in held]
    return with_kind(reduce(logical_or, ways), TRUTH) if ways else False


def _are_one_array(x: TracedArray, y: TracedArray) -> bool:
    """Whether two arrays of the caller, arguments or from outside, are one, for which the program is made from now on;
    an error if nobody can say."""
    are_chosen = any([isinstance(cast("Any", a.storage), Either) for a in (x, y)])
    are_copied = may_stand_for(x, y) or may_stand_for(y, x)
    if are_copied or (are_chosen and any([is_twin(a, b) for a in arrays(x) for b in arrays(y)])):
        raise refused_same("array")
    top = current().outermost
    i, j = _place_of(x), _place_of(y)
    if i is None or j is None:
        return False
    theirs = [*top.arguments, *top.met.values()]
    are_one = theirs[i] is theirs[j]
    if min(i, j) < len(top.arguments):
        top.identities[i, j] = are_one
    return are_one


def _place_of(x: TracedArray) -> int | None:
    """The number of the caller's array that an array is: those from outside follow the arguments."""
    top, source = current().outermost, x.storage.source
    if (given := next((n for n, g in enumerate(top.leaves) if g is x), None)) is not None:
        return given
    if isinstance(source, Shared):
        found = [n for n in top.met if n in top.shared and _is_member(x, *top.shared[n])]
    else:
        found = [n for n in (id(source),) if n in top.met and not x.lenses]
    return len(top.arguments) + [*top.met].index(found[0]) if found else None


def _is_member(x: TracedArray, storage: Any, lenses: tuple[Any, ...]) -> bool:
    return x.storage is storage and x.lenses is lenses


def is_stand_in(x: Any) -> bool:
    """Whether something is one of two others by a condition, or in their place."""
    return is_tracing() and (choice_of(x) is not None or id(x) in current().outermost.copies)


def told(x: Any, ask: Callable[[Any], Any]) -> Any:
    """What is asked of one of two objects: known if both give the same answer."""
    choice = choice_of(x)
    if choice is None:
        raise x.refused()
    answers = ask(choice[1]), ask(choice[2])
    if answers[0] is answers[1]:
        return answers[0]
    condition = known_here(x, choice[0])
    if any([type(answer) is Unbound or np.shape(answer) for answer in answers]):
        made = x.untold()  # of arrays: each answer has a shape of its own
        made.choice = condition, *answers
        return made
    return with_kind(select(condition, *[value_of(answer, "bool") for answer in answers]), TRUTH)


def truth_of_two(x: Unbound, ask: Callable[[Any], Any]) -> Any:
    """The truth of one of two numbers or arrays, by what is asked for that of each."""

    def truth(part: Any) -> Any:
        found = truth_of_two(part, ask) if type(part) is Unbound else ask(part) if is_number(part) else part
        if not isinstance(found, bool | TracedArray) or np.shape(found):
            raise x.refused()
        return found

    if not is_one_of_two(x):
        raise x.refused()
    return told(x, truth)


def is_one_of_two(x: Any) -> bool:
    """Whether something is one of two objects, by a condition, and each can be asked here: none is made of arrays of a
    branch or step that has ended."""
    if not is_chosen(x):
        return False
    scopes, todo, seen = scopes_of(current()), [x], dict[int, Any]()
    while todo:
        one = todo.pop()
        if id(one) not in seen:
            seen[id(one)] = one
            leaves = [leaf for part in one.choice[1:] for leaf in flatten(part, is_own)[0]]
            if any([scope not in scopes for leaf in leaves for scope in _made_in(leaf)]):
                return False
            todo += [leaf for leaf in leaves if is_chosen(leaf)]
    return True


def is_told_here(x: Any) -> bool:
    """Whether something is one of several objects, by conditions that are known here."""
    choice = choice_of(x)
    if choice is None:
        return type(x) is not Unbound
    condition, one, two = choice
    return condition.node.scope in scopes_of(current()) and is_told_here(one) and is_told_here(two)


def is_callable(x: Any) -> bool:
    """Whether something can be called; of one of two objects, whether each can."""
    if type(x) is not Unbound:
        return callable(x)
    return x.choice is not None and all(map(is_callable, x.choice[1:]))


def _made_in(leaf: Any) -> list[int]:
    """The numbers of the scopes that parts of an object are of."""
    if type(leaf) is Front:
        return [value.node.scope for value in (*leaf.columns, leaf.count, leaf.first) if value]
    array = leaf.whole if type(leaf) in (Bounded, Selection) else leaf
    return [array.storage.trace.scope.number] if type(array) is TracedArray else []


def known_here(x: Any, condition: Value) -> Value:
    """The condition by which something is one of two; an error if it is one of a step or branch that has ended."""
    if condition.node.scope not in scopes_of(current()):
        raise _refused(x)
    return condition


def _refused(x: Any) -> Exception:
    if type(x) is Unbound:
        return x.refused()
    kind = "array" if type(x) is TracedArray else type(x).__name__
    return UnsupportedError(
        f"this {kind} is one of two, by a condition of a step or branch that has ended",
        hint="keep a number that says which one it is",
    ).at(("here", here()))


def equal(x: Any, y: Any) -> Any:
    """`x == y`, where one is an `Unbound`."""
    one, other = (x, y) if type(x) is Unbound else (y, x)

    def ask(part: Any) -> bool:
        if type(part) is Unbound or type(other) is Unbound:
            return equal(part, other)
        if type(part) is TracedArray and not is_one_of_two(one):
            raise one.refused()
        found = part == other
        if type(found) is not bool and np.size(found) != 1:
            raise one.refused()
        return found

    return told(one, ask)
