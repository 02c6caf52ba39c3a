"""What functions given to loops, branches and checkpoints draw and print: what they do where nothing is compiled."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant

Draws = np.random.Generator
XS = np.array([1.0, 2.0, 0.5, 3.0, 1.5])


def counted(x: Any, rng: Draws) -> Any:
    def body(i: Any, total: Any) -> Any:
        print("step", i, f"{total:.6f}")
        return total * rng.random() + x[i]

    return pliant.fori_loop(0, 5, body, x[0])


def counted_from(x: Any, rng: Draws) -> Any:
    return pliant.fori_loop(2, 5, lambda i, total: total * rng.random() + x[i], x[0])


def counted_at_run_time(x: Any, rng: Draws) -> Any:
    def body(i: Any, total: Any) -> Any:
        print(i)
        return total + rng.normal() * x[1]

    n = np.sum(x > 0.7)
    return pliant.fori_loop(0, n, body, 0.0) + pliant.fori_loop(0, n, body, 0.0, max_steps=10)


def scanned(x: Any, rng: Draws) -> Any:
    def step(carry: Any, x: Any) -> Any:
        print(f"{carry:.6f} and {x}")
        return carry * x, carry + rng.standard_normal()

    return pliant.scan(step, 1.0, x)


def scanned_back(x: Any, rng: Draws) -> Any:
    return pliant.scan(lambda c, x: (c * x * rng.random(), c + rng.random()), 1.0, x, reverse=True)


def while_below(x: Any, rng: Draws) -> Any:
    def body(state: Any) -> Any:
        print(state[0])
        return state[0] + rng.exponential(), state[1] * x[1]

    return pliant.while_loop(lambda state: state[0] < 3, body, (x[0], x[2]))


def chosen(x: Any, rng: Draws) -> Any:
    def drawn(x: Any) -> Any:
        print("drawn", x[0])
        return x[0] * rng.random()

    def printed(x: Any) -> Any:
        print("printed")
        return x[1]

    return pliant.cond(x[0] > 0, drawn, printed, x) + pliant.cond(x[0] < 0, drawn, printed, x)


def one_of_three(x: Any, rng: Draws) -> Any:
    def times(k: int) -> Callable[[Any], Any]:
        def made(x: Any) -> Any:
            print("branch", k)
            return k * x[2] + rng.random()

        return made

    return sum(pliant.switch(np.sum(x > limit) % 3, [times(1), times(2), times(3)], x) for limit in (0.7, 1.2, 2.5))


def mapped_and_reduced(x: Any, rng: Draws) -> Any:
    def total(a: Any, b: Any) -> Any:
        print("total", a)
        return a + b * rng.random()

    return pliant.reduce(total, 0.0, pliant.map(lambda row: row * rng.random(), x))


def nested(x: Any, rng: Draws) -> Any:
    def outer(i: Any, total: Any) -> Any:
        def inner(j: Any, total: Any) -> Any:
            print(i, j, f"{total:.6f}")
            return pliant.cond(total > 2, lambda t: t * rng.random(), lambda t: t + 0.3 * x[j], total)

        return pliant.fori_loop(0, 3, inner, total) + rng.random()

    return pliant.fori_loop(0, 4, outer, x[0])


def in_a_loop_of_python(x: Any, rng: Draws) -> Any:
    total = x[0]
    for i in range(4):
        u = rng.random()
        total = pliant.fori_loop(0, i, lambda j, t, u=u: t * rng.random() + u, total)
        if total > 1:
            print("above", f"{total:.6f}")
    return total


def two_generators(x: Any, rng: Draws) -> Any:
    other = np.random.default_rng(7)
    first = pliant.fori_loop(0, 3, lambda i, t: t * rng.random() + other.random(), x[0])
    return first + other.random() + rng.random()


def again(x: Any, rng: Draws) -> Any:
    def noisy(x: Any) -> Any:
        print("noisy", x[0])
        return x * rng.normal(size=5)

    return np.sum(np.sin(pliant.checkpoint(noisy)(x))) + rng.random()


def again_in_parts(x: Any, rng: Draws) -> Any:
    def noisy(x: Any) -> Any:
        for i in range(5):
            print(i)
            x = x * rng.normal()
        return x

    return np.sum(pliant.checkpoint(noisy, save="sqrt")(x)) + rng.random()


def keeping(save: Any) -> Callable[[Any, Draws], Any]:
    def kept(x: Any, rng: Draws) -> Any:
        def body(i: Any, state: Any) -> Any:
            print(i, f"{state:.6f}")
            return np.sin(state) * rng.random() + x[i % 5]

        return pliant.fori_loop(0, 20, body, x[0], save=save)

    return kept


CASES = [
    counted, counted_from, counted_at_run_time, scanned, scanned_back, while_below, chosen, one_of_three,
    mapped_and_reduced, nested, in_a_loop_of_python, two_generators, again, again_in_parts,
    *map(keeping, ["store", "carry", "sqrt", pliant.treeverse(4)]),
]  # fmt: skip


def shown(f: Callable[..., Any], *args: Any) -> tuple[Any, list[str]]:
    """What f returns, and the lines that it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        made = f(*args)
    return made, out.getvalue().splitlines()


