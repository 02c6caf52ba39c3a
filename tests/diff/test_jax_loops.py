"""Loops of plain functions that JAX differentiates: those that may end early, and those of an unknown number of steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant.diff as diff
from pliant.errors import UnsupportedError

X = np.array([0.7, 0.4])
pytestmark = pytest.mark.jax


def ending(x: Any) -> Any:
    for i in range(5):
        if x[i % 2] > 2:
            break
        x = x * 1.5
    return np.sum(x)


def growing(x: Any) -> Any:
    while np.sum(x) < 100:
        x = x * 1.5
    return np.sum(x)


def test_loops_that_may_end_early_have_reverse_mode():
    made = diff.gradient(ending, diff.JAX(plain=True), X)
    np.testing.assert_allclose(made, diff.gradient(ending, diff.Pliant(), X))


def test_loops_of_an_unknown_number_of_steps_have_forward_mode_alone():
    system = diff.JAX("forward", plain=True)
    np.testing.assert_allclose(diff.jacobian(growing, system, X), diff.gradient(growing, diff.Pliant(), X))
    for call in (
        lambda: diff.gradient(growing, system, X),
        lambda: diff.prepare_pullback_same_point(growing, system, X, (1.0,))((1.0,)),
    ):
        with pytest.raises(UnsupportedError, match="JAX has no reverse mode of a loop whose number of steps") as caught:
            call()
        assert "hint: use Pliant(); or forward mode" in str(caught.value)
