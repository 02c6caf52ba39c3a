"""What a function reads from outside: arrays found and replaced wherever they are."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

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
