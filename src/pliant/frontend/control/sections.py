"""Parts of lists, and lists put together, where it is known only at run time how many elements that gives.

a[1:], a[i:], a[::-1], a + b, [x, *a], a * 2      what they make is again a list that has a front, see `fronts`, or
a.insert(k, x), a.pop(k), del a[k], a[i:j] = b    one of as many elements as is known, which are rows of arrays
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from pliant.core.ir import Value
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.bounded import bounded, extents_of, whole_of
from pliant.frontend.control.fronts import Form, Front, checked_place, extent_of
from pliant.frontend.control.items import INDEX
from pliant.frontend.convert import as_traced, value_of
from pliant.frontend.failures import fail_if
from pliant.frontend.number import with_kind
from pliant.frontend.sizes import Size, note_range, size_of, taken_apart, traced, wrapped
from pliant.ops.bits import logical_not
from pliant.ops.compare import equal
from pliant.ops.shape import iota

NP: Final[Any] = np
JOINS: Final = 6
WIDE: Final = 4096
"""How often lists of unknown lengths are put together, and to how many elements at most: each time, `t = t[:i] + t[i:]`
has room for twice as many."""


def part(elements: Sequence[Any], key: slice) -> list[Any] | None:
    """`elements[key]`; None if the elements are not alike."""
    form = _form_of(elements)
    if form is None:
        return None
    *columns, count = form.values(elements)
    n = taken_apart(count)
    rows = [bounded(fresh(column, is_array=True), (n, *column.shape[1:])) for column in columns]
    if n.known is not None:
        rows = [row[: n.known] for row in map(whole_of, rows)]
    parts = [row[key] for row in rows]
    extent = extents_of(parts[0])[0]
    size = extent if isinstance(extent, Size) else Size(extent)
    return _listed(form, [whole_of(x).value for x in parts], size, size, size)


def joined(*lists: Sequence[Any]) -> list[Any] | None:
    """The elements of several lists; None if they are not alike, or if parts make too many of them."""
    given = [x for x in lists if x]
    if not any([type(x) is Front for elements in given for x in elements]):
        return [x for elements in given for x in elements]
    form = _form_of(*given)
    rooms = [_form_of(elements) for elements in given]
    if form is None:
        return None
    room = sum([own.room for own in rooms if own is not None])
    if form.joins >= JOINS and room > WIDE:
        return None
    form = replace(form, joins=form.joins + 1)
    columns, count = list[Any](), Size(0)
    for elements, own in zip(given, rooms, strict=True):
        assert own is not None
        first = not columns
        *more, n = replace(form, room=room if first else own.room).values(elements)
        if first:
            columns = [fresh(column, is_array=True) for column in more]
        for column, x in zip(columns, () if first else more, strict=not first):
            column[slice(traced(count), traced(count + own.room))] = fresh(x, is_array=True)
        count = count + taken_apart(n)
    lows, highs = zip(*map(extent_of, given), strict=True)
    return _listed(form, [column.value for column in columns], count, sum(lows, Size(0)), sum(highs, Size(0)))


def without(elements: Sequence[Any], key: Any, error: IndexError) -> list[Any] | None:
    """The elements but for the one at a place, which must be there; None if they are not alike."""
    form = _form_of(elements)
    if form is None:
        return None
    *columns, count = form.values(elements)
    n = taken_apart(count)
    i = checked_place(key, n, error)
    if form.room < 2:
        made = columns
    elif i.known is not None:
        made = [_spliced(column, i.known, (), i.known + 1).value for column in columns]
    else:
        order = places_of(form.room - 1)
        order = order + (order >= traced(i))
        made = [NP.take(fresh(column, is_array=True), order, axis=0).value for column in columns]
    form = form.with_one_less()
    return _listed(form, made, n - 1, form.low, form.high)


def with_new(elements: Sequence[Any], key: Any, x: Any) -> list[Any] | None:
    """The elements with one more before a place; None if they are not alike."""
    if not elements:
        return [x]
    form, both = _form_of(elements), _form_of([*elements, x])
    if form is None or both is None:
        return None
    form = replace(form, element=both.element)
    *columns, count = form.values(elements)
    n = taken_apart(count)
    i = _clamped(key, n)
    parts, kinds = form.element.leaves(x), form.element.kinds
    new = [fresh(value_of(as_traced(leaf), kind.type.dtype)) for leaf, kind in zip(parts, kinds, strict=True)]
    if i.known is not None:
        made = [_spliced(column, i.known, (y,), i.known).value for column, y in zip(columns, new, strict=True)]
    else:
        numbers = places_of(form.room + 1)
        order = NP.minimum(numbers - (numbers > traced(i)), max(form.room - 1, 0))
        rows = [NP.take(fresh(column, is_array=True), order, axis=0) for column in columns]
        for row, y in zip(rows, new, strict=True):
            row[traced(i)] = y
        made = [row.value for row in rows]
    return _listed(form, made, n + 1, form.low + 1, form.high + 1)


def are_equal_to(elements: Sequence[Any], x: Any) -> TracedArray | None:
    """Which of the elements, and of the places after them, equal an object; None if they cannot be compared."""
    form = _form_of([*elements, x]) if elements else None
    if form is None or not form.element.is_told_by_numbers:
        return None
    *columns, count = form.values(elements)
    found = places_of(form.room) < with_kind(count, INDEX)
    for column, leaf in zip(columns, form.element.leaves(x), strict=True):
        found = found & (fresh(column, is_array=True) == leaf)
    return found


def place_in(found: TracedArray, error: ValueError) -> Any:
    """The first place that was found, which there must be."""
    fail_if(logical_not(value_of(NP.any(found), "bool")), error)
    place = with_kind(value_of(NP.argmax(found), "i64"), INDEX)
    note_range(place, 0, found.shape[0] - 1)
    return place


def are_equal(one: Sequence[Any], two: Sequence[Any]) -> Any:
    """Whether two lists hold equal elements."""
    form = _form_of(one, two)
    if form is None or not form.element.is_told_by_numbers:
        return None
    *columns, n = form.values(one)
    *others, m = form.values(two)
    differ = False
    for a, b in zip(columns, others, strict=True):
        differ = differ | (fresh(a, is_array=True) != fresh(b, is_array=True))
    inside = places_of(form.room) < with_kind(n, INDEX)
    return with_kind(equal(n, m), INDEX) & ~NP.any(inside & differ)


def _form_of(*lists: Sequence[Any]) -> Form | None:
    """The form that holds each of several lists with the first element in the first row; None if there is none."""
    form = Form.of(*lists)
    return form and replace(form, is_ring=False)


def _listed(form: Form, columns: Sequence[Value], count: Size, low: Size, high: Size) -> list[Any]:
    """A list of elements that lie in arrays."""
    if count.known is not None:
        low = high = count
    most = high.range[1]
    made = [c if most is None else fresh(c, is_array=True)[:most].value for c in columns]
    return replace(form, room=made[0].shape[0], low=low, high=high).listed([*made, count.value])


def places_of(n: int) -> Any:
    """0, 1, …, n - 1."""
    return fresh(iota(n), is_array=True)


def _spliced(column: Value, stop: int, new: Sequence[Any], start: int) -> Any:
    """The rows before a place, new ones, and those from another place on."""
    x = fresh(column, is_array=True)
    return NP.concatenate([x[:stop], *[y[None] for y in new], x[start:]])


def _clamped(key: Any, n: Size) -> Size:
    """A place before one of n elements, or after all of them, as `insert` finds it."""
    i = wrapped(size_of(key), n)
    if i.is_at_least(0) and n.is_at_least(i):
        return i
    return size_of(with_kind(value_of(NP.clip(traced(i), 0, traced(n)), "i64"), INDEX))
