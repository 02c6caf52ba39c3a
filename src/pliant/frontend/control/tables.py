"""Lists of numbers that are written at places known only at run time: their elements become those of an array.

h = [0] * 5                  h = [rows[0], …, rows[4]] of an array that is made anew by each write,
h[k] += x                    and that a loop carries
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

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
    element = element_of(elements)
    if element is None or not element.structure.is_leaf() or element.kinds[0].type.shape:
        return None
    return element.kinds[0] if element.kinds[0].is_scalar or element.kinds[0].is_weak else None


def numbers(array: TracedArray, kind: Kind) -> list[Any]:
    """The elements of an array that nobody writes, as a list."""
    tail = ReshapeLens(())
    return [
        TracedArray(array.storage, (SliceLens((n,), (1,), (1,)), tail), is_scalar=kind.is_scalar, is_weak=kind.is_weak)
        for n in range(array.shape[0])
    ]


def held(elements: list[Any], kind: Kind) -> Value:
    """The elements as one value."""
    return value_of(as_traced([*elements]), kind.type.dtype)


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
    """A list of numbers that the steps of a loop change, and what it holds before them."""

    place: Place
    before: list[Any]
    kind: Kind
    params: list[Value] = field(default_factory=list[Value])

    def enter(self) -> None:
        """Put the elements of a parameter into the list."""
        p = param(self.kind.type.stacked(len(self.before)), "elements")
        self.params = [p]
        note(self.place)
        self.place.set(numbers(TracedArray(Storage.holding(current(), p)), self.kind))

    def start(self) -> Value:
        """What it holds before the loop."""
        return held(self.before, self.kind)

    def end(self) -> Value:
        """What it holds after a step."""
        return held(self.place.get(), self.kind)

    def after(self, result: Value) -> list[Any]:
        """What it holds after the loop."""
        return numbers(TracedArray(Storage.holding(current(), result)), self.kind)
