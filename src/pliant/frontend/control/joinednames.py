"""Names that have a value after one of two blocks of which one is run, or by some of the ways to leave them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Protocol, cast

from pliant.core.ir import Values
from pliant.frontend.control.moved import Recipe
from pliant.frontend.control.partly import are_told, flag_of, may_be_asked, value_if, value_in, ways_of
from pliant.frontend.control.region import Outcome, Place
from pliant.frontend.control.signals import CONTINUE, FELL, Signal, possible_of
from pliant.frontend.control.unbound import Unbound
from pliant.frontend.missing import MISSING
from pliant.frontend.number import is_number


class Joins(Protocol):
    """Two blocks, of which a condition says which one is run. truth: the way of what they return; see `partly`."""

    sides: tuple[Outcome, Outcome]
    truth: int | None

    def joined(self, a: Any, b: Any, what: str) -> Recipe:
        """How to make what is `a` or `b`."""
        ...

    def lone(self, x: Any, side: int) -> Recipe:
        """How to make what only one of them made."""
        ...


def name_of_two(join: Joins, contents: Sequence[Any], place: Place) -> Recipe:
    """How to make what a name is bound to that has no value after one of the blocks, or none for sure."""
    signals = [s.result for s in join.sides]
    known = all([s is None or isinstance(s, Signal) for s in signals])
    ways = ways_of(contents, signals) if known else frozenset[int]()
    flag = _flag(join, contents, signals, is_told=known and bool(ways) and join.truth is None)
    made = join.joined(contents[0], contents[1], place.text) if flag is None else None
    a, b = map(value_in, contents)
    if join.truth is not None:
        held = value_if(contents[0], signals[0])
        ways = frozenset[int]() if held is MISSING else frozenset((join.truth,))
        a, b = (held, MISSING) if flag is None else (a, b)
    if a is b is MISSING or not (ways or flag):
        return made or (lambda _: contents[0])
    if a is MISSING or b is MISSING:
        value = join.lone(b, 1) if a is MISSING else join.lone(a, 0)
    else:
        value = join.joined(a, b, place.text)

    def recipe(results: Values) -> Any:
        x = value(results)
        if type(x) is Unbound:
            return x
        if flag is None:
            return cast("Recipe", made)(results).held(ways, x)
        holds = flag(results)
        return x if holds is True else Unbound.local(place.key, holds).held(ways, x)

    return recipe


def name_by_ways(join: Joins, contents: Sequence[Any], place: Place, made: Recipe) -> Recipe:
    """How to make what a name is bound to after one of the blocks, where it cannot be what both leave, and the way in
    which they are left says which one was run: what follows a step, say, after which others come."""
    found: Any = made
    refused = found.args[0] if type(found) is partial else None
    signals = [s.result for s in join.sides]
    are_known = all([s is None or isinstance(s, Signal) for s in signals])
    if type(refused) is not Unbound or place.kind != "name" or not are_known or not all(map(is_number, contents)):
        return made
    ways = [possible_of(s) for s in signals]
    going = [n for n, own in enumerate(ways) if own & {FELL, CONTINUE}]
    if len(going) != 1 or ways[0] & ways[1]:
        return made
    value = join.lone(contents[going[0]], going[0])
    return lambda results: refused.held(ways[going[0]], value(results))


def _flag(join: Joins, contents: Sequence[Any], signals: Sequence[Any], *, is_told: bool) -> Recipe | None:
    """How to make what says if a name has a value; None if nothing may ask that."""
    if not all(map(may_be_asked, contents)):
        return None
    if is_told and are_told(contents, signals):
        return lambda _: False
    flags: list[Any] = []
    for side, content, signal in zip(join.sides, contents, signals, strict=True):
        with side.region.inside():
            flags.append(flag_of(content, signal))
    one, two = flags
    return None if one is None or two is None else join.joined(one, two, "a flag")
