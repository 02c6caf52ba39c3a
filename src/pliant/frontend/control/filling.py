"""A list whose length the steps of a loop change, as it goes from step to step: see `fronts`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any, Final, Protocol, final

from pliant.core.data import mutable
from pliant.core.ir import Value, const, param
from pliant.core.types import Type, itemsize
from pliant.frontend.control.fronts import Form, extent_of, length_of
from pliant.frontend.control.growth import Element
from pliant.frontend.control.region import Place, note
from pliant.frontend.failures import Full, can_fail, fail_if
from pliant.frontend.sizes import Size
from pliant.frontend.tracing import current
from pliant.ops.compare import less


@final
@mutable(eq=False)
class Filling:
    """A list, what it holds before the loop, and what the steps make of it: `fewest` elements more each, and `more` at
    most. `form` holds what it is before and after a step. room: for how many elements, if nothing bounds the number of
    steps: where there come more, the call starts again with more room."""

    place: Place
    before: list[Any]
    form: Form
    low: Size  # how many elements there are at least before the loop, or at any time
    fewest: int
    more: int
    steps: Size  # how many there are at most; 0 if there are no more elements after them
    least: Size  # how many there are at least
    room: int = 0
    params: list[Value] = field(default_factory=list[Value])

    @classmethod
    def of(cls, place: Place, before: list[Any], plan: Steps, known: Filling | None) -> Filling | None:
        """How the list goes on that is `before` before the loop; None if it has no form. known: the same, as far as
        was known before this step."""
        now: list[Any] = place.get()
        form = Form.of(before, now) if known is None else known.form.joined(now)
        low, high = extent_of(before)
        first, index = low, Size(0, ((plan.index, 1),))
        if known is not None:
            first, low, high = known.low, known.low + index * known.fewest, known.high(index)
        fewest, more = (extent_of(now)[0] - low).range[0], (extent_of(now)[1] - high).range[1]
        if form is None or more is None:
            return None
        fewest = -1 if fewest is None else fewest if known is None else min(fewest, known.fewest)
        more = max(more, 0 if known is None else known.more)
        room = _room(before, form.element, more) if more and plan.most is None else 0
        if room is None:
            return None
        if fewest < 0 or room:
            first, fewest = Size(0), 0
        steps = (plan.most if more else None) or Size(0)
        return cls(place, before, form, first, fewest, more, steps, plan.least, room)

    def is_like(self, other: Filling) -> bool:
        """Whether both hold lists of the same forms."""
        mine, others = [
            (x.element, x.form.is_ring and x.form.room, x.low, x.fewest, x.more, x.least, x.steps, x.room)
            for x in (self, other)
        ]
        return mine == others

    @property
    def element(self) -> Element:
        """What its elements have in common."""
        return self.form.element

    def high(self, steps: Size) -> Size:
        """How many elements there are at most after some steps; with a room, before another one."""
        return Size(self.room - self.more) if self.room else extent_of(self.before)[1] + steps * self.more

    @cached_property
    def given(self) -> Form:
        """The form that holds the list before and after all steps."""
        low, high = self.low + self.least * self.fewest, Size(self.room) if self.room else self.high(self.steps)
        return replace(self.form, room=max(self.form.room, high.range[1] or 0), low=low, high=high)

    def enter(self, index: Value) -> None:
        """Put a front of parameters into the list. index: the number of the step."""
        types = [kind.type.stacked(self.given.room) for kind in self.element.kinds]
        numbers = ("length", "first") if self.given.is_ring else ("length",)
        self.params = [param(type, "elements") for type in types] + [param(Type("i64"), name) for name in numbers]
        note(self.place)
        step = Size(0, ((index, 1),))
        form = replace(self.given, low=self.low + step * self.fewest, high=self.high(step))
        self.place.set([form.front(self.params)])

    def watch(self) -> None:
        """After a step: without room for what another one may add, the call starts again."""
        if self.room:
            most, length = self.room - self.more, length_of(self.place.get())
            fail_if(less(const(most, "i64"), length.value), Full(current().outermost.lengths.room))

    def start(self, n: int) -> Value:
        """What the n-th parameter is before the loop."""
        return self.parts(self.before)[n]

    def parts(self, elements: Sequence[Any]) -> list[Value]:
        """What the list holds, as values."""
        return self.given.values(elements)

    def after(self, values: Sequence[Value]) -> list[Any]:
        """What it holds, of these values."""
        return self.given.listed(values)


class Steps(Protocol):
    """The steps of a loop."""

    @property
    def index(self) -> Value:
        """The number of the one that is traced."""
        ...

    @property
    def most(self) -> Size | None:
        """How many there are; at most, if that is known only at run time. None if nothing bounds it."""
        ...

    @property
    def least(self) -> Size:
        """How many of them are taken to their end."""
        ...


def _room(before: Sequence[Any], element: Element, more: int) -> int | None:
    """For how many elements there is room in a list to which so many steps add that nothing bounds them, `more` each;
    None if there is no bound to try."""
    lengths, high = current().outermost.lengths, extent_of(before)[1].range[1]
    if not can_fail() or high is None or not 0 < lengths.room <= MOST:
        return None
    size = sum([kind.type.size * itemsize(kind.type.dtype) for kind in element.kinds])
    return high + max(lengths.room * LARGE // max(size, LARGE), 2 * more)


LARGE: Final = 1 << 10  # bytes of an element of which there are fewer
MOST: Final = 1 << 20  # elements of a list that nothing bounds
