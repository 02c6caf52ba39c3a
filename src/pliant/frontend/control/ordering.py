"""`sorted` and `list.sort` of traced numbers, and of what is ordered by traced keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.control.branch import is_open
from pliant.frontend.control.comprehension import every_one
from pliant.frontend.control.effects import changing
from pliant.frontend.control.growth import Element, element_of
from pliant.frontend.control.items import Mapped
from pliant.frontend.control.objects import flatten, unflatten
from pliant.frontend.control.region import born
from pliant.frontend.control.tables import number_kind, numbers
from pliant.frontend.convert import as_traced, value_of
from pliant.frontend.number import with_kind
from pliant.frontend.tracing import is_tracing

FUNCTIONS: Final[Any] = np


def ordered(elements: Any, *, key: Callable[[Any], Any] | None = None, reverse: Any = False) -> list[Any]:
    """`sorted`: equal ones stay in their order. Order and elements are traced if a key is."""
    if not is_tracing():
        return sorted(elements, key=key, reverse=reverse)
    items = list(elements)
    keys = items if key is None else every_one(Mapped(elements if isinstance(elements, range) else items, key))
    columns = _columns(keys)
    common = element_of(items)
    if columns is None or common is None:
        return sorted(items, key=key, reverse=reverse)
    order = _order(columns, is_reversed=bool(reverse))
    kind = number_kind(items)
    if kind is not None:
        return born(numbers(fresh(FUNCTIONS.take(as_traced(items), order).value, is_array=True), kind))
    leaves = [flatten(x)[0] for x in items]
    stacks = [_taken([row[n] for row in leaves], common, n, order) for n in range(len(common.kinds))]
    return born([unflatten(common.structure, row) for row in zip(*stacks, strict=True)])


def sort_in_place(holder: list[Any], **options: Any) -> None:
    """`list.sort`."""
    made = ordered(holder, **options)
    changing(holder, "sort")
    holder[:] = made


def _columns(keys: list[Any]) -> list[TracedArray] | None:
    """The parts of the keys, the first that matters first; None if none is traced, or they are no numbers."""
    common = element_of(keys)
    if common is None or any([kind.type.shape or kind.type.kind == "c" for kind in common.kinds]):
        return None
    rows = [flatten(k)[0] for k in keys]
    if not any([is_open(x) for row in rows for x in row]):
        return None
    return [as_traced([row[n] for row in rows]) for n in range(len(common.kinds))]


def _order(columns: list[TracedArray], *, is_reversed: bool) -> Any:
    """The places of the elements in their order."""
    given = [c[::-1] for c in columns] if is_reversed else columns
    only = len(given) == 1
    order = FUNCTIONS.argsort(given[0], kind="stable") if only else FUNCTIONS.lexsort(tuple(given[::-1]))
    return columns[0].shape[0] - 1 - order[::-1] if is_reversed else order


def _taken(column: list[Any], common: Element, n: int, order: Any) -> list[TracedArray]:
    """One part of all elements, in order; they are copies, which must not be written."""
    kind = common.kinds[n]
    rows = FUNCTIONS.take(as_traced(column), order, axis=0)
    made = [with_kind(value_of(rows[k], kind.type.dtype), kind) for k in range(len(column))]
    for x in made:
        x.storage.writeable = False
    return made
