"""Sweeps of stencils over grids."""

from __future__ import annotations

import numpy as np

from benchmarks.loops.programs.base import Array, LoopProgram


def jacobi_1d(u: Array, *, steps: int) -> Array:
    """Each inner point becomes the mean of itself and its two neighbours, `steps` times."""
    a, b = u.copy(), u.copy()
    for _ in range(steps):
        b[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3.0
        a, b = b, a
    return a


def jacobi_2d(u: Array, *, steps: int) -> Array:
    """Each inner point becomes the mean of itself and its four neighbours, `steps` times."""
    a, b = u.copy(), u.copy()
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a, b = b, a
    return a


def heat_3d(u: Array, *, steps: int) -> Array:
    """The heat equation in a cube, explicit steps of second differences along each axis."""
    a, b = u.copy(), u.copy()
    for _ in range(steps):
        c = a[1:-1, 1:-1, 1:-1]
        b[1:-1, 1:-1, 1:-1] = (
            0.125 * (a[2:, 1:-1, 1:-1] - 2.0 * c + a[:-2, 1:-1, 1:-1])
            + 0.125 * (a[1:-1, 2:, 1:-1] - 2.0 * c + a[1:-1, :-2, 1:-1])
            + 0.125 * (a[1:-1, 1:-1, 2:] - 2.0 * c + a[1:-1, 1:-1, :-2])
            + c
        )
        a, b = b, a
    return a


def seidel_2d(u: Array, *, steps: int) -> Array:
    """Gauss-Seidel sweeps: the mean of nine points, of which four are already new."""
    a = u.copy()
    n, m = a.shape
    for _ in range(steps):
        for i in range(1, n - 1):
            above = a[i - 1, :-2] + a[i - 1, 1:-1] + a[i - 1, 2:]
            below = a[i + 1, :-2] + a[i + 1, 1:-1] + a[i + 1, 2:]
            a[i, 1:-1] += above + a[i, 2:] + below
            for j in range(1, m - 1):
                a[i, j] = (a[i, j] + a[i, j - 1]) / 9.0
    return a


def fdtd_2d(ex: Array, ey: Array, hz: Array, pulse: Array) -> tuple[Array, Array, Array]:
    """Maxwell's equations in a plane on staggered grids; `pulse` enters along one side, a value per step."""
    ex, ey, hz = ex.copy(), ey.copy(), hz.copy()
    for t in range(pulse.shape[0]):
        ey[0, :] = pulse[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return ex, ey, hz


def adi(u: Array, *, steps: int) -> Array:
    """Alternating directions: half a step of diffusion implicit along columns, half along rows."""
    u = u.copy()
    n = u.shape[0]
    r = 0.5
    v, p, q = np.zeros_like(u), np.zeros_like(u), np.zeros_like(u)
    for _ in range(steps):
        for source, out in ((u.T, v), (v.T, u)):
            out[:, 0] = 1.0
            p[:, 0] = 0.0
            q[:, 0] = 1.0
            for j in range(1, n - 1):
                right = r * source[:-2, j] + (1.0 - 2.0 * r) * source[1:-1, j] + r * source[2:, j]
                pivot = 1.0 + 2.0 * r - r * p[1:-1, j - 1]
                p[1:-1, j] = r / pivot
                q[1:-1, j] = (right + r * q[1:-1, j - 1]) / pivot
            out[:, n - 1] = 1.0
            for j in range(n - 2, 0, -1):
                out[1:-1, j] = p[1:-1, j] * out[1:-1, j + 1] + q[1:-1, j]
    return u


def horizontal_diffusion(field: Array, coefficient: Array) -> Array:
    """Fourth-order diffusion with limited fluxes, independent in each of the levels of a field.

    field: f[i+4, j+4, k]; coefficient: f[i, j, k].
    """
    laplace = 4.0 * field[1:-1, 1:-1, :] - (
        field[2:, 1:-1, :] + field[:-2, 1:-1, :] + field[1:-1, 2:, :] + field[1:-1, :-2, :]
    )
    along = laplace[1:, 1:-1, :] - laplace[:-1, 1:-1, :]
    along = np.where(along * (field[2:-1, 2:-2, :] - field[1:-2, 2:-2, :]) > 0.0, 0.0, along)
    across = laplace[1:-1, 1:, :] - laplace[1:-1, :-1, :]
    across = np.where(across * (field[2:-2, 2:-1, :] - field[2:-2, 1:-2, :]) > 0.0, 0.0, across)
    change = along[1:, :, :] - along[:-1, :, :] + across[:, 1:, :] - across[:, :-1, :]
    return field[2:-2, 2:-2, :] - coefficient * change


def vertical_advection(u: Array, wind: Array, tendency: Array) -> Array:
    """Implicit transport along the last axis: one tridiagonal system per column, solved for all together.

    u, tendency: f[i, j, k]; wind: f[i+1, j, k], on the edges between columns.
    """
    levels = u.shape[2]
    upper, right = np.zeros_like(u), np.zeros_like(u)
    out = np.zeros_like(u)
    for k in range(levels):
        above = 0.25 * (wind[1:, :, k] + wind[:-1, :, k])
        below = 0.25 * (wind[1:, :, k + 1] + wind[:-1, :, k + 1]) if k < levels - 1 else 0.0 * above
        known = 3.0 * u[:, :, k] + tendency[:, :, k]
        if k == 0:
            upper[:, :, 0] = below / (3.0 - below)
            right[:, :, 0] = known / (3.0 - below)
        else:
            pivot = 3.0 - below + above * (1.0 + upper[:, :, k - 1])
            upper[:, :, k] = below / pivot
            right[:, :, k] = (known + above * right[:, :, k - 1]) / pivot
    out[:, :, levels - 1] = right[:, :, levels - 1]
    for k in range(levels - 2, -1, -1):
        out[:, :, k] = right[:, :, k] - upper[:, :, k] * out[:, :, k + 1]
    return out


def _grid(rank: int):
    return lambda rng, n, steps: (rng.uniform(0.0, 1.0, (n,) * rank),)


PROGRAMS = (
    LoopProgram(
        jacobi_1d,
        _grid(1),
        (0,),
        {"n": 9, "steps": 4},
        ({"n": 1000, "steps": 100}, {"n": 10_000, "steps": 100}, {"n": 100_000, "steps": 100}),
        tuple({"n": 1000, "steps": t} for t in (10, 30, 100, 300, 1000)),
        ("steps",),
    ),
    LoopProgram(
        jacobi_2d,
        _grid(2),
        (0,),
        {"n": 7, "steps": 3},
        ({"n": 50, "steps": 98}, {"n": 150, "steps": 98}, {"n": 300, "steps": 98}),
        tuple({"n": 150, "steps": t} for t in (3, 10, 30, 98, 200)),
        ("steps",),
    ),
    LoopProgram(
        heat_3d,
        _grid(3),
        (0,),
        {"n": 5, "steps": 3},
        ({"n": 12, "steps": 48}, {"n": 25, "steps": 48}, {"n": 50, "steps": 48}),
        tuple({"n": 25, "steps": t} for t in (3, 10, 24, 48, 100)),
        ("steps",),
    ),
    LoopProgram(
        seidel_2d,
        _grid(2),
        (0,),
        {"n": 6, "steps": 2},
        ({"n": 25, "steps": 8}, {"n": 50, "steps": 8}, {"n": 100, "steps": 8}),
        tuple({"n": 50, "steps": t} for t in (1, 2, 4, 8, 20)),
        ("steps",),
    ),
    LoopProgram(
        fdtd_2d,
        lambda rng, n, steps: (*(rng.uniform(-1.0, 1.0, (n, n + 1)) for _ in range(3)), rng.uniform(size=steps)),
        (0, 1, 2, 3),
        {"n": 4, "steps": 3},
        ({"n": 30, "steps": 30}, {"n": 100, "steps": 30}, {"n": 200, "steps": 30}),
        tuple({"n": 100, "steps": t} for t in (3, 10, 30, 60, 100)),
    ),
    LoopProgram(
        adi,
        _grid(2),
        (0,),
        {"n": 6, "steps": 2},
        ({"n": 25, "steps": 10}, {"n": 50, "steps": 10}, {"n": 100, "steps": 10}),
        tuple({"n": 50, "steps": t} for t in (1, 3, 5, 10, 20)),
        ("steps",),
    ),
    LoopProgram(
        horizontal_diffusion,
        lambda rng, n, k: (rng.uniform(size=(n + 4, n + 4, k)), rng.uniform(size=(n, n, k))),
        (0, 1),
        {"n": 4, "k": 3},
        ({"n": 16, "k": 40}, {"n": 32, "k": 40}, {"n": 64, "k": 40}),
        tuple({"n": 32, "k": k} for k in (5, 10, 20, 40, 80)),
    ),
    LoopProgram(
        vertical_advection,
        lambda rng, n, k: (
            rng.uniform(size=(n, n, k)),
            rng.uniform(-1.0, 1.0, (n + 1, n, k)),
            rng.uniform(size=(n, n, k)),
        ),
        (0, 1, 2),
        {"n": 3, "k": 5},
        ({"n": 16, "k": 40}, {"n": 32, "k": 40}, {"n": 64, "k": 40}),
        tuple({"n": 32, "k": k} for k in (5, 10, 20, 40, 80)),
    ),
)
