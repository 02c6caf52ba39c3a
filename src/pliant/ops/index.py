"""Reads and writes at places chosen at run time: gather, and scatters that set or add.

The indices of one call share one type `i64[b…, s…]`. They are in range and not negative: bounds
are checked when the program runs, negative ones are wrapped by the front end (`wrap`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, final

from pliant.core import ir
from pliant.core.data import frozen
from pliant.core.ir import Const, Namespace, Tangents, Value, const
from pliant.core.types import Type
from pliant.errors import DTypeError, ShapeError, out_of_range
from pliant.ops.base import Linear, Safe, can_be_read
from pliant.ops.compare import equal, less, not_zero_of_written
from pliant.ops.elementwise import Add
from pliant.ops.in_jax import adding
from pliant.ops.select import Find, is_true, select
from pliant.ops.shape import Permute, broadcast, iota, lift, move_axis, permute, reshape, slice_axis


class Indexed(Linear):
    """Names places of x by indices, one for each of its axes from `shared` on.

    The first `shared` axes b… are common to all operands: problem by problem. `unique` promises
    that no place is named twice. `x: t[b…, n0, …, nk-1, r…]`, `k` indices `i64[b…, s…]`, and
    elements at these places `t[b…, s…, r…]`.
    """

    shared: int
    unique: bool
    updates: ClassVar[int] = 0
    """How many operands follow the indices."""

    def picked(self, x: Type, *indices: Type) -> Type:
        """The type of the elements of `x` at the indices."""
        if not indices or len(set(indices)) != 1:
            raise ShapeError(f"{self.name}: indices {', '.join(map(str, indices))} need one common shape")
        if indices[0].dtype != "i64":
            raise DTypeError(f"{self.name}: an index is {indices[0]}, expected i64")
        shape, end = indices[0].shape, self.shared + len(indices)
        if x.rank < end or shape[: self.shared] != x.shape[: self.shared]:
            raise ShapeError(f"{self.name}: {len(indices)} indices {indices[0]} do not fit {x}")
        return x.with_shape(shape + x.shape[end:])

    def somewhere(self, *types: Type) -> dict[int, Safe]:
        """The operands that must be in range, and for each a number that always is."""
        return dict.fromkeys(range(1, len(types) - self.updates), 0)

    def places(self, np: Namespace, x: Any, indices: Sequence[Any]) -> tuple[Any, ...]:
        """The index for the places, of NumPy or PyTorch, or IndexRangeError."""
        for axis, i in enumerate(indices, self.shared):
            bad = i[(i < 0) | (i >= x.shape[axis])]
            if len(bad):
                raise out_of_range(int(bad[0]), axis, x.shape[axis], self.name)
        return self.grid(np, indices)

    def of_tensors(self, torch: Namespace, x: Any, indices: Sequence[Any]) -> tuple[Any, ...]:
        """The same of PyTorch's tensors; in a batch of its own they cannot be looked at."""
        return self.places(torch, x, indices) if can_be_read(torch, *indices) else self.grid(torch, indices)

    def grid(self, xp: Namespace, indices: Sequence[Any]) -> tuple[Any, ...]:
        """An index for all leading axes, the shared ones included."""
        shape, rank = indices[0].shape, indices[0].ndim
        outer = [xp.arange(shape[a]).reshape((-1,) + (1,) * (rank - 1 - a)) for a in range(self.shared)]
        return (*outer, *indices)

    def read_in_jax(self, jnp: Namespace, x: Any, indices: Sequence[Any]) -> Any:
        """The elements of an array of JAX at the places; where there is none, NaN, or the least integer."""
        return x.at[self.grid(jnp, indices)].get(mode="fill", wrap_negative_indices=False)

    def written_in_jax(self, method: str, jnp: Namespace, x: Any, *rest: Any) -> Any:
        """An array of JAX after a method of its `at`, which leaves out what is not in range."""
        *indices, u = rest
        at = x.at[self.grid(jnp, indices)]
        return getattr(at, method)(u, mode="drop", unique_indices=self.unique, wrap_negative_indices=False)


