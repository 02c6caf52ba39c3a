"""Second derivatives where a cotangent happens to be zero, as where a model fits exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from tests.ops.test_left_out import LEFT_OUT, X

Z = np.array([0.7, -0.4, 1.3, 0.2])


def added_at(x: Any) -> Any:
    z = np.zeros(3)
    np.add.at(z, np.array([0, 1, 1, 2]), x * x)
    return np.cumsum(z)[1:]


def one_of_two(x: Any) -> Any:
    a, b = x * 1.0, x * 2
    t = b if x[0] > 1 else a
    t[1] *= x[0]
    return a + b * t


def until(x: Any) -> Any:
    y, i = x * x, 0
    while i < 3 and y[i] < 9:
        y[i + 1] = y[i] * x[i + 1] + y[i + 1]
        i += 1
    return y[1:]


def steps(x: Any) -> Any:
    out, y = np.zeros((6, 2)), x[:2]
    for i in range(6):
        y = y + 0.1 * np.array([y[1] * x[2], -y[0] * x[3]])
        out[i] = y
    return out[::3, 0]


MODELS: dict[str, Any] = {
    "cumsum": lambda x: np.cumsum(x * x)[1:],
    "cumsum of a product": lambda x: (np.cumsum(x * x)[2:] - np.cumsum(x * x)[:-2]) / 3,
    "cumprod": lambda x: np.cumprod(x * x)[1:],
    "sort": lambda x: np.sort(x * x)[1:3],
    "median": lambda x: np.median(x * x),
    "percentile": lambda x: np.percentile(x * x, 60),
    "interp": lambda x: np.interp(0.5, np.arange(4.0), x * x),
    "running maximum": lambda x: np.maximum.accumulate(x * x)[1:],
    "take_along_axis": lambda x: np.take_along_axis(x * x, np.argsort(x), 0)[:2],
    "quotient": lambda x: np.cumsum(x / (x * x + 1))[1:],
    "add.at": added_at,
    "one of two arrays": one_of_two,
    "while": until,
    "steps that write": steps,
}


@pytest.mark.parametrize("name", MODELS)
def test_the_hessian_of_squares_at_an_exact_fit(name: str) -> None:
    model = MODELS[name]
    target = model(Z.copy())
    expected = pliant.jacobian(model, mode="forward")(Z).reshape(-1, 4)
    expected = 2 * expected.T @ expected  # Gauss and Newton's: the residuals are zero

    def loss(x: Any) -> Any:
        return np.sum((model(x) - target) ** 2)

    slope = pliant.grad(loss)
    for mode in ("forward", "reverse"):
        np.testing.assert_allclose(pliant.jacobian(slope, mode=mode)(Z), expected, atol=1e-10)
    np.testing.assert_allclose(pliant.vmap(pliant.hessian(loss))(np.stack([Z, Z])), [expected] * 2, atol=1e-10)


@pytest.mark.parametrize("name", MODELS)
def test_mixed_derivatives_at_weights_of_zero(name: str) -> None:
    model = MODELS[name]
    w = np.zeros(np.shape(model(Z.copy())))
    slope = pliant.grad(lambda w, x: np.sum(w * model(x)), 1)
    expected = np.moveaxis(pliant.jacobian(model, mode="forward")(Z).reshape(*w.shape, 4), -1, 0)
    for mode in ("forward", "reverse"):
        np.testing.assert_allclose(pliant.jacobian(slope, mode=mode)(w, Z), expected, atol=1e-12)


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_is_left_out_has_zero_second_derivatives(name: str) -> None:
    f = LEFT_OUT[name][0]
    expected, step = np.zeros((3, 3)), 1e-5
    with np.errstate(all="ignore"):
        for j in (1, 2):
            d = step * np.eye(3)[j]
            expected[:, j] = (pliant.grad(f)(X + d) - pliant.grad(f)(X - d)) / (2 * step)
        np.testing.assert_allclose(pliant.hessian(f)(X), expected, atol=1e-6)


THIRD = ["cumsum", "cumprod", "sort", "quotient", "add.at", "while"]


@pytest.mark.parametrize("name", THIRD)
def test_third_derivatives_at_an_exact_fit(name: str) -> None:
    model, v, d, step = MODELS[name], np.cos(np.arange(4.0)), np.sin(np.arange(4.0)), 1e-5
    target = model(Z.copy())
    slope = pliant.grad(lambda x: np.sum((model(x) - target) ** 2))
    along = pliant.grad(lambda x: np.sum(slope(x) * v))
    expected = (along(Z + step * d) - along(Z - step * d)) / (2 * step)
    np.testing.assert_allclose(pliant.grad(lambda x: np.sum(along(x) * d))(Z), expected, atol=1e-6)
    np.testing.assert_allclose(pliant.jvp(along, (Z,), (d,))[1], expected, atol=1e-6)


def test_complex_products_and_quotients() -> None:
    def loss(x: Any) -> Any:
        z = x[:2] + 1j * x[2:]
        return np.sum(np.abs(np.cumsum(z * z / (z + 2))[1:] - target) ** 2)

    target = 0j
    z = Z[:2] + 1j * Z[2:]
    target = np.cumsum(z * z / (z + 2))[1:]
    step, made = 1e-5, pliant.hessian(loss)(Z)
    for j in range(4):
        d = step * np.eye(4)[j]
        slope = (pliant.grad(loss)(Z + d) - pliant.grad(loss)(Z - d)) / (2 * step)
        np.testing.assert_allclose(made[:, j], slope, atol=1e-8)
