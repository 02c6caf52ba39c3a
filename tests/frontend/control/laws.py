"""What holds of every program of `x: f64[9]` and a count: it is Python's, and so are its derivatives and batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import optree
import pytest

import pliant

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


def total(f: Callable[..., Any], x: Any) -> Any:
    """The sum of all that a call returns."""
    return sum([np.sum(leaf * 1.0) for leaf in optree.tree_leaves(f(x.copy(), 5))])


def without_errors(f: Callable[..., Any]) -> list[Any]:
    """The inputs for which a program raises nothing."""
    return [x for x in GIVEN.values() if not isinstance(outcome(f, x), type)]


def assert_is_pythons(f: Callable[..., Any], backend: str) -> None:
    compiled = pliant.jit(f, backend=backend)
    for x in GIVEN.values():
        got, wanted = outcome(compiled, x), outcome(f, x)
        if isinstance(wanted, type):
            assert got is wanted
            continue
        assert [a.shape for a in got] == [b.shape for b in wanted]
        for a, b in zip(got, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def assert_derivatives_are_differences(f: Callable[..., Any]) -> None:
    def loss(x: Any) -> Any:
        return total(f, x)

    way, step = np.sin(np.arange(9.0) + 1), 1e-6
    for x in without_errors(f):
        wanted = (loss(x + step * way) - loss(x - step * way)) / (2 * step)
        assert pliant.grad(loss)(x) @ way == pytest.approx(wanted, rel=2e-5, abs=1e-6)
        assert pliant.jvp(loss, (x,), (way,))[1] == pytest.approx(wanted, rel=2e-5, abs=1e-6)


def assert_a_batch_is_a_loop(f: Callable[..., Any]) -> None:
    rows = np.stack(without_errors(f))
    made = pliant.vmap(lambda x: total(f, x))(rows)
    np.testing.assert_allclose(made, [total(f, x) for x in rows], rtol=1e-12, atol=1e-12)
