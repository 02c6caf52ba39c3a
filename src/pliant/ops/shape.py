"""Primitives that move or repeat elements without computing on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, final

from pliant.core import ir
from pliant.core.data import frozen
from pliant.core.ir import Namespace, Tangents, Value, Values
from pliant.core.types import Type
from pliant.errors import ShapeError
from pliant.ops.base import Linear, Movement

SHORT_ROW: Final = 8  # elements that are written one by one, side by side


@final
@frozen
class Broadcast(Movement):
    """Place operand axis i at result axis `axes[i]`, in increasing order; repeat along the others.

    `t[b]`, shape (a, b), axes (1,) → `t[a, b]`.
    """

    shape: tuple[int, ...]
    axes: tuple[int, ...]

    def infer(self, x: Type) -> Type:
        fits = tuple(sorted(set(self.axes))) == self.axes and all(0 <= a < len(self.shape) for a in self.axes)
        if not fits or x.shape != tuple(self.shape[a] for a in self.axes):
            raise ShapeError(f"broadcast: {x} does not fit axes {self.axes} of {self.shape}")
        return x.with_shape(self.shape)

    def array(self, xp: Namespace, x: Any) -> Any:
        shape = [self.shape[a] if a in self.axes else 1 for a in range(len(self.shape))]
        return xp.broadcast_to(xp.reshape(x, tuple(shape)), self.shape)

    def transpose(self, ct: Value, x: Value | Type) -> Tangents:
        from pliant.ops.reduce import reduce_sum  # each is the other's transpose

        new = tuple(a for a in range(len(self.shape)) if a not in self.axes)
        return (reduce_sum(ct, new) if new else ct,)

    def batch(self, n: int, batched: tuple[bool, ...], x: Value) -> Value:
        return broadcast(x, (n, *self.shape), (0, *(a + 1 for a in self.axes)))

    def source(self, k: Any, i: Any, x: Type) -> Any:
        return tuple(i[a] for a in self.axes)


@final
@frozen
class Reshape(Movement):
    """Same elements in the same row-major order, another shape: `t[…] → t[shape]`."""

    shape: tuple[int, ...]

    def infer(self, x: Type) -> Type:
        if min(self.shape, default=0) < 0 or x.size != x.with_shape(self.shape).size:
            raise ShapeError(f"reshape: {x} has no shape {self.shape}")
        return x.with_shape(self.shape)

    def array(self, xp: Namespace, x: Any) -> Any:
        return xp.reshape(x, self.shape)

    def transpose(self, ct: Value, x: Value | Type) -> Tangents:
        return (reshape(ct, x.shape),)

    def batch(self, n: int, batched: tuple[bool, ...], x: Value) -> Value:
        return reshape(x, (n, *self.shape))

    def source(self, k: Any, i: Any, x: Type) -> Any:
        return k.reindex(i, self.shape, x.shape)


@final
@frozen
class Permute(Movement):
    """Result axis i is operand axis `order[i]`."""

    order: tuple[int, ...]

    def infer(self, x: Type) -> Type:
        if sorted(self.order) != list(range(x.rank)):
            raise ShapeError(f"permute: {self.order} is no order of the axes of {x}")
        return x.with_shape(tuple(x.shape[a] for a in self.order))

    def array(self, xp: Namespace, x: Any) -> Any:
        return xp.permute_dims(x, self.order)

    def torch(self, torch: Namespace, x: Any) -> Any:
        return torch.permute(x, self.order)

    def inverse(self) -> tuple[int, ...]:
        """The order that undoes this one."""
        return tuple(sorted(range(len(self.order)), key=lambda i: self.order[i]))

    def transpose(self, ct: Value, x: Value | Type) -> Tangents:
        return (permute(ct, self.inverse()),)

    def batch(self, n: int, batched: tuple[bool, ...], x: Value) -> Value:
        return permute(x, (0, *(a + 1 for a in self.order)))

    def source(self, k: Any, i: Any, x: Type) -> Any:
        return tuple(i[a] for a in self.inverse())


@final
@frozen
class Slice(Movement):
    """Along axis a: elements `start[a] + step[a]·j` for j < `length[a]`; a step may be negative.

    With every index in range: `t[9]`, start (8,), step (-2,), length (4,) → elements 8, 6, 4, 2.
    """

    start: tuple[int, ...]
    step: tuple[int, ...]
    length: tuple[int, ...]

    def infer(self, x: Type) -> Type:
        if not len(self.start) == len(self.step) == len(self.length) == x.rank:
            raise ShapeError(f"slice: {x} needs {x.rank} starts, steps and lengths")
        for n, start, step, length in zip(x.shape, self.start, self.step, self.length, strict=True):
            last = start + step * (length - 1)
            if length and not (0 <= start < n and 0 <= last < n):
                raise ShapeError(f"slice: elements {start} to {last} lie outside an axis of {n} in {x}")
        return x.with_shape(self.length)

    def slices(self) -> tuple[slice, ...]:
        """The same as Python slices."""
        ends = [s + d * n for s, d, n in zip(self.start, self.step, self.length, strict=True)]
        parts = zip(self.start, self.step, self.length, ends, strict=True)
        return tuple(slice(s, e if e >= 0 else None, d) if n else slice(0, 0) for s, d, n, e in parts)

    def array(self, xp: Namespace, x: Any) -> Any:
        return x[self.slices()]

    def torch(self, torch: Namespace, x: Any) -> Any:
        axes = [a for a, d in enumerate(self.step) if d < 0]
        ends = [s + d * (n - 1) for s, d, n in zip(self.start, self.step, self.length, strict=True)]
        rows = zip(self.start, self.step, self.length, ends, strict=True)
        forward = tuple(slice(min(s, e), max(s, e) + 1, abs(d)) if n else slice(0, 0) for s, d, n, e in rows)
        return torch.flip(x[forward], axes) if axes else x[forward]

    def transpose(self, ct: Value, x: Value | Type) -> Tangents:
        from pliant.ops.update import update_slice  # each is the other's transpose

        return (update_slice(ir.operators.zeros(x if isinstance(x, Type) else x.type), ct, self.start, self.step),)

    def batch(self, n: int, batched: tuple[bool, ...], x: Value) -> Value:
        return Slice((0, *self.start), (1, *self.step), (n, *self.length))(x)

    def source(self, k: Any, i: Any, x: Type) -> Any:
        return tuple(k.affine(j, d, s) for j, d, s in zip(i, self.step, self.start, strict=True))


@final
@frozen
class Concatenate(Linear):
    """Operands one after the other along `axis`; all other extents agree."""

    axis: int
    spares = True

    def linear_operands(self, count: int) -> tuple[int, ...]:
        return tuple(range(count))

    def infer(self, *xs: Type) -> Type:
        if not xs or not 0 <= self.axis < xs[0].rank:
            raise ShapeError(f"concatenate: {', '.join(map(str, xs))} have no axis {self.axis}")
        if len({(x.dtype, x.without((self.axis,)).shape) for x in xs}) != 1:
            raise ShapeError(f"concatenate: {', '.join(map(str, xs))} do not fit together along axis {self.axis}")
        total = sum(x.shape[self.axis] for x in xs)
        shape = xs[0].shape
        return xs[0].with_shape((*shape[: self.axis], total, *shape[self.axis + 1 :]))

    def array(self, xp: Namespace, *xs: Any) -> Any:
        return xp.concat(xs, axis=self.axis)

    def torch(self, torch: Namespace, *xs: Any) -> Any:
        return torch.cat(xs, dim=self.axis)

    def transpose(self, ct: Value, *xs: Value | Type) -> Tangents:
        at, back = 0, list[Value | None]()
        for x in xs:
            back.append(slice_axis(ct, self.axis, at, x.shape[self.axis]) if isinstance(x, Type) else None)
            at += x.shape[self.axis]
        return tuple(back)

    def batch(self, n: int, batched: tuple[bool, ...], *xs: Value) -> Value:
        return Concatenate(self.axis + 1)(*(x if b else lift(x, n) for x, b in zip(xs, batched, strict=True)))

    def kernel(self, k: Any, i: Any, *xs: Any) -> Any:
        return k.choose_piece(i, self.axis, xs)

    def fill(self, k: Any, out: Any, *xs: Any) -> None:
        """One piece after the other; rows of a few elements each at once."""
        if self.is_of_short_rows(out.type):
            self._fill_rows(k, out, xs)
            return
        self._fill_pieces(k, out, xs, self.axis, (0,) * out.type.rank)

    def is_of_short_rows(self, made: Type) -> bool:
        """Whether a result consists of rows of a few elements, which are put together."""
        return self.axis == made.rank - 1 and made.shape[-1] <= SHORT_ROW

    def _fill_rows(self, k: Any, out: Any, xs: Sequence[Any]) -> None:
        pieces = [(x, n) for x in xs for n in range(x.type.shape[-1])]

        def row(j: Any) -> None:
            made = [x((*j, k.affine(0, 1, n))) for x, n in pieces]
            for place, scalar in enumerate(made):
                k.store(out, (*j, k.affine(0, 1, place)), scalar)

        k.loop(out.type.shape[:-1], row)

    def _fill_pieces(self, k: Any, out: Any, xs: Sequence[Any], axis: int, corner: tuple[int, ...]) -> None:
        """Pieces side by side from a corner on, and pieces of pieces likewise."""
        for x in xs:
            if inner := k.pieces(x):
                self._fill_pieces(k, out, inner[1], inner[0], corner)
            elif not k.is_left(x):
                self._fill_piece(k, out, x, corner)
            corner = tuple([n + x.type.shape[axis] * (a == axis) for a, n in enumerate(corner)])

    def _fill_piece(self, k: Any, out: Any, x: Any, corner: tuple[int, ...]) -> None:
        def element(j: Any) -> None:
            k.store(out, tuple([k.affine(v, 1, n) for v, n in zip(j, corner, strict=True)]), x(j))

        k.loop(x.type.shape, element)


@final
@frozen
class Iota(Linear):
    """0, 1, …, length-1 as i64."""

    length: int
    linear = ()

    def infer(self, *xs: Type) -> Type:
        return Type("i64", (self.length,))

    def array(self, xp: Namespace, *xs: Any) -> Any:
        return xp.arange(self.length, dtype=xp.int64)

    def kernel(self, k: Any, i: Any, *xs: Any) -> Any:
        return i[0]


def iota(length: int) -> Value:
    """0, 1, …, length-1 as i64."""
    return Iota(length)()


def broadcast(x: Value, shape: tuple[int, ...], axes: tuple[int, ...]) -> Value:
    """`Broadcast` as a function; nothing is made where it would change nothing."""
    return x if x.shape == shape and axes == tuple(range(len(shape))) else Broadcast(shape, axes)(x)


def reshape(x: Value, shape: Sequence[int]) -> Value:
    """`Reshape` as a function; nothing is made where it would change nothing."""
    return x if x.shape == tuple(shape) else Reshape(tuple(shape))(x)


def permute(x: Value, order: Sequence[int]) -> Value:
    """`Permute` as a function; nothing is made where it would change nothing."""
    return x if tuple(order) == tuple(range(len(order))) else Permute(tuple(order))(x)


def move_axis(x: Value, source: int, destination: int) -> Value:
    """`x` with one axis at another place, counted from the end if negative; the others keep their order."""
    rank = x.type.rank
    order = [axis for axis in range(rank) if axis != source % rank]
    order.insert(destination % rank, source % rank)
    return permute(x, order)


def lift(x: Value, n: int) -> Value:
    """`x` repeated along a new axis 0 of extent `n`."""
    return broadcast(x, (n, *x.shape), tuple(range(1, x.type.rank + 1)))


def slice_axis(x: Value, axis: int, start: int, length: int, step: int = 1) -> Value:
    """`Slice` along one axis; nothing is made where it would change nothing."""
    if start == 0 and step == 1 and length == x.shape[axis]:
        return x
    starts, steps, lengths = [0] * x.type.rank, [1] * x.type.rank, list(x.shape)
    starts[axis], steps[axis], lengths[axis] = start, step, length
    return Slice(tuple(starts), tuple(steps), tuple(lengths))(x)


def flip(x: Value, axes: Sequence[int]) -> Value:
    """`x` with the order along `axes` reversed."""
    for axis in axes:
        n = x.shape[axis]
        x = slice_axis(x, axis, max(n - 1, 0), n, -1)
    return x


def concatenate(xs: Values, axis: int) -> Value:
    """`Concatenate` as a function."""
    return xs[0] if len(xs) == 1 else Concatenate(axis)(*xs)
