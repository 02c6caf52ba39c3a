"""Elements read and written through a view are those of the array that it shows.

    gather(x[a::d], i)                                →  gather(x, a + d·i)
    update_slice(x, scatter_set(x[a::d], i, u), a, d) →  scatter_set(x, a + d·i, u)

A step of a loop, and of its derivative, then costs what it reads and writes, not what the view shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypeAlias, final

from pliant.core.data import frozen
from pliant.core.inner import functions_of
from pliant.core.ir import Function, Node, Value, Values, const
from pliant.ops.block import AddBlock, ReadBlock, UpdateBlock
from pliant.ops.index import Gather, Scatter, ScatterAdd, ScatterSet
from pliant.ops.shape import Permute, Reshape, Slice, broadcast, permute, reshape
from pliant.ops.strided import Strided
from pliant.ops.update import UpdateSlice
from pliant.passes.ranges import Memory, Range, Ranges, ranges_of
from pliant.transforms.replace import Env, changed_inside, replaced_in


@final
@frozen
class Some:
    """Places `start + step·i` along an axis, for an index of some number; without one, the place `start`."""

    index: int
    start: int = 0
    step: int = 1


@final
@frozen
class All:
    """All places along an axis of several; the number of that axis."""

    axis: int


Places: TypeAlias = "Sequence[Some | All]"  # along each axis of an array

NO_INDEX: Final = -1


def through_views(fn: Function, given: Ranges | None = None, memory: Memory | None = None) -> Function:
    """`fn` with such reads and writes, in the functions that its primitives hold too."""
    reads = Gather | ReadBlock | UpdateSlice
    if not any([isinstance(n.op, reads) or functions_of(n.op) for n in fn.nodes]):
        return fn
    memory = {} if memory is None else memory
    known = ranges_of(fn, given or {}, memory)

    def inside(held: Function) -> Function:
        return through_views(held, known, memory)

    def rule(node: Node, env: Env) -> Values | Value | None:
        made = _read(node, known, env) or _written(node, known, env)
        return made or changed_inside(node, tuple([env[a] for a in node.args]), inside)

    return replaced_in(fn, rule)


def _read(node: Node, known: Ranges, env: Env) -> Value | None:
    """What is read of a view, read from the array itself."""
    op = node.op
    if not isinstance(op, Gather | ReadBlock) or op.shared:
        return None
    x, *bounds = node.args
    part = _elements(op, x, bounds, known) if isinstance(op, Gather) else _block(op, x, op.shape, bounds, known)
    while found := _below(x, part.places, part.inside):
        x, part = x.args[0], replace(part, places=found)
    return None if x is node.args[0] else part.read(env[x], [env[b] for b in bounds], node.types[0].shape)


def _written(node: Node, known: Ranges, env: Env) -> Value | None:
    """An array of which a view was written to, written to itself."""
    if not isinstance(node.op, UpdateSlice):
        return None
    x, made = node.args
    view = every = _all(made.shape)
    while isinstance(made.op, Permute | Reshape) and (found := _below(made, view, ())):
        made, view = made.args[0], found
    op = made.op
    if not isinstance(op, ScatterSet | ScatterAdd | UpdateBlock | AddBlock) or op.shared:
        return None
    if isinstance(op, Scatter):
        shown, *bounds, u = made.args
        part = _elements(op, shown, bounds, known)
    else:
        shown, u, *bounds = made.args
        part = _block(op, shown, u.shape, bounds, known)
    while found := _below(shown, part.places, part.inside):
        if isinstance(shown.op, Slice):
            is_same = view == every and shown.args[0] is x and shown.op == node.op.window(shown.shape)
            at = [env[b] for b in bounds]
            return replace(part, places=found).written(env[x], at, env[u]) if is_same else None
        view = _below(shown, view, ()) or []
        shown, part = shown.args[0], replace(part, places=found)
    return None


@final
@frozen
class _Elements:
    """Elements at indices, which are given for the first axes of a view."""

    op: Gather | ScatterSet | ScatterAdd
    places: Places
    inside: Sequence[bool]  # which indices are known to lie in the view

    @property
    def order(self) -> tuple[int, ...]:
        """Axes at which some places are meant, then the others in the order of the view's."""
        rest = sorted([(p.axis, a) for a, p in enumerate(self.places) if isinstance(p, All)])
        return (*[a for a, p in enumerate(self.places) if isinstance(p, Some)], *[a for _, a in rest])

    def at(self, indices: Sequence[Value]) -> list[Value]:
        """The indices for these axes."""
        shape = indices[0].shape
        return [_moved(p, indices, shape) for p in self.places if isinstance(p, Some)]

    def read(self, x: Value, indices: Sequence[Value], shape: tuple[int, ...]) -> Value:
        """The elements of an array, in some shape."""
        return reshape(Gather(0, self.op.unique)(permute(x, self.order), *self.at(indices)), shape)

    def written(self, x: Value, indices: Sequence[Value], u: Value) -> Value:
        """The array with the elements written."""
        whole, at = permute(x, self.order), self.at(indices)
        u = reshape(u, (*at[0].shape, *whole.shape[len(at) :]))
        return permute(self.op(whole, *at, u), Permute(self.order).inverse())


