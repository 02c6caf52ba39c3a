"""A choice between an array and the array with a few elements written is a choice for these elements.

That is what a branch becomes in a batch, and a loop that ends for one problem before it ends for another:
there the condition is one number per problem, repeated along all other axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pliant.core.data import frozen
from pliant.core.ir import Value, const
from pliant.ops.bits import logical_not
from pliant.ops.block import AddBlock, BlockWrite, ReadBlock, UpdateBlock
from pliant.ops.index import Gather, Scatter, ScatterAdd, ScatterSet
from pliant.ops.select import Select, is_zero, select
from pliant.ops.shape import Broadcast, Iota, Permute, broadcast, permute
from pliant.ops.update import AddSlice, UpdateSlice
from pliant.rewrite.rule import rewrite

DEPTH: Final = 8  # how many movements and writes may lie between the choice and the array
WORTH: Final = 2  # how many times more elements the array must have than are written


@frozen
class _Mask:
    """Where `condition` holds, or does not, repeated along all axes but `axes`, its own in any order."""

    condition: Value
    axes: tuple[int, ...]
    holds: bool = True

    def of(self, shape: Sequence[int]) -> Value:
        """It, for an array of a shape."""
        order = sorted(range(len(self.axes)), key=lambda i: self.axes[i])
        condition = self.condition if self.holds else logical_not(self.condition)
        if not condition.shape:
            return condition
        return broadcast(permute(condition, order), tuple(shape), tuple([self.axes[i] for i in order]))

    def on(self, axes: Sequence[int]) -> _Mask:
        """It, with its axes in other places."""
        return _Mask(self.condition, tuple(axes), self.holds)

    @property
    def negative(self) -> _Mask:
        """It, where it does not hold."""
        return _Mask(self.condition, self.axes, not self.holds)

    def chosen(self, y: Value) -> Value:
        """What an array is where the mask holds, if it is one of two by the same condition."""
        if not isinstance(y.op, Select):
            return y
        condition, *arms = y.args
        is_same = condition is self.condition and not self.axes
        if isinstance(condition.op, Broadcast):
            is_same = condition.args[0] is self.condition and condition.op.axes == self.axes
        arm = arms[not self.holds]
        return self.chosen(arm) if is_same and arm.shape == y.shape else y


def select_by_problem(condition: Value, x: Value, y: Value) -> Value:
    """x for those problems of a batch, along the first axis, whose condition holds, y for the others."""
    return _chosen(broadcast(condition, x.shape, (0,)), x, y)


def _chosen(condition: Value, x: Value, y: Value) -> Value:
    value = select(condition, x, y)
    return (_narrow(value) if isinstance(value.op, Select) else None) or value


@rewrite(Select, reads=(Scatter, BlockWrite, UpdateSlice, AddSlice, Permute))
def select_of_write(value: Value) -> Value | None:
    """`select(c, x with u written, x)` is x with `select(c, u, what is there)` written, for c that does
    not vary along the axes that places are named of; and likewise of a write in the other branch, or both."""
    return _narrow(value)


def _narrow(value: Value) -> Value | None:
    condition, y, z = value.args
    if (condition.shape and not isinstance(condition.op, Broadcast)) or not value.shape:
        return None
    y, z = (v if v.shape == value.shape else broadcast(v, value.shape, ()) for v in (y, z))
    mask = _Mask(condition.args[0], condition.op.axes) if isinstance(condition.op, Broadcast) else _Mask(condition, ())
    made = _written(mask, y, z, z, DEPTH) or _written(mask.negative, z, y, y, DEPTH)
    if made is not None or not _is_same(_root(y), x := _root(z)):
        return made
    first = _written(mask, y, x, x, DEPTH)
    return first and _written(mask.negative, z, x, first, DEPTH)


def _root(y: Value) -> Value:
    """The array under writes and movements, its axes in the order of y's."""
    order = usual = [*range(y.type.rank)]
    while isinstance(y.op, Permute | Scatter | BlockWrite | UpdateSlice | AddSlice):
        order = [y.op.order[a] for a in order] if isinstance(y.op, Permute) else order
        y = y.args[0]
    return y if order == usual else permute(y, order)


def _is_same(y: Value, x: Value) -> bool:
    """Whether these are one array, its axes in one order."""
    if isinstance(y.op, Permute) and y.op == x.op:
        y, x = y.args[0], x.args[0]
    return y is x


def _permuted(x: Value, order: Sequence[int]) -> Value:
    if isinstance(x.op, Permute):
        return permute(x.args[0], [x.op.order[a] for a in order])
    return permute(x, order)


