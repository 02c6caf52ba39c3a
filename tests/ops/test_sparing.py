"""Loops that keep few states: how many, and how often steps are run again."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, ClassVar, final

import numpy as np
import pytest

from pliant.core.build import trace
from pliant.core.inner import functions_of
from pliant.core.ir import Function, Namespace, Op, Tangents, Value, Values, nodes
from pliant.core.types import Type
from pliant.errors import ShapeError
from pliant.ops.checkpoints import Treeverse, apply_of, with_policy
from pliant.ops.reduce import reduce_sum
from pliant.ops.snapshots import repeats
from pliant.ops.sparing import Sparing
from pliant.pipeline import optimise
from pliant.testing import reverse, run
from tests.ops.test_loop import loop, oscillator
from tests.programs.programs import f64, gradient

I64 = Type("i64")


@final
class Counted(Op):
    """x; notes which steps are run."""

    steps: ClassVar[list[int]] = []

    def infer(self, i: Type, x: Type) -> Type:
        return x

    def array(self, xp: Namespace, i: Any, x: Any) -> Any:
        self.steps.append(int(i))
        return x

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        return self.apply(*xs), (dxs[1],)


def again(length: int, states: int, **settings: Any) -> list[int]:
    """How often each step is run more than for the value and its own derivative."""

    def program(x: Value, *count: Value) -> Values:
        body = trace(lambda i, x, *count: Counted()(i, x * 1.01) * x, I64, f64(), *(I64 for _ in count))
        ins = ("carry", *("count" for _ in count))
        return Sparing(
            body, states, settings.get("most", length), ins, ("last",), settings.get("reverse", False)
        ).apply(x, *count)

    counts = [np.int64(length)] if "most" in settings else []
    fn = reverse(trace(program, f64(), *(I64 for _ in counts)), (True, *(False for _ in counts)))
    Counted.steps.clear()
    (slope,) = run(fn, [np.float64(0.5), *counts, np.float64(1.0)])
    assert np.isfinite(slope)
    return [n - 2 for n in np.bincount(Counted.steps, minlength=length)]


@cache
def fewest(length: int, states: int) -> int:
    """The fewest steps that all ways back run, each step's own derivative apart."""
    if length < 2:
        return 0
    if states == 1:
        return length * (length - 1) // 2
    return min(k + fewest(length - k, states - 1) + fewest(k, states) for k in range(1, length))


@pytest.mark.parametrize("states", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("settings", [{}, {"reverse": True}, {"most": 200}], ids=str)
def test_no_step_is_run_again_more_often_than_it_must_be(states: int, settings: dict[str, Any]) -> None:
    for length in (1, 2, 4, 9, 17, 60):
        times = again(length, states, **settings)
        assert min(times) >= 0
        assert max(times) <= repeats(length, states)
        # a way forward to the end has been made for the value
        assert sum(times) <= 1.3 * (fewest(length, states) - length + 1) + length / 5 + 2


def values(fn: Function) -> Iterator[Value]:
    """All values of a program, also of functions held."""
    for node in nodes(fn.results):
        yield from node.values
        for held in functions_of(node.op).values():
            yield from values(held)


def gradient_of_spring(length: int, states: int) -> Function:
    """Of what the last state is, and of what all are together."""
    op = loop(oscillator, length, "const carry const", "last sum sum", f64(), f64(8), f64(8))

    def program(*xs: Value) -> Value:
        last, energy, work = op.apply(*xs)
        return reduce_sum(last) + energy * work

    fn = with_policy(trace(program, f64(), f64(8), f64(8)), apply_of(Treeverse(states)))
    return optimise(gradient(fn))


@pytest.mark.parametrize("length", [100, 10_000])
@pytest.mark.parametrize("states", [4, 30])
def test_no_array_is_larger_than_the_states_kept(length: int, states: int) -> None:
    largest = max(v.type.bytes for v in values(gradient_of_spring(length, states)))
    assert largest <= states * f64(8).bytes


def test_a_program_does_not_grow_with_the_number_of_steps_or_states() -> None:
    sizes = [len({v.node for v in values(gradient_of_spring(n, k))}) for n, k in ((60, 8), (10**6, 9), (2000, 100))]
    assert max(sizes) <= 2 * min(sizes)


def test_folds_are_refused() -> None:
    body = trace(lambda i, x: x, I64, f64())
    with pytest.raises(ShapeError, match="sparing: expected results of kind last and stack"):
        Sparing(body, 2, 3, ("const",), ("sum",)).apply(*trace(lambda x: x, f64()).params)
