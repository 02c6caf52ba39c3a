"""Which elements of a program's results depend on which of its arguments: by index sets.

Arrays of floats are followed as arrays of the same shape that name the set of each element (`pattern_graph`). Data
movement is exact: the operation is run on the names. Loops become operations on whole arrays where they can, and are
followed step by step where not. Branches count with both sides, and what is not known here depends on everything it
reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, final

import numpy as np

from pliant import pipeline
from pliant.core.inner import functions_of
from pliant.core.ir import Function, Node, Op, Param, Value, nodes
from pliant.diff.pattern_graph import Unions
from pliant.diff.pattern_sets import all_along, everything, gathered_anywhere, products, reduced, up_to
from pliant.ops.base import Elementwise, Movement
from pliant.ops.block import AddBlock, ReadBlock, UpdateBlock
from pliant.ops.cond import Cond
from pliant.ops.contract import Dot
from pliant.ops.index import Gather, ScatterAdd, ScatterSet
from pliant.ops.loop import Loop
from pliant.ops.reduce import Reduction
from pliant.ops.scan import Sequential
from pliant.ops.shape import Concatenate
from pliant.ops.sort import Sort
from pliant.ops.update import AddSlice, UpdateSlice
from pliant.ops.while_loop import WhileLoop
from pliant.transforms.evaluate import run

STEPS: Final = 100_000, 1_000, 3_000_000  # see `most_steps`
_MOVING: Final = (Movement, Concatenate, Gather, ScatterSet, UpdateSlice, ReadBlock, UpdateBlock)


@final
@dataclass(frozen=True)
class Dependence:
    """Sets of a program's results, and the parameters whose values they were found with: indices."""

    sets: list[Any]
    assumed: tuple[int, ...]


def dependence(fn: Function, arrays: Sequence[Any], active: int) -> Dependence:
    """What results depend on, of the first `active` parameters; arrays: all arguments."""
    fn = pipeline.emitted(fn)
    xs = fn.params[:active]
    frame = Frame(Unions(sum(x.type.size for x in xs)))
    frame.known.update(zip(fn.params[active:], arrays[active:], strict=True))
    start = 1
    for x in xs:
        frame.sets[x] = np.arange(start, start + x.type.size).reshape(x.shape)
        start += x.type.size
    with np.errstate(all="ignore"):
        frame.follow(fn)
    behind = {node.values[0] for node in nodes(tuple(frame.used)) if isinstance(node.op, Param)}
    assumed = tuple([n for n, p in enumerate(fn.params) if p in behind])
    return Dependence([frame.graph.rows(frame.set_of(r)) for r in fn.results], assumed)


