"""Dicts that two blocks left with the same keys, of which one is run: each item is one of two, as the order may be."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Protocol, cast

from pliant.core.ir import Value, Values
from pliant.frontend.control.moved import Recipe
from pliant.frontend.control.objects import containers
from pliant.frontend.control.perhaps import has_two_orders, in_two_orders
from pliant.frontend.control.region import Place


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


def note_orders(made: Any, condition: Value, one: Any, two: Any) -> None:
    """Remember of which dicts in a copy of one of two the condition decides the order of the keys."""
    for x, a, b in zip(*map(containers, (made, one, two)), strict=True):
        if isinstance(x, dict) and ([*a] != [*b] or has_two_orders(a) or has_two_orders(b)):
            in_two_orders(cast("dict[Any, Any]", x), condition)


def _have_one_set(one: dict[Any, Any], two: dict[Any, Any]) -> bool:
    """Whether two have the same keys, and in the same order if that is part of what they are equal by."""
    return [*one] == [*two] or (one.keys() == two.keys() and not isinstance(one, OrderedDict))
