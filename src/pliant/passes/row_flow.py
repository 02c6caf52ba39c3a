"""What becomes of a loop's rows later: what is made of each, what is folded, and which are needed as an array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Final, cast, final

from pliant.core.data import mutable
from pliant.core.ir import Function, Node, Op, Value, Values
from pliant.core.types import Type
from pliant.ops.base import Elementwise
from pliant.ops.contract import Dot
from pliant.ops.elementwise import Sub, sub
from pliant.ops.index import ScatterAdd
from pliant.ops.loop import Loop
from pliant.ops.reduce import ReduceSum, Reduction
from pliant.ops.region import CHEAP
from pliant.ops.shape import Broadcast, Concatenate, Reshape, broadcast
from pliant.passes.row_folds import RowFold, fold_of
from pliant.passes.row_reads import Key, Late, Read, Reads, Shift, Tag, Thin, next_kind
from pliant.passes.row_states import (
    change_of,
    deviations,
    extremum_of,
    late,
    mean_of,
    rescaled,
    scan_of,
    shift_of,
    thinned,
)
from pliant.passes.row_wise import row_of, row_op, rows_taken

SMALLER: Final = 2  # how many times smaller than the rows what is kept of them must be
LARGE: Final = 1 << 24  # bytes of rows that are not worth a slower loop
NEAR: Final = 4096  # elements of a matrix that every step may multiply by
MOST: Final = 10  # states that a step brings up to date; more take longer than rows that are stored
FEW: Final = 3  # steps before which a row was made that is carried from then on
WIDE: Final = 8  # elements of a row that are computed together


@final
@mutable
class Flow:
    """What becomes of the rows of a loop."""

    fn: Function
    node: Node
    loop: Loop
    sources: dict[Value, Value]  # arrays of rows, each with the row in the body
    after: set[Value]  # all that depends on the loop
    is_derived: bool
    head: int = 0  # how many rows are made before the loop's
    heads: dict[Value, Values] = field(default_factory=dict[Value, Values])  # what these are of
    made: dict[Key, RowFold] = field(default_factory=dict[Key, RowFold])  # row by row: the first that a step makes
    folds: dict[Value | Thin, RowFold] = field(default_factory=dict[Value | Thin, RowFold])
    reads: dict[Key, tuple[Read, ...]] = field(default_factory=dict[Key, "tuple[Read, ...]"])
    kept: dict[Value, None] = field(default_factory=dict[Value, None])  # rows that are needed as an array
    spans: dict[Value, range] = field(default_factory=dict[Value, range])  # which rows, where these are not all
    blocks: dict[Value, int] = field(default_factory=dict[Value, int])  # how many lie along axis 0, where not one
    gone: list[Value] = field(default_factory=list[Value])  # rows that are needed only where they are made
    tags: dict[Value, Tag] = field(default_factory=dict[Value, Tag])

    @property
    def count(self) -> int:
        """How many rows there are."""
        return self.head + self.loop.length

    @property
    def steps(self) -> range:
        """Which rows the steps make; the others are made before, and lie where the steps begin."""
        first = 0 if self.loop.reverse else self.head
        return range(first, first + self.loop.length)

    @property
    def before(self) -> list[tuple[int, int]]:
        """The rows that are made before, in order: the place of each among them, and its number."""
        found = [(place, place + self.loop.length if self.loop.reverse else place) for place in range(self.head)]
        return found[::-1] if self.loop.reverse else found

    def rowed(self, value: Value) -> bool:
        """Whether a value is an array of rows of the loop."""
        return value in self.sources or value in self.made

    def span(self, value: Value) -> range:
        """Which rows of the loop a value, or what is made of it, has."""
        return self.spans.get(value, self.steps if value in self.sources else range(self.count))

    def follow(self, node: Node) -> None:
        """Look at what a node, later than the loop, does with the rows."""
        rows = [a for a in node.args if self.rowed(a)]
        self.after.update(node.values)
        if rows and not (self.is_related(node, rows) if self.is_relative(node, rows) else self.is_followed(node, rows)):
            self.keep(rows)

    def keep(self, rows: Sequence[Value]) -> None:
        """Rows are needed as an array; or those that they are made of, where they depend on all."""
        todo = list(rows)
        while todo:
            value = todo.pop()
            if value in self.tags:
                todo.extend([a for a in value.args if self.rowed(a)])
            else:
                self.kept[value] = None

    # --- what a node does with rows

    def is_followed(self, node: Node, rows: Sequence[Value]) -> bool:
        """Whether a node does something for each row, or folds them."""
        others = [a for a in node.args if not self.rowed(a)]
        spans, blocks = {self.span(a) for a in rows}, {self.blocks.get(a, 0) for a in rows}
        if not self.after.isdisjoint(others) or len(blocks) > 1 or len({len(s) for s in spans}) > 1:
            return False
        (block,) = blocks
        if len(spans) > 1 and {s.step for s in spans} != {1}:
            return False
        span = (min if self.loop.reverse else max)(spans, key=lambda s: s.start)
        return self.is_in_blocks(node, block) if block else self.is_by_rows(node, span)

    def is_by_rows(self, node: Node, span: range) -> bool:
        """The same where a step makes one row."""
        found = row_op(node, len(span))
        if found is not None:
            op, flags = found
            return self.note(node, op, span, flags)
        value, count = node.values[0], self.count
        if isinstance(node.op, Concatenate):
            return self.is_preceded(node, span)
        is_into = isinstance(node.op, ScatterAdd)  # an array that is no row
        reads = self.read(node, span, [n > 0 or not is_into for n in range(len(node.args))])
        if reads is None:
            return False
        scan = scan_of(node, reverse=self.loop.reverse, is_derived=self.is_derived) if span == range(count) else None
        part = rows_taken(node)
        if scan is not None:
            self.made[value], self.reads[value] = scan, reads
        elif part is not None:
            self.note(node, part[0], span[part[1]], (True,), reads)
        elif isinstance(node.op, Reshape) and span == range(count) and not value.shape[0] % count if value.shape else 0:
            self.blocks[value] = value.shape[0] // count
            self.note(node, Reshape((self.blocks[value], *value.shape[1:])), span, (True,), reads)
        else:
            fold = fold_of(node, span, count, reverse=self.loop.reverse)
            return fold is not None and self.is_folded(node, fold, reads)
        return True

    def is_preceded(self, node: Node, span: range) -> bool:
        """Whether a node puts rows that were made before the loop to those of its steps."""
        (*before, x) = node.args[::-1] if self.loop.reverse else node.args
        if node.op != Concatenate(0) or not self.rowed(x) or not self.after.isdisjoint(before):
            return False
        if span != self.steps or node.types[0].shape[0] != self.count:
            return False
        value = node.values[0]
        self.heads[value] = tuple(before[::-1] if self.loop.reverse else before)
        self.made[value], self.reads[value] = RowFold(lambda i, rows, states: (rows[0],)), (Read(x, "row"),)
        return True

    def is_in_blocks(self, node: Node, block: int) -> bool:
        """The same where a step makes several rows, one after the other along axis 0."""
        value, count = node.values[0], self.count
        rows = value.shape[0] // count if value.shape and not value.shape[0] % count else 0
        reads = self.read(node, range(count), tuple([bool(a.shape) for a in node.args]), block)
        if reads is None:
            return False
        match node.op:
            case Elementwise():
                op = node.op
            case Reshape(shape) if rows:
                op = Reshape((rows, *shape[1:]) if rows > 1 else shape[1:])
            case Reduction() if 0 not in node.op.axes:
                op = node.op
            case _:
                fold = fold_of(node, range(count), count, reverse=self.loop.reverse, block=block)
                return fold is not None and self.is_folded(node, fold, reads)
        if rows > 1 or not isinstance(op, Reshape):
            self.blocks[value] = rows
        return self.note(node, op, range(count), (), reads)

    def note(self, node: Node, op: Op, span: range, flags: Sequence[bool], reads: Reads | None = None) -> bool:
        """Note an operation on each row, if what it reads besides can be read."""
        value = node.values[0]
        reads = self.read(node, span, flags) if reads is None else reads
        if reads is None or self.is_better_later(node):
            return False
        self.made[value], self.reads[value] = RowFold(lambda i, rows, states: (row_of(op, rows),)), reads
        if span != range(self.count):
            self.spans[value] = span
        return True

    def is_folded(self, node: Node, fold: RowFold, reads: Reads) -> bool:
        """Note a fold; not one whose derivative says how elements that tie share it, if some are apart."""
        if self.head and not self.is_derived and {"max", "min"}.intersection(fold.outs) and node.types[0].is_float:
            return False
        self.folds[node.values[0]], self.reads[node.values[0]] = fold, reads
        return True

    def read(self, node: Node, span: range, flags: Sequence[bool], block: int = 0) -> Reads | None:
        """What a step reads of a node's operands; None if it cannot. flags: those of which it reads one row."""
        found = list[Read]()
        for a, is_row in zip(node.args, flags, strict=True):
            if self.rowed(a):
                if not is_row:
                    return None
                found.append(Read(self.late(a, abs(span.start - self.span(a).start)), "row"))
            elif is_row and a.shape:
                if abs(span.step) > 1:
                    return None
                found.append(Read(a, "each", span, block))
            else:
                found.append(Read(a, "whole"))
        return tuple(found)

    def late(self, value: Value, by: int) -> Key:
        """The row that was made some steps before; the row itself if none."""
        key = Late(value, by)
        if by and key not in self.made:
            before = self.late(value, by - 1) if by <= FEW else value  # few are handed on from step to step
            self.made[key] = late(self.row_type(value), 1 if by <= FEW else by)
            self.reads[key] = (Read(before, "row"),)
        return key if by else value

    def row_type(self, value: Value) -> Type:
        """The type of what one step makes of a value."""
        block = self.blocks.get(value, 0)
        return Type(value.dtype, (block, *value.shape[1:])) if block else value.type.row

    # --- rows that depend on all rows

    def is_relative(self, node: Node, rows: Sequence[Value]) -> bool:
        """Whether a node makes rows that depend on what is made of all rows."""
        is_first = isinstance(node.op, Sub) and len(rows) == 1 and rows[0] is node.args[0]
        return any([a in self.tags for a in rows]) or (is_first and node.args[1] in self.after and self.is_derived)

    def is_related(self, node: Node, rows: Sequence[Value]) -> bool:
        """Whether a step can do that with what it knows of the rows so far."""
        tags = {self.tags[a] for a in rows if a in self.tags}
        if not tags:
            return self.is_shifted(node)
        (tag, *more), value = tags, node.values[0]
        others = [a for a in node.args if not self.rowed(a)]
        if more or not self.after.isdisjoint(others):
            return False
        if isinstance(node.op, ReduceSum | Dot) and self.is_sum(node, tag):
            return True
        kind = next_kind(node, [a in self.tags for a in node.args], tag)
        if kind is None or not self.is_followed(node, rows) or value not in self.made:
            return False
        self.tags[value] = Tag(kind, tag.of)
        if kind in ("centred", "squares"):  # only what the mean is taken off is read
            self.made[value] = RowFold(lambda i, rows, states: (rows[0],))
        return True

    def is_shifted(self, node: Node) -> bool:
        """Whether a node takes from each row the greatest or least of all, or their mean."""
        (x, s), value = node.args, node.values[0]
        g = s.args[0] if isinstance(s.op, Broadcast) and 0 not in s.op.axes else s
        total, best = mean_of(g), extremum_of(g)
        if (g is s and s.shape) or not x.type.is_float or x.type.kind == "c" or self.span(x) != range(self.count):
            return False
        if total is not None and total in self.folds and total.args[0] is x:
            self.made[value] = RowFold(lambda i, rows, states: (rows[0],))
            self.reads[value], self.tags[value] = (Read(x, "row"),), Tag("centred", total)
        elif best in self.folds and self.folds[best].outs == ("max",):
            self.shift(g, best)
            row = self.row_type(x)
            axes = tuple([a - 1 for a in s.op.axes]) if isinstance(s.op, Broadcast) and not self.blocks.get(x) else ()
            if g.shape and self.blocks.get(x):
                return False
            self.made[value] = RowFold(lambda i, rows, states: (sub(rows[0], broadcast(rows[1], row.shape, axes)),))
            self.reads[value] = (Read(x, "row"), Read(Shift(g), "row"))
            self.tags[value] = Tag("shifted", g)
        else:
            return False
        if x in self.blocks:
            self.blocks[value] = self.blocks[x]
        return True

    def shift(self, g: Value, best: Value) -> None:
        """Have a step know what an extremum is by then, and how it changed."""
        if Shift(g) not in self.made:
            self.made[Shift(g)], self.reads[Shift(g)] = shift_of(g, best, self.folds[best]), self.reads[best]
            self.made[Shift(g, True)], self.reads[Shift(g, True)] = change_of(g), (Read(Shift(g), "row"),)

    def is_sum(self, node: Node, tag: Tag) -> bool:
        """Whether a node sums what is scaled, or squares of what is centred."""
        value, x = node.values[0], node.args[0]
        block, reverse = self.blocks.get(x, 0), self.loop.reverse
        if tag.kind == "squares" and isinstance(node.op, ReduceSum):
            axes = cast("ReduceSum", tag.of.op).axes
            if not set(axes) <= {*node.op.axes}:
                return False
            fold = deviations(node, axes, self.count, reverse=reverse, block=block)
            return self.is_folded(node, fold, (Read(x, "row"),))
        every = range(self.count)
        fold = fold_of(node, every, self.count, reverse=reverse, block=block) if tag.kind == "scaled" else None
        if fold is None or (tag.of.shape and not (isinstance(node.op, ReduceSum) and value.shape == tag.of.shape)):
            return False
        flags = (True,) * len(node.args)
        reads = self.read(node, every, flags, block)
        if reads is None:
            return False
        change = Read(Shift(tag.of, True), "row")
        return self.is_folded(node, rescaled(fold, tag.of, value.type), (*reads, change))

    # --- whether it is worth it

    def close(self) -> bool:
        """Drop what is made of rows that are needed anyway; whether what is left is worth it."""
        self.keep([r for r in self.fn.results if self.rowed(r)])
        self.gone = [s for s in self.sources if s not in self.kept]
        reached = set[Key](self.gone)
        for key in (*self.made, *self.folds):
            if not reached.isdisjoint([r.key for r in self.reads[key]]):
                reached.add(key)
        self.folds = {v: f for v, f in self.folds.items() if v in reached}
        left = [v for v in self.kept if v in self.made and v in reached]
        needed = {r.key for v in self.folds for r in self.reads[v]}.union(left)
        for key in reversed(self.made):
            needed.update([r.key for r in self.reads[key]] if key in needed else ())
        self.made = {v: op for v, op in self.made.items() if v in needed}
        self.thin(left)
        self.kept = dict.fromkeys([v for v in left if Thin(v) not in self.folds])
        size = sum([s.type.bytes for s in self.gone if s in needed])
        is_slow = any(map(self.is_slow, [v for v in (*self.made, *self.folds) if isinstance(v, Value)]))
        held = [type for fold in (*self.made.values(), *self.folds.values()) for type in fold.states]
        stacked = [self.row_type(v).stacked(self.loop.length) for v in self.kept]
        small = sum([t.bytes for t in (*stacked, *held)]) * SMALLER <= size - LARGE * is_slow
        return bool(self.folds or left) and small and len(held) <= MOST

    def thin(self, left: Sequence[Value]) -> None:
        """Have some of the rows that are kept written to an array of their own, where others are not."""
        for value in left:
            span = self.span(value)
            if self.is_derived and len(span) * SMALLER <= self.count:
                self.folds[Thin(value)] = thinned(value.type.row, span, self.count, reverse=self.loop.reverse)
                self.reads[Thin(value)] = (Read(value, "row"),)

    def is_better_later(self, node: Node) -> bool:
        """Whether an operation is slower in the loop, and all rows that it reads are small."""
        rows, least = [a for a in node.args if self.rowed(a)], min([s.type.bytes for s in self.sources])
        return sum([a.type.bytes for a in rows]) * SMALLER <= least and _is_short(
            node, node.types[0].size // self.count
        )

    def is_slow(self, value: Value) -> bool:
        """Whether something takes longer inside the loop: what processors do for several elements at a time."""
        if isinstance(value.op, Elementwise):
            return _is_short(value.node, self.row_type(value).size)
        if isinstance(value.op, Dot):
            return value in self.made and max([a.type.size for a in value.args if not self.rowed(a)], default=0) > NEAR
        is_smooth = value.op.name in ("reduce_max", "reduce_min") and value.type.is_float
        return is_smooth and not self.is_derived


def _is_short(node: Node, size: int) -> bool:
    """Whether an operation on each of so many elements is one that processors do for several at a time."""
    return isinstance(node.op, Elementwise) and size < WIDE and node.op.name not in CHEAP
