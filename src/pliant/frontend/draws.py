"""Random numbers in a traced function: those of a generator that it makes of a known seed are the same at every call,
so they are constants of the program. Any other would be drawn while tracing, once for all calls: an error."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, Final, cast, final

import numpy as np

from pliant.core.origin import here
from pliant.errors import UnsupportedError
from pliant.frontend.adopt import adopt, has_traced
from pliant.frontend.array import TracedArray
from pliant.frontend.control.region import in_loop, on_trial
from pliant.frontend.dispatch import known
from pliant.frontend.functions.index import take
from pliant.frontend.kinds import is_traced
from pliant.frontend.tracing import is_tracing

PLACED: Final = ("choice", "permutation", "shuffle")
"""Methods of a generator that take an array and draw places in it."""


@final
class Draws:
    """A generator that a traced function has made."""

    __slots__ = ("generator",)

    def __init__(self, generator: np.random.Generator) -> None:
        self.generator = generator

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.generator, name)
        return self._drawing(name, method) if callable(method) and is_tracing() else method

    def _drawing(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def draw(*args: Any, **options: Any) -> Any:
            if on_trial():
                where = "a loop, whose body is run once for all steps" if in_loop() else "a branch"
                raise UnsupportedError(
                    f"random numbers are drawn inside {where}",
                    hint="draw all of them before, as in noise = rng.normal(size=(steps, n)), and use noise[i]",
                ).at(("here", here()))
            if name in PLACED and args and has_places(args[0], name):
                return self._placed(name, *args, **options)
            return drawn(method, args, options)

        return draw

    def _placed(self, name: str, a: TracedArray, *args: Any, **options: Any) -> Any:
        """A method that puts elements of a traced array in other places: NumPy draws the places as it does for as many
        integers."""
        is_choice = name == "choice"
        axis = options.pop("axis", args[0] if args and not is_choice else 0)
        method = self.generator.choice if is_choice else self.generator.permutation
        count = cast("int", a.shape[axis])
        made = take(a, drawn(method, (count, *(args if is_choice else ())), options), axis)
        if name != "shuffle":
            return made
        a[...] = made
        return None


@final
class RandomNamespace(types.ModuleType):
    """The module `numpy.random`."""

    def __init__(self) -> None:
        super().__init__("numpy.random")

    def __getattr__(self, name: str) -> Any:
        if name == "default_rng":
            return default_rng
        if name.startswith("__") or isinstance(getattr(np.random, name, None), type):
            return getattr(np.random, name)
        raise drawn_once(f"np.random.{name}")


def default_rng(seed: Any = None) -> Draws:
    """`np.random.default_rng` of a seed that is known while tracing."""
    if seed is None or has_traced((seed,)) or isinstance(seed, np.ndarray | np.random.Generator):
        raise drawn_once("np.random.default_rng", "give it a seed that is known while tracing, or ")
    return Draws(np.random.default_rng(seed))


def has_places(x: Any, name: str) -> bool:
    """Whether what a method does to `x` is to put elements in other places that are known only at run time, or to
    write them there."""
    return is_traced(x) and x.ndim > 0 and (x.concrete is None or name == "shuffle")


def drawn(method: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What a method of a generator makes of parameters that are known while tracing."""
    if not has_traced((args, *options.values())):
        return adopt(method(*args, **options))
    made = known(method, args, options)
    if made is None:
        raise UnsupportedError(
            "random numbers are drawn with a parameter that is known only at run time",
            hint="scale standard ones: mean + width * rng.normal(size=n)",
        ).at(("here", here()))
    return made


def drawn_once(name: str, more: str = "") -> UnsupportedError:
    """The error of a draw that would be made while tracing."""
    return UnsupportedError(
        f"{name} inside a traced function would draw once, not at every call",
        hint=f"{more}draw outside and pass the numbers as an argument",
    ).at(("here", here()))
