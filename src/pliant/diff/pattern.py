"""Which elements of a program's results depend on which of its arguments: by index sets.

The sets are rows of sparse boolean matrices, [elements of the value, elements of all active x].
Data movement is exact: the operation is run on the numbers of the elements instead of on them.
Loops are followed step by step. Branches count with both sides, and what is not known here depends
on everything it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, final

import numpy as np
import scipy.sparse

from pliant.core.ir import Function, Node, Op, Param, Value, nodes
from pliant.diff.pattern_sets import (
    Numbers,
    as_boolean,
    everything,
    fitted,
    gathered_anywhere,
    products,
    selection,
    union,
    up_to,
)
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
from pliant.transforms.inline import inline

sp: Any = scipy.sparse

MOST_STEPS: Final = 20_000  # operations in a loop, over all its steps, up to which it is followed
_MOVING: Final = (Movement, Concatenate, Gather, ScatterSet, UpdateSlice, ReadBlock, UpdateBlock)


@final
@dataclass(frozen=True)
class Dependence:
    """Sets of a program's results, and the parameters whose values they were found with: indices."""

    sets: list[Any]
    assumed: tuple[int, ...]


def dependence(fn: Function, arrays: Sequence[Any], active: int) -> Dependence:
    """What results depend on, of the first `active` parameters; arrays: all arguments."""
    fn = inline(fn)
    xs = fn.params[:active]
    frame = Frame(sum(x.type.size for x in xs))
    frame.known.update(zip(fn.params[active:], arrays[active:], strict=True))
    start = 0
    for x in xs:
        frame.sets[x] = sp.eye_array(x.type.size, frame.width, k=start, dtype=bool, format="csr")
        start += x.type.size
    with np.errstate(all="ignore"):
        frame.follow(fn)
    behind = {node.values[0] for node in nodes(tuple(frame.used)) if isinstance(node.op, Param)}
    assumed = tuple([n for n, p in enumerate(fn.params) if p in behind])
    return Dependence([frame.set_of(r) for r in fn.results], assumed)


