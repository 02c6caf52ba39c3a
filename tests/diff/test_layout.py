"""Containers as x and constants: what of them is differentiated, by every system as by `pliant.grad`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pliant
import pliant.diff as diff
from pliant.diff import Active, Constant, Pliant
from pliant.errors import ArgumentError, DifferentiationError
from tests.diff.systems import AUTOGRAD, CASADI, DIFFERENCES, PLIANT, STEP, SYMPY, of

X = np.array([1.0, -2.0])
JAX_PLAIN = of(diff.JAX(plain=True), pytest.mark.jax)
TORCH_PLAIN = of(diff.PyTorch(plain=True), pytest.mark.torch)

systems = pytest.mark.parametrize(
    "system", [PLIANT, DIFFERENCES, STEP, AUTOGRAD, JAX_PLAIN, TORCH_PLAIN, CASADI, SYMPY]
)


@dataclass
class Model:
    scale: float
    weights: Any
    name: str = "cubes"
    size: int = 2


def of_model(m: Model) -> Any:
    y = m.scale * np.sum(m.weights ** (3 if m.name == "cubes" else 2))
    return y / m.size


def of_dict(m: Any) -> Any:
    y = np.sum(m["w"] ** 3) * m["more"][0]
    return -y if m["is_negative"] and m["name"] == "dict" and m["nothing"] is None else y


MODEL = Model(2.0, X)
DICT = {"w": X, "is_negative": True, "name": "dict", "nothing": None, "more": [3.0]}


def assert_close(made: Any, expected: Any) -> None:
    made, structure = diff.layout.flatten(made)
    expected, wanted = diff.layout.flatten(expected)
    assert structure == wanted
    for a, b in zip(made, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)


@systems
@pytest.mark.parametrize(("f", "x"), [(of_model, MODEL), (of_dict, DICT)], ids=["dataclass", "dict"])
def test_gradients_of_containers_are_those_of_grad(system: Any, f: Any, x: Any):
    value, expected = pliant.value_and_grad(f)(x)
    assert_close(diff.value_and_gradient(f, system, x), (value, expected))
    prep = diff.prepare_gradient(f, system, x)
    assert_close(diff.gradient(f, system, x, prep=prep), expected)
    assert_close(prep(x), expected)


@systems
@pytest.mark.parametrize(("f", "x"), [(of_model, MODEL), (of_dict, DICT)], ids=["dataclass", "dict"])
def test_tangents_are_like_x_or_like_its_gradient(system: Any, f: Any, x: Any):
    _, expected = pliant.jvp(f, (x,), (x,))
    gradient = pliant.grad(f)(x)
    prep = diff.prepare_pushforward(f, system, x, (x,))
    for made in (diff.jvp(f, system, x, x), diff.jvp(f, system, x, x, prep=prep), prep(x, (x,))[0]):
        assert_close(made, expected)
    (along,) = diff.pushforward(f, system, x, (gradient,))
    assert_close(along, pliant.jvp(f, (x,), (gradient,))[1])


def test_jacobians_and_products_of_containers_have_nothing_where_x_is_not_differentiated():
    def pair(m: Model) -> Any:
        return [m.scale * m.weights, m.scale]

    made = diff.jacobian(pair, Pliant(), MODEL)
    assert_close(made, [Model(X, 2.0 * np.eye(2), None, None), Model(1.0, np.zeros(2), None, None)])
    hessian = diff.hessian(of_model, Pliant(), MODEL)
    assert hessian.name is None
    np.testing.assert_allclose(hessian.weights.weights, np.diag(6.0 * X), rtol=1e-12)
    (product,) = diff.hvp(of_model, Pliant(), MODEL, (pliant.grad(of_model)(MODEL),))
    assert product.name is None
    point = diff.prepare_pushforward_same_point(of_model, Pliant(), MODEL, (MODEL,))
    assert_close(point((MODEL,)), diff.pushforward(of_model, Pliant(), MODEL, (MODEL,)))


@systems
def test_dataclasses_are_constants_whose_numbers_may_change(system: Any):
    def f(x: Any, m: Model, w: Any) -> Any:
        return np.sum(x * m.weights * w["w"]) * m.scale if m.name == "cubes" else np.sum(x)

    contexts = (Constant(MODEL), Active({"w": X, "name": "w"}))
    prep = diff.prepare_gradient(f, system, X, *contexts)
    by_x, by_w = diff.gradient(f, system, X, *contexts)
    np.testing.assert_allclose(by_x, 2 * X**2, rtol=1e-5)
    np.testing.assert_allclose(by_w["w"], 2 * X**2, rtol=1e-5)
    other = (Constant(Model(3.0, X)), contexts[1])
    for made in (diff.gradient(f, system, X, *other), diff.gradient(f, system, X, *other, prep=prep)):
        np.testing.assert_allclose(made[0], 3 * X**2, rtol=1e-5)
    np.testing.assert_allclose(diff.gradient(f, system, X, Constant(Model(1.0, X, "no")), contexts[1])[0], 1.0)


@pytest.mark.torch
def test_dataclasses_of_tensors_are_containers_with_or_without_a_hash():
    import torch

    @dataclass(frozen=True)
    class Frozen:
        w: Any
        name: str = "w"

    made = diff.gradient(lambda x: (x.w**2).sum(), diff.PyTorch(), Frozen(torch.ones(2)))
    assert made.w.tolist() == [2.0, 2.0]
    assert made.name is None


class Holder:
    def __init__(self) -> None:
        self.w = X


def same(*xs: Any) -> Any:
    return xs


@pytest.mark.parametrize(
    ("x", "message", "hint"),
    [
        (3, "gradient: .* got int for x$", "pass a float, as in 3.0"),
        ({"a": 1.0, "n": 3}, r"gradient: .* got int for x\['n'\]$", "pass a float, as in 3.0"),
        ([X, np.arange(2)], r"got int64 for x\[1\]$", r"convert x\[1\] with .astype\(float\)"),
        ("text", "got str for x$", r"pass it as Constant\(...\)"),
        (Holder(), "got Holder for x$", "make Holder a dataclass, or pass its arrays in a dict"),
    ],
)
def test_what_cannot_be_differentiated_is_named(x: Any, message: str, hint: str):
    with pytest.raises(DifferentiationError, match=r"(?m)" + message) as error:
        diff.gradient(same, Pliant(), x)
    assert error.match(hint)


def test_active_contexts_are_named_by_their_place():
    with pytest.raises(DifferentiationError, match=r"got int64 for context 2\['n'\]"):
        diff.gradient(same, Pliant(), X, Constant(1), Active({"n": np.arange(3)}))


def test_constants_that_no_program_can_be_kept_by_are_refused():
    with pytest.raises(ArgumentError, match="hashable static values; got set"):
        diff.gradient(same, Pliant(), X, Constant({1, 2}))
