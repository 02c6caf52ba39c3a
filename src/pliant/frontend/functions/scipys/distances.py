"""scipy.spatial.distance: distances of vectors along the last axis, of all pairs of two sets or of one."""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt
from typing import Any, Final

import numpy as np

from pliant.core.origin import here
from pliant.errors import ShapeError
from pliant.frontend.functions.common import known
from pliant.frontend.functions.scipys.common import chosen, floats, xp


def euclidean(u: Any, v: Any, w: Any = None) -> Any:
    """√Σ w |u − v|², with derivative 0 at 0."""
    away = floats(u) - floats(v)
    return xp.linalg.norm(away if w is None else xp.sqrt(w) * away, axis=-1)


def sqeuclidean(u: Any, v: Any, w: Any = None) -> Any:
    """Σ w |u − v|²."""
    away = floats(u) - floats(v)
    return _weighed(away * away, w)


def cityblock(u: Any, v: Any, w: Any = None) -> Any:
    """Σ w |u − v|."""
    return _weighed(xp.abs(floats(u) - floats(v)), w)


def chebyshev(u: Any, v: Any, w: Any = None) -> Any:
    """The largest |u − v| of those whose weight is not 0."""
    away = xp.abs(floats(u) - floats(v))
    return xp.max(away if w is None else away * (xp.asarray(w) > 0), axis=-1)


def minkowski(u: Any, v: Any, p: Any = 2, w: Any = None) -> Any:
    """The p-th root of Σ w |u − v|ᵖ."""
    power = known(p, "p of scipy.spatial.distance.minkowski")
    away = floats(u) - floats(v)
    return xp.linalg.norm(away if w is None else xp.asarray(w) ** (1 / power) * away, power, axis=-1)


def cosine(u: Any, v: Any, w: Any = None) -> Any:
    """1 − Σ w u v / √(Σ w u² Σ w v²)."""
    u, v = floats(u), floats(v)
    return 1 - _weighed(u * v, w) / xp.sqrt(_weighed(u * u, w) * _weighed(v * v, w))


def correlation(u: Any, v: Any, w: Any = None) -> Any:
    """`cosine` of what differs from the mean."""
    u, v = floats(u), floats(v)
    if w is None:
        return cosine(u - xp.mean(u, axis=-1, keepdims=True), v - xp.mean(v, axis=-1, keepdims=True))
    w = floats(w) / xp.sum(w)
    return cosine(u - _weighed(u, w)[..., None], v - _weighed(v, w)[..., None], w)


def _weighed(x: Any, w: Any) -> Any:
    return xp.sum(x if w is None else x * w, axis=-1)


_PAIRS: Final = (euclidean, sqeuclidean, cityblock, chebyshev, minkowski, cosine, correlation)
METRICS: Final[dict[Any, Callable[..., Any]]] = {f.__name__: f for f in _PAIRS}


def cdist(XA: Any, XB: Any, metric: Any = "euclidean", *, p: Any = None, w: Any = None) -> Any:
    """scipy.spatial.distance.cdist: of each row of XA and each of XB."""
    a, b = floats(XA), floats(XB)
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[1]:
        raise ShapeError(f"scipy.spatial.distance.cdist: {a.type} and {b.type} are no rows of one length").at(
            ("here", here())
        )
    return _of_pairs(metric, a[:, None], b[None], p, w)


def pdist(X: Any, metric: Any = "euclidean", *, p: Any = None, w: Any = None) -> Any:
    """scipy.spatial.distance.pdist: of each row and those after it."""
    rows = floats(X)
    if rows.ndim != 2:
        raise ShapeError(f"scipy.spatial.distance.pdist: {rows.type} has no rows").at(("here", here()))
    first, second = np.triu_indices(rows.shape[0], 1)
    return _of_pairs(metric, rows[first], rows[second], p, w)


def _of_pairs(metric: Any, a: Any, b: Any, p: Any, w: Any) -> Any:
    run = chosen(METRICS, metric, "metric")
    return run(a, b, **({} if p is None else {"p": p}), w=w)


def squareform(X: Any, checks: Any = True) -> Any:
    """scipy.spatial.distance.squareform: what `pdist` makes as a matrix, or back, whether that is symmetric or not."""
    x = xp.asarray(X)
    if x.ndim == 2:
        return x[np.triu_indices(x.shape[0], 1)]
    n = (1 + isqrt(1 + 8 * x.shape[0])) // 2
    if x.ndim != 1 or n * (n - 1) // 2 != x.shape[0]:
        raise ShapeError(f"scipy.spatial.distance.squareform: {x.type} are no distances of all pairs").at(
            ("here", here())
        )
    made, (first, second) = xp.zeros((n, n), x.dtype), np.triu_indices(n, 1)
    made[first, second] = x
    made[second, first] = x
    return made


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {f.__name__: f for f in (*_PAIRS, cdist, pdist, squareform)}
