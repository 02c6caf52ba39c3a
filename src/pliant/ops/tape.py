"""A loop of unknown length forward, which leaves a tape of what its steps saved; and back over the tape.

A tape is a value, a number that only the way back knows how to read. So a loop or a branch hands on the tapes that were
made in it as it hands on anything else, and a tape is read once. See `passes.once` for where a value's loop and the
loop that leaves the tape become one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import Any, Final, Literal, TypeAlias, final

from pliant.core.data import frozen
from pliant.core.inner import answered, functions_of
from pliant.core.ir import Function, Namespace, Tangents, Value, Values
from pliant.core.types import Type
from pliant.errors import ShapeError
from pliant.ops.custom import Holder, pick, require, spread, texts, types_of
from pliant.ops.region import needed, read_by, smaller
from pliant.rewrite.rule import Replacement, rewrite
from pliant.transforms.evaluate import stepper

Kind: TypeAlias = Literal["const", "carry"]

TAPE: Final = Type("i64")
_tapes: Final = dict[int, list[tuple[Any, ...]]]()  # those that array rules made and did not read yet
_numbers: Final = count(1)


def carries_of(ins: Sequence[Kind]) -> list[tuple[int, int]]:
    """(operand, result of a step) of each carry, for operands of these kinds."""
    return [(n, k) for k, n in enumerate([n for n, kind in enumerate(ins) if kind == "carry"])]


@final
@frozen
class Record(Holder):
    """The carries after running `ahead` as long as `test` holds; and a tape.

    Operands: x…, whose kinds are `ins`. test: (x…) → bool[], ahead: (x…) → (the carries at the next step, saved…).
    """

    test: Function
    ahead: Function
    ins: tuple[Kind, ...]

    def infer(self, *xs: Type) -> tuple[Type, ...]:
        if types_of(self, self.test, xs) != (Type("bool"),):
            made = texts(types_of(self, self.test, xs))
            raise ShapeError(f"record: the condition must be {Type('bool')}, got {made}")
        types = types_of(self, self.ahead, xs)[: len(self.carries)]
        require(self, "carries after a step", types, pick(xs, [kind == "carry" for kind in self.ins]))
        return *types, TAPE

    @property
    def carries(self) -> list[tuple[int, int]]:
        """(operand, result) of each carry."""
        return carries_of(self.ins)

    def jax(self, jnp: Namespace, *xs: Any) -> tuple[Any, ...]:
        raise self.missing("jax")

    def array(self, xp: Namespace, *xs: Any) -> tuple[Any, ...]:
        test, ahead = stepper(self.test, xp), stepper(self.ahead, xp)
        state, tape = list(xs), list[tuple[Any, ...]]()
        while bool(test(tuple(state))[0]):
            made = ahead(tuple(state))
            tape.append(made[len(self.carries) :])
            for n, k in self.carries:
                state[n] = made[k]
        number = next(_numbers)
        _tapes[number] = tape
        return *(state[n] for n, _ in self.carries), xp.asarray(number)

    def prune(self, used: tuple[bool, ...], xs: Values) -> Tangents:
        """The used results; a tape that nobody reads holds nothing."""
        tested = read_by(self.test.results, self.test.params)
        wanted = [u or tested[n] for u, (n, _) in zip(used, self.carries, strict=False)]
        more = [used[-1]] * (len(self.ahead.results) - len(wanted))
        ran, left = needed(self.ahead, [*wanted, *more], self.carries)
        stay = [a or b for a, b in zip(tested, ran, strict=True)]
        small = Record(
            replace(self.test, params=pick(self.test.params, stay)),
            smaller(self.ahead, stay, left),
            pick(self.ins, stay),
        )
        return spread(small.apply(*pick(xs, stay)), [*left[: len(wanted)], True])


@final
@frozen
class Rewind(Holder):
    """What `back` makes of its carries, from the last step that left something on a tape to the first.

    Operands: the tape, consts c…, carries z…. back: (saved…, c…, z…) → (z…), with as many saved values as `saved`.
    """

    back: Function
    saved: int

    def infer(self, tape: Type, *xs: Type) -> tuple[Type, ...]:
        require(self, "tapes", [tape], [TAPE])
        types = types_of(self, self.back, (*(p.type for p in self.back.params[: self.saved]), *xs))
        require(self, "carries after a step back", types, xs[len(xs) - len(types) :])
        return types

    @property
    def carries(self) -> list[tuple[int, int]]:
        """(parameter, result) of each carry of `back`."""
        first = len(self.back.params) - len(self.back.results)
        return [(first + k, k) for k in range(len(self.back.results))]

    def jax(self, jnp: Namespace, *xs: Any) -> tuple[Any, ...]:
        raise self.missing("jax")

    def array(self, xp: Namespace, *xs: Any) -> tuple[Any, ...]:
        back, tape = stepper(self.back, xp), _tapes.pop(int(xs[0]))
        first = len(xs) - len(self.back.results)
        consts, held = xs[1:first], tuple(xs[first:])
        while tape:
            held = back((*tape.pop(), *consts, *held))
        return tuple(held)

    def prune(self, used: tuple[bool, ...], xs: Values) -> Tangents:
        """The used results. The tape stays as it was recorded."""
        read, keep = needed(self.back, used, self.carries)
        read = (*[True] * self.saved, *read[self.saved :])
        back = smaller(self.back, read, keep)
        return spread(Rewind(back, self.saved).apply(*pick(xs, (True, *read[self.saved :]))), keep)


Making: TypeAlias = Literal["none", "own", "left"]


@answered
def tapes_made(fn: Function) -> Making:
    """Whether a function makes tapes, and whether it leaves some of them to its caller."""
    live, is_made = set[Value](), False
    for node in fn.nodes:
        held = [tapes_made(f) for f in functions_of(node.op).values()]
        is_new = isinstance(node.op, Record) or "left" in held
        is_made = is_made or is_new or "own" in held
        args = node.args[1:] if isinstance(node.op, Rewind) else node.args
        if is_new or not live.isdisjoint(args):
            live.update([v for v in node.values if v.dtype == TAPE.dtype])
    return "left" if not live.isdisjoint(fn.results) else "own" if is_made else "none"


@rewrite(Rewind, is_of_node=True)
def rewind_of_what_stays(value: Value) -> Replacement:
    """A carry that each step back leaves as it was is what it was, the same at each step."""
    op, xs = value.node.op, value.node.args
    assert isinstance(op, Rewind)
    params, results = op.back.params, op.back.results
    stays = [results[k] is params[p] for p, k in op.carries]
    if not any(stays):
        return None
    first = len(params) - len(results)
    moves = [not s for s in stays]
    kept = [s and r for s, r in zip(stays, read_by(pick(results, moves), params[first:]), strict=True)]
    order = (*params[:first], *pick(params[first:], kept), *pick(params[first:], moves))
    tape, *given = xs
    consts, held = given[: first - op.saved], given[first - op.saved :]
    back = Function(op.back.name, order, pick(results, moves))
    made = Rewind(back, op.saved).apply(tape, *consts, *pick(held, kept), *pick(held, moves)) if any(moves) else ()
    return dict(
        zip(
            value.node.values,
            [h if m is None else m for h, m in zip(held, spread(made, moves), strict=True)],
            strict=True,
        )
    )


RULES = (rewind_of_what_stays,)
