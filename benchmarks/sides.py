"""One program as a call of each library: float64, NumPy arrays in, NumPy arrays out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import optree

from benchmarks.programs import Program

Call = Callable[[], Any]


def pliant(program: Program) -> Call:
    """Compiled by Pliant."""
    library = import_module("pliant")
    fn = partial(program.fn, np)
    compiled = library.jit(fn) if program.by_hand is None else library.value_and_grad(fn)
    return lambda: compiled(*program.args)


def jax(program: Program) -> Call:
    """Compiled by XLA; the results become NumPy arrays, without a copy where JAX can."""
    library = import_module("jax")
    library.config.update("jax_enable_x64", True)
    fn = partial(program.fn, import_module("jax.numpy"))
    compiled = library.jit(fn if program.by_hand is None else library.value_and_grad(fn))
    if program.by_hand is None:
        return lambda: np.asarray(compiled(*program.args))
    return lambda: optree.tree_map(np.asarray, compiled(*program.args))


def numpy(program: Program) -> Call:
    """NumPy itself, the gradient by hand."""
    if program.by_hand is None:
        return lambda: program.fn(np, *program.args)
    by_hand = program.by_hand
    return lambda: by_hand(*program.args)


SIDES: dict[str, Callable[[Program], Call]] = {"pliant": pliant, "jax": jax, "numpy": numpy}


def disagreement(program: Program) -> float:
    """The largest relative difference between the results of any library and NumPy's."""
    expected = optree.tree_leaves(numpy(program)())
    found = [optree.tree_leaves(side(program)()) for side in (pliant, jax)]
    return max(relative(a, b) for leaves in found for a, b in zip(leaves, expected, strict=True))


def relative(got: Any, expected: Any) -> float:
    """The largest difference, over the largest number expected."""
    return float(np.max(np.abs(got - expected)) / np.max(np.abs(expected)))
