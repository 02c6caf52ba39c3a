"""Names that have a value only if a condition held that is known only at run time: read as Python reads them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import optree
import pytest

import pliant
from tests.frontend.control.flows_unsure import (
    UNSURE,
)

# ruff: noqa: F821, F841

X = np.linspace(-1.03, 2.11, 9)
GIVEN = {
    "rising": X, "falling": X[::-1], "negated": -X, "small": X * 0.1, "low": X - 9, "high": X + 9, "middle": X * 0.7,
    "turned": np.roll(X, 4),
}  # fmt: skip


def name_of(f: Callable[..., Any]) -> str:
    return f.__name__


def outcome(f: Callable[..., Any], x: Any, n: int) -> Any:
    """What a call returns and leaves, or raises."""
    x = x.copy()
    try:
        return [np.asarray(leaf).tolist() for leaf in optree.tree_leaves((f(x, n), x))]
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("backend", ["reference", "llvm"])
@pytest.mark.parametrize("f", UNSURE, ids=name_of)
def test_a_name_is_read_as_python_reads_it(f: Callable[..., Any], backend: str) -> None:
    compiled = pliant.jit(f, backend=backend)
    wanted = {name: outcome(f, x, 4) for name, x in GIVEN.items()}
    assert {name: outcome(compiled, x, 4) for name, x in GIVEN.items()} == wanted


@pytest.mark.parametrize("f", UNSURE, ids=name_of)
def test_its_gradient_is_that_of_the_value_that_was_bound(f: Callable[..., Any]) -> None:
    def loss(x: Any) -> Any:
        return sum([np.sum(leaf * 1.0) for leaf in optree.tree_leaves(f(x.copy(), 4))])

    gradient = pliant.grad(loss)
    step = 1e-6 * np.eye(9)
    for name, x in GIVEN.items():
        try:
            loss(x)
        except (UnboundLocalError, ValueError) as wanted:
            with pytest.raises(type(wanted)):
                gradient(x)
            continue
        differences = [(loss(x + s) - loss(x - s)) / 2e-6 for s in step]
        np.testing.assert_allclose(gradient(x), differences, rtol=1e-5, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("f", UNSURE, ids=name_of)
def test_a_batch_is_a_loop_and_fails_if_one_of_its_rows_does(f: Callable[..., Any]) -> None:
    wanted = {name: outcome(f, x, 4) for name, x in GIVEN.items()}
    good = [x for name, x in GIVEN.items() if isinstance(wanted[name], list)]
    rows = np.stack(good)

    def each(x: Any) -> Any:
        x = x.copy()
        return f(x, 4), x

    made = pliant.vmap(each)(rows)
    for n, x in enumerate(good):
        np.testing.assert_allclose(flat(optree.tree_map(lambda leaf: leaf[n], made)), flat(each(x)), rtol=1e-12)  # noqa: B023
    bad = [name for name, found in wanted.items() if not isinstance(found, list)]
    for name in bad[:1]:
        with pytest.raises(wanted[name][0]):
            pliant.vmap(each)(np.stack([good[0], GIVEN[name]]))


def flat(tree: Any) -> Any:
    return np.concatenate([np.ravel(np.asarray(leaf, float)) for leaf in optree.tree_leaves(tree)])


def test_a_step_that_reads_what_the_one_before_has_bound_is_not_unrolled() -> None:
    def steps(x: Any) -> Any:
        total = 0.0
        for i in range(x.shape[0]):
            if i > 0:
                total += abs(x[i] - previous)
            previous = x[i]
        return total

    assert "unrolled" not in str(pliant.explain(steps, X))
    assert pliant.jit(steps)(X) == steps(X)
