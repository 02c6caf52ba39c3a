"""Discrete convolution and correlation of sequences, along the last axis; leading axes are a batch.

    z[k] = Σ x[i]·y[k - i]      Convolve: all places where the two overlap
    v[k] = Σ x[i + k]·y[i]      Correlate: all places where y lies inside x

They are each other's transposes. In machine code a loop goes over the shorter one, and each step adds multiples of
some windows of the longer one, or of all of it; where there are few sums, each step makes one. A short sequence lies
inside of a long one but for a few places at both ends: these are sums over what is put together with zeros there.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Final, final

from pliant.core.build import trace
from pliant.core.data import frozen
from pliant.core.ir import Namespace, Op, Tangents, Value, Values, const
from pliant.core.types import Type
from pliant.errors import DTypeError, ShapeError
from pliant.ops.base import product_rule, sum_of
from pliant.ops.block import AddBlock, ReadBlock
from pliant.ops.complex import conj
from pliant.ops.elementwise import add, mul
from pliant.ops.loop import Loop
from pliant.ops.reduce import reduce_or, reduce_sum
from pliant.ops.shape import broadcast, flip, lift, move_axis, permute, reshape, slice_axis
from pliant.ops.update import pad, update_slice

TOGETHER: Final = 16
"""Windows that are added at a time."""
SHORT: Final = 4
"""Times that a sequence is at least as long as one that is short beside it."""


class Pairing(Op):
    """Sums of products of two sequences of the same leading axes, each of at least one element."""

    multilinear = True

    def infer(self, x: Type, y: Type) -> Type:
        if x.dtype != y.dtype:
            raise DTypeError(f"{self.name}: {x} and {y} have different dtypes")
        if not x.shape or x.shape[:-1] != y.shape[:-1]:
            raise ShapeError(f"{self.name}: {x} and {y} do not have the same leading axes")
        if not x.shape[-1] or not y.shape[-1]:
            raise ShapeError(f"{self.name}: {x} and {y}: an empty sequence is paired with none")
        return x.with_shape((*x.shape[:-1], self.count(x.shape[-1], y.shape[-1])))

    @abstractmethod
    def count(self, m: int, n: int) -> int:
        """How many sums there are for m and n elements."""

    @abstractmethod
    def one(self, np: Namespace, x: Any, y: Any) -> Any:
        """The sums for two sequences, by NumPy."""

    def numpy(self, np: Namespace, x: Any, y: Any) -> Any:
        if x.ndim == 1:
            return self.one(np, x, y)
        rows = [self.one(np, p, q) for p, q in zip(_rows(x), _rows(y), strict=True)]
        shape = (*x.shape[:-1], self.count(x.shape[-1], y.shape[-1]))
        return np.reshape(np.stack(rows), shape) if rows else np.empty(shape, x.dtype)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        return product_rule(self, xs, dxs)

    def batch(self, n: int, batched: tuple[bool, ...], x: Value, y: Value) -> Value:
        return self(*(v if b else lift(v, n) for v, b in zip((x, y), batched, strict=True)))


@final
class Convolve(Pairing):
    """`z[k] = Σ x[i]·y[k - i]`: `t[…, m], t[…, n] → t[…, m + n - 1]`, m and n at least 1."""

    def count(self, m: int, n: int) -> int:
        return m + n - 1

    def one(self, np: Namespace, x: Any, y: Any) -> Any:
        return np.convolve(x, y)

    def expand(self, x: Value, y: Value) -> Value:
        long, short = in_order(x, y)
        if is_short(long, short):
            return overlaps(long, short, 0, self.count(x.shape[-1], y.shape[-1]))
        place = Place(long.type)

        def step(i: Value, z: Value, x: Value, factor: Value) -> Value:
            return AddBlock(place.step)(z, times(x, factor), *place.bounds(i, x.shape[-1]))

        return _swept(step, broadcast(const(0, x.dtype), self.infer(x.type, y.type).shape, ()), long, short)

    def transpose(self, ct: Value, x: Value | Type, y: Value | Type) -> Tangents:
        if isinstance(x, Type):
            assert isinstance(y, Value)
            return Correlate()(ct, conj(y)), None
        return None, Correlate()(ct, conj(x))


@final
class Correlate(Pairing):
    """`v[k] = Σ x[i + k]·y[i]`: `t[…, m], t[…, n] → t[…, m - n + 1]`, m ≥ n ≥ 1."""

    def count(self, m: int, n: int) -> int:
        if m < n:
            raise ShapeError(f"{self.name}: a sequence of {n} elements does not lie inside one of {m}")
        return m - n + 1

    def one(self, np: Namespace, x: Any, y: Any) -> Any:
        return np.correlate(x, np.conj(y), "valid")

    def expand(self, x: Value, y: Value) -> Value:
        n, place = y.shape[-1], Place(x.type)
        count = self.count(x.shape[-1], n)

        def total(i: Value, x: Value, y: Value) -> Value:
            add_up = reduce_or if x.dtype == "bool" else reduce_sum
            return add_up(mul(place.window(x, i, n), y), (x.type.rank - 1,))

        if n <= count:
            return windows_added(x, y, count)
        body = trace(total, Type("i64"), x.type, y.type)
        (rows,) = Loop(count, ("const", "const"), ("stack",), body).apply(x, y)
        return move_axis(rows, 0, -1)

    def transpose(self, ct: Value, x: Value | Type, y: Value | Type) -> Tangents:
        if isinstance(x, Type):
            assert isinstance(y, Value)
            return Convolve()(ct, conj(y)), None
        return None, Correlate()(conj(x), ct)


@final
@frozen
class Place:
    """Windows along the last axis of arrays of this type's leading axes."""

    type: Type

    @property
    def step(self) -> tuple[int, ...]:
        return (1,) * self.type.rank

    def bounds(self, start: Value, length: int) -> list[Value]:
        """Where such a window begins, and how long it is, for every axis."""
        lead = self.type.shape[:-1]
        return [*[const(0, "i64") for _ in lead], start, *[const(n, "i64") for n in (*lead, length)]]

    def window(self, x: Value, start: Value, length: int) -> Value:
        """The window."""
        return ReadBlock((*x.shape[:-1], length), self.step)(x, *self.bounds(start, length))


