"""The loop whose end is found on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, final

from pliant.core import ir
from pliant.core.build import trace
from pliant.core.ir import Function, Namespace, Tangents, Value, Values
from pliant.core.types import Type
from pliant.errors import DifferentiationError, ShapeError
from pliant.ops.cond import BOOL
from pliant.ops.custom import Holder, lifted, pick, require, spread, texts, types_of
from pliant.ops.reduce import reduce_or
from pliant.ops.region import needed, reached, read_by, settle
from pliant.ops.select import select
from pliant.ops.shape import broadcast
from pliant.transforms.evaluate import stepper
from pliant.transforms.jvp import instantiate, push
from pliant.transforms.vmap import vmap

Kind: TypeAlias = Literal["const", "carry"]


@final
@dataclass(frozen=True)
class WhileLoop(Holder):
    """The carries after running `body` as long as `test` holds.

    test: (x…) → bool[], body: (x…) → the carries at the next step, x… being the operands in their
    order, consts the same at each step. Reverse mode needs a bound: a `Loop` of branches.
    """

    test: Function
    body: Function
    ins: tuple[Kind, ...]

    def infer(self, *xs: Type) -> tuple[Type, ...]:
        made = types_of(self, self.test, xs)
        if made != (BOOL,):
            raise ShapeError(f"while_loop: the condition must be {BOOL}, got {texts(made)}")
        types = types_of(self, self.body, xs)
        require(self, "carries after a step", types, pick(xs, self.are_carries))
        return types

    @property
    def are_carries(self) -> list[bool]:
        """Which operands are carries."""
        return [kind == "carry" for kind in self.ins]

    @property
    def carries(self) -> list[tuple[int, int]]:
        """(operand, result) of each carry."""
        return [(n, k) for k, n in enumerate([n for n, kind in enumerate(self.ins) if kind == "carry"])]

    def array(self, xp: Namespace, *xs: Any) -> tuple[Any, ...]:
        test, body = stepper(self.test, xp), stepper(self.body, xp)
        state = list(xs)
        while bool(test(tuple(state))[0]):
            for (n, _), y in zip(self.carries, body(tuple(state)), strict=True):
                state[n] = y
        return tuple(pick(state, self.are_carries))

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        active, moved = settle(self.body, [d is not None for d in dxs], self.carries, floats=True)
        count = len(xs)

        def step(*args: Value) -> Values:
            ys, dys = push(self.body, args[:count], spread(args[count:], active))
            return *ys, *pick(instantiate(ys, dys), moved)

        types = [p.type for p in (*self.body.params, *pick(self.body.params, active))]
        test = trace(lambda *args: self.test(*args[:count]), *types)
        both = WhileLoop(test, trace(step, *types), self.ins + pick(self.ins, active))
        ys = both.apply(*xs, *pick(instantiate(xs, dxs), active))
        return ys[: len(moved)], spread(ys[len(moved) :], moved)

    def linearize(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        """The results, if no tangent reaches them; else DifferentiationError."""
        _, moved = settle(self.body, [d is not None for d in dxs], self.carries, floats=True)
        if any(moved):
            raise DifferentiationError(
                "a while loop has no reverse mode: how many steps to keep is not known before it ends",
                hint="pass max_steps= to while_loop, or use scan or fori_loop with a known number of steps; "
                "forward mode (pliant.jvp) needs no bound",
            )
        return self.apply(*xs), (None,) * len(moved)

    def batch(self, n: int, batched: tuple[bool, ...], *xs: Value) -> Values:
        """Problems that have ended are kept as they are while others go on."""
        flags, _ = settle(self.body, batched, self.carries, floats=False)
        (ends_apart,) = reached(self.test, flags)
        flags = tuple([f or (c and ends_apart) for f, c in zip(flags, self.are_carries, strict=True)])
        if ends_apart:  # then all carries differ, and what depends on them
            test, body = vmap(self.test, n, flags), vmap(self.body, n, flags)
            every = trace(lambda *args: reduce_or(test(*args)[0]), *(p.type for p in test.params))
            mapped = WhileLoop(every, masked(test, body, self.carries), self.ins)
            return mapped.apply(*lifted(n, xs, batched, flags))
        wanted = [flags[c] for c, _ in self.carries]
        mapped = WhileLoop(self.reduced(flags, n), self.mapped(flags, wanted, n), self.ins)
        ys = mapped.apply(*lifted(n, xs, batched, flags))
        return tuple([y if w else ir.operators.lift(y, n) for y, w in zip(ys, wanted, strict=True)])

    def reduced(self, flags: Sequence[bool], n: int) -> Function:
        """The condition, which no batched operand matters to."""
        return trace(self.test, *stacked(self.test, flags, n))

    def mapped(self, flags: Sequence[bool], wanted: Sequence[bool], n: int) -> Function:
        """The body, with those of its results batched that are wanted so."""
        part = Function(self.body.name, self.body.params, pick(self.body.results, wanted))
        rest = Function(self.body.name, self.body.params, pick(self.body.results, [not w for w in wanted]))
        batched = vmap(part, n, tuple(flags))

        def step(*args: Value) -> Values:
            new, same = iter(batched(*args)), iter(rest(*args))
            return tuple([next(new) if w else next(same) for w in wanted])

        return trace(step, *stacked(self.body, flags, n))

    def prune(self, used: tuple[bool, ...], xs: Values) -> Tangents:
        """The used results, of a loop that carries no more than they and the condition need."""
        read = read_by(self.test.results, self.test.params)
        read_too, keep = needed(
            self.body, [u or read[c] for u, (c, _) in zip(used, self.carries, strict=True)], self.carries
        )
        stay = [a or b for a, b in zip(read, read_too, strict=True)]
        test = Function(self.test.name, pick(self.test.params, stay), self.test.results)
        body = Function(self.body.name, pick(self.body.params, stay), pick(self.body.results, keep))
        return spread(WhileLoop(test, body, pick(self.ins, stay)).apply(*pick(xs, stay)), keep)


def stacked(fn: Function, flags: Sequence[bool], n: int) -> list[Type]:
    """Types of the parameters, those marked with a batch axis."""
    return [p.type.stacked(n) if f else p.type for p, f in zip(fn.params, flags, strict=True)]


def masked(test: Function, body: Function, carries: Sequence[tuple[int, int]]) -> Function:
    """A batched step that leaves alone the problems whose condition no longer holds."""

    def step(*args: Value) -> Values:
        (going,) = test(*args)
        olds = [args[n] for n, _ in carries]
        pairs = zip(olds, body(*args), strict=True)
        return tuple([select(broadcast(going, new.shape, (0,)), new, old) for old, new in pairs])

    return trace(step, *(p.type for p in body.params))


RULES = ()
