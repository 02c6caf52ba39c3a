"""Systems that move, by a `fori_loop` over steps."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

Array = Any


def nbody(position: Array, velocity: Array, mass: Array, *, steps: int) -> tuple[Array, Array]:
    """Bodies under gravity, kick, drift, kick."""

    def pull_of(position: Array) -> Array:
        away = position[None, :, :] - position[:, None, :]
        weight = (jnp.sum(away * away, axis=-1) + 0.1) ** -1.5
        return jnp.sum(away * (weight * mass)[:, :, None], axis=1)

    def step(_: Any, state: Any) -> Any:
        position, velocity, pull = state
        velocity = velocity + 0.005 * pull
        position = position + 0.01 * velocity
        pull = pull_of(position)
        return position, velocity + 0.005 * pull, pull

    return lax.fori_loop(0, steps, step, (position, velocity, pull_of(position)))[:2]


def slope(state: Array, coupling: Array) -> Array:
    """The rates of the oscillators."""
    return coupling * (jnp.sin(jnp.roll(state, 1) - state) + jnp.sin(jnp.roll(state, -1) - state)) + 1.0


def rk4(state: Array, coupling: Array, *, steps: int) -> Array:
    """The Runge-Kutta method on oscillators."""

    def step(_: Any, state: Array) -> Array:
        k1 = slope(state, coupling)
        k2 = slope(state + 0.005 * k1, coupling)
        k3 = slope(state + 0.005 * k2, coupling)
        k4 = slope(state + 0.01 * k3, coupling)
        return state + 0.01 / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)

    return lax.fori_loop(0, steps, step, state)


def gray_scott(u: Array, v: Array, *, steps: int) -> tuple[Array, Array]:
    """Reaction and diffusion on a torus."""

    def laplacian(x: Array) -> Array:
        return jnp.roll(x, 1, 0) + jnp.roll(x, -1, 0) + jnp.roll(x, 1, 1) + jnp.roll(x, -1, 1) - 4.0 * x

    def step(_: Any, state: Any) -> Any:
        u, v = state
        reaction = u * v * v
        du = 0.16 * laplacian(u) - reaction + 0.04 * (1.0 - u)
        return u + du, v + 0.08 * laplacian(v) + reaction - 0.1 * v

    return lax.fori_loop(0, steps, step, (u, v))


def mandelbrot(points: Array, *, steps: int) -> Array:
    """How long points stay in the disc, all together."""

    def step(_: Any, state: Any) -> Any:
        z, count = state
        inside = z.real * z.real + z.imag * z.imag <= 4.0
        return jnp.where(inside, z * z + points, z), count + inside

    start = jnp.zeros_like(points), jnp.zeros(points.shape, dtype=jnp.int64)
    return lax.fori_loop(0, steps, step, start)[1]


def euler(state: Array, coupling: Array, *, steps: int) -> Array:
    """The Euler method on oscillators; the sine between two neighbours is found once."""

    def step(_: Any, state: Array) -> Array:
        pull = jnp.sin(jnp.roll(state, 1) - state)
        return state + 0.01 * (coupling * (pull - jnp.roll(pull, -1)) + 1.0)

    return lax.fori_loop(0, steps, step, state)


def game_of_life(cells: Array, *, steps: int) -> Array:
    """Conway's game in bytes; sums of three rows, then of three columns, count a cell with those around it."""

    def step(_: Any, cells: Array) -> Array:
        rows = cells[:-2] + cells[1:-1] + cells[2:]
        count = rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]
        alive = (count == 3) | ((count == 4) & (cells[1:-1, 1:-1] == 1))
        inner = jnp.concatenate((cells[1:-1, :1], alive.astype(cells.dtype), cells[1:-1, -1:]), axis=1)
        return jnp.concatenate((cells[:1], inner, cells[-1:]))

    return lax.fori_loop(0, steps, step, cells.astype(jnp.int8)).astype(cells.dtype)


def escape_time(points: Array, *, steps: int) -> Array:
    """As `mandelbrot`, in real arithmetic: some point mostly needs all steps, so no loop ends before."""
    real, imag = points.real, points.imag

    def step(_: Any, state: Any) -> Any:
        x, y, count = state
        inside = x * x + y * y <= 4.0
        new = x * x - y * y + real, 2.0 * x * y + imag
        return jnp.where(inside, new[0], x), jnp.where(inside, new[1], y), count + inside

    zero = jnp.zeros_like(real)
    return lax.fori_loop(0, steps, step, (zero, zero, jnp.zeros(points.shape, dtype=jnp.int64)))[2]


VERSIONS = (nbody, euler, rk4, gray_scott, game_of_life, mandelbrot, escape_time)
