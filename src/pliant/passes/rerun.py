"""What of a loop has to be run again to make rows of its stacks again, and what is kept for that.

A value of a step is read again from an array that the loop ends with, if that holds it still; is kept, for each
step, if it is small beside the rows; or is made of others by quick operations. Carries from which rows are made are
run again; so are loops in the step.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final, final

from pliant.core.build import hint_of, trace
from pliant.core.data import frozen
from pliant.core.ir import Const, Node, Op, Param, Value, Values, nodes, rebuild
from pliant.core.origin import at
from pliant.ops.base import Elementwise
from pliant.ops.block import BlockWrite
from pliant.ops.custom import pick
from pliant.ops.index import Scatter
from pliant.ops.loop import Loop
from pliant.ops.loop_form import In
from pliant.ops.region import is_cheap, is_simple
from pliant.ops.update import AddSlice, UpdateSlice
from pliant.passes.elide import Frame, Saved, given_to, sources_of
from pliant.passes.later import INDEX, Level
from pliant.transforms.replace import replaced

LEAST: Final = 32  # elements that take as long as fewer: what one operation waits for another


@final
@frozen
class Rerun:
    """The part of a loop that makes some of its results again, and the carries these depend on.

    results: the numbers of all of these. params: those of the body that are read. again: values read from the
    arrays that the outermost of the loops ends with. saved: values kept for each step. run: nodes run again, those
    of loops as `inner` says. cost: of a step, in operations on an element.
    """

    levels: tuple[Level, ...]
    results: tuple[int, ...]
    params: tuple[int, ...]
    again: Values
    saved: Values
    run: tuple[Node, ...]
    inner: Mapping[Node, Rerun]
    cost: int

    @property
    def loop(self) -> Loop:
        """The loop."""
        return self.levels[-1].loop

    @property
    def stacks(self) -> int:
        """How many stacks are kept, with those of loops inside."""
        return len(self.saved) + sum([part.stacks for part in self.inner.values()])

    @property
    def outside(self) -> dict[Value, None]:
        """The values outside all loops that are read."""
        found = [v for value in self.again for v in sources_of(Saved(self.levels, value)) or ()]
        return dict.fromkeys([*found, *(v for part in self.inner.values() for v in part.outside)])

    def keeping(self) -> Loop:
        """The loop with stacks of what is kept as further results."""
        body, extra = self.loop.body, dict[Node, Values]()

        def rule(node: Node, args: Values) -> Values | None:
            if node not in self.inner:
                return None
            made = self.inner[node].keeping().apply(*args)
            extra[node] = made[len(node.values) :]
            return made[: len(node.values)]

        fn = replaced(replace(body, results=(*body.results, *self.saved)), rule, keeps=True)
        results = (*fn.results, *(v for node in self.inner for v in extra[node]))
        return replace(self.loop, outs=self.loop.outs + ("stack",) * self.stacks, body=replace(fn, results=results))

    def apply(self, args: Mapping[int, Value], stacks: Values, frame: Frame) -> dict[int, Value]:
        """The results, from the operands, for each parameter of the body, and from what was kept."""
        loop, params = self.loop, self.loop.body.params
        own, depth = len(self.params), len(frame.indices)
        given = (*(args[p] for p in self.params), *stacks, *frame.indices, *frame.outside.values())
        rows: list[In] = ["each" for _ in stacks]
        rest: list[In] = ["const" for _ in given[own + len(stacks) :]]
        ins = (*pick(loop.ins, [p in self.params for p in range(1, len(params))]), *rows, *rest)

        def step(i: Value, *xs: Value) -> Values:
            rows, rest = xs[own : own + len(stacks)], xs[own + len(stacks) :]
            inside = Frame((*rest[:depth], i), dict(zip(frame.outside, rest[depth:], strict=True)))
            env = {params[0]: i, **dict(zip([params[p] for p in self.params], xs, strict=False))}
            return self.step(env, rows, inside)

        types = [x.type.row if kind == "each" else x.type for x, kind in zip(given, ins, strict=True)]
        body = trace(step, INDEX, *types, names=["i", *(hint_of(params[p]) for p in self.params)])
        outs = pick(loop.outs, [k in self.results for k in range(len(loop.outs))])
        made = Loop(loop.length, ins, outs, body, loop.reverse).apply(*given)
        return dict(zip(self.results, made, strict=True))

    def step(self, env: dict[Value, Value], rows: Values, frame: Frame) -> Values:
        """The results of a step, from the parameters and what was kept."""
        env.update(zip(self.saved, rows, strict=False))
        env.update({v: frame.again(v, self.levels) for v in self.again})
        rest = list(rows[len(self.saved) :])
        for node in self.run:
            with at(node.origin):
                part = self.inner.get(node)
                if part is None:
                    made = dict(enumerate(rebuild(node, tuple([env[a] for a in node.args]))))
                else:
                    args = {p: env[node.args[p - 1]] for p in part.params}
                    made = part.apply(args, tuple(rest[: part.stacks]), frame)
                    del rest[: part.stacks]
            for k, v in made.items():
                env.setdefault(node.values[k], v)
        return tuple([env[self.loop.body.results[k]] for k in self.results])


def rerun(above: Sequence[Level], node: Node, wanted: Collection[int], limit: int) -> Rerun | None:
    """How some results of a loop, in the body of others, are made again; None if that takes more than quick
    operations. limit: bytes that are small, of one step."""
    loop = node.op
    assert isinstance(loop, Loop)
    results = set(wanted)
    while True:
        found = _Found((*above, Level(node, loop)), limit)
        if not found.fill([loop.body.results[k] for k in results]):
            return None
        more = {k for p, k in loop.carries if p in found.params} - results
        if not more:
            return found.whole(results)
        results |= more


@final
class _Found:
    """What is found of a step, its last operations first."""

    def __init__(self, levels: tuple[Level, ...], limit: int) -> None:
        self.levels, self.limit, self.loop = levels, limit, levels[-1].loop
        body, carried = self.loop.body, {p for p, _ in self.loop.carries}
        self.free = {p for n, p in enumerate(body.params) if n not in carried and self.is_fixed(n)}
        kept = zip(body.results, self.loop.outs, strict=True)
        self.stacked = [y for y, kind in kept if kind == "stack" and y.type.bytes <= limit]
        self.params = set[int]()
        self.again, self.saved = dict[Value, None](), dict[Value, None]()
        self.run, self.inner = list[Node](), dict[Node, Rerun]()
        self.cost = 0

    def is_fixed(self, n: int) -> bool:
        """Whether a parameter that is no carry depends on nothing that the loops change."""
        return n == 0 or len(self.levels) == 1 or given_to(self.loop.body.params[n], self.levels)[1]

    def whole(self, results: Collection[int]) -> Rerun:
        """All that was found, for these results."""
        count = [n for n, kind in enumerate(self.loop.ins, start=1) if kind == "count"]
        params = tuple(sorted(self.params.union(count) - {0}))
        run = tuple(self.run[::-1])
        inner = {node: self.inner[node] for node in run if node in self.inner}
        again, saved = tuple(self.again), tuple(self.saved)
        return Rerun(self.levels, tuple(sorted(results)), params, again, saved, run, inner, self.cost)

    def fill(self, wanted: Sequence[Value]) -> bool:
        """Find what makes these values; whether that is quick."""
        demand, places = set(wanted), {p: n for n, p in enumerate(self.loop.body.params)}
        for node in reversed(nodes(wanted)):
            asked = [v for v in node.values if v in demand]
            if not asked:
                continue
            if isinstance(node.op, Param):
                self.params.add(places[asked[0]])
                continue
            rest = [v for v in asked if not self.is_kept(v)]
            args = self.made(node, rest) if rest else ()
            if args is None:
                return False
            demand.update(args)
        return True

    def is_kept(self, v: Value) -> bool:
        """Whether a value is read again, or kept; it is noted then."""
        if isinstance(v.op, Const) or is_cheap(v, (), self.free):
            return False
        if sources_of(Saved(self.levels, v)) is not None:
            self.again[v] = None
        elif v.type.bytes <= self.limit and (v in self.stacked or not is_cheap(v, self.stacked, self.free)):
            self.saved[v] = None
        else:
            return False
        return True

    def made(self, node: Node, wanted: Sequence[Value]) -> Sequence[Value] | None:
        """What these results of a node are made of, when it is run again; None if that would take long."""
        op = node.op
        if isinstance(op, Const):
            self.run.append(node)
            return ()
        if isinstance(op, Loop):
            part = rerun(self.levels, node, {v.index for v in wanted}, self.limit // max(op.length, 1))
            if part is None:
                return None
            self.inner[node] = part
            self.cost += part.cost * op.length
            self.run.append(node)
            return [node.args[p - 1] for p in part.params]
        if not is_simple(op) and not isinstance(op, WRITES):
            return None
        self.cost += cost_of(node)
        self.run.append(node)
        return node.args


WRITES: Final[tuple[type[Op], ...]] = (BlockWrite, Scatter, UpdateSlice, AddSlice)


def cost_of(node: Node) -> int:
    """About how many elements a quick operation computes or writes."""
    if isinstance(node.op, Elementwise):
        return max(node.values[0].type.size, LEAST)
    if isinstance(node.op, WRITES):
        return max([LEAST, *(a.type.size for a in node.args[1:])])
    return 0
