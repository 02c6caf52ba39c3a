"""Factorisations and systems of linear equations."""

from __future__ import annotations

from typing import Any, Final

from pliant.backends.from_jax.walk import Rule
from pliant.core.build import trace
from pliant.core.ir import Value
from pliant.core.types import Type
from pliant.errors import UnsupportedError
from pliant.ops import solve, spectral, triangular
from pliant.ops.compare import equal
from pliant.ops.complex import conj
from pliant.ops.elementwise import convert
from pliant.ops.index import gather, scatter_set
from pliant.ops.loop import Loop
from pliant.ops.reduce import argmax
from pliant.ops.shape import broadcast, iota, permute
from pliant.transforms.vmap import vmap


def cholesky(a: Value, **_: Any) -> Value:
    """The lower factor."""
    return triangular.cholesky(a)


def triangular_solve(
    a: Value, b: Value, *, left_side: bool, lower: bool, transpose_a: bool, conjugate_a: bool, unit_diagonal: bool,
    **_: Any,
) -> Value:  # fmt: skip
    """X of A·X = B, or X·A = B, A being triangular."""
    if not left_side:  # (Aᵀ)·Xᵀ = Bᵀ
        flags = {"left_side": True, "lower": lower, "transpose_a": not transpose_a, "conjugate_a": conjugate_a}
        return _turned(triangular_solve(a, _turned(b), **flags, unit_diagonal=unit_diagonal))
    a = conj(a) if conjugate_a != transpose_a and a.dtype[0] == "c" else a
    return triangular.triangular_solve(a, b, lower=lower, adjoint=transpose_a, unit=unit_diagonal)


def _turned(x: Value) -> Value:
    """The last two axes exchanged."""
    rank = x.type.rank
    return permute(x, (*range(rank - 2), rank - 1, rank - 2))


def lu(a: Value, **_: Any) -> list[Value]:
    """Both factors in one array, which rows are exchanged one after the other, and their order in the end."""
    if a.shape[-1] != a.shape[-2]:
        raise UnsupportedError(f"from_jax: an LU decomposition of {a.type}, no square matrix, is not supported")
    factors, order = solve.Lu().apply(a)
    swapped = trace(_pivots, Type("i64", order.shape[-1:]))
    for n in reversed(order.shape[:-1]):
        swapped = vmap(swapped, n, (True,))
    return [factors, convert(swapped(order)[0], "i32"), convert(order, "i32")]


def _pivots(order: Value) -> Value:
    """With which later row each row is exchanged, given the order of the rows in the end."""
    (n,) = order.shape

    def step(k: Value, now: Value, wanted: Value) -> tuple[Value, Value]:
        place = argmax(equal(now, broadcast(wanted, now.shape, ())), 0)
        held = gather(now, k)
        return scatter_set(scatter_set(now, (k,), wanted), (place,), held), place

    body = trace(step, Type("i64"), order.type, Type("i64"))
    return Loop(n, ("carry", "each"), ("last", "stack"), body).apply(iota(n), order)[1]


def qr(a: Value, *, full_matrices: bool, pivoting: bool = False, **_: Any) -> list[Value]:
    """An orthogonal and a triangular factor."""
    if pivoting:
        raise UnsupportedError("from_jax: a QR decomposition with pivots is not supported")
    return [*triangular.qr(a, complete=full_matrices)]


def eigh(a: Value, *, lower: bool, subset_by_index: Any = None, **_: Any) -> list[Value]:
    """Eigenvectors and eigenvalues of Hermitian matrices."""
    n = a.shape[-1]
    if subset_by_index not in (None, (0, n)):
        raise UnsupportedError("from_jax: some of the eigenvalues alone are not supported", hint="take all, then some")
    values, vectors = spectral.eigh(a, upper=not lower)
    return [vectors, values]


def svd(a: Value, *, full_matrices: bool, compute_uv: bool, subset_by_index: Any = None, **_: Any) -> list[Value]:
    """Singular values, and both factors if they are wanted."""
    if subset_by_index not in (None, (0, min(a.shape[-2:]))):
        raise UnsupportedError("from_jax: some of the singular values alone are not supported")
    if not compute_uv:
        return [spectral.SingularValues()(a)]
    u, s, v = spectral.svd(a, full=full_matrices)
    return [s, u, v]


RULES: Final[dict[str, Rule]] = {
    "cholesky": cholesky, "triangular_solve": triangular_solve, "lu": lu, "qr": qr, "eigh": eigh, "svd": svd,
}  # fmt: skip
