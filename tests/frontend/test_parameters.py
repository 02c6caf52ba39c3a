"""Draws of as many numbers as data decide: those of NumPy, by one program, also in loops, batches and derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import pliant

ROWS: Final = np.array([[1.0, -1, 2, -2, -3], [1, 1, -2, -2, 3], [1, 1, 1, 1, 1], [-1, -1, -1, -1, -1]])
KINDS: Final = (np.random.default_rng, np.random.RandomState)


def whole(rng: Any, *args: Any, **options: Any) -> Any:
    return (rng.integers if hasattr(rng, "integers") else rng.randint)(*args, **options)


DRAWS: Final[list[Callable[..., Any]]] = [
    lambda rng, n: rng.normal(1.0, 2.0, n),
    lambda rng, n: rng.standard_normal((n, 3)),
    lambda rng, n: rng.uniform(-1, 1, size=(n, 2, 1)).sum(axis=0),
    lambda rng, n: (rng.standard_exponential(n), rng.poisson(3.0, n), rng.binomial(10, 0.3, n)),
    lambda rng, n: np.sum(rng.gamma(2.0, 1.0, n)) + rng.uniform(),
    lambda rng, n: whole(rng, 0, 7, n),
    lambda rng, n: whole(rng, 0, n, n),
    lambda rng, n: whole(rng, 0, 7, n, dtype=np.int32),
    lambda rng, n: rng.choice(9, n),
    lambda rng, n: rng.choice(np.array([3.0, 4.0, 5.0]), n),
    lambda rng, n: rng.choice([3.0, 4.0, 5.0], n, p=[0.2, 0.3, 0.5]),
]


def programs(compiled: Any) -> int:
    return sum([len(found) for found in compiled.entries.values()])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("draw", DRAWS)
def test_as_many_numbers_as_data_decide_are_drawn_by_one_program(draw: Callable[..., Any], kind: Any) -> None:
    def f(z: Any, rng: Any) -> Any:
        return draw(rng, np.sum(z < 0)), draw(rng, np.sum(z > 0))

    compiled = pliant.jit(f)
    for seed, z in enumerate(ROWS):
        rng, other = kind(seed), kind(seed)
        made, wanted = compiled(z, rng), f(z, other)
        for one, its in zip(made, wanted, strict=True):
            pairs = zip(one, its, strict=True) if isinstance(its, tuple) else [(one, its)]
            for given, expected in pairs:
                np.testing.assert_allclose(given, expected, rtol=1e-13, strict=True)
        assert rng.uniform() == other.uniform()
    assert programs(compiled) == 1


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: rng.choice(20, n, replace=False),
        lambda rng, n: rng.multinomial(5, [0.2, 0.8], n),
        lambda rng, n: rng.random((3, n)),
        lambda rng, n: rng.normal(np.zeros(n)),
    ],
)
def test_other_draws_know_how_many_they_are(draw: Callable[..., Any]) -> None:
    rng, other = np.random.default_rng(0), np.random.default_rng(0)
    compiled = pliant.jit(lambda z, rng: draw(rng, np.sum(z < 0)))
    for z in ROWS[:2]:
        np.testing.assert_allclose(compiled(z, rng), draw(other, np.sum(z < 0)), rtol=1e-13, strict=True)
    assert rng.random() == other.random()


def replaced(z: Any, rng: Any, steps: int) -> Any:
    z = z.copy()
    for _ in range(steps):
        hit = z < 0.5
        z[hit] = rng.normal(0, 1, np.sum(hit))
        z = z * 0.9
    return z


@pytest.mark.parametrize("steps", [3, 30])
def test_elements_are_drawn_anew_in_loops(steps: int) -> None:
    compiled = pliant.jit(replaced, static="steps")
    rng, other = np.random.default_rng(0), np.random.default_rng(0)
    for z in ROWS:
        np.testing.assert_allclose(compiled(z, rng, steps), replaced(z, other, steps), rtol=1e-12)
        assert rng.bit_generator.state == other.bit_generator.state
    assert programs(compiled) == 1


def test_numbers_of_the_common_state_replace_elements() -> None:
    def f(z: Any) -> Any:
        z = z.copy()
        z[z < 0] = np.random.normal(0, 1, np.sum(z < 0))
        return z, np.random.uniform()

    compiled, state = pliant.jit(f), np.random.get_state()
    try:
        for seed, z in enumerate(ROWS):
            np.random.seed(seed)
            made = compiled(z)
            np.random.seed(seed)
            np.testing.assert_allclose(made[0], f(z)[0], rtol=1e-13)
            assert made[1] == (np.random.seed(seed), f(z)[1])[1]
    finally:
        np.random.set_state(state)
    assert programs(compiled) == 1


def scaled(s: Any, z: Any, rng: Any) -> Any:
    hit = z < 0
    y = z * s
    y[hit] = s * rng.normal(0, 1, np.sum(hit))
    return np.sum(y**2)


def test_derivatives_and_batches_draw_as_many() -> None:
    for seed, z in enumerate(ROWS):
        made, low, high = (np.random.default_rng(seed) for _ in range(3))
        slope = (scaled(2 + 1e-6, z, high) - scaled(2 - 1e-6, z, low)) / 2e-6
        np.testing.assert_allclose(pliant.grad(scaled)(2.0, z, made), slope, rtol=1e-6)
        assert made.bit_generator.state == low.bit_generator.state
    rng, other = np.random.default_rng(5), np.random.default_rng(5)
    rows = pliant.vmap(scaled, (None, 0, None))(2.0, ROWS, rng)
    np.testing.assert_allclose(rows, [scaled(2.0, z, other) for z in ROWS], rtol=1e-12)
    assert rng.bit_generator.state == other.bit_generator.state


def test_less_than_no_numbers_are_an_error() -> None:
    compiled, rng = pliant.jit(lambda z, rng: rng.normal(size=np.sum(z > 0) - 2)), np.random.default_rng(0)
    assert compiled(ROWS[1], rng).shape == (1,)
    with pytest.raises(ValueError, match="negative dimensions are not allowed"):
        compiled(ROWS[3], rng)


def test_bounds_are_asked_only_where_something_is_drawn() -> None:
    def f(z: Any, rng: Any) -> Any:
        n = np.sum(z < 0)
        return rng.integers(0, n, n), whole(rng, 0, n - 4, np.sum(z > 2))

    compiled, rng = pliant.jit(f), np.random.default_rng(0)
    assert [part.shape for part in compiled(ROWS[2], rng)] == [(0,), (0,)]
    with pytest.raises(ValueError, match="high <= 0"):
        compiled(np.append(ROWS[2][1:], 3.0), rng)