@dataclass
class Frame:
    """What is known inside one function: index sets of what depends on x, values of what does not."""

    width: int
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
        """The set of a value; empty where it does not depend on x."""
        return self.sets.get(value, sp.csr_array((value.type.size, self.width), dtype=bool))

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
                self.sets[value] = everything(reads, value.type.size) if found is None else found

    def _made(self, node: Node) -> Any:
        """The set of the only result; None if nothing exact is known about the operation."""
        op, size = node.op, node.types[0].size
        match op:
            case Elementwise():
                return union([fitted(self.sets[a], size) for a in node.args if a in self.sets])
            case Reduction():
                (x,) = node.args
                kept = np.arange(size).reshape([1 if n in op.axes else s for n, s in enumerate(x.shape)])
                return as_boolean(selection(np.broadcast_to(kept, x.shape).reshape(-1), size) @ self.sets[x])
            case Dot():
                x, y = node.args
                return products(op, x, y, [self.sets.get(x), self.sets.get(y)])
            case Sequential():
                steps = [self.sets[a] for a in node.args if a in self.sets]
                return union([up_to(node.types[0].shape, op.axis, s, is_reversed=op.reverse) for s in steps])
            case Sort():
                return up_to(node.types[0].shape, op.axis, self.sets[node.args[0]])
            case AddSlice() | ScatterAdd() | AddBlock():
                return self._accumulated(node, op)
            case op if isinstance(op, _MOVING):
                return self._renumbered(op, node.args)
            case _:
                return None

    def _renumbered(self, op: Op, args: Sequence[Value]) -> Any:
        """Run a movement on element numbers; 0 stands for what does not depend on x."""
        given, numbers = list[Any](), Numbers(self.width)
        for a in args:
            if a.type.is_float:
                given.append(numbers.of(a.shape, self.sets.get(a)))
                continue
            value = self.value_of(a)
            if value is None:
                x, *indices = args
                return gathered_anywhere(op, x, indices, self.sets[x]) if isinstance(op, Gather) else None
            given.append(np.asarray(value))
        return numbers.rows(run(op, np, given)[0])

    def _accumulated(self, node: Node, op: AddSlice | ScatterAdd | AddBlock) -> Any:
        """x with u added somewhere."""
        x, *rest = node.args
        u, indices = (rest[0], rest[1:]) if isinstance(op, AddBlock) else (rest[-1], rest[:-1])
        values = [self.value_of(i) for i in indices]
        if any([v is None for v in values]):
            return None
        parts = [self.sets[x]] if x in self.sets else []
        if u not in self.sets:
            return union(parts)
        if isinstance(op, AddBlock):
            numbers = Numbers(self.width)
            given = [numbers.of(x.shape, None), numbers.of(u.shape, self.sets[u]), *map(np.asarray, values)]
            return union([*parts, numbers.rows(run(UpdateBlock(op.step, op.shared), np, given)[0])])
        places = np.arange(x.type.size).reshape(x.shape)
        where: Op = op.window(u.shape) if isinstance(op, AddSlice) else Gather(op.shared, op.unique)
        target = run(where, np, [places, *map(np.asarray, values)])[0]
        return union([*parts, as_boolean(selection(target.reshape(-1), x.type.size) @ self.sets[u])])

    # --- functions inside operations

    def _inner(self, fn: Function, entries: Sequence[tuple[Any, Any]], args: Sequence[Value]) -> Frame:
        """A function followed for (set, value) pairs; what it needs to know of them is needed here."""
        inner = Frame(self.width)
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
        return [union([frame.set_of(fn.results[n]) for fn, frame in frames]) for n in range(len(node.values))]

    def loop(self, node: Node) -> list[Any]:
        """Step by step, or, where that takes too long, all steps as one."""
        op = node.op
        assert isinstance(op, Loop)
        counts = [self.value_of(a) for a, kind in zip(node.args, op.ins, strict=True) if kind == "count"]
        if None in counts or op.length * len(op.body.nodes) > MOST_STEPS:
            return self._saturated(op.body, node, op.ins, op.outs)
        count = min(max(int(counts[0]), 0), op.length) if counts else op.length
        state = [self.entry(a) for a in node.args]
        rows: list[list[Any]] = [[] for _ in op.outs]
        for i in range(count)[:: -1 if op.reverse else 1]:
            given = [
                _row(entry, i, p.type.size) if kind == "each" else entry
                for p, kind, entry in zip(op.body.params[1:], op.ins, state, strict=True)
            ]
            frame = self._inner(op.body, [(None, np.int64(i)), *given], node.args)
            lasts = iter([r for r, kind in zip(op.body.results, op.outs, strict=True) if kind == "last"])
            state = [
                frame.entry(next(lasts)) if kind == "carry" else entry
                for kind, entry in zip(op.ins, state, strict=True)
            ]
            for made, r in zip(rows, op.body.results, strict=True):
                made.append(frame.set_of(r))
        ends = iter([found for kind, (found, _) in zip(op.ins, state, strict=True) if kind == "carry"])
        step = -1 if op.reverse else 1
        return [
            _or_empty(next(ends), v.type.size, self.width)
            if kind == "last"
            else _joined(made[::step], kind, v, self.width)
            for kind, made, v in zip(op.outs, rows, node.values, strict=True)
        ]

    def while_loop(self, node: Node) -> list[Any]:
        """All steps as one."""
        op = node.op
        assert isinstance(op, WhileLoop)
        return self._saturated(op.body, node, op.ins, ("last",) * len(node.values))

    def _saturated(self, body: Function, node: Node, ins: Sequence[str], outs: Sequence[str]) -> list[Any]:
        """What any number of steps may depend on: carries grow until they stay."""
        params = body.params[len(body.params) - len(ins) :]
        index = [(None, None)] * (len(body.params) - len(ins))
        state = [
            (_collapsed(self.sets[a], p.type.size) if kind == "each" else self.sets[a], None)
            if a in self.sets
            else (None, None if kind != "const" else self.known.get(a))
            for a, p, kind in zip(node.args, params, ins, strict=True)
        ]
        while True:
            frame = self._inner(body, [*index, *state], node.args)
            lasts = iter([r for r, kind in zip(body.results, outs, strict=True) if kind == "last"])
            grown = [
                (_grown(found, frame.sets.get(next(lasts))), None) if kind == "carry" else (found, value)
                for kind, (found, value) in zip(ins, state, strict=True)
            ]
            if all([_count(a) == _count(b) for (a, _), (b, _) in zip(grown, state, strict=True)]):
                break
            state = grown
        ends = iter([found for kind, (found, _) in zip(ins, state, strict=True) if kind == "carry"])
        return [
            _or_empty(next(ends), v.type.size, self.width)
            if kind == "last"
            else _joined([frame.set_of(r)] * (v.type.size // max(r.type.size, 1)), kind, v, self.width)
            for kind, r, v in zip(outs, body.results, node.values, strict=True)
        ]


_CONTROL: Final[dict[type[Op], Callable[[Frame, Node], list[Any]]]] = {
    Cond: Frame.cond,
    Loop: Frame.loop,
    WhileLoop: Frame.while_loop,
}


def _row(entry: tuple[Any, Any], i: int, size: int) -> tuple[Any, Any]:
    found, value = entry
    return None if found is None else found[i * size : (i + 1) * size], None if value is None else value[i]


def _joined(rows: Sequence[Any], kind: str, value: Value, width: int) -> Any:
    """The set of a stack of rows, or of a fold of them."""
    if kind != "stack" and rows:
        return union(rows)
    missing = value.type.size - sum([row.shape[0] for row in rows])  # of steps that are not run
    return sp.vstack([*rows, _or_empty(None, missing, width)], format="csr")


def _or_empty(found: Any, size: int, width: int) -> Any:
    return sp.csr_array((size, width), dtype=bool) if found is None else found


def _collapsed(rows: Any, size: int) -> Any:
    """The union over the steps of what each row of an operand depends on."""
    return as_boolean(selection(np.arange(rows.shape[0]) % max(size, 1), size) @ rows)


def _grown(before: Any, after: Any) -> Any:
    found = [s for s in (before, after) if s is not None]
    return union(found) if found else None


def _count(found: Any) -> int:
    return 0 if found is None else int(found.nnz)
