"""Reductions: many elements become one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

from pliant.core.ir import Namespace, Op, Tangents, Value
from pliant.core.types import Type
from pliant.errors import DTypeError, ShapeError
from pliant.ops.base import KINDS, Linear
from pliant.ops.shape import broadcast


class Reduction(Op):
    """Combines the elements along `axes`, which vanish: `t[a, b, c]`, axes (0, 2) → `t[b]`."""

    axes: tuple[int, ...]
    domain: ClassVar[str] = "biufc"
    fold: ClassVar[str]  # what a kernel does with each element: "add", "mul", "max", "min", "or", "and"

    def infer(self, x: Type) -> Type:
        if not all(0 <= a < x.rank for a in self.axes) or len(set(self.axes)) != len(self.axes):
            raise ShapeError(f"{self.name}: {x} has no axes {self.axes}")
        if x.kind not in self.domain:
            raise DTypeError(f"{self.name} is not defined for {KINDS[x.kind]}s: {x}")
        return x.without(self.axes)

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
@dataclass(frozen=True)
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


def reduce_sum(x: Value, axes: Sequence[int] | None = None) -> Value:
    """Sum over `axes`, by default all."""
    axes = tuple(range(x.type.rank)) if axes is None else tuple(axes)
    return ReduceSum(axes)(x) if axes else x


RULES = ()
