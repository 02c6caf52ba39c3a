"""Preparations: what they promise, what they refuse, what threads may share."""

from __future__ import annotations

import copy
import inspect
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import pliant.diff as diff
from pliant.diff import Active, Cache, Constant, ConstantOrCache, Pliant, namespace
from pliant.errors import ArgumentError, PreparationError
from tests.diff.systems import (
    IN_PLACE,
    JAX_,
    MLX,
    TENSORFLOW,
    TORCH,
    TWICE,
    every_system,
)

X = np.array([0.1, 0.2, 0.3])


def scaled(x: Any, c: Any) -> Any:
    return namespace(x).sum(c * x * x)


def other(x: Any, c: Any) -> Any:
    return namespace(x).sum(c * x)


@every_system
def test_values_at_preparation_do_not_matter(system: Any):
    prep = diff.prepare_gradient(scaled, system, np.zeros(3), Constant(0.0))
    for c in (1.0, 2.5):
        np.testing.assert_allclose(diff.gradient(scaled, system, X, Constant(c), prep=prep), 2 * c * X, rtol=1e-6)


@every_system
def test_preparing_does_not_run_the_function(system: Any):
    def f(x: Any) -> Any:
        raise AssertionError

    diff.prepare_gradient(f, system, X)
    diff.prepare_jacobian(f, system, X)


@every_system
def test_a_preparation_can_be_called(system: Any):
    prep = diff.prepare_gradient(scaled, system, X, Constant(0.0))
    np.testing.assert_allclose(prep(X, 3.0), 6 * X, rtol=1e-6)


@pytest.mark.parametrize("system", IN_PLACE)
def test_a_call_of_a_preparation_supplies_the_caches(system: Any):
    def f(x: Any, b: Any, p: Any, w: Any) -> Any:
        b[...] = w * x
        p["m"][...] = b[...] * p["k"]
        return namespace(x).sum(p["m"][...])

    mixed = ConstantOrCache({"k": Constant(2.0), "m": Cache(np.zeros(3))})
    prep = diff.prepare_gradient(f, system, X, Cache(np.zeros(3)), mixed, Active(np.zeros(3)))
    gx, gw = prep(X, {"k": 2.0, "m": None}, np.ones(3))
    np.testing.assert_allclose(gx, 2 * np.ones(3), rtol=1e-6)
    np.testing.assert_allclose(gw, 2 * X, rtol=1e-6)


@every_system
def test_a_called_preparation_of_a_pushforward_takes_seeds(system: Any):
    prep = diff.prepare_pushforward(lambda x: x * x, system, X, (X,))
    (dy,) = prep(X, (np.ones(3),))
    np.testing.assert_allclose(dy, 2 * X, rtol=1e-6)


MISMATCHES = {
    "another function": (other, (X, Constant(1.0)), "✗ f: prepared for"),
    "another shape": (scaled, (np.zeros(2), Constant(1.0)), r"✗ x: prepared for float64\[3\], given float64\[2\]"),
    "another dtype": (scaled, (X.astype("f4"), Constant(1.0)), r"✗ x: prepared for float64\[3\], given float32\[3\]"),
    "another container": (scaled, ([X], Constant(1.0)), r"✗ x"),
    "another context": (scaled, (X, Active(1.0)), r"✗ context 1: prepared for Constant: float\[\], given Active"),
    "another static value": (scaled, (X, Constant("no")), "✗ static values: prepared for nothing, given 'no'"),
    "no context": (scaled, (X,), "✗ context 1: prepared for Constant: float"),
}


@pytest.mark.parametrize(("f", "args", "message"), MISMATCHES.values(), ids=MISMATCHES.keys())
def test_a_call_that_a_preparation_does_not_fit_says_where(f: Any, args: Any, message: str):
    prep = diff.prepare_gradient(scaled, Pliant(), X, Constant(1.0))
    with pytest.raises(PreparationError, match=message):
        diff.gradient(f, Pliant(), *args, prep=prep)


