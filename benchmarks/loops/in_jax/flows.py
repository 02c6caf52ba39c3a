"""Flow in a cavity and in a channel: new arrays of inner parts and walls, sweeps of the pressure by `fori_loop`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from benchmarks.loops.programs.flows import DT, NU, RHO, SWEEPS

Array = Any


def cavity_flow(u: Array, v: Array, p: Array, *, steps: int) -> tuple[Array, Array, Array]:
    """A square cavity whose lid moves."""
    h = 2.0 / (u.shape[0] - 1)
    push = DT / (2.0 * RHO * h)

    def step(_: Any, state: Any) -> Any:
        u, v, p = state
        b = 0.25 * h * h * RHO * sources(differences(u, h), differences(v, h))

        def sweep(_: Any, p: Array) -> Array:
            new = 0.25 * (p[1:-1, 2:] + p[1:-1, :-2] + p[2:, 1:-1] + p[:-2, 1:-1]) - b
            return jnp.pad(jnp.pad(new, ((1, 0), (1, 1)), mode="edge"), ((0, 1), (0, 0)))

        p = lax.fori_loop(0, SWEEPS, sweep, p)
        u_new = moved(u, u, v, h) - push * (p[1:-1, 2:] - p[1:-1, :-2])
        v_new = moved(v, u, v, h) - push * (p[2:, 1:-1] - p[:-2, 1:-1])
        return jnp.pad(u_new, 1).at[-1].set(1.0), jnp.pad(v_new, 1), p

    return lax.fori_loop(0, steps, step, (u, v, p))


def channel_flow(u: Array, v: Array, force: Array, *, steps: int) -> tuple[Array, Array]:
    """A channel, periodic along x: inner rows with a column more on either side."""
    h = 2.0 / (u.shape[0] - 1)
    push = DT / (2.0 * RHO * h)

    def step(_: Any, state: Any) -> Any:
        u, v, p = state
        us, vs = ring(u[1:-1]), ring(v[1:-1])
        du = (us[:, 2:] - us[:, :-2]) / (2.0 * h), (u[2:] - u[:-2]) / (2.0 * h)
        dv = (vs[:, 2:] - vs[:, :-2]) / (2.0 * h), (v[2:] - v[:-2]) / (2.0 * h)
        b = 0.25 * h * h * RHO * sources(du, dv)

        def sweep(_: Any, p: Array) -> Array:
            ps = ring(p[1:-1])
            new = 0.25 * (ps[:, 2:] + ps[:, :-2] + p[2:] + p[:-2]) - b
            return jnp.concatenate((new[:1], new, new[-1:]))

        p = lax.fori_loop(0, SWEEPS, sweep, p)
        ps = ring(p[1:-1])
        u_new = turned(u, us, u, v, h) - push * (ps[:, 2:] - ps[:, :-2]) + DT * force[1:-1]
        v_new = turned(v, vs, u, v, h) - push * (p[2:] - p[:-2])
        still = jnp.zeros_like(u)
        return still.at[1:-1].set(u_new), still.at[1:-1].set(v_new), p

    return lax.fori_loop(0, steps, step, (u, v, jnp.zeros_like(u)))[:2]


def ring(x: Array) -> Array:
    """The columns with the last one before the first, and the first one after the last."""
    return jnp.concatenate((x[:, -1:], x, x[:, :1]), axis=1)


def differences(w: Array, h: float) -> tuple[Array, Array]:
    """The derivatives along x and along y at inner points."""
    return (w[1:-1, 2:] - w[1:-1, :-2]) / (2.0 * h), (w[2:, 1:-1] - w[:-2, 1:-1]) / (2.0 * h)


def sources(du: tuple[Array, Array], dv: tuple[Array, Array]) -> Array:
    """The right side of the pressure equation, of the derivatives of both velocities."""
    (du_dx, du_dy), (dv_dx, dv_dy) = du, dv
    return (du_dx + dv_dy) / DT - du_dx**2 - 2.0 * du_dy * dv_dx - dv_dy**2


def moved(w: Array, u: Array, v: Array, h: float) -> Array:
    """The inner part of `w` after one step of advection by (u, v) and of diffusion."""
    c = w[1:-1, 1:-1]
    carried = u[1:-1, 1:-1] * (c - w[1:-1, :-2]) + v[1:-1, 1:-1] * (c - w[:-2, 1:-1])
    spread = w[1:-1, 2:] + w[1:-1, :-2] + w[2:, 1:-1] + w[:-2, 1:-1] - 4.0 * c
    return c - DT / h * carried + NU * DT / (h * h) * spread


def turned(w: Array, ws: Array, u: Array, v: Array, h: float) -> Array:
    """As `moved`, where the inner rows `ws` of `w` are a ring."""
    c = w[1:-1]
    carried = u[1:-1] * (c - ws[:, :-2]) + v[1:-1] * (c - w[:-2])
    return c - DT / h * carried + NU * DT / (h * h) * (ws[:, 2:] + ws[:, :-2] + w[2:] + w[:-2] - 4.0 * c)


VERSIONS = (cavity_flow, channel_flow)
