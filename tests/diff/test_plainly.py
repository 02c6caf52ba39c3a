"""Calls that plainly are like the prepared one take the quick way; all others do not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pliant.diff as diff
from pliant.diff import Active, Cache, Constant, Pliant
from pliant.errors import DifferentiationError, PreparationError
from tests.diff.systems import DIFFERENCES, PLIANT, STEP, of

X = np.array([0.1, 0.2, 0.3])
JAX_PLAIN = of(diff.JAX(plain=True), pytest.mark.jax, name="JAX-plain")
TORCH_PLAIN = of(diff.PyTorch(plain=True), pytest.mark.torch, name="PyTorch-plain")


def scaled(x: Any, c: Any) -> Any:
    return np.sum(c * x * x)


def of_parts(x: Any, c: Any, memory: Any, w: Any) -> Any:
    memory[:] = x["a"] * w
    return np.sum(memory) * x["more"][0] * c["by"] if c["name"] == "times" else np.sum(memory)


def parts(by: float = 2.0, name: str = "times", n: int = 3) -> Any:
    x = {"a": X[:n], "more": [3.0], "flag": True}
    return x, (Constant({"by": by, "name": name}), Cache(np.zeros(n)), Active(X[:n]))


@pytest.mark.parametrize("system", [PLIANT, DIFFERENCES, STEP, JAX_PLAIN, TORCH_PLAIN])
def test_containers_active_ones_caches_and_out_take_the_quick_way(system: Any):
    x, contexts = parts()
    prep = diff.prepare_gradient(of_parts, system, x, *contexts)
    for by in (2.0, 3.0):
        x, contexts = parts(by)
        y, (by_x, by_w) = prep.quick("gradient", of_parts, system, x, None, contexts)
        np.testing.assert_allclose(y, by * 3.0 * np.sum(X * X), rtol=1e-6)
        np.testing.assert_allclose(by_w, by * 3.0 * X, rtol=1e-5)
        out = ({"a": np.zeros(3), "more": [np.zeros(())], "flag": None}, np.zeros(3))
        assert diff.gradient(of_parts, system, x, *contexts, prep=prep, out=out) is out
        np.testing.assert_array_equal(out[0]["a"], by_x["a"])
        np.testing.assert_array_equal(out[1], by_w)
    single = diff.prepare_gradient(scaled, system, X, Constant(1.0))
    out = np.zeros(3)
    assert diff.gradient(scaled, system, X, Constant(2.0), prep=single, out=out) is out
    np.testing.assert_allclose(out, 4 * X, rtol=1e-5)


@pytest.mark.parametrize(
    "change",
    [
        lambda x, c: (parts(name="other")[0], parts(name="other")[1]),
        lambda x, c: parts(n=2),
        lambda x, c: ({**x, "flag": False}, c),
        lambda x, c: ({**x, "flag": 1}, c),
        lambda x, c: ({**x, "more": [3.0, 4.0]}, c),
        lambda x, c: ({**x, "more": (3.0,)}, c),
        lambda x, c: ({"a": x["a"], "more": x["more"]}, c),
        lambda x, c: ({**x, "another": 1.0}, c),
        lambda x, c: (x, (c[0], Cache(np.zeros(2)), c[2])),
        lambda x, c: (x, (c[0], c[1], Constant(X))),
        lambda x, c: (x, (Constant({"by": 2, "name": "times"}), c[1], c[2])),
    ],
)
def test_the_quick_way_sees_what_differs_in_containers(change: Any):
    x, contexts = parts()
    prep = diff.prepare_gradient(of_parts, Pliant(), x, *contexts)
    x, contexts = change(x, contexts)
    assert prep.quick("gradient", of_parts, Pliant(), x, None, contexts) is None
    with pytest.raises((PreparationError, DifferentiationError)):
        diff.gradient(of_parts, Pliant(), x, *contexts, prep=prep)


def test_the_quick_way_looks_into_dataclasses_and_seeds_that_are_containers():
    @dataclass
    class Pair:
        a: Any
        b: float

    def f(p: Pair) -> Any:
        return p.a * p.b

    pair = Pair(X, 2.0)
    prep = diff.prepare_pushforward(f, Pliant(), pair, (pair,))
    _, (dy,) = prep.quick("pushforward", f, Pliant(), pair, (Pair(X, 1.0),), ())
    np.testing.assert_allclose(dy, X * 2.0 + X)
    assert prep.quick("pushforward", f, Pliant(), Pair(X[:2], 2.0), (pair,), ()) is None
    assert prep.quick("pushforward", f, Pliant(), pair, (Pair(X[:2], 2.0),), ()) is None
    assert prep.quick("pushforward", f, Pliant(), pair, (X,), ()) is None


def test_sparse_matrices_take_the_quick_way():
    sparse = diff.Sparse(Pliant())
    prep = diff.prepare_jacobian(np.sin, sparse, X)
    y, made = prep.quick("jacobian", np.sin, sparse, X, None, ())
    np.testing.assert_allclose(y, np.sin(X))
    np.testing.assert_allclose(made.toarray(), np.diag(np.cos(X)))
    assert diff.jacobian(np.sin, sparse, 2 * X, prep=prep, out=made) is made
    np.testing.assert_allclose(made.toarray(), np.diag(np.cos(2 * X)))
