"""Triangular systems, and the factorisations that make triangles: Cholesky and QR."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, final

from pliant.core import ir
from pliant.core.data import frozen
from pliant.core.ir import Namespace, Tangents, Value, Values
from pliant.core.types import Type
from pliant.ops.base import can_be_read, sum_of
from pliant.ops.complex import conj
from pliant.ops.elementwise import convert
from pliant.ops.matrix import (
    Factored,
    Matrices,
    Solver,
    adjoint,
    corner,
    diagonal_matrix,
    diagonals,
    part,
    products,
    real_part,
    swap,
    symmetric,
    tril,
    triu,
)
from pliant.ops.shape import concatenate


@final
@frozen
class TriangularSolve(Solver):
    """x with a·x = b, or aᴴ·x = b if `adjoint`. Reads one triangle of a; not its diagonal if `unit`.

    `t[…, n, n], t[…, n, k] → t[…, n, k]`. A zero on the diagonal raises LinAlgError.
    """

    failure: ClassVar[str] = "Singular matrix"
    lower: bool
    adjoint: bool = False
    unit: bool = False

    def array(self, xp: Namespace, a: Any, b: Any) -> Any:
        a = xp.tril(a) if self.lower else xp.triu(a)
        if self.unit:
            eye = xp.eye(a.shape[-1], dtype=a.dtype)
            a = a * (1 - eye) + eye
        return xp.linalg.solve(_adjoint_array(xp, a) if self.adjoint else a, b)

    def torch(self, torch: Namespace, a: Any, b: Any) -> Any:
        if not self.unit and can_be_read(torch, a) and bool((torch.diagonal(a, dim1=-2, dim2=-1) == 0).any()):
            raise torch.linalg.LinAlgError(self.failure)
        a = a.mH if self.adjoint else a
        is_upper = self.lower is self.adjoint
        return torch.linalg.solve_triangular(a, b, upper=is_upper, unitriangular=self.unit)

    def numpy(self, np: Namespace, a: Any, b: Any) -> Any:
        # Substitution: exact where the answer is exact.
        if not self.unit and a.size and not np.all(np.diagonal(a, axis1=-2, axis2=-1)):
            raise np.linalg.LinAlgError("Singular matrix")
        x = np.array(b)
        self.substitute(_adjoint_array(np, a) if self.adjoint else a, x, 0, a.shape[-1])
        return x

    def substitute(self, a: Any, x: Any, start: int, stop: int) -> None:
        """Solve the equations from `start` to before `stop` in place, by halves: most of the work is products."""
        forward = self.lower != self.adjoint
        if stop - start > 16:
            middle = (start + stop) // 2
            halves = (start, middle), (middle, stop)
            first, second = halves if forward else halves[::-1]
            self.substitute(a, x, *first)
            x[..., slice(*second), :] -= a[..., slice(*second), slice(*first)] @ x[..., slice(*first), :]
            self.substitute(a, x, *second)
            return
        for i in range(start, stop) if forward else range(stop - 1, start - 1, -1):
            done = slice(start, i) if forward else slice(i + 1, stop)
            x[..., i, :] -= (a[..., i : i + 1, done] @ x[..., done, :])[..., 0, :]
            if not self.unit:
                x[..., i, :] /= a[..., i, i, None]

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (a, b), (da, db) = xs, dxs
        x = self(a, b)
        terms = [] if db is None else [db]
        if da is not None:
            da = tril(da, -self.unit) if self.lower else triu(da, +self.unit)
            terms.append(-products(adjoint(da) if self.adjoint else da, x))
        return (x,), (self(a, sum_of(terms)),) if terms else (None,)

    def transpose(self, ct: Value, a: Value | Type, b: Value | Type) -> Tangents:
        assert isinstance(a, Value)
        return None, replace(self, adjoint=not self.adjoint)(a, ct)


def _adjoint_array(xp: Namespace, a: Any) -> Any:
    return xp.conj(xp.swapaxes(a, -1, -2))


@final
class Cholesky(Factored):
    """Lower triangular l with l·lᴴ = a, for a Hermitian and positive definite: `t[…, n, n] → t[…, n, n]`.

    Reads the lower triangle. The derivative is that along Hermitian matrices: a tangent counts by
    its Hermitian part, and a gradient is Hermitian. Raises LinAlgError if a is not positive definite.
    Source: Murray, Differentiation of the Cholesky decomposition, 2016.
    """

    failure: ClassVar[str] = "Matrix is not positive definite"

    def infer(self, a: Type) -> Type:
        self.matrices(a, square=True)
        return a

    def array(self, xp: Namespace, a: Any) -> Any:
        return xp.linalg.cholesky(a)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        # dl = l·φ(l⁻¹·da·l⁻ᴴ), where φ takes the lower triangle and half of the diagonal.
        (a,), (da,) = xs, dxs
        assert da is not None
        factor = self(a)
        half = triangular_solve(factor, symmetric(da))
        inner = triangular_solve(factor, adjoint(half))
        return (factor,), (products(factor, 0.5 * (tril(inner) + tril(inner, -1))),)


@final
@frozen
class Qr(Matrices):
    """q with orthonormal columns and r upper triangular, q·r = a.

    `t[…, m, n] → t[…, m, k], t[…, k, n]`, k = min(m, n), or k = m if `complete`. The derivative needs
    the first min(m, n) columns of a to be independent; the extra columns of a complete q, which a
    does not determine, move as little as they can.
    """

    complete: bool = False

    def infer(self, a: Type) -> tuple[Type, Type]:
        lead, m, n = self.matrices(a)
        k = m if self.complete else min(m, n)
        return a.with_shape((*lead, m, k)), a.with_shape((*lead, k, n))

    def array(self, xp: Namespace, a: Any) -> Any:
        return tuple(xp.linalg.qr(a, mode="complete" if self.complete else "reduced"))

    def prune(self, used: tuple[bool, ...], xs: Values) -> Tangents:
        """Without q, if nobody reads it."""
        return self.apply(*xs) if used[0] else (None, QrTriangle(self.complete)(*xs))

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (a,), (da,) = xs, dxs
        assert da is not None
        q, r = self.apply(a)
        m, n = a.shape[-2:]
        k = min(m, n)
        thin = corner(q, m, k)
        dq, dr = _thin_tangents(thin, corner(r, k, k), corner(da, m, k))
        if n > k:  # the other columns are r₂ = qᴴ·a₂
            others = [part(v, (0, m), (k, n)) for v in (a, da)]
            moved = products(adjoint(dq), others[0]) + products(adjoint(thin), others[1])
            dr = concatenate((dr, moved), a.type.rank - 1)
        if q.shape[-1] > k:  # qᴴ·q = 1 stays true
            extra = part(q, (0, m), (k, m))
            dq = concatenate((dq, -products(thin, adjoint(dq), extra)), a.type.rank - 1)
            dr = concatenate((dr, ir.operators.zeros(part(r, (k, m), (0, n)).type)), a.type.rank - 2)
        return (q, r), (dq, dr)


@final
@frozen
class QrTriangle(Matrices):
    """The r of `Qr` alone: `t[…, m, n] → t[…, k, n]`."""

    complete: bool = False

    def infer(self, a: Type) -> Type:
        return Qr(self.complete).infer(a)[1]

    def array(self, xp: Namespace, a: Any) -> Any:
        return Qr(self.complete).array(xp, a)[1]

    def numpy(self, np: Namespace, a: Any) -> Any:
        r = np.linalg.qr(a, mode="r")
        if self.complete and a.shape[-2] > a.shape[-1]:
            below = np.zeros((*a.shape[:-2], a.shape[-2] - a.shape[-1], a.shape[-1]), a.dtype)
            return np.concatenate((r, below), axis=-2)
        return r

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        _, dys = Qr(self.complete).jvp(xs, dxs)
        return (self(*xs),), dys[1:]


def _thin_tangents(q: Value, r: Value, da: Value) -> tuple[Value, Value]:
    """dq and dr where a = q·r has no more columns than rows.

    da·r⁻¹ = dq + q·dr·r⁻¹; its part in the span of q is a skew matrix plus a triangle.
    """
    x = adjoint(TriangularSolve(lower=False, adjoint=True)(r, adjoint(da)))
    inside = products(adjoint(q), x)
    below = tril(inside, -1)
    skew = below - adjoint(below)
    if q.dtype[0] == "c":  # LAPACK makes the diagonal of r real
        on = diagonals(inside)
        skew = skew + diagonal_matrix(on - convert(real_part(on), q.dtype))
    return x + products(q, skew - inside), products(inside - skew, r)


def triangular_solve(a: Value, b: Value, *, lower: bool = True, adjoint: bool = False, unit: bool = False) -> Value:
    """`TriangularSolve` as a function."""
    return TriangularSolve(lower, adjoint, unit)(a, b)


def cholesky(a: Value, *, upper: bool = False) -> Value:
    """`Cholesky` as a function; its conjugate transpose if `upper`, from the upper triangle then."""
    return conj(swap(Cholesky()(conj(swap(a))))) if upper else Cholesky()(a)


def qr(a: Value, *, complete: bool = False) -> Values:
    """`Qr` as a function."""
    return Qr(complete).apply(a)


RULES = ()