def summed(f: Callable[..., Any]) -> Callable[..., Any]:
    """The sum of what f returns."""

    def total(*args: Any) -> Any:
        made = f(*args)
        return sum(np.sum(part) for part in made) if isinstance(made, tuple) else made

    return total


@pytest.mark.parametrize("f", CASES)
def test_as_without_compilation(f: Callable[..., Any]) -> None:
    compiled = pliant.jit(f)
    ours, theirs = np.random.default_rng(3), np.random.default_rng(3)
    for x in (XS, XS[::-1].copy(), -XS):
        made, lines = shown(compiled, x, ours)
        expected, wanted = shown(f, x, theirs)
        parts = (made, expected) if isinstance(made, tuple) else ((made,), (expected,))
        for one, other in zip(*parts, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-13)
        assert lines == wanted
        assert ours.bit_generator.state == theirs.bit_generator.state


@pytest.mark.parametrize("f", CASES)
def test_derivatives_draw_and_print_as_the_function(f: Callable[..., Any]) -> None:
    total = summed(f)
    slope = pliant.value_and_grad(total)
    ours, theirs = np.random.default_rng(3), np.random.default_rng(3)
    for _ in range(2):
        state = ours.bit_generator.state
        (value, gradient), lines = shown(slope, XS, ours)
        expected, wanted = shown(total, XS, theirs)
        np.testing.assert_allclose(value, expected, rtol=1e-13)
        assert lines == wanted
        assert ours.bit_generator.state == theirs.bit_generator.state
        for n in range(len(XS)):
            ends = []
            for sign in (1, -1):
                rng = np.random.default_rng()
                rng.bit_generator.state = state
                ends.append(shown(total, XS + sign * 1e-6 * (np.arange(5) == n), rng)[0])
            np.testing.assert_allclose(gradient[n], (ends[0] - ends[1]) / 2e-6, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("f", [counted, scanned, nested, again])
def test_rows_of_a_batch_in_turn(f: Callable[..., Any]) -> None:
    total = summed(f)
    rows = np.stack([XS, XS[::-1], 0.5 * XS])
    ours, theirs = np.random.default_rng(3), np.random.default_rng(3)
    made, lines = shown(pliant.vmap(total, in_axes=(0, None)), rows, ours)
    expected, wanted = shown(lambda: [total(row, theirs) for row in rows])
    np.testing.assert_allclose(made, expected, rtol=1e-13)
    assert lines == wanted
    assert ours.bit_generator.state == theirs.bit_generator.state


def test_a_generator_from_outside_and_the_functions_of_numpy() -> None:
    rng = np.random.default_rng(5)

    def walked(x: float) -> Any:
        return pliant.fori_loop(0, 6, lambda i, t: t + rng.normal() + np.random.rand(), x)

    np.random.seed(1)
    expected = [walked(x) for x in (1.0, 2.0)]
    rng = np.random.default_rng(5)
    np.random.seed(1)
    compiled = pliant.jit(walked)
    np.testing.assert_allclose([compiled(1.0), compiled(2.0)], expected, rtol=1e-13)


def test_steps_that_draw_cannot_be_undone() -> None:
    def loop(x: float, rng: Draws) -> Any:
        back = pliant.reversible(lambda i, t: t / 2)
        return pliant.fori_loop(0, 3, lambda i, t: t * rng.random(), x, save=back)

    with pytest.raises(pliant.PliantError, match="which cannot be undone") as caught:
        pliant.grad(loop)(1.0, np.random.default_rng(0))
    assert "fori_loop(0, 3" in str(caught.value)
    assert 'save="sqrt"' in str(caught.value)


def test_a_condition_does_not_draw() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(pliant.PliantError, match="random numbers are drawn"):
        pliant.jit(lambda x: pliant.while_loop(lambda t: t < rng.random(), lambda t: t + 1, x))(0.0)
    assert rng.bit_generator.state == np.random.default_rng(0).bit_generator.state


def test_other_arrays_from_outside_are_written_at_each_step() -> None:
    table = np.zeros(3)

    def body(i: Any, t: Any) -> Any:
        table[i] = t
        return t + 1

    assert pliant.jit(lambda x: pliant.fori_loop(0, 3, body, x))(0.0) == 3.0
    np.testing.assert_array_equal(table, [0, 1, 2])
