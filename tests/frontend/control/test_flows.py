"""Programs of loops and branches: compiled, differentiated and batched they do what Python does."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import numpy as np
import optree
import pytest

import pliant
from pliant.compiled import Compiled
from tests.frontend.control import (
    flows_choices,
    flows_classes,
    flows_endless,
    flows_ends,
    flows_fronts,
    flows_heaps,
    flows_lists,
    flows_names,
    flows_rebound,
    flows_sections,
    flows_singles,
    flows_tables,
    flows_unsized,
)
from tests.frontend.control.flows import FLOWS
from tests.frontend.control.flows_exits import EXITS
from tests.frontend.control.flows_grids import GRIDS
from tests.frontend.control.flows_iterators import ITERATORS, product_of_another_name
from tests.frontend.control.flows_lists import LISTS
from tests.frontend.control.flows_names import NAMES
from tests.frontend.control.flows_objects import OBJECTS
from tests.frontend.control.flows_orders import ORDERS
from tests.frontend.control.flows_walrus import WALRUSES

STAYING = [
    *LISTS, *EXITS, *ITERATORS, *ORDERS, *OBJECTS, *NAMES, *WALRUSES, *GRIDS, *flows_tables.TABLES, *flows_classes.CLASSES,
    *flows_fronts.FRONTS, *flows_heaps.HEAPS, *flows_rebound.REBOUND, *flows_rebound.READ,
    *flows_ends.ENDS, *flows_ends.UNROLLED, *flows_names.UNROLLED, *flows_sections.SECTIONS, *flows_sections.UNROLLED,
    *flows_choices.CHOICES, *flows_unsized.UNSIZED, *flows_singles.SINGLES,
]  # fmt: skip
UNROLLED = (
    *flows_lists.UNROLLED, *flows_tables.UNROLLED, *flows_classes.UNROLLED,
    *flows_ends.UNROLLED, *flows_names.UNROLLED, *flows_sections.UNROLLED,
)  # fmt: skip
PROGRAMS = [*FLOWS, product_of_another_name, *flows_endless.ENDLESS, *STAYING]
X = np.linspace(-1.03, 2.11, 9)
INPUTS = {"as it is": X, "negated": -X, "small": X * 0.1}


def name_of(f: Callable[..., Any]) -> str:
    return f.__name__


def flat(tree: Any) -> Any:
    return np.concatenate([np.ravel(np.asarray(leaf, float)) for leaf in optree.tree_leaves(tree)])


@pytest.mark.parametrize("backend", ["reference", "llvm"])
@pytest.mark.parametrize("f", PROGRAMS, ids=name_of)
def test_a_program_does_what_python_does(f: Callable[..., Any], backend: str) -> None:
    compiled = pliant.jit(f, backend=backend)
    for name, given in INPUTS.items():
        x, y = given.copy(), given.copy()
        expected = flat(f(x, 5))
        np.testing.assert_allclose(flat(compiled(y, 5)), expected, rtol=1e-12, atol=1e-12, err_msg=name)
        np.testing.assert_allclose(y, x, rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("f", PROGRAMS, ids=name_of)
def test_the_gradient_of_a_program_equals_differences(f: Callable[..., Any]) -> None:
    weights = np.cos(np.arange(flat(f(X.copy(), 5)).size))

    def loss(x: Any) -> Any:
        parts = [np.ravel(leaf) for leaf in optree.tree_leaves(f(x, 5))]
        return (np.concatenate(parts) * weights).sum()

    way = np.sin(np.arange(9.0) + 1)
    step = 1e-6
    expected = (loss(X + step * way) - loss(X - step * way)) / (2 * step)
    assert pliant.grad(loss)(X) @ way == pytest.approx(expected, rel=2e-5, abs=1e-6)
    _, tangent = pliant.jvp(loss, (X,), (way,))
    assert tangent == pytest.approx(expected, rel=2e-5, abs=1e-6)


@pytest.mark.parametrize("f", PROGRAMS, ids=name_of)
def test_a_batch_of_a_program_equals_a_python_loop(f: Callable[..., Any]) -> None:
    xs = np.stack([X, -X, X * 0.3, X[::-1]])

    def each(x: Any) -> Any:
        return np.concatenate([np.ravel(np.asarray(leaf, float)) for leaf in optree.tree_leaves(f(x, 5))])

    expected = np.stack([each(x.copy()) for x in xs])
    np.testing.assert_allclose(pliant.vmap(each)(xs), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("f", STAYING, ids=name_of)
def test_a_loop_stays_one(f: Callable[..., Any]) -> None:
    kinds = [loop.kind for loop in Compiled(f).program(X, 5).loops]
    assert ("unrolled" in kinds) == (f in UNROLLED)


def test_a_list_that_was_read_and_appended_to_is_traced_once() -> None:
    traces = SimpleQueue()

    @pliant.jit
    def f(x: Any) -> Any:
        traces.put(1)
        ys = [x[0], 1.0]
        s = sum(ys) + ys[1]
        ys.append(x[1])
        ys[1] = 2.0
        return s + sum(ys)

    assert [f(X + k) for k in range(3)] == [f(X + k) for k in range(3)]
    assert traces.qsize() == 1


def test_what_is_raised_ends_a_loop_without_an_end() -> None:
    def f(x: Any) -> Any:
        for i in itertools.count():
            if x[0] * i > 20:
                raise ValueError("too far")
        return 1.0

    with pytest.raises(ValueError, match="too far"):
        pliant.jit(f)(np.array([3.0]))


@pytest.mark.usefixtures("for_all_data")
def test_a_loop_without_an_end_that_is_none_of_the_program_says_so() -> None:
    def f(x: Any) -> Any:
        total: list[Any] = []
        for i in itertools.count():
            total = [*total, i]
            if x[0] < i:
                break
        return total[0]

    with pytest.raises(pliant.errors.UnsupportedError, match="how many steps this loop has is known only at run time"):
        pliant.jit(f)(np.array([3.0]))
