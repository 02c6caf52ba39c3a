"""Long stacks that another loop reads are made again for it, a block of steps at a time, where that is quick.

    ys = loop(T) { carry c; stack y }            starts = loop(T/B) { stack c; loop(B) { carry c } }
    loop(T) { each y = ys; … }              →    loop(T/B) { each c = starts; ys = loop(B) { carry c; stack y };
                                                             loop(B) { each y = ys; … } }

What a loop stacks for its derivative goes out to far memory and comes back from there, once it is larger than the
caches; rows of a block stay near. What is made again is so by the same operations from the same values: nothing is
undone, and no bit changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isqrt
from typing import Final, cast, final

from pliant.core import ir
from pliant.core.build import hint_of, trace
from pliant.core.data import frozen
from pliant.core.inner import functions_of, map_functions
from pliant.core.ir import Function, Node, Value, Values, const
from pliant.ops.compare import minimum
from pliant.ops.loop import Loop
from pliant.ops.loop_form import In, Out
from pliant.ops.shape import concatenate, reshape, slice_axis
from pliant.passes.elide import Frame
from pliant.passes.later import INDEX
from pliant.passes.rerun import Rerun, rerun
from pliant.rewrite.explain import Log
from pliant.transforms.replace import replaced_in

FAR: Final = 6 << 20  # bytes of stacks that do not stay near the processor; of those of triangles half is written
NEAR: Final = 1 << 20  # bytes of those of a block, at most
SMALL: Final = 16  # how many times larger rows are than what is kept to make them again
MOST: Final = 6  # operations on an element, for one of a row: what takes less long than its way to far memory and back


@final
@frozen
class Tape:
    """Stacks of a loop, read by another one and nothing else.

    slots: operands of the second loop, each with the result of the first that it is.
    """

    first: Node
    second: Node
    slots: dict[int, int]
    part: Rerun
    size: int

    @property
    def starts(self) -> list[int]:
        """The numbers of the first loop's operands that are carries which are run again."""
        loop = self.part.loop
        return [p - 1 for p in self.part.params if loop.ins[p - 1] == "carry"]


def short_tapes(fn: Function, log: Log) -> Function:
    """`fn` with such stacks made in blocks, also in the functions that its primitives hold."""

    def again(held: Function) -> Function:
        return short_tapes(held, log)

    inner = {n: op for n in fn.nodes if functions_of(n.op) and (op := map_functions(n.op, again)) is not n.op}
    if inner:
        fn = replaced_in(fn, lambda n, env: inner[n].apply(*[env[a] for a in n.args]) if n in inner else None)
    found = tapes(fn)
    if not found:
        return fn
    firsts, seconds = {t.first: t for t in found}, {t.second: t for t in found}
    more = dict[Node, Values]()

    def rule(node: Node, env: dict[Value, Value]) -> Values | None:
        if node in firsts:
            made = first_run(firsts[node], [env[a] for a in node.args])
            more[node] = made[len(node.values) :]
            return made[: len(node.values)]
        if node in seconds:
            log.record("tape_in_blocks", node.origin)
            return second_run(seconds[node], env, more[seconds[node].first])
        return None

    return replaced_in(fn, rule, keeps=True)


# --- which stacks


def tapes(fn: Function) -> list[Tape]:
    """The stacks to make again."""
    uses = dict[Value, list[tuple[Node, int]]]()
    order = fn.nodes
    for node in order:
        for n, a in enumerate(node.args):
            uses.setdefault(a, []).append((node, n))
    taken, found = set[Node](), list[Tape]()
    for node in order:
        for first in _makers(node) if node not in taken else ():
            slots = {n: a.index for n, a in enumerate(node.args) if a.node is first and _is_row(node, n)}
            alone = {n: k for n, k in slots.items() if uses[node.args[n]] == [(node, n)]}
            tape = _tape(first, node, alone, fn.results) if first not in taken else None
            if tape is not None:
                found.append(tape)
                taken.update((first, node))
                break
    return found


