"""What a function returns beside what is differentiated: `has_aux`, and text in a value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import ArgumentError, DifferentiationError

X = np.array([0.1, 0.2, 0.3])


def test_has_aux_returns_what_is_not_differentiated():
    (value, aux), g = pliant.value_and_grad(lambda x: (np.sum(x), {"twice": 2 * x, "name": "f"}), has_aux=True)(X)
    assert value == pytest.approx(0.6) and aux["name"] == "f"
    np.testing.assert_allclose(aux["twice"], 2 * X)
    np.testing.assert_allclose(g, np.ones(3))


def with_aux(x: Any) -> Any:
    return np.sum(x**3), {"twice": 2 * x, "name": "f", "count": 3}


def test_all_derivatives_have_aux():
    cubes, slope, curves = np.sum(X**3), 3 * X**2, np.diag(6 * X)
    value, dy, one = pliant.jvp(with_aux, (X,), (X,), has_aux=True)
    found, along, two = pliant.linearize(with_aux, X, has_aux=True)
    forward, three = pliant.jacobian(with_aux, has_aux=True)(X)
    reverse, four = pliant.jacobian(with_aux, has_aux=True, mode="reverse")(X)
    second, five = pliant.hessian(with_aux, has_aux=True)(X)
    np.testing.assert_allclose([value, found], [cubes, cubes])
    np.testing.assert_allclose([dy, along(X)], [slope @ X, slope @ X])
    np.testing.assert_allclose([forward, reverse], [slope, slope])
    np.testing.assert_allclose(second, curves)
    for aux in (one, two, three, four, five):
        np.testing.assert_allclose(aux.pop("twice"), 2 * X)
        assert aux == {"name": "f", "count": 3}


def test_jacobians_with_aux_are_those_of_each_part():
    (a, b), aux = pliant.jacobian(lambda x, n: ([x * n, x[0]], n), has_aux=True)(X, 2)
    np.testing.assert_allclose(a, 2 * np.eye(3))
    np.testing.assert_allclose(b, [1, 0, 0])
    assert aux == 2
    rows, each = pliant.vmap(pliant.hessian(lambda x: (np.sum(x**2), x), has_aux=True))(np.ones((4, 2)))
    np.testing.assert_allclose(rows, np.broadcast_to(2 * np.eye(2), (4, 2, 2)))
    np.testing.assert_allclose(each, np.ones((4, 2)))


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("jvp", lambda f: pliant.jvp(f, (X,), (X,), has_aux=True)),
        ("vjp", lambda f: pliant.vjp(f, X, has_aux=True)),
        ("linearize", lambda f: pliant.linearize(f, X, has_aux=True)),
        ("jacobian", lambda f: pliant.jacobian(f, has_aux=True)(X)),
        ("hessian", lambda f: pliant.hessian(f, has_aux=True)(X)),
    ],
)  # fmt: skip
def test_aux_is_the_second_of_two(name: str, call: Callable[[Any], Any]):
    with pytest.raises(DifferentiationError, match=rf"{name}: has_aux=True expects .*\(value, aux\), this one .* f64"):
        call(lambda x: x.sum())  # type: ignore[reportUnknownLambdaType]


@dataclass
class Named:
    values: Any
    name: str = "p"


def test_text_in_a_value_has_no_cotangent_and_stays_in_derivatives():
    for f in (lambda x: (2 * x, "t"), lambda x: ("t", 2 * x)):
        at = 0 if isinstance(f(X)[1], str) else 1
        for has_aux in (False, True):
            g = (lambda x, f=f: (f(x), x**3)) if has_aux else f
            along = pliant.linearize(g, X, has_aux=has_aux)[1](X)
            np.testing.assert_allclose(along[at], 2 * X)
            assert along[1 - at] == "t"
            pull = pliant.vjp(g, X, has_aux=has_aux)[1]
            for given in ("t", None):
                np.testing.assert_allclose(pull((X, given) if at == 0 else (given, X))[0], 2 * X)
            with pytest.raises(ArgumentError, match="cotangents have structure"):
                pull((X, X)[:1])
    along = pliant.linearize(lambda x: (Named(2 * x), x**3), X, has_aux=True)[1](X)
    np.testing.assert_allclose(along.values, 2 * X)
    assert along.name == "p"
    inside = pliant.jit(lambda x: pliant.vjp(lambda x: (2 * x, "t"), x)[1]((x, "t"))[0])
    np.testing.assert_allclose(inside(X), 2 * X)
