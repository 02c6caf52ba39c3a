"""Blocks of an array: windows whose place, and whose size up to a limit, are known at run time.

A block is named by one start and one length for each axis; its type has the greatest lengths there
can be. Element p of a block lies at `start + step·p`, for p < length. Beyond that a read gives
zeros, and a write does nothing, so nothing of what fills the rest of a block's type comes out, in
values or in derivatives. The three primitives are closed under differentiation and batching.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, final

from pliant.core import ir
from pliant.core.data import frozen
from pliant.core.ir import Namespace, Tangents, Value, const
from pliant.core.types import Type
from pliant.errors import DTypeError, ShapeError, beyond, failed
from pliant.ops.base import Elementwise, Linear, Safe, can_be_read
from pliant.ops.elementwise import Add
from pliant.ops.shape import broadcast, lift, move_axis


class Block(Linear):
    """Names a block of x; the first `shared` axes b… of x are common to all operands.

    `x: t[b…, n…]`; after it and u come the starts, then the lengths, `i64[b…]` each, one for each
    axis n…; all elements of the block lie in x. `step` has a step other than 0 for each axis n….
    """

    step: tuple[int, ...]
    shared: int
    spares = True

    def check(self, x: Type, shape: Sequence[int], bounds: Sequence[Type]) -> None:
        """Raise unless a block of greatest lengths `shape` and these bounds fits x."""
        own, rank = x.shape[self.shared :], len(self.step)
        if len(own) != rank or len(shape) != rank or len(bounds) != 2 * rank or 0 in self.step:
            raise ShapeError(f"{self.name}: {rank} steps and {len(bounds)} bounds do not fit {x}")
        if any([m > n for m, n in zip(shape, own, strict=True)]):
            raise ShapeError(f"{self.name}: a block of up to {tuple(shape)} elements does not fit {x}")
        wanted = Type("i64", x.shape[: self.shared])
        for b in bounds:
            if b.dtype != "i64":
                raise DTypeError(f"{self.name}: a bound is {b}, expected {wanted}")
            if b != wanted:
                raise ShapeError(f"{self.name}: a bound is {b}, expected {wanted}")

    def somewhere(self, *types: Type) -> dict[int, Safe]:
        """The operands that must be in range, and for each a number that always is."""
        ends, first = self.longest(*types), len(types) - 2 * len(self.step)
        return {
            first + n: max(-step, 0) * max(end - 1, 0)
            for n, (step, end) in enumerate(zip(self.step, ends, strict=True))
        }

    @abstractmethod
    def longest(self, *types: Type) -> tuple[int, ...]:
        """The greatest lengths of the block."""

    def bounds(self, k: Any, x: Type, b: Any, rest: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Starts as indices and lengths as scalars, for problem b. Where a length is known while
        compiling, it is checked that the block lies in x."""
        rank = len(self.step)
        lengths = [length(b) for length in rest[rank:]]
        starts = list[Any]()
        for axis, (start, length, step) in enumerate(zip(rest[:rank], lengths, self.step, strict=True)):
            i, count = k.index(start(b)), k.literal(length)
            if count:
                away = abs(step) * (count - 1)
                low = away if step < 0 else 0
                extent = x.shape[self.shared + axis] - away
                found = self.shared + axis
                i = k.affine(k.checked(k.affine(i, 1, -low), extent, found, count, x.shape[found]), 1, low)
            starts.append(i)
        return starts, lengths

    def numpy(self, np: Namespace, x: Any, *rest: Any) -> Any:
        rank = len(self.step)
        bounds = rest[len(rest) - 2 * rank :]
        for axis, (start, length, step) in enumerate(zip(bounds[:rank], bounds[rank:], self.step, strict=True)):
            extent, last = x.shape[self.shared + axis], start + step * (length - 1)
            ends = np.stack([start, last])[:, length > 0]
            bad = ends[(ends < 0) | (ends >= extent)]
            if bad.size:
                raise beyond(int(ends[0].min()), self.shared + axis, extent, int(length.max()))
        return self.array(np, x, *rest)

    def place(self, k: Any, b: Any, starts: Sequence[Any], j: Any) -> tuple[Any, ...]:
        """The index in x of element j of the block of problem b."""
        parts = zip(starts, self.step, j, strict=True)
        return (*b, *(start + k.affine(p, step, 0) for start, step, p in parts))