def test_the_mismatch_table_lists_what_fits_too():
    prep = diff.prepare_gradient(scaled, Pliant(), X, Constant(1.0))
    with pytest.raises(PreparationError) as caught:
        diff.gradient(scaled, Pliant(), np.zeros(2), Constant(1.0), prep=prep)
    assert str(caught.value).splitlines() == [
        "this preparation was made for another call of gradient",
        "  ✓ operator: gradient",
        "  ✓ system: Pliant(mode='both')",
        "  ✓ has_aux: False",
        "  ✗ x: prepared for float64[3], given float64[2]",
        "  ✓ context 1: Constant: float[]",
        "hint: prepare again, or prepare with on_mismatch='reprepare'",
    ]


def test_a_preparation_of_another_operator_or_system_is_refused():
    prep = diff.prepare_gradient(scaled, Pliant(), X, Constant(1.0))
    with pytest.raises(PreparationError, match="operator: prepared for gradient, given hessian"):
        diff.hessian(scaled, Pliant(), X, Constant(1.0), prep=prep)
    with pytest.raises(PreparationError, match="system: prepared for Pliant"):
        diff.gradient(scaled, diff.FiniteDifferences(), X, Constant(1.0), prep=prep)


def test_reprepare_makes_and_keeps_what_is_missing():
    prep = diff.prepare_gradient(scaled, Pliant(), X, Constant(1.0), on_mismatch="reprepare")
    for n in (2, 5, 2, 3):
        x = np.arange(float(n))
        np.testing.assert_allclose(diff.gradient(scaled, Pliant(), x, Constant(1.0), prep=prep), 2 * x)
    assert len(prep.others) == 2
    with pytest.raises(PreparationError, match="✗ f"):
        diff.gradient(other, Pliant(), X, Constant(1.0), prep=prep)


def test_on_mismatch_is_one_of_three():
    with pytest.raises(ArgumentError, match="expected 'error', 'reprepare' or 'convert', got 'ignore'"):
        diff.prepare_gradient(scaled, Pliant(), X, Constant(1.0), on_mismatch="ignore")  # type: ignore[arg-type]


@every_system
def test_convert_takes_what_loses_nothing(system: Any):
    prep = diff.prepare_gradient(scaled, system, X, Constant(np.ones(3)), on_mismatch="convert")
    x, c = X.astype(np.float32), np.array([1, 2, 3], np.int32)
    made = diff.gradient(scaled, system, x, Constant(c), prep=prep)
    assert made.dtype == np.float64
    np.testing.assert_allclose(made, 2.0 * c * x, rtol=1e-6)


@pytest.mark.parametrize(
    ("x", "c"), [(X, 1j * X), (np.zeros(2), X), (X, np.ones(2)), (X, 1.0)], ids=["complex", "x", "shape", "number"]
)
def test_convert_refuses_what_does_not_fit(x: Any, c: Any):
    prep = diff.prepare_gradient(scaled, Pliant(), X, Constant(X), on_mismatch="convert")
    with pytest.raises(PreparationError, match="✗"):
        diff.gradient(scaled, Pliant(), x, Constant(c), prep=prep)


def test_convert_takes_seeds_too():
    prep = diff.prepare_pullback(lambda x: x * x, Pliant(), X, (X,), on_mismatch="convert")
    (made,) = diff.pullback(prep.f, Pliant(), X, (np.ones(3, np.float32),), prep=prep)
    np.testing.assert_allclose(made, 2 * X)


@every_system
def test_eight_threads_share_one_preparation(system: Any):
    def f(x: Any, c: Any) -> Any:
        return namespace(x).sum(c * x * x), {"c": c * x}

    prep = diff.prepare_gradient(f, system, X, Constant(1.0), has_aux=True)

    def run(n: int) -> bool:
        (y, aux), g = diff.value_and_gradient(f, system, X, Constant(float(n)), has_aux=True, prep=prep)
        return (
            np.allclose(y, n * np.sum(X * X)) and np.allclose(aux["c"], n * X) and np.allclose(g, 2 * n * X, rtol=1e-6)
        )

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(run, range(1, 161)))