@final
@frozen
class Gather(Indexed):
    """The elements at the places: `y[b…, s…, r…] = x[b…, i0[b…, s…], …, ik-1[b…, s…], r…]`."""

    shared: int = 0
    unique: bool = False

    def infer(self, x: Type, *indices: Type) -> Type:
        return self.picked(x, *indices)

    def array(self, xp: Namespace, x: Any, *indices: Any) -> Any:
        return x[self.grid(xp, indices)]

    def numpy(self, np: Namespace, x: Any, *indices: Any) -> Any:
        return np.asarray(x[self.places(np, x, indices)])

    def jax(self, jnp: Namespace, x: Any, *indices: Any) -> Any:
        return self.read_in_jax(jnp, x, indices)

    def torch(self, torch: Namespace, x: Any, *indices: Any) -> Any:
        return x[self.of_tensors(torch, x, indices)]

    def transpose(self, ct: Value, x: Value | Type, *indices: Value) -> Tangents:
        zeros = ir.operators.zeros(x if isinstance(x, Type) else x.type)
        return (ScatterAdd(self.shared, self.unique)(zeros, *indices, ct), *(None for _ in indices))

    def batch(self, n: int, batched: tuple[bool, ...], x: Value, *indices: Value) -> Value:
        if not any(batched[1:]):
            return move_axis(self(move_axis(x, 0, -1), *indices), -1, 0)
        lifted = [i if b else lift(i, n) for i, b in zip(indices, batched[1:], strict=True)]
        if batched[0] and _is_element(x, lifted):
            return Gather(unique=True)(move_axis(x, 0, -1), *lifted, iota(n))
        if batched[0]:
            return Gather(self.shared + 1, self.unique)(x, *lifted)
        many = Gather(self.shared)(x, *(move_axis(i, 0, self.shared) for i in lifted))
        return move_axis(many, self.shared, 0)

    def support(self, find: Find, x: Value, *indices: Value) -> Value | None:
        mask = find(x)
        if mask is None or (isinstance(mask.op, ScatterSet) and mask.args[1:-1] == indices and is_true(mask.args[-1])):
            return None
        return self(mask, *indices) if mask.shape == x.shape else mask

    def kernel(self, k: Any, i: Any, x: Any, *indices: Any) -> Any:
        rank = indices[0].type.rank
        at = _checked(k, x.type, self.shared, [index(i[:rank]) for index in indices])
        return x((*i[: self.shared], *at, *i[rank:]))


class Scatter(Indexed):
    """Writes `u` to the places of x, in row-major order of the indices: operands x, indices, u."""

    updates = 1
    update_operand: ClassVar[int] = -1

    def linear_operands(self, count: int) -> tuple[int, ...]:
        return 0, count - 1

    def infer(self, x: Type, *rest: Type) -> Type:
        *indices, u = rest
        if self.picked(x, *indices) != u:
            raise ShapeError(f"{self.name}: {u} does not fit the places {self.picked(x, *indices)} of {x}")
        return x

    def batch(self, n: int, batched: tuple[bool, ...], *xs: Value) -> Value:
        moving = [b or j in (0, len(xs) - 1) or any(batched[1:-1]) for j, b in enumerate(batched)]
        x, *indices, u = [lift(v, n) if m and not b else v for v, m, b in zip(xs, moving, batched, strict=True)]
        if any(batched[1:-1]) and _is_element(x, indices):
            return move_axis(type(self)(unique=True)(move_axis(x, 0, -1), *indices, iota(n), u), -1, 0)  # type: ignore[call-arg]
        if any(batched[1:-1]):
            return type(self)(self.shared + 1, self.unique)(x, *indices, u)  # type: ignore[call-arg]
        return move_axis(self(move_axis(x, 0, -1), *indices, move_axis(u, 0, -1)), -1, 0)

    def fill(self, k: Any, out: Any, x: Any, *rest: Any) -> None:
        """Copy x, then write in order."""
        *indices, u = rest
        rank = indices[0].type.rank
        k.copy(out, x)

        def places(j: Any) -> list[Any]:
            return _checked(k, x.type, self.shared, [k.load(i, j) for i in indices])

        def put(j: Any, at: Sequence[Any]) -> None:
            place = (*j[: self.shared], *at, *j[rank:])
            k.store(out, place, self.written(k, out, place, k.load(u, j)))

        def both(j: Any) -> None:
            put(j, places(j[:rank]))

        if x.type.size and not (k.is_at_hand(x) or any([k.ends(v) for v in (u, *indices)])):
            k.loop(u.type.shape, both)
            return

        # x may be the caller's: as in NumPy, nothing is written unless all of it can be
        def check(j: Any) -> None:
            places(j)

        def look(j: Any) -> None:
            k.load(u, j)

        found = k.ends(u)
        ends = found[0] if found and found[1] == self.idle else None
        k.loop(indices[0].type.shape, check, self.last_checked(k, x.type, indices))
        if k.is_early(u):
            k.loop(u.type.shape, look, ends)
        k.stop()

        def write(j: Any) -> None:
            put(j, [k.index(k.load(i, j[:rank])) for i in indices])

        k.loop(u.type.shape, write, ends)

    idle: ClassVar[Any] = None
    """What leaves an element as it is, if there is such a number."""

    def last_checked(self, k: Any, x: Type, indices: Sequence[Any]) -> Any:
        """Where the indices are all the same from there on, and in range; None if that is nowhere known."""
        if len(indices) > 1 or (found := k.ends(indices[0])) is None:
            return None
        ends, rest = found
        return ends if 0 <= rest < x.shape[self.shared] else None

    def written(self, k: Any, out: Any, place: Any, new: Any) -> Any:
        """The element to store at `place`."""
        return new


