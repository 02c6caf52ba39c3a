"""The programs as one writes them for JAX: loops by `fori_loop` and `scan`, updates by `.at`, masks
where bounds depend on an index. Each returns the results of the NumPy program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
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


def lu(a: Array) -> Array:
    """Doolittle's elimination, rows masked to what is known."""
    n = a.shape[0]
    places = jnp.arange(n)

    def row(i: Any, a: Array) -> Array:
        def left(j: Any, line: Array) -> Array:
            known = jnp.where(places < j, line, 0.0) @ a[:, j]
            return line.at[j].set(jnp.where(j < i, (line[j] - known) / a[j, j], line[j]))

        line = lax.fori_loop(0, n, left, a[i])
        known = jnp.where(places < i, line, 0.0) @ a
        return a.at[i].set(jnp.where(places >= i, line - known, line))

    return lax.fori_loop(0, n, row, a)


def cholesky(a: Array) -> Array:
    """The Cholesky factor, rows masked to what is known."""
    n = a.shape[0]
    places = jnp.arange(n)

    def row(i: Any, a: Array) -> Array:
        def left(j: Any, line: Array) -> Array:
            known = jnp.where(places < j, line, 0.0) @ a[j]
            return line.at[j].set(jnp.where(j < i, (line[j] - known) / a[j, j], line[j]))

        line = lax.fori_loop(0, n, left, a[i])
        inner = jnp.where(places < i, line, 0.0)
        return a.at[i].set(line.at[i].set(jnp.sqrt(line[i] - inner @ inner)))

    return lax.fori_loop(0, n, row, a)


def trisolv(lower: Array, b: Array) -> Array:
    """Forward substitution; what is not known yet is still zero."""

    def row(i: Any, x: Array) -> Array:
        return x.at[i].set((b[i] - lower[i] @ x) / lower[i, i])

    return lax.fori_loop(0, b.shape[0], row, jnp.zeros_like(b))


def gramschmidt(a: Array) -> tuple[Array, Array]:
    """The modified Gram-Schmidt method, a `scan` over columns."""
    n = a.shape[1]
    places = jnp.arange(n)

    def column(a: Array, k: Any) -> Any:
        size = jnp.sqrt(a[:, k] @ a[:, k])
        q = a[:, k] / size
        r = jnp.where(places > k, q @ a, 0.0)
        return a - q[:, None] * r[None, :], (q, r.at[k].set(size))

    q, r = lax.scan(column, a, places)[1]
    return q.T, r


def durbin(r: Array) -> Array:
    """Durbin's recursion on arrays of full length, masked."""
    n = r.shape[0]
    places = jnp.arange(n)

    def step(k: Any, state: Any) -> Any:
        y, alpha, beta = state
        beta = (1.0 - alpha * alpha) * beta
        turned = jnp.where(places < k, jnp.roll(jnp.flip(y), k), 0.0)
        known = jnp.where(places < k, jnp.roll(jnp.flip(r), k), 0.0)
        alpha = -(r[k] + known @ y) / beta
        return (y + alpha * turned).at[k].set(alpha), alpha, beta

    start = jnp.zeros_like(r).at[0].set(-r[0])
    return lax.fori_loop(1, n, step, (start, -r[0], jnp.ones(())))[0]


def floyd_warshall(distance: Array) -> Array:
    """Shortest paths, a loop over the nodes between."""

    def step(k: Any, d: Array) -> Array:
        return jnp.minimum(d, d[:, k, None] + d[None, k, :])

    return lax.fori_loop(0, distance.shape[0], step, distance)


def syr2k(a: Array, b: Array, c: Array) -> Array:
    """The rank-2k update as two products."""
    product = a @ b.T
    return jnp.where(jnp.tri(c.shape[0], dtype=bool), 1.2 * c + 1.5 * (product + product.T), c)


