"""What a loop program is: a plain NumPy function, sizes to run it at, and inputs for a size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias, final

import numpy as np

Array: TypeAlias = Any
Sizes: TypeAlias = dict[str, int]


@final
@dataclass(frozen=True)
class LoopProgram:
    """A function of arrays, and keywords that are plain integers, written as a NumPy user would.

    make: the arrays for a size. wrt: the arguments it is differentiated by; none for programs
    with a value only. small: the size of its tests. sizes, trips: what its benchmark varies, of
    array extents and of the number of steps; a program without `trips` has loops over an extent.
    """

    fn: Callable[..., Any]
    make: Callable[..., tuple[Array, ...]]
    wrt: tuple[int, ...]
    small: Sizes
    sizes: tuple[Sizes, ...]
    trips: tuple[Sizes, ...] = ()
    static: tuple[str, ...] = field(default=())

    @cached_property
    def name(self) -> str:
        """The name of its function."""
        return self.fn.__name__

    def inputs(self, size: Sizes, seed: int = 0) -> tuple[Array, ...]:
        """Arrays of a size, the same ones for the same seed."""
        return self.make(np.random.default_rng(seed), **size)

    def of_arrays(self, size: Sizes) -> Callable[..., Any]:
        """The function with its integers given; it returns a tuple."""
        fn, settings = self.fn, {key: size[key] for key in self.static}

        def run(*arrays: Array) -> tuple[Array, ...]:
            made = fn(*arrays, **settings)
            return made if isinstance(made, tuple) else (made,)

        return run

    def loss(self, size: Sizes) -> Callable[..., Any]:
        """The sum of all elements of all results."""
        fn, settings = self.fn, {key: size[key] for key in self.static}

        def total(*arrays: Array) -> Any:
            made = fn(*arrays, **settings)
            return sum(x.sum() for x in made) if isinstance(made, tuple) else made.sum()

        return total


def symmetric_positive(rng: np.random.Generator, n: int) -> Array:
    """A well-conditioned symmetric positive definite matrix."""
    a = rng.uniform(-1.0, 1.0, (n, n))
    return a @ a.T / n + 2.0 * np.eye(n)


def dominant(rng: np.random.Generator, n: int) -> Array:
    """A matrix whose elimination needs no exchange of rows."""
    return rng.uniform(-1.0, 1.0, (n, n)) / n + 2.0 * np.eye(n)
