"""PyTorch's linear algebra and Fourier transforms, in terms of NumPy's functions."""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from pliant.frontend.aten.call import Array, Call, Rule, axes_of

xp: Any = np


def solve(call: Call, a: Array, b: Array, *, left: bool = True, **_: Any) -> tuple[Array, ...]:
    """x with a·x = b."""
    is_vector = b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])
    right = xp.expand_dims(b, -1) if is_vector else b
    if not left:
        made = xp.swapaxes(xp.linalg.solve(xp.swapaxes(a, -1, -2), xp.swapaxes(right, -1, -2)), -1, -2)
    else:
        made = xp.linalg.solve(a, right)
    return (xp.squeeze(made, -1) if is_vector else made, *_unread(call, 1))


def _unread(call: Call, first: int) -> list[Array]:
    """Zeros for results that nothing reads: factors, pivots, codes."""
    return [xp.zeros(s, d) for s, d in zip(call.shapes[first:], call.dtypes[first:], strict=True)]


def inverse(call: Call, a: Array, **_: Any) -> tuple[Array, ...]:
    """The inverse, and that it is there."""
    return (xp.linalg.inv(a), *_unread(call, 1))


def determinant(call: Call, a: Array, **_: Any) -> tuple[Array, ...]:
    """The determinant."""
    return (xp.linalg.det(a), *_unread(call, 1))


def log_determinant(call: Call, a: Array, **_: Any) -> tuple[Array, ...]:
    """The determinant as a sign and a logarithm."""
    return (*xp.linalg.slogdet(a), *_unread(call, 2))


def cholesky(call: Call, a: Array, *, upper: bool = False, **_: Any) -> tuple[Array, ...]:
    """The triangular factor, and that it is there."""
    made = xp.linalg.cholesky(a)
    return (xp.conj(xp.swapaxes(made, -1, -2)) if upper else made, *_unread(call, 1))


def qr(call: Call, a: Array, mode: str = "reduced") -> tuple[Array, ...]:
    """Orthogonal and triangular factors."""
    if mode == "r":
        return xp.zeros(call.shapes[0], call.dtype), xp.linalg.qr(a, mode="r")
    return tuple(xp.linalg.qr(a, mode=mode))


def svd(call: Call, a: Array, full_matrices: bool = False, compute_uv: bool = True, **_: Any) -> tuple[Array, ...]:
    """Singular values and vectors."""
    if not compute_uv:
        u, _, v = [xp.zeros(s, d) for s, d in zip(call.shapes, call.dtypes, strict=True)]
        return u, xp.linalg.svd(a, compute_uv=False), v
    return tuple(xp.linalg.svd(a, full_matrices=full_matrices))


def eigh(call: Call, a: Array, uplo: str = "L", compute_v: bool = True) -> tuple[Array, ...]:
    """Eigenvalues and vectors of Hermitian matrices."""
    if not compute_v:
        return xp.linalg.eigvalsh(a, uplo), *_unread(call, 1)
    return tuple(xp.linalg.eigh(a, uplo))


def pinv(call: Call, a: Array, *limits: Any, hermitian: bool = False, **options: Any) -> Array:
    """The pseudo-inverse."""
    if hermitian or any([x is not None for x in (*limits, *options.values())]):
        raise call.refused("with options")
    return xp.linalg.pinv(a)


def triangular(call: Call, a: Array, b: Array, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Array:
    """x with a·x = b, of one triangle of a."""
    a = xp.triu(a) if upper else xp.tril(a)
    if unitriangular:
        eye = np.eye(a.shape[-1], dtype=call.dtype)
        a = a * (1 - eye) + eye
    if left:
        return xp.linalg.solve(a, b)
    return xp.swapaxes(xp.linalg.solve(xp.swapaxes(a, -1, -2), xp.swapaxes(b, -1, -2)), -1, -2)


_NORMS: Final = {0: "backward", 1: "ortho", 2: "forward"}  # of the way there; of the inverse the other way round
_INVERSE: Final = {0: "forward", 1: "ortho", 2: "backward"}


def fft_c2c(call: Call, x: Array, dims: Sequence[int], norm: int, forward: bool) -> Array:
    """The transform along axes, or its inverse."""
    axes = axes_of(list(dims), x.ndim)
    f = xp.fft.fftn if forward else xp.fft.ifftn
    return f(x, axes=axes, norm=(_NORMS if forward else _INVERSE)[norm])


def fft_r2c(call: Call, x: Array, dims: Sequence[int], norm: int, onesided: bool) -> Array:
    """The transform of real numbers, or the half that determines it."""
    return (xp.fft.rfftn if onesided else xp.fft.fftn)(x, axes=axes_of(list(dims), x.ndim), norm=_NORMS[norm])


def fft_c2r(call: Call, x: Array, dims: Sequence[int], norm: int, last: int) -> Array:
    """Its inverse."""
    axes = axes_of(list(dims), x.ndim)
    sizes = [*[x.shape[a] for a in axes[:-1]], last]
    return xp.fft.irfftn(x, s=sizes, axes=axes, norm=_INVERSE[norm])


MATRICES: Final[dict[str, Rule]] = {
    "_linalg_solve_ex": solve, "linalg_inv_ex": inverse, "_linalg_det": determinant,
    "_linalg_slogdet": log_determinant, "linalg_cholesky_ex": cholesky, "linalg_qr": qr, "_linalg_svd": svd,
    "_linalg_eigh": eigh, "linalg_pinv": pinv,
    "linalg_solve_triangular": triangular, "_linalg_check_errors": lambda call, *_, **__: None,
    "_fft_c2c": fft_c2c, "_fft_r2c": fft_r2c, "_fft_c2r": fft_c2r,
}  # fmt: skip
"""Linear algebra and transforms, by the names that PyTorch's graphs have for them."""
