"""A loop of unknown length run forward with a tape, then back over the tape, before the two ways are apart."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, final

from pliant.core.data import frozen
from pliant.core.ir import Function, Namespace, Tangents, Value, Values
from pliant.core.types import Type
from pliant.errors import ShapeError
from pliant.ops import in_jax
from pliant.ops.custom import Holder, pick, require, spread, texts, types_of
from pliant.ops.region import needed, read_by, smaller
from pliant.ops.tape import Kind, Record, Rewind, carries_of


@final
@frozen
class Retrace(Holder):
    """What `back` makes of its carries, from the last step of a while loop to the first.

    Operands: those of the loop, x…, whose kinds are `ins`, then the carries of `back`, z…. While
    `test: (x…) → bool[]` holds, `ahead: (x…) → (carries at the next step, saved…)` is run, and
    what it saves goes to the end of a tape, which grows. Then `back: (saved…, x…, z…) → (z…)` takes
    it from there again; of the x it takes the consts numbered `reads`. Results: the last z….
    """

    test: Function
    ahead: Function
    back: Function
    ins: tuple[Kind, ...]
    reads: tuple[int, ...]

    def infer(self, *xs: Type) -> tuple[Type, ...]:
        given, held = xs[: len(self.ins)], xs[len(self.ins) :]
        if types_of(self, self.test, given) != (Type("bool"),):
            raise ShapeError(
                f"retrace: the condition must be {Type('bool')}, got {texts(types_of(self, self.test, given))}"
            )
        made = types_of(self, self.ahead, given)
        carried = pick(given, [kind == "carry" for kind in self.ins])
        require(self, "carries after a step", made[: len(carried)], carried)
        types = types_of(self, self.back, (*made[len(carried) :], *(given[n] for n in self.reads), *held))
        require(self, "carries after a step back", types, held)
        return types

    @property
    def carries(self) -> list[tuple[int, int]]:
        """(operand, result of `ahead`) of each carry of the loop."""
        return carries_of(self.ins)

    @property
    def saved(self) -> int:
        """How many values a step leaves on the tape."""
        return len(self.ahead.results) - len(self.carries)

    @property
    def carries_back(self) -> list[tuple[int, int]]:
        """(parameter, result) of each carry of `back`."""
        first = self.saved + len(self.reads)
        return [(first + k, k) for k in range(len(self.back.results))]

    def expand(self, *xs: Value) -> Values:
        """The way forward, and back over the tape that it leaves."""
        given = xs[: len(self.ins)]
        *_, tape = Record(self.test, self.ahead, self.ins).apply(*given)
        return self.rewind.apply(*self.operands(tape, xs))

    def jax(self, jnp: Namespace, *xs: Any) -> tuple[Any, ...]:
        return in_jax.retrace(self, jnp, xs)

    @property
    def rewind(self) -> Rewind:
        """The way back."""
        return Rewind(self.back, self.saved)

    def operands(self, tape: Value, xs: Values) -> Values:
        """Those of the way back, given those of both."""
        return tape, *(xs[n] for n in self.reads), *xs[len(self.ins) :]

    def prune(self, used: tuple[bool, ...], xs: Values) -> Tangents:
        """The used results, with no more on the tape than they need."""
        read, keep = needed(self.back, used, self.carries_back)
        kept, reads = read[: self.saved], pick(self.reads, read[self.saved : len(read) - len(keep)])
        back = smaller(self.back, read, keep)
        tested = read_by(self.test.results, self.test.params)
        wanted = [tested[n] for n, _ in self.carries] + list(kept)
        ran, left = needed(self.ahead, wanted, self.carries)
        stay = [a or b or n in reads for n, (a, b) in enumerate(zip(tested, ran, strict=True))]
        numbers = {n: k for k, n in enumerate([n for n, s in enumerate(stay) if s])}
        small = Retrace(
            replace(self.test, params=pick(self.test.params, stay)),
            smaller(self.ahead, stay, left),
            back,
            pick(self.ins, stay),
            tuple([numbers[n] for n in reads]),
        )
        held = pick(xs[len(self.ins) :], keep)
        return spread(small.apply(*pick(xs[: len(self.ins)], stay), *held), keep)


RULES = ()
