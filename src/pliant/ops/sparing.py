"""A loop whose derivative keeps few states, and runs the steps between them again."""

from __future__ import annotations

from dataclasses import replace
from typing import final

from pliant.core import ir
from pliant.core.build import expanded, hint_of, trace
from pliant.core.data import frozen
from pliant.core.ir import Function, Node, Tangents, Value, Values
from pliant.ops.compare import equal, maximum, minimum
from pliant.ops.custom import pick, spread
from pliant.ops.index import gather
from pliant.ops.loop import Loop, groups
from pliant.ops.loop_form import In, Out
from pliant.ops.loop_wrapper import Flags, LoopWrapper
from pliant.ops.select import select
from pliant.ops.snapshots import INDEX, Snapshots, number, repeats, repeats_of
from pliant.transforms.jvp import instantiate
from pliant.transforms.replace import replaced
from pliant.transforms.transpose import linearize, pull
from pliant.transforms.vmap import vmap


@final
@frozen
class Sparing(LoopWrapper):
    """The results of a loop, of which no more than `states` states are kept for reverse mode."""

    body: Function
    states: int
    length: int
    ins: tuple[In, ...]
    outs: tuple[Out, ...]
    reverse: bool = False

    @classmethod
    def of(cls, loop: Loop, states: int) -> Sparing:
        """A loop that keeps so many states."""
        return cls(loop.body, states, loop.length, loop.ins, loop.outs, loop.reverse)

    def batch(self, n: int, batched: tuple[bool, ...], *xs: Value) -> Values:
        types = [x.type.row if b else x.type for x, b in zip(xs, batched, strict=True)]

        def sparing(node: Node, args: Values) -> Values | None:
            return self.of(node.op, self.states).apply(*args) if isinstance(node.op, Loop) else None

        return replaced(vmap(expanded(self, *types), n, batched), sparing)(*xs)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        active, moved = self.loop.spreading([d is not None for d in dxs], floats=True)
        made = self.of(self.loop.pushed(active, moved), self.states).apply(*xs, *pick(instantiate(xs, dxs), active))
        return made[: len(moved)], spread(made[len(moved) :], moved)

    def linearize(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        """The results, and tangents that read the operands and what was kept on the way."""
        made, count = self.ahead(xs), len(self.outs)
        ys = made[:count]
        return ys, self.both_ways((ys, made[count:]), xs, dxs, self.jvp, self.back)

    # --- both ways

    @property
    def fixed(self) -> list[bool]:
        """Which operands are no carries."""
        return [kind != "carry" for kind in self.ins]

    def steps(self, given: Values) -> Value:
        """How many steps are run; given: what a step takes but for carries."""
        counts = [x for x, kind in zip(given, pick(self.ins, self.fixed), strict=True) if kind == "count"]
        most = number(self.length)
        return maximum(minimum(counts[0], most), number(0)) if counts else most

    def index(self, step: Value, given: Values) -> Value:
        """The index of the step that is run as number `step`; or the number of that at an index."""
        return self.steps(given) - 1 - step if self.reverse else step

    def joined(self, given: Values, state: Values) -> Values:
        """What a step takes, in its order."""
        rest, carries = iter(given), iter(state)
        return tuple([next(rest) if f else next(carries) for f in self.fixed])

    def with_rows(self, given: Values, rows: Values) -> Values:
        """What a step takes but for carries, with other rows."""
        rest, kinds = iter(rows), pick(self.ins, self.fixed)
        return tuple([next(rest) if kind == "each" else x for x, kind in zip(given, kinds, strict=True)])

    def ahead(self, xs: Values) -> Values:
        """The results of the loop, then what is kept."""
        state, is_counted = pick(xs, [not f for f in self.fixed]), "count" in self.ins
        often = repeats_of(self.steps(pick(xs, self.fixed)), self.states) if is_counted else None
        first = Snapshots.none(state, self.states, often or number(repeats(self.length, self.states)))
        sizes = [len(xs), len(first.values)]

        def step(i: Value, *args: Value) -> Values:
            xs, memory = groups(args, sizes)
            given, state = pick(xs, self.fixed), pick(xs, [not f for f in self.fixed])
            kept = Snapshots.of(memory, len(state)).kept(self.index(i, given), self.steps(given), state)
            return *self.body(i, *xs), *kept.values

        names = [hint_of(p) for p in self.body.params]
        body = trace(step, *(p.type for p in self.body.params), *(v.type for v in first.values), names=names)
        ins = (*self.ins, *as_in("carry", first.values))
        outs = (*self.outs, *as_out("last", first.values))
        return Loop(self.length, ins, outs, body, self.reverse).apply(*xs, *first.values)

    def back(self, xs: Values, held: Values, cts: Values, flags: Flags) -> Values:
        """Cotangents of the active operands, by a loop that goes back, and forward from a state kept where it must."""
        active, moved = flags
        kinds, outs = pick(self.ins, active), pick(self.outs, moved)
        given, wholes = pick(xs, self.fixed), pick(xs, [kind == "each" for kind in self.ins])
        rows, lasts = pick(cts, [k == "stack" for k in outs]), iter(pick(cts, [k == "last" for k in outs]))
        # cotangents of consts are added up as they are carried, so that a step costs what it reads
        starts = [
            ir.operators.zeros(x.type) if kind == "const" else next(lasts)
            for x, kind in zip(pick(xs, active), kinds, strict=True)
            if kind != "each"
        ]
        are_sums = [kind == "const" for kind in kinds if kind != "each"]
        sizes = [len(given), len(wholes), len(rows), len(held), len(starts)]

        def step(i: Value, *args: Value) -> Values:
            now, whole, row, memory, ends = groups(args, sizes)
            every = self.with_rows(now, whole)
            kept = Snapshots.of(memory, len(self.ins) - len(given))
            state, kept = self.found(self.index(i, every), every, kept)
            _, dps, pushed = linearize(self.body, (i, *self.joined(now, state)), (False, *active))
            dys = pick(instantiate(self.body.results, pushed), moved)
            stacks, carries = iter(row), iter(pick(ends, [not s for s in are_sums]))
            cts = [next(carries) if k == "last" else next(stacks) for k in outs]
            sums = pick(dps, [kind == "const" for kind in kinds])
            return *kept.values, *instantiate(dps, pull((*dys, *sums), dps, (*cts, *pick(ends, are_sums))))

        operands = (*given, *wholes, *rows, *held, *starts)
        ins = (*pick(self.ins, self.fixed), *as_in("const", wholes), *as_in("each", rows))
        ins = (*ins, *as_in("carry", (*held, *starts)))
        made_as: list[Out] = [*as_out("last", held)]
        made_as.extend("stack" if kind == "each" else "last" for kind in kinds)
        types = [x.type.row if kind == "each" else x.type for x, kind in zip(operands, ins, strict=True)]
        loop = Loop(self.length, ins, tuple(made_as), trace(step, INDEX, *types), not self.reverse)
        return loop.apply(*operands)[len(held) :]

    def found(self, step: Value, given: Values, kept: Snapshots) -> tuple[Values, Snapshots]:
        """The state before a step, found again from the last one kept; and what is kept then. given: what a step
        takes but for carries, all rows instead of one."""
        start, state = kept.last()
        again = kept.again(step + 1)
        sizes = [len(given), 2, len(state), len(again.values)]
        are_rows = [kind == "each" for kind in pick(self.ins, self.fixed)]

        def ahead(j: Value, *args: Value) -> Values:
            given, (first, end), state, memory = groups(args, sizes)
            step = first + j
            noted = Snapshots.of(memory, len(state)).kept(step, end, state)
            i = self.index(step, given)
            now = self.with_rows(given, tuple([gather(x, i) for x in pick(given, are_rows)]))
            ys = self.body(i, *self.joined(now, state))
            return *pick(ys, [k == "last" for k in self.outs]), *noted.values

        operands, carried = (*given, start, step + 1), (*state, *again.values)
        ins: tuple[In, ...] = (*as_in("const", operands), *as_in("carry", carried), "count")
        body = trace(ahead, INDEX, *(v.type for v in (*operands, *carried)), INDEX)
        made = Loop(self.length, ins, as_out("last", carried), body).apply(*operands, *carried, step - start)
        after = Snapshots.of(made[len(state) :], len(state))
        return made[: len(state)], replace(after, top=select(equal(start, step), after.top - 1, after.top))


def as_in(kind: In, values: Values) -> tuple[In, ...]:
    """The kind for each of some operands."""
    return (kind,) * len(values)


def as_out(kind: Out, values: Values) -> tuple[Out, ...]:
    """The kind for each of some results."""
    return (kind,) * len(values)


RULES = ()
