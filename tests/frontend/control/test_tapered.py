"""Loops whose arrays are shorter, or longer, by as much after each step: loops of the program from some steps on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import optree
import pytest

import pliant

rng = np.random.default_rng(0)
X, A = rng.uniform(0.2, 1.0, 41), rng.uniform(0.2, 1.0, (33, 36))
N = 30


def shorter(x: Any, q: Any) -> Any:
    for _ in range(N):
        x = np.maximum(q * x[:-1] + (1 - q) * x[1:], 0.1)
    return x


def to_one(x: Any, q: Any) -> Any:
    for _ in range(len(x) - 1):
        x = np.sin(q * x[1:]) + x[:-1] / 2
    return x[0]


def two(x: Any, q: Any) -> Any:
    y = np.cos(x)
    for _ in range(N):
        x, y = q * x[1:] + 0.1 * y[:-1] ** 2, np.cos(y[1:]) * x[0]
    return x, y


def by_two(x: Any, q: Any) -> Any:
    x = np.concatenate((x, x))
    for _ in range(N):
        x = q * x[2:] + x[:-2] / 2
    return x


def longer(x: Any, q: Any) -> Any:
    y = x[:3]
    for _ in range(N):
        y = np.concatenate((y, [q * np.sin(y[-1]) + y[0]]))
    return y


def appended(x: Any, q: Any) -> Any:
    y = np.zeros(0)
    for i in range(N):
        y = np.append(y, q * i + x[i])
    return y, y @ y


def longer_in_front(x: Any, q: Any) -> Any:
    for _ in range(N):
        x = np.concatenate((x, [0.0])) + np.concatenate(([0.0], x)) * q
    return x


def under_a_condition(x: Any, q: Any) -> Any:
    for _ in range(N):
        x = q * x[:-1] + (1 - q) * x[1:]
        if x[0] > 0.4:
            x = x * 1.1
        if x[-1] > 0.5:
            x[0] = 0.2
    return x


def left_early(x: Any, q: Any) -> Any:
    for _ in range(N):
        if x[0] > 3 or x.mean() < 0.3:
            break
        x = q * x[:-1] + (1.1 - q) * x[1:]
    return x.sum()


def written(x: Any, q: Any) -> Any:
    for _ in range(N):
        x[0] = q
        x = q * x[:-1] + x[1:] / 2
        x[-1] *= q
    x[1] = 3.0
    return x


def of_other_names(x: Any, q: Any) -> Any:
    before, after = x, x
    for _ in range(N):
        before, x = x, q * x[1:] + 0.1
        after = x[1:]
    after[0] = 5.0
    return before, x, after


def summed(x: Any, q: Any) -> Any:
    total = 0.0
    for _ in range(N):
        total = total + x.sum() * x.max() - x.mean() + x @ x / x.size
        x = q * x[1:] + 0.1
    return total, x.shape[0] * x


def emptied(x: Any, q: Any) -> Any:
    for _ in range(60):
        x = q * x[1:]
    return x, x.sum()


def in_a_loop(x: Any, q: Any) -> Any:
    for _ in range(25):
        y = np.concatenate((x, x))
        for _ in range(25):
            y = q * y[1:] + y[:-1] / 3
        x = x[1:] + 0.01 * y[0]
    return x


def held(x: Any, q: Any) -> Any:
    state = {"x": x, "n": 0}
    for _ in range(N):
        state["x"] = q * state["x"][1:] + 0.1
        state["n"] += len(state["x"])
    return state["x"], state["n"]


def options(x: Any, q: Any) -> Any:
    """An American put, by a binomial tree."""
    n, up = 40, np.exp(q / 5)
    p, value = 1 / (1 + up), np.maximum(x[0] - 0.7 * up ** np.arange(n, -n - 1, -2.0), 0)
    for i in range(n - 1, -1, -1):
        value = 0.99 * (p * value[:-1] + (1 - p) * value[1:])
        value = np.maximum(value, x[0] - 0.7 * up ** np.arange(i, -i - 1, -2.0))
    return value[0]


def both_axes(a: Any, q: Any) -> Any:
    for _ in range(26):
        a = np.tanh(q * a[1:, :-1] + a[:-1, 1:])
    return a


def one_axis(a: Any, q: Any) -> Any:
    for _ in range(26):
        a = np.tanh(q * a[:, 1:] + a[:, :-1]) - a.mean(axis=1, keepdims=True)
    return a.sum(axis=0)


LOOPS = [
    shorter, to_one, two, by_two, longer, appended, longer_in_front, under_a_condition, written, of_other_names, summed,
    in_a_loop, held, options, both_axes, one_axis,
]  # fmt: skip
OTHERS = [left_early, emptied]  # of which it is not known how short an array is after a step


def given(f: Callable[..., Any]) -> Any:
    return A if f in (both_axes, one_axis) else X


def total(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, q: sum([np.sum(leaf * 1.0) for leaf in optree.tree_leaves(f(x + 0, q))])


def report(f: Callable[..., Any]) -> str:
    return str(pliant.explain(pliant.jit(f), given(f).copy(), 0.4)).partition("loops of the source")[2]


CASES = [*[(f, "f8") for f in (*LOOPS, *OTHERS)], *[(f, "f4") for f in (shorter, summed, longer, under_a_condition)],
         *[(f, "c16") for f in (to_one, two, longer, both_axes)]]  # fmt: skip


@pytest.mark.parametrize(("f", "dtype"), CASES)
def test_it_leaves_what_numpy_does(f: Callable[..., Any], dtype: str) -> None:
    x, y = given(f).astype(dtype), given(f).astype(dtype)
    wanted, got = f(x, 0.4), pliant.jit(f)(y, 0.4)
    np.testing.assert_allclose(x, y, rtol=1e-5)
    tolerance = 2e-5 if dtype == "f4" else 1e-11
    for a, b in zip(optree.tree_leaves(wanted), optree.tree_leaves(got), strict=True):
        assert np.shape(a) == np.shape(b) and np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(b, a, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("f", [*LOOPS, *OTHERS])
def test_its_derivatives_are_differences(f: Callable[..., Any]) -> None:
    loss, x, way, step = total(f), given(f), np.sin(np.arange(given(f).size) + 1.0).reshape(given(f).shape), 1e-6
    wanted = (loss(x + step * way, 0.4 + step) - loss(x - step * way, 0.4 - step)) / (2 * step)
    by_x, by_q = pliant.grad(loss, argnums=(0, 1))(x, 0.4)
    assert np.sum(by_x * way) + by_q == pytest.approx(wanted, rel=2e-5, abs=1e-6)
    assert pliant.jvp(loss, (x, 0.4), (way, 1.0))[1] == pytest.approx(wanted, rel=2e-5, abs=1e-6)


@pytest.mark.parametrize("f", [to_one, two, longer, under_a_condition, options])
def test_its_second_derivatives_are_differences(f: Callable[..., Any]) -> None:
    slope = pliant.grad(total(f), argnums=1)
    wanted = (slope(X, 0.4 + 1e-6) - slope(X, 0.4 - 1e-6)) / 2e-6
    assert pliant.grad(slope, argnums=1)(X, 0.4) == pytest.approx(wanted, rel=1e-4, abs=1e-5)
    assert pliant.jvp(slope, (X, 0.4), (np.zeros(41), 1.0))[1] == pytest.approx(wanted, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("f", LOOPS)
def test_a_batch_of_it_is_a_loop(f: Callable[..., Any]) -> None:
    rows, loss = np.stack([given(f), given(f)[::-1], 1.5 - given(f)]), total(f)
    np.testing.assert_allclose(pliant.vmap(lambda x: loss(x, 0.4))(rows), [loss(x, 0.4) for x in rows], rtol=1e-10)
    np.testing.assert_allclose(
        pliant.vmap(lambda q: loss(rows[0], q))(np.array([0.3, 0.5])),
        [loss(rows[0], q) for q in (0.3, 0.5)],
        rtol=1e-10,
    )


@pytest.mark.parametrize("f", LOOPS)
def test_it_is_a_loop_of_the_program(f: Callable[..., Any]) -> None:
    assert "unrolled" not in report(f)


def test_few_steps_are_copies() -> None:
    def few(x: Any, q: Any) -> Any:
        for _ in range(8):
            x = q * x[1:]
        return x

    assert "unrolled, 8 steps" in report(few)


def test_what_follows_knows_how_many_elements_are_left() -> None:
    def followed(x: Any, q: Any) -> Any:
        x = shorter(x, q)
        x[0] += len(x)
        return np.sort(x).reshape(-1, 1), x[::-1].tolist()

    wanted, got = followed(X, 0.4), pliant.jit(followed)(X, 0.4)
    np.testing.assert_allclose(got[0], wanted[0], rtol=1e-12)
    np.testing.assert_allclose(got[1], wanted[1], rtol=1e-12)
    assert pliant.jit(shorter)(X, 0.4).base is None
