"""Polynomials as sequences of coefficients, the highest power first: sums, derivatives, integrals, roots, fits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

import numpy as np
import optree

from pliant.core.origin import here
from pliant.errors import DomainError, DTypeError, ShapeError
from pliant.frontend.array import TracedArray
from pliant.frontend.convert import as_traced
from pliant.frontend.functions.common import array_of, known, unsupported, xp
from pliant.frontend.reference import NAMESPACE

_NEARLY: Final = 1e-8
"""Of what is no more, np.polydiv makes no coefficient of the remainder."""


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


def _begun(p: Any) -> TracedArray:
    """Coefficients from the first one that is not 0, which data decide; the last one if all are."""
    made = xp.atleast_1d(as_traced(p))
    if made.ndim != 1:
        raise DomainError("Polynomial must be 1d only.").at(("here", here()))
    if made.concrete is not None:
        return as_traced(np.trim_zeros(made.concrete, "f") if made.concrete.any() else made.concrete[-1:])
    if not made.size:
        return made
    is_there = made != 0
    return made[xp.where(xp.any(is_there), xp.argmax(is_there), len(made) - 1) :]


def polymul(a1: Any, a2: Any) -> Any:
    """np.polymul: the product of polynomials, without leading zeros."""
    return xp.convolve(_begun(a1), _begun(a2))


def polydiv(u: Any, v: Any) -> Any:
    """np.polydiv: quotient and remainder."""
    rest, by = (xp.atleast_1d(as_traced(p)) + 0.0 for p in (u, v))
    if rest.ndim != 1 or by.ndim != 1:
        raise DomainError(f"np.polydiv: expected vectors, got {rest.type} and {by.type}").at(("here", here()))
    dtype, n = (rest[0] + by[0]).dtype, len(by)
    rest, count, scale = rest.astype(dtype), len(rest) - len(by) + 1, 1.0 / by[0]
    factors: list[Any] = [] if count > 0 else [xp.zeros((), dtype)]
    for k in range(count):
        factors.append(scale * rest[k])
        rest[k : k + n] -= factors[k] * by
    is_first = xp.append(~(xp.abs(rest[:-1]) <= _NEARLY), True)
    return xp.stack(factors), rest[int(xp.argmax(is_first)) :]


def roots(p: Any) -> Any:
    """np.roots: eigenvalues of the companion matrix; 0 for each trailing coefficient that is 0."""
    made = xp.atleast_1d(as_traced(p))
    if made.ndim != 1:
        raise DomainError("Input must be a rank-1 array.").at(("here", here()))
    kept = _begun(made) if made.size else made
    part = _begun(kept[::-1])[::-1] if made.size else made
    found = xp.zeros(0)
    if len(part) > 1:
        part = part if part.type.kind in "fc" else part.astype(np.float64)
        below = xp.eye(len(part) - 2, len(part) - 1, dtype=part.dtype)
        found = xp.linalg.eigvals(xp.concatenate(((-part[1:] / part[0])[None], below)))
    return xp.concatenate((found, xp.zeros(len(kept) - len(part), found.dtype)))


FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.polymul: polymul,
    np.polydiv: polydiv,
    np.roots: roots,
    np.polyadd: _sum(lambda a, b: a + b),
    np.polysub: _sum(lambda a, b: a - b),
    np.polyder: polyder,
    np.polyint: polyint,
    np.poly: poly,
    np.polyfit: polyfit,
}
"""NumPy's functions of polynomials."""


def _parts(p: Any) -> tuple[Any, ...]:
    return (p.coeffs,), p.variable, None


def _rebuilt(variable: str, parts: tuple[Any, ...]) -> np.poly1d:
    made = object.__new__(np.poly1d)  # without looking at the coefficients, for zeros
    made.__dict__.update(coeffs=parts[0], _variable=variable)
    return made


cast("Any", optree).register_pytree_node(np.poly1d, _parts, _rebuilt, namespace=NAMESPACE)
