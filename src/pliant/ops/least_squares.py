"""Systems that are not square or have no full rank: least squares and the pseudoinverse."""

from __future__ import annotations

from dataclasses import replace
from typing import final

from pliant.core.data import frozen
from pliant.core.ir import Tangents, Value, Values, const
from pliant.core.types import Type
from pliant.errors import ShapeError
from pliant.ops.base import fit, sum_of
from pliant.ops.compare import less
from pliant.ops.matrix import Factored, adjoint, products, quotient, scale_rows
from pliant.ops.reduce import reduce_max
from pliant.ops.select import select
from pliant.ops.shape import broadcast
from pliant.ops.spectral import svd


@final
@frozen
class Lstsq(Factored):
    """The shortest x that minimises |a·x - b|: `t[…, m, n], t[…, m, k] → t[…, n, k]`; of aᴴ if `adjoint`. Linear in b.

    Singular values up to `cutoff` times the largest count as 0. The derivative holds the rank fixed.
    Source: Golub and Pereyra, The differentiation of pseudo-inverses, 1973.
    """

    cutoff: float
    adjoint: bool = False

    def infer(self, a: Type, b: Type) -> Type:
        lead, m, n = self.matrices(a, b)
        m, n = (n, m) if self.adjoint else (m, n)
        if b.shape[-2] != m:
            raise ShapeError(f"{self.name}: {a} and {b} do not fit: a has {m} rows")
        return a.with_shape((*lead, n, b.shape[-1]))

    def expand(self, a: Value, b: Value) -> Value:
        # All that are made from one matrix, or from its adjoint, share its decomposition.
        u, inverse, vh = _inverted(a, self.cutoff)
        left, right = (u, adjoint(vh)) if self.adjoint else (adjoint(vh), u)
        return products(left, scale_rows(inverse, products(adjoint(right), b)))

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        # With p the pseudoinverse and r = b - a·x:
        # dx = p·(db - da·x) + p·pᴴ·daᴴ·r + (1 - p·a)·daᴴ·pᴴ·x.
        (a, b), (da, db) = xs, dxs
        x, back = self(a, b), replace(self, adjoint=not self.adjoint)
        terms = [] if db is None else [self(a, db)]
        if da is not None:
            of, da = (adjoint(a), adjoint(da)) if self.adjoint else (a, da)
            missed = products(adjoint(da), back(a, x))
            terms.append(self(a, back(a, products(adjoint(da), b - products(of, x))) - products(da, x)))
            terms.append(missed - self(a, products(of, missed)))
        return (x,), (sum_of(terms) if terms else None,)

    def transpose(self, ct: Value, a: Value | Type, b: Value | Type) -> Tangents:
        assert isinstance(a, Value)
        return None, replace(self, adjoint=not self.adjoint)(a, ct)


@final
@frozen
class Pinv(Factored):
    """The Moore-Penrose inverse of each matrix: `t[…, m, n] → t[…, n, m]`.

    Singular values up to `cutoff` times the largest count as 0; the derivative holds the rank fixed.
    """

    cutoff: float

    def infer(self, a: Type) -> Type:
        lead, m, n = self.matrices(a)
        return a.with_shape((*lead, n, m))

    def expand(self, a: Value) -> Value:
        u, inverse, vh = _inverted(a, self.cutoff)
        return products(adjoint(vh), scale_rows(inverse, adjoint(u)))

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (a,), (da,) = xs, dxs
        assert da is not None
        p = self(a)
        back, turned = adjoint(da), adjoint(p)
        wide = products(p, turned, back)
        tall = products(back, turned, p)
        moved = wide - products(wide, a, p) + tall - products(p, a, tall) - products(p, da, p)
        return (p,), (moved,)


def _inverted(a: Value, cutoff: float) -> tuple[Value, Value, Value]:
    """u, the reciprocals of singular values, and vh; in the place of those that count as 0, 0."""
    u, s, vh = svd(a)
    if not s.type.size:
        return u, s, vh
    last = s.type.rank - 1
    limit = broadcast(cutoff * reduce_max(s, (last,)), s.shape, tuple(range(last)))
    return u, quotient(fit(const(1, s.dtype), s.type), select(less(limit, s), s, 0)), vh


def lstsq(a: Value, b: Value, *, cutoff: float) -> Value:
    """`Lstsq` as a function."""
    return Lstsq(cutoff)(a, b)


def pinv(a: Value, *, cutoff: float) -> Value:
    """`Pinv` as a function."""
    return Pinv(cutoff)(a)


RULES = ()
