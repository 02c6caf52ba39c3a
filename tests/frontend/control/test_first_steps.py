"""Loops of unknown length whose first step makes NumPy's numbers of Python's: in single precision, with complex
numbers, with integers. Values and dtypes are NumPy's, gradients those of differences, batches those of a loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import UnsupportedError


def summed(x: Any, s: Any) -> Any:
    """A sum that starts from a Python number."""
    i = 0
    while x[i] < 3:
        s += x[i]
        i += 1
    return s, i


def controlled(x: Any, s: Any) -> Any:
    """Steps whose size is adapted, and of which some are rejected."""
    t, h, done = 0.0, 0.1, 0
    while t < 2.0:
        h = min(h, 2.0 - t)
        new = x + h * np.sin(x) * s
        error = np.max(np.abs(new - x))
        if error <= 0.5:
            t += h
            x = new
            done += 1
        h *= min(4.0, max(0.1, 0.8 * (0.02 / max(error, 1e-10)) ** 0.25))
    return x, t, done


def left_by_break(x: Any, s: Any) -> Any:
    """A loop with `break`, `continue` and `else`, inside a function that may return before its end."""
    k = 0
    while s < 60:
        k += 1
        if k == 2:
            continue
        s = s * 1.5 + x[k % 4]
        if s > 50:
            break
        if s < -5:
            return s, -k
    else:
        k += 100
    return s, k


def counted(x: Any, s: Any) -> Any:
    """A number of steps that data decide."""
    n = int(x[1] * 3)
    for i in range(n):
        if x[i % 4] > 0:
            s = s * 1.1 + x[i % 4]
        if s > 40:
            break
    else:
        s = s * 2
    return s, n


def inside_another(x: Any, s: Any) -> Any:
    """A loop that starts anew at each step of another one."""
    total = x * 0
    for i in range(len(x)):
        r, k = s, 0
        while r < x[i]:
            r, k = r + 0.5 * x[3] + 0.2, k + 1
        total[i] = r * k
    return total


LOOPS: tuple[Callable[..., Any], ...] = (summed, controlled, left_by_break, counted, inside_another)


def leaves(found: Any) -> list[Any]:
    return [*found] if type(found) is tuple else [found]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("loop", LOOPS, ids=lambda f: f.__name__)
def test_values_and_dtypes_are_numpys(loop: Callable[..., Any], dtype: str) -> None:
    x = np.array([0.5, 1.25, 2.5, 4.0], dtype)
    for s in (0.3, 0.1):
        got, expected = leaves(pliant.jit(loop)(x, s)), leaves(loop(x, s))
        for a, b in zip(got, expected, strict=True):
            assert np.asarray(a).dtype == np.asarray(b).dtype
            np.testing.assert_allclose(a, b, rtol=1e-5 if dtype == "f4" else 1e-12)


@pytest.mark.parametrize("loop", LOOPS, ids=lambda f: f.__name__)
def test_gradients_in_single_precision_are_those_in_double(loop: Callable[..., Any]) -> None:
    def total(x: Any, s: Any) -> Any:
        return np.sum(leaves(loop(x, s))[0])

    x = np.array([0.5, 1.25, 2.5, 4.0])
    expected = pliant.grad(total, argnums=(0, 1))(x, 0.3)
    got = pliant.grad(total, argnums=(0, 1))(x.astype("f4"), 0.3)
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4)


@pytest.mark.parametrize("loop", LOOPS, ids=lambda f: f.__name__)
def test_batches_are_those_of_a_loop(loop: Callable[..., Any]) -> None:
    xs = np.array([[0.5, 1.25, 2.5, 4.0], [0.2, 1.75, 1.5, 3.0], [3.5, 0.75, 0.5, 3.5]], "f4")
    got = leaves(pliant.vmap(loop, in_axes=(0, None))(xs, 0.3))
    for n, x in enumerate(xs):
        for a, b in zip(got, leaves(loop(x, 0.3)), strict=True):
            np.testing.assert_allclose(a[n], b, rtol=1e-5)


def test_a_number_becomes_complex_in_the_first_step() -> None:
    def escape(c: Any) -> Any:
        z, n = 0.1, 0
        while abs(z) < 2 and n < 50:
            z = z * z + c
            n += 1
        return z, n

    for c in (0.3 + 0.5j, 1.2 + 0.1j, 5.0 + 0j):
        got, expected = pliant.jit(escape)(np.complex128(c)), escape(np.complex128(c))
        np.testing.assert_allclose(got, expected, rtol=1e-9)


@pytest.mark.usefixtures("for_all_data")
def test_a_state_that_never_settles_is_refused_with_its_line() -> None:
    def grows(x: Any) -> Any:
        while x[0] < 9:
            x = np.concatenate([x, x])
        return x

    with pytest.raises(UnsupportedError, match=r"x is f64\[") as caught:
        pliant.jit(grows)(np.ones(2))
    assert "while x[0] < 9:" in str(caught.value)


@pytest.mark.usefixtures("for_all_data")
def test_a_name_without_a_value_after_a_step_is_said_with_the_reason() -> None:
    def made_on_the_way(x: Any) -> Any:
        h, found = 1.0, False
        while not found:
            if h * x < 0.1:
                new, found = 2 * h, True
            else:
                h *= 0.5
        return (lambda: new)()  # pyright: ignore[reportPossiblyUnbound]

    with pytest.raises(UnsupportedError, match="new has no value after a step, since new has a value only"):
        pliant.jit(made_on_the_way)(3.0)
