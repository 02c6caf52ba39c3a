"""Integers among the contexts that Pliant has to know: each value is its own problem."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.diff import (
    JAX,
    Constant,
    FromProgram,
    Pliant,
    Sparse,
    gradient,
    jacobian,
    prepare_gradient,
    prepare_jacobian,
)
from pliant.errors import ArgumentError

X = np.linspace(0.5, 2.0, 6)


def blocks(x: Any, n: Any) -> Any:
    return x.reshape(n, -1).prod(0)


def rolled(x: Any, n: Any) -> Any:
    return np.roll(x, n) * x


def loss(x: Any, n: Any) -> Any:
    return np.sum(blocks(x, n) ** 2)


def test_gradients_for_each_value_with_one_preparation() -> None:
    prep = prepare_gradient(loss, Pliant(), X, Constant(2))
    for n in (2, 3, 2, 6):
        want = pliant.grad(lambda x, n=n: loss(x, n))(X)
        np.testing.assert_allclose(gradient(loss, Pliant(), X, Constant(n)), want)
        np.testing.assert_allclose(gradient(loss, Pliant(), X, Constant(n), prep=prep), want)


@pytest.mark.parametrize("f", [blocks, rolled])
def test_patterns_are_those_of_the_value(f: Any) -> None:
    system = Sparse(Pliant(), FromProgram())
    prep = prepare_jacobian(f, system, X, Constant(2))
    for n in (2, 3, 1):
        want = pliant.jacobian(lambda x, n=n: f(x, n))(X)
        np.testing.assert_allclose(jacobian(f, system, X, Constant(n)).toarray(), want)
        np.testing.assert_allclose(jacobian(f, system, X, Constant(n), prep=prep).toarray(), want)


@pytest.mark.jax
def test_a_program_for_another_library_is_one_for_all_values() -> None:
    with pytest.raises(ArgumentError, match=r"has to know an integer argument, 2\n(.|\n)*hint: fix it"):
        gradient(loss, JAX(plain=True), X, Constant(2))
    np.testing.assert_allclose(gradient(lambda x: loss(x, 2), JAX(plain=True), X), pliant.grad(loss)(X, 2))
