"""Decompositions by eigenvalues and singular values.

Vectors are determined only up to a factor of modulus 1 (a sign, for reals); their derivative is
that with vᴴ·dv real part 0 and no rotation among vectors of equal values. So a function has a
meaningful derivative if it does not depend on that choice. Where two values are equal, up to their
rounding errors, the term that would divide by their difference is 0: the derivative of the values'
symmetric functions and of projections on the whole eigenspace is right, that of a single vector is not
defined. Functions of the matrix, which need more there, are in `spectral_function`.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Final, cast, final

from pliant.core.data import frozen
from pliant.core.ir import Namespace, Tangents, Value, Values, const
from pliant.core.types import COMPLEX_OF, Type, real_dtype
from pliant.errors import ShapeError
from pliant.ops.base import fit
from pliant.ops.bits import logical_and, logical_not, logical_or
from pliant.ops.compare import equal, less_equal
from pliant.ops.elementwise import absolute, convert
from pliant.ops.matrix import (
    Factored,
    Matrices,
    adjoint,
    diagonal_matrix,
    diagonals,
    on_diagonal,
    part,
    products,
    quotient,
    real_part,
    scale_columns,
    scale_rows,
    swap,
    symmetric,
)
from pliant.ops.recall import Last
from pliant.ops.reduce import reduce_max, reduce_or
from pliant.ops.select import select
from pliant.ops.shape import broadcast, concatenate
from pliant.ops.solve import solve
from pliant.rewrite.rule import rewrite

EPSILON: Final = {"f32": 2.0**-23, "f64": 2.0**-52}


@final
class Eigh(Factored):
    """Real eigenvalues, ascending, and orthonormal eigenvectors, the columns of v: `a·v = v·diag(w)`.

    `t[…, n, n] → real t[…, n], t[…, n, n]`. Reads the lower triangle of a Hermitian a; as for
    Cholesky, the derivative is that along Hermitian matrices. Raises LinAlgError if the iterations do not converge.
    """

    failure: ClassVar[str] = "Eigenvalues did not converge"

    def infer(self, a: Type) -> tuple[Type, Type]:
        lead, n, _ = self.matrices(a, square=True)
        return Type(real_dtype(a.dtype), (*lead, n)), a

    def array(self, xp: Namespace, a: Any) -> Any:
        return tuple(xp.linalg.eigh(a))

    def prune(self, used: tuple[bool, ...], xs: Values) -> Tangents:
        """Without the vectors, if nobody reads them."""
        return self.apply(*xs) if used[1] else (Eigvalsh()(*xs), None)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (a,), (da,) = xs, dxs
        assert da is not None
        w, v = self.apply(a)
        rate = products(adjoint(v), symmetric(da), v)
        dv = products(v, quotient(rate, convert(gaps(w), a.dtype)))
        return (w, v), (real_part(diagonals(rate)), dv)


@final
class Eigvalsh(Factored):
    """The eigenvalues of `Eigh` alone: `t[…, n, n] → real t[…, n]`."""

    failure: ClassVar[str] = "Eigenvalues did not converge"

    def infer(self, a: Type) -> Type:
        return Eigh().infer(a)[0]

    def array(self, xp: Namespace, a: Any) -> Any:
        return xp.linalg.eigvalsh(a)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        _, dys = Eigh().jvp(xs, dxs)
        return (self(*xs),), dys[:1]


@final
class Eig(Factored):
    """Complex eigenvalues, in no order, and eigenvectors of length 1, the columns of v.

    `t[…, n, n] → complex t[…, n], complex t[…, n, n]`. The derivative needs distinct eigenvalues.
    """

    def infer(self, a: Type) -> tuple[Type, Type]:
        lead, n, _ = self.matrices(a, square=True)
        dtype = COMPLEX_OF.get(a.dtype, a.dtype)
        return Type(dtype, (*lead, n)), Type(dtype, a.shape)

    def array(self, xp: Namespace, a: Any) -> Any:
        return tuple(xp.linalg.eig(a))

    def numpy(self, np: Namespace, a: Any) -> Any:
        # NumPy returns reals if all eigenvalues of the batch are: a type must not depend on data.
        dtype = np.result_type(a.dtype, np.complex64)
        return tuple(np.asarray(y, dtype) for y in np.linalg.eig(a))

    def prune(self, used: tuple[bool, ...], xs: Values) -> Tangents:
        """Without the vectors, if nobody reads them."""
        return self.apply(*xs) if used[1] else (Eigvals()(*xs), None)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (a,), (da,) = xs, dxs
        assert da is not None
        w, v = self.apply(a)
        rate = solve(v, products(convert(da, v.dtype), v))
        free = products(v, quotient(rate, gaps(w)))
        stretch = real_part(diagonals(products(adjoint(v), free)))  # keeps the length 1
        return (w, v), (diagonals(rate), free - scale_columns(v, stretch))


_eigenvalues = Last()


@final
class Eigvals(Factored):
    """The eigenvalues of `Eig` alone: `t[…, n, n] → complex t[…, n]`."""

    failure: ClassVar[str] = "Eigenvalues did not converge"

    def infer(self, a: Type) -> Type:
        return Eig().infer(a)[0]

    def array(self, xp: Namespace, a: Any) -> Any:
        return xp.linalg.eigvals(a)

    def numpy(self, np: Namespace, a: Any) -> Any:
        return np.asarray(np.linalg.eigvals(a), np.result_type(a.dtype, np.complex64))

    def into(self, np: Namespace, out: Any, a: Any) -> None:
        """The result, in an array that is given, by the loop of NumPy's function if it is found, in double precision as
        there: the function takes longer than the loop to find out what a small matrix is."""
        loop = getattr(getattr(np.linalg, "_umath_linalg", None), "eigvals", None)
        if loop is None or not np.isfinite(a).all():
            out[...] = self.numpy(np, a)
            return

        def values() -> Any:
            made = loop(a, signature="D->D" if a.dtype.kind == "c" else "d->D")
            if np.isnan(made).any():
                raise np.linalg.LinAlgError(self.failure)
            return made

        out[...] = _eigenvalues.of(np, a, values)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        _, dys = Eig().jvp(xs, dxs)
        return (self(*xs),), dys[:1]


@final
@frozen
class Svd(Factored):
    """Singular values, descending, and vectors: `a = u·diag(s)·vh`.

    `t[…, m, n] → t[…, m, k], real t[…, k], t[…, k, n]`, k = min(m, n); u and vh are square if `full`,
    and their extra vectors, which a does not determine, move as little as they can.
    Raises LinAlgError if the iterations do not converge.
    Source: Wan and Zhang, Automatic differentiation for complex valued SVD, 2019.
    """

    failure: ClassVar[str] = "SVD did not converge"
    full: bool = False

    def infer(self, a: Type) -> tuple[Type, Type, Type]:
        lead, m, n = self.matrices(a)
        k = min(m, n)
        u, vh = (*lead, m, m if self.full else k), (*lead, n if self.full else k, n)
        return a.with_shape(u), Type(real_dtype(a.dtype), (*lead, k)), a.with_shape(vh)

    def array(self, xp: Namespace, a: Any) -> Any:
        return tuple(xp.linalg.svd(a, full_matrices=self.full))

    def prune(self, used: tuple[bool, ...], xs: Values) -> Tangents:
        """Without the vectors, if nobody reads them."""
        return self.apply(*xs) if used[0] or used[2] else (None, SingularValues()(*xs), None)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (a,), (da,) = xs, dxs
        assert da is not None
        u, s, vh = self.apply(a)
        (m, n), k = a.shape[-2:], s.shape[-1]
        thin_u, thin_v = part(u, (0, m), (0, k)), adjoint(part(vh, (0, k), (0, n)))
        ds, du, dv = _thin_tangents(thin_u, s, thin_v, da)
        axis = a.type.rank - 1
        if u.shape[-1] > k:  # uᴴ·u = 1 stays true
            du = concatenate((du, -products(thin_u, adjoint(du), part(u, (0, m), (k, m)))), axis)
        if vh.shape[-2] > k:
            dv = concatenate((dv, -products(thin_v, adjoint(dv), adjoint(part(vh, (k, n), (0, n))))), axis)
        return (u, s, vh), (du, ds, adjoint(dv))


def _thin_tangents(u: Value, s: Value, v: Value, da: Value) -> tuple[Value, Value, Value]:
    """ds, du and dv for a = u·diag(s)·vᴴ without extra vectors."""
    (m, k), n = u.shape[-2:], v.shape[-2]
    to_u = products(da, v)
    rate = products(adjoint(u), to_u)
    apart = convert(gaps(s) * sums(s), u.dtype)  # s_j² - s_i², without cancellation
    left, right = scale_columns(rate, s), scale_rows(s, rate)
    turn = quotient(left + adjoint(left), apart)
    if u.dtype[0] == "c":  # the phase that u and v share goes to u
        on = diagonals(rate)
        turn = turn + diagonal_matrix(quotient(on - convert(real_part(on), u.dtype), convert(s, u.dtype)))
    du = products(u, turn)
    dv = products(v, quotient(right + adjoint(right), apart))
    if m > k:
        du = du + _over(to_u - products(u, rate), s)
    if n > k:
        to_v = products(adjoint(da), u)
        dv = dv + _over(to_v - products(v, adjoint(v), to_v), s)
    return real_part(diagonals(rate)), du, dv


def _over(x: Value, s: Value) -> Value:
    """Column j of each matrix divided by `s[…, j]`; 0 where that is 0."""
    rank = x.type.rank
    return quotient(x, broadcast(convert(s, x.dtype), x.shape, (*range(rank - 2), rank - 1)))


@final
class SingularValues(Factored):
    """The singular values of `Svd` alone: `t[…, m, n] → real t[…, min(m, n)]`."""

    failure: ClassVar[str] = "SVD did not converge"

    def infer(self, a: Type) -> Type:
        return Svd().infer(a)[1]

    def array(self, xp: Namespace, a: Any) -> Any:
        return xp.linalg.svdvals(a)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (a,), (da,) = xs, dxs
        assert da is not None
        u, _, vh = Svd().apply(a)
        return (self(a),), (real_part(diagonals(products(adjoint(u), da, adjoint(vh)))),)


@final
class Determined(Matrices):
    """Vectors, the columns of v, which belong to numbers w: v itself, `t[…, m, n], real t[…, n] → t[…, m, n]`.

    Where numbers are equal, the matrix does not determine how their vectors turn, and where one is 0 not how it turns
    towards those that v lacks. A function of the matrix has its derivative there by a formula of its own; what is
    differentiated by the vectors in that formula gets NaN.
    """

    def infer(self, v: Type, w: Type) -> Type:
        if w != Type(real_dtype(v.dtype), (*v.shape[:-2], v.shape[-1])):
            raise ShapeError(f"{self.name}: {w} is not one number for each column of {v}")
        return v

    def array(self, xp: Namespace, v: Any, w: Any) -> Any:
        return v

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (v, w), (dv, _) = xs, dxs
        if dv is None or not v.type.size:
            return (self(*xs),), (dv,)
        apart, last = gaps(w), w.type.rank - 1
        is_tied = reduce_or(logical_and(equal(apart, 0), logical_not(on_diagonal(apart.shape))), (last,))
        if v.shape[-2] > v.shape[-1]:  # the vectors that are missing belong to 0
            is_tied = logical_or(is_tied, less_equal(absolute(w), broadcast(_error(w), w.shape, tuple(range(last)))))
        known = select(is_tied, math.nan, fit(const(1, w.dtype), w.type))
        return (self(*xs),), (scale_columns(dv, convert(known, dv.dtype)),)

    def inline(self, v: Value, w: Value) -> Values:
        """Nothing is left of it once derivatives are taken."""
        return (v,)


def gaps(w: Value) -> Value:
    """w_j - w_i at (i, j), exactly 0 where they differ by no more than the error of w: `t[…, n] → t[…, n, n]`."""
    apart = differences(w)
    if not w.type.size:
        return apart
    error = broadcast(_error(w), apart.shape, tuple(range(w.type.rank - 1)))
    return select(less_equal(absolute(apart), error), 0, apart)


def _error(w: Value) -> Value:
    """By how much the largest of the numbers w may be off: `t[…, n] → t[…]`."""
    return w.shape[-1] * EPSILON[real_dtype(w.dtype)] * reduce_max(absolute(w), (w.type.rank - 1,))


def differences(w: Value) -> Value:
    """w_j - w_i at (i, j): `t[…, n] → t[…, n, n]`."""
    return _rows(w) - swap(_rows(w))


def sums(w: Value) -> Value:
    """w_j + w_i at (i, j): `t[…, n] → t[…, n, n]`."""
    return _rows(w) + swap(_rows(w))


def _rows(w: Value) -> Value:
    """w_j at (i, j)."""
    rank = w.type.rank
    return broadcast(w, (*w.shape, w.shape[-1]), (*range(rank - 1), rank))


def eigh(a: Value, *, upper: bool = False) -> Values:
    """`Eigh` as a function; from the upper triangle if `upper`."""
    return Eigh().apply(adjoint(a) if upper else a)


def svd(a: Value, *, full: bool = False) -> Values:
    """`Svd` as a function."""
    return Svd(full).apply(a)


@rewrite(of=Matrices, level="algebraic")
def result_alone(value: Value) -> Value | None:
    """A result of a factorisation → what makes it without the others: what is read alone elsewhere is the same."""
    node = value.node
    if len(node.types) == 1 or not hasattr(node.op, "prune"):
        return None
    used = tuple([v is value for v in node.values])
    made: Value = cast("Any", node.op).prune(used, node.args)[value.index]
    return None if made is value else made


RULES = ()