@final
@frozen
class ReadBlock(Block):
    """A block of x, and zeros beyond its lengths: `y[b…, p…] = x[b…, start + step·p…]`, of `shape` p…."""

    shape: tuple[int, ...]
    step: tuple[int, ...]
    shared: int = 0

    def longest(self, *types: Type) -> tuple[int, ...]:
        return self.shape

    def infer(self, x: Type, *bounds: Type) -> Type:
        self.check(x, self.shape, bounds)
        return x.with_shape((*x.shape[: self.shared], *self.shape))

    def array(self, xp: Namespace, x: Any, *bounds: Any) -> Any:
        rank, y = len(self.step), x
        for axis, (start, length) in enumerate(zip(bounds[:rank], bounds[rank:], strict=True)):
            at, is_inside = _read_places(
                xp, start, length, self.step[axis], self.shape[axis], x.shape[axis + self.shared]
            )
            y = _along(xp, y, self.shared + axis, self.shared, at, is_inside)
        return y

    def jax(self, jnp: Namespace, x: Any, *bounds: Any) -> Any:
        rank, is_missing = len(self.step), jnp.asarray(False)
        for axis, (start, length) in enumerate(zip(bounds[:rank], bounds[rank:], strict=True)):
            p, extent = jnp.arange(self.shape[axis]), x.shape[axis + self.shared]
            at = _column(jnp, start) + self.step[axis] * p
            is_outside = ((at < 0) | (at >= extent)) & (p < _column(jnp, length))
            is_missing = is_missing | _spread(jnp, is_outside, x.ndim, self.shared + axis, self.shared)
        missing = jnp.zeros((1,), x.dtype).at[1].get(mode="fill")
        return jnp.where(is_missing, missing, self.array(jnp, x, *bounds))

    def transpose(self, ct: Value, x: Value | Type, *bounds: Value) -> Tangents:
        zeros = ir.operators.zeros(x if isinstance(x, Type) else x.type)
        return (AddBlock(self.step, self.shared)(zeros, ct, *bounds), *(None for _ in bounds))

    def batch(self, n: int, batched: tuple[bool, ...], x: Value, *bounds: Value) -> Value:
        if any(batched[1:]):
            lifted = _lifted(n, batched, (x, *bounds))
            return ReadBlock(self.shape, self.step, self.shared + 1)(*lifted)
        wider = ReadBlock((*self.shape, n), (*self.step, 1), self.shared)
        return move_axis(wider(move_axis(x, 0, -1), *_wider(n, x.shape[1 : self.shared + 1], bounds)), -1, 0)

    def kernel(self, k: Any, i: Any, x: Any, *rest: Any) -> Any:
        b, j = i[: self.shared], i[self.shared :]
        starts, lengths = self.bounds(k, x.type, b, rest)
        inside = k.below(j, lengths, self.shape)
        return k.choose(inside, lambda: x(self.place(k, b, starts, j)), lambda: k.const(0, x.type.dtype))


