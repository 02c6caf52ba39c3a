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
from pliant.core.ir import Function, Node, functions_of, nodes
from pliant.core.parse import parse
from pliant.kernel.ir import Host
from pliant.ops.once import run_once
from pliant.ops.while_once import WhileOnce
from pliant.pipeline import optimise
from pliant.testing import run
from pliant.transforms.dead import eliminate_dead
from pliant.transforms.inline import inline
from pliant.transforms.replace import replaced

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


def loops(fn: Function) -> list[str]:
    """The names of the loops of a program that is ready to become code."""
    return sorted([n.op.name for n in inside(optimise(fn)) if n.op.name in ("while_loop", "retrace", "while_once")])


def drawn(size: int) -> tuple[Any, Any]:
    return RNG.uniform(0.3, 0.9, size), RNG.uniform(0.3, 0.9, size)


def derived(f: Callable[..., Any]) -> Callable[..., Any]:
    return pliant.value_and_grad(f, argnums=(0, 1))


def test_the_loop_is_run_once() -> None:
    xs = drawn(5)
    assert loops(pliant.trace(pliant.value_and_grad(root), 3.0)) == ["while_once"]
    assert loops(pliant.trace(pliant.grad(root), 3.0)) == ["while_once"]
    assert loops(pliant.trace(root, 3.0)) == ["while_loop"]
    for f in (adaptive, rotating, never):
        assert loops(pliant.trace(derived(f), *xs)) == ["while_once"]
    assert loops(pliant.trace(derived(one_after_the_other), *xs)) == ["while_once"] * 2
    assert loops(pliant.trace(trained, *xs)) == ["while_once"] * 3
    assert loops(pliant.trace(derived(in_a_branch), *xs)) == ["while_once"] * 2
    assert loops(pliant.trace(derived(adaptive_or_not), *xs)) == ["while_once"]


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
    assert [n for n in inside(once) if isinstance(n.op, WhileOnce)]
    return twice, once


@pytest.mark.parametrize("size", [3, 40])
@pytest.mark.parametrize("name", PROGRAMS)
def test_once_is_what_twice_is(name: str, size: int) -> None:
    """On the reference, in machine code, read from its text, and opened again."""
    xs = list(drawn(size))
    twice, once = joined(derived(PROGRAMS[name]), *xs)
    wanted = run(twice, xs)
    assert parse(str(once), ops.ALL) == once
    opened = replaced(once, lambda node, args: node.op.expand(*args) if isinstance(node.op, WhileOnce) else None)
    code: Any = backend_named("llvm").compile(optimise(once))
    for made in (run(once, xs), run(opened, xs), code(xs)):
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
    assert not {"while_loop", "retrace", "while_once"} & {*calls}
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
