"""Square systems: the LU factorisation, and what is made from it: solutions, inverse, determinant."""

from __future__ import annotations

import math
from typing import Any, Final, final

from pliant.core.build import trace
from pliant.core.data import frozen
from pliant.core.ir import Namespace, Tangents, Value, Values, const
from pliant.core.types import Type, real_dtype
from pliant.ops.base import Linear, sum_of
from pliant.ops.bits import logical_or
from pliant.ops.compare import equal, less
from pliant.ops.complex import conj
from pliant.ops.cond import Cond
from pliant.ops.elementwise import Abs, Mul, Sign, convert
from pliant.ops.in_jax import jax_module
from pliant.ops.index import Gather, ScatterSet
from pliant.ops.matrix import (
    Factored,
    Matrices,
    Solver,
    adjoint,
    diagonal_matrix,
    diagonals,
    eye,
    index_grid,
    on_diagonal,
    products,
    quotient,
    real_part,
    scale_columns,
    swap,
    trace_of,
    tril,
    triu,
)
from pliant.ops.reduce import reduce_max, reduce_or, reduce_prod, reduce_sum
from pliant.ops.select import select
from pliant.ops.shape import broadcast, iota
from pliant.ops.transcendental import Log
from pliant.ops.triangular import TriangularSolve

SMALL: Final = {"f32": 5e-3, "f64": 6e-6}
"""Pivots beside the largest, of a matrix whose inverse lacks more than a third of its digits: the cube root of what
rounds."""


@final
class Lu(Matrices):
    """Factors with partial pivoting: `a[perm] = l·u`, both packed in one matrix, l having a unit diagonal.

    `t[…, n, n] → t[…, n, n], i64[…, n]`. A singular matrix has a zero on the diagonal of u.
    """

    def infer(self, a: Type) -> tuple[Type, Type]:
        lead, n, _ = self.matrices(a, square=True)
        return a, Type("i64", (*lead, n))

    def numpy(self, np: Namespace, a: Any) -> Any:
        # The textbook loop, on all matrices of the batch at once: the oracle of LAPACK's getrf.
        n = a.shape[-1]
        lu = np.reshape(a, (math.prod(a.shape[:-2]), n, n)).copy()
        perm = np.tile(np.arange(n, dtype=np.int64), (lu.shape[0], 1))
        every = np.arange(lu.shape[0])
        for k in range(n):
            rest = lu[:, k:, k]
            pivot = k + np.argmax(np.abs(rest.real) + np.abs(rest.imag), axis=1)  # LAPACK's measure
            for t in (lu, perm):
                t[every, pivot], t[:, k] = t[:, k].copy(), t[every, pivot].copy()
            top = np.where(lu[:, k, k] == 0, 1, lu[:, k, k])
            lu[:, k + 1 :, k] /= top[:, None]
            lu[:, k + 1 :, k + 1 :] -= lu[:, k + 1 :, k, None] * lu[:, k, None, k + 1 :]
        return lu.reshape(a.shape), perm.reshape(a.shape[:-1])

    def jax(self, jnp: Namespace, a: Any) -> Any:
        lu, _, perm = jax_module("lax.linalg").lu(a)
        return lu, perm

    def torch(self, torch: Namespace, a: Any) -> Any:
        if not a.numel():
            return a, torch.zeros(a.shape[:-1], dtype=torch.int64)
        lu, pivots, _ = torch.linalg.lu_factor_ex(a)
        order = torch.lu_unpack(lu, pivots, unpack_data=False).P  # a = order·l·u
        return lu, torch.argmax(order.real, dim=-2)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        # With x = l⁻¹·da[perm]·u⁻¹: dl = l·(x below the diagonal), du = (x on and above it)·u.
        (a,), (da,) = xs, dxs
        assert da is not None
        lu, perm = self.apply(a)
        half = TriangularSolve(lower=True, unit=True)(lu, take_rows(da, perm))
        x = adjoint(TriangularSolve(lower=False, adjoint=True)(lu, adjoint(half)))
        lower = tril(lu, -1) + eye(a.shape[-1], a.dtype, a.shape[:-2])
        return (lu, perm), (products(lower, tril(x, -1)) + products(triu(x), triu(lu)), None)


