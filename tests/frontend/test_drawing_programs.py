"""Programs that draw random numbers at run time do what Python does, and leave generators as it does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import PCG64, Generator, default_rng

import pliant
from benchmarks.draws import circle

W: Final = np.array([1.0, 2.0, 3.0])
X: Final = np.random.default_rng(0).normal(size=(20, 3))
ONE: Final = {"rng": np.random.default_rng(9)}


def walk(rng: Any, n: int) -> Any:
    x = top = 0.0
    for _ in range(n):
        x += rng.normal(0.1, 2.0)
        top = max(top, x)
    return x, top


def magnet(rng: Any, n: int) -> Any:
    spins = np.where(rng.random((8, 8)) < 0.5, 1, -1)
    for _ in range(10 * n):
        i, j = rng.integers(8), rng.integers(8)
        change = 2 * spins[i, j] * (spins[(i + 1) % 8, j] + spins[i - 1, j] + spins[i, (j + 1) % 8] + spins[i, j - 1])
        if change <= 0 or rng.random() < np.exp(-0.4 * change):
            spins[i, j] = -spins[i, j]
    return spins


def metropolis(rng: Any, n: int) -> Any:
    x, taken, path = 0.0, 0, np.zeros(n)
    for k in range(n):
        other = x + rng.normal(0, 0.5)
        if np.log(rng.uniform()) < (x**2 - other**2) / 2:
            x, taken = other, taken + 1
        path[k] = x
    return path, taken


def rejected(rng: Any, n: int) -> Any:
    while True:
        u, v = rng.random(), rng.random()
        n += 1
        if u * u + v * v < 0.1:
            return n, u


def bootstrapped(rng: Any, n: int) -> Any:
    means = np.empty(n)
    for k in range(n):
        means[k] = rng.choice(W, size=len(W)).mean()
    return means.std()


def descended(rng: Any, n: int) -> Any:
    w, y = np.zeros(3), X @ W
    for _ in range(n // 10):
        order = rng.permutation(len(X))
        for k in range(0, len(X), 4):
            part = order[k : k + 4]
            w = w - 0.1 * (X[part].T @ (X[part] @ w - y[part])) / 4
    return w


def shuffled(rng: Any, n: int) -> Any:
    x = np.arange(float(n))
    rng.shuffle(x)
    table = np.outer(x, x[:3])
    rng.shuffle(table, axis=1)
    names = [1.5, 2.5, 4.0]
    rng.shuffle(names)
    return x, table, names


def listed(rng: Any, n: int) -> Any:
    return [rng.random() for _ in range(3)], sum(rng.choice([1.0, 2.0, n]) for _ in range(4))


def in_one_branch(rng: Any, n: int) -> Any:
    for _ in range(n):
        n = n + (rng.poisson(3.0) if rng.random() < 0.3 else 1)
    return n


def evolved(rng: Any, n: int) -> Any:
    pop = X[:8].copy()
    for _ in range(n):
        for j in range(8):
            others = [c for c in range(8) if c != j]
            a, b, c = pop[rng.choice(others, 3, replace=False)]
            trial = np.where(rng.random(3) < 0.9, a + 0.8 * (b - c), pop[j])
            if (trial**2).sum() < (pop[j] ** 2).sum():
                pop[j] = trial
    return pop


def of_a_seed(rng: Any, n: int) -> Any:
    own = np.random.default_rng(n)
    return own.normal(size=3), np.random.default_rng(rng.integers(10)).random(), own.integers(100)


def of_one_made_here(rng: Any, n: int) -> Any:
    own = np.random.default_rng(3)
    a, x = own.normal(size=3), W
    for _ in range(4):
        x = x + own.normal(size=3) * a
    return x + own.random() + own.integers(5), Generator(PCG64(n)).random() if n < 0 else default_rng(5).random()


def asked(rng: Any, n: int) -> Any:
    same = np.random.default_rng(rng)
    return isinstance(rng, np.random.Generator), same.random(), same is rng


PROGRAMS: Final = (
    walk, circle, magnet, metropolis, rejected, bootstrapped, descended, shuffled, listed, in_one_branch,
    evolved, of_a_seed, of_one_made_here, asked,
)  # fmt: skip


def assert_equal(made: Any, wanted: Any) -> None:
    if isinstance(wanted, tuple | list):
        assert len(made) == len(wanted)
        for one, other in zip(made, wanted, strict=True):
            assert_equal(one, other)
    else:
        np.testing.assert_allclose(made, wanted, rtol=1e-12)


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_programs_do_what_python_does(f: Callable[..., Any], backend: str) -> None:
    rng, other = np.random.default_rng(1), np.random.default_rng(1)
    compiled = pliant.jit(f, backend=backend)
    for n in (30, 30) if backend == "llvm" else (10,):
        assert_equal(compiled(rng, n), f(other, n))
        assert rng.bit_generator.state == other.bit_generator.state


def test_generators_are_seen_wherever_they_are() -> None:
    held = [np.random.default_rng(8)]

    class Walker:
        def __init__(self) -> None:
            self.rng, self.x = np.random.default_rng(3), np.zeros(2)

        def step(self, n: int) -> Any:
            for _ in range(n):
                self.x += self.rng.normal(size=2)
                if self.rng.random() < 0.3:
                    self.x *= 0.5
            return self.x.sum()

    def seen(x: float) -> Any:
        return x + ONE["rng"].random() + sum([r.random() for r in held]) + sum(r.random() for r in ONE.values())

    fast, slow = Walker(), Walker()
    step = pliant.jit(fast.step)
    for n in (3, 5, 3):
        assert_equal(step(n), slow.step(n))
        assert_equal(fast.x, slow.x)
    assert fast.rng.bit_generator.state == slow.rng.bit_generator.state
    fast.rng, slow.rng = np.random.default_rng(5), np.random.default_rng(5)
    assert_equal(step(3), slow.step(3))

    before = ONE["rng"].bit_generator.state, held[0].bit_generator.state
    made = pliant.jit(seen)(1.0)
    ONE["rng"].bit_generator.state, held[0].bit_generator.state = before
    assert_equal(made, seen(1.0))


def noisy(w: Any, rng: Any) -> Any:
    z = rng.normal(size=w.shape)
    total = 0.0
    for _ in range(3):
        total = total + ((w * z + rng.random()) ** 2).sum()
    return total


@pytest.mark.parametrize(
    "derivative",
    [
        lambda rng: pliant.value_and_grad(noisy)(W, rng)[1] @ W,
        lambda rng: pliant.jit(lambda w: pliant.grad(noisy)(w, rng))(W) @ W,
        lambda rng: pliant.jvp(lambda w: noisy(w, rng), (W,), (W,))[1],
        lambda rng: pliant.vjp(lambda w: noisy(w, rng), W)[1](1.0)[0] @ W,
        lambda rng: pliant.jacobian(noisy)(W, rng) @ W,
    ],
)
def test_derivatives_draw_as_values_do(derivative: Callable[[Any], Any]) -> None:
    rng = np.random.default_rng(2)
    for _ in range(2):
        near = [np.random.default_rng(0) for _ in range(2)]
        for each in near:
            each.bit_generator.state = rng.bit_generator.state
        slope = (noisy(W * (1 + 1e-6), near[0]) - noisy(W * (1 - 1e-6), near[1])) / 2e-6
        np.testing.assert_allclose(derivative(rng), slope, rtol=1e-6)
        assert rng.bit_generator.state == near[0].bit_generator.state  # and the next has other numbers


def test_random_numbers_in_batches() -> None:
    seeds = np.arange(4)

    def of_a_row(seed: Any, x: Any) -> Any:
        return np.random.default_rng(seed).normal(size=2) * x

    made = pliant.vmap(of_a_row)(seeds, np.ones((4, 2)))
    np.testing.assert_allclose(made, [of_a_row(s, 1.0) for s in seeds], rtol=1e-13)
    rng, other, rows = np.random.default_rng(0), np.random.default_rng(0), np.stack([W, 2 * W, -W])
    for _ in range(2):
        one_by_one = [noisy(row, other) for row in rows]
        np.testing.assert_allclose(pliant.vmap(noisy, in_axes=(0, None))(rows, rng), one_by_one, rtol=1e-12)
        assert rng.bit_generator.state == other.bit_generator.state
    slopes = pliant.vmap(pliant.grad(noisy), in_axes=(0, None))(rows, rng)
    np.testing.assert_allclose(slopes, [pliant.grad(noisy)(row, other) for row in rows], rtol=1e-12)
    whole = pliant.grad(lambda xs: pliant.vmap(noisy, in_axes=(0, None))(xs, rng).sum())(rows)
    np.testing.assert_allclose(whole, [pliant.grad(noisy)(row, other) for row in rows], rtol=1e-12)
    assert rng.bit_generator.state == other.bit_generator.state


def test_rows_of_a_batch_do_not_share_what_is_drawn() -> None:
    def f(xs: Any) -> Any:
        rng = np.random.default_rng(0)
        first = rng.random()
        return pliant.vmap(lambda x: x + rng.normal())(xs) * first, rng.random()

    def one_by_one(xs: Any) -> Any:
        rng = np.random.default_rng(0)
        first = rng.random()
        return np.array([x + rng.normal() for x in xs]) * first, rng.random()

    assert_equal(pliant.jit(f)(W), one_by_one(W))


def test_rows_of_a_batch_fail_and_draw() -> None:
    def drawn(x: float, rng: Any) -> Any:
        y = rng.random()
        if x < 0:
            raise ValueError("below 0")
        return x + y

    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="below 0"):
        pliant.vmap(drawn, in_axes=(0, None))(np.array([1.0, -1.0, 2.0]), rng)
    assert rng.bit_generator.state == np.random.default_rng(0).bit_generator.state
    made = pliant.vmap(drawn, in_axes=(0, None))(np.array([1.0, 1.0]), rng)
    np.testing.assert_allclose(made, 1 + np.random.default_rng(0).random(2))


def test_a_derivative_of_its_own_does_not_draw() -> None:
    rng = np.random.default_rng(0)
    own = pliant.custom_derivative(lambda x: x * rng.normal(), jvp=lambda xs, dxs: dxs[0])
    with pytest.raises(pliant.PliantError, match="inside a function with a derivative of its own"):
        pliant.grad(own)(1.0)


def test_generators_without_a_seed_differ_at_each_call() -> None:
    fresh = pliant.jit(lambda x: x + np.random.default_rng().random(3))
    made = np.stack([fresh(0.0) for _ in range(50)])
    assert len(np.unique(made)) == made.size
    assert 0 <= made.min() < 0.2 < 0.8 < made.max() < 1


@pytest.mark.parametrize("seed", [0, 1, 2**31, 2**32 - 1, 2**32, 2**40 + 5, 2**63 - 1])
def test_seeds_of_run_time(seed: int) -> None:
    of = pliant.jit(lambda s: np.random.default_rng(s).integers(0, 2**60, size=4))
    assert_equal(of(seed), np.random.default_rng(seed).integers(0, 2**60, size=4))


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(ValueError, match="expected non-negative integer"):
        pliant.jit(lambda s: np.random.default_rng(s).random())(-1)


def test_generators_are_returned() -> None:
    rng = np.random.default_rng(1)
    assert pliant.jit(lambda r: (r.random(), r))(rng)[1] is rng
    assert pliant.jit(lambda s: np.random.default_rng(s))(7).random() == np.random.default_rng(7).random()


def test_a_failing_call_leaves_the_generator_as_it_is() -> None:
    def failing(rng: Any, x: float) -> Any:
        y = rng.normal()
        if x < 0:
            raise ValueError("below 0")
        return y

    rng = np.random.default_rng(1)
    with pytest.raises(ValueError, match="below 0"):
        pliant.jit(failing)(rng, -1.0)
    assert rng.bit_generator.state == np.random.default_rng(1).bit_generator.state


DRAWS: Final = {
    "random": lambda r, k: r.random(3)[k % 3],
    "normal": lambda r, k: r.normal(k, 0.5),
    "integers": lambda r, k: r.integers(k + 5),
    "short integers": lambda r, k: r.integers(0, 9, size=3, dtype=np.int8).sum(),
    "exponential": lambda r, k: r.exponential(2.0, size=2).sum(),
    "gamma": lambda r, k: r.gamma(k + 0.5),
    "poisson": lambda r, k: r.poisson(k * 4.0),
    "choice": lambda r, k: r.choice(W, 2, replace=False)[0],
    "permutation": lambda r, k: r.permutation(6)[k % 6],
    "short floats": lambda r, k: float(r.standard_normal(dtype=np.float32)),
}


@settings(max_examples=12, deadline=None)
@given(st.lists(st.sampled_from(sorted(DRAWS)), min_size=2, max_size=4), st.integers(0, 2**63 - 1), st.integers(0, 9))
def test_any_draws_in_any_order(names: list[str], seed: int, steps: int) -> None:
    first, *others = [DRAWS[name] for name in names]

    def program(rng: Any, n: int) -> Any:
        total = 0.0
        for k in range(n):
            total = total + first(rng, k)
            if rng.random() < 0.5:
                for draw in others:
                    total = total + draw(rng, k)
        return total

    rng, other = np.random.default_rng(seed), np.random.default_rng(seed)
    np.testing.assert_allclose(pliant.jit(program)(rng, steps), program(other, steps), rtol=1e-6)
    assert rng.bit_generator.state == other.bit_generator.state
