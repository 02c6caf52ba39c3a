"""A loop whose steps can be undone: reverse mode finds earlier states by going back, and keeps none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from pliant.core.build import trace
from pliant.core.frozen import frozen
from pliant.core.ir import Function, Tangents, Value, Values
from pliant.core.types import Type
from pliant.errors import ShapeError
from pliant.ops.custom import Wrapper, pick, require, spread, types_of
from pliant.ops.loop import Loop
from pliant.ops.loop_form import AS_IN, AS_OUT, UFUNCS, In, Out
from pliant.ops.paired import paired
from pliant.transforms.jvp import instantiate
from pliant.transforms.transpose import vjp


@final
@frozen
class Reversible(Wrapper):
    """The results of a loop; `inverse` takes what its body takes, with the carries after a step, and
    returns those before it. Results are carries and stacks.
    """

    body: Function
    inverse: Function
    length: int
    ins: tuple[In, ...]
    outs: tuple[Out, ...]
    reverse: bool = False

    @property
    def loop(self) -> Loop:
        """The loop itself."""
        return Loop(self.length, self.ins, self.outs, self.body, self.reverse)

    def infer(self, *xs: Type) -> tuple[Type, ...]:
        types = self.loop.infer(*xs)
        if any([k in UFUNCS for k in self.outs]):
            raise ShapeError("reversible: expected results of kind last and stack")
        before = types_of(self, self.inverse, [p.type for p in self.body.params])
        require(self, "carries before a step", before, pick(types, [k == "last" for k in self.outs]))
        return types

    def expand(self, *xs: Value) -> Values:
        return self.loop.apply(*xs)

    def linearize(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        """The results, and tangents that read the operands and the last carries."""
        ys, count = self.apply(*xs), len(xs)
        active, moved = self.loop.spreading([d is not None for d in dxs], floats=True)
        lasts = pick(ys, [k == "last" for k in self.outs])
        known, made = (*xs, *lasts), pick(ys, moved)

        def ahead(*args: Value) -> Values:
            _, dys = self.loop.jvp(args[:count], spread(args[len(known) :], active))
            return instantiate(made, pick(dys, moved))

        def back(*args: Value) -> Values:
            return self.undone(args[:count], args[count : len(known)], args[len(known) :], active, moved)

        types, dtypes = [v.type for v in known], pick([x.type for x in xs], active)
        functions = trace(ahead, *types, *dtypes), trace(back, *types, *(y.type for y in made))
        return ys, spread(paired(*functions, known, pick(instantiate(xs, dxs), active)), moved)

    def undone(self, xs: Values, lasts: Values, cts: Values, active: Sequence[bool], moved: Sequence[bool]) -> Values:
        """Cotangents of the active operands, by a loop that undoes step after step."""
        params, width = self.body.params[1:], len(self.ins)
        are_carries = [kind == "carry" for kind in self.ins]
        kinds = pick(self.outs, moved)

        def replaced(given: Values, carries: Values) -> Values:
            rest = iter(carries)
            return tuple([next(rest) if c else x for c, x in zip(are_carries, given, strict=True)])

        def step(i: Value, *args: Value) -> Values:
            before = replaced(args[:width], self.inverse(i, *args[:width]))
            _, pulled = vjp(self.body, (i, *before), spread(args[width:], moved), (False, *active))
            back = instantiate(pick(params, active), pick(pulled[1:], active))
            return *pick(before, are_carries), *back

        ins: list[In] = [*self.ins, *(AS_IN[k] for k in kinds)]
        outs: list[Out] = ["last" for _ in lasts]
        outs.extend(AS_OUT[k] for k in pick(self.ins, active))
        operands = (*replaced(xs, lasts), *cts)
        types = [x.type.row if kind == "each" else x.type for x, kind in zip(operands, ins, strict=True)]
        loop = Loop(self.length, tuple(ins), tuple(outs), trace(step, Type("i64"), *types), not self.reverse)
        return loop.apply(*operands)[len(lasts) :]


RULES = ()
