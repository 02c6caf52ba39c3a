"""Discrete convolution and correlation of sequences, along the last axis; leading axes are a batch.

    z[k] = Σ x[i]·y[k - i]      Convolve: all places where the two overlap
    v[k] = Σ x[i + k]·y[i]      Correlate: all places where y lies inside x

They are each other's transposes. In machine code a loop goes over the shorter one, and each step adds a multiple of
the longer one, or of a window of it; where there are few sums, each step makes one.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, final

from pliant.core.build import trace
from pliant.core.frozen import frozen
from pliant.core.ir import Namespace, Op, Tangents, Value, Values, const
from pliant.core.types import Type
from pliant.errors import DTypeError, ShapeError
from pliant.ops.base import sum_of
from pliant.ops.block import AddBlock, ReadBlock
from pliant.ops.complex import conj
from pliant.ops.elementwise import add, mul
from pliant.ops.loop import Loop
from pliant.ops.reduce import reduce_or, reduce_sum
from pliant.ops.shape import broadcast, flip, lift, move_axis, permute, slice_axis


class Pairing(Op):
    """Sums of products of two sequences of the same leading axes, each of at least one element."""

    multilinear = True

    def infer(self, x: Type, y: Type) -> Type:
        if x.dtype != y.dtype:
            raise DTypeError(f"{self.name}: {x} and {y} have different dtypes")
        if not x.shape or x.shape[:-1] != y.shape[:-1]:
            raise ShapeError(f"{self.name}: {x} and {y} do not have the same leading axes")
        if not x.shape[-1] or not y.shape[-1]:
            raise ShapeError(f"{self.name}: {x} and {y}: an empty sequence has no {self.name.removesuffix('e')}ion")
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
        (x, y), (dx, dy) = xs, dxs
        z = self(x, y)
        terms = [self(dx, y)] if dx is not None else []
        terms += [self(x, dy)] if dy is not None else []
        return (z,), (sum_of(terms) if terms and z.type.is_float else None,)

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
        long, short = (x, y) if x.shape[-1] >= y.shape[-1] else (y, x)
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

            def added(i: Value, z: Value, x: Value, factor: Value) -> Value:
                return add(z, times(place.window(x, i, count), factor))

            return _swept(added, broadcast(const(0, x.dtype), (*x.shape[:-1], count), ()), x, y)
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
    m, n = x.shape[-1], y.shape[-1]
    long, short = (x, y) if m >= n else (y, x)
    if mode == "valid":
        return Correlate()(long, flip(short, (short.type.rank - 1,)))
    return _cut(Convolve()(x, y), mode, (short.shape[-1] - 1) // 2, long.shape[-1])


def correlate(x: Value, y: Value, *, mode: str = "valid") -> Value:
    """`z[k] = Σ x[i + k]·conj(y[i])`, as NumPy's: the convolution with y reversed and conjugated."""
    m, n, last = x.shape[-1], y.shape[-1], (y.type.rank - 1,)
    if mode == "valid":
        return Correlate()(x, conj(y)) if m >= n else flip(Correlate()(conj(y), x), last)
    return _cut(Convolve()(x, flip(conj(y), last)), mode, (n - 1) // 2 if m >= n else m // 2, max(m, n))


def _cut(full: Value, mode: str, middle: int, long: int) -> Value:
    """The part of a full convolution that `mode` asks for; "same" starts at `middle`."""
    return full if mode == "full" else slice_axis(full, full.type.rank - 1, middle, long)


RULES = ()
