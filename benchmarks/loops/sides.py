"""One program at one size by every side: calls to time, and how long compiling took."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

import pliant
from benchmarks.loops import by_hand, in_jax
from benchmarks.loops.programs import LoopProgram
from benchmarks.loops.programs.base import Sizes

os.environ["PLIANT_CACHE"] = ""  # what was compiled in an earlier run would not show
jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]

Call = Callable[[], Any]


def values(program: LoopProgram, size: Sizes, *, with_jax: bool = True) -> tuple[dict[str, Call], dict[str, float]]:
    """Calls that return the results; seconds until the first one returned."""
    xs, run = program.inputs(size), program.of_arrays(size)
    compiled = pliant.jit(run)
    calls: dict[str, Call] = {"pliant": lambda: compiled(*xs), "numpy": lambda: run(*xs)}
    if with_jax and program.name in in_jax.VERSIONS:
        static = {key: size[key] for key in program.static}
        fn = jax.jit(lambda *xs: in_jax.VERSIONS[program.name](*xs, **static))
        calls["jax"] = lambda: jax.block_until_ready(fn(*xs))
    return calls, {side: first(calls[side]) for side in calls if side != "numpy"}


def gradients(program: LoopProgram, size: Sizes, *, with_jax: bool = True) -> tuple[dict[str, Call], dict[str, float]]:
    """Calls that return the sum of all results and its gradients; seconds until the first one returned."""
    xs = program.inputs(size)
    compiled = pliant.value_and_grad(program.loss(size), argnums=program.wrt)
    calls: dict[str, Call] = {"pliant": lambda: compiled(*xs)}
    if with_jax and program.name in in_jax.VERSIONS:
        static = {key: size[key] for key in program.static}

        def loss(*xs: Any) -> Any:
            made = in_jax.VERSIONS[program.name](*xs, **static)
            return sum(x.sum() for x in jax.tree.leaves(made))

        fn = jax.jit(jax.value_and_grad(loss, argnums=program.wrt))
        calls["jax"] = lambda: jax.block_until_ready(fn(*xs))
    hand = by_hand.value_and_gradient(program, size)
    if hand is not None:
        calls["C"] = hand
    times = {side: first(calls[side]) for side in calls if side != "C"}
    check(program, calls)
    return calls, times


def first(call: Call) -> float:
    """Seconds that the first call takes: tracing, compiling, running."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def check(program: LoopProgram, calls: dict[str, Call]) -> None:
    """Raise unless all sides agree."""
    wanted = leaves(calls["pliant"]())
    for side, call in calls.items():
        for got, want in zip(leaves(call()), wanted, strict=True):
            scale = max(float(np.max(np.abs(want))), 1.0)
            error = float(np.max(np.abs(got - want))) / scale
            assert error < 1e-6, f"{program.name}: {side} differs by {error}"


def leaves(tree: Any) -> list[Any]:
    """The arrays and numbers in tuples and lists."""
    if isinstance(tree, tuple | list):
        return [x for part in tree for x in leaves(part)]
    return [np.asarray(tree)]
