"""Policies of what a loop keeps: the same values and derivatives, less memory."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import pytest

from pliant.core.build import trace
from pliant.core.ir import Function, Value, Values, nodes
from pliant.core.types import Type
from pliant.errors import ArgumentError
from pliant.ops.checkpoints import Treeverse, apply_of, block_size, with_policy
from pliant.ops.loop import Loop
from pliant.ops.reduce import reduce_sum
from pliant.ops.snapshots import repeats
from pliant.pipeline import optimise
from pliant.testing import reverse, run, sample
from pliant.transforms.jvp import jvp
from pliant.transforms.vmap import vmap
from tests.ops.test_loop import counted, loop, oscillator
from tests.programs.programs import f64, gradient

I64 = Type("i64")
POLICIES = ["carry", "sqrt", Treeverse(2), Treeverse(3), Treeverse(4), Treeverse(9)]


def spring(length: int, outs: str, **settings: Any) -> Loop:
    return loop(counted, length, "count const carry each", outs, I64, f64(), f64(3), f64(3), **settings)


def agree(plain: Function, kept: Function, count: int) -> None:
    rng = np.random.default_rng(0)
    xs = [np.full(p.type.shape, count) if p.type.dtype == "i64" else sample(rng, p.type) for p in plain.params]
    for a, b in zip(run(plain, xs), run(optimise(kept), xs), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)


@pytest.mark.parametrize("policy", POLICIES, ids=str)
@pytest.mark.parametrize("reversed_", [False, True])
@pytest.mark.parametrize("length", [0, 1, 3, 17])
def test_policies_change_no_value_and_no_derivative(policy: Any, length: int, reversed_: bool) -> None:
    op = spring(length, "last stack sum", reverse=reversed_)
    plain = trace(op.apply, *map(op.operand_type, range(4)))
    kept = with_policy(plain, apply_of(policy))
    active = (False, True, True, True)
    for count in (length, length - 1):
        agree(plain, kept, count)
        agree(reverse(plain, active), reverse(kept, active), count)


@pytest.mark.parametrize("policy", ["sqrt", Treeverse(3), Treeverse(4)], ids=str)
@pytest.mark.parametrize("counted", [False, True])
def test_policies_hold_for_a_batch(policy: Any, counted: bool) -> None:
    op = spring(7, "last stack sum")
    plain = trace(op.apply, *map(op.operand_type, range(4)))
    backs = [reverse(fn, (False, True, True, True)) for fn in (plain, with_policy(plain, apply_of(policy)))]
    flags = (counted, *(True for _ in backs[0].params[1:]))
    first, second = (vmap(back, 2, flags) for back in backs)
    agree(first, second, 5)


@pytest.mark.parametrize("policy", ["sqrt", Treeverse(3)], ids=str)
def test_policies_hold_for_the_derivative_of_a_batch_and_of_a_derivative(policy: Any) -> None:
    op = spring(6, "last stack sum")
    plain = trace(op.apply, *map(op.operand_type, range(4)))
    active = (False, True, True, True)
    for change in (batch_of_two, pushed, pulled):
        first, second = (change(fn) for fn in (plain, with_policy(plain, apply_of(policy))))
        flags = tuple(p.type.is_float for p in first.params)
        assert flags[:4] == active
        agree(reverse(first, flags), reverse(second, flags), 5)


def batch_of_two(fn: Function) -> Function:
    return vmap(fn, 2, (False, True, True, True))


def pushed(fn: Function) -> Function:
    return jvp(fn, (False, True, True, True))


def pulled(fn: Function) -> Function:
    return reverse(fn, (False, True, True, True))


def test_extrema_over_blocks_are_those_over_all_steps() -> None:
    op = spring(17, "last stack max")
    plain = trace(op.apply, *map(op.operand_type, range(4)))
    agree(
        reverse(plain, (False, True, True, True)),
        reverse(with_policy(plain, apply_of("sqrt")), (False, True, True, True)),
        12,
    )


def tape(fn: Function) -> int:
    """Bytes of the largest stacks that are alive together: of a loop, and of those inside it."""
    most = 0
    for n in nodes(fn.results):
        if isinstance(n.op, Loop):
            own = sum(t.bytes for t, k in zip(n.types, n.op.outs, strict=True) if k == "stack")
            most = max(most, own + tape(n.op.body))
    return most


def memory(policy: Any, length: int) -> int:
    op = loop(oscillator, length, "const carry const", "last stack sum", f64(), f64(3), f64(3))

    def program(kappa: Value, x: Value, push: Value) -> Value:
        return reduce_sum(op.apply(kappa, x, push)[0])

    fn = with_policy(trace(program, f64(), f64(3), f64(3)), apply_of(policy))
    return tape(optimise(gradient(fn)))


def test_memory_grows_as_the_policy_says() -> None:
    assert memory("store", 10_000) / memory("store", 100) == 100
    assert 9 < memory("sqrt", 10_000) / memory("sqrt", 100) < 11
    assert memory(Treeverse(30), 10_000) < memory("sqrt", 10_000)


def test_a_block_and_the_states_before_blocks_are_as_many_as_asked_for() -> None:
    for length, states in ((10, 8), (1000, 8), (1000, 25), (1000, 70), (10**6, 60), (10**6, 2000)):
        size = block_size(length, states)
        assert 1 <= size <= states
        blocks, kept = -(-length // size), states + 1 - size
        times = repeats(blocks, kept)
        assert comb(kept + times, times) >= blocks
        assert all(size * comb(states + 1 - size + times - 1, times - 1) < length for size in range(1, states + 1))


def test_unknown_policies_are_refused() -> None:
    with pytest.raises(ArgumentError, match="is no policy"):
        apply_of("all")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="at least 2 states"):
        Treeverse(1)


def test_results_of_values_are_kept() -> None:
    def program(x: Value) -> Values:
        return loop(lambda i, x: (x * 0.5, x), 7, "carry", "last stack", f64()).apply(x)

    fn = trace(program, f64())
    kept = with_policy(fn, apply_of("sqrt"))
    np.testing.assert_allclose(run(kept, [np.float64(1.0)])[1], 0.5 ** np.arange(7))
