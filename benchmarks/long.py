"""Straight-line programs of 10³ to 10⁵ operations: is every stage linear in the length?"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.measure import Times, once

LENGTHS = (1_000, 10_000, 100_000)
LONGEST_FOR_JAX = 1_000  # XLA's time grows faster than the length (5 times for 3 times the length): keep the run short


def straight(xp: Any, length: int) -> Callable[[Any], Any]:
    """A function of one array that does `length` operations, half of them `sin`, one after the other."""
    steps = [1.0 + 0.5 / (i + 1) for i in range(length // 2)]

    def run(x: Any) -> Any:
        return xp.sum(reduce(lambda y, c: xp.sin(y) * c, steps, x))

    return run


def stages(length: int) -> dict[str, Times]:
    """Seconds per stage and library for one length."""
    x = np.linspace(0.1, 1.0, 4)
    rows: dict[str, Times] = {}
    for side, run in (("pliant", pliant_stages), ("jax", jax_stages)):
        if side == "pliant" or length <= LONGEST_FOR_JAX:
            for stage, seconds in run(length, x).items():
                rows.setdefault(stage, {})[side] = seconds
    return rows


def pliant_stages(length: int, x: Any) -> dict[str, float]:
    """Trace, trace the gradient, and first calls, which compile too."""
    pliant, fn = import_module("pliant"), straight(np, length)
    return {
        "trace": once(lambda: pliant.trace(fn, x)),
        "trace the gradient": once(lambda: pliant.trace(pliant.grad(fn), x)),
        "first call": once(lambda: pliant.jit(fn)(x)),
        "first call of the gradient": once(lambda: pliant.grad(fn)(x)),
    }


def jax_stages(length: int, x: Any) -> dict[str, float]:
    """The same stages of JAX."""
    jax = import_module("jax")
    jax.config.update("jax_enable_x64", True)
    fn = straight(import_module("jax.numpy"), length)
    return {
        "trace": once(lambda: jax.make_jaxpr(fn)(x)),
        "trace the gradient": once(lambda: jax.make_jaxpr(jax.grad(fn))(x)),
        "first call": once(lambda: np.asarray(jax.jit(fn)(x))),
        "first call of the gradient": once(lambda: np.asarray(jax.jit(jax.grad(fn))(x))),
    }
