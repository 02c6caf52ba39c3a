"""Products of triangular and symmetric matrices, and moments of data, by loops over rows."""

from __future__ import annotations

import numpy as np

from benchmarks.loops.programs.base import Array, LoopProgram

ALPHA, BETA = 1.5, 1.2


def trmm(a: Array, b: Array) -> Array:
    """α·Lᵀ·b in place of b, where L is unit lower triangular, stored in `a`."""
    b = b.copy()
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += a[i + 1 :, i] @ b[i + 1 :, j]
    return ALPHA * b


def syrk(a: Array, c: Array) -> Array:
    """The lower triangle of β·c + α·a·aᵀ."""
    c = c.copy()
    for i in range(c.shape[0]):
        c[i, : i + 1] *= BETA
        for k in range(a.shape[1]):
            c[i, : i + 1] += ALPHA * a[i, k] * a[: i + 1, k]
    return c


def syr2k(a: Array, b: Array, c: Array) -> Array:
    """The lower triangle of β·c + α·(a·bᵀ + b·aᵀ)."""
    c = c.copy()
    for i in range(c.shape[0]):
        c[i, : i + 1] *= BETA
        for k in range(a.shape[1]):
            c[i, : i + 1] += ALPHA * (a[: i + 1, k] * b[i, k] + b[: i + 1, k] * a[i, k])
    return c


def symm(a: Array, b: Array, c: Array) -> Array:
    """β·c + α·S·b, where S is symmetric and its lower triangle stored in `a`."""
    c = BETA * c
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[:i, j] += ALPHA * b[i, j] * a[i, :i]
            c[i, j] += ALPHA * (b[i, j] * a[i, i] + b[:i, j] @ a[i, :i])
    return c


def covariance(x: Array) -> Array:
    """The covariance matrix of the columns of x, a row at a time."""
    n, m = x.shape
    x = x - x.mean(axis=0)
    out = np.zeros((m, m))
    for i in range(m):
        out[i, i:] = x[:, i] @ x[:, i:] / (n - 1.0)
        out[i:, i] = out[i, i:]
    return out


def correlation(x: Array) -> Array:
    """The correlation matrix of the columns of x, a row at a time."""
    n, m = x.shape
    scale = x.std(axis=0)
    scale[scale <= 0.1] = 1.0
    x = (x - x.mean(axis=0)) / (np.sqrt(float(n)) * scale)
    out = np.eye(m)
    for i in range(m - 1):
        out[i, i + 1 :] = x[:, i] @ x[:, i + 1 :]
        out[i + 1 :, i] = out[i, i + 1 :]
    return out


def _sizes(*extents: int) -> tuple[dict[str, int], ...]:
    return tuple({"m": n, "n": n * 7 // 10} for n in extents)


SMALL = {"m": 4, "n": 3}

PROGRAMS = (
    LoopProgram(
        trmm,
        lambda rng, m, n: (rng.uniform(size=(m, m)), rng.uniform(size=(m, n))),
        (0, 1),
        SMALL,
        _sizes(25, 50, 100),
        _sizes(5, 10, 20, 30, 50),
    ),
    LoopProgram(
        syrk,
        lambda rng, m, n: (rng.uniform(size=(n, m)), rng.uniform(size=(n, n))),
        (0, 1),
        SMALL,
        _sizes(25, 50, 100),
        _sizes(5, 10, 20, 30, 50),
    ),
    LoopProgram(
        syr2k,
        lambda rng, m, n: (rng.uniform(size=(n, m)), rng.uniform(size=(n, m)), rng.uniform(size=(n, n))),
        (0, 1, 2),
        SMALL,
        _sizes(25, 50, 100),
        _sizes(5, 10, 20, 30, 50),
    ),
    LoopProgram(
        symm,
        lambda rng, m, n: (rng.uniform(size=(m, m)), rng.uniform(size=(m, n)), rng.uniform(size=(m, n))),
        (0, 1, 2),
        SMALL,
        _sizes(25, 50, 100),
        _sizes(5, 10, 20, 30, 50),
    ),
    LoopProgram(
        covariance,
        lambda rng, m, n: (rng.uniform(size=(m, n)),),
        (0,),
        SMALL,
        _sizes(50, 100, 200),
        _sizes(5, 10, 20, 50, 100),
    ),
    LoopProgram(
        correlation,
        lambda rng, m, n: (rng.uniform(size=(m, n)),),
        (0,),
        SMALL,
        _sizes(50, 100, 200),
        _sizes(5, 10, 20, 50, 100),
    ),
)