def times(x: Value, factor: Value) -> Value:
    """Each row of x times a number of its own."""
    return mul(x, broadcast(factor, x.shape, tuple(range(factor.type.rank))))


def windows_added(x: Value, y: Value, count: int) -> Value:
    """The sums of a correlation, some windows at a time: their sum is read and written once for all of them."""
    last, place = x.type.rank - 1, Place(x.type)
    groups = (y.shape[-1] - 1) // TOGETHER
    rest = y.shape[-1] - groups * TOGETHER

    def sum_at(windows: Sequence[Value], factors: Value) -> Value:
        parts = [reshape(slice_axis(factors, last, w, 1), factors.shape[:-1]) for w in range(len(windows))]
        return sum_of([times(window, part) for window, part in zip(windows, parts, strict=True)])

    def step(i: Value, z: Value, x: Value, factors: Value) -> Value:
        starts = [i * TOGETHER + const(rest + w, "i64") for w in range(TOGETHER)]
        return add(z, sum_at([place.window(x, start, count) for start in starts], factors))

    made = sum_at([slice_axis(x, last, w, count) for w in range(rest)], slice_axis(y, last, 0, rest))
    if not groups:
        return made
    grouped = reshape(slice_axis(y, last, rest, groups * TOGETHER), (*y.shape[:-1], groups, TOGETHER))
    rows = permute(grouped, (last, *range(last), last + 1))
    body = trace(step, Type("i64"), made.type, x.type, rows.type.row, names=("i", "z", "x", "factors"))
    return Loop(groups, ("carry", "const", "each"), ("last",), body).apply(made, x, rows)[0]


def in_order(x: Value, y: Value) -> tuple[Value, Value]:
    """The longer one of two sequences, and the other one."""
    return (x, y) if x.shape[-1] >= y.shape[-1] else (y, x)


def is_short(long: Value, short: Value) -> bool:
    """Whether a sequence is so short that few of its sums with another one are at the ends."""
    return SHORT * short.shape[-1] <= long.shape[-1]


def overlaps(long: Value, short: Value, first: int, count: int) -> Value:
    """So many sums of a convolution from the first on, which is not behind the ones where `short` lies inside."""
    (m, n), last = (long.shape[-1], short.shape[-1]), long.type.rank - 1
    turned, none = flip(short, (last,)), (0,) * last
    before, after = n - 1 - first, first + count - m
    made = broadcast(const(0, long.dtype), (*long.shape[:-1], count), ())
    made = update_slice(made, Correlate()(long, turned), (*none, before))
    if before:
        ahead = pad(slice_axis(long, last, 0, n - 1), (*none, before), (*none, 0))
        made = update_slice(made, Correlate()(ahead, turned), (*none, 0))
    if after:
        behind = pad(slice_axis(long, last, m - n + 1, n - 1), (*none, 0), (*none, after))
        made = update_slice(made, Correlate()(behind, turned), (*none, count - after))
    return made


def _swept(step: Callable[..., Value], made: Value, long: Value, short: Value) -> Value:
    """What steps make of what was made before, of one sequence and of one element of another."""
    order = (short.type.rank - 1, *range(short.type.rank - 1))
    rows = permute(short, order)
    body = trace(step, Type("i64"), made.type, long.type, rows.type.row, names=("i", "z", "x", "factor"))
    return Loop(rows.shape[0], ("carry", "const", "each"), ("last",), body).apply(made, long, rows)[0]


def _rows(x: Any) -> Any:
    return x.reshape(-1, x.shape[-1])


def convolve(x: Value, y: Value, *, mode: str = "full") -> Value:
    """The convolution; of the longer one's extent if mode is "same", without the borders if "valid"."""
    long, short = in_order(x, y)
    if mode == "valid":
        return Correlate()(long, flip(short, (short.type.rank - 1,)))
    return _cut(x, y, mode, (short.shape[-1] - 1) // 2)


def correlate(x: Value, y: Value, *, mode: str = "valid") -> Value:
    """`z[k] = Σ x[i + k]·conj(y[i])`, as NumPy's: the convolution with y reversed and conjugated."""
    m, n, last = x.shape[-1], y.shape[-1], (y.type.rank - 1,)
    if mode == "valid":
        return Correlate()(x, conj(y)) if m >= n else flip(Correlate()(conj(y), x), last)
    return _cut(x, flip(conj(y), last), mode, (n - 1) // 2 if m >= n else m // 2)


def _cut(x: Value, y: Value, mode: str, middle: int) -> Value:
    """The part of a convolution that `mode` asks for; "same" starts at `middle`."""
    long, short = in_order(x, y)
    if mode == "full":
        return Convolve()(x, y)
    if is_short(long, short):
        return overlaps(long, short, middle, long.shape[-1])
    return slice_axis(Convolve()(x, y), x.type.rank - 1, middle, long.shape[-1])


RULES = ()
