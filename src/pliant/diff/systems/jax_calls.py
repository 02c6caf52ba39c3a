"""JAX's shortest calls: one compiled function of arrays, and linear functions at one point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, Final, cast

import numpy as np

from pliant.diff.captured import UNREAD
from pliant.diff.system import Arrays, Bound, Linear, Way, native

SMALL: Final = 4096  # elements: to copy these twice costs less than to hand over one more array


class _NestedError(Exception):
    """A function returns a container: the short way does not build it."""


def direct(system: Any, program: Callable[..., Any], functional: Any, way: Way) -> Way:
    """`(x, *constants) → (y, *derivatives)` of single arrays; the given way for all else."""
    jax, own = system.jax, cast("Any", type(system.jnp.zeros(())))
    config = jax.config
    made: dict[Any, tuple[Callable[..., Any], ...]] = {}  # by the numbers that f reads from outside
    # what tells that f reads the same; programs for JAX's and NumPy's arrays; if of 64 bits; which results are numbers
    latest: Any = (*UNREAD, way, way, False, ())
    is_nested = False

    def flat(x: Any, *constants: Any) -> Any:
        ys, _, parts = program((x,), (), constants)
        if not functional.returned.structure.is_leaf():
            raise _NestedError
        return tuple([leaf for part in (ys, *parts) for leaf in part])

    def run(*args: Any) -> Any:  # one tuple, handed on as it is
        places, rest, call, call_packed, is_wide, numbers = latest
        for container, key, content in places:
            if container.get(key, places) is not content:
                return renewed(*args)
        if rest is None or rest():
            x = args[0]
            if x.__class__ is own:
                return call(*args)
            if is_wide and x.__class__ is np.ndarray:
                given = call_packed(*args)
                if given.__class__ is own:
                    pair = np.array(given)
                    if pair.dtype is x.dtype:  # else JAX may have gone back to 32 bits
                        return pair[0], pair[1:]
                else:
                    results = [*map(np.array, given)]
                    if results[-1].dtype is x.dtype:
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
        if reads.key not in made:
            made[reads.key] = tuple([jax.jit(_copy(fn)) for fn in (flat, _packed(flat, system.jnp.concatenate))])
        calls = [_with(jitted, constants, reads.arrays) for jitted in made[reads.key]]
        is_own, is_wide = isinstance(x, own), config.jax_enable_x64
        try:
            with jax.enable_x64(is_wide or not is_own):
                results: Any = calls[not is_own](x, *constants)
        except _NestedError:
            is_nested = True
            return way(*args)
        parts: Arrays = _parted(np.array(results)) if isinstance(results, own) else results
        latest = *reads.steps, *calls, is_wide, [n for n, a in enumerate(parts) if not a.ndim]
        return parts if is_own else tuple([system.numpy(a) for a in parts])

    return run


def _packed(flat: Callable[..., Any], concatenate: Callable[..., Any]) -> Callable[..., Any]:
    """flat, returning a number and a small vector like x as one array."""

    def packed(x: Any, *constants: Any) -> Any:
        results = flat(x, *constants)
        (y, *_), d = results, results[-1]
        is_small = len(results) == 2 and x.ndim == 1 and x.size < SMALL
        is_pair = is_small and not y.ndim and d.shape == x.shape and x.dtype == y.dtype == d.dtype
        return concatenate([y[None], d]) if is_pair else results

    return packed


def _parted(pair: Any) -> Arrays:
    return pair[0], pair[1:]


def _with(call: Callable[..., Any], constants: Sequence[Any], arrays: Arrays) -> Callable[..., Any]:
    """call, with arrays after its arguments. Compiled calls misread NumPy's arrays of another byte order."""
    if any([isinstance(a, np.ndarray) for a in (*constants, *arrays)]):
        return lambda *args: call(*map(native, (*args, *arrays)))
    return (lambda *args: call(*args, *arrays)) if arrays else call


def _copy(fn: Any) -> Callable[..., Any]:
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
