"""Drop writes to elements that are written again before anybody reads them.

What such a write stores has no part in the result, and so must have none in the derivative:
`y[0] = sqrt(x[0]); y[0] = x[0]` has gradient 1 at x[0] = 0, not NaN.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import final

from pliant.core.inner import functions_of
from pliant.core.ir import Function, Node, Param, Value
from pliant.ops.index import ScatterAdd, ScatterSet
from pliant.ops.shape import Slice
from pliant.ops.update import UpdateSlice, Window, apart, within
from pliant.transforms.replace import changed_inside, replaced

FEW = 16  # windows of more than one element that are remembered at a time


@final
class Unread:
    """The elements of an array whose present content nobody will read."""

    def __init__(self) -> None:
        self.single: set[tuple[int, ...]] = set()  # elements by their index
        self.wide: list[Slice] = []

    def add(self, window: Slice) -> None:
        """These are written before they are read."""
        if _size(window) == 1:
            self.single.add(window.start)
        else:
            self.wide = [*self.wide[1 - FEW :], window]

    def remove(self, window: Slice) -> None:
        """These are read."""
        self.wide = [w for w in self.wide if apart(w, window)]
        if _size(window) <= len(self.single):
            axes = zip(window.start, window.step, window.length, strict=True)
            self.single.difference_update(product(*([s + d * j for j in range(n)] for s, d, n in axes)))
        else:
            one = (1,) * len(window.start)
            self.single = {i for i in self.single if apart(Slice(i, one, one), window)}

    def has(self, window: Slice) -> bool:
        """Whether all of a window is known to be unread."""
        alone = _size(window) == 1 and window.start in self.single
        return alone or any([within(w, window) is not None for w in self.wide])


def _size(window: Slice) -> int:
    size = 1
    for n in window.length:
        size *= n
    return size


def drop_dead_writes(fn: Function) -> Function:
    """`fn` without the writes whose elements are written again before they are read, also in the
    functions its primitives hold. Takes time linear in the size of the program."""
    order = fn.nodes
    dead = _dead(fn, order) | set(_scattered_again(fn))
    if not dead and not any([functions_of(n.op) for n in order if not isinstance(n.op, Param)]):
        return fn
    return replaced(fn, lambda n, args: args[0] if n.values[0] in dead else changed_inside(n, args, drop_dead_writes))


def _scattered_again(fn: Function) -> Iterator[Value]:
    """Arrays scattered to of which nothing is read but what is scattered to the same places, named once each."""
    uses = fn.use_counts()
    for node in fn.nodes:
        x, op = node.args[0] if node.args else None, node.op
        if isinstance(op, ScatterSet) and op.unique and x is not None and uses[x] == 1:
            is_write = isinstance(x.op, ScatterSet | ScatterAdd) and x.op.shared == op.shared
            if is_write and x.args[1:-1] == node.args[1:-1]:
                yield x


def _dead(fn: Function, order: Sequence[Node]) -> set[Value]:
    """The dead writes, found from the last node to the first."""
    writer: dict[Value, Value] = {}  # the one write on top of a write
    reads: dict[Value, list[Slice]] = {}
    whole = set(fn.results)  # read in a way that may touch every element
    for node in order:
        for place, a in enumerate(node.args):
            if not isinstance(a.op, Window):
                continue
            if isinstance(node.op, Slice):
                reads.setdefault(a, []).append(node.op)
            elif isinstance(node.op, Window) and place == 0 and a not in node.args[1:] and a not in writer:
                writer[a] = node.values[0]
            else:
                whole.add(a)
    return _sweep(order, writer, reads, whole)


def _sweep(
    order: Sequence[Node], writer: dict[Value, Value], reads: dict[Value, list[Slice]], whole: set[Value]
) -> set[Value]:
    unread: dict[Value, Unread] = {}
    dead = set[Value]()
    for node in reversed(order):
        (value, *_), op = node.values, node.op
        if not isinstance(op, Window):
            continue
        later = writer.get(value)
        known = Unread() if later is None else unread.pop(later)
        if later is not None and isinstance(later.op, UpdateSlice):
            known.add(later.op.window(later.args[1].shape))
        if value in whole:
            known = Unread()
        for window in reads.get(value, ()):
            known.remove(window)
        if known.has(op.window(node.args[1].shape)):
            dead.add(value)
        unread[value] = known
    return dead
