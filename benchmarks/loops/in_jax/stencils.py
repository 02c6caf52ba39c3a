"""Sweeps of stencils over grids: whole arrays in a `fori_loop`, and a `scan` along what is solved in order."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

Array = Any


def jacobi_1d(u: Array, *, steps: int) -> Array:
    """Means of three points, the two arrays exchanged after each sweep."""

    def step(_: Any, state: Any) -> Any:
        a, b = state
        return b.at[1:-1].set((a[:-2] + a[1:-1] + a[2:]) / 3.0), a

    return lax.fori_loop(0, steps, step, (u, u))[0]


def jacobi_2d(u: Array, *, steps: int) -> Array:
    """Means of five points, the two arrays exchanged after each sweep."""

    def step(_: Any, state: Any) -> Any:
        a, b = state
        new = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        return b.at[1:-1, 1:-1].set(new), a

    return lax.fori_loop(0, steps, step, (u, u))[0]


def heat_3d(u: Array, *, steps: int) -> Array:
    """Explicit steps of the heat equation in a cube."""

    def step(_: Any, state: Any) -> Any:
        a, b = state
        c = a[1:-1, 1:-1, 1:-1]
        new = (
            0.125 * (a[2:, 1:-1, 1:-1] - 2.0 * c + a[:-2, 1:-1, 1:-1])
            + 0.125 * (a[1:-1, 2:, 1:-1] - 2.0 * c + a[1:-1, :-2, 1:-1])
            + 0.125 * (a[1:-1, 1:-1, 2:] - 2.0 * c + a[1:-1, 1:-1, :-2])
            + c
        )
        return b.at[1:-1, 1:-1, 1:-1].set(new), a

    return lax.fori_loop(0, steps, step, (u, u))[0]


def seidel_2d(u: Array, *, steps: int) -> Array:
    """Gauss-Seidel sweeps: rows in a loop, points of a row by `scan`."""
    n = u.shape[0]

    def row(i: Any, a: Array) -> Array:
        above, here, below = a[i - 1], a[i], a[i + 1]
        known = above[:-2] + above[1:-1] + above[2:] + here[1:-1] + here[2:] + below[:-2] + below[1:-1] + below[2:]

        def point(left: Any, x: Any) -> Any:
            new = (x + left) / 9.0
            return new, new

        return a.at[i, 1:-1].set(lax.scan(point, here[0], known)[1])

    return lax.fori_loop(0, steps, lambda _, a: lax.fori_loop(1, n - 1, row, a), u)


def fdtd_2d(ex: Array, ey: Array, hz: Array, pulse: Array) -> tuple[Array, Array, Array]:
    """Maxwell's equations in a plane, a `scan` over the pulse."""

    def step(state: Any, value: Any) -> Any:
        ex, ey, hz = state
        ey = ey.at[0, :].set(value)
        ey = ey.at[1:, :].add(-0.5 * (hz[1:, :] - hz[:-1, :]))
        ex = ex.at[:, 1:].add(-0.5 * (hz[:, 1:] - hz[:, :-1]))
        hz = hz.at[:-1, :-1].add(-0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1]))
        return (ex, ey, hz), None

    return lax.scan(step, (ex, ey, hz), pulse)[0]


def adi(u: Array, *, steps: int) -> Array:
    """Alternating directions: all columns of half a step together, ahead and back by `scan`. The pivots hold no
    data, and are known before the loop."""
    n, r = u.shape[0], 0.5
    p = np.zeros(n - 1)
    for j in range(1, n - 1):
        p[j] = r / (1.0 + 2.0 * r - r * p[j - 1])
    one = jnp.ones(n - 2)

    def ahead(q: Array, row: Any) -> Any:
        p, right = row
        q = p * (right / r + q)
        return q, q

    def back(x: Array, row: Any) -> Any:
        p, q = row
        x = p * x + q
        return x, x

    def half(source: Array, first: Any, last: Any) -> Array:
        right = r * source[1:-1, :-2] + (1.0 - 2.0 * r) * source[1:-1, 1:-1] + r * source[1:-1, 2:]
        q = lax.scan(ahead, one, (p[1:], right))[1]
        inner = lax.scan(back, one, (p[1:], q), reverse=True)[1]
        out = jnp.ones_like(source).at[1:-1, 1:-1].set(inner.T)
        return out.at[0, 1:-1].set(first).at[-1, 1:-1].set(last)

    def step(_: Any, u: Array) -> Array:
        return half(half(u, 0.0, 0.0), u[0, 1:-1], u[-1, 1:-1])

    return lax.fori_loop(0, steps, step, u)


def horizontal_diffusion(field: Array, coefficient: Array) -> Array:
    """Fourth-order diffusion with limited fluxes, of whole arrays."""
    inner = field[1:-1, 1:-1]
    laplace = 4.0 * inner - (field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2])

    def flux(axis: int) -> Array:
        cut = (slice(None), slice(1, -1)) if axis == 0 else (slice(1, -1), slice(None))
        steep = jnp.diff(laplace[cut], axis=axis)
        return jnp.where(steep * jnp.diff(inner[cut], axis=axis) > 0.0, 0.0, steep)

    return inner[1:-1, 1:-1] - coefficient * (jnp.diff(flux(0), axis=0) + jnp.diff(flux(1), axis=1))


def vertical_advection(u: Array, wind: Array, tendency: Array) -> Array:
    """Implicit transport along the last axis, made the first: all columns together, ahead and back by `scan`."""
    u, wind, tendency = (jnp.moveaxis(x, -1, 0) for x in (u, wind, tendency))
    edges = 0.25 * (wind[:, 1:] + wind[:, :-1])
    above, below = edges.at[0].set(0.0), jnp.pad(edges[1:], ((0, 1), (0, 0), (0, 0)))

    def ahead(state: Any, level: Any) -> Any:
        (upper, right), (above, below, known) = state, level
        scale = 1.0 / (3.0 - below + above * (1.0 + upper))
        new = below * scale, (known + above * right) * scale
        return new, new

    def back(out: Array, level: Any) -> Any:
        upper, right = level
        out = right - upper * out
        return out, out

    zero = jnp.zeros_like(u[0])
    solved = lax.scan(ahead, (zero, zero), (above, below, 3.0 * u + tendency))[1]
    return jnp.moveaxis(lax.scan(back, zero, solved, reverse=True)[1], 0, -1)


VERSIONS = (jacobi_1d, jacobi_2d, heat_3d, seidel_2d, fdtd_2d, adi, horizontal_diffusion, vertical_advection)
