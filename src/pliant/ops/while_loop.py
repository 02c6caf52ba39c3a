"""The loop whose end is found on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast, final

from pliant.core import ir
from pliant.core.build import trace
from pliant.core.data import frozen
from pliant.core.ir import Function, Namespace, Tangents, Value, Values, nodes, substitute
from pliant.core.scope import scope
from pliant.core.types import Type
from pliant.errors import ShapeError
from pliant.ops import in_jax
from pliant.ops.compare import not_zero
from pliant.ops.cond import BOOL
from pliant.ops.custom import Holder, Wrapper, lifted, pick, present, require, spread, texts, types_of
from pliant.ops.early_reads import read_whole, with_early_reads
from pliant.ops.guarded import for_those
from pliant.ops.loop import one_by_one
from pliant.ops.masked_writes import select_by_problem
from pliant.ops.one_by_one import has_own_parts, has_parts
from pliant.ops.paired import paired
from pliant.ops.reduce import reduce_or
from pliant.ops.region import cut, needed, reached, read_by, read_with, settle, smaller, vmap_steps
from pliant.ops.retrace import Retrace
from pliant.ops.select import Find
from pliant.ops.tape import Kind, carries_of
from pliant.transforms.evaluate import stepper
from pliant.transforms.jvp import instantiate, push
from pliant.transforms.transpose import linearize, pull
from pliant.transforms.vmap import vmap, vmap_apart


@final
@frozen
class WhileLoop(Holder):
    """The carries after running `body` as long as `test` holds.

    test: (x…) → bool[], body: (x…) → the carries at the next step, x… being the operands in their
    order, consts the same at each step. Reverse mode keeps the operands, runs the loop again with a
    tape, and goes back over that: see `WhilePull`.
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
        return carries_of(self.ins)

    def array(self, xp: Namespace, *xs: Any) -> tuple[Any, ...]:
        test, body = stepper(self.test, xp), stepper(self.body, xp)
        state = list(xs)
        while bool(test(tuple(state))[0]):
            for (n, _), y in zip(self.carries, body(tuple(state)), strict=True):
                state[n] = y
        return tuple(pick(state, self.are_carries))

    def jax(self, jnp: Namespace, *xs: Any) -> tuple[Any, ...]:
        return in_jax.while_loop(self, jnp, xs)

    @property
    def operand_types(self) -> list[Type]:
        """The types of all operands."""
        return [p.type for p in self.body.params]

    def pushed(self, active: Sequence[bool]) -> WhileLoop:
        """The loop that also carries tangents: of the active operands, which are closed under steps."""
        moved, count = [active[c] for c, _ in self.carries], len(self.ins)

        def step(*args: Value) -> Values:
            ys, dys = push(self.body, args[:count], spread(args[count:], active))
            return *ys, *pick(instantiate(ys, dys), moved)

        types = [*self.operand_types, *pick(self.operand_types, active)]
        test = trace(lambda *args: self.test(*args[:count]), *types)
        return WhileLoop(test, trace(step, *types), self.ins + pick(self.ins, active))

    def spreading(self, marked: Sequence[bool]) -> tuple[bool, ...]:
        """The operands that depend on the marked ones, through floats."""
        return settle(self.body, marked, self.carries, floats=True)[0]

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        active = self.spreading([d is not None for d in dxs])
        moved = [active[c] for c, _ in self.carries]
        ys = self.pushed(active).apply(*xs, *pick(instantiate(xs, dxs), active))
        return ys[: len(moved)], spread(ys[len(moved) :], moved)

    def linearize(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        """The results, and tangents that read the operands only."""
        ys, active = self.apply(*xs), self.spreading([d is not None for d in dxs])
        moved = [active[c] for c, _ in self.carries]
        if not any(moved):
            return ys, (None,) * len(moved)
        pulled = WhilePull(self.test, self.body, self.ins, active)
        count, types = len(xs), self.operand_types

        def tangents(*args: Value) -> Values:
            _, dys = self.jvp(args[:count], spread(args[count:], active))
            return instantiate(pick(ys, moved), pick(dys, moved))

        ahead = trace(tangents, *types, *pick(types, active))
        back = trace(pulled.apply, *types, *(y.type for y in pick(ys, moved)))
        return ys, spread(paired(ahead, back, xs, pick(instantiate(xs, dxs), active)), moved)

    def batch(self, n: int, batched: tuple[bool, ...], *xs: Value) -> Values:
        """Problems that have ended are kept as they are while others go on; or they are taken one by one."""
        if self.is_apart(batched):
            return one_by_one(self, n, batched, xs)
        mapped, flags = self.stacked(n, batched)
        if has_own_parts(mapped.body):
            return one_by_one(self, n, batched, xs)
        return mapped.apply(*lifted(n, xs, batched, flags))

    def reached(self, marked: Sequence[bool]) -> tuple[bool, ...]:
        """Carries that depend on the marked operands; all of them on when the loop ends."""
        flags, _ = self.differing(marked)
        return tuple([flags[c] for c, _ in self.carries])

    def is_apart(self, batched: Sequence[bool]) -> bool:
        """Whether problems end at different steps, which read or write parts of arrays."""
        return self.differing(batched)[1] and has_parts(self.body)

    def differing(self, batched: Sequence[bool]) -> tuple[tuple[bool, ...], bool]:
        """The operands that differ between problems, and whether these end apart: then all carries do."""
        flags, _ = settle(self.body, batched, self.carries, floats=False)
        (ends_apart,) = reached(self.test, flags)
        return tuple([f or (c and ends_apart) for f, c in zip(flags, self.are_carries, strict=True)]), ends_apart

    def stacked(self, n: int, batched: Sequence[bool]) -> tuple[WhileLoop, tuple[bool, ...]]:
        """The loop for n stacked problems, and which of its operands are stacked."""
        flags, _ = self.differing(batched)
        body, flags, _ = vmap_steps(self.body, n, flags, self.carries)
        test, (ends_apart,) = vmap_apart(self.test, n, flags)
        if not ends_apart:
            return WhileLoop(test, body, self.ins), flags
        # then all carries differ, and what depends on them
        flags = tuple([f or c for f, c in zip(flags, self.are_carries, strict=True)])
        test, body = vmap(self.test, n, flags), for_those(self.body, n, flags)
        every = trace(lambda *args: reduce_or(test(*args)[0]), *(p.type for p in test.params))
        return WhileLoop(every, masked(test, body, self.carries), self.ins), flags

    def needed(self, used: tuple[bool, ...]) -> tuple[tuple[bool, ...], tuple[bool, ...]]:
        """Operands, and results of a step, that the used results and the condition need."""
        read = read_by(self.test.results, self.test.params)
        wanted = [u or read[c] for u, (c, _) in zip(used, self.carries, strict=True)]
        read_too, keep = needed(self.body, wanted, self.carries)
        return tuple([a or b for a, b in zip(read, read_too, strict=True)]), keep

    def needs(self, used: tuple[bool, ...]) -> tuple[bool, ...]:
        """The operands that the used results need."""
        return self.needed(used)[0]

    def prune(self, used: tuple[bool, ...], xs: Values) -> Tangents:
        """The used results, of a loop that carries no more than they and the condition need."""
        stay, keep = self.needed(used)
        test = Function(self.test.name, pick(self.test.params, stay), self.test.results)
        body = smaller(self.body, stay, keep)
        return spread(WhileLoop(test, body, pick(self.ins, stay)).apply(*pick(xs, stay)), keep)


@final
@frozen
class WhilePull(Wrapper):
    """Cotangents of a while loop: `(x…, ct of active carries…) → (ct of active operands…)`, linear in the ct.

    active: operands to differentiate, closed under steps. Derivatives of all orders are those of the
    loop that carries tangents; once they are taken, this is opened as a `Retrace`.
    """

    test: Function
    body: Function
    ins: tuple[Kind, ...]
    active: tuple[bool, ...]

    @property
    def loop(self) -> WhileLoop:
        """The loop itself."""
        return WhileLoop(self.test, self.body, self.ins)

    def infer(self, *xs: Type) -> tuple[Type, ...]:
        given = xs[: len(self.ins)]
        ys = self.loop.infer(*given)
        moved = [self.active[c] for c, _ in self.loop.carries]
        require(self, "cotangents", xs[len(given) :], pick(ys, moved))
        return pick(given, self.active)

    def expand(self, *args: Value) -> Values:
        loop, params = self.loop, self.body.params
        moved = [self.active[c] for c, _ in loop.carries]
        are_carries = pick(loop.are_carries, self.active)
        with scope():
            ys, dps, pushed = linearize(self.body, params, self.active)
            fixed = pick(params, [not c for c in loop.are_carries])
            dys = pick(instantiate(ys, pushed), moved)
            fixed = read_whole(read_with(with_early_reads(dys, dps, ()), dps), fixed)
            dys = with_early_reads(dys, dps, fixed)
            saved = cut(read_with(dys, dps), fixed)
        found = {node.values[0] for node in nodes(dys, stop=saved)}
        given = [p for p in fixed if p in found]
        sums = pick(dps, [not c for c in are_carries])  # cotangents of consts are added up as they are carried

        def step(*held: Value) -> Values:
            known = dict(zip((*saved, *given), held, strict=False))
            cts = held[len(known) :]
            order = (*pick(cts, are_carries), *pick(cts, [not c for c in are_carries]))
            return instantiate(dps, pull((*substitute(dys, known), *sums), dps, order))

        back = trace(step, *(v.type for v in (*saved, *given, *dps)))
        ahead = Function(self.body.name, params, (*ys, *saved))
        op = Retrace(self.test, ahead, back, self.ins, tuple([params.index(p) for p in given]))
        cts = iter(args[len(params) :])
        starts = [next(cts) if c else ir.operators.zeros(d.type) for c, d in zip(are_carries, dps, strict=True)]
        return op.apply(*args[: len(params)], *starts)

    def along(self, xs: Values, dxs: Tangents, cts: Tangents, dcts: Tangents) -> tuple[Tangents, Tangents]:
        """Cotangents of active operands, and their tangents in the direction (dxs, dcts)."""
        loop = self.loop
        active = loop.spreading([a or d is not None for a, d in zip(self.active, dxs, strict=True)])
        both = loop.pushed(active)
        own, moved = [self.active[c] for c, _ in loop.carries], [active[c] for c, _ in loop.carries]
        seeds = [
            pick(instantiate(pick(xs, loop.are_carries), spread(tangents, own)), moved) for tangents in (dcts, cts)
        ]
        pulled = WhilePull(both.test, both.body, both.ins, (*active, *pick((True,) * len(active), active)))
        made = pulled.apply(*xs, *pick(instantiate(xs, dxs), active), *seeds[0], *seeds[1])
        wanted, count = pick(self.active, active), sum(active)
        return pick(made[count:], wanted), pick(made[:count], wanted)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        m = len(self.ins)
        if all([d is None for d in dxs[:m]]):
            return self.apply(*xs), self.apply(*xs[:m], *instantiate(xs[m:], dxs[m:]))
        values, tangents = self.along(xs[:m], dxs[:m], xs[m:], dxs[m:])
        return cast("Values", values), tangents

    def linearize(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        """The cotangents; their tangents have as transpose a loop that carries tangents too, pulled back."""
        m, flags = len(self.ins), [d is not None for d in dxs]
        floats = self.loop.spreading([a or f for a, f in zip(self.active, flags, strict=False)])
        wider = replace(self, active=floats)

        def back(*args: Value) -> Values:
            given, cts, way = args[:m], args[m : len(xs)], spread(args[len(xs) :], self.active)
            full = spread(cts, [self.active[c] for c, _ in self.loop.carries])
            over = pick(full, [floats[c] for c, _ in self.loop.carries])
            _, pulled = wider.along(given, way, over, (None,) * len(over))
            _, tangents = self.loop.jvp(given, way)
            moved = pick(tangents, [self.active[c] for c, _ in self.loop.carries])
            dxs = instantiate(given, spread(pulled, floats))
            return *pick(dxs, flags[:m]), *pick(instantiate(cts, moved), flags[m:])

        def ahead(*args: Value) -> Values:
            return instantiate(ys, self.jvp(args[: len(xs)], spread(args[len(xs) :], flags))[1])

        ys: Values = self.apply(*xs)
        types = [x.type for x in xs]
        tangents = trace(ahead, *types, *pick(types, flags))
        return ys, paired(tangents, trace(back, *types, *(y.type for y in ys)), xs, present(dxs))

    def transpose(self, ct: Tangents | Value, *args: Value | Type) -> Tangents:
        m, cts = len(self.ins), ct if isinstance(ct, tuple) else (ct,)
        _, tangents = self.loop.jvp(cast("Values", args[:m]), spread(cts, self.active))
        moved = [self.active[c] for c, _ in self.loop.carries]
        return *((None,) * m), *pick(tangents, moved)

    def support_of(self, value: Value, find: Find) -> Value | None:
        """Where what the steps add up is not zero: a loop may take no step, or none of those that add something."""
        cts = iter(value.args[len(self.ins) :])
        starts = [next(cts) if c else None for c in pick(self.loop.are_carries, self.active)]
        start = starts[value.index]
        return not_zero(value) if start is None or find(start) is not None else None

    def batch(self, n: int, batched: tuple[bool, ...], *args: Value) -> Values:
        m = len(self.ins)
        if self.loop.is_apart(batched[:m]):
            return one_by_one(self, n, batched, args)
        mapped, flags = self.loop.stacked(n, [b or a for b, a in zip(batched, self.active, strict=False)])
        wanted = (*flags, *(True for _ in args[m:]))
        return replace(self, test=mapped.test, body=mapped.body).apply(*lifted(n, args, batched, wanted))


def masked(test: Function, body: Function, carries: Sequence[tuple[int, int]]) -> Function:
    """A batched step that leaves alone the problems whose condition, the first operand of `body`, no longer holds."""

    def step(*args: Value) -> Values:
        (going,) = test(*args)
        olds = [args[n] for n, _ in carries]
        pairs = zip(olds, body(going, *args), strict=True)
        return tuple([select_by_problem(going, new, old) for old, new in pairs])

    return trace(step, *(p.type for p in test.params))


RULES = ()
