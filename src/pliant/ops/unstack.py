"""What is made of a loop's rows is made in the loop, where the rows themselves are then not needed.

    ys = loop { …; stack y }              s = loop { …; total y·y }
    s = reduce_sum(mul(ys, ys))

A reduction over the steps, or over some of them, becomes a fold, and the row of one step a carry. What acts on each row
goes with it, if all that is kept of the rows is smaller than they are. An array whose rows a loop writes, one at each
step, is a stack, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias, final

from pliant.core.build import hint_of, trace
from pliant.core.ir import (
    Const,
    Function,
    Node,
    Op,
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
from pliant.core.types import Type
from pliant.ops.base import Elementwise
from pliant.ops.index import ScatterSet
from pliant.ops.loop import Loop
from pliant.ops.loop_form import In, Out
from pliant.ops.region import CHEAP
from pliant.ops.row_folds import RowFold, fold_of
from pliant.ops.row_wise import among, row_of, row_op, rows_taken, taken
from pliant.transforms.replace import replaced

Env: TypeAlias = "dict[Value, Value]"

SMALLER: Final = 2  # how many times smaller than the rows what is kept of them must be
LARGE: Final = 1 << 24  # bytes of rows that are not worth a slower loop
MOST: Final = 8  # states that a step brings up to date; more take longer than rows that are stored
WIDE: Final = 8  # elements of a row that are computed together


def unstack(fn: Function, *, is_derived: bool = True) -> Function:
    """`fn` with reductions of rows that loops make in these loops, also in the functions that it holds.

    is_derived: whether no derivative will be taken of it; those of products and extrema take longer as folds.
    """

    def again(held: Function) -> Function:
        return unstack(held, is_derived=is_derived)

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
        fn = found[0][1].rebuilt()


@final
@dataclass
class Flow:
    """What becomes of the rows of a loop."""

    fn: Function
    node: Node
    loop: Loop
    sources: Env  # arrays of rows, each with the row in the body
    after: set[Value]  # all that depends on the loop
    is_derived: bool
    made: dict[Value, Op] = field(default_factory=dict[Value, Op])  # row by row, with the operation on one row
    folds: dict[Value, RowFold] = field(default_factory=dict[Value, RowFold])
    kept: dict[Value, None] = field(default_factory=dict[Value, None])  # rows that are needed as an array
    spans: dict[Value, range] = field(default_factory=dict[Value, range])  # which rows, where these are not all

    def rowed(self, value: Value) -> bool:
        """Whether a value is an array of rows of the loop."""
        return value in self.sources or value in self.made

    def span(self, value: Value) -> range:
        """Which rows of the loop a value, or what is made of it, has."""
        return self.spans.get(value, range(self.loop.length))

    def follow(self, node: Node) -> None:
        """Look at what a node, later than the loop, does with the rows."""
        rows = [a for a in node.args if self.rowed(a)]
        self.after.update(node.values)
        if not rows:
            return
        spans = {self.span(a) for a in rows}
        (span, *more), others = spans, [a for a in node.args if not self.rowed(a)]
        if more or self.after.intersection(others) or (abs(span.step) > 1 and any([a.shape for a in others])):
            self.kept.update(dict.fromkeys(rows))
            return
        value = node.values[0]
        op, part = row_op(node, len(span)), None
        fold = fold_of(node, reverse=self.loop.reverse) if op is None else None
        if op is None and fold is None:
            op, part = rows_taken(node) or (None, None)
        span = span if part is None else span[part]
        if span != range(self.loop.length):
            fold = None if fold is None else fold.within(span, self.loop.length)
            self.spans[value] = span
        if op is not None:
            self.made[value] = op
        elif fold is not None:
            self.folds[value] = fold
        else:
            self.kept.update(dict.fromkeys(rows))

    def close(self) -> bool:
        """Drop what is made of rows that are needed anyway; whether what is left is worth it."""
        self.kept.update(dict.fromkeys([r for r in self.fn.results if self.rowed(r)]))
        gone = [s for s in self.sources if s not in self.kept]
        reached = set(gone)
        for value in (*self.made, *self.folds):
            if not reached.isdisjoint(value.args):
                reached.add(value)
        self.folds = {v: f for v, f in self.folds.items() if v in reached}
        left = [v for v in self.kept if v in self.made and v in reached]
        needed = {a for v in self.folds for a in v.args}.union(left)
        for value in reversed(self.made):
            needed.update(value.args if value in needed and value in reached else ())
        self.made = {v: op for v, op in self.made.items() if v in reached and v in needed}
        self.kept = dict.fromkeys(left)
        size = sum([s.type.bytes for s in gone if s in needed])
        is_slow = any(map(self.is_slow, (*self.made, *self.folds)))
        held = [type for fold in self.folds.values() for type in fold.states]
        stacked = [Type(v.dtype, (self.loop.length, *v.shape[1:])) for v in left]
        small = sum([t.bytes for t in (*stacked, *held)]) * SMALLER <= size - LARGE * is_slow
        return bool(self.folds or left) and small and len(held) <= MOST

    def is_slow(self, value: Value) -> bool:
        """Whether something takes longer inside the loop: what processors do for several elements at a time."""
        if isinstance(value.op, Elementwise):
            return value.type.row.size < WIDE and value.op.name not in CHEAP
        is_smooth = value.op.name in ("reduce_prod", "reduce_max", "reduce_min") and value.type.is_float
        return is_smooth and not self.is_derived

    def outside(self) -> list[tuple[Value, range]]:
        """What the rows are combined with, of before the loop, and which rows of the loop its rows belong to."""
        read = [(a, self.span(v)) for v in (*self.made, *self.folds) for a in v.args if not isinstance(a.op, Const)]
        return list(dict.fromkeys([(a, span) for a, span in read if not self.rowed(a)]))

    # --- the loop anew

    def rebuilt(self) -> Function:
        """The function with what is made of the rows in the loop."""
        env: Env = {p: p for p in self.fn.params}
        order = nodes(self.fn.results)
        with scope():
            for node in [n for n in order if n.values[0] not in self.after]:
                _again(node, env)
            env.update(self.looped(env))
            for node in [n for n in order if n.values[0] in self.after]:
                is_made = node.values[0] in self.made or node.values[0] in self.folds
                if node is not self.node and not is_made:
                    _again(node, env)
            return Function(self.fn.name, self.fn.params, tuple([env[r] for r in self.fn.results]))

    def looped(self, env: Env) -> Env:
        """What the new loop makes, for what it stands for."""
        loop, outside, folds = self.loop, self.outside(), self.folds.values()
        states = [type for f in folds for type in f.states]
        kinds: list[In] = ["each" if v.shape else "const" for v, _ in outside]
        kinds.extend("carry" for _ in states)
        types = [v.type.row if v.shape else v.type for v, _ in outside] + states
        outs: list[Out] = ["stack" for _ in self.kept]
        outs.extend(kind for f in folds for kind in f.outs)
        outs.extend("last" for _ in states)
        names = [hint_of(p) for p in loop.body.params]
        body = trace(self.step(outside), *(p.type for p in loop.body.params), *types, names=names)
        starts = [start for f in folds for start in f.starts()]
        new = Loop(loop.length, (*loop.ins, *kinds), (*loop.outs, *outs), body, loop.reverse)
        given = [among(env[a], span, loop.length) if a.shape else env[a] for a, span in outside]
        return self.named(new.apply(*[env[a] for a in self.node.args], *given, *starts))

    def step(self, outside: Sequence[tuple[Value, range]]) -> Callable[..., Values]:
        """The body: that of the loop, then what is made of its rows."""
        params, outs = self.loop.body.params, len(self.loop.outs)

        def run(*args: Value) -> Values:
            inner = dict(zip(params, args, strict=False))
            given = dict(zip(outside, args[len(params) :], strict=False))
            ys = substitute((*self.loop.body.results, *self.sources.values()), inner)
            rows = dict(zip(self.sources, ys[outs:], strict=True))

            def read(value: Value) -> list[Value]:
                return [rows.get(a) or given.get((a, self.span(value))) or a for a in value.args]

            for value, op in self.made.items():
                rows[value] = row_of(op, read(value))
            states, terms, ends = list(args[len(params) + len(outside) :]), list[Value](), list[Value]()
            for value, fold in self.folds.items():
                own, states = states[: len(fold.states)], states[len(fold.states) :]
                made = fold.step(args[0], read(value), own)
                terms.extend(made[: len(fold.outs)])
                ends.extend(made[len(fold.outs) :])
            return *ys[:outs], *[rows[v] for v in self.kept], *terms, *ends

        return run

    def named(self, results: Values) -> Env:
        """The results, for the values that they stand for."""
        count = len(self.loop.outs)
        found: Env = dict(zip(self.node.values, results[:count], strict=True))
        stacks = zip(self.kept, results[count : count + len(self.kept)], strict=True)
        found.update([(v, taken(stack, self.span(v))) for v, stack in stacks])
        terms = results[count + len(self.kept) :]
        ends = terms[sum([len(f.outs) for f in self.folds.values()]) :]
        for value, fold in self.folds.items():
            found[value] = fold.finish(value.type, (*terms[: len(fold.outs)], *ends[: len(fold.states)]))
            terms, ends = terms[len(fold.outs) :], ends[len(fold.states) :]
        return found


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