@every_system
def test_repeated_calls_do_not_prepare_again(system: Any):
    def f(x: Any) -> Any:
        return namespace(x).sum(x * x)

    diff.gradient(f, system, X)
    kept = f.__dict__["__pliant_diff__"][1]
    diff.gradient(f, system, 2 * X)
    assert len(kept) == 1
    diff.gradient(f, system, np.zeros(2))
    assert len(kept) == 2


@every_system
def test_out_is_returned_and_holds_the_result(system: Any):
    out = np.full(3, np.nan)
    assert diff.gradient(scaled, system, X, Constant(1.0), out=out) is out
    np.testing.assert_allclose(out, 2 * X, rtol=1e-6)


@every_system
def test_auxiliary_results_may_be_anything(system: Any):
    def f(x: Any) -> Any:
        return namespace(x).sum(x * x), {"twice": 2 * x, "name": "f", "nothing": None}

    (y, aux), g = diff.value_and_gradient(f, system, X, has_aux=True)
    assert aux["name"] == "f"
    assert aux["nothing"] is None
    np.testing.assert_allclose(aux["twice"], 2 * X)
    np.testing.assert_allclose(y, np.sum(X * X))
    np.testing.assert_allclose(g, 2 * X, rtol=1e-6)
    np.testing.assert_allclose(diff.gradient(f, system, X, has_aux=True)[1]["twice"], 2 * X)


