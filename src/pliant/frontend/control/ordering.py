"""`sorted` and `list.sort` of traced numbers, and of what is ordered by traced keys."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pliant.core.origin import here
from pliant.errors import TracedValueError
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.control.branch import choose, is_open
from pliant.frontend.control.comprehension import every_one, is_open_ended
from pliant.frontend.control.copies import in_other_places
from pliant.frontend.control.effects import changing
from pliant.frontend.control.fronts import Front, front_of
from pliant.frontend.control.growth import element_of
from pliant.frontend.control.items import INDEX, Mapped
from pliant.frontend.control.lists import item
from pliant.frontend.control.objects import containers, flatten
from pliant.frontend.control.region import born
from pliant.frontend.control.sections import places_of
from pliant.frontend.control.tables import columns, like, rows, share
from pliant.frontend.convert import as_traced
from pliant.frontend.decided import decided_by
from pliant.frontend.number import with_kind
from pliant.frontend.tracing import current, is_tracing

FUNCTIONS: Final[Any] = np
FEW: Final = 64
"""Elements of a list of some length that are put in order by themselves."""
MANY: Final = 4
"""Times as many that its arrays have room for at least."""


def ordered(elements: Any, *, key: Callable[[Any], Any] | None = None, reverse: Any = False) -> list[Any]:
    """`sorted`: equal ones stay in their order. Order and elements are traced if a key is."""
    if not is_tracing():
        return sorted(elements, key=key, reverse=reverse)
    elements = every_one(elements) if is_open_ended(elements) else elements
    front = front_of(elements)
    if front is not None:
        return born([_ordered_front(elements, front, key, is_reversed=bool(reverse))])
    items = list(elements)
    keys = items if key is None else every_one(Mapped(elements if isinstance(elements, range) else items, key))
    by = _columns(keys)
    common = element_of(items)
    if by is None or common is None:
        return _by_python(items, keys, reverse, are_open=by is not None)
    are_values = like(items) is not None
    if not are_values:
        try:
            return _by_python(items, keys, reverse, are_open=True)
        except TracedValueError as error:
            are_lists = len(items) <= FEW and all([type(x) is list for x in items])
            if not are_lists or decided_by(error, current().outermost.needs):
                raise
    order = _order(by, is_reversed=bool(reverse))
    share(items, are_told=True)
    stacks = [fresh(column, is_array=True) for column in columns(items, common)]
    made = born(rows([FUNCTIONS.take(x, order, axis=0).value for x in stacks], common, copied=items))
    if not are_values or (len(items) <= FEW and any([next(containers(x), None) is not None for x in items])):
        in_other_places(made, items, order)
    return made


def _by_python(items: list[Any], keys: Any, reverse: Any, *, are_open: bool) -> list[Any]:
    """The elements in the order of their keys, which has to be known while tracing. are_open: whether the keys are
    not."""
    try:
        return [x for _, x in sorted(zip(keys, items, strict=True), key=operator.itemgetter(0), reverse=reverse)]
    except TracedValueError as error:
        if not are_open or not any([type(x) is list for x in items]):
            raise
        message = "lists are sorted here by numbers that are known only at run time, by which only tuples can be"
        hint = "make them tuples, as in [(x, y), …], and not [[x, y], …]"
        raise TracedValueError(message, hint=hint).at(("here", here())).needing(*error.needs) from error


def _ordered_front(elements: Any, front: Front, key: Callable[[Any], Any] | None, *, is_reversed: bool) -> Front:
    """The elements of a list in order, of which it is known only at run time how many there are: what is in the arrays
    beyond them comes last."""
    front = front.in_order()
    keys = front if key is None else front_of(every_one(Mapped(elements, key)))
    room, kinds = front.columns[0].shape[0], () if keys is None else keys.form.element.kinds
    if keys is None or any([kind.type.shape or kind.type.kind == "c" for kind in kinds]):
        raise front.refused("sorting")
    keys = keys.in_order()
    if keys.columns[0].shape[0] != room:
        raise front.refused("sorting")
    inside = places_of(room) < with_kind(front.length.value, INDEX)
    by = [inside if is_reversed else ~inside, *[fresh(column, is_array=True) for column in keys.columns]]
    order = _order_of_few(by, front, is_reversed=is_reversed)
    made = [FUNCTIONS.take(fresh(column, is_array=True), order, axis=0).value for column in front.columns]
    return front.form.front([*made, front.count])


def _order_of_few(by: list[TracedArray], front: Front, *, is_reversed: bool) -> Any:
    """The places of the elements in their order; of a few, in arrays for many, only these are compared."""
    room = by[0].shape[0]
    if room < MANY * FEW:
        return _order(by, is_reversed=is_reversed)

    def of_few() -> Any:
        first = _order([column[:FEW] for column in by], is_reversed=is_reversed)
        return FUNCTIONS.concatenate([first, places_of(room)[FEW:]])

    are_few = with_kind(front.length.value, INDEX) <= FEW
    return choose(are_few, of_few, lambda: _order(by, is_reversed=is_reversed))


def largest(n: int, elements: Any, key: Callable[[Any], Any] | None = None) -> list[Any]:
    """`heapq.nlargest`."""
    return _first(n, ordered(elements, key=key, reverse=True))


def smallest(n: int, elements: Any, key: Callable[[Any], Any] | None = None) -> list[Any]:
    """`heapq.nsmallest`."""
    return _first(n, ordered(elements, key=key))


def _first(n: int, elements: list[Any]) -> list[Any]:
    """As many elements of a list as are asked for, if there are so many."""
    made = item(elements, slice(0, max(n, 0)))
    return elements[: max(n, 0)] if made is None else born(made)


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


def _order(by: list[TracedArray], *, is_reversed: bool) -> Any:
    """The places of the elements in their order."""
    given = [c[::-1] for c in by] if is_reversed else by
    only = len(given) == 1
    order = FUNCTIONS.argsort(given[0], kind="stable") if only else FUNCTIONS.lexsort(tuple(given[::-1]))
    return by[0].shape[0] - 1 - order[::-1] if is_reversed else order
