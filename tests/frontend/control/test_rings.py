"""Lists that are emptied from the front, whose arrays are rings: loops over them do what Python does."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from tests.frontend.control.flows_rings import RINGS
from tests.frontend.control.laws import (
    assert_a_batch_is_a_loop,
    assert_derivatives_are_differences,
    assert_is_pythons,
    name_of,
)


@pytest.mark.parametrize("backend", ["reference", "llvm"])
@pytest.mark.parametrize("f", RINGS, ids=name_of)
def test_it_does_what_python_does(f: Callable[..., Any], backend: str) -> None:
    assert_is_pythons(f, backend)


@pytest.mark.parametrize("f", RINGS, ids=name_of)
@pytest.mark.usefixtures("for_all_data")
def test_it_does_so_whatever_data_decide(f: Callable[..., Any]) -> None:
    assert_is_pythons(f, "llvm")


@pytest.mark.parametrize("f", RINGS, ids=name_of)
def test_its_derivatives_are_those_of_differences(f: Callable[..., Any]) -> None:
    assert_derivatives_are_differences(f)


@pytest.mark.parametrize("f", RINGS, ids=name_of)
def test_a_batch_is_a_loop(f: Callable[..., Any]) -> None:
    assert_a_batch_is_a_loop(f)


def wide(x: Any) -> Any:
    queue, total = deque([0]), 0.0
    while queue:
        i = queue.popleft()
        total += x[i] * np.cos(total)
        for child in (2 * i + 1, 2 * i + 2):
            if child < len(x):
                queue.append(child)
    return total


@pytest.mark.parametrize("n", [10, 2047, 5000])
def test_a_queue_has_more_room_where_it_needs_it(n: int) -> None:
    x = np.random.default_rng(n).normal(size=n)
    made = pliant.jit(wide)
    np.testing.assert_allclose(made(x), wide(x), rtol=1e-12)
    np.testing.assert_allclose(made(-x), wide(-x), rtol=1e-12)
    way, step = np.cos(np.arange(n)), 1e-6
    wanted = (wide(x + step * way) - wide(x - step * way)) / (2 * step)
    assert pliant.grad(wide)(x) @ way == pytest.approx(wanted, rel=1e-4, abs=1e-6)


def test_a_queue_that_is_empty_or_too_short_is_pythons_error() -> None:
    def f(x: Any, k: Any) -> Any:
        queue = [x[0]]
        for v in x:
            if v > 0:
                queue.append(v)
            queue.pop(0)
        return queue[k]

    made, x = pliant.jit(f), np.array([1.0, 2.0, 3.0, -1.0])
    assert made(np.abs(x), 0) == f(np.abs(x), 0)
    for given, k in ((x - 5, 0), (x, 0), (np.abs(x), 1), (np.abs(x), -2)):
        with pytest.raises(IndexError):
            f(given, k)
        with pytest.raises(IndexError):
            made(given, k)


def test_what_a_branch_has_emptied_has_no_first_element() -> None:
    def f(x: Any) -> Any:
        queue = [v for v in x if v > 0]
        if queue:
            queue.pop()
        queue.append(queue.pop(0) * 0.5)
        return queue

    made = pliant.jit(f)
    assert made(np.array([1.0, 2.0, -1.0])) == f(np.array([1.0, 2.0, -1.0])) == [0.5]
    for x in (np.array([1.0, -2.0, -1.0]), np.array([-1.0, -2.0, -1.0])):
        with pytest.raises(IndexError, match="pop from empty list"):
            f(x)
        with pytest.raises(IndexError, match="pop from empty list"):
            made(x)


def test_what_is_taken_from_the_front_moves_nothing() -> None:
    text = str(pliant.explain(wide, np.ones(3000)))
    assert re.search(r"^ +- nest over \[?3", text, re.MULTILINE) is None
    text = text[text.index("while_loop →") :]
    assert "scatter_set: fills i64" in text
    assert f"concatenate: i64[{1 << 10}" not in text


@pytest.mark.parametrize("made", [lambda queue: queue, list, tuple, lambda queue: (queue, len(queue))])
def test_a_ring_is_returned_in_its_order(made: Callable[[Any], Any]) -> None:
    def f(x: Any) -> Any:
        last: deque[Any] = deque()
        for v in x:
            if v > 0:
                last.append(v)
            elif len(last) > 1:
                last.popleft()
        return made(last)

    compiled, rng = pliant.jit(f), np.random.default_rng(0)
    for shift in (0.2, -1.0, 1.0, -0.1, 0.7, -0.5, 0.4):
        x = rng.standard_normal(12) + shift
        assert compiled(x) == f(x)