class LinearScatter(Scatter):
    """A scatter that is linear in x and u at once."""

    def at_places(self, known: Value, x: Value, *rest: Value) -> Value | None:
        *indices, u = rest
        if u.type.size > x.type.size or (not self.unique and isinstance(self, ScatterSet)):
            return None
        return Gather(self.shared, self.unique)(known, *indices)

    def support_of(self, value: Value, find: Find) -> Value | None:
        """Where numbers were put that may differ from zero."""
        _, *indices, _ = value.args

        def put(x: Value, u: Value) -> Value:
            return ScatterSet(self.shared, self.unique)(x, *indices, u)

        return not_zero_of_written(value, find, put, adds=isinstance(self, ScatterAdd), unique=self.unique)


@final
@frozen
class ScatterSet(LinearScatter):
    """x with the elements at the places replaced by those of u; of several for one, the last."""

    shared: int = 0
    unique: bool = False

    def numpy(self, np: Namespace, x: Any, *rest: Any) -> Any:
        *indices, u = rest
        y = x.copy()
        y[self.places(np, x, indices)] = u
        return y

    def jax(self, jnp: Namespace, x: Any, *rest: Any) -> Any:
        if self.unique or 0 in x.shape:
            return self.written_in_jax("set", jnp, x, *rest)
        # in parallel any of the writes to a place may come last: all others go to where there is no place
        *indices, u = rest
        places = jnp.broadcast_arrays(*self.grid(jnp, indices))
        numbers = jnp.reshape(jnp.arange(places[0].size), places[0].shape)
        options: dict[str, Any] = {"mode": "drop", "wrap_negative_indices": False}
        board = jnp.full(x.shape[: len(places)], -1).at[tuple(places)].max(numbers, **options)
        is_last = board.at[tuple(places)].get(mode="fill", fill_value=-1, wrap_negative_indices=False) == numbers
        first = jnp.where(is_last, places[0], x.shape[0])
        return x.at[(first, *places[1:])].set(u, unique_indices=True, **options)

    def torch(self, torch: Namespace, x: Any, *rest: Any) -> Any:
        *indices, u = rest
        places = self.of_tensors(torch, x, indices)
        if self.unique:
            return x.index_put(places, u)
        # PyTorch would pass the derivative to every write of a place, and choose any of them in parallel
        is_last = last_writes(torch, tuple(x.shape), places)
        is_last = is_last.reshape((*is_last.shape, *[1] * (u.ndim - is_last.ndim)))
        kept = torch.where(is_last, u, torch.zeros_like(u))
        return x.index_put(places, torch.zeros_like(u)).index_put(places, kept, accumulate=True)

    def transpose(self, ct: Value, x: Value | Type, *rest: Any) -> Tangents:
        # Later writes hide earlier ones: x gets what no write touched, u what it wrote last.
        *indices, u = rest
        none = (None,) * len(indices)
        dx = self(ct, *indices, ir.operators.zeros(_type(u))) if isinstance(x, Type) else None
        if isinstance(u, Value):
            return dx, *none, None
        du = Gather(self.shared, self.unique)(ct, *indices)
        if not self.unique:
            seen = broadcast(self.last(x.shape, indices), u.shape, tuple(range(indices[0].type.rank)))
            du = select(seen, du, ir.operators.zeros(u))
        return dx, *none, du

    def last(self, shape: tuple[int, ...], indices: Sequence[Value]) -> Value:
        """Whether each write is the last one at its place: `bool[b…, s…]`."""
        own = indices[0].shape[self.shared :]
        size = Type("i64", own).size
        axes = tuple(range(self.shared, indices[0].type.rank))
        numbers = broadcast(reshape(iota(size), own), indices[0].shape, axes)
        board = ir.operators.zeros(Type("i64", shape[: self.shared + len(indices)]))
        return equal(Gather(self.shared)(self(board, *indices, numbers), *indices), numbers)


