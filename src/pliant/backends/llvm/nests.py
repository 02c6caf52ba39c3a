"""LLVM code of nests: their loops, what is computed in which of them, and where folds end."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import final

from pliant.backends.llvm.accumulator import BLOCK, Accumulator, blocked
from pliant.backends.llvm.aligned import emit_aligned, first_stored
from pliant.backends.llvm.at_once import lanes_at_once, vectors_at_once
from pliant.backends.llvm.bands import are_far, emit_bands, lies_along
from pliant.backends.llvm.beside import BESIDE, emit_beside
from pliant.backends.llvm.emit import UNROLLED, Emitter, is_number
from pliant.backends.llvm.math import combine
from pliant.backends.llvm.prefetch import prefetch_of
from pliant.backends.llvm.resumed import Resumed
from pliant.backends.llvm.rings import Ring
from pliant.backends.llvm.squares import SIDE, Loop, are_best, are_colliding, emit_squares, fits, stays_at_hand
from pliant.backends.llvm.stacks import Stack, emit_stack, stack_of
from pliant.backends.llvm.streams import Edges, Held, emit_pieces, settle, streamed
from pliant.backends.llvm.tiles import TILE, Turned, emit_tiles, is_far, is_worth_turning, shape_of
from pliant.backends.llvm.values import literal
from pliant.backends.llvm.width import count_functions
from pliant.kernel.identities import identity_of
from pliant.kernel.ir import Affine, Buffer, Choose, Delay, Fold, Load, Nest, Root, Scalar, Var, root_of, writes
from pliant.kernel.schedule import depth_of

MOST_TURNED = 4  # arrays whose tiles are turned over first
SHORT = 1024  # elements of a row that stays near
ADJACENT = 8  # elements; LLVM writes vectors to no place further from the next, but their elements one by one


def emit_nests(e: Emitter, nests: list[Nest], rows: Var | None) -> None:
    """One nest, or several that share their outer loop, over `rows`."""
    nests = alive(nests)
    if not nests:
        return
    e.begin_step([buffer for nest in nests for buffer in writes(nest)])
    emitters = emitters_of(e, nests, rows)
    for emitter in emitters:
        emitter.clear()
        emitter.prepare()
    emit_loops(e, emitters, nests, rows)
    e.end_step()


def alive(nests: list[Nest]) -> list[Nest]:
    """Those nests that do anything."""
    return [nest for nest in nests if 0 not in nest.space and not nest.is_idle]


def emitters_of(e: Emitter, nests: list[Nest], rows: Var | None) -> list[NestEmitter]:
    """Emitters of nests that run one after the other, or row by row."""
    made = {root.buffer for nest in nests for root in nest.roots if root.buffer} if rows else set[Buffer]()
    return [NestEmitter(e, nest, made) for nest in nests]


def emit_loops(e: Emitter, emitters: list[NestEmitter], nests: list[Nest], rows: Var | None) -> None:
    """The loops of nests that are prepared."""
    e.backward, e.is_free = nests[0].backward, not any([nest.is_swept for nest in nests])
    e.vectors = 0 if any([emitter.folds for emitter in emitters]) else vectors_at_once(e.module.own, nests)
    e.costly, e.lanes = any(map(count_functions, nests)), lanes_at_once(e.module.own, nests)
    if rows is None and nests[0].delay:
        emitters[0].delayed(nests[0].delay)
    elif rows is None:
        emitters[0].level(0)
    else:
        for emitter in emitters:
            emitter.begin(0)

        def row() -> None:
            for emitter in emitters:
                e.env[emitter.loops[0]] = e.env[rows]
                emitter.level(1)

        e.loop(rows, row)
        for emitter in emitters:
            emitter.end(0)
    e.backward, e.vectors, e.lanes, e.costly, e.is_free = frozenset(), 0, 0, False, False
    e.ends = {}
    settle(e)


@final
class NestEmitter:
    """The loops of one nest; each scalar is computed in the outermost loop that it depends on."""

    def __init__(self, e: Emitter, nest: Nest, made: set[Buffer]) -> None:
        self.e, self.loops, self.roots, self.is_swept = e, nest.vars, nest.roots, nest.is_swept
        self.limits, self.reads = nest.limits, nest.reads
        self.streamed = streamed(e, nest)
        self.held: Held = {}
        self.turned_over: Turned = {}  # where tiles lie of what is walked across
        self.levels: list[list[Scalar]] = [[] for _ in range(len(self.loops) + 1)]
        depths: dict[Scalar, int] = {}
        places = {v: n + 1 for n, v in enumerate(self.loops)}
        for s in nest.body.body:
            depths[s] = depth = depth_of(s, depths, places, made)
            self.levels[depth].append(s)
        self.folds = {root: self.ending(root) for root in self.roots if root.fold}
        self.totals: dict[Root, Accumulator] = {}
        self.in_block = False  # in a loop after whose blocks totals are brought up to date
        self.keep: Callable[[Root, Accumulator], None] | None = None  # what becomes of a part of a fold over all loops

    def ending(self, root: Root) -> int:
        """The number of loops around the inner loops that a fold runs over."""
        level = len(self.loops)
        while level and self.loops[level - 1] in root.folded:
            level -= 1
        return level

    def in_memory(self, root: Root) -> bool:
        """Whether a fold also runs over a loop outside one it does not run over."""
        return any([v in root.folded for v in self.loops[: self.folds[root]]])

    def clear(self) -> None:
        """Fill the results of folds that add up in memory with what they start from."""
        for root in self.folds:
            if self.in_memory(root):
                self.fill(root)

    def prepare(self) -> None:
        """Give folds their registers."""
        for root, level in self.folds.items():
            if level < len(self.loops):
                self.totals[root] = self.accumulator(root)

    def accumulator(self, root: Root) -> Accumulator:
        """The registers of a fold over inner loops."""
        assert root.fold
        loops = self.loops[self.folds[root] :]
        is_long = math.prod([v.extent for v in loops]) > BLOCK
        return Accumulator(self.e, root.fold.kind, root.fold.dtype, is_long, is_number=is_number(root.scalar))

    def fill(self, root: Root) -> None:
        """Fill the result of a fold with what it starts from."""
        assert root.fold
        assert root.buffer
        value = literal(identity_of(root.fold.kind, root.fold.dtype), root.fold.dtype)
        every, buffer = Var(root.buffer.type.size), root.buffer
        self.e.nested((every,), lambda: self.e.store(buffer, Affine(0, ((every, 1),)), value))

    def level(self, level: int) -> None:
        """What happens inside the first `level` loops."""
        e = self.e
        self.begin(level)
        if level == len(self.loops):
            self.innermost()
        elif across := self.across(level):
            across(level)
        elif stack := self.stack(level):
            self.stacked(level, stack)
        elif self.adds_rows(level):
            self.beside(level)
        elif steps := self.steps_of_block(level):
            self.in_blocks(level, steps)
        elif level == len(self.loops) - 1:
            self.along(level)
        else:
            e.loop(self.loops[level], lambda: self.level(level + 1))
        if level < len(self.loops) and self.loops[level] in self.limits:
            self.rest(level)
        self.end(level)

    def rest(self, level: int) -> None:
        """The elements where a loop has ended early."""
        e, roots = self.e, [root for root in self.roots if self.has_rest(root, self.loops[level])]
        before, e.backward = e.backward, frozenset()

        def from_here(root: Root, loops: Sequence[Var], first: str) -> None:
            if loops:
                e.loop(loops[0], lambda: from_here(root, loops[1:], "0"), (first, str(loops[0].extent)))
                return
            assert root.buffer
            assert root.rest is not None
            e.store(root.buffer, root.offset, literal(root.rest, root.buffer.type.dtype))

        def fill(end: str) -> None:
            for root in roots:
                from_here(root, [v for v in self.loops[level:] if v not in root.folded], end)

        if roots:
            end = e.ends[self.loops[level]]
            end = e.op(f"call i64 @llvm.smax.i64(i64 {end}, i64 0)")
            is_full = e.op(f"icmp sge i64 {end}, {self.loops[level].extent}")
            e.unless(is_full, lambda: fill(end))
        e.backward = before

    def has_rest(self, root: Root, loop: Var) -> bool:
        """Whether a root has elements where a loop has ended early; in memory, folds have them from the start."""
        in_memory = root.fold is not None and self.in_memory(root)
        return root.buffer is not None and root.rest is not None and loop not in root.folded and not in_memory

    def stack(self, level: int) -> Stack | None:
        """How to run a loop over many small arrays, if this is one."""
        if self.limits or self.is_swept or self.held or level == len(self.loops):
            return None
        loop, *inner = self.loops[level:]
        if set(self.loops[level:]) & self.e.backward or any([v.extent > UNROLLED for v in inner]):
            return None
        if any([loop in root.folded or self.in_memory(root) for root in self.folds]):
            return None
        return stack_of(loop, inner, [s for scalars in self.levels[level + 1 :] for s in scalars], self.roots)

    def stacked(self, level: int, stack: Stack) -> None:
        """A loop over many small arrays, several of them side by side."""

        def step() -> None:
            self.turned_over, self.held = {**stack.loads}, {**stack.roots}
            self.level(level + 1)
            self.turned_over, self.held = {}, {}

        emit_stack(self.e, self.loops[level], stack, step, lambda: self.level(level + 1))

    def adds_rows(self, level: int) -> bool:
        """Whether the two innermost loops fold rows into a row in memory, and do nothing else."""
        if level != len(self.loops) - 2 or len(self.folds) < len(self.roots) or self.is_swept:
            return False
        outer, inner = self.loops[level:]
        if {outer, inner} & self.e.backward or outer.extent < 2 * BESIDE or not UNROLLED < inner.extent <= SHORT:
            return False
        if any([isinstance(s, Choose | Fold) for s in self.levels[level + 2]]):
            return False  # LLVM has no vectors for several of these
        return all([outer in root.folded and inner not in root.folded for root in self.roots])

    def beside(self, level: int) -> None:
        """Several rows at a time: what they are folded into is read and written once for all of them."""
        loops, first = (self.loops[level], self.loops[level + 1]), self.levels[level + 1]
        begin, step = (lambda: self.begin(level + 1)), (lambda: self.level(level + 2))
        emit_beside(self.e, loops, first, begin, step, lambda: self.level(level + 1))

    def across(self, level: int) -> Callable[[int], None] | None:
        """How to run the two innermost loops if they walk some array along its rows and another one across."""
        if level != len(self.loops) - 2 or self.is_swept or self.limits:
            return None
        outer, inner = self.loops[level:]
        loads = [s.offset for scalars in self.levels for s in scalars if isinstance(s, Load)]
        if not any([abs(x.factor(inner)) > abs(x.factor(outer)) > 0 for x in loads]):
            return None
        least = min(outer.extent, inner.extent)
        turned = self.turned(level)
        in_squares = least >= SIDE and fits(turned, self.levels, self.roots)
        elements = outer.extent * inner.extent
        if self.folds:
            is_worth = is_far(turned, elements) or are_colliding(turned, inner)
            return self.tiled if least >= TILE and is_worth else None
        if in_squares and are_far(turned, inner, elements):
            return self.banded
        if in_squares and are_best(turned, inner, elements):
            return self.squared
        if least >= TILE and (self.streamed or is_far(turned, elements)):
            return self.tiled
        if in_squares:
            return None if stays_at_hand(turned, inner) else self.squared
        return self.tiled if least >= TILE else None

    def along(self, level: int, bounds: tuple[str, str] | None = None) -> None:
        """The innermost loop, or a part of it."""
        e, loop = self.e, self.loops[level]

        def held(places: Held) -> None:
            self.held = places
            self.level(level + 1)
            self.held = {}

        prefetch = None if self.turned_over else prefetch_of(e, self.levels[level + 1], loop)
        if self.streamed:
            emit_pieces(e, loop, self.streamed, held, bounds, prefetch)
        elif any([t.long for t in self.totals.values()]) and not self.in_block:
            blocked(e, loop, lambda: self.level(level + 1), self.flush, prefetch)
        elif prefetch and e.costly and not self.folds and not self.limits:
            prefetch.run(e, lambda: self.level(level + 1), bounds)
        elif self.is_scattered(loop):
            e.loop(loop, lambda: self.level(level + 1), bounds, e.module.one_by_one())
        elif root := None if bounds or self.held or self.is_swept else first_stored(e, self.roots, self.reads, loop):
            emit_aligned(e, loop, root, lambda: self.level(level + 1))
        else:
            e.loop(loop, lambda: self.level(level + 1), bounds)

    def steps_of_block(self, level: int) -> int:
        """How many steps of a loop around short ones fold a block of elements together; 0 if it is not to be run so."""
        inner = math.prod([v.extent for v in self.loops[level + 1 :]])
        is_around = level < len(self.loops) - 1 and 2 * inner <= BLOCK
        is_long = any([t.long for t in self.totals.values()])
        return BLOCK // inner if is_around and is_long and not self.in_block and not self.streamed else 0

    def in_blocks(self, level: int, steps: int) -> None:
        """A loop and those in it, with the totals of folds brought up to date after each few steps only."""
        e, loop = self.e, self.loops[level]

        def block(first: str, end: str) -> None:
            e.loop(loop, lambda: self.level(level + 1), (first, end))
            self.flush()

        self.in_block = True
        e.blocks(loop, steps, block)
        self.in_block = False

    def is_scattered(self, loop: Var) -> bool:
        """Whether the innermost loop does little but write elements that lie far apart: no vector is written then."""
        places = [root.offset.factor(loop) for root in self.roots if root.buffer]
        is_long = loop.extent > UNROLLED and not self.folds and not self.e.costly
        return is_long and all([abs(stride) > ADJACENT for stride in places])

    def tiled(self, level: int) -> None:
        """The two innermost loops in tiles. What is walked across is read from tiles that are turned over first."""

        def row(turned: Turned, edges: Edges) -> None:
            self.turned_over, self.in_block = turned, True
            self.begin(level + 1)
            resumed.go_on(edges)
            self.along(level + 1, edges)
            self.flush()
            resumed.put_by(edges, lambda: self.end(level + 1))

        (outer, inner), turned = self.loops[level:], self.turned(level)
        totals, shape = [self.totals[root] for root in self.ending_at(level + 1)], shape_of(turned, self.streamed)
        resumed = Resumed(self.e, totals, (outer, inner), shape.tall)
        emit_tiles(self.e, (outer, inner), turned, self.streamed, shape, row)
        self.turned_over, self.in_block = {}, False

    def banded(self, level: int) -> None:
        """The two innermost loops in bands of squares, which ask for what is far."""

        def row(turned: Turned, held: Held, along: Loop) -> None:
            self.turned_over, self.held = turned, held
            self.begin(level + 1)
            along(lambda: self.level(level + 2))
            self.end(level + 1)
            self.held = {}

        (outer, inner), turned = self.loops[level:], self.turned(level)
        used = [*self.levels[level + 2], *[root for root in self.roots if root not in self.streamed]]
        beside = [s for s in used if isinstance(s, Load | Root) and s not in turned and lies_along(s, inner)]
        emit_bands(self.e, (outer, inner), turned, beside, self.streamed, row)
        self.turned_over = {}

    def squared(self, level: int) -> None:
        """The two innermost loops in squares that are turned over in registers."""

        def row(turned: Turned, along: Loop) -> None:
            self.turned_over = turned
            self.begin(level + 1)
            along(lambda: self.level(level + 2))
            self.end(level + 1)

        def usual() -> None:
            self.turned_over = {}
            self.e.loop(outer, lambda: self.level(level + 1))

        outer, inner = self.loops[level:]
        emit_squares(self.e, (outer, inner), self.turned(level), self.roots, row, usual)
        self.turned_over = {}

    def turned(self, level: int) -> list[Load]:
        """Loads of elements that lie side by side along the outer one of the two innermost loops, and of no array
        that is written here."""
        outer, inner = self.loops[level:]
        if {outer, inner} & self.e.backward:
            return []
        written = {root_of(root.buffer) for root in self.roots if root.buffer}
        found = [
            s
            for s in self.levels[level + 2]
            if isinstance(s, Load)
            and s.offset.factor(outer) == 1 < s.offset.factor(inner)
            and is_worth_turning(s, s.offset.factor(inner))
            and s.offset.is_of_loops
            and root_of(s.buffer) not in written
        ]
        return found[:MOST_TURNED]

    def begin(self, level: int) -> None:
        """What comes before the loop of a level."""
        if level == len(self.loops):
            self.e.fixed = frozenset([s for scalars in self.levels[:-1] for s in scalars])
            self.e.steps = self.loops[-1].extent if level else 0
        for s in self.levels[level]:
            if isinstance(s, Load) and s in self.turned_over:
                self.e.values[s] = self.e.load(*self.turned_over[s])
            else:
                self.e.scalar(s)
        if not level:
            self.e.limited(self.limits.items())
        for root in self.ending_at(level):
            self.totals[root].start()

    def end(self, level: int) -> None:
        """What comes after the loop of a level."""
        for root in self.ending_at(level):
            if self.keep and level == 0:
                self.keep(root, self.totals[root])
            else:
                self.finish(root, self.totals[root].value())

    def ending_at(self, level: int) -> list[Root]:
        """Folds with registers that are complete after the loop of a level."""
        return [root for root, at in self.folds.items() if at == level and root in self.totals]

    def flush(self) -> None:
        """The end of a block of the innermost loop."""
        for total in self.totals.values():
            total.flush()

    def innermost(self) -> None:
        """Stores, and steps of folds."""
        e = self.e
        for root in self.roots:
            assert root.scalar
            value = e.folded(root.scalar, root.fold.kind) if root.fold else e.value(root.scalar)
            if root in self.totals:
                self.totals[root].add(value)
            elif root.fold:
                self.finish(root, value)
            elif root.buffer:
                e.store(*self.held.get(root, (root.buffer, root.offset)), value)

    def delayed(self, delay: Delay) -> None:
        """All loops, with a root that waits in a ring of two parts until the part after it is computed."""
        ring = Ring(self.e, self.loops, delay)
        self.held = {delay.root: (delay.ring, ring.place)}
        self.begin(0)
        ring.emit(lambda: self.level(1))

    def finish(self, root: Root, value: str | tuple[str, str]) -> None:
        """Store the value of a fold, or combine it with what is there."""
        assert root.fold
        assert root.buffer
        if self.in_memory(root):
            before = self.e.apart(root.buffer, self.e.load(root.buffer, root.offset))
            value = combine(self.e, root.fold.kind, root.fold.dtype, before, value, is_number=is_number(root.scalar))
        self.e.store(*self.held.get(root, (root.buffer, root.offset)), value)
