"""Arrays whose rows the steps of a loop write, one each, as stacks: rows that later steps read again are carried.

    ys = loop { carry ys; ys[i + 1] = f(ys[i]) }        rows = loop { carry y; y' = f(y); stack y' }
                                                        ys = concatenate(ys[:1], rows)

So what is made of all rows later can be made in the loop, as it can of rows that are stacked. A loop that counts
downward becomes one that runs its steps in reverse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, cast, final

from pliant.core.build import hint_of, trace
from pliant.core.data import frozen
from pliant.core.ir import Function, Node, Value, Values, const, substitute
from pliant.ops.custom import pick
from pliant.ops.elementwise import sub
from pliant.ops.index import Gather, ScatterSet
from pliant.ops.loop import Loop
from pliant.ops.loop_form import In, Out
from pliant.ops.shape import concatenate, slice_axis
from pliant.passes.later import INDEX
from pliant.passes.places import Form, Scene, form_of
from pliant.passes.row_wise import row_at
from pliant.transforms.replace import Env, replaced_in

MOST: Final = 4  # rows before the first that a step writes; as many of the last ones are carried


@final
@frozen
class RowArray:
    """An array of which each step of a loop writes a row. param, result: its numbers in the body.

    ahead: how many rows no step writes. row: what is written. reads: what is read, each with how many steps before
    that was written.
    """

    param: int
    result: int
    ahead: int
    row: Value
    reads: tuple[tuple[Value, int], ...]

    @property
    def depth(self) -> int:
        """How many rows are carried."""
        return max([by for _, by in self.reads], default=0)

    def starts(self, x: Value, loop: Loop) -> list[Value]:
        """The rows carried into the first step, the latest first."""
        places = [loop.length - 1 + by if loop.reverse else self.ahead - by for by in range(1, self.depth + 1)]
        return [row_at(x, place) for place in places]

    def whole(self, x: Value, rows: Value, loop: Loop) -> Value:
        """The array, from what it was and the rows that the steps wrote."""
        if not self.ahead:
            return rows
        kept = slice_axis(x, 0, loop.length if loop.reverse else 0, self.ahead)
        return concatenate((rows, kept) if loop.reverse else (kept, rows), 0)


def upward(loop: Loop) -> Loop:
    """The loop itself; if its steps write rows downward, and nothing else says in which order they are run, one that
    runs them in reverse."""
    places = [_offset(y.args[1], loop, -1) for _, k in loop.carries if len((y := loop.body.results[k]).args) == 3]
    if "each" in loop.ins or "stack" in loop.outs or not any([place is not None for place in places]):
        return loop
    params, last = loop.body.params, const(loop.length - 1, INDEX.dtype)

    def step(i: Value, *xs: Value) -> Values:
        return loop.body(sub(last, i), *xs)

    body = trace(step, *(p.type for p in params), names=[hint_of(p) for p in params])
    return replace(loop, body=body, reverse=not loop.reverse)


def row_arrays(loop: Loop) -> list[RowArray]:
    """The arrays of a loop that are written so."""
    return [found for p, k in loop.carries if (found := _row_array(loop, p, k))]


def _row_array(loop: Loop, p: int, k: int) -> RowArray | None:
    array, written = loop.body.params[p], loop.body.results[k]
    op, ahead = written.op, array.shape[0] - loop.length if array.shape else -1
    first = 0 if loop.reverse else ahead
    if not isinstance(op, ScatterSet) or op.shared or len(written.args) != 3 or not 0 <= ahead <= MOST:
        return None
    if written.args[0] is not array or _offset(written.args[1], loop) != first or written in written.args[1:]:
        return None
    reads = list[tuple[Value, int]]()
    for node in loop.body.nodes:
        if node is written.node or (array not in node.args and written not in node.args):
            continue
        is_read = isinstance(node.op, Gather) and not node.op.shared and node.args[0] is array and len(node.args) == 2
        place = _offset(node.args[1], loop) if is_read else None
        by = 0 if place is None else place - first if loop.reverse else first - place
        if not 1 <= by <= ahead:
            return None
        reads.append((node.values[0], by))
    ends = [r for r in loop.body.results if r is array or r is written]
    return RowArray(p, k, ahead, written.args[2], tuple(reads)) if len(ends) == 1 else None


def _offset(place: Value, loop: Loop, factor: int = 1) -> int | None:
    """How far a place is from the number of the step, or from that times a factor; None if that is not fixed."""
    index = loop.body.params[0]
    if place.type != INDEX:
        return None
    away = form_of(place, Scene(None, {index: Form.of("step")})) - Form.of("step") * factor
    return None if away.terms else away.start


def with_stacks(fn: Function, node: Node, loop: Loop, arrays: Sequence[RowArray]) -> tuple[Function, Node]:
    """`fn` with some arrays of a loop as stacks; and the loop. `loop`: what the node does."""
    made = list[Node]()

    def rule(other: Node, env: Env) -> Values | None:
        if other is not node:
            return None
        xs = tuple([env[a] for a in node.args])
        results, ends = _stacked(loop, xs, arrays)
        made.append(ends[-1].node)
        return results

    return replaced_in(fn, rule, keeps=True), made[0]


def _stacked(loop: Loop, xs: Values, arrays: Sequence[RowArray]) -> tuple[Values, Values]:
    """What the results of a loop are made of those of one that stacks rows of some arrays; and the latter."""
    params, gone = loop.body.params, {a.param for a in arrays}
    stay = [n not in gone for n in range(1, len(params))]
    kept = [k not in {a.result for a in arrays} for k in range(len(loop.outs))]
    starts = [x for a in arrays for x in a.starts(xs[a.param - 1], loop)]

    def step(i: Value, *args: Value) -> Values:
        env, rest = dict(zip((params[0], *pick(params[1:], stay)), (i, *args), strict=False)), args[sum(stay) :]
        carried = list[Values]()
        for a in arrays:
            carried.append(rest[: a.depth])
            env.update({read: rest[by - 1] for read, by in a.reads})
            rest = rest[a.depth :]
        made = substitute((*pick(loop.body.results, kept), *[a.row for a in arrays]), env)
        rows = made[sum(kept) :]
        ends = [y for row, before in zip(rows, carried, strict=True) for y in (row, *before)[: len(before)]]
        return *made[: sum(kept)], *ends, *rows

    types = [*(p.type for p in (params[0], *pick(params[1:], stay))), *(x.type for x in starts)]
    names = [hint_of(p) for p in (params[0], *pick(params[1:], stay))]
    outs = (*pick(loop.outs, kept), *("last" for _ in starts), *("stack" for _ in arrays))
    ins = (*pick(loop.ins, stay), *("carry" for _ in starts))
    body = trace(step, *types, names=names)
    new = Loop(loop.length, cast("tuple[In, ...]", ins), cast("tuple[Out, ...]", outs), body, loop.reverse)
    made = new.apply(*pick(xs, stay), *starts)
    stacks = dict(zip([a.result for a in arrays], made[len(made) - len(arrays) :], strict=True))
    whole = {a.result: a.whole(xs[a.param - 1], stacks[a.result], loop) for a in arrays}
    rest = iter(made)
    return tuple([whole[k] if k in whole else next(rest) for k in range(len(loop.outs))]), made