def _written(mask: _Mask, y: Value, x: Value, onto: Value, depth: int) -> Value | None:
    """What y writes to x, written to `onto` where the mask holds; None if that is not all that y is."""
    y = mask.chosen(y)
    if not depth or _is_same(y, x):
        return onto if _is_same(y, x) else None
    if isinstance(y.op, Permute):
        back = y.op.inverse()
        under = mask.on([y.op.order[a] for a in mask.axes])
        made = _written(under, y.args[0], _permuted(x, back), _permuted(onto, back), depth - 1)
        return None if made is None else _permuted(made, y.op.order)
    axes = _axes_of_update(y, mask.axes)
    if axes is None:
        return None
    below = _written(mask, y.args[0], x, onto, depth - 1)
    return None if below is None else _masked(mask.on(axes), y, below)


def _axes_of_update(y: Value, axes: Sequence[int]) -> tuple[int, ...] | None:
    """Where axes of the array y are in what it writes: each element of these is one of the same place;
    None if y is no write, or names places along one of them, or writes much of the array."""
    op: Any = y.op
    match op:
        case ScatterSet() | ScatterAdd():
            *indices, u = y.args[1:]
            end, more = op.shared + len(indices), indices[0].type.rank - op.shared - len(indices)
            lanes = {op.shared + a: 0 for a, i in enumerate(indices) if isinstance(i.op, Iota)}
            found = [a if a < op.shared else a + more if a >= end else lanes.get(a) for a in axes]
        case UpdateBlock() | AddBlock():
            u, starts = y.args[1], y.args[2 : 2 + len(op.step)]
            whole = [is_zero(start) and step == 1 for start, step in zip(starts, op.step, strict=True)]
            found = [a if a < op.shared or whole[a - op.shared] else None for a in axes]
        case UpdateSlice(start, step) | AddSlice(start, step):
            u = y.args[1]
            found = [None if start[a] or step[a] != 1 else a for a in axes]
        case _:
            return None
    places = [b for b in found if b is not None]
    is_same = len(places) == len(axes) and all([u.shape[b] == y.shape[a] for a, b in zip(axes, places, strict=True)])
    return tuple(places) if is_same and WORTH * u.type.size <= y.type.size else None


def _masked(mask: _Mask, y: Value, x: Value) -> Value:
    """The write of y to x, with what is there where the mask, of the axes of what is written, does not hold."""
    op: Any = y.op
    match op:
        case ScatterSet(shared, unique):
            *places, u = y.args[1:]
            return op(x, *places, _chosen(mask.of(u.shape), u, Gather(shared, unique)(x, *places)))
        case ScatterAdd():
            *places, u = y.args[1:]
            return op(x, *places, _or_nothing(mask, u))
        case UpdateBlock(step, shared):
            u, *bounds = y.args[1:]
            old = ReadBlock(u.shape[shared:], step, shared)(x, *bounds)
            return op(x, _chosen(mask.of(u.shape), u, old), *bounds)
        case AddBlock():
            u, *bounds = y.args[1:]
            return op(x, _or_nothing(mask, u), *bounds)
        case UpdateSlice():
            u = y.args[1]
            return op(x, _chosen(mask.of(u.shape), u, op.window(u.shape)(x)))
        case _:
            return op(x, _or_nothing(mask, y.args[1]))


def _or_nothing(mask: _Mask, u: Value) -> Value:
    """u, and elsewhere what changes nothing it is added to, a negative zero too."""
    nothing = {"f": -0.0, "c": complex(-0.0, -0.0)}.get(u.dtype[0], 0)
    return select(mask.of(u.shape), u, const(nothing, u.dtype))


@rewrite(Gather, reads=(Select,))
def gather_of_select(value: Value) -> Value | None:
    """Elements of one of two arrays are one of two elements, if the condition is the same at all places."""
    (x, *indices), op = value.args, value.op
    assert isinstance(op, Gather)
    if not isinstance(x.op, Select) or op.shared or value.type.size >= x.type.size:
        return None
    condition, *arms = x.args
    if condition.shape:
        if not isinstance(condition.op, Broadcast) or any([a < len(indices) for a in condition.op.axes]):
            return None
        axes = tuple([a - len(indices) + indices[0].type.rank for a in condition.op.axes])
        condition = broadcast(condition.args[0], value.shape, axes)
    return select(condition, *(op(v, *indices) if v.shape else v for v in arms))


RULES = (select_of_write, gather_of_select)
