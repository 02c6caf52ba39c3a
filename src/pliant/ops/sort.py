"""Order: sorting along one axis, the order that sorts, and searching in what is sorted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, final

from pliant.core import ir
from pliant.core.data import frozen
from pliant.core.ir import Namespace, Op, Tangents, Value, Values, const
from pliant.core.types import Type
from pliant.errors import DTypeError, ShapeError
from pliant.ops.base import fit
from pliant.ops.compare import equal, less, less_equal, maximum, not_equal
from pliant.ops.elementwise import Add, convert
from pliant.ops.in_jax import jax_module
from pliant.ops.index import add_along, take_along
from pliant.ops.reduce import reduce_sum
from pliant.ops.scan import cumsum
from pliant.ops.select import Select, select
from pliant.ops.shape import Permute, broadcast, concatenate, lift, permute, reshape, slice_axis

FEW: Final = 4
"""Places of sorted elements whose derivatives are found by comparing them with all."""


def _check_axis(op: Op, axis: int, x: Type) -> None:
    if not 0 <= axis < x.rank:
        raise ShapeError(f"{op.name}: {x} has no axis {axis}")


def _check_places(op: Op, x: Type, axis: int, first: int, last: int) -> None:
    _check_axis(op, axis, x)
    if not 0 <= first <= last < x.shape[axis]:
        raise ShapeError(f"{op.name}: {x} has no places {first} to {last} along axis {axis}")


@final
@frozen
class Sort(Op):
    """The elements along `axis` in ascending order, NaN last.

    Equal elements share the derivative evenly, as those of a maximum do.
    """

    axis: int

    def infer(self, x: Type) -> Type:
        _check_axis(self, self.axis, x)
        return x

    def array(self, xp: Namespace, x: Any) -> Any:
        return xp.sort(x, axis=self.axis)

    def torch(self, torch: Namespace, x: Any) -> Any:
        return torch.sort(x, dim=self.axis, stable=True).values

    def expand(self, x: Value) -> Value:
        return along_last(x, self.axis, sort) or self(x)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (x,), (dx,) = xs, dxs
        if dx is None or not x.type.is_float:
            return self.apply(x), (None,)
        order = argsort(x, self.axis, stable=False)
        y = take_along(x, order, self.axis, unique=True)
        return (y,), (evened(y, take_along(dx, order, self.axis, unique=True), self.axis),)

    def batch(self, n: int, batched: tuple[bool, ...], x: Value) -> Value:
        return Sort(self.axis + 1)(x)


@final
@frozen
class Partition(Op):
    """The elements along `axis`, those at places `first` to `last` as they are if all are sorted, those before them no
    greater, those after them no smaller; NaN counts as largest. The others lie in any order: where there are
    derivatives, in that of `Argpartition`.
    """

    axis: int
    first: int
    last: int

    def infer(self, x: Type) -> Type:
        _check_places(self, x, self.axis, self.first, self.last)
        return x

    def array(self, xp: Namespace, x: Any) -> Any:
        return xp.sort(x, axis=self.axis)

    def torch(self, torch: Namespace, x: Any) -> Any:
        return torch.sort(x, dim=self.axis).values

    def expand(self, x: Value) -> Value:
        return along_last(x, self.axis, lambda x, last: partition(x, last, self.first, self.last)) or sort(x, self.axis)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (x,), (dx,), axis = xs, dxs, self.axis
        if dx is None or not x.type.is_float:
            return self.apply(x), (None,)
        order = argpartition(x, axis, self.first, self.last)
        y, dy = [take_along(v, order, axis, unique=True) for v in (x, dx)]
        return (y,), (evened_about(y, dy, axis, self.first, self.last),)

    def batch(self, n: int, batched: tuple[bool, ...], x: Value) -> Value:
        return Partition(self.axis + 1, self.first, self.last)(x)


@final
@frozen
class Ranked(Op):
    """The elements along `axis` that lie at places `first` to `last` if all are sorted, NaN last.

    Equal elements share the derivative evenly; of a few places it is found by comparing, without an order.
    """

    axis: int
    first: int
    last: int

    def infer(self, x: Type) -> Type:
        _check_places(self, x, self.axis, self.first, self.last)
        return x.with_shape((*x.shape[: self.axis], self.count, *x.shape[self.axis + 1 :]))

    @property
    def count(self) -> int:
        """How many places there are."""
        return self.last - self.first + 1

    def expand(self, x: Value) -> Value:
        return self._part(partition(x, self.axis, self.first, self.last))

    def _part(self, x: Value) -> Value:
        return slice_axis(x, self.axis, self.first, self.count)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (x,), (dx,) = xs, dxs
        if dx is None or not x.type.is_float:
            return self.apply(x), (None,)
        if self.count > FEW:
            (y,), (dy,) = Partition(self.axis, self.first, self.last).jvp(xs, dxs)
            return (self._part(y),), (None if dy is None else self._part(dy),)
        y = self(x)
        every = (*x.shape, self.count)
        axes = tuple(range(x.type.rank))
        ranks = (*[a for a in axes if a != self.axis], x.type.rank)
        order = (*[a for a in axes if a != self.axis], self.axis)
        wanted = broadcast(permute(y, order), every, ranks)
        is_there = equal(broadcast(x, every, axes), wanted)
        shares = convert(is_there, x.dtype) / maximum(self._of_each(convert(is_there, x.dtype), every, ranks), 1)
        dy = reduce_sum(select(is_there, broadcast(dx, every, axes) * shares, 0), (self.axis,))
        return (y,), (permute(dy, Permute(order).inverse()),)

    def _of_each(self, x: Value, every: tuple[int, ...], ranks: tuple[int, ...]) -> Value:
        """The sums along the axis, for all of its elements."""
        return broadcast(reduce_sum(x, (self.axis,)), every, ranks)

    def batch(self, n: int, batched: tuple[bool, ...], x: Value) -> Value:
        return Ranked(self.axis + 1, self.first, self.last)(x)


@final
@frozen
class Argsort(Op):
    """The indices that sort along `axis`: i64, NaN last. stable: equal elements keep their order."""

    axis: int
    stable: bool = True

    def infer(self, x: Type) -> Type:
        _check_axis(self, self.axis, x)
        return x.with_dtype("i64")

    def array(self, xp: Namespace, x: Any) -> Any:
        return xp.argsort(x, axis=self.axis, stable=self.stable)

    def torch(self, torch: Namespace, x: Any) -> Any:
        return torch.argsort(x, dim=self.axis, stable=self.stable)

    def expand(self, x: Value) -> Value:
        return along_last(x, self.axis, lambda x, last: argsort(x, last, stable=self.stable)) or self(x)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        return self.apply(*xs), (None,)

    def batch(self, n: int, batched: tuple[bool, ...], x: Value) -> Value:
        return Argsort(self.axis + 1, self.stable)(x)


@final
@frozen
class Argpartition(Op):
    """The indices, i64, of an order along `axis` that is a partition, as `Partition` is one."""

    axis: int
    first: int
    last: int

    def infer(self, x: Type) -> Type:
        _check_places(self, x, self.axis, self.first, self.last)
        return x.with_dtype("i64")

    def array(self, xp: Namespace, x: Any) -> Any:
        return xp.argsort(x, axis=self.axis, stable=False)

    def torch(self, torch: Namespace, x: Any) -> Any:
        return torch.argsort(x, dim=self.axis)

    def expand(self, x: Value) -> Value:
        made = along_last(x, self.axis, lambda x, last: argpartition(x, last, self.first, self.last))
        return made or argsort(x, self.axis, stable=False)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        return self.apply(*xs), (None,)

    def batch(self, n: int, batched: tuple[bool, ...], x: Value) -> Value:
        return Argpartition(self.axis + 1, self.first, self.last)(x)


@final
@frozen
class Searchsorted(Op):
    """Where each element of v belongs in the sorted a: `a: t[b…, n], v: t[b…, s…] → i64[b…, s…]`.

    `side` left: the number of elements < v; right: ≤ v. NaN counts as largest. The first `shared`
    axes are common: problem by problem.
    """

    side: str = "left"
    shared: int = 0

    def infer(self, a: Type, v: Type) -> Type:
        if a.dtype != v.dtype:
            raise DTypeError(f"searchsorted: {a} and {v} have different dtypes")
        if a.rank != self.shared + 1 or v.shape[: self.shared] != a.shape[:-1]:
            raise ShapeError(f"searchsorted: {v} cannot be searched in {a}")
        if self.side not in ("left", "right"):
            raise ShapeError(f"searchsorted: side is {self.side!r}, expected 'left' or 'right'")
        return v.with_dtype("i64")

    def array(self, xp: Namespace, a: Any, v: Any) -> Any:
        if not self.shared:
            return xp.searchsorted(a, v, side=self.side)
        each = Searchsorted(self.side, self.shared - 1)
        rows = [each.array(xp, a[j], v[j]) for j in range(a.shape[0])]
        return xp.stack(rows) if rows else xp.zeros(v.shape, dtype=xp.int64)

    def jax(self, jnp: Namespace, a: Any, v: Any) -> Any:
        def one(a: Any, v: Any) -> Any:
            return jnp.searchsorted(a, v, side=self.side)

        for _ in range(self.shared):
            one = jax_module().vmap(one)
        return one(a, v)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        return self.apply(*xs), (None,)

    def batch(self, n: int, batched: tuple[bool, ...], a: Value, v: Value) -> Value:
        if self.shared == 0 and not batched[0]:
            return self(a, v)
        a, v = (x if b else lift(x, n) for x, b in zip((a, v), batched, strict=True))
        return Searchsorted(self.side, self.shared + 1)(a, v)

    def kernel(self, k: Any, i: Any, a: Any, v: Any) -> Any:
        x, row, n = v(i), i[: self.shared], a.type.shape[-1]
        precedes = less if self.side == "left" else less_equal
        count = leading(k, a, row, lambda y: k.scalar(precedes, y, x))
        if not a.type.is_float:
            return count
        # no comparison holds for NaN, which comes after all numbers: those are counted once for each row
        numbers = k.const(n, "i64") if self.side == "right" else leading(k, a, row, lambda y: k.scalar(equal, y, y))
        return k.scalar(Select(), k.scalar(not_equal, x, x), numbers, count)


def leading(k: Any, a: Any, row: Any, holds: Callable[[Any], Any]) -> Any:
    """How many elements of a row come before the first for which a condition does not hold: what is left of the row is
    halved so often as its length says, whatever it holds, so that no branch can be mispredicted."""
    rest, count = a.type.shape[-1], k.const(0, "i64")
    while rest:
        half = max(rest // 2, 1)
        found = holds(a((*row, k.affine(k.index(count), 1, half - 1))))
        count = k.scalar(Select(), found, k.scalar(Add(), count, k.const(half, "i64")), count)
        rest = rest - half if rest > 1 else 0
    return count


def along_last(x: Value, axis: int, build: Callable[[Value, int], Value]) -> Value | None:
    """What is built along the last axis with `axis` in its place; None if it is the last."""
    last = x.type.rank - 1
    if axis == last:
        return None
    order = [a for a in range(last + 1) if a != axis]
    return permute(build(permute(x, (*order, axis)), last), (*range(axis), last, *range(axis, last)))


def sort(x: Value, axis: int) -> Value:
    """The elements along `axis` in ascending order, NaN last."""
    return Sort(axis)(x)


def partition(x: Value, axis: int, first: int, last: int) -> Value:
    """The elements along `axis`, with those at places `first` to `last` where they are if all are sorted."""
    return Partition(axis, first, last)(x)


def ranked(x: Value, axis: int, first: int, last: int) -> Value:
    """The elements along `axis` at places `first` to `last` of the sorted ones."""
    return Ranked(axis, first, last)(x)


def argpartition(x: Value, axis: int, first: int, last: int) -> Value:
    """The indices along `axis`, with those at places `first` to `last` where they are if all are sorted."""
    return Argpartition(axis, first, last)(x)


def argsort(x: Value, axis: int, *, stable: bool = True) -> Value:
    """The indices that sort along `axis`; if stable, equal elements keep their order."""
    return Argsort(axis, stable)(x)


def evened(y: Value, dy: Value, axis: int) -> Value:
    """`dy` with its mean over each run of equal elements of the sorted `y`, along `axis`."""
    if y.shape[axis] < 2:
        return dy
    run = _runs(y, axis)
    return _means(dy, fit(const(1, dy.dtype), dy.type), run, run, axis)


def evened_about(y: Value, dy: Value, axis: int, first: int, last: int) -> Value:
    """`dy` with its mean over all elements of a partition `y` that equal one of those at places `first` to `last`."""
    count, rest = last - first + 1, y.shape[axis] - last - 1
    (low, ranked, high), (dlow, dranked, dhigh) = (_cut(v, axis, (first, count, rest)) for v in (y, dy))
    run = _runs(ranked, axis)
    terms, counts, runs = [dranked], [fit(const(1, dy.dtype), dranked.type)], [run]
    sides = list[tuple[int, Value, Value]]()
    for place, side, dside in ((0, low, dlow), (count - 1, high, dhigh)):
        is_equal = equal(side, _row_repeated(ranked, axis, place, side.shape[axis]))
        terms.append(_total(select(is_equal, dside, 0), axis))
        counts.append(_total(convert(is_equal, dy.dtype), axis))
        runs.append(slice_axis(run, axis, place, 1))
        sides.append((place, is_equal, dside))
    term, n, of_run = [concatenate(tuple(parts), axis) for parts in (terms, counts, runs)]
    means = _means(term, n, of_run, run, axis)
    below, above = (
        select(is_equal, _row_repeated(means, axis, place, dside.shape[axis]), dside)
        for place, is_equal, dside in sides
    )
    return concatenate((below, means, above), axis)


def _cut(x: Value, axis: int, counts: Sequence[int]) -> list[Value]:
    """Parts of these lengths along `axis`, one after the other."""
    return [slice_axis(x, axis, sum(counts[:j]), count) for j, count in enumerate(counts)]


def _row_repeated(x: Value, axis: int, place: int, count: int) -> Value:
    """What lies at a place along `axis`, a number of times."""
    row = slice_axis(x, axis, place, 1)
    others = [a for a in range(x.type.rank) if a != axis]
    full = (*x.shape[:axis], count, *x.shape[axis + 1 :])
    return broadcast(reshape(row, [x.shape[a] for a in others]), full, tuple(others))


def _total(x: Value, axis: int) -> Value:
    """The sum along `axis`, which stays."""
    return reshape(reduce_sum(x, (axis,)), (*x.shape[:axis], 1, *x.shape[axis + 1 :]))


def _runs(y: Value, axis: int) -> Value:
    """The number of the run of equal elements that each of the sorted `y` belongs to."""
    n = y.shape[axis]
    is_new = not_equal(slice_axis(y, axis, 1, n - 1), slice_axis(y, axis, 0, n - 1))
    first = ir.operators.zeros(y.type.with_dtype("i64").with_shape((*y.shape[:axis], 1, *y.shape[axis + 1 :])))
    return cumsum(concatenate((first, convert(is_new, "i64")), axis), axis)


def _means(terms: Value, counts: Value, runs: Value, run: Value, axis: int) -> Value:
    """The sum of the terms of each `run` divided by that of their counts. runs: those that the terms belong to."""
    zeros = ir.operators.zeros(run.type.with_dtype(terms.dtype))
    total, count = (add_along(zeros, runs, part, axis) for part in (terms, counts))
    return take_along(total, run, axis) / take_along(count, run, axis)


def searchsorted(a: Value, v: Value, side: str = "left") -> Value:
    """Where each element of `v` belongs in the sorted `a: t[n]`: i64 of v's shape."""
    return Searchsorted(side)(a, v)


RULES = ()
