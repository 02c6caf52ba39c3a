"""How often arrays have been written to when they are read: what reads one before and after a write needs it twice.

A write makes a new value, which is to lie in the memory of the old one. What is computed where it is read reads arrays
in the version of its operands; if one step reads an array in two versions, the earlier one must be kept.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Final, final

from pliant.core.ir import Node, Value
from pliant.kernel.late import WRITES
from pliant.kernel.reach import under_reshapes

FEW: Final = 16  # elements that cost next to nothing to keep


@final
class Versions:
    """The arrays of a function that are written to, and what is read of which version."""

    def __init__(self, order: Sequence[Node], kept: Container[Value]) -> None:
        """kept: arrays that no write may be made in."""
        self.written: dict[Value, tuple[Value, int]] = {}
        self.inside: dict[Value, dict[Value, int]] = {}  # of what is computed where it is read: the arrays it reads
        self.places = {node: n for n, node in enumerate(order)}
        self.ends: dict[tuple[Value, int], int] = {}  # of a version: the place of the write that ends it
        for n, node in enumerate(order):
            if isinstance(node.op, WRITES):
                whole, count = self.of(node.args[0])
                self.written[node.values[0]] = whole, count + 1
                if count or whole not in kept:
                    self.ends.setdefault((whole, count), n)

    def of(self, value: Value) -> tuple[Value, int]:
        """What an array was before it was written to, in whatever shape, and how often it was."""
        value = under_reshapes(value, self.written)
        return self.written.get(value, (value, 0))

    def early(self, node: Node, in_memory: Container[Value]) -> list[Value]:
        """The operands to be kept, as they read something of an array before a write, and others of the node after it.
        To be asked of each node whose result is computed where it is read, in order."""
        if not self.written:
            return []
        read = {a: dict([self.of(a)]) if a in in_memory else self.inside.get(a, {}) for a in node.args}
        last: dict[Value, int] = {}
        for whole, count in [pair for found in read.values() for pair in found.items()]:
            last[whole] = max(count, last.get(whole, count))
        self.inside[node.values[0]] = last
        return [a for a, found in read.items() if a not in in_memory and _is_small_and_early(a, found, last)]

    def outlives(self, value: Value, readers: Iterable[Node]) -> bool:
        """Whether a value of a few elements, computed where it is read, has a reader after a write to an array it is
        made of: that would have to be copied before."""
        if value.type.size > FEW:
            return False
        last = max([self.places[node] for node in readers], default=-1)
        arrays = [whole for whole, n in self.inside.get(value, {}).items() if self.ends.get((whole, n), last) < last]
        return any([2 * value.type.size <= whole.type.size for whole in arrays])


def _is_small_and_early(value: Value, found: dict[Value, int], last: dict[Value, int]) -> bool:
    """Whether a value is made of an array in a version before the last one, and takes much less memory than it."""
    return any([count < last[w] and 2 * value.type.size <= w.type.size for w, count in found.items()])
