"""A loop of unknown length whose value and derivative are made in one pass.

What a function of the loop's value has for a derivative needs that value before the way back begins. So the two
are one primitive, which holds what lies between them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, final

from pliant.core.frozen import frozen
from pliant.core.ir import Function, Namespace, Tangents, Values
from pliant.core.types import Type
from pliant.ops.custom import Holder, pick, require, spread, types_of
from pliant.ops.region import needed, read_by
from pliant.ops.retrace import Kind, Retrace
from pliant.ops.while_loop import WhileLoop
from pliant.transforms.evaluate import stepper


@final
@frozen
class WhileOnce(Holder):
    """A while loop forward with a tape, what is made of its value, and back over the tape.

    Operands: those of the loop, x…, then e…. `test`, `ahead`, `back`, `ins` and `reads` are those of a `Retrace`;
    `middle: (last carries…, e…) → (z…, out…)` makes of the loop's value where `back` starts from, and
    what else is made of it. Results: the last z…, then out….
    """

    test: Function
    ahead: Function
    middle: Function
    back: Function
    ins: tuple[Kind, ...]
    reads: tuple[int, ...]

    @property
    def retrace(self) -> Retrace:
        """Both ways without what lies between them."""
        return Retrace(self.test, self.ahead, self.back, self.ins, self.reads)

    @property
    def loop(self) -> WhileLoop:
        """The way forward without a tape."""
        count = len(self.retrace.carries)
        return WhileLoop(self.test, replace(self.ahead, results=self.ahead.results[:count]), self.ins)

    @property
    def starts(self) -> int:
        """How many values the way back carries."""
        return len(self.back.results)

    def infer(self, *xs: Type) -> tuple[Type, ...]:
        given, more = xs[: len(self.ins)], xs[len(self.ins) :]
        made = types_of(self, self.middle, (*self.loop.infer(*given), *more))
        starts = self.retrace.infer(*given, *made[: self.starts])
        require(self, "what the way back starts from", made[: self.starts], starts)
        return made

    def expand(self, *xs: Any) -> Values:
        """The loop, what is made of its value, and the loop again with a tape."""
        given, more = xs[: len(self.ins)], xs[len(self.ins) :]
        made = self.middle(*self.loop.apply(*given), *more)
        return *self.retrace.apply(*given, *made[: self.starts]), *made[self.starts :]

    def array(self, xp: Namespace, *xs: Any) -> tuple[Any, ...]:
        test, ahead, middle, back = (stepper(part, xp) for part in (self.test, self.ahead, self.middle, self.back))
        op, count = self.retrace, len(self.ins)
        state, tape = list(xs[:count]), list[tuple[Any, ...]]()
        while bool(test(tuple(state))[0]):
            made = ahead(tuple(state))
            tape.append(made[len(op.carries) :])
            for n, k in op.carries:
                state[n] = made[k]
        made = middle((*[state[n] for n, _ in op.carries], *xs[count:]))
        held, consts = made[: self.starts], tuple([xs[n] for n in self.reads])
        while tape:
            held = back((*tape.pop(), *consts, *held))
        return *held, *made[self.starts :]

    def prune(self, used: tuple[bool, ...], xs: Values) -> Tangents:
        """The used results, with no more carried, saved and made than they need."""
        op = self.retrace
        read, keep = needed(self.back, used[: self.starts], op.carries_back)
        kept, reads = read[: op.saved], pick(self.reads, read[op.saved : len(read) - len(keep)])
        back = Function(self.back.name, pick(self.back.params, read), pick(self.back.results, keep))
        wanted = (*keep, *used[self.starts :])
        made = pick(self.middle.results, wanted)
        asked = read_by(made, self.middle.params)
        tested = read_by(self.test.results, self.test.params)
        lasts = [tested[n] or asked[k] for n, k in op.carries]
        ran, left = needed(self.ahead, [*lasts, *kept], op.carries)
        stay = [a or b or n in reads for n, (a, b) in enumerate(zip(tested, ran, strict=True))]
        numbers = {n: k for k, n in enumerate([n for n, s in enumerate(stay) if s])}
        held, more = left[: len(op.carries)], asked[len(op.carries) :]
        small = WhileOnce(
            replace(self.test, params=pick(self.test.params, stay)),
            Function(self.ahead.name, pick(self.ahead.params, stay), pick(self.ahead.results, left)),
            Function(self.middle.name, pick(self.middle.params, (*held, *more)), made),
            back,
            pick(self.ins, stay),
            tuple([numbers[n] for n in reads]),
        )
        return spread(small.apply(*pick(xs[: len(self.ins)], stay), *pick(xs[len(self.ins) :], more)), wanted)


RULES = ()