def flat_places(torch: Namespace, shape: tuple[int, ...], places: Sequence[Any]) -> Any:
    """Places along leading axes of a shape as numbers in row-major order; of PyTorch's arrays."""
    places = torch.broadcast_tensors(*places)
    flat = torch.zeros_like(places[0])
    for axis, i in enumerate(places):
        flat = flat * shape[axis] + i
    return flat


def last_writes(torch: Namespace, shape: tuple[int, ...], places: Sequence[Any]) -> Any:
    """Whether each write, in row-major order, is the last one at its place; of PyTorch's arrays."""
    flat = flat_places(torch, shape, places)
    numbers = torch.arange(flat.numel())
    board = torch.zeros(math.prod(shape[: len(places)]), dtype=torch.int64)
    board = board.scatter_reduce(0, flat.reshape(-1), numbers, "amax")
    return board[flat] == numbers.reshape(flat.shape)


@final
@frozen
class ScatterAdd(LinearScatter):
    """x with the elements of u added at the places; repeated places accumulate."""

    shared: int = 0
    unique: bool = False
    idle: ClassVar[Any] = 0

    def numpy(self, np: Namespace, x: Any, *rest: Any) -> Any:
        *indices, u = rest
        y = x.copy()
        np.add.at(y, self.places(np, x, indices), u)
        return y

    def jax(self, jnp: Namespace, x: Any, *rest: Any) -> Any:
        return self.written_in_jax(adding(x), jnp, x, *rest)

    def torch(self, torch: Namespace, x: Any, *rest: Any) -> Any:
        *indices, u = rest
        return x.index_put(self.of_tensors(torch, x, indices), u, accumulate=True)

    def transpose(self, ct: Value, x: Value | Type, *rest: Any) -> Tangents:
        *indices, u = rest
        du = Gather(self.shared, self.unique)(ct, *indices) if isinstance(u, Type) else None
        return ct if isinstance(x, Type) else None, *(None for _ in indices), du

    def written(self, k: Any, out: Any, place: Any, new: Any) -> Any:
        return k.scalar(Add(), k.load(out, place), new)


def _checked(k: Any, x: Type, first: int, indices: Sequence[Any]) -> list[Any]:
    """Loaded indices as places along the axes of `x` from `first` on, checked."""
    return [k.checked(k.index(i), x.shape[first + a], first + a) for a, i in enumerate(indices)]


def _is_element(x: Value, indices: Sequence[Value]) -> bool:
    """Whether indices name one element in each problem of a batch, so that the problem is one index more."""
    return indices[0].type.rank == 1 and x.type.rank == len(indices) + 1


def _type(x: Value | Type) -> Type:
    return x if isinstance(x, Type) else x.type


def _is_single(indices: Sequence[Value], shared: int) -> bool:
    """Whether there is at most one place for each problem, so that none is named twice."""
    return Type("i64", indices[0].shape[shared:]).size <= 1


def gather(x: Value, *indices: Value, shared: int = 0, unique: bool = False) -> Value:
    """`Gather` as a function: `x[i0, …, ik-1]`."""
    return Gather(shared, unique or _is_single(indices, shared))(x, *indices)


def scatter_set(x: Value, indices: Sequence[Value], u: Value, *, shared: int = 0, unique: bool = False) -> Value:
    """`ScatterSet` as a function: x after `x[i0, …, ik-1] = u`."""
    return ScatterSet(shared, unique or _is_single(indices, shared))(x, *indices, u)


