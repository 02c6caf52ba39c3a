"""Lists of numbers that are written at places known only at run time: their elements become those of an array.

h = [0] * 5                  h = [rows[0], …, rows[4]] of an array that is made anew by each write,
h[k] += x                    and that a loop carries
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final, cast, final

from pliant.core.ir import Value, param
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.control.growth import element_of
from pliant.frontend.control.region import Place, note
from pliant.frontend.convert import as_traced, value_of
from pliant.frontend.number import Kind
from pliant.frontend.tracing import Storage, current
from pliant.frontend.view import ReshapeLens, SliceLens


def number_kind(elements: list[Any]) -> Kind | None:
    """What the elements of a list are, if they are numbers that one array can hold."""
    unlike: dict[Any, Any] = {_likeness(x): x for x in elements}
    element = element_of([*unlike.values()])
    if element is None or not element.structure.is_leaf() or element.kinds[0].type.shape:
        return None
    return element.kinds[0] if element.kinds[0].is_scalar or element.kinds[0].is_weak else None


def _likeness(x: Any) -> Any:
    """What two numbers have in common only if they are of one kind."""
    kind = cast("Any", type(x))
    if kind in _PYTHONS:
        return kind
    if kind is TracedArray and len(x.lenses) == 2 and type(x.lenses[0]) is SliceLens:
        return id(x.storage), x.lenses[1], x.is_scalar, x.is_weak
    return id(x)


_PYTHONS: Final = frozenset((bool, int, float, complex))


def nested_kind(*lists: list[Any]) -> Kind | None:
    """What the numbers of several lists of lists are."""
    some = [x for rows in lists for x in ([rows[0][0]] if stored(rows) is not None else chain.from_iterable(rows))]
    return number_kind(some)


def numbers(array: TracedArray, kind: Kind) -> list[Any]:
    """The elements of an array that nobody writes, as a list; of rank 2, as a list of lists."""
    tail, ones = ReshapeLens(()), (1,) * array.ndim

    def number(*place: int) -> TracedArray:
        lenses = SliceLens(place, ones, ones), tail
        return TracedArray(array.storage, lenses, is_scalar=kind.is_scalar, is_weak=kind.is_weak)

    if array.ndim == 1:
        return [number(i) for i in range(array.shape[0])]
    return [[number(i, j) for j in range(array.shape[1])] for i in range(array.shape[0])]


def stored(rows: list[Any]) -> TracedArray | None:
    """The array whose elements are the numbers of a list of lists, if `numbers` made them."""
    first = rows[0][0]
    if type(first) is not TracedArray or not first.lenses or first.concrete is not None:
        return None
    storage = first.storage
    if storage.value.shape != (len(rows), len(rows[0])):
        return None
    places = [(x, i, j) for i, row in enumerate(rows) for j, x in enumerate(row)]
    return TracedArray(storage) if all([_is_at(x, storage, i, j) for x, i, j in places]) else None


def _is_at(x: Any, storage: Storage, i: int, j: int) -> bool:
    if type(x) is not TracedArray or x.storage is not storage or not x.lenses:
        return False
    window = x.lenses[0]
    return type(window) is SliceLens and window.start == (i, j)


def held(elements: list[Any], kind: Kind) -> Value:
    """The elements as one value."""
    known = stored(elements) if type(elements[0]) is list else None
    return value_of(as_traced([*elements]) if known is None else known, kind.type.dtype)


def written(holder: list[Any], key: TracedArray, value: Any) -> list[Any] | None:
    """The elements of a list after `holder[key] = value`; None if they are not numbers."""
    kind = number_kind([*holder, value])
    if kind is None or not holder:
        return None
    array = fresh(held(holder, kind), is_array=True)
    array[key] = value
    return numbers(TracedArray(Storage.holding(current(), array.value)), kind)


@final
@dataclass(eq=False)
class Table:
    """A list of numbers, or of lists of them, that the steps of a loop change, and what it holds before them."""

    place: Place
    before: list[Any]
    kind: Kind
    params: list[Value] = field(default_factory=list[Value])

    def enter(self) -> None:
        """Put the elements of a parameter into the list."""
        type = self.kind.type if self.place.kind == "whole" else self.kind.type.stacked(len(self.before[0]))
        p = param(type.stacked(len(self.before)), "elements")
        self.params = [p]
        note(self.place)
        self.place.set(self.numbers(p))

    def numbers(self, array: Value) -> list[Any]:
        """What the place holds, of the elements of an array."""
        return numbers(TracedArray(Storage.holding(current(), array)), self.kind)

    def start(self) -> Value:
        """What it holds before the loop."""
        return held(self.before, self.kind)

    def end(self) -> Value:
        """What it holds after a step."""
        return held(self.place.get(), self.kind)

    def after(self, result: Value) -> list[Any]:
        """What it holds after the loop."""
        return self.numbers(result)
