"""What a function reads from outside: arrays found and replaced wherever they are."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import pliant
import pliant.diff as diff
from pliant.diff.captured import outside, rebound
from tests.diff.systems import every_system

GLOBAL = np.array([1.0, 2.0])
X = np.array([0.5, 1.0])


class Model:
    def __init__(self, weights: Any) -> None:
        self.weights = weights

    def loss(self, x: Any) -> Any:
        xp = diff.namespace(x)
        return xp.sum(xp.asarray(self.weights) * x)


def with_global(x: Any) -> Any:
    xp = diff.namespace(x)
    return xp.sum(xp.asarray(GLOBAL) * x)


def with_default(x: Any, w: Any = GLOBAL) -> Any:
    xp = diff.namespace(x)
    return xp.sum(xp.asarray(w) * x)


def through_another(x: Any) -> Any:
    return with_global(x)


PARAMETERS = {"w": [GLOBAL]}


def in_a_container(x: Any) -> Any:
    xp = diff.namespace(x)
    return xp.sum(xp.asarray(PARAMETERS["w"][0]) * x)


def factor(c: float) -> Any:
    def f(x: Any) -> Any:
        return diff.namespace(x).sum(c * x)

    def set_to(new: float) -> None:
        nonlocal c
        c = new

    return f, set_to


FUNCTIONS = [
    with_global, with_default, through_another, in_a_container, Model(GLOBAL).loss,
    functools.partial(with_default, w=GLOBAL),
]  # fmt: skip
NAMES = ["global", "default", "function", "container", "method", "partial"]


@pytest.mark.parametrize("f", FUNCTIONS, ids=NAMES)
def test_arrays_are_found_and_replaced(f: Any):
    arrays = outside(f).arrays
    assert any(a is GLOBAL for a in arrays)
    new = [np.array([5.0, 6.0]) if a is GLOBAL else a for a in arrays]
    assert rebound(f, arrays, new)(np.ones(2)) == 11.0
    assert f(np.ones(2)) == np.sum(GLOBAL)


@every_system
@pytest.mark.parametrize("f", FUNCTIONS, ids=NAMES)
def test_every_kind_of_captured_array_is_read_again(system: Any, f: Any):
    before = GLOBAL.copy()
    try:
        np.testing.assert_allclose(diff.gradient(f, system, X), GLOBAL, rtol=1e-6)
        GLOBAL[0] = 7.0
        np.testing.assert_allclose(diff.gradient(f, system, X), GLOBAL, rtol=1e-6)
    finally:
        GLOBAL[:] = before


@every_system
def test_a_captured_number_that_changes_is_seen(system: Any):
    f, set_to = factor(2.0)
    np.testing.assert_allclose(diff.gradient(f, system, X), [2.0, 2.0], rtol=1e-6)
    set_to(3.0)
    np.testing.assert_allclose(diff.gradient(f, system, X), [3.0, 3.0], rtol=1e-6)


@pytest.mark.jax
def test_arrays_of_jax_that_are_captured_are_read_again():
    import jax.numpy as jnp

    held = [jnp.asarray([1.0, 2.0])]
    prep = diff.prepare_gradient(lambda x: jnp.sum(held[0] * x), diff.JAX(), np.ones(2))
    np.testing.assert_array_equal(prep(np.ones(2)), [1.0, 2.0])
    held[0] = jnp.asarray([5.0, 2.0])
    np.testing.assert_array_equal(prep(np.ones(2)), [5.0, 2.0])


OURS = diff.Pliant()
SEVERAL = {
    "jacobian": lambda f, x: diff.jacobian(f, OURS, x),
    "in rows": lambda f, x: diff.jacobian(f, diff.Pliant("reverse"), x),
    "value and jacobian": lambda f, x: diff.value_and_jacobian(f, OURS, x)[1],
    "sparse": lambda f, x: diff.jacobian(f, diff.Sparse(OURS), x).toarray(),
    "pushforward": lambda f, x: np.stack(diff.pushforward(f, OURS, x, tuple(np.eye(3))), -1),
    "pullback": lambda f, x: np.stack(diff.pullback(f, OURS, x, tuple(np.eye(3)))),
    "hessian": lambda f, x: diff.hessian(lambda x: np.sum(f(x) * x) / 2, OURS, x),
    "sparse hessian": lambda f, x: diff.hessian(lambda x: np.sum(f(x) * x) / 2, diff.Sparse(OURS), x).toarray(),
    "products": lambda f, x: np.stack(diff.hvp(lambda x: np.sum(f(x) * x) / 2, OURS, x, tuple(np.eye(3)))),
}


@pytest.mark.parametrize("several", SEVERAL.values(), ids=SEVERAL)
def test_columns_of_one_derivative_are_those_of_one_draw(several: Any):
    rng, expected = np.random.default_rng(1), np.random.default_rng(1)

    def f(x: Any) -> Any:
        return x * rng.random(3)

    for _ in range(2):
        got = several(f, np.arange(1.0, 4.0))
        np.testing.assert_allclose(got, np.diag(expected.random(3)), rtol=1e-12)
        assert rng.bit_generator.state == expected.bit_generator.state


def test_what_f_prints_is_printed_once(capsys: Any):
    def f(x: Any) -> Any:
        print("at", x[0])
        return np.sum(x**2)

    for derivative in (diff.jacobian, diff.hessian, diff.gradient):
        for first in (1.0, 2.0):
            derivative(f, diff.Pliant(), np.array([first, 5.0]))
            assert capsys.readouterr().out == f"at {first}\n"


def test_what_f_counts_is_counted_once_and_taken_back():
    class Counter:
        n = 0

    counter = Counter()

    def f(x: Any) -> Any:
        counter.n += 1
        return x**2 * counter.n

    x = np.arange(1.0, 4.0)
    np.testing.assert_allclose(diff.jacobian(f, diff.Pliant(), x), pliant.jacobian(f)(x))
    np.testing.assert_allclose(diff.hessian(lambda x: np.sum(f(x)), diff.Pliant(), x), 2 * np.eye(3))
    assert counter.n == 0


@pytest.mark.parametrize("made", [np.random.default_rng, np.random.RandomState])
def test_generators_are_constants_that_are_drawn_from_at_every_call(made: Any):
    def f(x: Any, c: Any) -> Any:
        return np.sum(c["w"] * x**2 * c["rng"].uniform(size=3))

    rng, expected, x = made(1), made(1), np.arange(1.0, 4.0)
    constant = diff.Constant({"w": 3.0, "rng": rng})
    for _ in range(3):
        np.testing.assert_allclose(diff.gradient(f, OURS, x, constant), 6 * x * expected.uniform(size=3))
    prep = diff.prepare_hessian(f, OURS, x, constant)
    for _ in range(2):
        np.testing.assert_allclose(diff.hessian(f, OURS, x, constant, prep=prep), np.diag(6 * expected.uniform(size=3)))