@dataclass
class Frame:
    """What is known inside one function: index sets of what depends on x, values of what does not."""

    graph: Unions
    sets: dict[Value, Any] = field(default_factory=dict[Value, Any])
    known: dict[Value, Any] = field(default_factory=dict[Value, Any])
    used: set[Value] = field(default_factory=set[Value])  # those whose values decided where elements go

    def follow(self, fn: Function) -> None:
        """Fill in everything the results need."""
        for node in fn.nodes:
            if isinstance(node.op, Param):
                continue
            if any(a in self.sets for a in node.args):
                self._depend(node)
            elif all(a in self.known for a in node.args):
                args = [np.asarray(self.known[a]) for a in node.args]
                self.known.update(zip(node.values, run(node.op, np, args), strict=True))
            # else it is made of indices that depend on x

    def set_of(self, value: Value) -> Any:
        """The sets of a value's elements; empty where it does not depend on x."""
        return self.sets[value] if value in self.sets else np.zeros(value.shape, np.int64)

    def value_of(self, value: Value) -> Any:
        """The value, as it decides where elements go; None if it is not known."""
        if value in self.known:
            self.used.add(value)
        return self.known.get(value)

    def _depend(self, node: Node) -> None:
        """The sets of a node's float results."""
        if not any(v.type.is_float for v in node.values):
            return
        control = _CONTROL.get(type(node.op))
        made = control(self, node) if control else [self._made(node)] * len(node.values)
        reads = [self.sets[a] for a in node.args if a in self.sets]
        for value, found in zip(node.values, made, strict=True):
            if value.type.is_float:
                self.sets[value] = everything(self.graph, reads, value.shape) if found is None else found

    def _made(self, node: Node) -> Any:
        """The set of the only result; None if nothing exact is known about the operation."""
        op, graph = node.op, self.graph
        match op:
            case Elementwise():
                found = graph.union([self.sets[a] for a in node.args if a in self.sets])
                return found if found.shape == node.types[0].shape else np.broadcast_to(found, node.types[0].shape)
            case Reduction():
                return reduced(graph, self.sets[node.args[0]], op.axes)
            case Dot():
                x, y = node.args
                return products(graph, op, x, y, [self.sets.get(x), self.sets.get(y)]).reshape(node.types[0].shape)
            case Sequential():
                steps = [self.sets[a] for a in node.args if a in self.sets]
                return graph.union([up_to(graph, s, op.axis, is_reversed=op.reverse) for s in steps])
            case Sort():
                return all_along(graph, self.sets[node.args[0]], op.axis)
            case AddSlice() | ScatterAdd() | AddBlock():
                return self._accumulated(node, op)
            case op if isinstance(op, _MOVING):
                return self._moved(op, node.args)
            case _:
                return None

    def _moved(self, op: Op, args: Sequence[Value]) -> Any:
        """Run a movement on the names of sets."""
        given = list[Any]()
        for a in args:
            if a.type.is_float:
                given.append(self.set_of(a))
                continue
            value = self.value_of(a)
            if value is None:
                x, *indices = args
                if not isinstance(op, Gather):
                    return None
                return gathered_anywhere(self.graph, op, x, indices, self.sets[x])
            given.append(np.asarray(value))
        return np.asarray(run(op, np, given)[0])

    def _accumulated(self, node: Node, op: AddSlice | ScatterAdd | AddBlock) -> Any:
        """x with u added somewhere."""
        x, *rest = node.args
        u, indices = (rest[0], rest[1:]) if isinstance(op, AddBlock) else (rest[-1], rest[:-1])
        values = [self.value_of(i) for i in indices]
        if any([v is None for v in values]):
            return None
        found, added, values = self.set_of(x), self.set_of(u), [np.asarray(v) for v in values]
        if isinstance(op, AddBlock):
            empty = np.zeros(x.shape, np.int64)
            return self.graph.union([found, run(UpdateBlock(op.step, op.shared), np, [empty, added, *values])[0]])
        places: Any = np.arange(x.type.size).reshape(x.shape)
        where: Op = op.window(u.shape) if isinstance(op, AddSlice) else Gather(op.shared, op.unique)
        target = np.asarray(run(where, np, [places, *values])[0]).reshape(-1)
        made = found.copy().reshape(-1)
        if target.size == 1:
            made[target[0]] = self.graph.union([made[target[0]], added.reshape(())])
            return made.reshape(x.shape)
        touched, group = np.unique(target, return_inverse=True)
        parts = np.concatenate([made[touched], added.reshape(-1)])
        made[touched] = self.graph.grouped(np.concatenate([np.arange(touched.size), group]), parts, touched.size)
        return made.reshape(x.shape)

    # --- functions inside operations

    def _inner(self, fn: Function, entries: Sequence[tuple[Any, Any]], args: Sequence[Value]) -> Frame:
        """A function followed for (set, value) pairs; what it needs to know of them is needed here."""
        inner = Frame(self.graph)
        for p, (found, value) in zip(fn.params, entries, strict=True):
            if found is not None:
                inner.sets[p] = found
            elif value is not None:
                inner.known[p] = value
        inner.follow(fn)
        if inner.used:
            self.used.update([a for a in args if a in self.known])
        return inner

    def entry(self, a: Value) -> tuple[Any, Any]:
        """The set and the value, as far as there are any."""
        return self.sets.get(a), self.known.get(a)

    def cond(self, node: Node) -> list[Any]:
        """Both sides."""
        op = node.op
        assert isinstance(op, Cond)
        entries = [self.entry(a) for a in node.args[1:]]
        frames = [(fn, self._inner(fn, entries, node.args)) for fn in op.branches]
        return [
            self.graph.union([frame.set_of(fn.results[n]) for fn, frame in frames]) for n in range(len(node.values))
        ]

    def loop(self, node: Node) -> list[Any]:
        """Step by step, or, where that takes too long, all steps as one."""
        op = node.op
        assert isinstance(op, Loop)
        counts = [self.value_of(a) for a, kind in zip(node.args, op.ins, strict=True) if kind == "count"]
        if None in counts or operations((node,)) > most_steps(self.graph.width):
            return self._saturated(op.body, node, op.ins, op.outs)
        count = min(max(int(counts[0]), 0), op.length) if counts else op.length
        state = [self.entry(a) for a in node.args]
        made: list[Any] = [np.zeros(v.shape, np.int64) for v in node.values]
        for i in range(count)[:: -1 if op.reverse else 1]:
            given = [_row(entry, i) if kind == "each" else entry for kind, entry in zip(op.ins, state, strict=True)]
            frame = self._inner(op.body, [(None, np.int64(i)), *given], node.args)
            lasts = iter([r for r, kind in zip(op.body.results, op.outs, strict=True) if kind == "last"])
            state = [
                frame.entry(next(lasts)) if kind == "carry" else entry
                for kind, entry in zip(op.ins, state, strict=True)
            ]
            for n, (r, kind) in enumerate(zip(op.body.results, op.outs, strict=True)):
                if kind == "stack":
                    made[n][i] = frame.set_of(r)
                elif kind != "last" and r in frame.sets:
                    made[n] = self.graph.union([made[n], frame.sets[r]])
        ends = iter([found for kind, (found, _) in zip(op.ins, state, strict=True) if kind == "carry"])
        return [
            (made[n] if (end := next(ends)) is None else end) if kind == "last" else made[n]
            for n, kind in enumerate(op.outs)
        ]

    def while_loop(self, node: Node) -> list[Any]:
        """All steps as one."""
        op = node.op
        assert isinstance(op, WhileLoop)
        return self._saturated(op.body, node, op.ins, ("last",) * len(node.values))

    def _saturated(self, body: Function, node: Node, ins: Sequence[str], outs: Sequence[str]) -> list[Any]:
        """What any number of steps may depend on: carries are parts of themselves."""
        graph, skipped = self.graph, len(body.params) - len(ins)
        state: list[tuple[Any, Any]] = [(None, None)] * skipped
        for a, p, kind in zip(node.args, body.params[skipped:], ins, strict=True):
            found = self.sets.get(a)
            if kind == "carry" and p.type.is_float:
                found = graph.circle(p.shape)
                graph.add(found, self.set_of(a))
            elif kind == "each" and found is not None:
                found = reduced(graph, found, (0,))
            state.append((found, self.known.get(a) if kind == "const" else None))
        frame = self._inner(body, state, node.args)
        ends = iter([found for kind, (found, _) in zip(ins, state[skipped:], strict=True) if kind == "carry"])
        made: list[Any] = []
        for kind, r, v in zip(outs, body.results, node.values, strict=True):
            end = next(ends) if kind == "last" else None
            if end is not None:
                graph.add(end, frame.set_of(r))
            made.append(np.broadcast_to(frame.set_of(r), v.shape) if end is None else end)
        return made


_CONTROL: Final[dict[type[Op], Callable[[Frame, Node], list[Any]]]] = {
    Cond: Frame.cond,
    Loop: Frame.loop,
    WhileLoop: Frame.while_loop,
}


def most_steps(width: int) -> int:
    """Operations in a loop, over all its steps, up to which it is followed: more of them if x has more elements, since
    a matrix takes the more derivatives then, if nothing is known of it."""
    least, each, most = STEPS
    return min(max(least, each * width), most)


def operations(within: Sequence[Node]) -> int:
    """How many are run, those of all steps counted."""
    count = 0
    for node in within:
        inner = sum([operations(fn.nodes) for fn in functions_of(node.op).values()])
        count += 1 + inner * (node.op.length if isinstance(node.op, Loop) else 1)
    return count


def _row(entry: tuple[Any, Any], i: int) -> tuple[Any, Any]:
    found, value = entry
    return None if found is None else found[i], None if value is None else value[i]
