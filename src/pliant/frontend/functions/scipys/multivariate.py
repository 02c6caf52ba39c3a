"""scipy.stats: densities of vectors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from pliant.core.origin import here
from pliant.errors import ShapeError
from pliant.frontend.functions.common import known, unsupported
from pliant.frontend.functions.scipys.common import doubles, xp
from pliant.frontend.functions.scipys.densities import special
from pliant.frontend.functions.scipys.linalg import solve_triangular

_gammaln, _xlogy = special("gammaln"), special("xlogy")


def normal_logpdf(x: Any, mean: Any = None, cov: Any = 1, allow_singular: Any = False) -> Any:
    """multivariate_normal.logpdf, by the Cholesky factor of the covariances."""
    if known(allow_singular, "allow_singular="):
        raise unsupported(
            "scipy.stats.multivariate_normal: allow_singular=True is not supported in a traced function",
            "add a small multiple of np.eye(n) to the covariances",
        )
    cov = doubles(cov)
    dim = xp.size(mean) if mean is not None else cov.shape[0] if cov.ndim == 2 else 1
    cov = cov * xp.eye(dim) if cov.ndim == 0 else xp.diag(cov) if cov.ndim == 1 else cov
    x = doubles(x)
    if x.ndim == 0:
        x = x[None]
    elif x.ndim == 1:
        x = x[:, None] if dim == 1 else x[None, :]
    if x.shape[-1] != dim or cov.shape != (dim, dim):
        raise ShapeError(
            f"scipy.stats.multivariate_normal: {x.type}, {dim} means and {cov.type} do not fit together"
        ).at(("here", here()))
    away = x if mean is None else x - doubles(mean).reshape(dim)
    factor = xp.linalg.cholesky(cov)
    z = solve_triangular(factor, away.reshape(-1, dim).T, lower=True)
    squares = xp.sum(z * z, axis=0).reshape(away.shape[:-1])
    size = xp.sum(xp.log(xp.diagonal(factor)))
    return xp.squeeze(-0.5 * (dim * math.log(2 * math.pi) + squares) - size)[()]


def normal_pdf(x: Any, mean: Any = None, cov: Any = 1, allow_singular: Any = False) -> Any:
    """multivariate_normal.pdf."""
    return xp.exp(normal_logpdf(x, mean, cov, allow_singular))


def dirichlet_logpdf(x: Any, alpha: Any) -> Any:
    """dirichlet.logpdf; the parts are along the first axis, the last of them may be missing."""
    x, alpha = doubles(x), doubles(alpha)
    if x.shape[0] + 1 == alpha.shape[0]:
        x = xp.concatenate([x, 1 - xp.sum(x, axis=0, keepdims=True)])
    size = xp.sum(_gammaln(alpha)) - _gammaln(xp.sum(alpha))
    return xp.squeeze(xp.sum(_xlogy(alpha - 1, x.T), axis=-1).T - size)[()]


def dirichlet_pdf(x: Any, alpha: Any) -> Any:
    """dirichlet.pdf."""
    return xp.exp(dirichlet_logpdf(x, alpha))


MULTIVARIATE: Final[dict[str, dict[str, Callable[..., Any]]]] = {
    "multivariate_normal": {"logpdf": normal_logpdf, "pdf": normal_pdf},
    "dirichlet": {"logpdf": dirichlet_logpdf, "pdf": dirichlet_pdf},
}
"""Name → its methods."""
