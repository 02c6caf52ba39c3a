"""Programs of 100,000 statements: nothing recurses, and work grows with length, not faster."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from pliant import ops
from pliant.core.build import trace
from pliant.core.ir import Function, Value, nodes
from pliant.core.parse import parse
from pliant.core.verify import verify
from pliant.ops.transcendental import sin
from pliant.pipeline import DEFAULT_RULES, fold, optimise
from pliant.rewrite.engine import simplify
from pliant.transforms.dead import eliminate_dead
from pliant.transforms.inline import inline
from pliant.transforms.jvp import jvp
from pliant.transforms.vmap import vmap
from tests.programs.programs import f64, gradient

LENGTH = 100_000


def straight_line(n: int) -> Function:
    """n statements, each of which needs the one before."""

    def f(x: Value, y: Value) -> Value:
        for _ in range(n // 4):
            x = sin(x * y) + y * -x
        return x

    return trace(f, f64(3), f64())


@pytest.fixture(scope="module")
def long() -> Function:
    return straight_line(LENGTH)


STEPS: dict[str, Callable[[Function], Any]] = {
    "print": str,
    "key": lambda fn: Function(fn.name, fn.params, fn.results).key,
    "parse": lambda fn: parse(str(fn), ops.ALL),
    "verify": verify,
    "jvp": lambda fn: jvp(fn, (True, True)),
    "gradient": gradient,
    "vmap": lambda fn: vmap(fn, 2, (True, False)),
    "simplify": lambda fn: simplify(fn, DEFAULT_RULES, fold=fold),
    "dead": eliminate_dead,
    "inline": inline,
    "optimise": lambda fn: optimise(fn, check=False),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", STEPS)
def test_a_hundred_thousand_statements(long: Function, name: str) -> None:
    assert len(nodes(long.results)) > LENGTH
    STEPS[name](long)


def calls_of(step: Callable[[], Any]) -> int:
    """How many functions are called: time without the noise."""
    calls = 0

    def count(frame: Any, event: str, arg: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        step()
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("name", STEPS)
def test_work_doubles_when_the_length_doubles(name: str) -> None:
    STEPS[name](straight_line(40))  # fills caches
    small, large = (calls_of(partial(STEPS[name], straight_line(n))) for n in (1000, 2000))
    assert large < 2.3 * small
