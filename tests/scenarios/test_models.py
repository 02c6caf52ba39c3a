"""Whole models from NumPy to Hessians and batches: every transformation agrees with NumPy and with the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from tests.scenarios.models import MODELS

EACH = pytest.mark.parametrize(("model", "shape"), MODELS, ids=[model.__name__ for model, _ in MODELS])


def point(shape: tuple[int, ...]) -> Any:
    return np.random.default_rng(0).standard_normal(shape)


def differences(f: Any, x: Any, step: float = 1e-6) -> Any:
    """The gradient by central differences."""
    gradient = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[i] += step
        down[i] -= step
        gradient[i] = (f(up) - f(down)) / (2 * step)
    return gradient


@EACH
def test_value_is_numpys(model: Any, shape: tuple[int, ...]) -> None:
    x = point(shape)
    np.testing.assert_allclose(pliant.jit(model)(x), model(x), rtol=1e-12)


@EACH
def test_gradient_is_that_of_differences(model: Any, shape: tuple[int, ...]) -> None:
    x = point(shape)
    np.testing.assert_allclose(pliant.grad(model)(x), differences(model, x), rtol=1e-5, atol=1e-6)


@EACH
def test_caller_keeps_its_array(model: Any, shape: tuple[int, ...]) -> None:
    x = point(shape)
    pliant.value_and_grad(model)(x)
    np.testing.assert_array_equal(x, point(shape))


@EACH
def test_hessian_times_vector_is_their_product(model: Any, shape: tuple[int, ...]) -> None:
    x, v = point(shape), np.cos(point(shape))
    hessian = pliant.hessian(model)(x).reshape(x.size, x.size)
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(pliant.hvp(model)(x, v).ravel(), hessian @ v.ravel(), rtol=1e-9, atol=1e-9)


@EACH
def test_batch_of_gradients_is_the_stack_of_each(model: Any, shape: tuple[int, ...]) -> None:
    xs = np.stack([point(shape), 2 * point(shape)])
    gradient = pliant.grad(model)
    np.testing.assert_allclose(pliant.vmap(gradient)(xs), np.stack([gradient(x) for x in xs]), rtol=1e-9, atol=1e-12)
