"""Thirty small programs that write in place: optimisers, stencils, sums, sorts, indices, loops."""

# ruff: noqa: D103 (each function has its name in the table)

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.memory.programs import SMALL, Arrays, Program, ramp

ROWS = 300


def matrix() -> Any:
    """A square matrix."""
    return ramp(ROWS * ROWS).reshape(ROWS, ROWS)


def sgd(params: Any, grads: Any) -> None:
    for name in params:
        params[name] -= 0.1 * grads[name]


def momentum(params: Any, speed: Any, grads: Any) -> None:
    for name in params:
        speed[name] *= 0.9
        speed[name] += grads[name]
        params[name] -= 0.1 * speed[name]


def adam(params: Any, mean: Any, square: Any, grads: Any) -> None:
    for name in params:
        g = grads[name]
        mean[name] += 0.1 * (g - mean[name])
        square[name] += 0.001 * (g * g - square[name])
        params[name] -= 0.01 * mean[name] / (np.sqrt(square[name]) + 1e-8)


def adagrad(w: Any, total: Any, g: Any) -> None:
    total += g * g
    w -= 0.1 * g / np.sqrt(total + 1e-8)


def heat(u: Any) -> None:
    u[1:-1] += 0.1 * (u[:-2] - 2 * u[1:-1] + u[2:])


def heat_rows(u: Any) -> None:
    u[1:-1, 1:-1] += 0.1 * (u[:-2, 1:-1] + u[2:, 1:-1] - 2 * u[1:-1, 1:-1])


def laplace(u: Any) -> None:
    u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])


def upwind(u: Any) -> None:
    u[1:] -= 0.2 * (u[1:] - u[:-1])


def downwind(u: Any) -> None:
    u[:-1] -= 0.2 * (u[:-1] - u[1:])


def delay_line(x: Any, y: Any) -> None:
    x[:-1] = x[1:]
    x[-1] = y


def ping_pong(a: Any, b: Any) -> None:
    for _ in range(10):
        b[1:-1] = 0.5 * (a[:-2] + a[2:])
        a, b = b, a


def leapfrog(q: Any, p: Any) -> None:
    for _ in range(5):
        p -= 0.05 * q
        q += 0.1 * p
        p -= 0.05 * q


def running_sum(x: Any) -> None:
    np.cumsum(x, out=x)


def sort_in_place(x: Any) -> None:
    x.sort()


def normalise(x: Any) -> None:
    x -= x.mean()
    x /= np.sqrt((x * x).mean() + 1e-8)


def normalise_rows(x: Any) -> None:
    x /= np.sqrt((x * x).sum(1, keepdims=True) + 1e-8)


def clip(x: Any) -> None:
    np.clip(x, 0.1, 0.9, out=x)


def relu(x: Any) -> None:
    np.maximum(x - 0.5, 0, out=x)


def masked(x: Any) -> None:
    x[x > 0.5] = 0.5


def scatter(x: Any, i: Any, u: Any) -> None:
    x[i] = u


def add_at(x: Any, i: Any, u: Any) -> None:
    np.add.at(x, i, u)


def column(x: Any) -> None:
    x[:, 0] = x[:, 1] + x[:, 2]


def swap_rows(x: Any) -> None:
    x[0], x[1] = x[1].copy(), x[0].copy()


def outer_update(a: Any, x: Any, y: Any) -> None:
    a += np.outer(x, y)


def product_update(g: Any, a: Any, b: Any) -> None:
    g += a @ b


def views_of_flat(flat: Any) -> None:
    w, b = flat[:90000].reshape(300, 300), flat[90000:]
    w *= 0.9
    b += 1


def complex_parts(z: Any) -> None:
    z.real *= 0.5
    z.imag += 1


def where_out(x: Any, y: Any) -> None:
    x[...] = np.where(x > y, x - y, y)


def sines(x: Any) -> Any:
    return np.sin(x) * x + 1


def two_results(x: Any) -> Any:
    return np.exp(-x), x * x


def tree() -> dict[str, Any]:
    """Parameters by name."""
    return {"w": matrix(), "b": ramp()}


def indices() -> Any:
    """Places in no order, none twice."""
    return np.arange(SMALL) * 7919 % SMALL


def pair() -> Arrays:
    """Two arrays."""
    return ramp(), ramp() + 1


SMALL_PROGRAMS = [
    Program("SGD over a pytree", sgd, lambda: (tree(), tree())),
    Program("momentum over a pytree", momentum, lambda: (tree(), tree(), tree())),
    Program("Adam over a pytree", adam, lambda: (tree(), tree(), tree(), tree())),
    Program("Adagrad", adagrad, lambda: (ramp(), ramp(), ramp())),
    Program("heat, one step", heat, lambda: (ramp(),)),
    Program("heat over rows", heat_rows, lambda: (matrix(),)),
    Program("Laplace, 2-D", laplace, lambda: (matrix(),)),
    Program("upwind", upwind, lambda: (ramp(),)),
    Program("downwind", downwind, lambda: (ramp(),)),
    Program("delay line", delay_line, lambda: (ramp(), 2.0)),
    Program("ping-pong of two arrays", ping_pong, pair),
    Program("leapfrog", leapfrog, pair),
    Program("cumsum in place", running_sum, lambda: (ramp() / 1e6,)),
    Program("sort in place", sort_in_place, lambda: (ramp(),)),
    Program("normalise", normalise, lambda: (ramp(),)),
    Program("normalise rows", normalise_rows, lambda: (matrix(),)),
    Program("clip in place", clip, lambda: (ramp(),)),
    Program("rectifier in place", relu, lambda: (ramp(),)),
    Program("masked assignment", masked, lambda: (ramp(),)),
    Program("scatter", scatter, lambda: (ramp(), indices(), ramp())),
    Program("np.add.at", add_at, lambda: (ramp(), indices(), ramp() / 1e6)),
    Program("a column from others", column, lambda: (matrix(),)),
    Program("swap rows", swap_rows, lambda: (matrix(),)),
    Program("A += outer(x, y)", outer_update, lambda: (matrix(), ramp(ROWS), ramp(ROWS))),
    Program("G += A @ B", product_update, lambda: (matrix(), matrix() / 1e6, matrix())),
    Program("views of a flat vector", views_of_flat, lambda: (ramp(),)),
    Program("real and imaginary parts", complex_parts, lambda: (ramp() + 1j,)),
    Program("x[...] = where(…)", where_out, pair),
    Program("sin(x)*x + 1, out=", sines, lambda: (ramp(),), lambda: np.empty(SMALL)),
    Program("two results, out=", two_results, lambda: (ramp(),), lambda: (np.empty(SMALL), np.empty(SMALL))),
    Program("sin(x)*x + 1, a new array", sines, lambda: (ramp(),), None, 8 * SMALL),
]
