"""Lists of lists of numbers that are read and written at places known only at run time, as one array.

dp = [[0] * 5 for _ in range(4)]      the elements are those of an array of rank 2, which each write makes anew;
dp[i][j] = dp[i - 1][k] + 1           `dp[i]` is a list of the elements of a row, which knows where it is from
"""

from __future__ import annotations

import operator
from typing import Any, cast, final

from pliant.core.data import frozen
from pliant.core.origin import here
from pliant.errors import UnsupportedError
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.control import lists
from pliant.frontend.control.growth import item as plain_item
from pliant.frontend.control.growth import plainly
from pliant.frontend.control.perhaps import begin
from pliant.frontend.control.region import born, note, place_of
from pliant.frontend.control.tables import held, nested_kind, numbers
from pliant.frontend.control.unbound import Unbound
from pliant.frontend.convert import value_of
from pliant.frontend.number import Kind, with_kind
from pliant.frontend.tracing import Storage, current


@final
@frozen(eq=False)
class Row:
    """A list that was read at a traced place of a list of lists, which had some members then."""

    elements: list[Any]
    lists: list[Any]
    index: Any
    members: tuple[list[Any], ...]

    @property
    def is_there(self) -> bool:
        """Whether the list of lists still has the members that it had."""
        return len(self.members) == len(self.lists) and all(map(operator.is_, self.members, self.lists))

    def refused(self, name: str) -> UnsupportedError:
        """The error of a method that changes it: the one in the list of lists would stay as it was."""
        what = f".{name} changes a list that was read at a place which is known only at run time"
        return self.needing_place(what, "write its elements, rows[k][i] = x; or pass the place as a Python integer")

    def needing_place(self, what: str, hint: str) -> UnsupportedError:
        """An error that there would not be if the place was known."""
        return UnsupportedError(what, hint=hint).at(("here", here())).needing(value_of(self.index))


def item(holder: Any, key: Any) -> Any:
    """`holder[key]` of a list, a tuple or a dict."""
    begin(holder, key)
    if isinstance(holder, dict):
        return plainly(holder, key)
    row = row_of(holder)
    if row is not None and cast("Any", type(key)) is not slice:
        return element(row, key)
    made = lists.item(holder, key) if cast("Any", type(holder)) in (list, tuple) else None
    if made is not None:
        return made
    is_open = type(key) is TracedArray and key.concrete is None and not key.shape
    found = row_at(holder, key) if is_open and cast("Any", type(holder)) is list else None
    return plain_item(holder, key) if found is None else found


def grid_kind(lists: Any) -> Kind | None:
    """What the numbers of a list of lists are, if one array of rank 2 can hold them: each list is one of its own."""
    rows: list[Any] = lists
    if not rows or not all([type(row) is list for row in rows]) or len({id(row) for row in rows}) < len(rows):
        return None
    if not rows[0] or any([len(row) != len(rows[0]) for row in rows]):
        return None
    return nested_kind(rows)


def row_at(lists: list[Any], index: Any) -> list[Any] | None:
    """`lists[index]` at a traced place; None if these are no lists of numbers."""
    kind = grid_kind(lists)
    if kind is None:
        return None
    note(place_of("rows", lists))  # several lists become one array only if there is no other way
    made = born(_elements(fresh(held(lists, kind), is_array=True), index, kind))
    row = Row(made, lists, index, (*lists,))
    current().outermost.rows[id(made)] = current().outermost.read[id(made)] = row
    return made


def row_of(elements: Any) -> Row | None:
    """What a list is a row of; None if it is any other list."""
    rows = current().outermost.rows
    return rows.get(id(elements)) if rows else None


def element(row: Row, index: Any) -> Any:
    """`row[index]`."""
    if not row.is_there:
        return item([*row.elements], index)
    kind = grid_kind(row.lists)
    assert kind is not None
    return with_kind(fresh(held(row.lists, kind), is_array=True)[row.index, index].value, kind)


def write(row: Row, index: Any, x: Any) -> bool:
    """`row[index] = x`, in the lists that it is a row of; whether x is a number like theirs."""
    if not row.is_there:
        raise row.needing_place(
            "a list is written that was read at a place known only at run time, where there may be another one now",
            "write to it before: row = rows[k]; row[i] = x; rows[j] = other",
        )
    kind = nested_kind(row.lists, [[x]])
    if kind is None:
        return False
    array = fresh(held(row.lists, kind), is_array=True)
    array[row.index, index] = x
    place = place_of("rows", row.lists)
    note(place)
    stored = TracedArray(Storage.holding(current(), array.value))
    place.set(numbers(stored, kind))
    _forget(row.lists, but=row)
    row.elements[:] = _elements(stored, row.index, kind)
    return True


def written_apart(holder: Any) -> None:
    """A list is written that may be one of lists of which rows were read."""
    for row in list(current().outermost.rows.values()):
        if any([each is holder for each in row.lists]):
            _forget(row.lists)


def _forget(lists: list[Any], but: Row | None = None) -> None:
    """Rows that were read before a write are not what they were: their use is an error."""
    rows = current().outermost.rows
    for key, row in list(rows.items()):
        if row.lists is lists and row is not but:
            del rows[key]
            stale = Unbound(
                "a row of a list of lists was read at a place known only at run time, before the lists were written",
                "read it again",
            )
            row.elements[:] = [stale] * len(row.elements)


def _elements(array: TracedArray, index: Any, kind: Kind) -> list[Any]:
    """The elements of a row."""
    return numbers(fresh(array[index].value, is_array=True), kind)
