"""Random numbers of a generator with a known seed are constants where all is known; see `test_drawing_programs`."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import pliant

X = np.linspace(-1, 2, 9)


def noisy(x: Any) -> Any:
    rng = np.random.default_rng(7)
    scale = 1 + 0.5 * rng.uniform(size=3)
    return x * rng.normal(size=9) + rng.permutation(9) + scale.sum()


def of_several_functions(x: Any) -> Any:
    rng = np.random.default_rng(np.random.SeedSequence(3))

    def jittered(v: Any) -> Any:
        return v + rng.standard_normal(v.shape)

    for _ in range(6):
        x = np.tanh(jittered(x))
    return x


def of_arrays(x: Any) -> Any:
    rng = np.random.default_rng(11)
    a, table = x.copy(), np.outer(x, x[:4])
    few, one = rng.choice(x, 3), rng.choice(a)
    apart, likely = (
        rng.choice(table, 2, replace=False),
        rng.choice(x, (2, 2), p=np.arange(9) / 36) + rng.normal(np.arange(2)),
    )
    columns = rng.choice(table, size=3, axis=1)
    turned, rows, across = rng.permutation(x), rng.permutation(table), rng.permutation(table, axis=1)
    rng.shuffle(a[1:])
    rng.shuffle(table, axis=1)
    rng.shuffle(table)
    parts = [few, one, apart, likely, columns, turned, rows, across, a, table, rng.permutation(np.arange(5)) * x[0]]
    return np.concatenate([np.ravel(part) * (n + 1) for n, part in enumerate(parts)])


@pytest.mark.parametrize("f", [noisy, of_several_functions, of_arrays])
def test_draws_of_a_known_seed_are_those_of_numpy(f: Any) -> None:
    compiled, way, step = pliant.jit(f), np.cos(np.arange(9.0)), 1e-6
    for _ in range(3):
        np.testing.assert_allclose(compiled(X), f(X), rtol=1e-12)
    np.testing.assert_allclose(pliant.vmap(f)(np.stack([X, -X])), [f(X), f(-X)], rtol=1e-12)
    slope = (f(X + step * way) - f(X - step * way)) / (2 * step)
    np.testing.assert_allclose(pliant.jvp(f, (X,), (way,))[1], slope, rtol=1e-5, atol=1e-8)


def test_other_draws_are_errors() -> None:
    def pythons(x: Any) -> Any:
        return x + random.uniform(0, 1)

    with pytest.raises(pliant.PliantError, match="would draw once, not at every call"):
        pliant.jit(pythons)(X)

    def of_several_numbers(x: Any) -> Any:
        return x + np.random.default_rng([1, int(x[0])]).normal()

    with pytest.raises(pliant.PliantError, match="several numbers that are known only at run time"):
        pliant.jit(of_several_numbers)(X)


@pytest.mark.parametrize("drawn", [0, 1, 2, 3])
@pytest.mark.parametrize("shift", [0, 1])
def test_two_words_are_drawn_where_the_words_end_as_elsewhere(drawn: int, shift: int) -> None:
    def f(n: Any) -> Any:
        return np.random.rand() + np.random.rand(2) * n, np.random.standard_normal(), np.random.randint(0, 9)

    compiled = pliant.jit(f)
    outcomes: list[Any] = []
    for run in (compiled, f):
        np.random.seed(3)
        np.random.bytes(4 * (620 + 2 * (drawn - 1) + shift))
        outcomes.append([*run(2.0), np.random.rand()])
    for got, wanted in zip(*outcomes, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-15)
