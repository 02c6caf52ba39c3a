"""The programs compiled by numba: as they are, keywords made positional; explicit loops for the four that
use what numba does not have, `np.roll` along an axis and means along one.

Sums may be in any order, as Pliant's and the C code's are; divisions are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import FunctionType
from typing import Any, Final

import numba
import numpy as np

from benchmarks.loops.programs import LoopProgram
from benchmarks.loops.programs.flows import DT, NU, RHO, SWEEPS

ARITHMETIC: Final = {"reassoc", "nsz", "contract"}
Array = Any


@lru_cache
def compiled(fn: Callable[..., Any]) -> Any:
    """A function of this benchmark, and those that it calls, compiled when first called with arrays of a rank."""
    plain = VERSIONS.get(fn.__name__, fn)
    assert isinstance(plain, FunctionType)
    code = plain.__code__
    positional = code.replace(co_argcount=code.co_argcount + code.co_kwonlyargcount, co_kwonlyargcount=0)
    names = plain.__globals__
    called = {n: compiled(names[n]) for n in code.co_names if isinstance(names.get(n), FunctionType)}
    return numba.njit(fastmath=ARITHMETIC)(FunctionType(positional, {**names, **called}, plain.__name__))


def call_of(program: LoopProgram, size: dict[str, int], xs: tuple[Array, ...]) -> Callable[[], Any]:
    """A call of the compiled program, which returns a tuple."""
    fn, settings = compiled(program.fn), [size[key] for key in program.static]

    def call() -> tuple[Any, ...]:
        made = fn(*xs, *settings)
        return made if isinstance(made, tuple) else (made,)

    return call


def channel_flow(u: Array, v: Array, force: Array, *, steps: int) -> tuple[Array, Array]:
    """The flow in a channel, point by point."""
    u, v = u.copy(), v.copy()
    n, m = u.shape
    h = 2.0 / (n - 1)
    p, b, old = np.zeros_like(u), np.zeros_like(u), np.zeros_like(u)
    u_old, v_old = u.copy(), v.copy()
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(m):
                west, east = (j - 1) % m, (j + 1) % m
                du_dx, dv_dx = (u[i, east] - u[i, west]) / (2.0 * h), (v[i, east] - v[i, west]) / (2.0 * h)
                du_dy, dv_dy = (u[i + 1, j] - u[i - 1, j]) / (2.0 * h), (v[i + 1, j] - v[i - 1, j]) / (2.0 * h)
                b[i, j] = (du_dx + dv_dy) / DT - du_dx**2 - 2.0 * du_dy * dv_dx - dv_dy**2
        for _ in range(SWEEPS):
            old, p = p, old
            for i in range(1, n - 1):
                for j in range(m):
                    sides = old[i, (j + 1) % m] + old[i, (j - 1) % m]
                    p[i, j] = 0.25 * (sides + old[i + 1, j] + old[i - 1, j]) - 0.25 * RHO * h * h * b[i, j]
            p[0] = p[1]
            p[-1] = p[-2]
        u_old, u, v_old, v = u, u_old, v, v_old
        for i in range(1, n - 1):
            for j in range(m):
                west, east = (j - 1) % m, (j + 1) % m
                push = DT / (2.0 * RHO * h)
                slope = p[i, east] - p[i, west]
                u[i, j] = turned(u_old, u_old, v_old, h, i, j) - push * slope + DT * force[i, j]
                v[i, j] = turned(v_old, u_old, v_old, h, i, j) - push * (p[i + 1, j] - p[i - 1, j])
        u[0], u[-1], v[0], v[-1] = 0.0, 0.0, 0.0, 0.0
    return u, v


def turned(w: Array, u: Array, v: Array, h: float, i: int, j: int) -> float:
    """One point after a step of advection and of diffusion; columns close into a ring."""
    c, west, east = w[i, j], w[i, j - 1], w[i, (j + 1) % w.shape[1]]
    carried = u[i, j] * (c - west) + v[i, j] * (c - w[i - 1, j])
    return c - DT / h * carried + NU * DT / (h * h) * (east + west + w[i + 1, j] + w[i - 1, j] - 4.0 * c)


def covariance(x: Array) -> Array:
    """The covariance matrix of the columns, means by a loop."""
    n, m = x.shape
    mean = np.zeros(m)
    for i in range(n):
        mean += x[i]
    x = x - mean / n
    out = np.zeros((m, m))
    for i in range(m):
        out[i, i:] = x[:, i] @ x[:, i:] / (n - 1.0)
        out[i:, i] = out[i, i:]
    return out


def correlation(x: Array) -> Array:
    """The correlation matrix of the columns, moments by loops."""
    n, m = x.shape
    mean, square = np.zeros(m), np.zeros(m)
    for i in range(n):
        mean += x[i]
    mean /= n
    for i in range(n):
        square += (x[i] - mean) ** 2
    scale = np.sqrt(square / n)
    scale[scale <= 0.1] = 1.0
    x = (x - mean) / (np.sqrt(float(n)) * scale)
    out = np.eye(m)
    for i in range(m - 1):
        out[i, i + 1 :] = x[:, i] @ x[:, i + 1 :]
        out[i + 1 :, i] = out[i, i + 1 :]
    return out


def gray_scott(u: Array, v: Array, *, steps: int) -> tuple[Array, Array]:
    """Reaction and diffusion on a torus, point by point."""
    feed, kill, spread_u, spread_v = 0.04, 0.06, 0.16, 0.08
    u, v = u.copy(), v.copy()
    u_new, v_new = np.empty_like(u), np.empty_like(v)
    n, m = u.shape
    for _ in range(steps):
        for i in range(n):
            for j in range(m):
                here, there = u[i, j], v[i, j]
                reaction = here * there * there
                u_new[i, j] = here + spread_u * laplacian(u, i, j) - reaction + feed * (1.0 - here)
                v_new[i, j] = there + spread_v * laplacian(v, i, j) + reaction - (feed + kill) * there
        u, u_new, v, v_new = u_new, u, v_new, v
    return u, v


def laplacian(x: Array, i: int, j: int) -> float:
    """The sum of the four neighbours' differences at a point of a torus."""
    below, right = (i + 1) % x.shape[0], (j + 1) % x.shape[1]
    return x[i - 1, j] + x[below, j] + x[i, j - 1] + x[i, right] - 4.0 * x[i, j]


VERSIONS: dict[str, Callable[..., Any]] = {f.__name__: f for f in (channel_flow, covariance, correlation, gray_scott)}
