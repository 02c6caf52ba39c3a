"""One program at one size by every side: calls to time, and how long compiling took."""

from __future__ import annotations

import gc
import os
import time
import warnings
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

import jax
import numba
import numpy as np

import pliant
from benchmarks.loops import by_hand, in_jax, in_numba
from benchmarks.loops.programs import LoopProgram
from benchmarks.loops.programs.base import Sizes

os.environ["PLIANT_CACHE"] = ""  # what was compiled in an earlier run would not show
jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]
warnings.simplefilter("ignore", numba.NumbaPerformanceWarning)  # of products of slices

Call = Callable[[], Any]
AGAIN = 2
"""How often first calls are measured again, by Pliant and by JAX, that are close to the bound: the best counts."""
CLOSE = 1.5
"""How many times as long as JAX's a first call may take that is measured once."""


def start() -> None:
    """Let Pliant and JAX compile something: what happens once in a process belongs to no program's first call."""
    x = np.ones(3)
    pliant.value_and_grad(lambda x: (x * x).sum())(x)
    jax.block_until_ready(jax.jit(jax.value_and_grad(lambda x: (x * x).sum()))(x))


def values(program: LoopProgram, size: Sizes, others: Collection[str]) -> tuple[dict[str, Call], dict[str, float]]:
    """Calls that return the results, by Pliant, NumPy and `others`; seconds until the first one returned."""
    xs, run = program.inputs(size), program.of_arrays(size)

    def of_pliant() -> Call:
        compiled = pliant.jit(run)
        return lambda: compiled(*xs)

    sides: dict[str, Callable[[], Call]] = {"pliant": of_pliant, "numpy": lambda: lambda: run(*xs)}
    if "numba" in others:
        sides["numba"] = lambda: in_numba.call_of(program, size, xs)
    if "jax" in others and (written := jax_version(program, size)):
        sides["jax"] = lambda: call_of_jax(written, xs)
    return checked(program, sides)


def gradients(program: LoopProgram, size: Sizes, others: Collection[str]) -> tuple[dict[str, Call], dict[str, float]]:
    """Calls that return the sum of all results and its gradients; seconds until the first one returned."""
    xs = program.inputs(size)

    def of_pliant() -> Call:
        compiled = pliant.value_and_grad(program.loss(size), argnums=program.wrt)
        return lambda: compiled(*xs)

    sides: dict[str, Callable[[], Call]] = {"pliant": of_pliant}
    if "jax" in others and (written := jax_version(program, size)):
        loss = jax.value_and_grad(lambda *xs: sum_of_all(written(*xs)), argnums=program.wrt)
        sides["jax"] = lambda: call_of_jax(loss, xs)
    hand = by_hand.value_and_gradient(program, size) if "C" in others else None
    if hand is not None:
        sides["C"] = lambda: hand
    return checked(program, sides)


def jax_version(program: LoopProgram, size: Sizes) -> Callable[..., Any] | None:
    """The program as a user of JAX writes it, of its arrays; None if there is no such version."""
    written = in_jax.VERSIONS.get(program.name)
    return written and partial(written, **{key: size[key] for key in program.static})


def call_of_jax(fn: Callable[..., Any], xs: Sequence[Any]) -> Call:
    """A call of a function that JAX compiles at the first one; another one compiles it again."""
    compiled = jax.jit(lambda *xs: fn(*xs))  # noqa: PLW0108 - JAX would know the function itself
    return lambda: jax.block_until_ready(compiled(*xs))


def sum_of_all(tree: Any) -> Any:
    """The sum of all elements of all arrays."""
    return sum(x.sum() for x in jax.tree.leaves(tree))


def checked(program: LoopProgram, sides: dict[str, Callable[[], Call]]) -> tuple[dict[str, Call], dict[str, float]]:
    """The calls, and how long the first one of each took; raise unless all sides agree."""
    calls, times, results = dict[str, Call](), dict[str, float](), dict[str, list[Any]]()
    for side, make in sides.items():
        calls[side], times[side], made = first_call(make)
        results[side] = [x.copy() for x in leaves(made)]
    for side, found in results.items():
        for got, want in zip(found, results["pliant"], strict=True):
            assert disagreement(got, want) < 1e-6, f"{program.name}: {side} differs by {disagreement(got, want)}"
    for _ in range(AGAIN if "jax" in sides and times["pliant"] > CLOSE * times["jax"] else 0):
        for side in ("pliant", "jax"):
            times[side] = min(times[side], first_call(sides[side])[1])
    return calls, times


def first_call(make: Callable[[], Call]) -> tuple[Call, float, Any]:
    """A call of something not compiled before, how long it took, and what it returned. What earlier programs left is
    collected before."""
    call = make()
    gc.collect()
    start = time.perf_counter()
    made = call()
    return call, time.perf_counter() - start, made


def disagreement(got: Any, want: Any) -> float:
    """The largest difference, of large numbers a share. Of counts, which rounding may change by one at some
    points, the mean difference where it is more than one in a hundred."""
    if want.dtype.kind == "i":
        mean = float(np.mean(got != want))
        return mean if mean > 0.01 else 0.0
    scale = max(float(np.max(np.abs(want))), 1.0)
    return float(np.max(np.abs(got - want))) / scale


def leaves(tree: Any) -> list[Any]:
    """The arrays and numbers in tuples and lists."""
    if isinstance(tree, tuple | list):
        return [x for part in tree for x in leaves(part)]
    return [np.asarray(tree)]
