"""Polynomials as sequences of coefficients, the highest power first: sums, derivatives, integrals, roots, fits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.core.origin import here
from pliant.errors import DomainError, DTypeError, ShapeError
from pliant.frontend.array import TracedArray
from pliant.frontend.convert import as_traced
from pliant.frontend.functions.common import array_of, known, unsupported, xp


def _sum(combine: Callable[[Any, Any], Any]) -> Callable[..., TracedArray]:
    """np.polyadd or np.polysub: the shorter one continued by zeros in front."""

    def summed(a1: Any, a2: Any) -> TracedArray:
        a, b = (xp.atleast_1d(as_traced(p)) for p in (a1, a2))
        n = max(len(a), len(b))
        return combine(*[xp.concatenate((xp.zeros(n - len(p), p.dtype), p)) if len(p) < n else p for p in (a, b)])

    return summed


def polyder(p: Any, m: Any = 1) -> Any:
    """np.polyder: the derivative of order m."""
    made = array_of(as_traced(p))
    for _ in range(_order(m, "derivative")):
        made = made[:-1] * xp.arange(len(made) - 1, 0, -1)
    return made


def polyint(p: Any, m: Any = 1, k: Any = None) -> Any:
    """np.polyint: the integral of order m, with its constants."""
    made, order = array_of(as_traced(p)), _order(m, "integral")
    constants = [0.0] * order if k is None else list(as_traced(k)) if as_traced(k).ndim else [k]
    constants = constants * order if len(constants) == 1 else constants
    if len(constants) < order:
        raise DomainError("k must be a scalar or a rank-1 array of length 1 or >m.").at(("here", here()))
    for constant in constants[:order]:
        made = xp.concatenate((made / xp.arange(len(made), 0, -1), xp.reshape(as_traced(constant), (1,))))
    return made


def _order(m: Any, what: str) -> int:
    order = int(known(m, "m="))
    if order < 0:
        raise DomainError(f"Order of {what} must be positive").at(("here", here()))
    return order


def poly(seq_of_zeros: Any) -> Any:
    """np.poly: the coefficients from real roots."""
    roots = xp.atleast_1d(as_traced(seq_of_zeros))
    if roots.ndim != 1 or roots.type.kind == "c":
        raise unsupported(
            f"np.poly of {roots.type}", "roots that may be complex have a result whose dtype depends on the numbers"
        )
    roots = roots if roots.type.dtype in ("f32", "f64") else roots.astype(np.float64)
    none = xp.zeros(1, roots.dtype)
    made: Any = none + 1 if len(roots) else 1.0
    for root in roots:
        made = xp.concatenate((made, none)) - xp.concatenate((none, made * root))
    return made


def polyfit(
    x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False
) -> Any:  # fmt: skip
    """np.polyfit: least squares; a fit of less than full rank goes without a warning."""
    order = int(known(deg, "deg=")) + 1
    at, rhs = as_traced(x) + 0.0, as_traced(y) + 0.0
    if order < 1:
        raise DomainError("expected deg >= 0").at(("here", here()))
    if at.ndim != 1 or not at.size or rhs.ndim not in (1, 2):
        raise DTypeError(f"np.polyfit: expected vectors, y perhaps a matrix, got {at.type} and {rhs.type}").at(
            ("here", here())
        )
    if len(at) != len(rhs) or (w is not None and as_traced(w).shape != at.shape):
        raise DTypeError("np.polyfit: x, y and w must have the same length").at(("here", here()))
    rcond = len(at) * np.finfo(at.dtype).eps if rcond is None else rcond
    lhs = xp.vander(at, order)
    if w is not None:
        weights = as_traced(w) + 0.0
        lhs *= weights[:, None]  # in place, that is in the dtype of each
        rhs *= weights if rhs.ndim == 1 else weights[:, None]
    scale = xp.sqrt(xp.sum(lhs * lhs, axis=0))
    lhs = lhs / scale
    c, residuals, rank, s = xp.linalg.lstsq(lhs, rhs, rcond)
    c = (c.T / scale).T
    if full:
        return c, residuals, rank, s, rcond
    if not cov:
        return c
    base = xp.linalg.inv(xp.dot(lhs.T, lhs)) / xp.outer(scale, scale)
    if len(at) <= order and cov != "unscaled":
        raise ShapeError("the number of data points must exceed order to scale the covariance matrix").at(
            ("here", here())
        )
    factor = 1 if cov == "unscaled" else residuals / (len(at) - order)
    return c, base * factor if rhs.ndim == 1 else base[:, :, None] * factor


FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.polyadd: _sum(lambda a, b: a + b),
    np.polysub: _sum(lambda a, b: a - b),
    np.polyder: polyder,
    np.polyint: polyint,
    np.poly: poly,
    np.polyfit: polyfit,
}
"""NumPy's functions of polynomials."""