def _is_row(node: Node, n: int) -> bool:
    """Whether a loop goes over its n-th operand, which another loop of as many steps has stacked."""
    loop, maker, k = node.op, node.args[n].op, node.args[n].index
    if not isinstance(loop, Loop) or not isinstance(maker, Loop) or "count" in (*loop.ins, *maker.ins):
        return False
    return loop.ins[n] == "each" and maker.outs[k] == "stack" and maker.length == loop.length


def _makers(node: Node) -> list[Node]:
    """The loops of which a loop reads stacks, row by row."""
    if not isinstance(node.op, Loop):
        return []
    return list(dict.fromkeys([a.node for n, a in enumerate(node.args) if _is_row(node, n)]))


def _tape(first: Node, second: Node, slots: dict[int, int], results: Values) -> Tape | None:
    """Those of some stacks that are long, if making them again is quick."""
    loop = first.op
    assert isinstance(loop, Loop)
    row = {n: first.values[k].type.row for n, k in slots.items() if first.values[k] not in results}
    limit = sum([t.bytes for t in row.values()]) // SMALL
    slots = {n: slots[n] for n, t in row.items() if t.bytes > limit}
    whole = [row[n] for n in slots]
    width = sum([t.bytes for t in whole])
    if width * loop.length < FAR:
        return None
    part = rerun((), first, set(slots.values()), limit)
    if part is None or part.cost > MOST * sum([t.size for t in whole]):
        return None
    state = sum([loop.body.params[p].type.bytes for p in part.params if loop.ins[p - 1] == "carry"])
    size = size_of(loop.length, width, state)
    return Tape(first, second, slots, part, size) if size > 1 else None


