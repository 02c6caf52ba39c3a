"""Preparations at one point: right for every seed, f not run again, other points refused."""

from __future__ import annotations

import gc
import weakref
from collections import deque
from typing import Any

import numpy as np
import pytest

import pliant.diff as diff
from pliant.diff import Constant, namespace
from pliant.errors import DTypeError, PreparationError, ShapeError
from tests.diff.systems import JAX_, PLIANT, TORCH, TWICE, every_system

X = np.array([0.1, 0.2, 0.3])
SEEDS = (np.array([1.0, 0.0, 0.0]), np.array([0.0, 2.0, 1.0]))


def f(x: Any, c: Any) -> Any:
    return c * namespace(x).sin(x) * x


def total(x: Any, c: Any) -> Any:
    return namespace(x).sum(f(x, c))


@every_system
@pytest.mark.parametrize("name", ["pushforward", "pullback"])
def test_first_derivatives_at_a_point(system: Any, name: str):
    prep = getattr(diff, f"prepare_{name}_same_point")(f, system, X, SEEDS, Constant(2.0))
    slope = 2 * (np.sin(X) + X * np.cos(X))
    for scale in (1.0, 3.0):
        seeds = tuple([scale * s for s in SEEDS])
        y, made = getattr(diff, f"value_and_{name}")(f, system, X, seeds, Constant(2.0), prep=prep)
        np.testing.assert_allclose(y, f(X, 2.0))
        np.testing.assert_allclose(made, [slope * s for s in seeds], rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(prep(seeds), made, rtol=1e-12)


@pytest.mark.parametrize("system", TWICE)
def test_hessian_products_at_a_point(system: Any):
    prep = diff.prepare_hvp_same_point(total, system, X, SEEDS, Constant(2.0))
    y, g, made = diff.value_gradient_and_hvp(total, system, X, SEEDS, Constant(2.0), prep=prep)
    np.testing.assert_allclose(y, total(X, 2.0))
    np.testing.assert_allclose(g, 2 * (np.sin(X) + X * np.cos(X)), rtol=1e-6)
    curve = 2 * (2 * np.cos(X) - X * np.sin(X))
    np.testing.assert_allclose(made, [curve * s for s in SEEDS], rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("system", [PLIANT, JAX_, TORCH])
def test_pullbacks_at_a_point_do_not_run_the_function(system: Any):
    calls: list[int] = []

    def counted(x: Any) -> Any:
        calls.append(1)
        return x * x

    prep = diff.prepare_pullback_same_point(counted, system, X, SEEDS)
    before = len(calls)
    np.testing.assert_allclose(prep(SEEDS), [2 * X * s for s in SEEDS])
    assert len(calls) == before


@pytest.mark.parametrize("system", [PLIANT, JAX_, TORCH])
def test_what_is_written_later_does_not_reach_the_point(system: Any):
    x = X.copy()
    prep = diff.prepare_pullback_same_point(f, system, x, SEEDS, Constant(2.0))
    x[0] = 5.0
    np.testing.assert_allclose(prep(SEEDS), [2 * (np.sin(X) + X * np.cos(X)) * s for s in SEEDS])
    with pytest.raises(PreparationError, match="made at another point"):
        diff.pullback(f, system, x, SEEDS, Constant(2.0), prep=prep)


def test_another_constant_is_another_point():
    prep = diff.prepare_pullback_same_point(f, diff.Pliant(), X, SEEDS, Constant(2.0))
    with pytest.raises(PreparationError, match="made at another point"):
        diff.pullback(f, diff.Pliant(), X, SEEDS, Constant(3.0), prep=prep)


def test_containers_and_auxiliary_results_at_a_point():
    def g(p: Any) -> Any:
        return {"y": p["a"] * p["b"]}, {"name": "g"}

    p = {"a": X, "b": np.float64(2.0)}
    prep = diff.prepare_pullback_same_point(g, diff.Pliant(), p, ({"y": np.ones(3)},), has_aux=True)
    (y, aux), (ct,) = diff.value_and_pullback(g, diff.Pliant(), p, ({"y": np.ones(3)},), prep=prep, has_aux=True)
    assert aux == {"name": "g"}
    np.testing.assert_allclose(y["y"], 2 * X)
    np.testing.assert_allclose(ct["b"], np.sum(X))


@every_system
@pytest.mark.parametrize("name", ["pushforward", "pullback"])
def test_value_and_gives_the_value_and_the_derivatives(system: Any, name: str):
    prep = getattr(diff, f"prepare_{name}_same_point")(f, system, X, SEEDS, Constant(2.0))
    y, made = prep.value_and(SEEDS)
    np.testing.assert_allclose(y, f(X, 2.0))
    np.testing.assert_allclose(made, prep(SEEDS), rtol=1e-12)


@every_system
@pytest.mark.parametrize("name", ["pushforward", "pullback"])
def test_seeds_of_another_shape_or_complex_ones_are_refused(system: Any, name: str):
    prep = getattr(diff, f"prepare_{name}_same_point")(f, system, X, SEEDS, Constant(2.0))
    word = "cotangent" if name == "pullback" else "tangent"
    with pytest.raises(ShapeError, match=rf"{name}: the {word} has shape \[2\], (x has|the result) \[3\]"):
        prep((np.ones(2),))
    with pytest.raises(DTypeError, match=rf"{name}: the {word} is complex128\[3\], expected float64\[3\]"):
        prep((1j * np.ones(3),))
    for dtype in (np.float32, np.int64):
        np.testing.assert_allclose(prep((np.ones(3, dtype),)), prep((np.ones(3),)), rtol=1e-6)


@pytest.mark.parametrize("system", [PLIANT, JAX_])
@pytest.mark.parametrize("name", ["pushforward", "pullback", "hvp"])
def test_other_points_do_not_trace_the_function_again(system: Any, name: str):
    calls = deque[int]()

    def counted(x: Any, c: Any) -> Any:
        calls.append(1)
        return total(x, c) if name == "hvp" else f(x, c)

    prepare, seeds = getattr(diff, f"prepare_{name}_same_point"), SEEDS[:1]
    prepare(counted, system, X, seeds, Constant(2.0))(seeds)
    before = len(calls)
    preps = [prepare(counted, system, k * X, seeds, Constant(float(k))) for k in (2, 3)]
    for k, prep in zip((2, 3), preps, strict=True):
        expected = getattr(diff, name)(counted, system, k * X, seeds, Constant(float(k)), prep=prep)
        np.testing.assert_allclose(prep(seeds)[0], expected[0])
        x = k * X
        slope = k * (2 * np.cos(x) - x * np.sin(x) if name == "hvp" else np.sin(x) + x * np.cos(x))
        np.testing.assert_allclose(prep(seeds)[0], slope * seeds[0], rtol=1e-6)
    assert len(calls) == before


@pytest.mark.parametrize("system", [PLIANT, JAX_, TORCH])
def test_what_a_function_reads_from_outside_is_read_at_each_preparation(system: Any):
    outside = {"scale": 2.0}

    def g(x: Any) -> Any:
        return outside["scale"] * x * x

    for scale in (2.0, 3.0, 2.0):
        outside["scale"] = scale
        prep = diff.prepare_pullback_same_point(g, system, X, SEEDS)
        np.testing.assert_allclose(prep(SEEDS), [2 * scale * X * s for s in SEEDS])


def test_functions_that_go_take_their_preparations_with_them():
    def prepared() -> Any:
        def g(x: Any) -> Any:
            return x * x

        diff.prepare_pullback_same_point(g, diff.Pliant(), X, SEEDS)(SEEDS)
        return weakref.ref(g)

    made = [prepared() for _ in range(4)]
    gc.collect()
    assert sum([ref() is not None for ref in made]) <= 1