@every_system
def test_containers_give_containers(system: Any):
    def f(p: Any) -> Any:
        return {"y": p["a"] * p["b"][0]}

    p = {"a": X, "b": (2.0,)}
    made = diff.jacobian(f, system, p)
    np.testing.assert_allclose(made["y"]["a"], 2 * np.eye(3), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(made["y"]["b"][0], X, rtol=1e-6)
    (ct,) = diff.pullback(f, system, p, ({"y": np.ones(3)},))
    np.testing.assert_allclose(ct["b"][0], np.sum(X), rtol=1e-6)


@pytest.mark.parametrize("system", TWICE)
def test_hessian_of_a_container_is_a_container_of_containers(system: Any):
    def f(p: Any) -> Any:
        return namespace(p["a"]).sum(p["a"] * p["a"]) * p["b"]

    made = diff.hessian(f, system, {"a": X, "b": 2.0})
    np.testing.assert_allclose(made["a"]["a"], 4 * np.eye(3), rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(made["a"]["b"], 2 * X, rtol=1e-3)
    np.testing.assert_allclose(made["b"]["a"], 2 * X, rtol=1e-3)


@pytest.mark.parametrize("system", [JAX_, TORCH, TENSORFLOW, MLX])
def test_own_arrays_in_give_own_arrays_out(system: Any):
    x = system.array(X.astype(np.float32))
    y, made = diff.value_and_gradient(scaled, system, x, Constant(system.array(np.float32(2.0))))
    assert system.owns(y)
    assert system.owns(made)
    np.testing.assert_allclose(system.numpy(made), 4 * X, rtol=1e-5)


@pytest.mark.torch
def test_tensors_in_give_tensors_out_and_keep_no_history():
    import torch

    x = torch.ones(3, dtype=torch.float64, requires_grad=True)
    made = diff.gradient(scaled, diff.PyTorch(), x, Constant(1.0))
    again = diff.gradient(scaled, diff.PyTorch(), x, Constant(1.0))
    assert isinstance(made, torch.Tensor)
    assert torch.equal(made, again)
    assert x.grad is None
    assert not made.requires_grad


@every_system
def test_a_preparation_gives_the_value_too(system: Any):
    prep = diff.prepare_gradient(scaled, system, X, Constant(0.0))
    for c in (1.0, 2.0):
        y, g = prep.value_and(X, c)
        np.testing.assert_allclose(y, c * np.sum(X * X))
        np.testing.assert_allclose(g, 2 * c * X, rtol=1e-6)


def test_a_direct_call_gives_what_the_operator_gives():
    def f(x: Any, c: Any) -> Any:
        return np.sin(x[:, None]) * c

    c = np.ones(2)
    prep = diff.prepare_jacobian(f, Pliant(), X, Constant(c))
    for k in (1.0, 2.0):
        expected = diff.jacobian(f, Pliant(), X, Constant(k * c))
        np.testing.assert_array_equal(prep(X, k * c), expected)
        np.testing.assert_array_equal(diff.jacobian(f, Pliant(), X, Constant(k * c), prep=prep), expected)


@every_system
def test_a_called_preparation_returns_containers(system: Any):
    prep = diff.prepare_jacobian(lambda x: [x * x], system, X)
    for _ in range(2):
        np.testing.assert_allclose(prep(X)[0], np.diag(2 * X), rtol=1e-6, atol=1e-9)
        y, jacobian = prep.value_and(X)
        np.testing.assert_allclose(y[0], X * X)
        np.testing.assert_allclose(jacobian[0], np.diag(2 * X), rtol=1e-6, atol=1e-9)


def test_the_quick_way_still_refuses_other_types():
    prep = diff.prepare_gradient(scaled, Pliant(), X, Constant(1.0))
    diff.gradient(scaled, Pliant(), X, Constant(1.0), prep=prep)
    with pytest.raises(PreparationError, match="✗ context 1: prepared for Constant: float"):
        diff.gradient(scaled, Pliant(), X, Constant(np.ones(3)), prep=prep)


def test_the_quick_way_still_wants_contexts_and_tuples_of_seeds():
    prep = diff.prepare_gradient(scaled, Pliant(), X, Constant(X))
    with pytest.raises(ArgumentError, match="expected contexts after x"):
        diff.gradient(scaled, Pliant(), X, X, prep=prep)
    prep = diff.prepare_pushforward(np.sin, Pliant(), X, (X,))
    np.testing.assert_allclose(diff.pushforward(np.sin, Pliant(), X, (X,), prep=prep), [X * np.cos(X)])
    with pytest.raises(ArgumentError, match="one seed t is the tuple"):
        diff.pushforward(np.sin, Pliant(), X, X, prep=prep)


def test_the_quick_way_tells_seeds_from_constants():
    prep = diff.prepare_pushforward(scaled, Pliant(), X, (X,), Constant(X))
    with pytest.raises(PreparationError, match="✗ context 1: prepared for Constant: float64"):
        diff.pushforward(scaled, Pliant(), X, (X, X), prep=prep)


@pytest.mark.parametrize("system", TWICE)
def test_a_called_preparation_of_second_order_gives_the_last_derivative(system: Any):
    prep = diff.prepare_hvp(scaled, system, X, (X,), Constant(0.0))
    y, (product,) = prep.value_and(X, (X,), 3.0)
    np.testing.assert_allclose(y, 3 * np.sum(X * X))
    np.testing.assert_allclose(product, 6 * X, rtol=1e-4)
    np.testing.assert_allclose(prep(X, (X,), 3.0)[0], 6 * X, rtol=1e-4)
    made = diff.value_gradient_and_hvp(scaled, system, X, (X,), Constant(3.0), prep=prep)
    np.testing.assert_allclose(made[1], 6 * X, rtol=1e-4)
    np.testing.assert_allclose(made[2][0], 6 * X, rtol=1e-4)


def test_options_that_do_not_exist_are_refused():
    with pytest.raises(TypeError, match="unexpected keyword argument 'output'"):
        diff.gradient(scaled, Pliant(), X, Constant(1.0), output=X)  # type: ignore[call-arg]


@pytest.mark.torch
def test_tensors_take_the_tape_and_keep_its_promises():
    import torch

    from pliant.errors import DifferentiationError, MutationError

    x, c = torch.tensor(X), torch.tensor(2.0)
    prep = diff.prepare_gradient(scaled, diff.PyTorch(), x, Constant(c))
    y, g = prep.value_and(x, c)
    np.testing.assert_allclose([*g, y], [*(4 * X), 2 * np.sum(X * X)])
    assert not y.requires_grad
    assert not g.requires_grad
    assert not x.requires_grad

    def writing(x: Any, c: Any) -> Any:
        c[0] = 3.0
        return (x * c).sum()

    prep = diff.prepare_gradient(writing, diff.PyTorch(), x, Constant(x))
    with pytest.raises(MutationError):
        prep(x, x.clone())
    with pytest.raises(DifferentiationError, match="one real number"):
        diff.prepare_gradient(lambda x: x * x, diff.PyTorch(), x)(x)
    np.testing.assert_array_equal(diff.prepare_gradient(lambda x: c, diff.PyTorch(), x)(x), np.zeros(3))


@every_system
def test_a_called_preparation_follows_what_its_function_reads(system: Any):
    weights, factor = np.ones(3), 2.0

    def f(x: Any) -> Any:
        return namespace(x).sum(factor * namespace(x).asarray(weights) * x)

    prep = diff.prepare_gradient(f, system, X)
    for _ in range(2):
        np.testing.assert_allclose(prep(X), [2.0, 2.0, 2.0], rtol=1e-6)
    weights[0] = 5.0
    np.testing.assert_allclose(prep(X), [10.0, 2.0, 2.0], rtol=1e-6)
    weights = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(prep(X), [2.0, 4.0, 6.0], rtol=1e-6)
    factor = 3.0
    for _ in range(2):
        np.testing.assert_allclose(prep.value_and(X)[1], [3.0, 6.0, 9.0], rtol=1e-6)


POWER = 2


def with_a_global(x: Any, c: Any) -> Any:
    return namespace(x).sum(c * x**POWER)


@every_system
def test_a_called_preparation_follows_globals(system: Any, monkeypatch: pytest.MonkeyPatch):
    prep = diff.prepare_gradient(with_a_global, system, X, Constant(1.0))
    for power in (2, 3, 2):
        monkeypatch.setitem(globals(), "POWER", power)
        for _ in range(2):
            np.testing.assert_allclose(prep(X, 2.0), 2 * power * X ** (power - 1), rtol=1e-6)


def misaligned(x: Any) -> Any:
    made = np.empty(x.nbytes + 1, np.int8)[1:].view(x.dtype)
    made[...] = x
    return made


def read_only(x: Any) -> Any:
    made = x.copy()
    made.flags.writeable = False
    return made


LAYOUTS = {
    "read-only": read_only,
    "strided": lambda x: np.repeat(x, 2)[::2],
    "backwards": lambda x: x[::-1].copy()[::-1],
    "misaligned": misaligned,
    "swapped": lambda x: x.astype(">f8"),
}


@every_system
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_a_called_preparation_takes_arrays_of_any_layout(system: Any, layout: Any):
    prep = diff.prepare_gradient(scaled, system, X, Constant(X))
    for x, c in ((X, X), (layout(X), X), (X, layout(X)), (layout(X), layout(X))):
        y, g = prep.value_and(x, c)
        np.testing.assert_allclose(g, 2 * X * X, rtol=1e-6)
        np.testing.assert_allclose(y, np.sum(X * X * X))
        assert g.flags.writeable


@pytest.mark.parametrize("system", TWICE)
def test_a_called_preparation_gives_scalars_and_arrays_as_numpy_does(system: Any):
    prep = diff.prepare_hessian(scaled, system, X, Constant(1.0))
    for _ in range(3):
        y, h = prep.value_and(X, 1.0)
        assert isinstance(y, np.float64)
        assert h.shape == (3, 3)
        assert [part.shape for part in prep.every(X, 1.0)] == [(), (3,), (3, 3)]
        np.testing.assert_allclose(prep(X, 1.0), 2 * np.eye(3), rtol=1e-3, atol=1e-5)


@pytest.mark.jax
@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
@pytest.mark.parametrize("shape", [(0,), (1,), (3,), (2, 3), (5000,), ()])
def test_called_preparations_of_jax_return_arrays_of_every_size(shape: Any, dtype: str):
    x = np.linspace(0.5, 1.0, int(np.prod(shape))).reshape(shape).astype(dtype)[()]

    def f(x: Any, c: Any) -> Any:
        return namespace(x).sum((c * x * x.conj()).real)

    prep = diff.prepare_gradient(f, diff.JAX(), x, Constant(1.0))
    for _ in range(3):
        y, g = prep.value_and(x, 3.0)
        assert isinstance(y, np.generic)
        assert (g.dtype, g.shape) == (x.dtype, x.shape)
        np.testing.assert_allclose(y, np.sum(3 * np.abs(x) ** 2), rtol=1e-5)
        np.testing.assert_allclose(g, 6 * x, rtol=1e-6)
        np.testing.assert_allclose(prep(x, 2.0), 4 * x, rtol=1e-6)


@pytest.mark.jax
def test_one_preparation_of_jax_takes_both_kinds_of_arrays():
    prep = diff.prepare_gradient(scaled, diff.JAX(), X, Constant(1.0))
    own = diff.JAX().array(X.astype(np.float32))
    for x in (X, own, X, own, X.reshape(3, 1), X):
        y, g = prep.value_and(x, 2.0)
        assert diff.JAX().owns(g) == diff.JAX().owns(x)
        np.testing.assert_allclose(g, 4 * np.asarray(x), rtol=1e-6)
        np.testing.assert_allclose(y, 2 * np.sum(X * X), rtol=1e-6)


@pytest.mark.parametrize("system", [JAX_, TORCH, TENSORFLOW, MLX])
def test_results_of_a_called_preparation_have_memory_of_their_own(system: Any):
    x = system.array(np.float32(2.0))
    prep = diff.prepare_gradient(lambda x: x, system, x)
    for _ in range(3):
        y, g = prep.value_and(x)
        if hasattr(y, "add_"):
            y.add_(1.0)
            g.add_(1.0)
    assert float(system.numpy(x)) == 2.0


@pytest.mark.parametrize("system", [JAX_, TORCH, TENSORFLOW, MLX])
def test_a_checked_call_with_own_arrays_takes_the_quick_way(system: Any):
    x, c = system.array(X.astype(np.float32)), system.array(np.float32(2.0))
    prep = diff.prepare_gradient(scaled, system, x, Constant(c))
    same = system.array(X.astype(np.float32))
    y, g = prep.quick("gradient", scaled, system, same, None, (Constant(c),))
    np.testing.assert_allclose(system.numpy(g), 4 * X, rtol=1e-5)
    np.testing.assert_allclose(system.numpy(y), 2 * np.sum(X * X), rtol=1e-5)
    assert prep.quick("gradient", scaled, system, system.array(np.float32(1.0)), None, (Constant(c),)) is None
    assert prep.quick("gradient", scaled, system, same, None, ()) is None
    assert prep.quick("gradient", scaled, system, same, None, (Active(c),)) is None


def test_signatures_show_the_keywords():
    assert str(inspect.signature(diff.gradient)).endswith(
        "prep: 'Prep | PointPrep | None' = None, out: 'Any' = None, has_aux: 'bool' = False) -> 'Any'"
    )
    shown = [name for name in diff.__all__ if name[0].islower() and callable(getattr(diff, name))]
    assert not [name for name in shown if "options" in inspect.signature(getattr(diff, name)).parameters]


@pytest.mark.jax
@pytest.mark.parametrize("operator", ["gradient", "hessian", "hvp", "plain gradient", "gradient of a closure"])
def test_called_preparations_of_jax_have_no_frame_of_their_own(operator: str):
    own = diff.JAX().array
    x, c = own(X.astype("f4")), own(np.float32(2.0))
    weights = X.astype("f4")
    prep = {
        "gradient": lambda: diff.prepare_gradient(scaled, diff.JAX(), x, Constant(c)),
        "hessian": lambda: diff.prepare_hessian(scaled, diff.JAX(), x, Constant(c)),
        "hvp": lambda: diff.prepare_hvp(scaled, diff.JAX(), x, (x,), Constant(c)),
        "plain gradient": lambda: diff.prepare_gradient(np_scaled, diff.JAX(plain=True), x, Constant(c)),
        "gradient of a closure": lambda: diff.prepare_gradient(
            lambda x, c: c * (x * weights).sum(), diff.JAX(), x, Constant(c)
        ),
    }[operator]()
    args = (x, (x,), c) if operator == "hvp" else (x, c)
    first = [list(call(*args)) for call in (prep.value_and, prep.every)]
    alone = prep(*args), prep(*args)
    frames: list[str] = []

    def look(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_globals.get("__name__", "").startswith("pliant."):
            frames.append(frame.f_code.co_qualname)

    sys.setprofile(look)
    again = [list(call(*args)) for call in (prep.value_and, prep.every, prep.value_and, prep.every)]
    frames.clear()  # the first calls with arguments of a class look at them in Python
    last = [list(call(*args)) for call in (prep.value_and, prep.every)]
    prep(*args)
    sys.setprofile(None)
    assert not frames
    assert repr(first) == repr(again[:2]) == repr(again[2:]) == repr(last)
    assert repr(alone[0]) == repr(alone[1]) == repr(first[0][-1])


def np_scaled(x: Any, c: Any) -> Any:
    return np.sum(c * x * x)


@pytest.mark.jax
def test_called_preparations_of_jax_with_its_arrays_follow_what_they_read():
    own, weights = diff.JAX().array, np.ones(3, "f4")
    x = own(X.astype("f4"))
    prep = diff.prepare_pullback(lambda x: x * weights, diff.JAX(), x, (x,))
    for _ in range(4):
        np.testing.assert_array_equal(prep(x, (x,))[0], x)
    weights[0] = 5.0
    np.testing.assert_allclose(prep(x, (x, x))[1], x * weights)
    weights = weights[::-1].astype(">f4")
    for _ in range(3):
        np.testing.assert_allclose(prep(x, (x,))[0], x * weights.astype("f4"))
    weights[1] = 7.0
    np.testing.assert_allclose(prep(x, (X.astype(">f4"),))[0], x * weights.astype("f4"))


@pytest.mark.jax
def test_a_prepared_call_of_jax_takes_seeds_of_any_kind():
    prep = diff.prepare_pushforward(np_scaled_rows, diff.JAX(), X, (X,), Constant(2.0))
    for seeds in ((X,), (X, 2 * X), (X.astype(">f8"),), [X]):
        for _ in range(2):
            y, tangents = prep.value_and(X, seeds, 2.0)
            np.testing.assert_allclose(y, 2 * X * X)
            assert isinstance(tangents, tuple)
            assert len(tangents) == len(seeds)
            for seed, tangent in zip(seeds, tangents, strict=True):
                np.testing.assert_allclose(tangent, 4 * X * np.asarray(seed, float), rtol=1e-6)


def np_scaled_rows(x: Any, c: Any) -> Any:
    return c * x * x


@pytest.mark.torch
def test_gradients_of_pytorch_do_without_the_engine_below(monkeypatch: pytest.MonkeyPatch):
    import torch

    class Nothing:
        _execution_engine = None

    monkeypatch.setattr(torch.autograd, "Variable", Nothing)
    x = torch.tensor(X)
    prep = diff.prepare_gradient(scaled, diff.PyTorch(), x, Constant(2.0))
    for _ in range(2):
        np.testing.assert_allclose(prep(x, 3.0), 6 * X)


def test_a_preparation_is_its_own_copy_and_no_pickle():
    prep = diff.prepare_gradient(lambda x: np.sum(x * x), Pliant(), np.ones(2))
    assert copy.copy(prep) is prep
    assert copy.deepcopy([prep])[0] is prep
    with pytest.raises(ArgumentError, match="a preparation cannot be pickled"):
        pickle.dumps(prep)
