"""What is made of a loop's rows is made in the loop, where the rows themselves are then not needed.

    ys = loop { …; stack y }              s = loop { …; total y·y }
    s = reduce_sum(mul(ys, ys))

A reduction over the steps, or over some of them, becomes a fold, and the row of one step a carry. What acts on each row
goes with it, if all that is kept of the rows is smaller than they are. An array whose rows a loop writes, one at each
step, is a stack, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, final

from pliant.core.build import hint_of, trace
from pliant.core.frozen import frozen
from pliant.core.ir import (
    Const,
    Function,
    Node,
    Param,
    Value,
    Values,
    functions_of,
    map_functions,
    nodes,
    rebuild,
    substitute,
)
from pliant.core.scope import scope
from pliant.ops.index import ScatterSet
from pliant.ops.loop import Loop
from pliant.ops.loop_form import In, Out
from pliant.ops.row_flow import Flow
from pliant.ops.row_folds import RowFold
from pliant.ops.row_reads import Key, Read, Thin
from pliant.ops.row_wise import taken
from pliant.ops.shape import reshape
from pliant.rewrite.explain import Log
from pliant.transforms.replace import replaced

Env: TypeAlias = "dict[Value, Value]"


def unstack(fn: Function, log: Log | None = None, *, is_derived: bool = True) -> Function:
    """`fn` with reductions of rows that loops make in these loops, also in the functions that it holds.

    log: records what moves into a loop. is_derived: whether no derivative will be taken of it; those of products and
    extrema take longer as folds.
    """

    def again(held: Function) -> Function:
        return unstack(held, log, is_derived=is_derived)

    inner = {n: op for n in nodes(fn.results) if functions_of(n.op) and (op := map_functions(n.op, again)) is not n.op}
    if inner:
        fn = replaced(fn, lambda n, args: inner[n].apply(*args) if n in inner else None)
    done = set[int]()
    while True:
        order = [n for n in nodes(fn.results) if isinstance(n.op, Loop)]
        found = [(k, flow) for k, n in enumerate(order) if k not in done and (flow := _flow(fn, n, is_derived))]
        if not found:
            return fn
        done.add(found[0][0])
        _record(found[0][1], log)
        fn = Anew(found[0][1]).rebuilt()


@final
@frozen
class Anew:
    """A loop that makes of its rows what is made of them later."""

    flow: Flow

    def rebuilt(self) -> Function:
        """The function with what is made of the rows in the loop."""
        flow, fn = self.flow, self.flow.fn
        env: Env = {p: p for p in fn.params}
        order = nodes(fn.results)
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
        loop, outside = self.flow.loop, self.outside()
        states = [type for _, f, _ in self.parts for type in f.states]
        kinds: list[In] = ["each" if r.kind == "each" else "const" for r in outside]
        kinds.extend("carry" for _ in states)
        given = [r.given(env, loop.length) for r in outside]
        types = [v.type.row if r.kind == "each" else v.type for r, v in zip(outside, given, strict=True)] + states
        outs: list[Out] = ["stack" for _ in self.flow.kept]
        outs.extend(kind for f in self.flow.folds.values() for kind in f.outs)
        outs.extend("last" for _ in states)
        names = [hint_of(p) for p in loop.body.params]
        body = trace(self.step(outside), *(p.type for p in loop.body.params), *types, names=names)
        starts = [start for _, f, _ in self.parts for start in f.starts()]
        new = Loop(loop.length, (*loop.ins, *kinds), (*loop.outs, *outs), body, loop.reverse)
        return self.named(new.apply(*[env[a] for a in self.flow.node.args], *given, *starts), env)

    def step(self, outside: Sequence[Read]) -> Callable[..., Values]:
        """The body: that of the loop, then what is made of its rows."""
        flow = self.flow
        params, outs = flow.loop.body.params, len(flow.loop.outs)

        def run(*args: Value) -> Values:
            inner = dict(zip(params, args, strict=False))
            given = dict(zip(outside, args[len(params) :], strict=False))
            ys = substitute((*flow.loop.body.results, *flow.sources.values()), inner)
            rows: dict[Key, Value] = dict(zip(flow.sources, ys[outs:], strict=True))

            def read(r: Read) -> Value:
                return rows[r.key] if r.kind == "row" else r.value if _is_literal(r) else given[r]

            states, terms, ends = list(args[len(params) + len(outside) :]), list[Value](), list[Value]()
            for key, fold, is_row in self.parts:
                own, states = states[: len(fold.states)], states[len(fold.states) :]
                results = fold.step(args[0], [read(r) for r in flow.reads[key]], own)
                count = len(results) - len(own)
                if is_row:
                    rows[key] = results[0]
                else:
                    terms.extend(results[:count])
                ends.extend(results[count:])
            return *ys[:outs], *[rows[v] for v in flow.kept], *terms, *ends

        return run

    def named(self, results: Values, env: Env) -> Env:
        """The results, for the values that they stand for."""
        flow, count = self.flow, len(self.flow.loop.outs)
        found: Env = {**env, **dict(zip(flow.node.values, results[:count], strict=True))}
        for v, stack in zip(flow.kept, results[count : count + len(flow.kept)], strict=True):
            found[v] = reshape(stack, v.shape) if v in flow.blocks else taken(stack, flow.span(v))
        terms = results[count + len(flow.kept) :]
        ends = terms[sum([len(f.outs) for f in flow.folds.values()]) :]
        ends = ends[sum([len(f.states) for f in flow.made.values()]) :]
        for key, fold in flow.folds.items():
            value = key.value if isinstance(key, Thin) else key
            own = (*terms[: len(fold.outs)], *ends[: len(fold.states)])
            found[value] = fold.finish(value.type, own, substitute(fold.known, found))
            terms, ends = terms[len(fold.outs) :], ends[len(fold.states) :]
        return found


def _is_literal(read: Read) -> bool:
    return isinstance(read.key, Value) and isinstance(read.key.op, Const)


def _flow(fn: Function, node: Node, is_derived: bool) -> Flow | None:
    """What becomes of the rows of a loop, if that is worth a change."""
    loop = node.op
    if not isinstance(loop, Loop) or "count" in loop.ins or loop.length < 2:
        return None
    sources = _sources(node, loop)
    if not sources:
        return None
    flow = Flow(fn, node, loop, sources, set(node.values), is_derived)
    for later in nodes(fn.results):
        if not flow.after.isdisjoint(later.args):
            flow.follow(later)
    return flow if flow.close() else None


def _record(flow: Flow, log: Log | None) -> None:
    """Say what becomes part of a loop."""
    if log is not None:
        for key in (*flow.folds, *flow.kept):
            value = key.value if isinstance(key, Thin) else key
            log.record(f"{value.op.name}_in_its_loop", value.origin)


def _sources(node: Node, loop: Loop) -> Env:
    """The results that hold one row of each step, with the row."""
    found: Env = {}
    for k, (kind, y) in enumerate(zip(loop.outs, loop.body.results, strict=True)):
        if kind == "stack":
            found[node.values[k]] = y
    for p, k in loop.carries:
        row = _written(loop, loop.body.params[p], loop.body.results[k])
        if row is not None:
            found[node.values[k]] = row
    return found


def _written(loop: Loop, array: Value, written: Value) -> Value | None:
    """What each step writes to its row of an array, if that is all that is done with the array."""
    op, args = written.op, written.args
    if not isinstance(op, ScatterSet) or op.shared or len(args) != 3 or array.shape[0] != loop.length:
        return None
    if args[0] is not array or args[1] is not loop.body.params[0] or args[1].shape:
        return None
    uses = [a for n in nodes(loop.body.results) for a in n.args if a is array or a is written]
    ends = [r for r in loop.body.results if r is array or r is written]
    return args[2] if len(uses) == 1 and len(ends) == 1 else None


def _again(node: Node, env: Env) -> None:
    """The same node, of what its operands have become."""
    if not isinstance(node.op, Param):
        env.update(zip(node.values, rebuild(node, tuple([env[a] for a in node.args])), strict=True))
    else:
        env.setdefault(node.values[0], node.values[0])
