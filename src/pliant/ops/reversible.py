"""A loop whose steps can be undone: reverse mode finds earlier states by going back, and keeps none."""

from __future__ import annotations

from typing import final

from pliant.core.build import trace
from pliant.core.data import frozen
from pliant.core.ir import Function, Tangents, Value, Values
from pliant.core.types import Type
from pliant.ops.custom import pick, require, spread, types_of
from pliant.ops.loop import Loop
from pliant.ops.loop_form import AS_IN, AS_OUT, In, Out
from pliant.ops.loop_wrapper import Flags, LoopWrapper
from pliant.transforms.jvp import instantiate
from pliant.transforms.transpose import vjp


@final
@frozen
class Reversible(LoopWrapper):
    """The results of a loop; `inverse` takes what its body takes, with the carries after a step, and
    returns those before it.
    """

    body: Function
    inverse: Function
    length: int
    ins: tuple[In, ...]
    outs: tuple[Out, ...]
    reverse: bool = False

    def infer(self, *xs: Type) -> tuple[Type, ...]:
        types = self.types(*xs)
        before = types_of(self, self.inverse, [p.type for p in self.body.params])
        require(self, "carries before a step", before, pick(types, [k == "last" for k in self.outs]))
        return types

    def linearize(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        """The results, and tangents that read the operands and the last carries."""
        ys = self.apply(*xs)
        lasts = pick(ys, [k == "last" for k in self.outs])
        return ys, self.both_ways((ys, lasts), xs, dxs, self.loop.jvp, self.undone)

    def undone(self, xs: Values, lasts: Values, cts: Values, flags: Flags) -> Values:
        """Cotangents of the active operands, by a loop that undoes step after step."""
        active, moved = flags
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