def deriche(image: Array) -> Array:
    """Deriche's filter, four `scan`s over rows of the image or of its transpose."""
    alpha = 0.25
    e, e2 = jnp.exp(-alpha), jnp.exp(-2.0 * alpha)
    k = (1.0 - e) ** 2 / (1.0 + 2.0 * alpha * e - e2)
    a1, a2, a3, a4 = k, k * e * (alpha - 1.0), k * e * (alpha + 1.0), -k * e2
    b1, b2 = 2.0 ** (-alpha), -e2

    def rows(x: Array) -> Array:
        zero = jnp.zeros_like(x[0])

        def ahead(state: Any, x: Array) -> Any:
            before, y1, y2 = state
            y = a1 * x + a2 * before + b1 * y1 + b2 * y2
            return (x, y, y1), y

        def back(state: Any, x: Array) -> Any:
            x1, x2, y1, y2 = state
            y = a3 * x1 + a4 * x2 + b1 * y1 + b2 * y2
            return (x, x1, y, y1), y

        first = lax.scan(ahead, (zero, zero, zero), x)[1]
        return first + lax.scan(back, (zero, zero, zero, zero), x, reverse=True)[1]

    return rows(rows(image.T).T)


def rnn(inputs: Array, target: Array, w_in: Array, w_state: Array, bias: Array) -> Array:
    """A recurrent network, a `scan` over the sequence."""

    def step(state: Array, row: Any) -> Any:
        x, y = row
        state = jnp.tanh(x @ w_in + state @ w_state + bias)
        return state, jnp.sum((state - y) ** 2)

    return jnp.sum(lax.scan(step, jnp.zeros_like(target[0]), (inputs, target))[1]) / target.size


def lstm(inputs: Array, target: Array, w_in: Array, w_state: Array, bias: Array) -> Array:
    """A long short-term memory network, a `scan` over the sequence."""
    n = target.shape[-1]

    def step(state: Any, row: Any) -> Any:
        (hidden, cell), (x, y) = state, row
        gates = x @ w_in + hidden @ w_state + bias
        keep, enter, leave = (jax.nn.sigmoid(gates[:, n * g : n * (g + 1)]) for g in range(3))
        cell = keep * cell + enter * jnp.tanh(gates[:, 3 * n :])
        hidden = leave * jnp.tanh(cell)
        return (hidden, cell), jnp.sum((hidden - y) ** 2)

    zero = jnp.zeros_like(target[0])
    return jnp.sum(lax.scan(step, (zero, zero), (inputs, target))[1]) / target.size


def garch(parameters: Array, returns: Array) -> Array:
    """The likelihood of GARCH(1, 1), a `scan` over returns."""
    omega, alpha, beta, first = parameters

    def step(state: Any, x: Any) -> Any:
        total, variance = state
        total = total + 0.5 * (jnp.log(variance) + x**2 / variance)
        return (total, omega + alpha * x**2 + beta * variance), None

    return lax.scan(step, (0.0, first), returns)[0][0]


def kalman(observed: Array, transition: Array, view: Array, noise: Array, spread: Array) -> Array:
    """A Kalman filter's likelihood, a `scan` over observations."""
    n = transition.shape[0]

    def step(state: Any, seen: Any) -> Any:
        mean, cov, total = state
        mean = transition @ mean
        cov = transition @ cov @ transition.T + noise @ noise.T
        gap = seen - view @ mean
        size = view @ cov @ view + spread * spread
        gain = cov @ view / size
        total = total + 0.5 * (jnp.log(2.0 * jnp.pi * size) + gap * gap / size)
        return (mean + gain * gap, cov - jnp.outer(gain, view @ cov), total), None

    return lax.scan(step, (jnp.zeros(n), jnp.eye(n), 0.0), observed)[0][2]


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


VERSIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        jacobi_1d, jacobi_2d, heat_3d, seidel_2d, fdtd_2d, lu, cholesky, trisolv, gramschmidt, durbin, floyd_warshall,
        syr2k, deriche, rnn, lstm, garch, kalman, nbody, rk4, gray_scott, mandelbrot,
    )
}  # fmt: skip
