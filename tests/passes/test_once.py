"""A while loop is run once for its value and its derivatives, and these are what two runs give."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant import ops
from pliant.backends import backend_named
from pliant.core.inner import functions_of
from pliant.core.ir import Function, Node, nodes
from pliant.core.parse import parse
from pliant.kernel.ir import Host
from pliant.ops.tape import Record, tapes_made
from pliant.passes.once import run_once
from pliant.pipeline import optimise
from pliant.testing import check_gradient, run
from pliant.transforms.dead import eliminate_dead
from pliant.transforms.inline import inline

RNG = np.random.default_rng(0)


def root(a: Any) -> Any:
    """Newton's iteration, and something of its result."""
    x = a + 1.0
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return np.sin(x) * x


def adaptive(x: Any, w: Any) -> Any:
    """Steps as long as an estimate of their error allows."""
    t, h = 0.0, 0.05
    while t < 1.0:
        first = -w * x
        second = -w * (x + h * first)
        error = np.abs(second - first).max() * h
        x = x + 0.5 * h * (first + second)
        t = t + h
        h = h * min(1.2, max(0.5, 0.9 * np.sqrt(1e-3 / (error + 1e-30))))
    return np.sum(x**2) + np.sum(x * w)


def one_after_the_other(x: Any, w: Any) -> Any:
    """Two loops, the second of which begins where the first one ended."""
    while np.sum(x) > 1.0:
        x = x * np.cos(w)
    y = np.exp(-x)
    while np.sum(y) > 0.5:
        y = y * x * 0.7
    return np.sum(y * w) + np.max(x)


def nested(x: Any, w: Any) -> Any:
    """A loop in each step of one."""
    while np.sum(x) > 0.5:
        y = x
        while np.sum(y) > 0.4:
            y = y * np.cos(w)
        x = 0.9 * x + 0.05 * y * w
    return np.sum(x * x)


def trained(x: Any, w: Any) -> Any:
    """A gradient of a loop in each step of another."""
    for _ in range(3):
        x = x - 0.01 * pliant.grad(adaptive)(x, w)
    return np.sum(x * w)


def in_a_branch(x: Any, w: Any) -> Any:
    """A loop in one arm of a branch, another in the other, and something of their results."""
    if x[0] > 0.6:
        y = x * w
        while np.sum(y) > 0.2:
            y = y * np.cos(w)
    else:
        y = np.sin(x)
        while np.max(y) > 0.1:
            y = 0.8 * y * w
    return np.sum(y * y) + np.sum(np.exp(y) * w)


def adaptive_or_not(x: Any, w: Any) -> Any:
    """A loop in one arm only, with branches in its steps."""
    return adaptive(x, w) if np.sum(w) > 0.0 else np.sum(x * w)


def rotating(x: Any, w: Any) -> Any:
    """Carries that change places, of which one is large."""
    y = x * w
    while np.sum(x * x) > 0.05:
        x, y = y, np.sin(x) * w
    return np.sum(x * y)


def never(x: Any, w: Any) -> Any:
    """No step is run."""
    while np.sum(x) > 1e9:
        x = x * w
    return np.sum(x * x * w)


def with_linear_algebra(x: Any, w: Any) -> Any:
    """What lies between is done by a library."""
    while np.sum(x) > 1.0:
        x = x * np.cos(w)
    return np.linalg.solve(np.outer(x, w) + np.diag(w + 2), x).sum()


PROGRAMS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (adaptive, one_after_the_other, nested, in_a_branch, adaptive_or_not, rotating, never, with_linear_algebra)
}


def inside(fn: Function) -> list[Node]:
    """All nodes, also of functions held."""
    order = nodes(fn.results)
    return order + [n for node in order for f in functions_of(node.op).values() for n in inside(f)]


WAYS = ("while_loop", "retrace", "record", "rewind")


def loops(fn: Function) -> list[str]:
    """The names of the loops of a program that is ready to become code."""
    return sorted([n.op.name for n in inside(optimise(fn)) if n.op.name in WAYS])


ONCE = ["record", "rewind"]


def drawn(size: int) -> tuple[Any, Any]:
    return RNG.uniform(0.3, 0.9, size), RNG.uniform(0.3, 0.9, size)


