"""JAX's shortest calls: one compiled function of arrays, and linear functions at one point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, cast

import numpy as np

from pliant.diff.captured import UNREAD
from pliant.diff.system import Arrays, Bound, Linear, Way, native


class _NestedError(Exception):
    """A function returns a container: the short way does not build it."""


def direct(system: Any, program: Callable[..., Any], functional: Any, way: Way) -> Way:
    """`(x, *constants) → (y, *derivatives)` of single arrays; the given way for all else."""
    jax, own = system.jax, cast("Any", type(system.jnp.zeros(())))
    config = jax.config
    made: dict[Any, Callable[..., Any]] = {}  # by the numbers that f reads from outside
    # what tells that f reads the same; the program for it; if it had 64 bits; which results are numbers
    latest: Any = (*UNREAD, way, False, ())
    is_nested = False

    def flat(x: Any, *constants: Any) -> Any:
        ys, _, parts = program((x,), (), constants)
        if not functional.returned.structure.is_leaf():
            raise _NestedError
        return tuple([leaf for part in (ys, *parts) for leaf in part])

    def run(*args: Any) -> Any:  # one tuple, handed on as it is
        places, rest, call, is_wide, numbers = latest
        for container, key, content in places:
            if container.get(key, places) is not content:
                return renewed(*args)
        if rest is None or rest():
            x = args[0]
            if x.__class__ is own:
                return call(*args)
            if is_wide and x.__class__ is np.ndarray:
                results = [*map(np.array, call(*args))]
                if results[-1].dtype is x.dtype:  # else JAX may have gone back to 32 bits
                    for n in numbers:
                        results[n] = results[n][()]
                    return tuple(results)
        return renewed(*args)

    def renewed(*args: Any) -> Any:
        nonlocal is_nested, latest
        x, *constants = map(native, args)
        if is_nested or not isinstance(x, np.ndarray | own):
            return way(*args)
        reads = functional.reads((x,), constants)
        jitted = made.get(reads.key) or made.setdefault(reads.key, jax.jit(_copy(cast("Any", flat))))
        call = _with(jitted, constants, reads.arrays)
        is_wide = config.jax_enable_x64
        try:
            with jax.enable_x64(is_wide or not isinstance(x, own)):
                results: Arrays = call(x, *constants)
        except _NestedError:
            is_nested = True
            return way(*args)
        latest = *reads.steps, call, is_wide, [n for n, a in enumerate(results) if not a.ndim]
        return results if isinstance(x, own) else tuple([system.numpy(a) for a in results])

    return run


def _with(call: Callable[..., Any], constants: Sequence[Any], arrays: Arrays) -> Callable[..., Any]:
    """call, with arrays after its arguments. Compiled calls misread NumPy's arrays of another byte order."""
    if any([isinstance(a, np.ndarray) for a in (*constants, *arrays)]):
        return lambda *args: call(*map(native, (*args, *arrays)))
    return (lambda *args: call(*args, *arrays)) if arrays else call


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