def scatter_add(x: Value, indices: Sequence[Value], u: Value, *, shared: int = 0, unique: bool = False) -> Value:
    """`ScatterAdd` as a function: x after `np.add.at(x, (i0, …, ik-1), u)`."""
    return ScatterAdd(shared, unique or _is_single(indices, shared))(x, *indices, u)


def wrap(index: Value, extent: int) -> Value:
    """Indices counted from the end where they are negative, as Python does."""
    return select(less(index, const(0, "i64")), index + extent, index)


def take_along(x: Value, indices: Value, axis: int, *, unique: bool = False) -> Value:
    """`np.take_along_axis`: the shapes agree but for `axis`."""
    rows, places = move_axis(x, axis, -1), move_axis(indices, axis, -1)
    return move_axis(gather(rows, places, shared=x.type.rank - 1, unique=unique), -1, axis)


def put_along(x: Value, indices: Value, u: Value, axis: int, *, unique: bool = False) -> Value:
    """x after `np.put_along_axis(x, indices, u, axis)`; `u` has the shape of `indices`."""
    rows, places, new = (move_axis(part, axis, -1) for part in (x, indices, u))
    return move_axis(scatter_set(rows, (places,), new, shared=x.type.rank - 1, unique=unique), -1, axis)


def add_along(x: Value, indices: Value, u: Value, axis: int, *, unique: bool = False) -> Value:
    """x with `u` added at the places `indices` along `axis`; repeated places accumulate."""
    rows, places, new = (move_axis(part, axis, -1) for part in (x, indices, u))
    return move_axis(scatter_add(rows, (places,), new, shared=x.type.rank - 1, unique=unique), -1, axis)


def dynamic_slice(x: Value, starts: Sequence[Value], lengths: Sequence[int]) -> Value:
    """The block of `x` of extents `lengths` that begins at `starts`, one `i64[]` for each axis."""
    if all([isinstance(start.op, Const) for start in starts]):
        narrow = range(len(lengths))
    else:  # one place along an axis is an index as well: its derivative then writes that place alone
        narrow = [axis for axis, length in enumerate(lengths) if length != 1]
    for axis in narrow:
        if isinstance(start := starts[axis].op, Const):
            x = slice_axis(x, axis, int(start.value.real), lengths[axis])
    moving = _moving(starts, lengths, x.shape)
    if not moving:
        return x
    order = (*moving, *(a for a in range(x.type.rank) if a not in moving))
    block = gather(permute(x, order), *_block(starts, lengths, moving), unique=True)
    return permute(reshape(block, [lengths[a] for a in order]), Permute(order).inverse())


def dynamic_update_slice(x: Value, u: Value, starts: Sequence[Value]) -> Value:
    """`x` with the block of `u`'s shape that begins at `starts` replaced by `u`."""
    moving = _moving(starts, u.shape, x.shape)
    if not moving:
        return u
    order = (*moving, *(a for a in range(x.type.rank) if a not in moving))
    indices = _block(starts, u.shape, moving)
    block = reshape(permute(u, order), (*indices[0].shape, *(x.shape[a] for a in order[len(moving) :])))
    return permute(scatter_set(permute(x, order), indices, block, unique=True), Permute(order).inverse())


def _moving(starts: Sequence[Value], lengths: Sequence[int], shape: tuple[int, ...]) -> tuple[int, ...]:
    """The axes along which a block is not all there is; or is, if its start lies in range."""
    axes = enumerate(zip(starts, lengths, shape, strict=True))
    return tuple([a for a, (start, m, n) in axes if m != n or not isinstance(start.op, Const)])


def _block(starts: Sequence[Value], lengths: Sequence[int], axes: Sequence[int]) -> list[Value]:
    """Indices of a block; an axis of extent 1 takes no axis of the indices."""
    wide = [a for a in axes if lengths[a] != 1]
    shape = tuple(lengths[a] for a in wide)

    def index(axis: int) -> Value:
        start = broadcast(starts[axis], shape, ())
        return start + broadcast(iota(lengths[axis]), shape, (wide.index(axis),)) if axis in wide else start

    return [index(a) for a in axes]