class BlockWrite(Block):
    """Combines u with a block of x; elements of u beyond the block's lengths are not looked at."""

    linear = (0, 1)
    update_operand: ClassVar[int] = 1

    def longest(self, *types: Type) -> tuple[int, ...]:
        return types[1].shape[self.shared :]

    def infer(self, x: Type, u: Type, *bounds: Type) -> Type:
        if u.dtype != x.dtype or u.shape[: self.shared] != x.shape[: self.shared]:
            raise ShapeError(f"{self.name}: {u} does not fit into {x}")
        self.check(x, u.shape[self.shared :], bounds)
        return x

    def array(self, xp: Namespace, x: Any, u: Any, *bounds: Any) -> Any:
        if 0 in u.shape:
            return x
        rank, y, inside = len(self.step), u, xp.asarray(True)
        for axis, (start, length) in enumerate(zip(bounds[:rank], bounds[rank:], strict=True)):
            at, is_inside = _write_places(xp, start, length, self.step[axis], x.shape[axis + self.shared])
            at = xp.clip(at, 0, u.shape[axis + self.shared] - 1)
            y = _along(xp, y, self.shared + axis, self.shared, at, None)
            inside = inside & _spread(xp, is_inside, x.ndim, self.shared + axis, self.shared)
        return xp.where(inside, self.combined(x, y), x)

    def combined(self, x: Any, u: Any) -> Any:
        """What elements of the block become, as arrays."""
        return u

    def batch(self, n: int, batched: tuple[bool, ...], x: Value, u: Value, *bounds: Value) -> Value:
        cls: Any = type(self)
        if any(batched[2:]):
            return cls(self.step, self.shared + 1)(*_lifted(n, batched, (x, u, *bounds)))
        x, u = _lifted(n, batched[:2], (x, u))
        wider = _wider(n, x.shape[1 : self.shared + 1], bounds)
        return move_axis(cls((*self.step, 1), self.shared)(move_axis(x, 0, -1), move_axis(u, 0, -1), *wider), -1, 0)

    def at_places(self, known: Value, x: Value, u: Value, *bounds: Value) -> Value | None:
        return ReadBlock(u.shape[self.shared :], self.step, self.shared)(known, *bounds)

    def part(self, k: Any, j: Any, x: Any, u: Any, *rest: Any) -> tuple[Any, Any]:
        """Where element j of the block lies in x, and what it becomes; of one problem."""
        place = self.place(k, (), self.bounds(k, x.type, (), rest)[0], j)
        return place, u(j)

    def lengths(self, bounds: Sequence[Value]) -> Sequence[Value]:
        """The lengths among the bounds."""
        return bounds[len(self.step) :]

    def fill(self, k: Any, out: Any, x: Any, u: Any, *rest: Any) -> None:
        """Copy x, then write the block."""

        def problem(b: Any) -> None:
            starts, lengths = self.bounds(k, x.type, b, rest)

            def write(j: Any) -> None:
                place = self.place(k, b, starts, j)
                k.store(out, place, self.written(k, out, place, u((*b, *j))))

            k.loop(u.type.shape[self.shared :], write, limits=lengths)

        k.copy(out, x)
        if self.shared:
            k.loop(x.type.shape[: self.shared], problem)
        else:
            problem(())

    def written(self, k: Any, out: Any, place: Any, new: Any) -> Any:
        """The element to store at `place`."""
        return new


@final
@frozen
class UpdateBlock(BlockWrite):
    """x with a block replaced by u: `t[b…, n…], t[b…, m…], starts, lengths → t[b…, n…]`."""

    step: tuple[int, ...]
    shared: int = 0

    def transpose(self, ct: Value, x: Value | Type, u: Value | Type, *bounds: Value) -> Tangents:
        shape = u.shape[self.shared :]
        zeros = ir.operators.zeros(u if isinstance(u, Type) else u.type)
        dx = self(ct, zeros, *bounds) if isinstance(x, Type) else None
        du = ReadBlock(shape, self.step, self.shared)(ct, *bounds) if isinstance(u, Type) else None
        return (dx, du, *(None for _ in bounds))


@final
@frozen
class AddBlock(BlockWrite):
    """x with u added to a block: `t[b…, n…], t[b…, m…], starts, lengths → t[b…, n…]`."""

    step: tuple[int, ...]
    shared: int = 0

    def combined(self, x: Any, u: Any) -> Any:
        return x + u

    def part(self, k: Any, j: Any, x: Any, u: Any, *rest: Any) -> tuple[Any, Any]:
        place = self.place(k, (), self.bounds(k, x.type, (), rest)[0], j)
        return place, k.scalar(Add(), x(place), u(j))

    def transpose(self, ct: Value, x: Value | Type, u: Value | Type, *bounds: Value) -> Tangents:
        shape = u.shape[self.shared :]
        du = ReadBlock(shape, self.step, self.shared)(ct, *bounds) if isinstance(u, Type) else None
        return (ct if isinstance(x, Type) else None, du, *(None for _ in bounds))

    def written(self, k: Any, out: Any, place: Any, new: Any) -> Any:
        return k.scalar(Add(), k.load(out, place), new)