@final
@frozen
class _Block:
    """A block, whose starts and lengths are given for all axes of a view."""

    op: ReadBlock | UpdateBlock | AddBlock
    places: Sequence[Some]
    inside: Sequence[bool]  # along which axes the block is known to lie in the view
    shape: tuple[int, ...]

    @property
    def order(self) -> tuple[int, ...]:
        """The axes in the order of the view's; first those that it does not have."""
        return tuple(sorted(range(len(self.places)), key=lambda a: self.places[a].index))

    @property
    def extents(self) -> tuple[int, ...]:
        """Of the block, along the axes of the array."""
        return tuple([1 if p.index == NO_INDEX else self.shape[p.index] for p in self.places])

    @property
    def steps(self) -> tuple[int, ...]:
        """Of the block, along the axes of the array."""
        return tuple([1 if p.index == NO_INDEX else p.step * self.op.step[p.index] for p in self.places])

    def at(self, bounds: Sequence[Value]) -> list[Value]:
        """Starts and lengths along the axes of the array."""
        lengths, one = bounds[len(self.shape) :], const(1, "i64")
        starts = [_moved(p, bounds, ()) for p in self.places]
        return [*starts, *[one if p.index == NO_INDEX else lengths[p.index] for p in self.places]]

    def read(self, x: Value, bounds: Sequence[Value], shape: tuple[int, ...]) -> Value:
        """The block of an array, in some shape."""
        return reshape(permute(ReadBlock(self.extents, self.steps)(x, *self.at(bounds)), self.order), shape)

    def written(self, x: Value, bounds: Sequence[Value], u: Value) -> Value:
        """The array with the block written."""
        u = reshape(u, [self.extents[a] for a in self.order])
        return replace(self.op, step=self.steps)(x, permute(u, Permute(self.order).inverse()), *self.at(bounds))


def _elements(op: Gather | ScatterSet | ScatterAdd, x: Value, indices: Sequence[Value], known: Ranges) -> _Elements:
    rest = _all(x.shape)[len(indices) :]
    inside = [_is_inside(known.get(i), n) for i, n in zip(indices, x.shape, strict=False)]
    return _Elements(op, [*(Some(a) for a in range(len(indices))), *rest], inside)


def _block(
    op: ReadBlock | UpdateBlock | AddBlock, x: Value, shape: tuple[int, ...], bounds: Sequence[Value], known: Ranges
) -> _Block:
    axes = zip(bounds, bounds[len(shape) :], op.step, shape, x.shape, strict=False)
    inside = [
        _is_inside(known.get(start), n, step * max(m - 1, 0)) and (n > 1 or known.get(length) == (m, m) == (1, 1))
        for start, length, step, m, n in axes
    ]
    return _Block(op, [Some(a) for a in range(len(shape))], inside, shape)


def _is_inside(range: Range | None, extent: int, more: int = 0) -> bool:
    """Whether a number is known to be a place along an axis, and what lies `more` beyond it."""
    return range is not None and min(range[0], range[0] + more) >= 0 and max(range[1], range[1] + more) < extent


def _all(shape: Sequence[int]) -> Places:
    return [Some(NO_INDEX) if n == 1 else All(a) for a, n in enumerate(shape)]


def _moved(place: Some, indices: Sequence[Value], shape: tuple[int, ...]) -> Value:
    """The places along an axis as an index."""

    def same(number: int) -> Value:
        return broadcast(const(number, "i64"), shape, ())

    if place.index == NO_INDEX:
        return same(place.start)
    i = indices[place.index] if place.step == 1 else indices[place.index] * same(place.step)
    return i + same(place.start) if place.start else i


def _below(y: Value, places: Places, inside: Sequence[bool]) -> Places | None:
    """The places of an array where those of what is made of it lie; None if that is not so simple."""
    match y.op:
        case Permute() as op:
            return [places[a] for a in op.inverse()]
        case Slice() as op:
            axes = zip(places, op.start, op.step, op.length, y.args[0].shape, strict=True)
            found = [_along(p, start, step, m, n, inside) for p, start, step, m, n in axes]
            return [p for p in found if p] if all(found) else None
        case Strided(start, (step,), (length,)):
            found = _along(places[0], start, step, length, y.args[0].shape[0], inside)
            return [found] if found else None
        case Reshape():
            return _reshaped(places, y.shape, y.args[0].shape, inside)
        case _:
            return None


def _along(
    place: Some | All, start: int, step: int, length: int, extent: int, inside: Sequence[bool]
) -> Some | All | None:
    """The places along an axis where those along a slice of it lie."""
    if isinstance(place, All):
        return place if (start, step, length) == (0, 1, extent) else None
    if place.index != NO_INDEX and length != extent and not inside[place.index]:
        return None  # what is not in the slice may be in the array
    return Some(place.index, start + step * place.start, step * place.step)


def _reshaped(places: Places, shape: Sequence[int], before: Sequence[int], inside: Sequence[bool]) -> Places | None:
    """The same where axes of one place come or go."""
    pairs = list(zip(places, shape, strict=True))
    lost = [p.index for p, n in pairs if n == 1 and isinstance(p, Some) and p.index != NO_INDEX]
    if [n for n in shape if n != 1] != [n for n in before if n != 1] or not all([inside[i] for i in lost]):
        return None
    rest = iter([p for p, n in pairs if n != 1])
    return [Some(NO_INDEX) if n == 1 else next(rest) for n in before]
