"""Generators whose conditions are known only at run time: loops over them do what Python does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import pliant
from tests.frontend.control.flows_pushed import PUSHED
from tests.frontend.control.laws import (
    X,
    assert_a_batch_is_a_loop,
    assert_derivatives_are_differences,
    assert_is_pythons,
    name_of,
)


@pytest.mark.parametrize("backend", ["reference", "llvm"])
@pytest.mark.parametrize("f", PUSHED, ids=name_of)
def test_it_does_what_python_does(f: Callable[..., Any], backend: str) -> None:
    assert_is_pythons(f, backend)


@pytest.mark.parametrize("f", PUSHED, ids=name_of)
def test_its_derivatives_are_those_of_differences(f: Callable[..., Any]) -> None:
    assert_derivatives_are_differences(f)


@pytest.mark.parametrize("f", PUSHED, ids=name_of)
def test_a_batch_is_a_loop(f: Callable[..., Any]) -> None:
    assert_a_batch_is_a_loop(f)


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