@final
@frozen
class Solve(Solver):
    """x with a·x = b, or aᴴ·x = b if `adjoint`: `t[…, n, n], t[…, n, k] → t[…, n, k]`.

    Raises LinAlgError if a matrix is singular.
    """

    adjoint: bool = False

    def array(self, xp: Namespace, a: Any, b: Any) -> Any:
        return xp.linalg.solve(xp.conj(xp.swapaxes(a, -1, -2)) if self.adjoint else a, b)

    def expand(self, a: Value, b: Value) -> Value:
        # All that solve with one matrix share its factors: equal nodes are one node.
        lu, perm = Lu().apply(a)
        return solve_factored(lu, perm, b, adjoint=self.adjoint)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (a, b), (da, db) = xs, dxs
        x = self(a, b)
        terms = [] if db is None else [db]
        if da is not None:
            terms.append(-products(adjoint(da) if self.adjoint else da, x))
        return (x,), (self(a, sum_of(terms)),) if terms else (None,)

    def transpose(self, ct: Value, a: Value | Type, b: Value | Type) -> Tangents:
        assert isinstance(a, Value)
        return None, Solve(not self.adjoint)(a, ct)


@final
class Inv(Factored):
    """The inverse of each matrix: `t[…, n, n] → t[…, n, n]`. Raises LinAlgError if one is singular."""

    def infer(self, a: Type) -> Type:
        self.matrices(a, square=True)
        return a

    def array(self, xp: Namespace, a: Any) -> Any:
        return xp.linalg.inv(a)

    def expand(self, a: Value) -> Value:
        return Solve()(a, eye(a.shape[-1], a.dtype, a.shape[:-2]))

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (a,), (da,) = xs, dxs
        assert da is not None
        y = self(a)
        return (y,), (-products(y, da, y),)


@final
class Det(Matrices):
    """The determinant of each matrix: `t[…, n, n] → t[…]`. Differentiable at singular matrices, twice."""

    def infer(self, a: Type) -> Type:
        lead, _, _ = self.matrices(a, square=True)
        return a.with_shape(lead)

    def array(self, xp: Namespace, a: Any) -> Any:
        return xp.linalg.det(a)

    def expand(self, a: Value) -> Value:
        return det_factored(*Lu().apply(a))

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (a,), (da,) = xs, dxs
        assert da is not None
        last = (a.type.rank - 2, a.type.rank - 1)
        return (self(a),), (reduce_sum(Cofactor()(a) * da, last),)


@final
class Cofactor(Matrices):
    """The derivative of each determinant by the elements of its matrix, det(a)·a⁻ᵀ if that exists.

    Right for singular matrices too: from singular values, or without division in native code of small ones. In native
    code large ones are solved with where no pivot is small.
    """

    def infer(self, a: Type) -> Type:
        self.matrices(a, square=True)
        return a

    def array(self, xp: Namespace, a: Any) -> Any:
        n = a.shape[-1]
        u, s, vh = xp.linalg.svd(a)
        others = xp.where(xp.eye(n, dtype=bool), xp.ones_like(s[..., None]), s[..., None, :])
        scale = xp.prod(others, axis=-1) * (xp.linalg.det(u) * xp.linalg.det(vh))[..., None]
        return xp.astype(xp.matmul(xp.conj(u) * scale[..., None, :], xp.conj(vh)), a.dtype)

    def expand(self, a: Value) -> Value:
        if not a.type.size:
            return a
        lu, perm = Lu().apply(a)
        every, types = tuple(range(a.type.rank - 1)), (a.type, lu.type, perm.type)
        pivots = Abs()(diagonals(lu))
        largest = broadcast(reduce_max(pivots, every[-1:]), pivots.shape, every[:-1])
        is_small = reduce_or(less(pivots, SMALL[pivots.dtype] * largest), every)
        return Cond(trace(_by_singular_values, *types), trace(_by_inverse, *types)).apply(is_small, a, lu, perm)[0]

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (a,), (da,) = xs, dxs
        assert da is not None
        return (self(a),), (CofactorRate()(a, da),)