def derived(f: Callable[..., Any]) -> Callable[..., Any]:
    return pliant.value_and_grad(f, argnums=(0, 1))


def test_the_loop_is_run_once() -> None:
    xs = drawn(5)
    assert loops(pliant.trace(pliant.value_and_grad(root), 3.0)) == ONCE
    assert loops(pliant.trace(pliant.grad(root), 3.0)) == ONCE
    assert loops(pliant.trace(root, 3.0)) == ["while_loop"]
    for f in (adaptive, rotating, never):
        assert loops(pliant.trace(derived(f), *xs)) == ONCE
    assert loops(pliant.trace(derived(one_after_the_other), *xs)) == sorted(ONCE * 2)
    assert loops(pliant.trace(trained, *xs)) == sorted(ONCE * 2)  # in the first step, and in all that follow
    assert loops(pliant.trace(derived(in_a_branch), *xs)) == sorted(ONCE * 2)
    assert loops(pliant.trace(derived(adaptive_or_not), *xs)) == ONCE


@pytest.mark.parametrize("size", [1, 5, 40])
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_gradients_are_those_of_numpy_and_of_differences(name: str, size: int) -> None:
    f, (x, w) = PROGRAMS[name], drawn(size)
    value, slopes = derived(f)(x, w)
    np.testing.assert_allclose(value, f(x, w), rtol=1e-12)
    ways = RNG.normal(size=(2, size))
    step = 1e-6 * ways
    wanted = (f(x + step[0], w + step[1]) - f(x - step[0], w - step[1])) / 2e-6
    np.testing.assert_allclose(np.vdot(slopes, ways), wanted, rtol=1e-5)


def test_the_root_has_the_implicit_gradient() -> None:
    x = np.sqrt(3.0)
    value, slope = pliant.value_and_grad(root)(3.0)
    np.testing.assert_allclose([value, slope], [np.sin(x) * x, (np.cos(x) * x + np.sin(x)) * 0.5 / x])


def joined(f: Callable[..., Any], *xs: Any) -> tuple[Function, Function]:
    """A program with its loops run twice, and once."""
    twice = inline(pliant.trace(f, *xs))
    once = run_once(twice)
    assert [n for n in inside(once) if isinstance(n.op, Record)]
    return twice, once


