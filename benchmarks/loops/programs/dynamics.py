"""Systems that move: bodies, integrators, cellular automata, reactions, iterated maps."""

from __future__ import annotations

import numpy as np

from benchmarks.loops.programs.base import Array, LoopProgram


def nbody(position: Array, velocity: Array, mass: Array, *, steps: int) -> tuple[Array, Array]:
    """Bodies under gravity, softened at short distance, by steps of kick, drift, kick."""
    dt = 0.01
    pull = attraction(position, mass)
    for _ in range(steps):
        velocity = velocity + 0.5 * dt * pull
        position = position + dt * velocity
        pull = attraction(position, mass)
        velocity = velocity + 0.5 * dt * pull
    return position, velocity


def attraction(position: Array, mass: Array) -> Array:
    """The acceleration of each body by all others."""
    away = position[None, :, :] - position[:, None, :]
    weight = (np.sum(away * away, axis=-1) + 0.1) ** -1.5
    return np.sum(away * (weight * mass)[:, :, None], axis=1)


def euler(state: Array, coupling: Array, *, steps: int) -> Array:
    """Coupled oscillators θ' = ω + Σ sin(θ_neighbour − θ), by explicit Euler steps."""
    dt = 0.01
    for _ in range(steps):
        state = state + dt * slope(state, coupling)
    return state


def rk4(state: Array, coupling: Array, *, steps: int) -> Array:
    """The same oscillators by the classical Runge-Kutta method of fourth order."""
    dt = 0.01
    for _ in range(steps):
        k1 = slope(state, coupling)
        k2 = slope(state + 0.5 * dt * k1, coupling)
        k3 = slope(state + 0.5 * dt * k2, coupling)
        k4 = slope(state + dt * k3, coupling)
        state = state + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return state


def slope(state: Array, coupling: Array) -> Array:
    """The rates of oscillators in a ring, each coupled to the next one on either side."""
    left, right = np.roll(state, 1), np.roll(state, -1)
    return coupling * (np.sin(left - state) + np.sin(right - state)) + 1.0


def gray_scott(u: Array, v: Array, *, steps: int) -> tuple[Array, Array]:
    """Two substances that react and diffuse on a torus."""
    feed, kill, spread_u, spread_v = 0.04, 0.06, 0.16, 0.08
    u, v = u.copy(), v.copy()
    for _ in range(steps):
        reaction = u * v * v
        du = spread_u * laplacian(u) - reaction + feed * (1.0 - u)
        dv = spread_v * laplacian(v) + reaction - (feed + kill) * v
        u += du
        v += dv
    return u, v


def laplacian(x: Array) -> Array:
    """The sum of the four neighbours' differences, on a torus."""
    return np.roll(x, 1, 0) + np.roll(x, -1, 0) + np.roll(x, 1, 1) + np.roll(x, -1, 1) - 4.0 * x


def game_of_life(cells: Array, *, steps: int) -> Array:
    """Conway's game on a board with dead borders: i64[n, n] of zeros and ones."""
    cells = cells.copy()
    for _ in range(steps):
        around = (
            cells[:-2, :-2] + cells[:-2, 1:-1] + cells[:-2, 2:] + cells[1:-1, :-2]
            + cells[1:-1, 2:] + cells[2:, :-2] + cells[2:, 1:-1] + cells[2:, 2:]
        )  # fmt: skip
        alive = (around == 3) | ((around == 2) & (cells[1:-1, 1:-1] == 1))
        cells[1:-1, 1:-1] = alive
    return cells


def mandelbrot(points: Array, *, steps: int) -> Array:
    """For each complex number c, after how many steps of z² + c the value leaves the disc of radius 2."""
    z = np.zeros_like(points)
    count = np.zeros(points.shape, dtype=np.int64)
    for _ in range(steps):
        inside = z.real * z.real + z.imag * z.imag <= 4.0
        z = np.where(inside, z * z + points, z)
        count += inside
    return count


def escape_time(points: Array, *, steps: int) -> Array:
    """As `mandelbrot`, one point after the other, each no longer than it needs."""
    count = np.zeros(points.shape, dtype=np.int64)
    for i in range(points.shape[0]):
        x = y = 0.0
        n = 0
        while n < steps and x * x + y * y <= 4.0:
            x, y = x * x - y * y + points[i].real, 2.0 * x * y + points[i].imag
            n += 1
        count[i] = n
    return count


def _trips(n: int, *steps: int) -> tuple[dict[str, int], ...]:
    return tuple({"n": n, "steps": t} for t in steps)


def _sizes(steps: int, *extents: int) -> tuple[dict[str, int], ...]:
    return tuple({"n": n, "steps": steps} for n in extents)


def _ring(rng: np.random.Generator, n: int, steps: int) -> tuple[Array, ...]:
    return rng.uniform(0.0, 6.0, n), rng.uniform(0.5, 1.5, n)


def _complex(rng: np.random.Generator, n: int, steps: int) -> tuple[Array, ...]:
    return (rng.uniform(-2.0, 1.0, n) + 1j * rng.uniform(-1.5, 1.5, n),)


STEPS = ("steps",)

PROGRAMS = (
    LoopProgram(
        nbody,
        lambda rng, n, steps: (rng.normal(size=(n, 3)), rng.normal(size=(n, 3)), rng.uniform(0.5, 1.5, n)),
        (0, 1, 2),
        {"n": 4, "steps": 3},
        _sizes(50, 8, 32, 100),
        _trips(16, 10, 20, 50, 100, 200),
        STEPS,
    ),
    LoopProgram(
        euler,
        _ring,
        (0, 1),
        {"n": 6, "steps": 4},
        _sizes(100, 10, 100, 1000),
        _trips(100, 10, 30, 100, 300, 1000),
        STEPS,
    ),
    LoopProgram(
        rk4, _ring, (0, 1), {"n": 6, "steps": 3}, _sizes(100, 10, 100, 1000), _trips(100, 10, 30, 100, 300, 1000), STEPS
    ),
    LoopProgram(
        gray_scott,
        lambda rng, n, steps: (rng.uniform(0.5, 1.0, (n, n)), rng.uniform(0.0, 0.5, (n, n))),
        (0, 1),
        {"n": 5, "steps": 3},
        _sizes(30, 32, 64, 128),
        _trips(64, 3, 10, 30, 60, 100),
        STEPS,
    ),
    LoopProgram(
        game_of_life,
        lambda rng, n, steps: (rng.integers(0, 2, (n, n)),),
        (),
        {"n": 8, "steps": 4},
        _sizes(50, 32, 64, 128),
        _trips(64, 5, 10, 20, 50, 100),
        STEPS,
    ),
    LoopProgram(
        mandelbrot,
        _complex,
        (),
        {"n": 12, "steps": 8},
        _sizes(50, 100, 1000, 10_000),
        _trips(1000, 5, 10, 20, 50, 100),
        STEPS,
    ),
    LoopProgram(
        escape_time,
        _complex,
        (),
        {"n": 6, "steps": 8},
        _sizes(50, 100, 1000, 10_000),
        _trips(1000, 5, 10, 20, 50, 100),
        STEPS,
    ),
)
