"""Elements that are known while tracing, by number: of a tuple or list of Python's numbers, or of tuples of them.

for dx, dy in ((1, 0), (0, 1), (-1, 0), (0, -1)): …     dx, dy = X[k], Y[k] at step k, of two arrays

Copies of a body see what the numbers are, so they are one loop of the program only if the body has many operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from pliant.core.ir import Value
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.control.items import Made, Steps, scaled
from pliant.frontend.control.objects import flatten, unflatten
from pliant.frontend.convert import as_traced, value_of
from pliant.frontend.number import kind_of, with_kind
from pliant.frontend.sizes import note_range


def offsets(elements: Any) -> Steps | None:
    """The elements by number, if they are known; None for others."""
    listed = _known(elements)
    found = tuple(listed)
    rows = [flatten(x) for x in found]
    if len(found) < 2 or any([structure != rows[0][1] for _, structure in rows]):
        return None
    columns: list[tuple[Any, ...]] = [*zip(*[leaves for leaves, _ in rows], strict=True)]
    if not columns or not all(map(_are_alike, columns)):
        return None

    def at(k: Any) -> Any:
        return found[k] if type(k) is int else unflatten(rows[0][1], [_entry(column, k) for column in columns])

    return Steps(len(found), at, known=listed)


def told(element: Any, last: Any) -> dict[Value, Any]:
    """The numbers of an element that are traced, with those of the last one."""
    pairs = zip(flatten(element)[0], flatten(last)[0], strict=True)
    return {x.value: y for x, y in pairs if type(x) is TracedArray}


def are_known(elements: Any) -> bool:
    """Whether elements are those of a tuple or range, and cannot be others later."""
    return type(elements) is range or (type(elements) is tuple and len(_known(cast("Any", elements))) > 0)


def _known(elements: Any) -> Sequence[Any]:
    """The elements, if they may be numbers or tuples of them; none for others."""
    if isinstance(elements, Made):
        is_whole = all([are_known(part) for part in elements.parts if type(part) is not int])
        return tuple(elements) if is_whole and not elements.is_strict else ()
    found: Sequence[Any] = elements if type(elements) in (tuple, list) else ()
    return found if all([type(x) in (int, float, tuple) for x in found]) else ()


def _are_alike(column: tuple[Any, ...]) -> bool:
    return type(column[0]) in (int, float) and all([type(x) is type(column[0]) for x in column])


def _entry(column: tuple[Any, ...], k: TracedArray) -> Any:
    """The k-th of some numbers."""
    first, step = column[0], column[1] - column[0]
    if type(first) is int and column == tuple([first + step * n for n in range(len(column))]):
        return scaled(k, first, step) if step else first
    kind = kind_of(as_traced(first))
    table = fresh(value_of(as_traced(np.array(column)), kind.type.dtype), is_array=True)
    made = with_kind(value_of(table[k], kind.type.dtype), kind)
    if type(first) is int:
        note_range(made, min(column), max(column))
    return made
