"""Reads of an array that has been updated since: from the updated array, or before the update.

Then nobody reads the old array any more, and the update is made where it lies. Programs often have
it the other way round: a read looks back past the writes that do not concern it, and what is cheap
is computed where it is used, even if that is later.
"""

from __future__ import annotations

from typing import Final, final

from pliant.kernel.ir import Buffer, Load, Nest, Root, Step, writes
from pliant.kernel.overlap import are_apart, loops_of, seen
from pliant.kernel.schedule import scalars
from pliant.kernel.spill import spilled

MOST: Final = 64  # later readers of one array that are looked at: so this takes linear time


def read_in_time(steps: list[Step]) -> list[Step]:
    """The steps, such that an array that is updated is not read later, where that can be."""
    return _Readers(steps).all()


@final
class _Readers:
    def __init__(self, steps: list[Step]) -> None:
        self.steps = steps
        self.readers: dict[Buffer, list[int]] = {}
        self.maker: dict[Buffer, int] = {}
        self.before: dict[int, list[Step]] = {}
        for number, step in enumerate(steps):
            for buffer in step.reads:
                self.readers.setdefault(buffer, []).append(number)
            for buffer in writes(step):
                self.maker[buffer] = number

    def all(self) -> list[Step]:
        """Look at all updates in turn."""
        for number, step in enumerate(self.steps):
            root = step.roots[0] if isinstance(step, Nest) and len(step.roots) == 1 else None
            if isinstance(step, Nest) and root and root.base and root.buffer:
                self.update(number, step, root, root.base, root.buffer)
        return [part for n, step in enumerate(self.steps) for part in (*self.before.get(n, ()), step)]

    def update(self, number: int, step: Nest, root: Root, old: Buffer, new: Buffer) -> None:
        """Let what reads an array after its update read the new one, or before, if all of it can."""
        later = [n for n in self.readers.get(old, ()) if n > number and old in self.steps[n].reads]
        if len(later) > MOST:
            return
        untouched = [n for n in later if is_untouched(self.steps[n], root, step)]
        others = [n for n in later if n not in untouched]
        if not all([self.can_be_early(self.steps[n], old, number) for n in others]):
            return
        for n in untouched:
            redirect(self.steps[n], old, new)
            self.readers.setdefault(new, []).append(n)
        for n in others:
            self.split(n, number)

    def can_be_early(self, reader: Step, old: Buffer, number: int) -> bool:
        """Whether a step is an update whose values can be computed before the step of a number."""
        if not isinstance(reader, Nest) or len(reader.roots) != 1 or not reader.roots[0].base:
            return False
        base = reader.roots[0].base
        read = {s.buffer for s in scalars(reader.body) if isinstance(s, Load)}
        return base is not old and all([self.maker.get(buffer, -1) < number for buffer in read])

    def split(self, reader: int, number: int) -> None:
        """Compute what an update writes before the step of a number, and write it where it is now."""
        nest = self.steps[reader]
        assert isinstance(nest, Nest)
        mover = spilled(nest, nest.roots[0], "it is made from what has been overwritten where it is needed")
        nest.reads = {s.buffer for s in scalars(nest.body) if isinstance(s, Load)}
        self.before.setdefault(number, []).append(nest)
        self.steps[reader] = mover
        for buffer in nest.reads:
            self.readers.setdefault(buffer, []).append(number)


def is_untouched(reader: Step, root: Root, writer: Nest) -> bool:
    """Whether a nest reads, of the array that a root updates, only what the update leaves as it is."""
    if not isinstance(reader, Nest) or any([other.base is root.base for other in reader.roots]):
        return False
    loads = [s for s in scalars(reader.body) if isinstance(s, Load) and s.buffer is root.base]
    store, loops = seen(root.offset, loops_of(writer)), loops_of(reader)
    return all([are_apart(seen(load.offset, loops), store) for load in loads])


def redirect(reader: Step, old: Buffer, new: Buffer) -> None:
    """Let a nest read a newer version of an array."""
    assert isinstance(reader, Nest)
    for s in scalars(reader.body):
        if isinstance(s, Load) and s.buffer is old:
            s.buffer = new
    reader.reads = {new if buffer is old else buffer for buffer in reader.reads}