@final
class Agree(Elementwise):
    """The common value of two integers; ShapeError where they differ. They are the extents of operands."""

    domain = "i"
    failure = "extents"

    def somewhere(self, *types: Type) -> dict[int, Safe]:
        """Both numbers, and one that they may have in common."""
        return {0: 0, 1: 0}

    def array(self, xp: Namespace, x: Any, y: Any) -> Any:
        return x

    def numpy(self, np: Namespace, x: Any, y: Any) -> Any:
        if (x != y).any():
            raise failed(self.failure, 1)
        return x

    def torch(self, torch: Namespace, x: Any, y: Any) -> Any:
        return self.numpy(torch, x, y) if can_be_read(torch, x, y) else x

    def kernel(self, k: Any, i: Any, *xs: Any) -> Any:
        x, y = xs
        return k.same(x(i if x.type.shape else ()), y(i if y.type.shape else ()), self.failure)


def read_block(
    x: Value, starts: Sequence[Value], lengths: Sequence[Value], shape: Sequence[int], step: Sequence[int] | None = None
) -> Value:
    """`ReadBlock` as a function."""
    return ReadBlock(tuple(shape), tuple(step or (1,) * len(starts)))(x, *starts, *lengths)


def update_block(
    x: Value, u: Value, starts: Sequence[Value], lengths: Sequence[Value], step: Sequence[int] | None = None
) -> Value:
    """`UpdateBlock` as a function."""
    return UpdateBlock(tuple(step or (1,) * len(starts)))(x, u, *starts, *lengths)


# --- arrays


def _column(xp: Namespace, x: Any) -> Any:
    """Bounds `[b…]` with a new last axis."""
    return xp.reshape(xp.asarray(x), (*xp.asarray(x).shape, 1))


def _read_places(xp: Namespace, start: Any, length: Any, step: int, count: int, n: int) -> tuple[Any, Any]:
    """Where the elements of a block lie along an axis of extent n, `[b…, count]`, and which there are."""
    p = xp.arange(count)
    at = _column(xp, start) + step * p
    return xp.clip(at, 0, max(n - 1, 0)), p < _column(xp, length)


def _write_places(xp: Namespace, start: Any, length: Any, step: int, n: int) -> tuple[Any, Any]:
    """Which element of a block lies at each place of an axis of extent n, `[b…, n]`, and where one does."""
    away = (xp.arange(n) - _column(xp, start)) * (1 if step > 0 else -1)
    at = away // abs(step)
    return at, (away % abs(step) == 0) & (away >= 0) & (at < _column(xp, length))


def _spread(xp: Namespace, x: Any, rank: int, axis: int, shared: int) -> Any:
    """`[b…, m]` with its last axis at `axis` of `rank` axes, the others of extent 1."""
    shape = (*x.shape[:shared], *(1,) * (axis - shared), x.shape[-1], *(1,) * (rank - axis - 1))
    return xp.reshape(x, shape)


def _along(xp: Namespace, x: Any, axis: int, shared: int, at: Any, is_inside: Any) -> Any:
    """The elements of x at the places `at[b…, m]` along an axis, and zero where none is inside."""
    lead = [xp.reshape(xp.arange(x.shape[a]), (1,) * a + (-1,) + (1,) * (shared - a)) for a in range(shared)]
    y = xp.moveaxis(x, axis, shared)[(*lead, at)]
    if is_inside is not None:
        y = xp.where(_spread(xp, is_inside, x.ndim, shared, shared), y, xp.zeros_like(y))
    return xp.moveaxis(y, shared, axis)


# --- batches


def _lifted(n: int, batched: Sequence[bool], xs: Sequence[Value]) -> list[Value]:
    """All operands with a batch axis in front: problems of their own."""
    return [x if is_batched else lift(x, n) for x, is_batched in zip(xs, batched, strict=True)]


def _wider(n: int, shape: tuple[int, ...], bounds: Sequence[Value]) -> list[Value]:
    """Bounds of a block with one more axis, of which it has all n elements, after the others."""
    rank = len(bounds) // 2
    first, every = (broadcast(const(number, "i64"), shape, ()) for number in (0, n))
    return [*bounds[:rank], first, *bounds[rank:], every]
