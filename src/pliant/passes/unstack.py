"""What is made of a loop's rows is made in the loop, where the rows themselves are then not needed.

    ys = loop { …; stack y }              s = loop { …; total y·y }
    s = reduce_sum(mul(ys, ys))

A reduction over the steps, or over some of them, becomes a fold, and the row of one step a carry. What acts on each row
goes with it, if all that is kept of the rows is smaller than they are. An array whose rows a loop writes, one at each
step, is a stack, too (`row_arrays`). What is made of rows that were put before the loop's is made before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias, cast, final

from pliant.core.build import hint_of, trace
from pliant.core.data import frozen
from pliant.core.inner import functions_of, map_functions
from pliant.core.ir import Const, Function, Node, Param, Value, Values, const, rebuild, substitute
from pliant.core.scope import scope
from pliant.ops.elementwise import add
from pliant.ops.folds import combined, filled
from pliant.ops.loop import Loop
from pliant.ops.loop_form import In, Out
from pliant.ops.shape import Concatenate, concatenate, reshape
from pliant.passes.row_arrays import MOST, row_arrays, upward, with_stacks
from pliant.passes.row_blocks import as_blocks
from pliant.passes.row_equations import as_parts
from pliant.passes.row_flow import Flow
from pliant.passes.row_folds import RowFold
from pliant.passes.row_reads import Key, Read, Thin
from pliant.passes.row_wise import row_at, taken
from pliant.rewrite.explain import Log
from pliant.transforms.replace import replaced

Env: TypeAlias = "dict[Value, Value]"


def unstack(fn: Function, log: Log, *, is_derived: bool = True) -> Function:
    """`fn` with reductions of rows that loops make in these loops, also in the functions that it holds.

    log: records what moves into a loop. is_derived: whether no derivative will be taken of it; those of products and
    extrema take longer as folds.
    """

    def again(held: Function) -> Function:
        return unstack(held, log, is_derived=is_derived)

    inner = {n: op for n in fn.nodes if functions_of(n.op) and (op := map_functions(n.op, again)) is not n.op}
    if inner:
        fn = replaced(fn, lambda n, args: inner[n].apply(*args) if n in inner else None)
    done = set[int]()
    while True:
        order = [n for n in fn.nodes if isinstance(n.op, Loop)]
        found = [(k, flow) for k, n in enumerate(order) if k not in done and (flow := _flow(fn, n, is_derived))]
        if not found:
            return fn
        done.add(found[0][0])
        _record(found[0][1], log)
        fn = Anew(found[0][1]).rebuilt()


@final
@frozen
class Early:
    """What is made of the rows before those of a loop: the states then, what the folds are, the rows in their order."""

    states: Values
    totals: tuple[Value | None, ...]
    rows: tuple[dict[Key, Value | None], ...]


@final
@frozen
class Anew:
    """A loop that makes of its rows what is made of them later."""

    flow: Flow

    def rebuilt(self) -> Function:
        """The function with what is made of the rows in the loop."""
        flow, fn = self.flow, self.flow.fn
        env: Env = {p: p for p in fn.params}
        order = fn.nodes
        with scope():
            for node in [n for n in order if n.values[0] not in flow.after]:
                _again(node, env)
            env.update(self.looped(env))
            for node in [n for n in order if n.values[0] in flow.after]:
                is_made = node.values[0] in flow.made or node.values[0] in flow.folds
                if node is not flow.node and not is_made:
                    _again(node, env)
            return Function(fn.name, fn.params, tuple([env[r] for r in fn.results]))

    @property
    def parts(self) -> list[tuple[Key, RowFold, bool]]:
        """What a step makes, in order, and whether that is a row that others read."""
        made = [(key, fold, True) for key, fold in self.flow.made.items()]
        return made + [(key, fold, False) for key, fold in self.flow.folds.items()]

    def outside(self) -> list[Read]:
        """What the rows are combined with, of before the loop."""
        read = [r for key, _, _ in self.parts for r in self.flow.reads[key] if r.kind != "row"]
        return list(dict.fromkeys([r for r in read if not _is_literal(r)]))

    def looped(self, env: Env) -> Env:
        """What the new loop makes, for what it stands for."""
        flow, outside, early = self.flow, self.outside(), self.early(env)
        loop = flow.loop
        kinds: list[In] = ["each" if r.kind == "each" else "const" for r in outside]
        kinds.extend("carry" for _ in early.states)
        given = [r.given(env, flow.steps, flow.count) for r in outside]
        types = [v.type.row if r.kind == "each" else v.type for r, v in zip(outside, given, strict=True)]
        types.extend(x.type for x in early.states)
        outs: list[Out] = ["stack" for _ in flow.kept]
        outs.extend(self.folded)
        outs.extend("last" for _ in early.states)
        names = [hint_of(p) for p in loop.body.params]
        body = trace(self.step(outside), *(p.type for p in loop.body.params), *types, names=names)
        new = Loop(loop.length, (*loop.ins, *kinds), (*loop.outs, *outs), body, loop.reverse)
        return self.named(new.apply(*[env[a] for a in flow.node.args], *given, *early.states), env, early)

    @property
    def folded(self) -> list[Out]:
        """What kinds of results the folds have."""
        return [kind for fold in self.flow.folds.values() for kind in fold.outs]

    def early(self, env: Env) -> Early:
        """What is made of the rows before those of the loop."""
        flow = self.flow
        states = [start for _, f, _ in self.parts for start in f.starts(env)]
        totals, kept = list[Value | None]([None] * len(self.folded)), dict[int, dict[Key, Value | None]]()
        heads = {v: concatenate(tuple([env[x] for x in xs]), 0) for v, xs in flow.heads.items()}
        for place, number in flow.before:
            rows: dict[Key, Value | None] = {v: row_at(x, place) for v, x in heads.items()}

            def read(r: Read, rows: dict[Key, Value | None] = rows, number: int = number) -> Value | None:
                if r.kind == "row":
                    return rows.get(r.key)
                return r.value if _is_literal(r) else r.row(env, number, flow.count)

            terms, states = self.made(const(number, "i64"), rows, read, states)
            totals = [combined(*all) for all in zip(self.folded, totals, terms, strict=True)]
            kept[place] = rows
        return Early(tuple(states), tuple(totals), tuple([kept[place] for place in sorted(kept)]))

    def step(self, outside: Sequence[Read]) -> Callable[..., Values]:
        """The body: that of the loop, then what is made of its rows."""
        flow = self.flow
        params, outs = flow.loop.body.params, len(flow.loop.outs)

        def run(*args: Value) -> Values:
            inner = dict(zip(params, args, strict=False))
            given = dict(zip(outside, args[len(params) :], strict=False))
            ys = substitute((*flow.loop.body.results, *flow.sources.values()), inner)
            rows: dict[Key, Value | None] = dict(zip(flow.sources, ys[outs:], strict=True))

            def read(r: Read) -> Value | None:
                return rows[r.key] if r.kind == "row" else r.value if _is_literal(r) else given[r]

            number = add(args[0], const(flow.steps.start, "i64")) if flow.steps.start else args[0]
            terms, ends = self.made(number, rows, read, args[len(params) + len(outside) :])
            return cast("Values", (*ys[:outs], *[rows[v] for v in flow.kept], *terms, *ends))

        return run

    def made(
        self, i: Value, rows: dict[Key, Value | None], read: Callable[[Read], Value | None], states: Sequence[Value]
    ) -> tuple[list[Value | None], list[Value]]:
        """The terms of the folds and the states after one row of each source, number i; `rows` are filled. What reads
        a row that is not there makes nothing."""
        terms, ends = list[Value | None](), list[Value]()
        for key, fold, is_row in self.parts:
            own, states = states[: len(fold.states)], states[len(fold.states) :]
            given = [read(r) for r in self.flow.reads[key]]
            found = [x for x in given if x is not None]
            count = 1 if is_row else len(fold.outs)
            results = fold.step(i, found, own) if len(found) == len(given) else ((None,) * count + tuple(own))
            if is_row:
                rows.setdefault(key, results[0])
            else:
                terms.extend(results[:count])
            ends.extend(cast("Values", results[count:]))
        return terms, ends

    def named(self, results: Values, env: Env, early: Early) -> Env:
        """The results, for the values that they stand for."""
        flow, count = self.flow, len(self.flow.loop.outs)
        found: Env = {**env, **dict(zip(flow.node.values, results[:count], strict=True))}
        for v, stack in zip(flow.kept, results[count : count + len(flow.kept)], strict=True):
            found[v] = self.all_rows(v, stack, early)
        terms = list(results[count + len(flow.kept) :])
        ends = terms[len(self.folded) + sum([len(f.states) for f in flow.made.values()]) :]
        for n, (kind, before) in enumerate(zip(self.folded, early.totals, strict=True)):
            terms[n] = cast("Value", combined(kind, before, terms[n]))
        for key, fold in flow.folds.items():
            value = key.value if isinstance(key, Thin) else key
            own = (*terms[: len(fold.outs)], *ends[: len(fold.states)])
            found[value] = fold.finish(value.type, own, substitute(fold.known, found))
            terms, ends = terms[len(fold.outs) :], ends[len(fold.states) :]
        return found

    def all_rows(self, v: Value, stack: Value, early: Early) -> Value:
        """An array of the rows that the steps made, and those before."""
        flow, span = self.flow, self.flow.span(v)
        if v not in flow.blocks and not flow.head:
            return taken(stack, span)
        rows = [row if (row := rows[v]) is not None else filled(0, stack.type.row) for rows in early.rows]
        before = tuple([reshape(row, (1, *row.shape)) for row in rows])
        stack = concatenate((stack, *before) if flow.loop.reverse else (*before, stack), 0) if rows else stack
        return reshape(stack, v.shape) if v in flow.blocks else taken(stack, span)


def _is_literal(read: Read) -> bool:
    return isinstance(read.key, Value) and isinstance(read.key.op, Const)


def _flow(fn: Function, node: Node, is_derived: bool) -> Flow | None:
    """What becomes of the rows of a loop, if that is worth a change."""
    if not isinstance(node.op, Loop) or "count" in node.op.ins or node.op.length < 2:
        return None
    loop = upward(node.op)
    arrays = row_arrays(loop)
    while arrays or "stack" in loop.outs:
        given, at = with_stacks(fn, node, loop, arrays) if arrays else (fn, node)
        flow, is_worth_it = _best(given, at, is_derived)
        last = flow.node.values[len(flow.node.values) - len(arrays) :]
        rest = [a for a, rows in zip(arrays, last, strict=True) if rows in flow.gone]
        if len(rest) == len(arrays):
            return flow if is_worth_it else None
        arrays = rest
    return None


def _best(fn: Function, node: Node, is_derived: bool) -> tuple[Flow, bool]:
    """What becomes of the rows of a loop, if need be with that written otherwise; and whether it is worth a change."""
    first = _followed(fn, node, is_derived)
    if first.close():
        return first, True
    for other in (partial(as_parts, is_derived=is_derived), as_blocks):
        if (found := other(fn, node)) is not None:
            fn, node = found
            flow = _followed(fn, node, is_derived)
            if flow.close():
                return flow, True
    return first, False


def _followed(fn: Function, node: Node, is_derived: bool) -> Flow:
    """What everything later does with the rows of a loop."""
    loop = node.op
    assert isinstance(loop, Loop)
    rows = zip(loop.outs, node.values, loop.body.results, strict=True)
    sources = {stack: y for kind, stack, y in rows if kind == "stack"}
    order = fn.nodes
    flow = Flow(fn, node, loop, sources, set(node.values), is_derived, _rows_before(loop, sources, order))
    for later in order:
        if not flow.after.isdisjoint(later.args):
            flow.follow(later)
    return flow


def _rows_before(loop: Loop, sources: Env, order: Sequence[Node]) -> int:
    """How many rows are put before those that the steps make."""
    after = set(sources)
    for node in order:
        if after.isdisjoint(node.args):
            continue
        after.update(node.values)
        before, x = (node.args[1:], node.args[0]) if loop.reverse else (node.args[:-1], node.args[-1])
        if node.op == Concatenate(0) and x in sources and after.isdisjoint(before):
            count = node.types[0].shape[0] - loop.length
            return count if count <= MOST else 0
    return 0


def _record(flow: Flow, log: Log) -> None:
    """Say what becomes part of a loop."""
    for key in (*flow.folds, *flow.kept):
        value = key.value if isinstance(key, Thin) else key
        log.record(f"{value.op.name}_in_its_loop", value.origin)


def _again(node: Node, env: Env) -> None:
    """The same node, of what its operands have become."""
    if not isinstance(node.op, Param):
        env.update(zip(node.values, rebuild(node, tuple([env[a] for a in node.args])), strict=True))
    else:
        env.setdefault(node.values[0], node.values[0])
