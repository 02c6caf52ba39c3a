"""Gradients added to the caller's buffers, and packed in one vector."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import ArgumentError, DTypeError, ReadOnlyError, ShapeError, UnsupportedError

X = np.array([1.0, 2.0, 3.0])


def loss(p: Any) -> Any:
    return np.sum((p["w"] @ X + p["b"]) ** 2) * p["s"]


def parameters() -> Any:
    return {"w": np.arange(6.0).reshape(2, 3), "b": np.ones(2), "s": 2.0}


def test_the_gradient_is_added_to_the_callers_array():
    G = np.ones(3)
    f = pliant.value_and_grad(lambda x: np.sum(x**2), accumulate_into=G)
    for n in range(1, 4):
        value, g = f(X)
        assert g is G and value == 14
        np.testing.assert_array_equal(G, 1 + 2 * n * X)


def test_trees_accumulate_leaf_by_leaf():
    G = {"w": np.zeros((2, 3)), "b": np.zeros(2), "s": np.zeros(())}
    f = pliant.grad(loss, accumulate_into=G)
    once = pliant.grad(loss)(parameters())
    for _ in range(3):
        f(parameters())
    for k in G:
        np.testing.assert_allclose(G[k], 3 * np.asarray(once[k]), rtol=1e-14)


def test_a_residual_may_be_added_to_what_it_was_computed_from():
    W, d = np.ones((3, 3)), np.arange(3.0)
    pliant.grad(lambda d: np.sum(W @ d), accumulate_into=d)(d)
    np.testing.assert_array_equal(d, [3, 4, 5])


def test_strided_and_narrower_buffers_accumulate_as_numpy_adds():
    G = np.zeros((3, 2), np.float32)
    pliant.grad(lambda x: np.sum(x**2), accumulate_into=G[::-1, 1])(X)
    np.testing.assert_array_equal(G[::-1, 1], (2 * X).astype(np.float32))
    assert not G[:, 0].any()


def test_packed_gradients_are_views_of_one_vector():
    vector, tree = pliant.grad(loss, pack=True)(parameters())
    wanted = pliant.grad(loss)(parameters())
    assert vector.shape == (9,)
    for k in wanted:
        assert np.shares_memory(tree[k], vector)
        np.testing.assert_allclose(tree[k], wanted[k], rtol=1e-14)
    np.testing.assert_allclose(vector, np.concatenate([np.ravel(wanted[k]) for k in ("b", "s", "w")]), rtol=1e-14)


def many(p: Any, x: Any) -> Any:
    return np.sum(np.tanh(x @ p["w"]) @ p["v"]) + np.sum(p["b"] ** 2)


def large() -> tuple[Any, Any]:
    w = np.linspace(-1, 1, 100 * 90).reshape(100, 90)
    return {"w": w, "v": w[0, :90], "b": np.ones(7)}, np.cos(np.arange(500.0)).reshape(5, 100)


def assert_packed(vector: Any, tree: Any, wanted: Any) -> None:
    np.testing.assert_array_equal(vector, np.concatenate([wanted[k].ravel() for k in ("b", "v", "w")]))
    for k, g in wanted.items():
        assert np.shares_memory(tree[k], vector)
        np.testing.assert_array_equal(tree[k], g)


def test_large_packed_gradients_are_computed_in_their_vector():
    f, wanted = pliant.grad(many, pack=True), pliant.grad(many)(*large())
    for _ in range(3):
        assert_packed(*f(*large()), wanted)
    assert "copies" not in str(pliant.explain(f, *large()))
    out = np.empty(100 * 90 + 90 + 7), {k: np.empty_like(g) for k, g in wanted.items()}
    f(*large(), out=out)
    np.testing.assert_array_equal(out[0][7 + 90 :], out[1]["w"].ravel())
    np.testing.assert_array_equal(out[1]["w"], wanted["w"])


def test_large_packed_gradients_of_the_reference_backend():
    with pliant.disable_jit():
        assert_packed(*pliant.grad(many, pack=True)(*large()), pliant.grad(many)(*large()))


def test_packed_gradients_accumulate_in_the_callers_vector():
    G = np.zeros(9)
    f = pliant.value_and_grad(loss, accumulate_into=G, pack=True)
    wanted = pliant.grad(loss)(parameters())
    for _ in range(3):
        _, (vector, tree) = f(parameters())
    assert vector is G or np.shares_memory(vector, G)
    np.testing.assert_allclose(tree["w"], 3 * wanted["w"], rtol=1e-14)
    assert np.shares_memory(tree["w"], G)


def test_accumulation_inside_a_compiled_function():
    def step(x: Any, G: Any) -> None:
        for _ in range(3):
            pliant.grad(lambda x: np.sum(x**2), accumulate_into=G)(x)

    G = np.zeros(3)
    pliant.jit(step)(X, G)
    np.testing.assert_array_equal(G, 6 * X)


@pytest.mark.parametrize(
    ("buffer", "error", "match"),
    [
        (np.zeros(4), ShapeError, "like the gradient"),
        (np.zeros(3, int), DTypeError, "cannot be added"),
        ([np.zeros(3)], ArgumentError, "structure"),
        (1.0, ArgumentError, "expected an array"),
        (np.broadcast_to(np.zeros(1), (3,)), ReadOnlyError, "read-only"),
    ],
)
def test_a_buffer_that_does_not_fit_is_refused(buffer: Any, error: type, match: str):
    with pytest.raises(error, match=match):
        pliant.grad(lambda x: np.sum(x**2), accumulate_into=buffer)(X)


def test_gradients_of_two_dtypes_are_not_packed():
    with pytest.raises(DTypeError, match="one dtype"):
        pliant.grad(lambda x, y: np.sum(x) + np.sum(y), (0, 1), pack=True)(X, X.astype(np.float32))


def test_a_buffer_with_several_elements_in_one_place_is_named() -> None:
    buffer = np.lib.stride_tricks.as_strided(np.zeros(1), (3,), (0,))
    message = r"^accumulate_into=: f64\[3\] of strides \(0,\) has several elements in one place of memory\nhint: give"
    with pytest.raises(UnsupportedError, match=message):
        pliant.grad(np.sum, accumulate_into=buffer)(X)
