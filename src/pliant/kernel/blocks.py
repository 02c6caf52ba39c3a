"""Steps over the same long first axis run for a block of rows at a time.

A thousand rows of what one step makes are still in the nearest caches when the next one reads them; of an array that
only these steps touch, a block is all there ever is. Steps form a group if, of all memory that any of them writes, each
touches in its n-th row only the n-th row: then the rows know nothing of each other, and every row takes the steps in
their order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from math import prod
from typing import Final, TypeAlias, final

from pliant.core.data import mutable
from pliant.core.types import Type
from pliant.kernel.cost import FAR, SHARED, rows_in_block
from pliant.kernel.ir import (
    Affine,
    Blocks,
    Buffer,
    Checked,
    Copy,
    Fill,
    Fold,
    Load,
    Loop,
    Nest,
    Product,
    Program,
    Region,
    Routine,
    RowStep,
    Scalar,
    Step,
    Stop,
    Store,
    Var,
    root_of,
    writes,
)
from pliant.kernel.place import assign, last_uses
from pliant.kernel.product import stack_of
from pliant.kernel.schedule import depth_of, scalars
from pliant.kernel.spill import may_fail_halfway
from pliant.kernel.split import LEAST

GRAIN: Final = 64
"""Rows of a block are a multiple of this, if they are many: whole vectors, and whole lines of cache."""


def blocked(program: Program) -> None:
    """Let steps that can run in blocks of rows do so, where that spares the way to memory."""
    given = {root_of(b) for b in program.params}
    fixed = {root_of(b) for b in (*program.params, *program.results)}
    uses = dict[Buffer, int]()  # by how many steps some memory is touched
    for step in program.steps:
        for root in touched(step):
            uses[root] = uses.get(root, 0) + 1
    found, group = list[Step](), Group(0)
    for step in program.steps:
        if group.takes(step) or group.lets_before(step):
            continue
        found += group.finished(uses, fixed, given)
        group = Group(rows_of(step))
        if not group.takes(step):
            found.append(step)
    program.steps = found + group.finished(uses, fixed, given)


def touched(step: Step) -> set[Buffer]:
    """The memory that a step reads or writes."""
    return {root_of(b) for b in (*step.reads, *writes(step))}


def rows_of(step: Step) -> int:
    """How long the first axis of what a step makes is."""
    made = writes(step) if isinstance(step, RowStep) else []
    return made[0].type.shape[0] if made and made[0].type.shape else 0


Place: TypeAlias = tuple[Buffer | None, Affine]


@final
@mutable
class Member:
    """A step over rows: its loops over them, and what memory it writes, and touches elsewhere than in its own row."""

    step: RowStep
    loops: set[Var] = field(default_factory=set[Var])
    written: set[Buffer] = field(default_factory=set[Buffer])
    crooked: set[Buffer] = field(default_factory=set[Buffer])
    is_outermost: bool = True


def member(step: Step, rows: int) -> Member | None:
    """A step as a member of a group; None if it is none over so many rows."""
    match step:
        case Nest() if not (step.is_swept or step.delay or step.limits or 0 in step.space or has_common_fold(step)):
            found = Member(step)
            is_good = _add(found, step.body, step.vars, [(root.buffer, root.offset) for root in step.roots], rows)
        case Fill() if not (step.copied or may_fail_halfway(step)):
            found, loops = Member(step), [s for s in step.body.body if isinstance(s, Loop)]
            is_plain = not any([isinstance(s, Store | Load | Fold | Stop) for s in step.body.body])
            is_good = is_plain and all([not any(s.limits) and _add(found, s.body, s.vars, [], rows) for s in loops])
        case Product() if step.batch[:1] == (rows,) and 0 not in step.sizes:
            found, is_good = Member(step), True
            _add_product(found, step)
        case Routine() if step.stack[:1] == (rows,) and not step.is_of_rows:
            found = Member(step)
            is_good = _add_routine(found, step, rows)
        case _:
            return None
    return found if is_good and found.written and found.crooked.isdisjoint(found.written) else None


def _add(
    found: Member, body: Region, loops: tuple[Var, ...], made: list[tuple[Buffer | None, Affine]], rows: int
) -> bool:
    """Add a statement under loops to a member; whether one of these runs over the rows of all that it writes."""
    inside = list(scalars(body))
    stores = [*made, *[(s.buffer, s.offset) for s in inside if isinstance(s, Store)]]
    every = {*loops, *[v for s in inside if isinstance(s, Fold | Loop) for v in s.vars]}
    if any([buffer is None for buffer, _ in stores]):
        return False
    for v in loops:
        if v.extent % rows == 0 and all([b and in_row(b, at, v, rows, every) for b, at in stores]):
            found.loops.add(v)
            found.is_outermost = found.is_outermost and v is loops[0]
            found.written |= {root_of(b) for b, _ in stores if b}
            loads = [s for s in inside if isinstance(s, Load)]
            found.crooked |= {root_of(s.buffer) for s in loads if not in_row(s.buffer, s.offset, v, rows, every)}
            return True
    return False


def _add_product(found: Member, step: Product) -> None:
    """Add a stack of products, of which each row is some, to a member."""
    loops, starts = stack_of(step)
    m, n, k = [Var(size) for size in step.sizes]
    inner = (((m, step.left.row), (k, step.left.column)), ((k, step.right.row), (n, step.right.column)))
    inner, every = (*inner, ((m, n.extent), (n, 1))), {*loops, m, n, k}
    for buffer, start, terms in zip((step.left.buffer, step.right.buffer, step.out), starts, inner, strict=True):
        if not in_row(buffer, start + Affine(0, terms), loops[0], step.batch[0], every):
            found.crooked.add(root_of(buffer))
    found.written.add(root_of(step.out))


def _add_routine(found: Member, step: Routine, rows: int) -> bool:
    """Add what is computed matrix by matrix, of which each row is some, to a member; whether it can be one."""
    arrays = (*step.args, *step.outs)
    if any([b.type.shape[:1] != (rows,) or not b.type.size for b in arrays]):
        return False
    found.crooked |= {root_of(b) for b in arrays if b.type.bytes != root_of(b).type.bytes}
    found.written |= {root_of(b) for b in step.outs}
    return True


def in_row(buffer: Buffer, offset: Affine, loop: Var, rows: int, loops: Iterable[Var]) -> bool:
    """Whether an offset lies in that row of a buffer which a loop is at; `loops`: all that run."""
    length, rest = divmod(buffer.type.size, rows)
    if rest or not length or buffer.type.bytes != root_of(buffer).type.bytes:
        return False
    times = loop.extent // rows  # steps of the loop for each row
    factor = offset.factor(loop)
    terms = [(a, f) for a, f in offset.terms if a is not loop and (not isinstance(a, Var) or a in loops)]
    span = Affine(offset.start, tuple(terms)).range(looked_up(offset))
    return factor * times == length and span is not None and span[0] >= 0 and span[1] + factor * (times - 1) < length


def looked_up(offset: Affine) -> dict[Scalar, tuple[int, int]]:
    """The least and the greatest value of the indices in an offset that are checked when they have been read."""
    return {atom: (0, max(atom.extent - 1, 0)) for atom, _ in offset.terms if isinstance(atom, Checked)}


def has_common_fold(nest: Nest) -> bool:
    """Whether a nest has a loop inside that does not depend on where it is: each block would run it again."""
    depths, places = dict[Scalar, int](), {v: n + 1 for n, v in enumerate(nest.vars)}
    for s in nest.body.body:
        depths[s] = depth_of(s, depths, places, ())
    return any([isinstance(s, Fold) and not depth for s, depth in depths.items()])


@final
class Group:
    """Steps in turn that may become one, and those between them that can come before."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self.members, self.steps, self.before = list[Member](), list[Step](), list[Step]()
        self.written, self.crooked, self.touched = set[Buffer](), set[Buffer](), set[Buffer]()

    def takes(self, step: Step) -> bool:
        """Add a step, if it can be one of the group."""
        found = member(step, self.rows) if self.rows > 1 else None
        if found is None:
            return False
        written, crooked = self.written | found.written, self.crooked | found.crooked
        if not written.isdisjoint(crooked):
            return False
        self.written, self.crooked = written, crooked
        self.touched |= touched(step)
        self.members.append(found)
        self.steps.append(step)
        return True

    def lets_before(self, step: Step) -> bool:
        """Note a step that has nothing to do with the group so far, and can come before it."""
        is_plain = isinstance(step, Nest | Fill | Copy) and not may_fail_halfway(step)
        made = {root_of(b) for b in writes(step)}
        if not self.members or not is_plain or not self.written.isdisjoint(touched(step)) or made & self.touched:
            return False
        self.before.append(step)
        self.steps.append(step)
        return True

    def finished(self, uses: dict[Buffer, int], fixed: set[Buffer], given: set[Buffer]) -> list[Step]:
        """The steps as they are to run. uses: how many steps touch some memory. fixed: what stays, of which `given` is
        the caller's."""
        made = self.together(uses, fixed, given)
        if made is not None:
            return [*self.before, made]
        if len(self.members) < 2:
            return self.steps
        apart = dict[Step, Step | None]()
        for found in self.members:
            alone = Group(self.rows)
            alone.takes(found.step)
            apart[found.step] = alone.together(uses, fixed, given)
        return [apart.get(step) or step for step in self.steps]

    def together(self, uses: dict[Buffer, int], fixed: set[Buffer], given: set[Buffer]) -> Blocks | None:
        """All members in blocks, if that saves the way to memory, or lets threads share the only one."""
        inner, own = [found.step for found in self.members], dict[Buffer, int]()
        for step in inner:
            for root in touched(step):
                own[root] = own.get(root, 0) + 1
        is_near = sum([root.type.bytes * (count - 1) for root, count in own.items()]) < FAR
        if (len(inner) < 2 or is_near) and not self.is_shared:
            return None  # what is touched again stays near anyway, and a nest is shared by threads by itself
        if any([may_fail_halfway(step) for step in inner]) and not self.written.isdisjoint(given):
            return None
        private = {root for root in self.written - fixed if uses[root] == own[root]}
        size = self.size({*own}, private)
        return in_blocks(self.members, self.rows, size, private) if size else None

    @property
    def is_shared(self) -> bool:
        """Whether it is one step that threads share by its rows."""
        return len(self.members) == 1 and is_shared_by_rows(self.members[0].step)

    def size(self, all_touched: set[Buffer], private: set[Buffer]) -> int:
        """The number of rows of which all that is touched stays near; 0 if blocks are of no use."""
        steps = [found.step for found in self.members]
        room = assign(steps, last_uses(steps), self.written - private)
        others = sum([root.type.bytes for root in all_touched - self.crooked - private])
        size = rows_in_block(-(-(room + others) // self.rows), room // self.rows)
        if not size and self.is_shared:
            size = 1  # matrices that are larger than what stays near
        elif size >= GRAIN:
            size -= size % GRAIN
        elif not all([found.is_outermost for found in self.members]):
            return 0
        return size if 2 * size <= self.rows else 0


def is_shared_by_rows(step: Step) -> bool:
    """Whether threads share a step by its rows, though no other joins it: a nest they share by itself."""
    is_stack = isinstance(step, Product) and prod(step.sizes) < SHARED
    return (isinstance(step, Fill) or is_stack) and step.work >= LEAST


def in_blocks(members: list[Member], rows: int, size: int, private: set[Buffer]) -> Blocks:
    """Steps in blocks of so many rows, with the room of one block for what is private."""
    steps, first, shrunk = [found.step for found in members], Var(rows), set[Buffer]()
    for step in steps:
        shrunk |= {b for b in (*writes(step), *step.reads) if root_of(b) in private}
    moved = set[Load | Store]()
    for step in steps:
        for s in scalars(step.body) if isinstance(step, Nest | Fill) else ():
            if isinstance(s, Load | Store) and s.buffer in shrunk and s not in moved:
                s.offset = in_block(s.offset, s.buffer, first)
                moved.add(s)
        for root in step.roots if isinstance(step, Nest) else ():
            if root.buffer in shrunk:
                root.offset = in_block(root.offset, root.buffer, first)
    for buffer in shrunk:
        shape = buffer.type.shape
        inner = shape[1:] if shape[:1] == (rows,) else (buffer.type.size // rows,)
        buffer.type = Type(buffer.type.dtype, (size, *inner))
    loops = frozenset([v for found in members for v in found.loops])
    return Blocks(steps, Var(rows), size, first, loops, frozenset(shrunk), Buffer(Type("u8", (0,)), None))


def in_block(offset: Affine, buffer: Buffer, first: Var) -> Affine:
    """An offset from the first row of a block on."""
    return offset + Affine(0, ((first, -(buffer.type.size // first.extent)),))
