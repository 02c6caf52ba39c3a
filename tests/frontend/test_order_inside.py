"""Derivatives, batches, loops and branches know the order of axes: reshapes inside them are views where NumPy's are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pliant
from pliant.errors import UnsupportedError

LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "row-major": np.copy,
    "column-major": np.asfortranarray,
    "strided": lambda x: np.repeat(x, 2, 1)[:, ::2],
    "reversed": lambda x: x[::-1].copy()[::-1],
}


def scaled(x: Any) -> Any:
    y = x * 2
    z = y.reshape(-1)
    z[1] = 7
    w = x.reshape(-1, order="F")
    w[2] = 5
    return np.sum(np.sin(y)) + np.sum(np.cos(w) * np.arange(w.size)) + np.sum(x**2)


def given(layout: str) -> Any:
    return LAYOUTS[layout](np.arange(12.0).reshape(3, 4) / 3)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_derivatives_and_batches_compute_the_function_itself(layout: str) -> None:
    x = given(layout)
    wanted = scaled(given(layout))
    value, gradient = pliant.value_and_grad(scaled)(x)
    assert_allclose([value, pliant.vjp(scaled, x)[0], pliant.jvp(scaled, (x,), (x,))[0]], wanted, rtol=1e-14)
    assert_array_equal(x, given(layout))
    h, d = 1e-6, np.cos(np.arange(12.0)).reshape(3, 4)
    ends = [scaled(LAYOUTS[layout](x + s * h * d)) for s in (1, -1)]
    assert_allclose(np.sum(gradient * d), (ends[0] - ends[1]) / (2 * h), rtol=1e-6)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_batch_of_arrays_is_a_loop_over_them(layout: str) -> None:
    for axis in (0, 1, 2):
        x = np.moveaxis(
            np.stack([given(layout), given(layout) + 1]).transpose(0, 2, 1).copy().transpose(0, 2, 1), 0, axis
        )
        parts = [np.moveaxis(x, axis, 0)[n] for n in range(2)]
        wanted = [scaled(p.copy(order="K")) for p in parts]
        assert_allclose(pliant.vmap(scaled, in_axes=axis)(x), wanted, rtol=1e-14)


def rebound(x: Any, s: Any) -> Any:
    y = x * 2
    for _ in range(9):
        y = y * 1.5
    return y


def rebound_while(x: Any, s: Any) -> Any:
    y, n = x * 2, 0
    while n < s:
        y, n = y + 1, n + 1
    return y


def one_of_two(x: Any, s: Any) -> Any:
    return x * 2 if s > 1 else x + 1


def given_or_new(x: Any, s: Any) -> Any:
    return x if s > 1 else x + 1


def checkpointed(x: Any, s: Any) -> Any:
    return pliant.checkpoint(lambda x: (y := x + s, y.reshape(-1).__setitem__(1, 0), y)[2])(x)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("make", [rebound, rebound_while, one_of_two, given_or_new, checkpointed])
def test_what_loops_and_branches_leave_is_laid_out_as_numpys(make: Callable[[Any, Any], Any], layout: str) -> None:
    if make is given_or_new and layout == "reversed":
        pytest.skip("a view or a copy, by a number of run time")

    def f(x: Any, s: Any) -> Any:
        y = make(x, s)
        z = y.reshape(-1)
        z[1] = 99
        return y + 0, z + 0

    for s in (np.array(0.5), np.array(2.5)):
        ours, theirs = given(layout), given(layout)
        for made, wanted in zip(pliant.jit(f)(ours, s), f(theirs, s), strict=True):
            assert_array_equal(made, wanted)
        assert_array_equal(ours, theirs)


def test_one_of_two_orders_is_not_guessed() -> None:
    def f(x: Any, s: Any) -> Any:
        y = x * 2 if s > 0 else np.ascontiguousarray(x) * 2
        z = y.reshape(-1)
        z[1] = 99
        return y

    def g(x: Any, s: Any) -> Any:
        given_or_new(x, s).reshape(-1)[1] = 99

    for call, layout in ((f, "column-major"), (g, "reversed")):
        with pytest.raises(UnsupportedError, match="NumPy decides by its strides whether both are one"):
            pliant.jit(call)(given(layout), np.array(1.0))
