"""Random numbers in a traced function: those of a generator that it makes of a known seed are the same at every call,
so they are constants of the program. Any other would be drawn while tracing, once for all calls: an error."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, final

import numpy as np

from pliant.core.origin import here
from pliant.errors import UnsupportedError
from pliant.frontend.adopt import adopt, has_traced
from pliant.frontend.control.region import in_loop, on_trial
from pliant.frontend.tracing import is_tracing


@final
class Draws:
    """A generator that a traced function has made."""

    __slots__ = ("generator",)

    def __init__(self, generator: np.random.Generator) -> None:
        self.generator = generator

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.generator, name)
        return self._drawing(method) if callable(method) and is_tracing() else method

    def _drawing(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def draw(*args: Any, **options: Any) -> Any:
            if on_trial():
                where = "a loop, whose body is run once for all steps" if in_loop() else "a branch"
                raise UnsupportedError(
                    f"random numbers are drawn inside {where}",
                    hint="draw all of them before, as in noise = rng.normal(size=(steps, n)), and use noise[i]",
                ).at(("here", here()))
            if has_traced((args, *options.values())):
                raise UnsupportedError(
                    "random numbers are drawn with a parameter that is known only at run time",
                    hint="scale standard ones: mean + width * rng.normal(size=n)",
                ).at(("here", here()))
            return adopt(method(*args, **options))

        return draw


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


def drawn_once(name: str, more: str = "") -> UnsupportedError:
    """The error of a draw that would be made while tracing."""
    return UnsupportedError(
        f"{name} inside a traced function would draw once, not at every call",
        hint=f"{more}draw outside and pass the numbers as an argument",
    ).at(("here", here()))
