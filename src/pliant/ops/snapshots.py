"""A few states of a long loop, kept while it is run, from which reverse mode finds the others.

Which states are kept is decided as the steps are run, by binomial numbers: with s places, steps from one kept
state to the end of d steps are run again at most r times each, where r is the least for which C(s + r, s) ≥ d. One
more state is kept after d·r/(s + r) of them. Source: Griewank 1992, Optimization Methods and Software 1.
"""

from __future__ import annotations

from dataclasses import replace
from math import comb
from typing import final

from pliant.core import ir
from pliant.core.build import trace
from pliant.core.data import frozen
from pliant.core.ir import Value, Values, const
from pliant.core.types import Type
from pliant.ops.compare import equal, less, maximum
from pliant.ops.cond import Cond
from pliant.ops.elementwise import convert
from pliant.ops.index import gather, scatter_set
from pliant.ops.rounding import floor_divide
from pliant.ops.select import select
from pliant.ops.while_loop import WhileLoop

INDEX = Type("i64")


def repeats(steps: int, states: int) -> int:
    """How often a step is run again at most, if so many states are kept.

    >>> repeats(1000, 8), repeats(1000, 100)
    (5, 2)
    """
    count = 0
    while comb(states + count, states) < steps:
        count += 1
    return count


def repeats_of(steps: Value, states: int) -> Value:
    """The same, of a number of steps known at run time."""

    def more(reached: Value, _: Value, steps: Value) -> Value:
        return less(reached, steps)

    def once(reached: Value, count: Value, steps: Value) -> Values:
        return floor_divide(reached * (count + (states + 1)), count + 1), count + 1

    types = (INDEX,) * 3
    loop = WhileLoop(trace(more, *types), trace(once, *types), ("carry", "carry", "const"))
    return loop.apply(number(1), number(0), steps)[1]


@final
@frozen
class Snapshots:
    """States before some steps, the first ones in front, and which state is to be kept next.

    slots: of each carry, one row per state. starts: the numbers of the steps. sweeps: how often what follows is
    run again. top: the last of them. goal: the number of the step before which a state is kept next; the
    steps from there on are run again `sweep` times.
    """

    slots: Values
    starts: Value
    sweeps: Value
    top: Value
    goal: Value
    sweep: Value

    @classmethod
    def none(cls, state: Values, states: int, sweep: Value) -> Snapshots:
        """Before any is kept; the first step is the next to be."""
        slots = [ir.operators.zeros(x.type.stacked(states)) for x in state]
        counts = ir.operators.zeros(INDEX.stacked(states))
        return cls(tuple(slots), counts, counts, number(-1), number(0), sweep)

    @classmethod
    def of(cls, values: Values, parts: int) -> Snapshots:
        """From the values, for states of so many parts; what follows them is not looked at."""
        return cls(values[:parts], *values[parts : parts + 5])

    @property
    def values(self) -> Values:
        """All that a loop carries of it."""
        return *self.slots, self.starts, self.sweeps, self.top, self.goal, self.sweep

    def kept(self, step: Value, end: Value, state: Values) -> Snapshots:
        """After the state before a step has been kept, if it is to be; `end` is the number of steps in all."""
        is_due = equal(step, self.goal)
        top = self.top + convert(is_due, INDEX.dtype)
        count = len(state)

        def keeping(at: Value, *args: Value) -> Values:
            return tuple([scatter_set(x, (at,), y) for x, y in zip(args[:count], args[count:], strict=True)])

        def same(_: Value, *args: Value) -> Values:
            return args[:count]

        types = [INDEX, *(x.type for x in (*self.slots, *state))]
        slots = Cond(trace(keeping, *types), trace(same, *types)).apply(is_due, top, *self.slots, *state)

        def noted(notes: Value, number: Value) -> Value:
            return scatter_set(notes, (top,), select(is_due, number, gather(notes, top)))

        goal = select(is_due, self.after(step, end, top, self.sweep), self.goal)
        return Snapshots(slots, noted(self.starts, step), noted(self.sweeps, self.sweep - 1), top, goal, self.sweep)

    def last(self) -> tuple[Value, Values]:
        """The last state kept, and the number of its step."""
        return gather(self.starts, self.top), tuple([gather(x, self.top) for x in self.slots])

    def again(self, end: Value) -> Snapshots:
        """Before the steps from the last state on are run again, up to `end`."""
        sweep = gather(self.sweeps, self.top)
        goal = self.after(gather(self.starts, self.top), end, self.top, sweep)
        return replace(self, sweeps=scatter_set(self.sweeps, (self.top,), sweep - 1), goal=goal, sweep=sweep)

    def after(self, step: Value, end: Value, top: Value, sweep: Value) -> Value:
        """Which state to keep after that before a step, of those before `end`."""
        left = self.starts.shape[0] - top  # that one included
        away = floor_divide((end - step) * sweep + (left + sweep - 1), left + sweep)
        return select(equal(left, number(1)), number(-1), step + maximum(away, number(1)))


def number(n: int) -> Value:
    """A literal."""
    return const(n, INDEX.dtype)
