"""Reductions: many elements become one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, final

from pliant.core import ir
from pliant.core.data import frozen
from pliant.core.ir import Const, Namespace, Op, Tangents, Value, Values, const
from pliant.core.types import Type
from pliant.errors import DTypeError, ShapeError
from pliant.ops.base import KINDS, Linear
from pliant.ops.bits import logical_and
from pliant.ops.compare import equal, maximum
from pliant.ops.elementwise import convert
from pliant.ops.select import Select, select
from pliant.ops.shape import Broadcast, Permute, broadcast, permute, reshape
from pliant.rewrite.rule import rewrite


class Reduction(Op):
    """Combines the elements along `axes`, which vanish: `t[a, b, c]`, axes (0, 2) → `t[b]`."""

    axes: tuple[int, ...]
    domain: ClassVar[str] = "biufc"
    fold: ClassVar[str]  # what a kernel does with each element: "add", "mul", "max", "min", "or", "and"
    spares: ClassVar[bool] = True
    has_identity: ClassVar[bool] = True  # whether it is defined where there is nothing to combine

    def infer(self, x: Type) -> Type:
        if not all(0 <= a < x.rank for a in self.axes) or len(set(self.axes)) != len(self.axes):
            raise ShapeError(f"{self.name}: {x} has no axes {self.axes}")
        if x.kind not in self.domain:
            raise DTypeError(f"{self.name} is not defined for {KINDS[x.kind]}s: {x}")
        if not self.has_identity and not x.size and x.without(self.axes).size:
            raise ShapeError(f"{self.name}: no elements along axes {self.axes} of {x}, and it has no identity")
        return x.without(self.axes)

    def over(self, y: Value, x: Value) -> Value:
        """A result repeated along the axes that vanished."""
        return broadcast(y, x.shape, tuple(a for a in range(x.type.rank) if a not in self.axes))

    def batch(self, n: int, batched: tuple[bool, ...], x: Value) -> Value:
        return type(self)(tuple(a + 1 for a in self.axes))(x)  # type: ignore[call-arg]

    def kernel(self, k: Any, i: Any, x: Any) -> Any:
        kept = [a for a in range(x.type.rank) if a not in self.axes]
        at = dict(zip(kept, i, strict=True))

        def element(j: Any) -> Any:
            inner = dict(zip(self.axes, j, strict=True))
            return x(tuple(at[a] if a in at else inner[a] for a in range(x.type.rank)))

        return k.fold(self.fold, x.type.dtype, tuple(x.type.shape[a] for a in self.axes), element)


@final
@frozen
class ReduceSum(Reduction, Linear):
    """Sum over `axes`; floats are added in blocks, at least as accurately as pairwise."""

    axes: tuple[int, ...]
    domain = "iufc"
    fold = "add"

    def array(self, xp: Namespace, x: Any) -> Any:
        return xp.sum(x, axis=self.axes, dtype=x.dtype)

    def torch(self, torch: Namespace, x: Any) -> Any:
        return torch.sum(x, dim=self.axes, dtype=x.dtype) if self.axes else x

    def transpose(self, ct: Value, x: Value | Type) -> Tangents:
        kept = tuple(a for a in range(len(x.shape)) if a not in self.axes)
        return (broadcast(ct, x.shape, kept),)

    def support(self, find: Any, x: Value) -> Value | None:
        mask = find(x)
        return ReduceOr(self.axes)(mask) if mask is not None and mask.shape == x.shape else mask


@final
@frozen
class ReduceProd(Reduction):
    """Product over `axes`; its derivative is right where elements are zero, to any order."""

    axes: tuple[int, ...]
    domain = "iufc"
    fold = "mul"

    def array(self, xp: Namespace, x: Any) -> Any:
        return xp.prod(x, axis=self.axes, dtype=x.dtype)

    def torch(self, torch: Namespace, x: Any) -> Any:
        for axis in sorted(self.axes, reverse=True):  # it takes one axis
            x = torch.prod(x, dim=axis, dtype=x.dtype)
        return x

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        from pliant.ops.others import products_of_others  # which reads this file

        (x,), (dx,), (y,) = xs, dxs, self.apply(*xs)
        if dx is None or not y.type.is_float:
            return (y,), (None,)
        return (y,), (reduce_sum(products_of_others(x, self.axes) * dx, self.axes),)


def is_filled(value: Value, number: float) -> bool:
    """Whether a value is a number, or one repeated."""
    (value,) = value.args if isinstance(value.op, Broadcast) else (value,)
    return isinstance(value.op, Const) and value.op.value == number


class Extremum(Reduction):
    """The largest or smallest element; NaN if there is one. Elements that tie share the derivative."""

    domain = "biuf"
    has_identity = False

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (x,), (dx,), (y,) = xs, dxs, self.apply(*xs)
        if dx is None or not y.type.is_float:
            return (y,), (None,)
        wins, is_none = equal(x, self.over(y, x)), None
        if isinstance(x.op, Select) and is_filled(x.args[2], worst := -math.inf if self.fold == "max" else math.inf):
            # of what is masked, nothing wins: how far a row is looked at is still seen
            wins = logical_and(x.args[0], equal(x.args[1], self.over(y, x)))
            is_none = equal(y, const(worst, y.dtype))
        count = reduce_sum(convert(wins, x.dtype), self.axes)
        count = count if is_none is None else select(is_none, maximum(count, const(1.0, x.dtype)), count)
        total = reduce_sum(select(wins, dx, ir.operators.zeros(dx.type)), self.axes)
        return (y,), (total / count,)


@final
@frozen
class ReduceMax(Extremum):
    """The largest element over `axes`, NaN if there is one."""

    axes: tuple[int, ...]
    fold = "max"

    def array(self, xp: Namespace, x: Any) -> Any:
        return xp.max(x, axis=self.axes)

    def torch(self, torch: Namespace, x: Any) -> Any:
        return torch.amax(x, dim=self.axes)


@final
@frozen
class ReduceMin(Extremum):
    """The smallest element over `axes`, NaN if there is one."""

    axes: tuple[int, ...]
    fold = "min"

    def array(self, xp: Namespace, x: Any) -> Any:
        return xp.min(x, axis=self.axes)

    def torch(self, torch: Namespace, x: Any) -> Any:
        return torch.amin(x, dim=self.axes)


@final
@frozen
class ReduceAnd(Reduction):
    """Whether all elements over `axes` are true."""

    axes: tuple[int, ...]
    domain = "b"
    fold = "and"

    def array(self, xp: Namespace, x: Any) -> Any:
        return xp.all(x, axis=self.axes)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        return self.apply(*xs), (None,)


@final
@frozen
class ReduceOr(Reduction):
    """Whether any element over `axes` is true."""

    axes: tuple[int, ...]
    domain = "b"
    fold = "or"

    def array(self, xp: Namespace, x: Any) -> Any:
        return xp.any(x, axis=self.axes)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        return self.apply(*xs), (None,)


class ArgExtremum(Op):
    """Where the extremum along one axis is first reached, i64; the first NaN if there is one."""

    axis: int
    fold: ClassVar[str]
    spares: ClassVar[bool] = True

    def infer(self, x: Type) -> Type:
        if not 0 <= self.axis < x.rank:
            raise ShapeError(f"{self.name}: {x} has no axis {self.axis}")
        if x.kind == "c":
            raise DTypeError(f"{self.name} is not defined for complex numbers: {x}")
        if not x.shape[self.axis]:
            raise ShapeError(f"{self.name}: no elements along axis {self.axis} of {x}")
        return Type("i64", x.without((self.axis,)).shape)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        return self.apply(*xs), (None,)

    def batch(self, n: int, batched: tuple[bool, ...], x: Value) -> Value:
        return type(self)(self.axis + 1)(x)  # type: ignore[call-arg]

    def kernel(self, k: Any, i: Any, x: Any) -> Any:
        axis = self.axis

        def element(j: Any) -> Any:
            return x((*i[:axis], j[0], *i[axis:]))

        return k.first(self.fold, x.type.shape[axis], element)


@final
@frozen
class Argmax(ArgExtremum):
    """Where the largest element along `axis` first is: `t[…, n, …] → i64[…, …]`."""

    axis: int
    fold = "max"

    def array(self, xp: Namespace, x: Any) -> Any:
        return xp.argmax(x, axis=self.axis)

    def torch(self, torch: Namespace, x: Any) -> Any:
        return torch.argmax(x.to(torch.uint8) if x.dtype == torch.bool else x, dim=self.axis)


@final
@frozen
class Argmin(ArgExtremum):
    """Where the smallest element along `axis` first is: `t[…, n, …] → i64[…, …]`."""

    axis: int
    fold = "min"

    def array(self, xp: Namespace, x: Any) -> Any:
        return xp.argmin(x, axis=self.axis)

    def torch(self, torch: Namespace, x: Any) -> Any:
        return torch.argmin(x.to(torch.uint8) if x.dtype == torch.bool else x, dim=self.axis)


def _all(x: Value, axes: Sequence[int] | None) -> tuple[int, ...]:
    return tuple(range(x.type.rank)) if axes is None else tuple(axes)


def reduce_sum(x: Value, axes: Sequence[int] | None = None) -> Value:
    """Sum over `axes`, by default all."""
    return ReduceSum(over)(x) if (over := _all(x, axes)) else x


def reduce_prod(x: Value, axes: Sequence[int] | None = None) -> Value:
    """Product over `axes`, by default all."""
    return ReduceProd(over)(x) if (over := _all(x, axes)) else x


def reduce_max(x: Value, axes: Sequence[int] | None = None) -> Value:
    """Largest element over `axes`, by default all."""
    return ReduceMax(over)(x) if (over := _all(x, axes)) else x


def reduce_min(x: Value, axes: Sequence[int] | None = None) -> Value:
    """Smallest element over `axes`, by default all."""
    return ReduceMin(over)(x) if (over := _all(x, axes)) else x


def reduce_and(x: Value, axes: Sequence[int] | None = None) -> Value:
    """Whether all elements over `axes`, by default all, are true."""
    return ReduceAnd(over)(x) if (over := _all(x, axes)) else x


def reduce_or(x: Value, axes: Sequence[int] | None = None) -> Value:
    """Whether any element over `axes`, by default all, is true."""
    return ReduceOr(over)(x) if (over := _all(x, axes)) else x


def argmax(x: Value, axis: int) -> Value:
    """Index of the largest element along `axis`."""
    return Argmax(axis)(x)


def argmin(x: Value, axis: int) -> Value:
    """Index of the smallest element along `axis`."""
    return Argmin(axis)(x)


EXACT = {"i8": 127, "u8": 255, "i16": 32767, "u16": 65535, "f16": 2048, "f32": 1 << 24}
"""The largest number up to which a small dtype holds every whole number."""

REPEATABLE = ReduceSum | ReduceMax | ReduceMin | ReduceAnd | ReduceOr


@rewrite(Reduction, level="stable", reads=(Broadcast,))
def reduction_of_broadcast(value: Value) -> Value | None:
    """A sum over n equal elements is n times one; an extremum of them is the one."""
    op, (repeated,) = value.op, value.args
    if not (isinstance(op, REPEATABLE) and isinstance(repeated.op, Broadcast)):
        return None
    (x,), axes = repeated.args, repeated.op.axes
    new = [a for a in op.axes if a not in axes]
    count = math.prod(repeated.shape[a] for a in new)
    if not new or not count or count > EXACT.get(x.dtype, count):
        return None
    inner = tuple(i for i, a in enumerate(axes) if a in op.axes)
    y = type(op)(inner)(x) if inner else x
    if isinstance(op, ReduceSum):
        y = y * const(count, y.dtype)
        y = y + 0.0 if y.type.is_float and not inner else y  # a sum of -0.0 is 0.0
    left = [a for a in range(len(repeated.shape)) if a not in op.axes]
    return broadcast(y, value.shape, tuple(left.index(a) for a in axes if a in left))


@rewrite(Reduction, level="stable", reads=(Reduction,))
def reduction_of_reduction(value: Value) -> Value | None:
    """Reducing twice in the same way is reducing over all axes at once."""
    match value.op, value.args[0].op:
        case Reduction() as outer, Reduction() as inner if type(outer) is type(inner):
            (x,) = value.args[0].args
            left = [a for a in range(x.type.rank) if a not in inner.axes]
            return type(outer)(tuple(sorted((*inner.axes, *(left[a] for a in outer.axes)))))(x)  # type: ignore[call-arg]
        case _:
            return None


@rewrite(Reduction, level="stable", reads=(Permute,))
def reduction_of_permute(value: Value) -> Value | None:
    """Reduce first: there is less to permute."""
    match value.op, value.args[0].op:
        case Reduction() as op, Permute(order):
            y = type(op)(tuple(sorted(order[a] for a in op.axes)))(value.args[0].args[0])  # type: ignore[call-arg]
            left = [order[a] for a in range(len(order)) if a not in op.axes]
            return permute(y, [sorted(left).index(a) for a in left])
        case _:
            return None


@rewrite(Reduction, level="stable")
def reduction_of_single(value: Value) -> Value | None:
    """One element alone is its own product or extremum; its sum is 0 + x, which is 0.0 for -0.0."""
    (x,), op = value.args, value.op
    assert isinstance(op, Reduction)
    if any(x.shape[a] != 1 for a in op.axes):
        return None
    alone = reshape(x, value.shape)
    return alone + 0.0 if isinstance(op, ReduceSum) and value.type.is_float else alone


RULES = (reduction_of_broadcast, reduction_of_reduction, reduction_of_permute, reduction_of_single)
