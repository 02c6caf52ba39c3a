"""Arrays that each step of a counted loop makes shorter or longer by the same number of elements: an array of the
greatest extents that it can have, and extents that are affine in the number of the step.

for i in range(100):
    v = p * v[:-1] + q * v[1:]          before step i, v has n - i elements; after the loop n - 100, as anybody knows
"""

from __future__ import annotations

from typing import Any, Final, final

from pliant.core.data import frozen
from pliant.core.ir import Value, const, param
from pliant.core.types import Type
from pliant.frontend.array import TracedArray
from pliant.frontend.blocks import Extent
from pliant.frontend.bounded import Bounded, extents_of, whole_of
from pliant.frontend.control.unsized import as_array, with_extents
from pliant.frontend.number import Kind, with_kind
from pliant.frontend.sizes import Size, size_of
from pliant.frontend.strides import order_of
from pliant.ops.block import UpdateBlock
from pliant.ops.update import pad, slice_window

STEPS: Final = 24  # from so many on copies of the body take longer to compile than they save
LARGE: Final = 1 << 13  # elements of an array of which copies save twice as much


@final
@frozen
class Tapered:
    """What such an array is to a loop: the kind of the whole, its extents before the loop, and what a step adds to
    them."""

    kind: Kind
    extents: tuple[Extent, ...]
    growth: tuple[int, ...]

    def params(self, hint: str) -> list[Value]:
        """Parameters for one of these."""
        return [param(self.kind.type, hint)]

    def extents_after(self, n: Size) -> list[Extent]:
        """The extents after n steps."""
        pairs = zip(self.extents, self.growth, strict=True)
        return [n * more + size_of(start) if more else start for start, more in pairs]

    def at(self, whole: TracedArray, n: Size) -> Bounded:
        """The array of a whole after n steps, which are not known."""
        return Bounded(whole, self.extents_after(n))

    def start(self, x: Any) -> Value:
        """What the array holds before the loop, and zeros in the room that is left."""
        value = whole_of(x).value
        more = tuple([n - m for n, m in zip(self.kind.type.shape, value.shape, strict=True)])
        return pad(value, (0,) * len(more), more) if any(more) else value

    def end(self, before: Value, x: Any) -> Value:
        """What it holds after a step, in the memory of what it held before; nobody looks at the rest."""
        value, rank = whole_of(x).value, len(self.growth)
        kept = tuple(map(min, value.shape, self.kind.type.shape))
        part = slice_window(value, (0,) * rank, (1,) * rank, kept)
        lengths = [size_of(n).value for n in extents_of(x)]
        return UpdateBlock((1,) * rank)(before, part, *[const(0, "i64")] * rank, *lengths)

    def last(self, whole: TracedArray, length: int, *, is_alone: bool) -> Any:
        """The array after all steps. is_alone: whether no other name is bound to it."""
        extents = [size_of(n) for n in self.extents_after(Size(length))]
        known = [n.known for n in extents]
        made = with_extents(whole, [n if k is None else k for n, k in zip(extents, known, strict=True)])
        if None in known or not is_alone:
            return made
        array = with_kind(made.value, self.kind)
        array.storage.writeable, array.storage.is_copy = whole.storage.writeable, whole.storage.is_copy
        return array


def tapered_of(first: Any, old: Any, new: Any, length: int) -> Tapered | None:
    """The plan for a name that is bound to `first` before a loop of so many steps, and to `old` before one and `new`
    after it; None if these are no such arrays."""
    ranks = {None if (array := as_array(x)) is None else array.ndim for x in (first, old, new)}
    if None in ranks or len(ranks) > 1:
        return None
    growth = [(size_of(n) - size_of(m)).known for m, n in zip(extents_of(old), extents_of(new), strict=True)]
    added = tuple([n for n in growth if n is not None])
    if len(added) < len(growth) or not any(added):
        return None
    whole = whole_of(first)
    if whole.size >= LARGE and length < 2 * STEPS:
        return None
    room = tuple([n + max(more, 0) * length for n, more in zip(whole.shape, added, strict=True)])
    kind = Kind(Type(whole.type.dtype, room))
    if whole_of(new).type.dtype != kind.type.dtype or any([order_of(whole_of(x)) is not None for x in (first, new)]):
        return None
    found = Tapered(kind, extents_of(first), added)
    return found if all([size_of(n).is_at_least(0) for n in found.extents_after(Size(length))]) else None
