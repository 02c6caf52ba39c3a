"""Incompressible flow in a cavity and in a channel: pressure by sweeps, then velocities."""

from __future__ import annotations

import numpy as np

from benchmarks.loops.programs.base import Array, LoopProgram

SWEEPS = 5  # of the pressure equation, per step
RHO, NU, DT = 1.0, 0.1, 0.001


def cavity_flow(u: Array, v: Array, p: Array, *, steps: int) -> tuple[Array, Array, Array]:
    """A square cavity whose lid moves: `steps` explicit steps of the Navier-Stokes equations."""
    u, v, p = u.copy(), v.copy(), p.copy()
    h = 2.0 / (u.shape[0] - 1)
    b = np.zeros_like(u)
    for _ in range(steps):
        du_dx, dv_dy = (u[1:-1, 2:] - u[1:-1, :-2]) / (2.0 * h), (v[2:, 1:-1] - v[:-2, 1:-1]) / (2.0 * h)
        du_dy, dv_dx = (u[2:, 1:-1] - u[:-2, 1:-1]) / (2.0 * h), (v[1:-1, 2:] - v[1:-1, :-2]) / (2.0 * h)
        b[1:-1, 1:-1] = RHO * ((du_dx + dv_dy) / DT - du_dx**2 - 2.0 * du_dy * dv_dx - dv_dy**2)
        for _ in range(SWEEPS):
            old = p.copy()
            around = old[1:-1, 2:] + old[1:-1, :-2] + old[2:, 1:-1] + old[:-2, 1:-1]
            p[1:-1, 1:-1] = 0.25 * around - 0.25 * h * h * b[1:-1, 1:-1]
            p[:, -1] = p[:, -2]
            p[0, :] = p[1, :]
            p[:, 0] = p[:, 1]
            p[-1, :] = 0.0
        u_old, v_old = u.copy(), v.copy()
        u[1:-1, 1:-1] = moved(u_old, u_old, v_old, h) - DT / (2.0 * RHO * h) * (p[1:-1, 2:] - p[1:-1, :-2])
        v[1:-1, 1:-1] = moved(v_old, u_old, v_old, h) - DT / (2.0 * RHO * h) * (p[2:, 1:-1] - p[:-2, 1:-1])
        for w in (u, v):
            w[0, :] = 0.0
            w[:, 0] = 0.0
            w[:, -1] = 0.0
            w[-1, :] = 0.0
        u[-1, :] = 1.0
    return u, v, p


def moved(w: Array, u: Array, v: Array, h: float) -> Array:
    """The inner part of `w` after one step of advection by (u, v) and of diffusion."""
    c = w[1:-1, 1:-1]
    carried = u[1:-1, 1:-1] * (c - w[1:-1, :-2]) + v[1:-1, 1:-1] * (c - w[:-2, 1:-1])
    spread = w[1:-1, 2:] + w[1:-1, :-2] + w[2:, 1:-1] + w[:-2, 1:-1] - 4.0 * c
    return c - DT / h * carried + NU * DT / (h * h) * spread


def channel_flow(u: Array, v: Array, force: Array, *, steps: int) -> tuple[Array, Array]:
    """A channel, periodic along x, driven by a force: explicit steps with a pressure found by sweeps."""
    u, v = u.copy(), v.copy()
    h = 2.0 / (u.shape[0] - 1)
    p = np.zeros_like(u)
    for _ in range(steps):
        du_dx = (np.roll(u, -1, 1) - np.roll(u, 1, 1)) / (2.0 * h)
        dv_dx = (np.roll(v, -1, 1) - np.roll(v, 1, 1)) / (2.0 * h)
        du_dy, dv_dy = (u[2:, :] - u[:-2, :]) / (2.0 * h), (v[2:, :] - v[:-2, :]) / (2.0 * h)
        b = (du_dx[1:-1] + dv_dy) / DT - du_dx[1:-1] ** 2 - 2.0 * du_dy * dv_dx[1:-1] - dv_dy**2
        for _ in range(SWEEPS):
            old = p.copy()
            sides = (np.roll(old, -1, 1) + np.roll(old, 1, 1))[1:-1]
            p[1:-1] = 0.25 * (sides + old[2:] + old[:-2]) - 0.25 * RHO * h * h * b
            p[0] = p[1]
            p[-1] = p[-2]
        slope = (np.roll(p, -1, 1) - np.roll(p, 1, 1))[1:-1]
        u_new = turned(u, u, v, h) - DT / (2.0 * RHO * h) * slope + DT * force[1:-1]
        v_new = turned(v, u, v, h) - DT / (2.0 * RHO * h) * (p[2:] - p[:-2])
        u[1:-1], v[1:-1] = u_new, v_new
        for w in (u, v):
            w[0] = 0.0
            w[-1] = 0.0
    return u, v


def turned(w: Array, u: Array, v: Array, h: float) -> Array:
    """As `moved`, where the columns close into a ring."""
    west, east, c = np.roll(w, 1, 1)[1:-1], np.roll(w, -1, 1)[1:-1], w[1:-1]
    carried = u[1:-1] * (c - west) + v[1:-1] * (c - w[:-2])
    return c - DT / h * carried + NU * DT / (h * h) * (east + west + w[2:] + w[:-2] - 4.0 * c)


def _fields(count: int):
    return lambda rng, n, steps: tuple(rng.uniform(-0.1, 0.1, (n, n)) for _ in range(count))


SIZES = ({"n": 21, "steps": 20}, {"n": 41, "steps": 20}, {"n": 81, "steps": 20})
TRIPS = tuple({"n": 41, "steps": t} for t in (2, 5, 10, 20, 50))
SMALL = {"n": 6, "steps": 2}

PROGRAMS = (
    LoopProgram(cavity_flow, _fields(3), (0, 1, 2), SMALL, SIZES, TRIPS, ("steps",)),
    LoopProgram(channel_flow, _fields(3), (0, 1, 2), SMALL, SIZES, TRIPS, ("steps",)),
)
