"""JAX's shortest calls: one compiled function of arrays, and linear functions at one point."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, cast

import numpy as np

from pliant.diff.system import Arrays, Bound, Direct, Linear, NestedError


def direct(system: Any, program: Callable[..., Any], functional: Any) -> Direct:
    """`(x, *constants) → (y, derivative)`, for arrays of JAX and of NumPy."""
    jax, numpy, config = system.jax, system.numpy, system.jax.config
    made: dict[Any, Callable[..., Any]] = {}  # by the numbers that f reads from outside
    latest: list[Any] = [None, None]  # what f read at the last call, and the program for it

    def flat(x: Any, *constants: Any) -> Any:
        ys, _, parts = program((x,), (), constants)
        if len(parts[-1]) != 1 or not functional.returned.structure.is_leaf():
            raise NestedError
        return ys[0], parts[-1][0]

    def run(x: Any, *constants: Any) -> Any:
        reads = functional.reads((x,), constants)
        made_for, call = latest
        if reads is not made_for:
            call = made.get(reads.key) or made.setdefault(reads.key, jax.jit(_copy(cast("Any", flat))))
            latest[:] = reads, call
        if type(x) is not np.ndarray:
            return call(x, *constants, *reads.arrays)
        if config.jax_enable_x64:
            y, derivative = call(x, *constants, *reads.arrays)
        else:
            with jax.enable_x64(True):
                y, derivative = call(x, *constants, *reads.arrays)
        return numpy(y), numpy(derivative)

    own = cast("Any", type(system.jnp.zeros(())))
    return Direct((np.ndarray, own), run)


def _copy(fn: FunctionType) -> Callable[..., Any]:
    """Another function that does the same: `jax.jit` shares its programs between equal ones."""
    return FunctionType(fn.__code__, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)


def at_point(system: Any, bound: Bound, xs: Arrays, constants: Arrays, is_forward: bool) -> Linear:
    """The derivative as a function of a seed; what it needs of f is computed here."""
    jax = system.jax
    is_wide = bool(jax.config.jax_enable_x64) or not all([isinstance(x, jax.Array) for x in xs])

    def linear(xs: Arrays, constants: Arrays) -> Any:
        fn = bound(constants)

        def values(xs: Arrays) -> Arrays:
            return fn(xs)[0]

        return (jax.linearize if is_forward else jax.vjp)(values, xs)[1]

    def apply(kept: Any, seed: Arrays) -> Any:
        return kept(seed)

    with jax.enable_x64(is_wide):
        kept, run = jax.jit(linear)(xs, constants), jax.jit(apply)

    def at(seed: Arrays) -> Arrays:
        with jax.enable_x64(is_wide):
            if is_forward:
                return run(kept, seed)
            (gs,) = run(kept, tuple([system.conj(system.array(ct)) for ct in seed]))
            return tuple([system.conj(g) for g in gs])

    return at
