"""scipy.linalg: solutions, factorisations and decompositions, by those of numpy.linalg."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pliant.core.origin import here
from pliant.errors import MatrixError
from pliant.frontend.array import fresh
from pliant.frontend.convert import as_traced, broadcast_shapes
from pliant.frontend.functions.common import known
from pliant.frontend.functions.linalg import EPSILON, floating
from pliant.frontend.functions.scipys.common import adjoint, chosen, complex_of, diagonal, floats, hermitian, xp
from pliant.ops.triangular import triangular_solve


def _symmetric(a: Any, lower: bool) -> Any:
    return hermitian(a, lower=lower, turned=lambda part: xp.swapaxes(part, -1, -2))


_ORDINARY: Final = (None, "gen", "general", "banded")
_SYMMETRIC: Final = ("sym", "symmetric")
_HERMITIAN: Final = ("her", "hermitian", "pos", "positive definite")
ASSUMED: Final[dict[Any, Callable[[Any, bool], Any]]] = {
    **{name: lambda a, lower: a for name in _ORDINARY},
    **dict.fromkeys(_SYMMETRIC, _symmetric),
    **{name: lambda a, lower: hermitian(a, lower=lower) for name in _HERMITIAN},
    "diagonal": lambda a, lower: diagonal(a),
    "tridiagonal": lambda a, lower: xp.tril(xp.triu(a, -1), 1),
    "lower triangular": lambda a, lower: xp.tril(a),
    "upper triangular": lambda a, lower: xp.triu(a),
}
"""What is assumed of matrices → the whole matrices, of the part that SciPy reads."""


def assumed(a: Any, assume_a: Any, lower: Any) -> Any:
    """The matrices of which SciPy reads what it is told that there is."""
    return chosen(ASSUMED, assume_a, "assume_a")(floats(a), bool(known(lower, "lower=")))


def inv(a: Any, *, assume_a: Any = None, lower: Any = False) -> Any:
    """scipy.linalg.inv."""
    return xp.linalg.inv(assumed(a, assume_a, lower))


def solve(a: Any, b: Any, lower: Any = False, assume_a: Any = None, transposed: Any = False) -> Any:
    """scipy.linalg.solve, always by the factors of a general matrix."""
    a = assumed(a, assume_a, lower)
    return xp.linalg.solve(xp.swapaxes(a, -1, -2) if known(transposed, "transposed=") else a, floats(b))


def det(a: Any) -> Any:
    """scipy.linalg.det."""
    return xp.linalg.det(floats(a))


def cholesky(a: Any, lower: Any = False) -> Any:
    """scipy.linalg.cholesky: the upper factor by default, of that triangle."""
    return xp.linalg.cholesky(floats(a), upper=not known(lower, "lower="))


def cho_factor(a: Any, lower: Any = False) -> Any:
    """scipy.linalg.cho_factor; the other triangle is that of a."""
    lower = bool(known(lower, "lower="))
    rest = xp.triu(floats(a), 1) if lower else xp.tril(floats(a), -1)
    return cholesky(a, lower) + rest, lower


def cho_solve(c_and_lower: Any, b: Any) -> Any:
    """scipy.linalg.cho_solve."""
    factor, lower = c_and_lower
    first, last = (0, "C") if known(lower, "lower=") else ("C", 0)
    return solve_triangular(factor, solve_triangular(factor, b, first, lower), last, lower)


_TRANSPOSED: Final = {0: 0, "N": 0, 1: 1, "T": 1, 2: 2, "C": 2}


def solve_triangular(a: Any, b: Any, trans: Any = 0, lower: Any = False, unit_diagonal: Any = False) -> Any:
    """scipy.linalg.solve_triangular."""
    which = chosen(_TRANSPOSED, trans, "trans")
    x, y = map(fresh, floating(xp.conj(a) if which == 1 else a, b))
    is_vector = y.ndim == 1
    y = y[:, None] if is_vector else y
    if x.ndim < 2 or x.shape[-1] != x.shape[-2] or x.shape[-1] != y.shape[-2]:
        raise MatrixError(f"scipy.linalg.solve_triangular: {x.type} and {y.type} do not fit together").at(
            ("here", here())
        )
    lead = broadcast_shapes(x.shape[:-2], y.shape[:-2])
    x, y = (as_traced(xp.broadcast_to(v, (*lead, *v.shape[-2:]))).value for v in (x, y))
    lower, unit = (bool(known(v, "lower= and unit_diagonal=")) for v in (lower, unit_diagonal))
    made = fresh(triangular_solve(x, y, lower=lower, adjoint=which > 0, unit=unit))
    return made[..., 0] if is_vector else made


def norm(a: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    """scipy.linalg.norm."""
    return xp.linalg.norm(floats(a), ord, axis, keepdims)


def _reduced(a: Any, factor: Any, kind: Any) -> Any:
    """The ordinary problem that is one of two matrices, by the Cholesky factor of the second."""
    if kind != 1:
        return adjoint(factor) @ a @ factor
    return solve_triangular(factor, adjoint(solve_triangular(factor, adjoint(a), lower=True)), lower=True)


def _back(v: Any, factor: Any, kind: Any) -> Any:
    """The vectors of the problem of two matrices, by those of the ordinary one."""
    return factor @ v if kind == 3 else solve_triangular(factor, v, "C", lower=True)


_TYPES: Final = {1: 1, 2: 2, 3: 3}


def eigh(
    a: Any, b: Any = None, *, lower: Any = True, eigvals_only: Any = False, type: Any = 1, subset_by_index: Any = None
) -> Any:
    """scipy.linalg.eigh; the generalised problem by the Cholesky factor of b."""
    a, is_lower, kind = floats(a), bool(known(lower, "lower=")), chosen(_TYPES, type, "type")
    factor = None if b is None else xp.linalg.cholesky(hermitian(floats(b), lower=is_lower))
    if factor is not None:
        a, is_lower = _reduced(hermitian(a, lower=is_lower), factor, kind), True
    side = "L" if is_lower else "U"
    picked: Any = slice(None)
    if subset_by_index is not None:
        first, last = known(subset_by_index, "subset_by_index=")
        picked = slice(first, last + 1)
    if known(eigvals_only, "eigvals_only="):
        return xp.linalg.eigvalsh(a, side)[..., picked]
    w, v = xp.linalg.eigh(a, side)
    return w[..., picked], (v if factor is None else _back(v, factor, kind))[..., picked]


def eigvalsh(a: Any, b: Any = None, *, lower: Any = True, type: Any = 1, subset_by_index: Any = None) -> Any:
    """scipy.linalg.eigvalsh."""
    return eigh(a, b, lower=lower, eigvals_only=True, type=type, subset_by_index=subset_by_index)


def eig(a: Any, *, right: Any = True) -> Any:
    """scipy.linalg.eig, of one matrix: its values are complex always."""
    if not known(right, "right="):
        return eigvals(a)
    w, v = xp.linalg.eig(floats(a))
    return complex_of(w), v


def eigvals(a: Any) -> Any:
    """scipy.linalg.eigvals, of one matrix."""
    return complex_of(xp.linalg.eigvals(floats(a)))


def svd(a: Any, full_matrices: Any = True, compute_uv: Any = True) -> Any:
    """scipy.linalg.svd."""
    made = xp.linalg.svd(floats(a), bool(full_matrices), bool(compute_uv))
    return tuple(made) if compute_uv else made


def svdvals(a: Any) -> Any:
    """scipy.linalg.svdvals."""
    return xp.linalg.svdvals(floats(a))


_MODES: Final = {"full": "complete", "r": "reduced", "economic": "reduced"}


def qr(a: Any, mode: Any = "full") -> Any:
    """scipy.linalg.qr, without pivots; r has as many rows as a."""
    a = floats(a)
    q, r = xp.linalg.qr(a, chosen(_MODES, mode, "mode"))
    if mode != "r":
        return q, r
    rows = a.shape[-2] - r.shape[-2]
    return (xp.concatenate([r, xp.zeros((*r.shape[:-2], rows, r.shape[-1]), r.dtype)], -2),)


def pinv(a: Any, *, rtol: Any = None) -> Any:
    """scipy.linalg.pinv."""
    return xp.linalg.pinv(floats(a), rtol=rtol)


def lstsq(a: Any, b: Any, cond: Any = None) -> Any:
    """scipy.linalg.lstsq; a has full rank, as far as its residuals tell."""
    a, b = floats(a), floats(b)
    cond = EPSILON[as_traced(xp.real(a)).type.dtype] if cond is None else cond
    x, residuals, rank, s = xp.linalg.lstsq(a, b, cond)
    return x, residuals[0] if b.ndim == 1 and residuals.size else residuals, rank, s


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {f.__name__: f for f in (
    inv, solve, det, cholesky, cho_factor, cho_solve, solve_triangular, norm, eigh, eigvalsh, eig, eigvals, svd,
    svdvals, qr, pinv, lstsq,
)}  # fmt: skip