@final
class CofactorRate(Linear, Matrices):
    """The change of `Cofactor` of a along b: `t[…, n, n], t[…, n, n] → t[…, n, n]`. Linear in b.

    Right for singular matrices too; its own derivative by a is that of tr(a⁻¹·b)·c − c·(a⁻¹·b)ᵀ, c the cofactors.
    """

    linear = (1,)

    def infer(self, a: Type, b: Type) -> Type:
        self.matrices(a, b, square=True)
        return b

    def expand(self, a: Value, b: Value) -> Value:
        from pliant.ops.spectral import svd  # whose derivatives solve

        # With a = u·s·vh and m = uᴴ·b·vhᴴ, the cofactors of diag(s) + t·m change by m_jj at (i, i), for all
        # j ≠ i, and by -m_ji at (i, j), times the product of all singular values but s_i and s_j.
        u, s, vh = svd(a)
        if not a.type.size:
            return b
        m = products(adjoint(u), b, adjoint(vh))
        others = convert(_products_of_others(s), b.dtype)
        on = reduce_sum(scale_columns(others, diagonals(m)), (a.type.rank - 1,))
        moved = select(on_diagonal(a.shape), diagonal_matrix(on), -others * swap(m))
        sign = det(u) * det(vh)
        return broadcast(sign, a.shape, tuple(range(sign.type.rank))) * products(conj(u), moved, conj(vh))

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (a, b), (da, db) = xs, dxs
        y = self(a, b)
        terms = [] if db is None else [self(a, db)]
        if da is not None:
            # The rule of products for tr(x)·c − c·xᵀ with x = a⁻¹·b, dx = -a⁻¹·da·x.
            x = Solve()(a, b)
            dx, c, dc = -Solve()(a, products(da, x)), Cofactor()(a), self(a, da)
            terms.append(_traced(dx, c) - products(c, swap(dx)) + _traced(x, dc) - products(dc, swap(x)))
        return (y,), (sum_of(terms) if terms else None,)

    def transpose(self, ct: Value, a: Value | Type, b: Value | Type) -> Tangents:
        assert isinstance(a, Value)
        return None, conj(self(a, conj(ct)))  # second derivatives of a determinant are symmetric


def _by_inverse(a: Value, lu: Value, perm: Value) -> Value:
    """The cofactors of regular matrices: det(a)·a⁻ᵀ."""
    inverse = conj(solve_factored(lu, perm, eye(a.shape[-1], a.dtype, a.shape[:-2]), adjoint=True))
    y = det_factored(lu, perm)
    return broadcast(y, a.shape, tuple(range(y.type.rank))) * inverse


def _by_singular_values(a: Value, lu: Value, perm: Value) -> Value:
    """The cofactors of any matrices: of a = u·s·vh, those of the diagonal matrix between those of the others."""
    from pliant.ops.spectral import svd  # whose derivatives solve

    u, s, vh = svd(a)
    every = broadcast(s, a.shape, (*range(s.type.rank - 1), s.type.rank))
    scale = convert(reduce_prod(select(on_diagonal(a.shape), 1, every), (s.type.rank,)), a.dtype)
    sign = det(u) * det(vh)
    whole = broadcast(sign, a.shape, tuple(range(sign.type.rank)))
    return whole * products(scale_columns(conj(u), scale), conj(vh))


def _products_of_others(s: Value) -> Value:
    """The product of all of s but s_i and s_j at (i, j), 0 on the diagonal: `t[…, n] → t[…, n, n]`."""
    rank, n = s.type.rank, s.shape[-1]
    shape = (*s.shape[:-1], n, n, n)
    i, j, k = (broadcast(iota(n), shape, (axis,)) for axis in range(rank - 1, rank + 2))
    every = broadcast(s, shape, (*range(rank - 1), rank + 1))
    others = reduce_prod(select(logical_or(equal(i, k), equal(j, k)), 1, every), (rank + 1,))
    return select(on_diagonal(others.shape), 0, others)


