"""The product of all elements but one, for each of them: what a product is differentiated by.

    before·after, two scans      →        p = Π (x where it is not 0)
                                          p / x      if no element is 0
                                          p at a 0, 0 elsewhere, if one is; 0 if more are

A division loses what p has no room for, so that p must be a normal number; if it is not, the scans are run.
"""

from __future__ import annotations

import math
from typing import Final, final

from pliant.core.build import trace
from pliant.core.data import frozen
from pliant.core.ir import Op, Tangents, Value, Values, const
from pliant.core.types import Type
from pliant.errors import ShapeError
from pliant.ops.bits import logical_and
from pliant.ops.compare import equal, greater_equal, less_equal
from pliant.ops.cond import Cond
from pliant.ops.elementwise import Abs, convert
from pliant.ops.reduce import reduce_and, reduce_prod, reduce_sum
from pliant.ops.scan import exclusive_cumprod
from pliant.ops.select import select
from pliant.ops.shape import Permute, broadcast, permute, reshape
from pliant.transforms.jvp import push

NORMAL: Final = {"f32": (2.0**-126, 2.0**127), "f64": (2.0**-1022, 2.0**1023)}
"""The least normal number, and one that is about the greatest."""
FEW: Final = 32
"""Elements of a product of which the scans take no longer than what would spare them."""


@final
@frozen
class ProductOfOthers(Op):
    """The product along `axes` of all elements but the one at each place, of many elements: the shape stays."""

    axes: tuple[int, ...]

    def infer(self, x: Type) -> Type:
        if not all(0 <= a < x.rank for a in self.axes) or x.kind not in "fc":
            raise ShapeError(f"{self.name}: {x} has no products along axes {self.axes}")
        return x

    def expand(self, x: Value) -> Value:
        if x.dtype not in NORMAL:
            return self.in_order(x)
        kept = tuple([a for a in range(x.type.rank) if a not in self.axes])
        product = reduce_prod(select(equal(x, 0), 1, x), self.axes)
        least, most = [const(bound, x.dtype) for bound in NORMAL[x.dtype]]
        size = Abs()(product)
        is_normal = reduce_and(logical_and(greater_equal(size, least), less_equal(size, most)))

        def divided(x: Value, product: Value) -> Value:
            is_zero = equal(x, 0)
            zeros = broadcast(reduce_sum(convert(is_zero, "i64"), self.axes), x.shape, kept)
            every = broadcast(product, x.shape, kept)
            at_zero = select(equal(zeros, 1), every, 0)
            return select(is_zero, at_zero, select(equal(zeros, 0), every / select(is_zero, 1, x), 0))

        def in_order(x: Value, product: Value) -> Value:
            return self.in_order(x)

        types = x.type, product.type
        return Cond(trace(divided, *types), trace(in_order, *types)).apply(is_normal, x, product)[0]

    def in_order(self, x: Value) -> Value:
        """The product of those before each and of those after it."""
        kept = [a for a in range(x.type.rank) if a not in self.axes]
        order, axis = (*kept, *self.axes), len(kept)
        moved = permute(x, order)
        rows = reshape(moved, (*moved.shape[:axis], math.prod(moved.shape[axis:])))
        others = exclusive_cumprod(rows, axis) * exclusive_cumprod(rows, axis, reverse=True)
        return permute(reshape(others, moved.shape), Permute(order).inverse())

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (x,) = xs
        return self.apply(*xs), push(trace(self.in_order, x.type), xs, dxs)[1]

    def batch(self, n: int, batched: tuple[bool, ...], x: Value) -> Value:
        return ProductOfOthers(tuple([a + 1 for a in self.axes]))(x)


def products_of_others(x: Value, axes: tuple[int, ...]) -> Value:
    """`ProductOfOthers` as a function, of few elements too."""
    op = ProductOfOthers(axes)
    return op(x) if math.prod([x.shape[a] for a in axes]) > FEW else op.in_order(x)


RULES = ()
