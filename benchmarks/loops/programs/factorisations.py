"""Factorisations and recursions over triangles, element by element of the outer index."""

from __future__ import annotations

import numpy as np

from benchmarks.loops.programs.base import Array, LoopProgram, dominant, symmetric_positive


def lu(a: Array) -> Array:
    """Both factors of a matrix in one: Doolittle's elimination, row by row."""
    a = a.copy()
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] = (a[i, j] - a[i, :j] @ a[:j, j]) / a[j, j]
        for j in range(i, a.shape[0]):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return a


def cholesky(a: Array) -> Array:
    """The lower factor of a symmetric positive definite matrix; what is above the diagonal stays."""
    a = a.copy()
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] = (a[i, j] - a[i, :j] @ a[j, :j]) / a[j, j]
        a[i, i] = np.sqrt(a[i, i] - a[i, :i] @ a[i, :i])
    return a


def ludcmp(a: Array, b: Array) -> Array:
    """The solution of a linear system: elimination, then substitution forward and backward."""
    n = a.shape[0]
    a, x = a.copy(), b.copy()
    for i in range(n):
        for j in range(i):
            a[i, j] = (a[i, j] - a[i, :j] @ a[:j, j]) / a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]
    for i in range(n):
        x[i] -= a[i, :i] @ x[:i]
    for i in range(n - 1, -1, -1):
        x[i] = (x[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return x


def trisolv(lower: Array, b: Array) -> Array:
    """The solution of a lower triangular system."""
    x = np.zeros_like(b)
    for i in range(b.shape[0]):
        x[i] = (b[i] - lower[i, :i] @ x[:i]) / lower[i, i]
    return x


def gramschmidt(a: Array) -> tuple[Array, Array]:
    """Orthonormal columns and the triangle that makes `a` of them, by the modified Gram-Schmidt method."""
    a = a.copy()
    n = a.shape[1]
    q, r = np.zeros_like(a), np.zeros((n, n))
    for k in range(n):
        r[k, k] = np.sqrt(a[:, k] @ a[:, k])
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, n):
            r[k, j] = q[:, k] @ a[:, j]
            a[:, j] -= q[:, k] * r[k, j]
    return q, r


def durbin(r: Array) -> Array:
    """The solution of the Yule-Walker equations of autocorrelations `r`."""
    y = np.zeros_like(r)
    alpha, beta = -r[0], 1.0
    y[0] = alpha
    for k in range(1, r.shape[0]):
        beta = (1.0 - alpha * alpha) * beta
        alpha = -(r[k] + np.flip(r[:k]) @ y[:k]) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y


def floyd_warshall(distance: Array) -> Array:
    """Lengths of the shortest paths between all pairs of nodes."""
    d = distance.copy()
    for k in range(d.shape[0]):
        d[:] = np.minimum(d, d[:, k, None] + d[None, k, :])
    return d


def _sizes(*extents: int) -> tuple[dict[str, int], ...]:
    return tuple({"n": n} for n in extents)


def _tall(*extents: int) -> tuple[dict[str, int], ...]:
    return tuple({"m": n + 10, "n": n} for n in extents)


SMALL = {"n": 5}

PROGRAMS = (
    LoopProgram(lu, lambda rng, n: (dominant(rng, n),), (0,), SMALL, _sizes(30, 60, 120), _sizes(5, 10, 20, 40, 60)),
    LoopProgram(
        cholesky,
        lambda rng, n: (symmetric_positive(rng, n),),
        (0,),
        SMALL,
        _sizes(50, 100, 200),
        _sizes(10, 25, 50, 75, 100),
    ),
    LoopProgram(
        ludcmp,
        lambda rng, n: (dominant(rng, n), rng.uniform(size=n)),
        (0, 1),
        SMALL,
        _sizes(30, 60, 120),
        _sizes(5, 10, 20, 40, 60),
    ),
    LoopProgram(
        trisolv,
        lambda rng, n: (dominant(rng, n), rng.uniform(size=n)),
        (0, 1),
        SMALL,
        _sizes(100, 300, 1000),
        _sizes(10, 30, 100, 300, 500),
    ),
    LoopProgram(
        gramschmidt,
        lambda rng, m, n: (rng.uniform(size=(m, n)) + np.eye(m, n),),
        (0,),
        {"m": 5, "n": 4},
        _tall(30, 60, 120),
        _tall(5, 10, 20, 40, 60),
    ),
    LoopProgram(
        durbin,
        lambda rng, n: (0.3 / np.arange(1, n + 1) ** 2 * rng.uniform(0.5, 1.0, n),),  # nothing underflows
        (0,),
        SMALL,
        _sizes(100, 300, 1000),
        _sizes(10, 30, 100, 300, 1000),
    ),
    LoopProgram(
        floyd_warshall,
        lambda rng, n: (rng.uniform(1.0, 10.0, (n, n)),),
        (0,),
        SMALL,
        _sizes(30, 60, 120),
        _sizes(5, 10, 20, 40, 60),
    ),
)
