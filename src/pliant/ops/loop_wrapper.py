"""A loop whose reverse mode is made otherwise than by a second loop over stacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from pliant.core.build import trace
from pliant.core.ir import Function, Tangents, Value, Values
from pliant.core.types import Type
from pliant.errors import ShapeError
from pliant.ops.custom import Wrapper, pick, spread
from pliant.ops.folds import UFUNCS
from pliant.ops.loop import Loop
from pliant.ops.loop_form import In, Out
from pliant.ops.paired import paired
from pliant.transforms.jvp import instantiate

Flags: TypeAlias = "tuple[Sequence[bool], Sequence[bool]]"
Jvp: TypeAlias = "Callable[[Values, Tangents], tuple[Values, Tangents]]"
Back: TypeAlias = "Callable[[Values, Values, Values, Flags], Values]"


class LoopWrapper(Wrapper):
    """The results of a loop: carries and stacks."""

    body: Function
    length: int
    ins: tuple[In, ...]
    outs: tuple[Out, ...]
    reverse: bool

    @property
    def loop(self) -> Loop:
        """The loop itself."""
        return Loop(self.length, self.ins, self.outs, self.body, self.reverse)

    def infer(self, *xs: Type) -> tuple[Type, ...]:
        return self.types(*xs)

    def types(self, *xs: Type) -> tuple[Type, ...]:
        """The types of the results."""
        if any([k in UFUNCS for k in self.outs]):
            raise ShapeError(f"{self.name}: expected results of kind last and stack")
        return self.loop.infer(*xs)

    def expand(self, *xs: Value) -> Values:
        return self.loop.apply(*xs)

    def both_ways(self, made: tuple[Values, Values], xs: Values, dxs: Tangents, jvp: Jvp, back: Back) -> Tangents:
        """Tangents of the results as a linear map with a transpose of its own.

        made: the results, and what was kept for `back`: (xs, kept, cotangents of the results that move, flags) →
        cotangents of the active operands. flags: which operands are active, and which results move.
        """
        (ys, kept), count = made, len(xs)
        active, moved = self.loop.spreading([d is not None for d in dxs], floats=True)
        known, floats = (*xs, *kept), pick(ys, moved)

        def ahead(*args: Value) -> Values:
            _, dys = jvp(args[:count], spread(args[len(known) :], active))
            return instantiate(floats, pick(dys, moved))

        def behind(*args: Value) -> Values:
            return back(args[:count], args[count : len(known)], args[len(known) :], (active, moved))

        types, dtypes = [v.type for v in known], [x.type for x in pick(xs, active)]
        functions = trace(ahead, *types, *dtypes), trace(behind, *types, *(y.type for y in floats))
        return spread(paired(*functions, known, pick(instantiate(xs, dxs), active)), moved)
