"""Systems that are not square or have no full rank: least squares and the pseudoinverse."""

from __future__ import annotations

from typing import Any, final

from pliant.core.frozen import frozen
from pliant.core.ir import Namespace, Tangents, Value, Values
from pliant.core.types import Type
from pliant.errors import ShapeError
from pliant.ops.base import sum_of
from pliant.ops.matrix import Matrices, adjoint, products


@final
@frozen
class Lstsq(Matrices):
    """The shortest x that minimises |a·x - b|: `t[…, m, n], t[…, m, k] → t[…, n, k]`. Linear in b.

    Singular values up to `cutoff` times the largest count as 0. The derivative holds the rank fixed.
    Source: Golub and Pereyra, The differentiation of pseudo-inverses, 1973.
    """

    cutoff: float

    def infer(self, a: Type, b: Type) -> Type:
        lead, m, n = self.matrices(a, b)
        if b.shape[-2] != m:
            raise ShapeError(f"{self.name}: {a} and {b} do not fit: a has {m} rows")
        return a.with_shape((*lead, n, b.shape[-1]))

    def array(self, xp: Namespace, a: Any, b: Any) -> Any:
        u, s, vh = xp.linalg.svd(a, full_matrices=False)
        kept = s > self.cutoff * s[..., :1]
        inverse = xp.astype(xp.where(kept, 1 / xp.where(kept, s, xp.ones_like(s)), xp.zeros_like(s)), a.dtype)
        inner = xp.matmul(xp.conj(xp.swapaxes(u, -1, -2)), b)
        return xp.matmul(xp.conj(xp.swapaxes(vh, -1, -2)), inverse[..., None] * inner)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        # With p the pseudoinverse and r = b - a·x:
        # dx = p·(db - da·x) + p·pᴴ·daᴴ·r + (1 - p·a)·daᴴ·pᴴ·x.
        (a, b), (da, db) = xs, dxs
        x = self(a, b)
        terms = [] if db is None else [self(a, db)]
        if da is not None:
            back = adjoint(a)
            missed = products(adjoint(da), self(back, x))
            terms.append(self(a, self(back, products(adjoint(da), b - products(a, x))) - products(da, x)))
            terms.append(missed - self(a, products(a, missed)))
        return (x,), (sum_of(terms) if terms else None,)

    def transpose(self, ct: Value, a: Value | Type, b: Value | Type) -> Tangents:
        assert isinstance(a, Value)
        return None, self(adjoint(a), ct)


@final
@frozen
class Pinv(Matrices):
    """The Moore-Penrose inverse of each matrix: `t[…, m, n] → t[…, n, m]`.

    Singular values up to `cutoff` times the largest count as 0; the derivative holds the rank fixed.
    """

    cutoff: float

    def infer(self, a: Type) -> Type:
        lead, m, n = self.matrices(a)
        return a.with_shape((*lead, n, m))

    def array(self, xp: Namespace, a: Any) -> Any:
        return xp.linalg.pinv(a, rtol=self.cutoff)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (a,), (da,) = xs, dxs
        assert da is not None
        p = self(a)
        back, turned = adjoint(da), adjoint(p)
        wide = products(p, turned, back)
        tall = products(back, turned, p)
        moved = wide - products(wide, a, p) + tall - products(p, a, tall) - products(p, da, p)
        return (p,), (moved,)


def lstsq(a: Value, b: Value, *, cutoff: float) -> Value:
    """`Lstsq` as a function."""
    return Lstsq(cutoff)(a, b)


def pinv(a: Value, *, cutoff: float) -> Value:
    """`Pinv` as a function."""
    return Pinv(cutoff)(a)


RULES = ()
