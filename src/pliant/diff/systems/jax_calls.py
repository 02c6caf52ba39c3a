"""JAX's shortest calls: one compiled function of arrays, and linear functions at one point."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, cast

import numpy as np

from pliant.diff.system import Arrays, Bound, Linear, Way


class _NestedError(Exception):
    """A function returns a container: the short way does not build it."""


def direct(system: Any, program: Callable[..., Any], functional: Any, way: Way) -> Way:
    """`(x, *constants) → (y, *derivatives)` of single arrays; the given way for all else."""
    jax, own, numpy = system.jax, cast("Any", type(system.jnp.zeros(()))), system.numpy
    config = jax.config
    made: dict[Any, Callable[..., Any]] = {}  # by the numbers that f reads from outside
    latest: list[Any] = [(None, None, False)]  # what f read at the last call, the program for it, if it had 64 bits
    is_nested = False

    def flat(x: Any, *constants: Any) -> Any:
        ys, _, parts = program((x,), (), constants)
        if not functional.returned.structure.is_leaf():
            raise _NestedError
        return ys[0], *[part[0] for part in parts]

    def run(x: Any, *constants: Any) -> Any:
        reads, call, is_wide = latest[0]
        if reads is not None and reads.holds():
            if x.__class__ is own:
                return call(x, *constants, *reads.arrays)
            if is_wide and x.__class__ is np.ndarray:
                made = [a if a.ndim else a[()] for a in map(np.array, call(x, *constants, *reads.arrays))]
                if made[-1].dtype is x.dtype:  # else JAX may have gone back to 32 bits
                    return tuple(made)
        return renewed(x, *constants)

    def renewed(x: Any, *constants: Any) -> Any:
        nonlocal is_nested
        if is_nested or not isinstance(x, np.ndarray | own):
            return way(x, *constants)
        reads = functional.reads((x,), constants)
        call = made.get(reads.key) or made.setdefault(reads.key, jax.jit(_copy(cast("Any", flat))))
        latest[0] = reads, call, config.jax_enable_x64
        try:
            if isinstance(x, own):
                return call(x, *constants, *reads.arrays)
            with jax.enable_x64(True):
                return tuple([numpy(a) for a in call(x, *constants, *reads.arrays)])
        except _NestedError:
            is_nested, latest[0] = True, (None, None, False)
            return way(x, *constants)

    return run


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
