"""Plain NumPy functions on other systems: Pliant's program of f, run by the other library.

f is traced once per signature; each primitive then runs on the library's arrays, where its own
differentiation sees it. Arrays that f captures become inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from pliant.backends.calls import Conditions
from pliant.compiled import Compiled, uncollected
from pliant.diff.captured import Steps
from pliant.diff.system import Arrays, dtype_name, shape
from pliant.entries import conditions
from pliant.errors import ArgumentError
from pliant.frontend.program import Program
from pliant.passes.ends_early import with_all_steps
from pliant.transforms.evaluate import evaluate
from pliant.transforms.inline import inline

Traceable = Callable[[Arrays, Arrays], tuple[Arrays, Arrays]]


@final
@dataclass(frozen=True, eq=False)
class Emitted:
    """A traced function, and how many of its results are f's value."""

    program: Program
    fn: Any
    count: int
    total: int

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The arrays that f captures."""
        return self.program.captured

    @property
    def key(self) -> Emitted:
        """The program itself."""
        return self

    def holds(self) -> bool:
        """Whether what f reads from outside, beside arrays, is still the same."""
        return self.program.guards.hold()

    @property
    def steps(self) -> Steps:
        """The same, for a call that must be short."""
        return (), self.holds

    @property
    def conditions(self) -> Conditions:
        """The same, for machine code."""
        found = conditions(self.program)
        return Conditions(others=self.holds) if found.elements or found.sizes or found.absent else found

    def run(self, xs: Arrays, constants: Arrays, xp: Any, array: Callable[[Any], Any]) -> tuple[Arrays, Arrays]:
        """(ys, aux) on the arrays of namespace xp; constants end with the captured arrays."""
        given = tuple([array(a) for a in (*xs, *constants)])
        results = evaluate(self.fn, given, xp)
        return results[: self.count], results[self.count : self.total]


def emit(traceable: Traceable, xs: Arrays, constants: Arrays, *, is_traced: bool) -> Emitted:
    """Trace a flat function for arguments of these types. is_traced: whether it is run on stand-ins for numbers, by
    which a library cannot tell when a loop ends."""
    counts: list[int] = []

    def traced(xs: Arrays, constants: Arrays) -> Any:
        ys, aux = traceable(xs, constants)
        counts[:] = [len(ys), len(ys) + len(aux)]
        return [*ys, *aux]

    with uncollected():
        program = Compiled(traced).program(tuple(map(_example, xs)), tuple(map(_example, constants)))
    if program.known:  # the program is one for all values
        raise ArgumentError(
            f"another library runs the program of a function that has to know an integer argument, {program.values[0]}",
            hint="fix it in a function of the others: lambda x: f(x, n)",
        ).at(*([("needed here", program.asked)] if program.asked else []))
    fn = with_all_steps(program.fn) if is_traced else program.fn
    return Emitted(program, inline(fn), *counts)


def _example(x: Any) -> Any:
    """A NumPy array, or Python number, like x."""
    if not hasattr(x, "dtype"):
        return x
    return np.zeros(shape(x), dtype_name(x))[()]
