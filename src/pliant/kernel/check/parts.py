"""Nests in parts, in any order and at the same time: no part touches what another one writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import final

from pliant.core.data import frozen
from pliant.kernel.check.faults import fault, named
from pliant.kernel.check.memory import region_of
from pliant.kernel.check.nests import Running
from pliant.kernel.check.order import Access, Level, comes_before
from pliant.kernel.ir import Buffer, Root, Split, Var


@final
@frozen
class Touched:
    """What a nest loads or stores, and its loop that runs in parts."""

    buffer: Buffer
    access: Access
    loop: Var
    is_store: bool


def check_parts(nests: list[Running], split: Split) -> None:
    """Steps of the loop in parts are apart, but for memory of which each part has its own.

    What is put together afterwards is cleared before and written then: nothing may be read there at all.
    """
    for x in nests:
        if x.nest.is_swept or x.nest.delay or x.nest.limits:
            raise fault(_first(x), "is made in parts, but the loops of its nest have an order")
        for root in x.nest.roots:
            if root.buffer in split.private and root.buffer and root.buffer.type == root.value.type:
                raise fault(root.buffer, "is the memory of one part, but is needed afterwards")
            if root.buffer in split.added and root.buffer and not root.fold:
                raise fault(root.buffer, "is put together from parts, but is no fold")
    found = [touched for x in nests for touched in _touched(x, split)]
    stores = [touched for touched in found if touched.is_store]
    for one in stores:
        for other in found:
            if not region_of(one.buffer).overlaps(region_of(other.buffer)):
                continue
            if one.buffer in split.added and other is one:
                continue
            if one.buffer in split.added or _meets(one, other):
                what = "written" if other.is_store else "read"
                raise fault(one.buffer, f"is written by one part where {named(other.buffer)} is {what} by another")


def _touched(x: Running, split: Split) -> Iterator[Touched]:
    """All loads and stores of a nest outside private memory, but for totals, which are stored afterwards."""
    loop = split.loop if split.loop in x.nest.vars else x.nest.vars[0]
    for buffer, loads in x.loads.items():
        if buffer not in split.private:
            yield from [Touched(buffer, x.load(load), loop, False) for load in loads]
    for root in x.nest.roots:
        if root.buffer and root.buffer not in split.private and not _is_total(root, x):
            yield Touched(root.buffer, x.store(root), loop, True)


def _is_total(root: Root, x: Running) -> bool:
    return root.fold is not None and {*root.folded} >= {*x.nest.vars}


def _meets(one: Touched, other: Touched) -> bool:
    """Whether they may touch the same element at different steps of the loop."""
    there, back = Level(one.loop, other.loop), Level(other.loop, one.loop)
    return comes_before(one.access, other.access, [there], same=False) or comes_before(
        other.access, one.access, [back], same=False
    )


def _first(x: Running) -> Buffer:
    return next(root.buffer for root in x.nest.roots if root.buffer)
