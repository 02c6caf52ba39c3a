"""The larger and the smaller of what places hold and what is given for them: `np.maximum.at`, `np.minimum.at`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, final

from pliant.core import ir
from pliant.core.data import frozen
from pliant.core.ir import Namespace, Op, Tangents, Value, Values
from pliant.ops.bits import bitwise_or
from pliant.ops.compare import Maximum, Minimum, equal, isnan
from pliant.ops.elementwise import convert
from pliant.ops.index import Scatter, flat_places, gather, scatter_add
from pliant.ops.select import select


class ScatterExtremum(Scatter):
    """x with the places replaced by the extremum of what they hold and the elements of u named for them.

    NaN if one of them is. Where several tie, they share the derivative.
    """

    combines: ClassVar[Op]
    method: ClassVar[str]

    def numpy(self, np: Namespace, x: Any, *rest: Any) -> Any:
        *indices, u = rest
        y = x.copy()
        getattr(np, self.combines.name).at(y, self.places(np, x, indices), u)
        return y

    def jax(self, jnp: Namespace, x: Any, *rest: Any) -> Any:
        return self.written_in_jax(self.method, jnp, x, *rest)

    def torch(self, torch: Namespace, x: Any, *rest: Any) -> Any:
        *indices, u = rest
        rank, is_bool = self.shared + len(indices), x.dtype == torch.bool
        at = flat_places(torch, tuple(x.shape), self.of_tensors(torch, x, indices)).reshape(-1, 1)
        rows, new = x.reshape(math.prod(x.shape[:rank]), -1), u.reshape(len(at), -1)
        if is_bool:
            rows, new = rows.to(torch.uint8), new.to(torch.uint8)
        made = rows.scatter_reduce(0, at.expand(-1, new.shape[1]), new, f"a{self.method}")
        return made.reshape(x.shape).to(x.dtype)

    def written(self, k: Any, out: Any, place: Any, new: Any) -> Any:
        return k.scalar(self.combines, k.load(out, place), new)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (x, *indices, u), dx, du = xs, dxs[0], dxs[-1]
        y = self(*xs)
        if not y.type.is_float or (dx is None and du is None):
            return (y,), (None,)
        kept = bitwise_or(equal(x, y), isnan(x))
        won = bitwise_or(equal(u, gather(y, *indices, shared=self.shared)), isnan(u))
        count = scatter_add(convert(kept, y.dtype), indices, convert(won, y.dtype), shared=self.shared)
        parts = [
            select(wins, d, ir.operators.zeros(v.type)) if d is not None else ir.operators.zeros(v.type)
            for wins, d, v in ((kept, dx, x), (won, du, u))
        ]
        return (y,), (scatter_add(parts[0], indices, parts[1], shared=self.shared) / count,)


@final
@frozen
class ScatterMax(ScatterExtremum):
    """x after `np.maximum.at(x, i, u)`."""

    shared: int = 0
    unique: bool = False
    combines = Maximum()
    method = "max"


@final
@frozen
class ScatterMin(ScatterExtremum):
    """x after `np.minimum.at(x, i, u)`."""

    shared: int = 0
    unique: bool = False
    combines = Minimum()
    method = "min"


def scatter_max(x: Value, indices: Sequence[Value], u: Value, *, unique: bool = False) -> Value:
    """`ScatterMax` as a function."""
    return ScatterMax(0, unique)(x, *indices, u)


def scatter_min(x: Value, indices: Sequence[Value], u: Value, *, unique: bool = False) -> Value:
    """`ScatterMin` as a function."""
    return ScatterMin(0, unique)(x, *indices, u)
