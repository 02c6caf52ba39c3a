"""Generators whose conditions are known only at run time: loops over them do what Python does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import optree
import pytest

import pliant
from tests.frontend.control.flows_pushed import PUSHED

X = np.linspace(-1.03, 2.11, 9)
GIVEN = {"rising": X, "negated": -X, "small": X * 0.1, "falling": X[::-1].copy(), "low": X - 3, "high": X + 3}


def name_of(f: Callable[..., Any]) -> str:
    return f.__name__


def outcome(f: Callable[..., Any], x: Any) -> Any:
    """What a call returns and leaves, or the class of what it raises."""
    x = x.copy()
    try:
        tree: Any = (f(x, 5), x)
        return [np.asarray(leaf, float) for leaf in optree.tree_leaves(tree)]
    except Exception as error:
        return type(error)


def assert_same(got: Any, wanted: Any) -> None:
    if isinstance(wanted, type):
        assert got is wanted
        return
    assert [a.shape for a in got] == [b.shape for b in wanted]
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("backend", ["reference", "llvm"])
@pytest.mark.parametrize("f", PUSHED, ids=name_of)
def test_it_does_what_python_does(f: Callable[..., Any], backend: str) -> None:
    compiled = pliant.jit(f, backend=backend)
    for x in GIVEN.values():
        assert_same(outcome(compiled, x), outcome(f, x))


@pytest.mark.parametrize("f", PUSHED, ids=name_of)
def test_its_derivatives_are_those_of_differences(f: Callable[..., Any]) -> None:
    def loss(x: Any) -> Any:
        return sum([np.sum(leaf * 1.0) for leaf in optree.tree_leaves(f(x.copy(), 5))])

    way, step = np.sin(np.arange(9.0) + 1), 1e-6
    for x in GIVEN.values():
        if not isinstance(outcome(f, x), type):
            wanted = (loss(x + step * way) - loss(x - step * way)) / (2 * step)
            assert pliant.grad(loss)(x) @ way == pytest.approx(wanted, rel=2e-5, abs=1e-6)
            assert pliant.jvp(loss, (x,), (way,))[1] == pytest.approx(wanted, rel=2e-5, abs=1e-6)


@pytest.mark.parametrize("f", PUSHED, ids=name_of)
def test_a_batch_is_a_loop(f: Callable[..., Any]) -> None:
    def each(x: Any) -> Any:
        return sum([np.sum(leaf * 1.0) for leaf in optree.tree_leaves(f(x.copy(), 5))])

    rows = np.stack([x for x in GIVEN.values() if not isinstance(outcome(f, x), type)])
    np.testing.assert_allclose(pliant.vmap(each)(rows), [each(x) for x in rows], rtol=1e-12, atol=1e-12)


def test_a_loop_over_a_generator_that_loops_stays_one() -> None:
    def positive(xs: Any) -> Any:
        for x in xs:
            if x > 0:
                yield x

    def f(x: Any) -> Any:
        total = 0.0
        for v in positive(x):
            total += v * v
        return total

    assert "unrolled" not in str(pliant.explain(f, X))


def test_a_generator_that_has_begun_is_pythons() -> None:
    def f(x: Any) -> Any:
        def each() -> Any:
            yield x[0]
            yield x[1]
            yield x[2]

        running = each()
        first = next(running)
        total = 0.0
        for v in running:
            total = 2 * total + v
        return first, total, list(running)

    assert pliant.jit(f)(X) == f(X)
