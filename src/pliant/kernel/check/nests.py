"""Nests that write where they read: no element is loaded after something else has been stored there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import final

from pliant.core.data import frozen
from pliant.kernel.check.faults import fault, named, overlapping
from pliant.kernel.check.order import Access, Level, access, comes_before
from pliant.kernel.ir import Blocks, Buffer, Fold, Load, Nest, Root, Var, root_of, writes
from pliant.kernel.schedule import scalars


@final
@frozen
class Running:
    """A nest as it runs: its loads, and all loops around and in them."""

    nest: Nest
    loads: dict[Buffer, list[Load]]
    loops: frozenset[Var]

    @property
    def levels(self) -> list[Level]:
        """Its own loops, the outermost first."""
        return [Level(v, v, v in self.nest.backward) for v in self.nest.vars]

    def load(self, load: Load) -> Access:
        """What a load touches."""
        return access(load.buffer.offset, load.dtype, load.offset, self.loops, self.nest.limits.items())

    def store(self, root: Root) -> Access:
        """What the store of a root touches."""
        assert root.buffer
        ends = self.nest.limits.items()
        return access(root.buffer.offset, root.buffer.type.dtype, root.offset, self.loops, ends)

    def root(self, buffer: Buffer) -> Root | None:
        """The root that goes to a buffer."""
        return next((root for root in self.nest.roots if root.buffer is buffer), None)


def running(nests: Sequence[Nest]) -> list[Running]:
    """The nests that run: not those over an empty space."""
    found = list[Running]()
    for nest in nests:
        if 0 in nest.space or not nest.roots:
            continue
        loads, loops = dict[Buffer, list[Load]](), {*nest.vars}
        for s in scalars(nest.body):
            if isinstance(s, Load):
                loads.setdefault(s.buffer, []).append(s)
            elif isinstance(s, Fold):
                loops.update(s.vars)
        found.append(Running(nest, loads, frozenset(loops)))
    return found


def check_nests(nests: Sequence[Running], blocks: Blocks | None) -> None:
    """Stores of nests that run one after the other, or row by row if there are several, spare what is loaded."""
    made = {b: n for n, x in enumerate(nests) for b in writes(x.nest)}
    for n, x in enumerate(nests):
        _check_ring(x.nest)
        for root in x.nest.roots:
            _check_whole(x, root, len(nests) > 1, blocks)
        for buffer in x.loads:
            if buffer in made:
                _check_made(nests[made[buffer]], made[buffer], x, n, buffer)
    for out, source in overlapping(made, [b for x in nests for b in x.loads if b not in made]):
        if root_of(out) is not root_of(source):
            raise fault(out, f"shares memory with {named(source)}, and LLVM is told that it does not")
        at = made[out]
        for n, x in enumerate(nests):
            for load in x.loads.get(source, ()):
                if _is_lost(nests[at], out, x, load, n - at, len(nests) > 1):
                    raise fault(out, f"overwrites elements of {named(source)} before they are read")


def _is_lost(maker: Running, out: Buffer, reader: Running, load: Load, later: int, has_rows: bool) -> bool:
    """Whether a store to `out` may come before a load of the same element, of something else. later: by
    how many nests the load's comes after the store's."""
    nest, root = maker.nest, maker.root(out)
    if root is None:  # a ring, which nothing may share
        return True
    store, loaded = maker.store(root), reader.load(load)
    if later:
        row = [Level(nest.vars[0], reader.nest.vars[0])]
        return comes_before(store, loaded, row, same=later > 0)
    levels = maker.levels
    if root.fold:
        kept = [lv for lv in levels if lv.first not in root.folded]
        return levels[: len(kept)] != kept or comes_before(store, loaded, kept, same=False)
    if nest.delay and nest.delay.root is root:
        return has_rows or comes_before(store, loaded, levels, same=False, gaps=(nest.delay.steps + 1,))
    # The loops of a nest that is not swept may run in any order.
    return comes_before(store, loaded, levels, same=False) or (
        not nest.is_swept and comes_before(loaded, store, levels, same=False)
    )


def _check_whole(x: Running, root: Root, has_rows: bool, blocks: Blocks | None) -> None:
    """What a root makes is all of its array, or the rest is there before."""
    buffer, nest = root.buffer, x.nest
    if buffer is None or root.base:
        return
    points = [v.extent for v in nest.vars if v not in root.folded]
    is_row = has_rows and root.value.type != buffer.type
    size = buffer.type.size
    if blocks and buffer in blocks.private:
        size = size // blocks.size * blocks.rows.extent
    if math.prod(points[1:] if is_row else points) != size:
        raise fault(buffer, f"is not written as a whole: {math.prod(points)} elements of {size}")


def _check_ring(nest: Nest) -> None:
    """What waits has room for two parts."""
    row = math.prod([v.extent for v in nest.vars[1:]])
    if nest.delay and nest.delay.ring.type.size < 2 * nest.delay.steps * row:
        raise fault(nest.delay.ring, "is too small for two parts")


def _check_made(maker: Running, made: int, reader: Running, at: int, buffer: Buffer) -> None:
    """A row that a nest reads has been made by an earlier nest for the same row."""
    root = maker.root(buffer)
    if root is None or made >= at:
        raise fault(buffer, "is read before it is made")
    row, other = maker.nest.vars[0], reader.nest.vars[0]
    store = maker.store(root)
    for load in reader.loads[buffer]:
        loaded = reader.load(load)
        if not store.factors.get(row):  # one row for all: what is there is of the same row
            is_early = bool(loaded.factors.get(other))
        else:
            is_early = comes_before(loaded, store, [Level(other, row)], same=False)
        if is_early or row in root.folded:
            raise fault(buffer, "is read for a row before that has been made")