def _traced(x: Value, y: Value) -> Value:
    """tr(x)·y of each pair of matrices."""
    return broadcast(trace_of(x), y.shape, tuple(range(y.type.rank - 2))) * y


@final
class Slogdet(Matrices):
    """Each determinant as sign·exp(logabsdet): `t[…, n, n] → t[…], real t[…]`; 0 and -inf if singular."""

    def infer(self, a: Type) -> tuple[Type, Type]:
        lead, _, _ = self.matrices(a, square=True)
        return a.with_shape(lead), Type(real_dtype(a.dtype), lead)

    def array(self, xp: Namespace, a: Any) -> Any:
        return tuple(xp.linalg.slogdet(a))

    def expand(self, a: Value) -> Values:
        lu, perm = Lu().apply(a)
        last = (a.type.rank - 2,)
        pivots = diagonals(lu)
        sizes = Abs()(pivots)
        signs = Sign()(pivots) if a.type.kind == "f" else quotient(pivots, convert(sizes, a.dtype))
        return reduce_prod(signs, last) * _parity(perm, a.dtype), reduce_sum(Log()(sizes), last)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (a,), (da,) = xs, dxs
        assert da is not None
        signs, logs = self.apply(a)
        rate = trace_of(Solve()(a, da))
        dlogs = real_part(rate)
        turned = signs * (rate - convert(dlogs, a.dtype)) if a.type.kind == "c" else None
        return (signs, logs), (turned, dlogs)


def solve_factored(lu: Value, perm: Value, b: Value, *, adjoint: bool) -> Value:
    """`Solve` with what `Lu` makes of its matrices."""
    if adjoint:
        y = TriangularSolve(lower=False, adjoint=True)(lu, b)
        return take_rows(TriangularSolve(lower=True, adjoint=True, unit=True)(lu, y), inverse_order(perm))
    y = TriangularSolve(lower=True, unit=True)(lu, take_rows(b, perm))
    return TriangularSolve(lower=False)(lu, y)


def det_factored(lu: Value, perm: Value) -> Value:
    """The determinants of matrices of which `Lu` makes these."""
    return reduce_prod(diagonals(lu), (lu.type.rank - 2,)) * _parity(perm, lu.dtype)


def _parity(perm: Value, dtype: str) -> Value:
    """1 for even and -1 for odd permutations, counting the pairs out of order: `i64[…, n] → t[…]`."""
    rank, n = perm.type.rank, perm.shape[-1]
    full = (*perm.shape, n)
    first, second = broadcast(perm, full, tuple(range(rank))), broadcast(perm, full, (*range(rank - 1), rank))
    i, j = index_grid(full)
    out_of_order = Mul()(less(i, j), less(second, first))
    return reduce_prod(1 - 2 * convert(out_of_order, dtype), (rank - 1, rank))


def take_rows(x: Value, rows: Value) -> Value:
    """Each matrix with its rows in the order of a permutation: `t[…, n, k], i64[…, n] → t[…, n, k]`."""
    return Gather(rows.type.rank - 1, unique=True)(x, rows)


def inverse_order(perm: Value) -> Value:
    """The permutation that undoes each one."""
    rank = perm.type.rank
    places = broadcast(iota(perm.shape[-1]), perm.shape, (rank - 1,))
    zeros = broadcast(const(0, "i64"), perm.shape, ())
    return ScatterSet(rank - 1, unique=True)(zeros, perm, places)


def solve(a: Value, b: Value) -> Value:
    """`Solve` as a function: matrices and right sides with the same batch axes."""
    return Solve()(a, b)


def inv(a: Value) -> Value:
    """`Inv` as a function."""
    return Inv()(a)


def det(a: Value) -> Value:
    """`Det` as a function."""
    return Det()(a)


def slogdet(a: Value) -> Values:
    """`Slogdet` as a function: sign and logarithm of the absolute value."""
    return Slogdet().apply(a)


RULES = ()
