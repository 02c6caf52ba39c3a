"""What machine code is made of a program takes work in proportion to its length, whatever it is a chain of."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeAlias

import pytest

from pliant.backends.llvm.compiler import assembly, can, routine_of
from pliant.core.build import trace
from pliant.core.ir import Function, Value
from pliant.kernel.verified import build_verified
from pliant.ops.bits import logical_and
from pliant.ops.compare import clip, less, maximum
from pliant.ops.cond import Cond
from pliant.ops.contract import dot_general
from pliant.ops.elementwise import convert
from pliant.ops.index import gather, scatter_add
from pliant.ops.reduce import reduce_sum
from pliant.ops.scan import cumsum
from pliant.ops.select import select
from pliant.ops.shape import broadcast, concatenate, flip, permute, reshape, slice_axis
from pliant.ops.transcendental import sin
from pliant.ops.update import update_slice
from pliant.pipeline import optimise
from tests.programs.programs import f64, gradient
from tests.programs.test_long import calls_of

Step: TypeAlias = Callable[[Value, Value], Value]
N: Final = 4


def written(x: Value, y: Value) -> Value:
    return update_slice(update_slice(x, slice_axis(y, 0, 0, 3), (1,)), slice_axis(x, 0, 2, 1) * 0.5, (0,))


def turned(x: Value, y: Value) -> Value:
    return reshape(permute(reshape(x, (2, 2)), (1, 0)) + reshape(y, (2, 2)), (N,))


def picked(x: Value, y: Value) -> Value:
    places = clip(convert(x * 3.0, "i64"), 0, N - 1)
    return gather(y, places) + scatter_add(x, (places,), y)


STEPS: Final[dict[str, Step]] = {
    "sums": lambda x, y: x + y,
    "differences": lambda x, y: x - y * 0.5,
    "products": lambda x, y: x * y,
    "quotients": lambda x, y: x / (y + 2.0),
    "sines": lambda x, y: sin(x * 1.5) * y,
    "choices": lambda x, y: select(less(x, y), x + y, x),
    "masks": lambda x, y: select(logical_and(less(x, y), less(y, x * 2.0)), y, x),
    "maxima": lambda x, y: maximum(x, y) - 0.5,
    "reversals": lambda x, y: flip(x, (0,)) + y,
    "joins": lambda x, y: concatenate((slice_axis(x, 0, 1, 3), slice_axis(y, 0, 0, 1)), 0),
    "writes": written,
    "turns": turned,
    "reductions": lambda x, y: x - broadcast(reduce_sum(y, (0,)), (N,), ()),
    "scans": lambda x, y: cumsum(x, 0) * 0.5 + y,
    "products of vectors": lambda x, y: x * broadcast(dot_general(x, y, ((0,), (0,))), (N,), ()),
    "indices": picked,
}


def chain(step: Step, length: int) -> Function:
    """Steps of which each takes what the two before it made."""

    def f(x: Value, y: Value) -> Value:
        for _ in range(length):
            x, y = y, step(x, y)
        return y

    return trace(f, f64(N), f64(N))


def value(fn: Function) -> Function:
    return fn


def to_code(fn: Function) -> Any:
    return assembly(build_verified(optimise(fn, check=False), can, routine_of))


@pytest.mark.parametrize("of", [value, gradient])
@pytest.mark.parametrize("name", STEPS)
def test_work_grows_with_the_length(name: str, of: Callable[[Function], Function]) -> None:
    to_code(of(chain(STEPS[name], 8)))  # fills caches
    calls: list[int] = []
    for length in (8, 16, 32, 64, 128):  # exponential growth shows before it takes long
        calls.append(calls_of(partial(to_code, of(chain(STEPS[name], length)))))
        assert calls[-1] < 2.6 * calls[max(len(calls) - 2, 0)]


def around(inner: Function, x: Value, y: Value) -> Value:
    other = trace(lambda x, y: x + y, f64(N), f64(N))
    (z,) = Cond(inner, other).apply(less(reduce_sum(x, (0,)), 1.0), x * 2.0, y)
    return z + x


def branches(depth: int) -> Function:
    """Branches inside of each other."""
    fn = trace(lambda x, y: sin(x) * y, f64(N), f64(N))
    for _ in range(depth):
        fn = trace(partial(around, fn), f64(N), f64(N))
    return fn


@pytest.mark.parametrize(("of", "most"), [(value, 2.2), (gradient, 2.8)])
def test_work_grows_with_the_depth(of: Callable[[Function], Function], most: float) -> None:
    """In proportion; of gradients, whose branches hand on what those inside keep, somewhat more."""
    to_code(of(branches(4)))
    calls = [calls_of(partial(to_code, of(branches(depth)))) for depth in (4, 8, 16)]
    assert calls[1] < most * calls[0]
    assert calls[2] < most * calls[1]
