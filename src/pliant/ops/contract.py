"""The contraction: products of two arrays, summed over shared axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, TypeAlias, final

from pliant.core.data import frozen
from pliant.core.ir import Namespace, Op, Tangents, Value, Values
from pliant.core.types import Type
from pliant.errors import DTypeError, ShapeError
from pliant.ops.base import product_rule
from pliant.ops.complex import conj
from pliant.ops.elementwise import Add, Mul
from pliant.ops.select import Find
from pliant.ops.shape import Permute, permute
from pliant.ops.spared import along, spared_factor
from pliant.rewrite.rule import rewrite

Axes: TypeAlias = "tuple[int, ...]"


@final
@frozen
class Dot(Op):
    """Products of elements that agree along `batch`, summed along `contract`.

    Result axes: batch, the free axes of x, the free axes of y. `t[b, m, k], t[b, k, n] → t[b, m, n]`
    is contract ((2,), (1,)), batch ((0,), (0,)). Of bools: whether any pair is both true.
    """

    multilinear = True
    contract: tuple[Axes, Axes]
    batch_axes: tuple[Axes, Axes]

    def infer(self, x: Type, y: Type) -> Type:
        if x.dtype != y.dtype:
            raise DTypeError(f"dot: {x} and {y} have different dtypes")
        for axes, batch, t in zip(self.contract, self.batch_axes, (x, y), strict=True):
            if len({*axes, *batch}) != len(axes) + len(batch) or not all(0 <= a < t.rank for a in (*axes, *batch)):
                raise ShapeError(f"dot: {t} has no axes {axes} to contract with batch axes {batch}")
        for xs, ys in (self.contract, self.batch_axes):
            if tuple(x.shape[a] for a in xs) != tuple(y.shape[a] for a in ys):
                raise ShapeError(f"dot: axes {xs} of {x} do not fit axes {ys} of {y}")
        free_x, free_y = self.free(x, y)
        shape = [x.shape[a] for a in (*self.batch_axes[0], *free_x)] + [y.shape[a] for a in free_y]
        return x.with_shape(tuple(shape))

    def free(self, x: Value | Type, y: Value | Type) -> tuple[Axes, Axes]:
        """The axes of each operand that are neither contracted nor batched, ascending."""
        taken = [{*c, *b} for c, b in zip(self.contract, self.batch_axes, strict=True)]
        free_x, free_y = (
            tuple(a for a in range(len(t.shape)) if a not in used) for t, used in zip((x, y), taken, strict=True)
        )
        return free_x, free_y

    def places(self, x: Value | Type, y: Value | Type) -> tuple[dict[int, int], dict[int, int]]:
        """Which axis of the result each axis of an operand is that is not contracted."""
        (batch_x, batch_y), (free_x, free_y) = self.batch_axes, self.free(x, y)
        free = range(len(batch_x), len(batch_x) + len(free_x) + len(free_y))
        of_x, of_y = free[: len(free_x)], free[len(free_x) :]
        shared = range(len(batch_x))
        return (
            dict(zip((*batch_x, *free_x), (*shared, *of_x), strict=True)),
            dict(zip((*batch_y, *free_y), (*shared, *of_y), strict=True)),
        )

    def sizes(self, x: Value | Type, y: Value | Type) -> tuple[int, int, int, int]:
        """How many problems, rows, columns and terms: `b`, `m`, `n`, `k` of a batched matrix product."""
        free_x, free_y = self.free(x, y)
        counts = (
            math.prod(t.shape[a] for a in axes)
            for t, axes in ((x, self.batch_axes[0]), (x, free_x), (y, free_y), (x, self.contract[0]))
        )
        b, m, n, k = counts
        return b, m, n, k

    def array(self, xp: Namespace, x: Any, y: Any) -> Any:
        # One (batched) matrix product, so that every namespace uses its BLAS.
        free_x, free_y = self.free(x, y)
        b, m, n, k = self.sizes(x, y)
        permute = getattr(xp, "permute_dims", None) or xp.permute  # PyTorch has its own name
        left = xp.reshape(permute(x, (*self.batch_axes[0], *free_x, *self.contract[0])), (b, m, k))
        right = xp.reshape(permute(y, (*self.batch_axes[1], *self.contract[1], *free_y)), (b, k, n))
        out = xp.matmul(left, right) if b != 1 else xp.matmul(left[0], right[0])
        shape = [x.shape[a] for a in (*self.batch_axes[0], *free_x)] + [y.shape[a] for a in free_y]
        return xp.reshape(out, tuple(shape))

    def torch(self, torch: Namespace, x: Any, y: Any) -> Any:
        if x.dtype == torch.bool:  # whether any pair is true
            return self.array(torch, x.to(torch.int32), y.to(torch.int32)) > 0
        return self.array(torch, x, y)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        return product_rule(self, xs, dxs)

    def transpose(self, ct: Value, x: Value | Type, y: Value | Type) -> Tangents:
        free_x, free_y = self.free(x, y)
        n, m = len(self.batch_axes[0]), len(free_x)
        batch, of_x, of_y = tuple(range(n)), tuple(range(n, n + m)), tuple(range(n + m, n + m + len(free_y)))
        to_x, to_y = ({place: a for a, place in places.items()} for places in self.places(x, y))
        if isinstance(x, Type):
            assert isinstance(y, Value)
            # Axes of the result: batch, free of x, contracted in the order of y.
            back = Dot((of_y, free_y), (batch, self.batch_axes[1]))(ct, conj(spared_factor(ct, y, to_y)))
            ordered = [self.contract[0][i] for i in _order_of(self.contract[1])]
            return permute(back, _order_of((*self.batch_axes[0], *free_x, *ordered))), None
        back = Dot((of_x, free_x), (batch, self.batch_axes[0]))(ct, conj(spared_factor(ct, x, to_x)))
        ordered = [self.contract[1][i] for i in _order_of(self.contract[0])]
        return None, permute(back, _order_of((*self.batch_axes[1], *free_y, *ordered)))

    def support(self, find: Find, x: Value, y: Value) -> Value | None:
        shape, masks = self.infer(x.type, y.type).shape, (find(x), find(y))
        found = (along(mask, axes, shape) for mask, axes in zip(masks, self.places(x, y), strict=True) if mask)
        return next((mask for mask in found if mask), None)

    def batch(self, n: int, batched: tuple[bool, ...], x: Value, y: Value) -> Value:
        contract_x, contract_y = (tuple(a + b for a in axes) for axes, b in zip(self.contract, batched, strict=True))
        batch_x, batch_y = (tuple(a + b for a in axes) for axes, b in zip(self.batch_axes, batched, strict=True))
        if all(batched):
            return Dot((contract_x, contract_y), ((0, *batch_x), (0, *batch_y)))(x, y)
        # The new axis is the first free one of its operand: bring it to the front.
        out = Dot((contract_x, contract_y), (batch_x, batch_y))(x, y)
        at = len(batch_x) + (0 if batched[0] else x.type.rank - len(batch_x) - len(contract_x))
        return permute(out, (at, *(a for a in range(out.type.rank) if a != at)))

    def kernel(self, k: Any, i: Any, x: Any, y: Any) -> Any:
        free_x, free_y = self.free(x.type, y.type)
        n, m = len(self.batch_axes[0]), len(free_x)

        def element(j: Any) -> Any:
            at_x = dict(zip((*self.batch_axes[0], *free_x, *self.contract[0]), (*i[: n + m], *j), strict=True))
            at_y = dict(zip((*self.batch_axes[1], *free_y, *self.contract[1]), (*i[:n], *i[n + m :], *j), strict=True))
            left = x(tuple(at_x[a] for a in range(len(at_x))))
            right = y(tuple(at_y[a] for a in range(len(at_y))))
            return k.scalar(Mul(), left, right)

        extents = tuple(x.type.shape[a] for a in self.contract[0])
        return k.fold("or" if x.type.dtype == "bool" else "add", x.type.dtype, extents, element)


def _order_of(axes: Sequence[int]) -> Axes:
    """The order that sorts `axes`."""
    return tuple(sorted(range(len(axes)), key=lambda i: axes[i]))


def dot_general(x: Value, y: Value, contract: tuple[Axes, Axes], batch: tuple[Axes, Axes] = ((), ())) -> Value:
    """`Dot` as a function."""
    return Dot(contract, batch)(x, y)


LEAST: Final = 8  # columns, of which a product takes longer than a sum of two matrices


@rewrite(Add, level="stable", reads=(Dot, Permute))
def sum_of_both_ways(value: Value) -> Value | None:
    """w·x + wᵀ·x → (w + wᵀ)·x: a gradient of x·xᵀ is one product instead of two."""
    x, y = value.args
    if not isinstance(x.op, Permute) or x.op != y.op:
        return _both_ways(x, y)
    made = _both_ways(x.args[0], y.args[0])
    return None if made is None else permute(made, x.op.order)


def _both_ways(x: Value, y: Value) -> Value | None:
    """The sum of two products of a matrix and another one, along one of its axes and along the other."""
    one, other = x.op, y.op
    if not isinstance(one, Dot) or not isinstance(other, Dot) or x.args[0] is not y.args[0] or x.dtype == "bool":
        return None
    if any([a.type.rank != 2 for a in (*x.args, *y.args)]) or {one.contract[0], other.contract[0]} != {(0,), (1,)}:
        return None
    (w, of), (_, again) = x.args, y.args
    (array, axis), (same, at) = _lying(of, one.contract[1]), _lying(again, other.contract[1])
    if array is not same or axis != at or x.shape[1] < LEAST:
        return None
    return one(w + permute(w, (1, 0)), of)


def _lying(x: Value, axes: Axes) -> tuple[Value, int]:
    """The array of which x shows the axes in some order, and the one that the first of some axes is there."""
    return (x.args[0], x.op.order[axes[0]]) if isinstance(x.op, Permute) else (x, axes[0])


RULES = (sum_of_both_ways,)