@pytest.mark.parametrize("size", [3, 40])
@pytest.mark.parametrize("name", PROGRAMS)
def test_once_is_what_twice_is(name: str, size: int) -> None:
    """On the reference, in machine code, read from its text."""
    xs = list(drawn(size))
    twice, once = joined(derived(PROGRAMS[name]), *xs)
    wanted = run(twice, xs)
    assert parse(str(once), ops.ALL) == once
    code: Any = backend_named("llvm").compile(optimise(once))
    for made in (run(once, xs), code(xs)):
        for a, b in zip(made, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)
    assert [s for s in code.order if isinstance(s, Host)] == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_any_of_the_results_may_be_dropped(name: str) -> None:
    xs = list(drawn(4))
    _, once = joined(derived(PROGRAMS[name]), *xs)
    wanted = run(once, xs)
    for used in itertools.product((True, False), repeat=3):
        kept = [n for n, u in enumerate(used) if u]
        less = eliminate_dead(Function("less", once.params, tuple([once.results[n] for n in kept])))
        for made in (run(less, xs), backend_named("llvm").compile(optimise(less))(xs)):
            for n, a in zip(kept, made, strict=True):
                np.testing.assert_allclose(a, wanted[n], rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("f", [adaptive, rotating, nested, one_after_the_other, in_a_branch])
def test_batches_of_gradients_have_trip_counts_of_their_own(f: Callable[..., Any]) -> None:
    xs = np.stack([scale * drawn(6)[0] for scale in (0.1, 0.6, 1.0, 2.5)])
    w = drawn(6)[1]
    values, slopes = pliant.vmap(derived(f), in_axes=(0, None))(xs, w)
    for n, x in enumerate(xs):
        value, slope = derived(f)(x, w)
        np.testing.assert_allclose(values[n], value, rtol=1e-11)
        for a, b in zip(slopes, slope, strict=True):
            np.testing.assert_allclose(a[n], b, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("f", [adaptive, rotating, nested, one_after_the_other, trained, in_a_branch])
def test_second_derivatives_are_what_differences_of_gradients_are(f: Callable[..., Any]) -> None:
    (x, w), way = drawn(4), RNG.normal(size=4)
    slope = pliant.grad(f)
    wanted = (slope(x + 1e-6 * way, w) - slope(x - 1e-6 * way, w)) / 2e-6
    made = pliant.jvp(slope, (x, w), (way, np.zeros(4)))[1]
    np.testing.assert_allclose(made, wanted, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(pliant.hessian(f)(x, w) @ way, wanted, rtol=1e-5, atol=1e-7)


def test_what_python_computes_does_not_make_the_loop_slow() -> None:
    """A result that machine code has no rule for comes from Python; the loop does not."""

    def f(x: Any) -> Any:
        while np.sum(x) > 1.0:
            x = x * 0.9
        return np.sum(np.linalg.svd(np.outer(x, x) + np.diag(x * x))[1] ** 2)

    x = np.array([1.0, 2.0, 3.0])
    fn = pliant.trace(pliant.value_and_grad(f), x)
    code: Any = backend_named("llvm").compile(optimise(fn))
    calls = [s.node.op.name for s in code.order if isinstance(s, Host)]
    assert not {*WAYS} & {*calls}
    np.testing.assert_allclose(code([x])[0], f(x), rtol=1e-12)


def test_an_index_out_of_range_between_the_two_ways_is_an_error() -> None:
    def f(x: Any, n: Any) -> Any:
        m = 0
        while np.sum(x) > 1.0:
            x, m = x * 0.9, m + 1
        return x[m + n] ** 2

    x = RNG.uniform(0.05, 0.06, 30)
    value, slope = pliant.value_and_grad(f)(x, 0)
    assert value > 0
    assert np.count_nonzero(slope) == 1
    with pytest.raises(IndexError, match="out of range"):
        pliant.value_and_grad(f)(x, 30)


# --- loops in the steps of others


def newton_in_steps(x: Any, w: Any) -> Any:
    """Implicit steps in time, each by Newton's iteration."""
    for _ in range(12):
        y, r = x, 0.3 * w * x**3
        while np.max(np.abs(r)) > 1e-9:
            y = y - r / (1.0 + 0.9 * w * y**2)
            r = y - x + 0.3 * w * y**3
        x = y
    return np.sum(x * x * w)


def line_search(x: Any, w: Any) -> Any:
    """Descent, each step of a length that is sought; some steps are as long as they are."""
    for _ in range(5):
        slope = 2.0 * w * x + 0.4 * x**3
        before, t, y = np.sum(w * x * x + 0.1 * x**4), 2.0, x - 2.0 * slope
        while np.sum(w * y * y + 0.1 * y**4) > before - 0.3 * t * np.sum(slope * slope):
            t = 0.5 * t
            y = x - t * slope
        x = y + 0.05 * w
    return np.sum(x * w)


def sweep(x: Any, w: Any) -> Any:
    """An adaptive loop for each of some rows, kept."""
    rows = [adaptive(x * (0.1 + 0.15 * k), w) * np.cos(x) for k in range(12)]
    return np.sum(np.stack(rows) ** 2)


def as_long_as(x: Any, w: Any) -> Any:
    """In steps whose number is known at run time, of loops of which some have no steps."""
    count = int(np.sum(x) * 3) + 2
    for k in range(count):
        while np.sum(x) > 1.0 + 0.1 * k:
            x = x * (1.0 - 0.1 * w)
        x = np.sin(x) + 0.2 * w
    return np.sum(x * x)


def with_break(x: Any, w: Any) -> Any:
    """In a loop that may end early, and one that ends early in a step of it."""
    for k in range(6):
        y = x
        for _ in range(20):
            y = y * np.cos(w)
            if np.sum(y) < 0.4:
                break
        x = 0.8 * x + 0.1 * y
        if np.sum(x) < 0.3 + 0.01 * k:
            break
    return np.sum(x * x * w)


def in_an_arm_of_steps(x: Any, w: Any) -> Any:
    """In an arm of a branch in a loop in a loop."""
    for k in range(12):
        for j in range(10):
            if np.sum(x) > 0.9 - 0.1 * j:
                while np.sum(x) > 0.7:
                    x = x * np.cos(w)
            else:
                x = x + 0.02 * w * (k + 1)
    return np.sum(x * x * w)


def deep(x: Any, w: Any) -> Any:
    """A loop of unknown length in a loop in one of unknown length."""
    while np.sum(x) > 0.4:
        for _ in range(12):
            y = x
            while np.sum(y) > 0.3:
                y = y * np.cos(w)
            x = 0.95 * x + 0.005 * y * w
    return np.sum(x * x)


def carried_on(x: Any, w: Any) -> Any:
    """Steps that read two loops, one from where the other ended, and their tapes in one loop back."""
    total = 0.0 * x
    for _ in range(12):
        y = x
        while np.sum(y) > 0.5:
            y = y * np.cos(w)
        z = np.exp(-y)
        while np.sum(z) > 0.4:
            z = z * (0.5 + 0.3 * w)
        total = total + y * z
        x = x * 0.9 + z * 0.1
    return np.sum(total * w)


def one_by_one(x: Any, w: Any) -> Any:
    """Steps of which each is a problem of its own: the way back reads none of their results."""
    total, k = 0.0, 0.0
    while k < np.sum(w):
        y = x + k
        while np.sum(y) > 0.3:
            y = y * np.cos(w)
        total = total + np.sum(y * w)
        k += 0.3
    return total


INSIDE: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        newton_in_steps,
        line_search,
        sweep,
        as_long_as,
        with_break,
        in_an_arm_of_steps,
        deep,
        carried_on,
        nested,
        one_by_one,
    )
}


@pytest.mark.parametrize("name", INSIDE)
def test_a_loop_inside_another_is_run_once(name: str) -> None:
    found = loops(pliant.trace(INSIDE[name], *drawn(5)))
    assert set(found) == {"while_loop"}
    assert loops(pliant.trace(derived(INSIDE[name]), *drawn(5))) == sorted(ONCE * len(found))


@pytest.mark.parametrize("size", [1, 12])
@pytest.mark.parametrize("name", INSIDE)
def test_gradients_of_loops_inside_others_are_differences(name: str, size: int) -> None:
    f, (x, w) = INSIDE[name], drawn(size)
    value, slopes = derived(f)(x, w)
    np.testing.assert_allclose(value, f(x, w), rtol=1e-12)
    ways = RNG.normal(size=(2, size))
    step = 1e-6 * ways
    wanted = (f(x + step[0], w + step[1]) - f(x - step[0], w - step[1])) / 2e-6
    np.testing.assert_allclose(np.vdot(slopes, ways), wanted, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("name", INSIDE)
def test_loops_inside_others_are_what_two_runs_give(name: str) -> None:
    xs = list(drawn(7))
    twice, once = joined(derived(INSIDE[name]), *xs)
    wanted = run(twice, xs)
    assert parse(str(once), ops.ALL) == once
    for made in (run(once, xs), backend_named("llvm").compile(optimise(once))(xs)):
        for a, b in zip(made, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("name", INSIDE)
def test_batches_and_second_derivatives_of_loops_inside_others(name: str) -> None:
    f, (x, w), way = INSIDE[name], drawn(4), RNG.normal(size=4)
    xs = np.stack([x, 0.3 * x, 1.7 * x])
    if f is not as_long_as:  # whose number of steps no batch can have
        values, slopes = pliant.vmap(derived(f), in_axes=(0, None))(xs, w)
        for n, one in enumerate(xs):
            value, slope = derived(f)(one, w)
            np.testing.assert_allclose(values[n], value, rtol=1e-11)
            for a, b in zip(slopes, slope, strict=True):
                np.testing.assert_allclose(a[n], b, rtol=1e-9, atol=1e-12)
    slope = pliant.grad(f)
    wanted = (slope(x + 1e-6 * way, w) - slope(x - 1e-6 * way, w)) / 2e-6
    made = pliant.jvp(slope, (x, w), (way, np.zeros(4)))[1]
    np.testing.assert_allclose(made, wanted, rtol=1e-4, atol=1e-6)


POLICIES = ("store", "carry", "sqrt", pliant.treeverse(3))


@pytest.mark.parametrize("save", POLICIES)
@pytest.mark.parametrize("is_outside", [True, False])
def test_loops_inside_others_with_what_reverse_mode_is_to_keep(save: Any, is_outside: bool) -> None:
    """Steps that are run again have tapes of their own, which end with them."""

    def cooled(x: Any, w: Any) -> Any:
        return pliant.while_loop(lambda y: np.sum(y) > 0.5, lambda y: y * np.cos(w), x)

    def stepped(x: Any, w: Any) -> Any:
        return pliant.fori_loop(0, 9, lambda i, y: np.sin(y) * 0.9 + 0.01 * w, x, save=save)

    def f(x: Any, w: Any) -> Any:
        def step(i: Any, y: Any) -> Any:
            return y * 0.8 + 0.1 * cooled(y, w) + 0.3 * w

        def again(y: Any) -> Any:
            return stepped(y, w) * 0.8

        if is_outside:
            return np.sum(pliant.fori_loop(0, 9, step, x, save=save) ** 2)
        return np.sum(pliant.while_loop(lambda y: np.sum(y) > 0.5, again, x) ** 2)

    (x, w), ways = drawn(6), RNG.normal(size=(2, 6))
    _, slopes = derived(f)(x, w)
    moved = [pliant.jit(f)(x + s * ways[0], w + s * ways[1]) for s in (1e-6, -1e-6)]
    np.testing.assert_allclose(np.vdot(slopes, ways), (moved[0] - moved[1]) / 2e-6, rtol=1e-6, atol=1e-9)


def test_the_pullback_of_a_loop_has_a_tape_of_its_own() -> None:
    """`vjp` returns before the way back begins, which then may be gone more than once."""
    x, w = drawn(5)
    value, back = pliant.vjp(newton_in_steps, x, w)
    np.testing.assert_allclose(value, newton_in_steps(x, w), rtol=1e-12)
    wanted = derived(newton_in_steps)(x, w)[1]
    for scale in (1.0, -2.0):
        for a, b in zip(back(scale), wanted, strict=True):
            np.testing.assert_allclose(a, scale * b, rtol=1e-10)


def test_tapes_of_steps_that_nobody_reads_again_end_with_them() -> None:
    """A gradient in each step of a loop: the memory of its tape is that of the next one."""

    def descended(x: Any, w: Any) -> Any:
        for _ in range(400):
            x = x - 1e-3 * pliant.grad(adaptive)(x, w)
        return x

    assert tapes_made(optimise(pliant.trace(descended, *drawn(5)))) == "own"
    assert tapes_made(optimise(pliant.trace(derived(newton_in_steps), *drawn(5)))) == "own"
    (x, w), slope = drawn(5), pliant.grad(adaptive)
    wanted = x
    for _ in range(400):
        wanted = wanted - 1e-3 * slope(wanted, w)
    np.testing.assert_allclose(pliant.jit(descended)(x, w), wanted, rtol=1e-9)


def test_an_index_out_of_range_in_a_loop_inside_another_is_an_error() -> None:
    def f(x: Any, n: Any) -> Any:
        total = 0.0
        for k in range(4):
            m, y = n, x * (k + 1.0)
            while np.sum(y) > 1.0:
                y, m = y * 0.8, m + 1
            total = total + y[m] ** 2
        return total

    x = RNG.uniform(0.05, 0.06, 30)
    assert np.count_nonzero(pliant.grad(f)(x, 0)) > 0
    for _ in range(3):
        with pytest.raises(IndexError, match="out of range"):
            pliant.grad(f)(x, 27)
    assert np.count_nonzero(pliant.grad(f)(x, 0)) > 0


def test_no_tape_keeps_an_array_that_only_loops_inside_read() -> None:
    def residuals(y: Any, phi: Any) -> Any:
        eps, total = np.zeros(len(y)), 0.0
        for t in range(len(y)):
            mean = 0.0
            for k in range(min(2, t)):
                mean += phi[k] * eps[t - k - 1]
            eps[t] = y[t] - mean
            if eps[t] > 1e9:
                break
            total -= eps[t] ** 2
        return total

    y, phi = np.random.default_rng(0).normal(size=99), np.array([0.3, 0.2, 0.1])
    fn = optimise(pliant.trace(pliant.grad(residuals, (0, 1)), y, phi))
    kept = [
        r.type.size
        for node in inside(fn)
        if isinstance(node.op, Record)
        for r in node.op.ahead.results[len(node.op.carries) :]
    ]
    assert kept
    assert max(kept) <= 2  # for each k
    check_gradient(residuals, y, phi)
