"""Arguments by names that Pliant's own functions have for theirs reach the user's functions, classes and methods."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import pliant
from tests.frontend.control.laws import name_of

# pyright: basic, reportSelfClsParameterName=false, reportFunctionMemberAccess=false


class Kind:
    def __init__(self, kind: Any, seen: Any) -> None:
        self.kind, self.seen = kind, seen


@dataclass
class Data:
    kind: Any
    seen: Any
    run: Any


class Tuple(NamedTuple):
    run: Any
    kind: Any


def of_classes(x: Any) -> Any:
    return Kind(kind=x, seen=2).kind + Data(kind=x, seen=x, run=x * 2).run + Tuple(run=x, kind=3.0).run


def of_one_of_several_functions(x: Any) -> Any:
    several = [lambda functions, key: functions + key, lambda functions, key: functions * key]
    return several[int(x > 1)](functions=x, key=3.0)


def of_vectorized_functions(x: Any) -> Any:
    return np.vectorize(lambda vector, function: function + vector)(x, function=x * 2)


@functools.cache
def remembered(fn: Any, trace: Any, around: Any = 1.0) -> Any:
    return fn * trace + around


def of_functions_with_a_cache(x: Any) -> Any:
    return remembered(fn=x, trace=2.0)


@functools.singledispatch
def dispatched(first: Any, *, fn: Any, trace: Any, x: Any) -> Any:
    return first * fn + trace + x


def of_functions_of_single_dispatch(x: Any) -> Any:
    return dispatched(x, fn=2.0, trace=x, x=3.0)


def steps(fn: Any, function: Any) -> Iterator[Any]:
    yield fn
    yield function * 2


def of_what_a_loop_goes_over(x: Any) -> Any:
    total = 0.0
    for v in steps(fn=x, function=3.0):
        total = total + v
    return total


def total_of(values: Any, function: Any, is_list: Any, depth: Any, clause: Any) -> Any:
    return sum(values) * function + is_list * depth + clause


def of_functions_of_comprehensions(x: Any) -> Any:
    return total_of([x * k for k in range(3)], function=x, is_list=2.0, depth=x, clause=1.0) + total_of(
        (x * k for k in range(3)), function=x, is_list=2.0, depth=x, clause=1.0
    )


def of_methods_read_before(x: Any) -> Any:
    held = {"name": 1.0}
    update = held.update
    update(name=x, holder=x * 2, method=3.0)
    return held["name"] * held["holder"] * held["method"]


def of_what_may_be_none(x: Any) -> Any:
    def power(fn: Any, args: Any) -> Any:
        return fn**args

    chosen = power if x > 0 else None
    return chosen(fn=x, args=2.0)  # type: ignore[misc]


@pytest.mark.parametrize(
    "f",
    [
        of_classes,
        of_one_of_several_functions,
        of_vectorized_functions,
        of_functions_with_a_cache,
        of_functions_of_single_dispatch,
        of_what_a_loop_goes_over,
        of_functions_of_comprehensions,
        of_methods_read_before,
        of_what_may_be_none,
    ],
    ids=name_of,
)
def test_they_reach_what_is_called(f: Callable[..., Any]) -> None:
    for x in (0.5, 1.5):
        assert pliant.jit(f)(x) == pytest.approx(f(x), rel=1e-14)
        wanted = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
        assert pliant.grad(f)(x) == pytest.approx(wanted, rel=1e-6)


def test_they_reach_the_function_that_is_compiled() -> None:
    def f(self: Any, fn: Any, args: Any) -> Any:
        return self * fn + args

    assert pliant.jit(f)(self=2.0, fn=3.0, args=1.0) == 7.0
    assert pliant.jit(f).program(self=2.0, fn=3.0, args=1.0).fn.params
    with pliant.disable_jit():
        rows = pliant.vmap(f)(self=np.ones(2), fn=np.ones(2), args=np.ones(2))
    np.testing.assert_array_equal(rows, [2.0, 2.0])
