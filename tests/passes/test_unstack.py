"""Reductions over a loop's rows move into the loop, and mean what they did; the rows are not made."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.core.build import trace
from pliant.core.ir import Function, Value, nodes
from pliant.core.types import Type
from pliant.core.verify import verify
from pliant.ops.loop import Loop
from pliant.ops.reduce import reduce_sum
from pliant.ops.transcendental import tanh
from pliant.passes.unstack import unstack
from pliant.rewrite.explain import Log
from pliant.transforms.dead import eliminate_dead

X = np.random.default_rng(3).normal(size=40)
W = np.cos(np.arange(40.0))
TABLE = np.random.default_rng(4).normal(size=(40, 3))


def scanned(x: Any) -> Any:
    def step(c: Any, v: Any) -> Any:
        c = np.tanh(c * 0.9 + v)
        return c, c

    return pliant.scan(step, x[:3], x)[1]


def appended(x: Any) -> Any:
    ys, c = [], x[:3]
    for v in x:
        c = np.tanh(c * 0.9 + v)
        ys.append(c)
    return np.array(ys)


def written(x: Any) -> Any:
    ys, c = np.zeros((40, 3)), x[:3]
    for i in range(40):
        c = np.tanh(c * 0.9 + x[i])
        ys[i] = c
    return ys


MAKERS = (scanned, appended, written)
FOLDS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda y: y.sum(),
    "sum over steps": lambda y: y.sum(axis=0).prod(),
    "mean of squares": lambda y: (y**2).mean(),
    "greatest": lambda y: y.max(),
    "least of each": lambda y: y.min(axis=0).sum(),
    "product": lambda y: (y * 0.1 + 1).prod(),
    "where": lambda y: (y.argmax(axis=0) * W[:3]).sum() + y[:, 1].argmin() + y.sum(),
    "whether": lambda y: (y > 0.5).any() + 2.0 * (y < 2).all(),
    "last": lambda y: y[-1].sum(),
    "one": lambda y: y[7, 1] * y[0].sum(),
    "with a weight": lambda y: (W @ y).sum() + (y[:, 0] * W).sum(),
    "error": lambda y: ((y - TABLE) ** 2).sum(),
    "two at once": lambda y: (y * 2).sum() / y.max(axis=0).sum(),
    "all but the first": lambda y: y[1:].sum(),
    "error after a burn-in": lambda y: ((y[7:] - TABLE[7:]) ** 2).mean(),
    "the middle with a weight": lambda y: (y[3:20] * TABLE[3:20]).sum() + y[3:20].max(),
    "every third": lambda y: y[1:30:3].sum() + y[::2][1:].prod(),
    "reversed": lambda y: (y[::-1] * TABLE).sum() + (y[20:4:-1] * TABLE[:16]).sum() + y[20:4:-2].sum(),
    "all products": lambda y: np.einsum("ti,ti->", y, TABLE) + np.einsum("ti,ti->", y[4:], TABLE[4:]),
    "one of some": lambda y: y[3:][4].sum() + y[3:].sum(),
}


def has_rows(fn: Function) -> bool:
    loops = [n.op for n in nodes(fn.results) if isinstance(n.op, Loop)]
    is_written = any([n.op.name == "scatter_set" for op in loops for n in nodes(op.body.results)])
    return is_written or any(["stack" in op.outs for op in loops])


@pytest.mark.parametrize("fold", FOLDS)
@pytest.mark.parametrize("make", MAKERS, ids=lambda f: f.__name__)
def test_rows_that_are_only_folded_are_not_made(make: Callable[[Any], Any], fold: str) -> None:
    def f(x: Any) -> Any:
        return FOLDS[fold](make(x))

    expected = FOLDS[fold](appended(X))
    np.testing.assert_allclose(pliant.jit(f)(X), expected, rtol=1e-13)
    text = str(pliant.explain(f, X))
    program = text[text.index("after the passes") : text.index("arrays captured")]
    assert "stack %" not in program
    assert "scatter_set" not in program
    way, h = np.sin(np.arange(40.0)), 1e-6
    slope = (FOLDS[fold](appended(X + h * way)) - FOLDS[fold](appended(X - h * way))) / (2 * h)
    assert pliant.grad(f)(X) @ way == pytest.approx(slope, rel=1e-5, abs=1e-6)


def test_what_a_row_that_is_left_out_would_make_is_not_in_the_gradient() -> None:
    def f(x: Any) -> Any:
        ys = np.stack([np.full(16, x) * i for i in range(40)])
        return np.log(ys[1:]).sum()

    assert pliant.grad(f)(2.0) == pytest.approx(39 * 16 / 2.0, rel=1e-13)


@pytest.mark.parametrize("reverse", [False, True])
def test_a_row_that_is_not_the_last_is_picked(*, reverse: bool) -> None:
    def rows(x: Any) -> Any:
        return pliant.scan(lambda c, v: (c + v, c * v), 0.5, x, reverse=reverse)[1]

    for number in (0, 5, -1):
        got = pliant.jit(lambda x, number=number: rows(x)[number])(X)
        assert got == pytest.approx(rows(X)[number], rel=1e-14)


def test_the_place_of_the_first_nan_and_of_the_first_of_equal_ones() -> None:
    def f(x: Any) -> Any:
        ys = pliant.map(lambda v: v * 1.0, x)
        return ys.argmax(), ys.argmin()

    for x in ([1.0, 3.0, 3.0, 1.0], [1.0, np.nan, 3.0, np.nan], [-np.inf, -np.inf], [np.inf, np.inf]):
        assert pliant.jit(f)(np.array(x)) == (np.argmax(x), np.argmin(x))


def test_a_sum_is_as_accurate_as_that_of_an_array() -> None:
    x = np.random.default_rng(0).uniform(size=100_000)
    got = pliant.jit(lambda x: pliant.map(lambda v: v * v, x).sum())(x)
    assert got == pytest.approx(math.fsum(x * x), rel=2e-16)
    assert pliant.jit(lambda x: pliant.map(lambda v: v * v, x).sum())(np.array([1.0, np.inf, 2.0])) == np.inf


def test_rows_that_are_needed_stay() -> None:
    def step(i: Value, c: Value, v: Value) -> tuple[Value, ...]:
        new = tanh(c + v)
        return new, new

    op = Loop(5, ("carry", "each"), ("last", "stack"), trace(step, Type("i64"), Type("f64"), Type("f64")))

    def f(c: Value, x: Value) -> tuple[Value, ...]:
        ys = op.apply(c, x)[1]
        return ys, reduce_sum(ys, (0,))

    fn = trace(f, Type("f64"), Type("f64", (5,)))
    assert unstack(fn, Log()) is fn
    less = Function(fn.name, fn.params, fn.results[1:])
    assert has_rows(less)
    after = eliminate_dead(unstack(less, Log()))
    assert not has_rows(after)
    verify(after)


@pytest.mark.parametrize("picked", [3, 20])
def test_more_than_a_few_rows_are_stored_rather_than_picked(picked: int) -> None:
    def f(x: Any) -> Any:
        y = scanned(x)[:, 0]
        return sum(y[k * 40 // picked] for k in range(picked)) / y[1]

    text = str(pliant.explain(f, X))
    program = text[text.index("after the passes") : text.index("arrays captured")]
    assert ("stack %" in program) == (picked > 8)
    y = appended(X)[:, 0]
    np.testing.assert_allclose(pliant.jit(f)(X), sum(y[k * 40 // picked] for k in range(picked)) / y[1], rtol=1e-13)
