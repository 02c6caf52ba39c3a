"""Plain NumPy functions on JAX and PyTorch, through Pliant's program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
import pliant.diff as diff
from pliant.diff import Active, Cache, Constant, Pliant

X = np.array([0.1, 0.2, 0.3, 0.4])
WEIGHTS = np.array([1.0, -1.0, 2.0, 0.5])
SYSTEMS = [
    pytest.param(diff.JAX(plain=True), id="JAX", marks=pytest.mark.jax),
    pytest.param(diff.PyTorch(plain=True), id="PyTorch", marks=pytest.mark.torch),
]
both = pytest.mark.parametrize("system", SYSTEMS)


def mutating(x: Any) -> Any:
    y = np.zeros(4)
    y[1:] = x[:-1] * 2
    y += WEIGHTS
    return np.sum(np.sin(y) * x)


def reducing(x: Any) -> Any:
    return np.max(x) * np.mean(x) + np.linalg.norm(x) + np.log1p(np.exp(x)).sum()


def moving(x: Any) -> Any:
    m = np.outer(x, np.roll(x, 1)).reshape(2, 2, 4)
    return np.sum(np.concatenate([m, m[::-1]], axis=1).transpose(2, 0, 1)[np.array([0, 2, 2])] ** 2)


def choosing(x: Any) -> Any:
    return np.sum(np.where(x > 0.25, x**3, -x) * np.cumsum(x))


def multiplying(x: Any) -> Any:
    m = x.reshape(2, 2)
    return np.sum(np.einsum("ij,kj->ik", m, m) @ m) + np.dot(x, WEIGHTS) * np.trace(m)


def looping(x: Any) -> Any:
    c, ys = pliant.scan(lambda c, r: (c * r + 1.0, c * c), x[0], np.concatenate([x, x, x, x, x]))
    return c + np.sum(ys) + np.sum(pliant.fori_loop(0, 30, lambda i, u: np.sin(u) * x, x))


def branching(x: Any) -> Any:
    return pliant.cond(x[0] > 0.05, lambda u: np.sum(u**2), lambda u: np.sum(u), x)


def scattering(x: Any) -> Any:
    summed, last = np.zeros(4), np.zeros(4)
    np.add.at(summed, TWICE, x)
    last[TWICE] = x * 2  # of two writes to one place the last one counts
    return np.sum(summed**2) + np.sum(last * x)


def sorting(x: Any) -> Any:
    return np.sum(np.sort(x)[::-1] * np.arange(4.0)) + np.max(x) * np.prod(x.reshape(2, 2))


TWICE = np.array([0, 2, 2, 1])
FUNCTIONS = [multiplying, mutating, reducing, moving, choosing, looping, branching, scattering, sorting]


@both
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_gradient_of_plain_numpy_equals_pliants(system: Any, f: Any):
    y, g = diff.value_and_gradient(f, system, X)
    assert type(y) is np.float64
    np.testing.assert_allclose(y, f(X), rtol=1e-12)
    np.testing.assert_allclose(g, diff.gradient(f, Pliant(), X), rtol=1e-10, atol=1e-12)


@both
@pytest.mark.parametrize("f", [mutating, choosing], ids=lambda f: f.__name__)
def test_hessian_of_plain_numpy_equals_pliants(system: Any, f: Any):
    np.testing.assert_allclose(diff.hessian(f, system, X), diff.hessian(f, Pliant(), X), rtol=1e-9, atol=1e-10)


@both
def test_forward_mode_of_a_while_loop(system: Any):
    def f(x: Any) -> Any:
        return np.sum(pliant.while_loop(lambda u: np.sum(u) < 3.0, lambda u: u * (1 + x), x))

    np.testing.assert_allclose(diff.jvp(f, system, X, X), diff.jvp(f, Pliant(), X, X), rtol=1e-12)


@both
def test_contexts_and_memory_are_inside_the_program(system: Any):
    def f(y: Any, x: Any, c: Any, b: Any, w: Any) -> Any:
        b[:] = c * x
        y[:2], y[2:] = b[:2] * w, b[2:]
        return {"b": b + 1, "name": "f"}

    y = np.zeros(4)
    (made, aux), (jx, jw) = diff.value_and_jacobian(
        f, system, X, Constant(2.0), Cache(np.zeros(4)), Active(3.0), y=y, has_aux=True
    )
    assert made is y
    assert aux["name"] == "f"
    np.testing.assert_allclose(aux["b"], 2 * X + 1)
    np.testing.assert_allclose(jx, np.diag([6.0, 6.0, 2.0, 2.0]))
    np.testing.assert_allclose(jw, [0.2, 0.4, 0.0, 0.0])


@both
def test_captured_arrays_are_inputs(system: Any):
    weights = np.ones(4)

    def f(x: Any) -> Any:
        return np.sum(weights * x)

    np.testing.assert_array_equal(diff.gradient(f, system, X), weights)
    weights[0] = 5.0
    np.testing.assert_array_equal(diff.gradient(f, system, X), weights)
    weights = np.full(4, 7.0)
    np.testing.assert_array_equal(diff.gradient(f, system, X), weights)


@both
@pytest.mark.parametrize("f", [lambda x: (x, x), lambda x: (x[:2], x[1:], x)])
def test_results_share_no_memory(system: Any, f: Any):
    x = np.ones(3)
    ys, pushed = diff.value_and_pushforward(f, system, x, (x, 2 * x))
    _, pulled = diff.value_and_pullback(f, system, x, (ys, ys))
    arrays = [*ys, *pushed[0], *pushed[1], *pulled]
    shared = [(m, n) for n, a in enumerate(arrays) for m, b in enumerate(arrays[:n]) if np.shares_memory(a, b)]
    assert shared == []
