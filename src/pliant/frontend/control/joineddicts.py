"""Dicts that two blocks left with the same keys, of which one is run: each item is one of two, as the order may be."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Protocol, cast

from pliant.core.ir import Value, Values
from pliant.frontend.control.moved import Recipe
from pliant.frontend.control.objects import containers
from pliant.frontend.control.outcomes import as_left
from pliant.frontend.control.perhaps import has_two_orders, in_two_orders
from pliant.frontend.control.region import Outcome, Place
from pliant.frontend.kinds import is_of
from pliant.frontend.missing import MISSING


class Joins(Protocol):
    """Two blocks, of which a condition says which one is run."""

    condition: Value

    def joined(self, a: Any, b: Any, what: str) -> Recipe:
        """How to make what is `a` or `b`."""
        ...


def dict_of_two(join: Joins, contents: Sequence[Any], place: Place) -> Recipe | None:
    """How to make what a dict holds after one of the blocks; None if it is none, or its keys depend on the block."""
    if place.kind != "whole" or not isinstance(place.holder, dict) or not _have_one_set(*contents):
        return None
    one, two = contents
    items = {key: join.joined(x, two[key], f"the item [{key!r}]") for key, x in one.items()}

    def made(results: Values) -> dict[Any, Any]:
        if [*one] != [*two]:
            in_two_orders(cast("dict[Any, Any]", place.holder), join.condition)
        return {key: recipe(results) for key, recipe in items.items()}

    return made


def orders_of(sides: Sequence[Outcome], trees: Sequence[Any]) -> list[bool]:
    """Of which containers of what is one of two objects it depends on that in which order they have their keys."""

    def keys(tree: Any) -> list[tuple[Any, bool]]:
        return [([*x] if isinstance(x, dict) else None, has_two_orders(x)) for x in containers(tree)]

    found = as_left(sides, trees, keys)
    return [ones != twos or a or b for (ones, a), (twos, b) in zip(*found, strict=True)]


def note_orders(made: Any, condition: Value, orders: list[bool]) -> None:
    """Remember of which dicts in a copy of one of two the condition decides the order of the keys."""
    for x, is_decided in zip(containers(made), orders, strict=True):
        if is_decided:
            in_two_orders(x, condition)


def tables_in_two_orders(sides: Sequence[Outcome], places: Sequence[Place]) -> list[Any]:
    """The dicts that got keys one by one, in an order that depends on which block was run; and those of which that
    depended on more in one of them. A key of one block only comes last after the other."""
    decided = {id(x): x for side in sides for x, *_ in side.region.orders}
    tables = {id(x): x for x in map(_table_of, places) if x is not None}
    for number, table in tables.items():
        ones, twos = [_keys_after(side, number, table) for side in sides]
        if [*(ones | twos)] != [*(twos | ones)]:
            decided[number] = table
    return [*decided.values()]


def in_other_order(before: Any, after: Any) -> bool:
    """Whether a dict in one of two trees of the same form has its keys in another order than in the other one."""
    pairs = zip(containers(before), containers(after), strict=False)
    return any([isinstance(a, dict) and isinstance(b, dict) and [*a] != [*b] for a, b in pairs])


def _table_of(place: Place) -> Any:
    """The dict that has a key more if there is something at a place."""
    if place.kind == "attribute":
        return getattr(place.holder, "__dict__", None)
    return place.holder if place.kind == "item" and is_of(place.holder, dict) else None


def _keys_after(side: Outcome, number: int, table: Any) -> dict[Any, None]:
    """The keys of a dict after a block, in their order."""
    added = [p for p, x in side.contents.items() if x is not MISSING and id(_table_of(p)) == number]
    return dict.fromkeys([*table, *[p.key for p in added]])


def _have_one_set(one: dict[Any, Any], two: dict[Any, Any]) -> bool:
    """Whether two have the same keys, and in the same order if that is part of what they are equal by."""
    return [*one] == [*two] or (one.keys() == two.keys() and not isinstance(one, OrderedDict))