def size_of(length: int, width: int, state: int) -> int:
    """How many of so many steps to take at a time, to keep least, or what stays near, of `width` bytes for each step
    and `state` bytes for each block; a divisor of all if there is one about as large. 1 if half as much is kept still.

    >>> size_of(1000, 8000, 8000), size_of(999, 8000, 8000), size_of(1009, 8000, 8000), size_of(10, 8000, 8000)
    (25, 27, 31, 1)
    """
    best = max(min(isqrt(length * state // width), NEAR // width), 1)
    near = [size for size in range(best, max(best * 3 // 4, 1), -1) if length % size == 0]
    size = near[0] if near else best
    return size if 2 * (size * width + -(-length // size) * state) < length * width else 1


# --- the loops in blocks


def first_run(tape: Tape, args: Sequence[Value]) -> Values:
    """The results of the first loop, with nothing for those that are made again; what is kept for that; and the
    states before the blocks."""
    part, steps = tape.part, _Steps(tape.part.loop.length, tape.size)
    loop = part.keeping()
    given = [steps.given(kind, x) for x, kind in zip(args, loop.ins, strict=True)]
    inner, dropped = steps.of(loop), set(tape.slots.values())
    stays = [k for k in range(len(loop.outs)) if k not in dropped]

    def block(number: Value, *xs: Value) -> Values:
        made = steps.run(inner, number, xs)
        return *(made[k] for k in stays), *(xs[n] for n in tape.starts)

    outs: tuple[Out, ...] = (*(loop.outs[k] for k in stays), *cast("list[Out]", ["stack"] * len(tape.starts)))
    types = [x.type.row if kind == "each" else x.type for x, kind in zip(given, loop.ins, strict=True)]
    body = trace(block, INDEX, *types, names=_names(loop))
    made = Loop(steps.count, loop.ins, outs, body, loop.reverse).apply(*given)
    results = dict(zip(stays, made, strict=False))
    types = [v.type for v in tape.first.values]
    whole = [
        ir.operators.zeros(types[k]) if k in dropped else steps.all(results[k]) if kind == "stack" else results[k]
        for k, kind in enumerate(loop.outs)
    ]
    return *whole, *made[len(stays) :]


def second_run(tape: Tape, env: dict[Value, Value], kept: Values) -> Values:
    """The results of the second loop, which makes the stacks again."""
    part, steps, second = tape.part, _Steps(tape.part.loop.length, tape.size), tape.second.op
    assert isinstance(second, Loop)
    again = _again(tape, env, kept)
    made_by, starts = again.op, iter(kept[part.stacks :])
    assert isinstance(made_by, Loop)
    own = [n for n in range(len(second.ins)) if n not in tape.slots]
    given = [(kind, steps.given(kind, env[tape.second.args[n]])) for n, kind in enumerate(second.ins) if n in own]
    for kind, x in zip(made_by.ins, again.args, strict=True):
        if kind == "carry":
            given.append(("each", next(starts)))
        else:
            given.append((kind, steps.given(kind, x)))
    first_inner, inner = steps.of(made_by), steps.of(second)
    place = {k: n for n, k in enumerate(part.results)}

    def block(number: Value, *xs: Value) -> Values:
        rows = steps.run(first_inner, number, xs[len(own) :])
        full = {**dict(zip(own, xs, strict=False)), **{n: rows[place[k]] for n, k in tape.slots.items()}}
        return steps.run(inner, number, [full[n] for n in range(len(second.ins))])

    types = [x.type.row if kind == "each" else x.type for kind, x in given]
    body = trace(block, INDEX, *types, names=["block", *(hint_of(second.body.params[n + 1]) for n in own)])
    ins = cast("tuple[In, ...]", tuple([kind for kind, _ in given]))
    made = Loop(steps.count, ins, second.outs, body, second.reverse).apply(*(x for _, x in given))
    return tuple([steps.all(y) if kind == "stack" else y for y, kind in zip(made, second.outs, strict=True)])


def _again(tape: Tape, env: dict[Value, Value], kept: Values) -> Node:
    """The loop that makes the stacks again, for all steps at once."""
    part = tape.part
    given = {p: env[tape.first.args[p - 1]] for p in part.params}
    frame = Frame((), {v: env[v] for v in part.outside})
    return next(iter(part.apply(given, kept[: part.stacks], frame).values())).node


def _names(loop: Loop) -> list[str]:
    return ["block", *(hint_of(p) for p in loop.body.params[1:])]


@final
@frozen
class _Steps:
    """The steps of a loop, so many at a time; the last block may have fewer."""

    length: int
    size: int

    @property
    def count(self) -> int:
        """How many blocks there are."""
        return -(-self.length // self.size)

    @property
    def is_even(self) -> bool:
        """Whether all blocks have as many steps."""
        return self.count * self.size == self.length

    def given(self, kind: In, x: Value) -> Value:
        """An operand of a loop, of its kind: the rows of `each` block by block."""
        if kind != "each":
            return x
        missing = self.count * self.size - self.length
        if missing:
            x = concatenate((x, ir.operators.zeros(x.type.row.stacked(missing))), 0)
        return reshape(x, (self.count, self.size, *x.shape[1:]))

    def all(self, x: Value) -> Value:
        """The rows of all blocks."""
        return slice_axis(reshape(x, (self.count * self.size, *x.shape[2:])), 0, 0, self.length)

    def of(self, loop: Loop) -> Loop:
        """The loop over the steps of a block, from the number of its first step and the operands."""

        def step(j: Value, start: Value, *args: Value) -> Values:
            return loop.body(start + j, *args[: len(loop.ins)])

        params, rest = loop.body.params[1:], () if self.is_even else (INDEX,)
        names = ["j", "start", *(hint_of(p) for p in params), *("count" for _ in rest)]
        body = trace(step, INDEX, INDEX, *(p.type for p in params), *rest, names=names)
        ins: tuple[In, ...] = ("const", *loop.ins, *cast("tuple[In, ...]", ("count",) * len(rest)))
        return replace(loop, length=self.size, ins=ins, body=body)

    def run(self, inner: Loop, number: Value, xs: Sequence[Value]) -> Values:
        """The results of one block, from its number."""
        start = number * const(self.size, INDEX.dtype)
        left = const(self.length, INDEX.dtype) - start
        rest = () if self.is_even else (minimum(left, const(self.size, INDEX.dtype)),)
        return inner.apply(start, *xs[: len(inner.ins) - 1 - len(rest)], *rest)
