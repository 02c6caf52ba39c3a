"""Random numbers in a traced function. Those of a generator of a known seed are constants, where what is drawn does not
depend on run time; others are drawn by the program: see `random`."""

from __future__ import annotations

import types
from functools import partial
from importlib import import_module
from typing import Any, Final, cast, final

import numpy as np

from pliant.core.origin import here
from pliant.errors import UnsupportedError
from pliant.frontend.adopt import adopt, has_traced
from pliant.frontend.array import TracedArray
from pliant.frontend.control.region import on_trial
from pliant.frontend.functions.index import take
from pliant.frontend.kinds import is_traced
from pliant.frontend.random.generator import TracedGenerator
from pliant.frontend.random.memory import arrays_of
from pliant.frontend.tracing import Trace, current

PLACED: Final = ("choice", "permutation", "shuffle")
"""Methods of a generator that take an array and draw places in it."""


def drawing(rng: TracedGenerator, name: str, trace: Trace) -> Any:
    """The method of a generator of this name."""
    if name in ("parts", "is_new"):
        return getattr(rng, name)
    if rng.kind is np.random.RandomState:
        return state_drawing(rng, name, trace)
    method = method_of_generators(name)
    if not hasattr(np.random.Generator, name) or name.startswith("_"):
        return getattr(np.random.default_rng(0), name)  # as NumPy says that there is none
    if method is None and rng.known is None:
        raise unusable(name, "draw before the call, and pass the numbers as an argument")
    return partial(_drawn, rng, name, method and partial(trace.outermost.see(method), rng))


def method_of_generators(name: str) -> Any:
    """What draws at run time; None if nothing does."""
    places, numbers = (import_module(f"pliant.frontend.random.{module}") for module in ("places", "methods"))
    return getattr(places, name, None) or getattr(numbers, name, None)


def _drawn(rng: TracedGenerator, name: str, at_run_time: Any, *args: Any, **options: Any) -> Any:
    """What a method draws: while tracing, if all that it depends on is known."""
    if rng.known is not None and rng.home is current() and not on_trial():
        if name in PLACED and args and has_places(args[0], name):
            return placed(rng, name, *args, **options)
        if not has_traced((args, *options.values())):
            return drawn(rng, name, args, options)
    if at_run_time is None:
        raise unusable(name, "draw before the loop or branch, or before the call, and use or pass the numbers")
    rng.known = None  # from here on its state is what the program makes of it
    return at_run_time(*args, **options)


def drawn(rng: TracedGenerator, name: str, args: Any, options: Any) -> Any:
    """What a method of the known generator makes of what is known."""
    made = adopt(getattr(rng.known, name)(*args, **options))
    rng.advanced()
    return made


def placed(rng: TracedGenerator, name: str, a: Any, *args: Any, **options: Any) -> Any:
    """A method that puts elements of a traced array in other places: NumPy draws the places as it does for as many
    integers."""
    is_choice = name == "choice"
    axis = options.pop("axis", args[0] if args and not is_choice else 0)
    places = (a.shape[axis], *(args if is_choice else ()))
    made = take(a, drawn(rng, "choice" if is_choice else "permutation", places, options), axis)
    if name != "shuffle":
        return made
    a[...] = made
    return None


COMMON: Final[Any] = cast("Any", np.random.normal).__self__
"""The state whose methods are the functions of `np.random`."""


def state_drawing(rng: TracedGenerator, name: str, trace: Trace) -> Any:
    """The method of a `RandomState` of this name."""
    own = import_module("pliant.frontend.random.of_states")
    method = method_of_generators(name) if name in own.SAME else getattr(own, name, None)
    if not hasattr(np.random.RandomState, name) and not hasattr(np.random, name):
        return getattr(COMMON, name)  # as NumPy says that there is none
    if method is None or name.startswith("_"):
        raise drawn_once(f"np.random.{name}")
    return partial(trace.outermost.see(method), rng)


def state(seed: Any = None) -> TracedGenerator:
    """`np.random.RandomState`, of a seed."""
    made = standing(np.random.RandomState(0))
    made.known = None
    state_drawing(made, "seed", current())(seed)
    return made


@final
class RandomNamespace(types.ModuleType):
    """The module `numpy.random`."""

    def __init__(self) -> None:
        super().__init__("numpy.random")

    @property
    def pliant_itself(self) -> types.ModuleType:
        """What it stands for."""
        return np.random

    def __getattr__(self, name: str) -> Any:
        if name == "default_rng":
            return default_rng
        if name.startswith("__") or isinstance(getattr(np.random, name, None), type):
            return getattr(np.random, name)
        return drawing(entered(COMMON, current()), name, current())


def default_rng(seed: Any = None) -> Any:
    """`np.random.default_rng`, of a seed or a generator."""
    if type(seed) is TracedGenerator:
        return seed
    made, see = import_module("pliant.frontend.random.seeds"), current().outermost.see
    if seed is None:
        return see(made.fresh)(seeds())
    seed = seed.concrete if is_traced(seed) and seed.concrete is not None else seed
    if is_traced(seed) and seed.ndim == 0:
        return see(made.seeded)(seed)
    if has_traced((seed,)):
        raise UnsupportedError(
            "a generator is made of several numbers that are known only at run time",
            hint="np.random.default_rng(seed) of one whole number can be made at run time",
        ).at(("here", here()))
    return generator(seed if isinstance(seed, np.random.BitGenerator) else np.random.PCG64(seed))


def seeds() -> TracedGenerator:
    """What seeds are drawn from where none is given."""
    return entered(import_module("pliant.frontend.random.seeds").SEEDS, current())


def generator(bits: np.random.BitGenerator) -> TracedGenerator:
    """`np.random.Generator` of bits that the traced function has made."""
    return standing(np.random.Generator(bits))


def entered(rng: Any, trace: Trace) -> TracedGenerator:
    """What stands for a generator from outside."""
    return TracedGenerator(rng.__class__, tuple([TracedArray(*trace.enter(part)) for part in arrays_of(rng)]))


def standing(known: Any) -> TracedGenerator:
    """What stands for a generator that the traced function has made, in its first state."""
    return TracedGenerator(known.__class__, tuple([adopt(part.copy()) for part in arrays_of(known)]), known)


def of_numpy(fn: Any, trace: Trace) -> Any:
    """What a trace has in place of a maker of generators, or of a function of `np.random`; None of others."""
    if fn is np.random.default_rng:
        return default_rng
    if fn is np.random.Generator or fn is np.random.RandomState:
        return generator if fn is np.random.Generator else state
    is_common = getattr(fn, "__self__", None) is COMMON
    return drawing(entered(COMMON, trace), fn.__name__, trace) if is_common else None


def has_places(x: Any, name: str) -> bool:
    """Whether what a method does to `x` is to put elements in other places that are known only at run time, or to
    write them there."""
    return is_traced(x) and x.ndim > 0 and (x.concrete is None or name == "shuffle")


def unusable(name: str, hint: str) -> UnsupportedError:
    """The error of what no program does."""
    return UnsupportedError(f"Generator.{name} cannot be used at run time", hint=hint).at(("here", here()))


def drawn_once(name: str, more: str = "") -> UnsupportedError:
    """The error of a draw that would be made while tracing."""
    return UnsupportedError(
        f"{name} inside a traced function would draw once, not at every call",
        hint=f"{more}draw outside and pass the numbers as an argument",
    ).at(("here", here()))
