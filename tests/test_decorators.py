"""Transformations as decorators: of functions, of methods, with options."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import ArgumentError

X = np.array([0.1, 0.2, 0.3])


def test_jit_with_options_is_a_decorator():
    @pliant.jit(static="n", backend="reference")
    def power(x: Any, n: int) -> Any:
        """x, n times."""
        return x**n

    assert power.__name__ == "power" and power.__doc__ == "x, n times."
    np.testing.assert_array_equal(power(X, 3), X**3)
    np.testing.assert_array_equal(pliant.jit()(np.sin)(X), np.sin(X))
    with pytest.raises(pliant.PliantError, match="names of parameters"):
        pliant.jit(static=3)


def test_transformations_with_options_alone_are_decorators():
    @pliant.grad(argnums=1)
    @pliant.checkpoint(save="sqrt")
    def product(x: Any, y: Any) -> Any:
        """x y."""
        return x * y

    @pliant.vmap(in_axes=(0, None))
    @pliant.custom_derivative(jvp=lambda xs, tangents: tangents[0] @ xs[1])
    def dot(x: Any, y: Any) -> Any:
        return x @ y

    @pliant.vectorize(signature="(n),(n)->()")
    def inner(x: Any, y: Any) -> Any:
        return x @ y

    assert product(2.0, 3.0) == 2.0 and product.__doc__ == "x y."
    np.testing.assert_array_equal(dot(np.eye(2), np.array([3.0, 4.0])), [3.0, 4.0])
    np.testing.assert_array_equal(inner(np.eye(3), np.arange(3.0)), [0.0, 1.0, 2.0])
    assert pliant.value_and_grad(has_aux=True)(lambda x: (x**2, "aux"))(3.0) == ((9.0, "aux"), 6.0)
    np.testing.assert_array_equal(pliant.hessian(argnums=0)(lambda x: np.sum(x**2))(X), 2 * np.eye(len(X)))
    np.testing.assert_array_equal(pliant.jacobian(mode="forward")(np.sin)(X), np.diag(np.cos(X)))
    with pytest.raises(pliant.PliantError, match="expected a function, got NoneType"):
        pliant.grad(None)  # pyright: ignore[reportArgumentType]


def test_methods_can_be_compiled_by_decorator():
    class Linear:
        def __init__(self) -> None:
            self.w = np.arange(3.0)

        @pliant.jit
        def apply(self, x: Any) -> Any:
            return self.w @ x

    assert Linear().apply(X) == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda f: pliant.grad(f, static="n"), r"static'\nhint: pliant\.grad\(pliant\.jit\(f, static='n'\)\)"),
        (lambda f: pliant.hvp(f, static="n"), r"static'\nhint: pliant\.hvp\(pliant\.jit\(f, static='n'\)\)"),
        (lambda f: pliant.vmap(f, donate="x"), r"donate'\nhint: pliant\.jit\(pliant\.vmap\(f\), donate='x'\)"),
        (lambda f: pliant.vmap(f, in_axis=1), r"in_axis'\nhint: vmap takes f, in_axes, out_axes"),
        (
            lambda f: pliant.checkpoint(policy="sqrt"),
            r"checkpoint\(\) got an unexpected keyword argument 'policy'\nhint: checkpoint takes f, save$",
        ),
    ],
)
def test_an_option_that_a_transformation_does_not_have_is_an_error_with_a_hint(make: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        make(np.sin)
