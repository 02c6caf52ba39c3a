"""Batches of loops over large arrays take their problems in turn; others take them in step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant

MATRIX = np.random.default_rng(1).normal(size=(300, 300)) / 300
COEFFICIENTS = np.linspace(0.1, 0.9, 5)
WIDE, NARROW = (16, 40, 40), (3, 5, 5)


def waves(a: Any) -> Any:
    a, b = a.copy(), a * 0.5
    for _ in range(6):
        a[1:] -= 0.5 * (b[1:] - b[:-1])
        b[:-1] -= 0.7 * (a[1:] - a[:-1])
    return a


def shortest(d: Any) -> Any:
    d = d.copy()
    for k in range(len(d)):
        d[:] = np.minimum(d, d[:, k, None] + d[k])
    return d


def covariance(d: Any) -> Any:
    c = np.zeros((d.shape[1], d.shape[1]))
    for i in range(d.shape[1]):
        c[i, i:] = c[i:, i] = d[:, i] @ d[:, i:]
    return c


def until_small(a: Any) -> Any:
    a = a.copy()
    while np.abs(a).max() > 0.5:
        a[1:-1] = 0.4 * (a[2:] + a[:-2])
        a *= 0.9
    return a


def nested(a: Any) -> Any:
    for _ in range(2):
        for k in range(3):
            a = np.sin(a) * COEFFICIENTS[k] + a[::-1]
    return a


def in_parts(a: Any) -> Any:
    """A batch in a batch."""
    return pliant.vmap(waves)(a.reshape(2, len(a) // 2, -1)).ravel()


def carrying(a: Any) -> Any:
    """Two results, one of them the same for all problems."""
    k = 0
    for _ in range(40):
        a = a * 0.9 + a[:, ::-1] * 0.1
        k += 2
    return a * k


def shared_product(a: Any) -> Any:
    h = np.zeros(300)
    for row in a:
        h = np.tanh(MATRIX @ h + row.sum())
    return h


def few_numbers(a: Any) -> Any:
    x, y = a[0, 0], a[1, 1]
    for _ in range(30):
        x, y = x + 0.1 * y, y - 0.1 * x
    return x * y


def polynomial(a: Any) -> Any:
    """A loop that becomes one pass over what it carries."""
    y = np.zeros_like(a)
    for c in COEFFICIENTS:
        y = y * a + c
    return y


LONG = [waves, shortest, covariance, until_small, carrying]
SHORT = [shared_product, few_numbers, polynomial]


def batch_of(shape: tuple[int, ...]) -> Any:
    return np.random.default_rng(0).uniform(0.1, 1.0, shape)


@pytest.mark.parametrize("shape", [WIDE, NARROW, (16, 4, 4), (1, 40, 40), (0, 40, 40)])
@pytest.mark.parametrize("f", [*LONG, *SHORT, nested], ids=lambda f: f.__name__)
def test_a_batch_is_each_problem(f: Callable[..., Any], shape: tuple[int, ...]) -> None:
    xs = batch_of(shape)
    made = pliant.vmap(f)(xs)
    assert len(made) == len(xs)
    for y, x in zip(made, xs, strict=True):
        np.testing.assert_allclose(y, f(x), rtol=1e-10)


@pytest.mark.parametrize("f", [*LONG, *SHORT, in_parts], ids=lambda f: f.__name__)
def test_gradients_of_batches_and_batches_of_gradients_agree(f: Callable[..., Any]) -> None:
    xs = batch_of(WIDE)

    def total(x: Any) -> Any:
        return np.sum(np.sin(f(x)))

    wanted = np.stack([pliant.grad(total)(x) for x in xs])
    np.testing.assert_allclose(pliant.vmap(pliant.grad(total))(xs), wanted, rtol=1e-9, atol=1e-12)
    of_all = pliant.grad(lambda xs: np.sum(pliant.vmap(total)(xs)))
    np.testing.assert_allclose(of_all(xs), wanted, rtol=1e-9, atol=1e-12)


def test_the_gradient_of_what_problems_share_is_summed() -> None:
    xs, rates = batch_of(WIDE), np.linspace(0.1, 0.4, 40)

    def smoothed(rates: Any, x: Any) -> Any:
        for _ in range(5):
            x = x + rates * (x[::-1] - x)
        return np.sum(x * x)

    of_all = pliant.grad(lambda rates: np.sum(pliant.vmap(smoothed, in_axes=(None, 0))(rates, xs)))
    np.testing.assert_allclose(of_all(rates), sum(pliant.grad(smoothed)(rates, x) for x in xs), rtol=1e-9)


def is_in_turn(f: Callable[..., Any], shape: tuple[int, ...]) -> bool:
    text = str(pliant.explain(pliant.vmap(f), batch_of(shape)))
    return f"loop(length={shape[0]})" in text.partition("after the passes")[0]


@pytest.mark.parametrize("f", LONG, ids=lambda f: f.__name__)
def test_large_problems_are_taken_in_turn_and_small_ones_in_step(f: Callable[..., Any]) -> None:
    assert is_in_turn(f, WIDE)
    assert not is_in_turn(f, NARROW)


@pytest.mark.parametrize("f", SHORT, ids=lambda f: f.__name__)
def test_problems_that_gain_together_are_taken_in_step(f: Callable[..., Any]) -> None:
    assert not is_in_turn(f, WIDE)


def test_what_is_the_same_for_all_problems_is_made_once() -> None:
    weights = batch_of(WIDE)[0]

    def pushed(dx: Any) -> Any:
        """A tangent of a loop, whose other half is the same for all tangents."""
        return pliant.jvp(waves_of_squares, (weights,), (dx,))[1]

    def waves_of_squares(x: Any) -> Any:
        for _ in range(6):
            x = np.exp(np.sin(x[::-1])) * np.tanh(x)
        return x

    assert not is_in_turn(pushed, WIDE)


def test_an_error_in_a_step_is_raised() -> None:
    def f(x: Any) -> Any:
        for _ in range(4):
            if x.max() > 1.5:
                raise ValueError("too large")
            x = x + 0.1 * x[::-1]
        return x

    xs = batch_of(WIDE) * 0.5
    np.testing.assert_allclose(pliant.vmap(f)(xs), [f(x) for x in xs], rtol=1e-12)
    xs[7, 3, 3] = 2.0
    with pytest.raises(ValueError, match="too large"):
        pliant.vmap(f)(xs)


def test_generators_that_problems_make_draw_as_in_each() -> None:
    def f(x: Any) -> Any:
        rng = np.random.default_rng(3)
        for _ in range(3):
            x = x + x[::-1] * rng.random(x.shape)
        return x

    xs = batch_of(WIDE)
    np.testing.assert_allclose(pliant.vmap(f)(xs), [f(x) for x in xs], rtol=1e-12)
