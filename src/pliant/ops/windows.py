"""Windows that slide over an array along some of its axes, and the sums over the windows that an element lies in.

    y[…, i, …, j] = x[i + j]                          all windows of x, i along the axis of x, j along the last one
    dx[p]         = Σ ct[p - j, j]                    over all j for which there is such a window

Elements at least as far from both ends as a window is long lie in as many windows as it has elements: their sums are
those of a skewed array, in one pass, which reads the cotangent where it is computed. Those near the ends, few, are
added place by place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

from pliant.core import ir
from pliant.core.data import frozen
from pliant.core.ir import Namespace, Tangents, Value
from pliant.core.types import Type
from pliant.errors import ShapeError
from pliant.ops.base import Movement
from pliant.ops.elementwise import add
from pliant.ops.index import scatter_add
from pliant.ops.reduce import reduce_sum
from pliant.ops.shape import Permute, broadcast, concatenate, iota, permute, slice_axis
from pliant.ops.update import pad


@final
@frozen
class Windows(Movement):
    """Windows along `axes`, of these extents; the axes keep their places, those of the windows come last:
    `y[…, i, …, j] = x[…, i + j, …]`, `t[…, n, …] → t[…, n - extent + 1, …, extent]`."""

    axes: tuple[int, ...]
    extents: tuple[int, ...]

    def infer(self, x: Type) -> Type:
        shape = list(x.shape)
        for axis, extent in zip(self.axes, self.extents, strict=True):
            if not 0 <= axis < x.rank or not 0 <= extent <= shape[axis] + 1:
                raise ShapeError(f"windows: {x} has none of extents {self.extents} along axes {self.axes}")
            shape[axis] -= extent - 1
        return x.with_shape((*shape, *self.extents))

    def array(self, xp: Namespace, x: Any) -> Any:
        shape = self.infer(Type("f64", tuple(x.shape))).shape
        at = _grid(xp, shape)
        return x[_moved(at, self.axes, 1)[: x.ndim]]

    def transpose(self, ct: Value, x: Value | Type) -> Tangents:
        if not ct.type.size:
            return (ir.operators.zeros(x if isinstance(x, Type) else x.type),)
        return (self._sums(ct, tuple(sorted(set(self.axes)))),)

    def _near(self, axis: int) -> int:
        """How many elements at each end of an axis do not lie in as many windows as those between."""
        return sum([n - 1 for a, n in zip(self.axes, self.extents, strict=True) if a == axis])

    def _sums(self, ct: Value, axes: tuple[int, ...], between: tuple[int, ...] = ()) -> Value:
        """The sums for each element between the ends of some axes, all along others."""
        if not axes:
            return reduce_sum(Skew(self.axes, back=True)(ct), tuple(range(ct.type.rank - len(self.axes), ct.type.rank)))
        axis, *others = axes
        n, near = ct.shape[axis], self._near(axis)
        if near >= n:
            return self._between(self._added(ct), between)
        inner = self._sums(ct, tuple(others), (*between, axis))
        if not near:
            return inner
        ends = [self._between(self._added(slice_axis(ct, axis, start, near)), between) for start in (0, n - near)]
        return concatenate((slice_axis(ends[0], axis, 0, near), inner, slice_axis(ends[1], axis, near, near)), axis)

    def _between(self, sums: Value, axes: tuple[int, ...]) -> Value:
        for axis in axes:
            near = self._near(axis)
            sums = slice_axis(sums, axis, near, sums.shape[axis] - 2 * near)
        return sums

    def _added(self, ct: Value) -> Value:
        """The sums, every element of every window added at its place."""
        for axis, extent in zip(reversed(self.axes), reversed(self.extents), strict=True):
            n, last = ct.shape[axis], ct.type.rank - 1
            places = add(broadcast(iota(n), (n, extent), (0,)), broadcast(iota(extent), (n, extent), (1,)))
            order = (axis, *[a for a in range(last) if a != axis])
            sums = ct.type.with_shape((n + extent - 1, *[ct.shape[a] for a in order[1:]]))
            made = scatter_add(ir.operators.zeros(sums), (places,), permute(ct, (axis, last, *order[1:])))
            ct = permute(made, Permute(order).inverse())
        return ct

    def batch(self, n: int, batched: tuple[bool, ...], x: Value) -> Value:
        return Windows(tuple([a + 1 for a in self.axes]), self.extents)(x)

    def source(self, k: Any, i: Any, x: Type) -> Any:
        return _moved([k.affine(j, 1, 0) for j in i], self.axes, 1)[: x.rank]


@final
@frozen
class Skew(Movement):
    """Along each of `axes`, moved by the place along its own axis, one of the last ones, of extent m:
    `y[…, i, …, j] = x[…, i + j, …, j]`, or `x[…, i + m - 1 - j, …, j]` if `back`; as far as x goes for all j."""

    axes: tuple[int, ...]
    back: bool

    def infer(self, x: Type) -> Type:
        left = x.rank - len(self.axes)
        shape = list(x.shape)
        for axis, extent in zip(self.axes, x.shape[left:], strict=True):
            if not 0 <= axis < left or not 1 <= extent <= shape[axis]:
                raise ShapeError(f"skew: {x} is too small to be skewed along {self.axes}")
            shape[axis] -= extent - 1
        return x.with_shape(tuple(shape))

    def array(self, xp: Namespace, x: Any) -> Any:
        at = _grid(xp, self.infer(Type("f64", tuple(x.shape))).shape)
        return x[self._places(at, x.shape)]

    def _places(self, at: Sequence[Any], shape: Sequence[int]) -> tuple[Any, ...]:
        made = _moved(at, self.axes, -1 if self.back else 1)
        ends = self._near(shape) if self.back else [0] * len(shape)
        return tuple([place + end for place, end in zip(made, ends, strict=True)])

    def _near(self, shape: Sequence[int]) -> list[int]:
        """By how much the axes of a result are shorter."""
        found = [0] * len(shape)
        for axis, extent in zip(self.axes, shape[len(shape) - len(self.axes) :], strict=True):
            found[axis] += extent - 1
        return found

    def transpose(self, ct: Value, x: Value | Type) -> Tangents:
        near = tuple(self._near(ct.shape))
        return (Skew(self.axes, not self.back)(pad(ct, near, near)),)

    def batch(self, n: int, batched: tuple[bool, ...], x: Value) -> Value:
        return Skew(tuple([a + 1 for a in self.axes]), self.back)(x)

    def source(self, k: Any, i: Any, x: Type) -> Any:
        return self._places([k.affine(j, 1, 0) for j in i], x.shape)


def _grid(xp: Namespace, shape: Sequence[int]) -> list[Any]:
    """The indices of all places of a shape, along each axis."""
    rank = len(shape)
    return [xp.reshape(xp.arange(n), [-1 if b == a else 1 for b in range(rank)]) for a, n in enumerate(shape)]


def _moved(at: Sequence[Any], axes: Sequence[int], by: int) -> tuple[Any, ...]:
    """A place moved along each of some axes by that along its own one of the last axes, times `by`."""
    made = list(at)
    for axis, own in zip(axes, at[len(at) - len(axes) :], strict=True):
        made[axis] = made[axis] + own * by
    return tuple(made)
