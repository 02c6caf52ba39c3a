"""JAX's shortest calls: one compiled function of arrays, and linear functions at one point."""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import FunctionType
from typing import Any, Final, cast

import numpy as np

from pliant.backends import backend_named
from pliant.diff.captured import NOTHING, UNREAD
from pliant.diff.system import Arrays, AtPoint, Bound, Form, Linear, Way, native, unboxed
from pliant.frontend.kinds import is_array

SMALL: Final = 4096  # elements: to copy these twice costs less than to hand over one more array


class _NestedError(Exception):
    """A function returns a container: the short way does not build it."""


def direct(system: Any, form: Form, program: Callable[..., Any], functional: Any, way: Way) -> Way:
    """A call of this form with single arrays; the given way for all else. With JAX's arrays it is one of what
    `jax.jit` made, with no Python between."""
    jax, own = system.jax, cast("Any", type(system.jnp.zeros(())))
    config = jax.config
    made: dict[Any, tuple[Callable[..., Any], ...]] = {}  # by the numbers that f reads from outside
    # what tells that f reads the same; that; programs for JAX's and for NumPy's arrays
    latest: Any = (*UNREAD, NOTHING, way, way)
    flat, is_nested = _flat(form, program, functional), False

    def run(*args: Any) -> Any:
        places, rest, reads, call, call_packed = latest
        for container, key, content in places:
            if container.get(key, places) is not content:
                return renewed(*args)
        if (rest is None or rest()) and (not form.has_seeds or _are_arrays(args[1])):
            x = args[0]
            if x.__class__ is own:
                return straight(call, args, reads)
            if x.__class__ is np.ndarray and config.jax_enable_x64:
                return numpy(call_packed(*_native(args, reads.arrays)))
        return renewed(*args)

    def straight(call: Way, args: Arrays, reads: Any) -> Any:
        given = _native(args, reads.arrays)
        if all(map(operator.is_, given, (*args, *reads.arrays))):
            guarded.straight(call, args, reads.arrays, reads.conditions)
        return call(*given)

    def renewed(*args: Any) -> Any:
        nonlocal is_nested, latest
        x = native(args[0])
        if is_nested or not isinstance(x, np.ndarray | own) or (form.has_seeds and not _are_arrays(args[1])):
            return way(*args)
        reads = functional.reads((x,), _native(args[1 + form.has_seeds :]))
        if reads.key not in made:
            made[reads.key] = jax.jit(_copy(flat)), jax.jit(_copy(_packed(flat, system.jnp.concatenate)))
        is_own, calls = isinstance(x, own), made[reads.key]
        try:
            with jax.enable_x64(config.jax_enable_x64 or not is_own):
                results = calls[not is_own](*_native(args, reads.arrays))
        except _NestedError:
            is_nested = True
            return way(*args)
        latest = *reads.steps, reads, *calls
        return results if is_own else numpy(results)

    def numpy(results: Any) -> Any:
        if form.is_alone or results.__class__ is tuple:
            return _numpy(results)
        pair = np.array(results)
        return pair[0], pair[1:]

    native_code: Any = backend_named("llvm")
    guarded = native_code.guarded(run)
    return guarded.call


def _flat(form: Form, program: Callable[..., Any], functional: Any) -> Callable[..., Any]:
    """What is to be compiled: the program with single arrays as arguments and results."""

    def flat(x: Any, *rest: Any) -> Any:
        seeds, constants = (rest[0], rest[1:]) if form.has_seeds else ((), rest)
        ys, _, parts = program((x,), tuple([(t,) for t in seeds]), constants)
        if not functional.returned.structure.is_leaf():
            raise _NestedError
        leaves = tuple([leaf for part in (ys, *parts) for leaf in part])
        if form.has_seeds:
            first = len(leaves) - len(seeds)
            leaves = (*leaves[:first], leaves[first:])
        return leaves[0] if form.is_alone else leaves

    return flat


def _packed(flat: Callable[..., Any], concatenate: Callable[..., Any]) -> Callable[..., Any]:
    """flat, returning a number and a small vector like x as one array."""

    def packed(x: Any, *rest: Any) -> Any:
        results = flat(x, *rest)
        if results.__class__ is not tuple or len(results) != 2 or results[1].__class__ is tuple:
            return results
        y, d = results
        is_small = x.ndim == 1 and x.size < SMALL
        is_pair = is_small and not y.ndim and d.shape == x.shape and x.dtype == y.dtype == d.dtype
        return concatenate([y[None], d]) if is_pair else results

    return packed


def _numpy(results: Any) -> Any:
    """NumPy's arrays and scalars."""
    if results.__class__ is tuple:
        return tuple([_numpy(a) for a in results])
    return unboxed(np.array(results))


def _are_arrays(seeds: Any) -> bool:
    return seeds.__class__ is tuple and all([hasattr(t, "dtype") for t in seeds])


def _native(args: Arrays, arrays: Arrays = ()) -> Arrays:
    """Both in this machine's byte order: compiled calls misread others."""
    given = (*args, *arrays)
    if all(map(_is_native, given)):
        return given
    return tuple([_native(a) if a.__class__ is tuple else native(a) for a in given])


def _is_native(x: Any) -> bool:
    return all(map(_is_native, x)) if x.__class__ is tuple else not is_array(x) or x.dtype.isnative


def _copy(fn: Any) -> Callable[..., Any]:
    """Another function that does the same: `jax.jit` shares its programs between equal ones."""
    return FunctionType(fn.__code__, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)


def at_point(system: Any, bound: Bound, is_forward: bool) -> AtPoint:
    """What makes derivatives at points as functions of a seed, with what they need of f."""
    jax = system.jax

    def linear(xs: Arrays, constants: Arrays) -> Any:
        fn = bound(constants)

        def values(xs: Arrays) -> Arrays:
            return fn(xs)[0]

        return (jax.linearize if is_forward else jax.vjp)(values, xs)[1]

    def apply(kept: Any, seed: Arrays) -> Any:
        return kept(seed)

    start, run = jax.jit(linear), jax.jit(apply)

    def at(xs: Arrays, constants: Arrays) -> Linear:
        is_wide = bool(jax.config.jax_enable_x64) or not all([isinstance(x, jax.Array) for x in xs])
        with jax.enable_x64(is_wide), system.reversing():
            kept = start(xs, constants)

        def along(seed: Arrays) -> Arrays:
            with jax.enable_x64(is_wide):
                if is_forward:
                    return run(kept, seed)
                with system.reversing():
                    (gs,) = run(kept, tuple([system.conj(system.array(ct)) for ct in seed]))
                return tuple([system.conj(g) for g in gs])

        return along

    return at
