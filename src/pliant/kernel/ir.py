"""What a native program is made of: steps, most of them nests that run scalars over a space of loops."""

from __future__ import annotations

import math
from dataclasses import field
from typing import TYPE_CHECKING, final

from pliant.core.data import frozen, mutable
from pliant.kernel.nest import Delay, FoldShape, Nest, Root, Split
from pliant.kernel.scalars import (
    Affine,
    All,
    Apply,
    Buffer,
    Checked,
    Choose,
    Digit,
    Fold,
    FromIndex,
    Index,
    Literal,
    Load,
    Loop,
    Region,
    Scalar,
    Stop,
    Store,
    Var,
    Within,
    affine,
    index_of,
    number_of_point,
    numbers,
    offset_of,
    root_of,
    strides_of,
)
from pliant.kernel.site import OUT_OF_MEMORY, Site
from pliant.ops.fft import Fft
from pliant.ops.positions import Positions
from pliant.ops.sort import Argpartition, Argsort, Partition, Sort

if TYPE_CHECKING:
    from pliant.core.ir import Node, Value

__all__ = [
    "OUT_OF_MEMORY", "Affine", "All", "Apply", "Blocks", "Buffer", "Checked", "Choose", "Copy", "Delay", "Digit",
    "Fill", "Fold", "FoldShape", "FromIndex", "Host", "Index", "Literal", "Load", "Loop", "Matrix", "Nest",
    "Product", "Program", "Region", "Roles", "Root", "Routine", "RowStep", "Rows", "Run", "Scalar", "Site", "Split",
    "Step", "Stop", "Store", "Var", "Within", "affine", "index_of", "number_of_point", "numbers", "offset_of",
    "root_of", "strides_of", "takes_over", "writes",
]  # fmt: skip


@final
@mutable(eq=False)
class Rows:
    """Nests with a common outer loop: what one makes of a row the next reads while it is in cache."""

    nests: list[Nest]
    split: Split | None = None

    @property
    def reads(self) -> set[Buffer]:
        """Buffers it reads."""
        return {b for nest in self.nests for b in nest.reads}

    @property
    def work(self) -> int:
        """About how many scalar operations it takes."""
        return sum([nest.work for nest in self.nests])


@final
@mutable(eq=False)
class Fill:
    """Statements that fill one buffer in an order of their own."""

    node: Node
    out: Buffer
    leaves: frozenset[Value] = frozenset()
    body: Region = field(default_factory=lambda: Region(None))
    reads: set[Buffer] = field(default_factory=set[Buffer])
    copied: Buffer | None = None  # the operand whose memory `out` could take over
    begins: bool = False  # `out` is that operand but for what the statements write
    early: frozenset[Value] = frozenset()  # operands whose elements may fail, before any is written
    left: frozenset[Value] = frozenset()  # operands that later steps put where they belong
    lengths: tuple[Value | None, ...] = ()  # by axis, from where on nobody looks at the result

    @property
    def work(self) -> int:
        """About how many scalar operations it takes."""
        return 4 * self.out.type.size


@final
@mutable(eq=False)
class Copy:
    """Moves an array, because `out` could not be made where `source` lies, or the other way round."""

    source: Buffer
    out: Buffer
    reason: str

    @property
    def reads(self) -> set[Buffer]:
        """Buffers it reads."""
        return {self.source}

    @property
    def work(self) -> int:
        """About how many scalar operations it takes."""
        return self.out.type.size


@final
@frozen
class Matrix:
    """A matrix, or a stack of them, inside a buffer: offset and strides in elements."""

    buffer: Buffer
    offset: int
    batch: tuple[int, ...]
    row: int
    column: int


@final
@mutable(eq=False)
class Product:
    """out[b] = left[b] @ right[b]; `batch` are the extents of the batch axes.

    start: what `out` holds before, if the product is added to that.
    """

    left: Matrix
    right: Matrix
    out: Buffer
    batch: tuple[int, ...]
    sizes: tuple[int, int, int]  # m, n, k
    start: Buffer | None = None

    @property
    def reads(self) -> set[Buffer]:
        """Buffers it reads."""
        return {self.left.buffer, self.right.buffer} | ({self.start} if self.start else set())

    @property
    def work(self) -> int:
        """About how many scalar operations it takes."""
        return math.prod((*self.batch, *self.sizes)) // 4

    @property
    def is_with_own_transpose(self) -> bool:
        """Whether the right operand is the left one transposed, in the same memory: the product is symmetric."""
        x, y, (m, n, _) = self.left, self.right, self.sizes
        is_same = (x.buffer, x.offset, x.batch) == (y.buffer, y.offset, y.batch)
        return m == n > 1 and is_same and (x.row, x.column) == (y.column, y.row) and self.start is None


@final
@mutable(eq=False)
class Host:
    """A primitive evaluated by its array rule, in Python; `site` is for what that raises."""

    node: Node
    args: tuple[Buffer, ...]
    outs: tuple[Buffer | None, ...]
    site: int = -1

    @property
    def reads(self) -> set[Buffer]:
        """Buffers it reads."""
        return set(self.args)

    @property
    def work(self) -> int:
        """Python takes longer than anything small."""
        return 1 << 20


@final
@mutable(eq=False)
class Routine:
    """A primitive that the target computes by code of its own, matrix by matrix; `site` is for its failure.

    by: who computes it. is_update: the result begins as the first operand.
    """

    node: Node
    args: tuple[Buffer, ...]
    outs: tuple[Buffer, ...]
    by: str
    site: int = -1
    is_update: bool = False

    @property
    def reads(self) -> set[Buffer]:
        """Buffers it reads."""
        return set(self.args)

    @property
    def is_of_rows(self) -> bool:
        """Whether it sorts rows, orders them, selects in them, or transforms them; it cannot fail."""
        return isinstance(self.node.op, Sort | Argsort | Partition | Argpartition | Positions | Fft)

    @property
    def stack(self) -> tuple[int, ...]:
        """How many matrices there are, along each axis."""
        return self.node.args[0].type.shape[:-2]

    @property
    def work(self) -> int:
        """About how many scalar operations it takes."""
        return self.args[0].type.size * self.args[-1].type.shape[-1]


@final
@frozen
class Roles:
    """Memory that changes roles after each step of a loop: that of the carries with these `results`,
    then spare memory.

    before: role n has, after a step, the memory that role `before[n]` had. start: the memory that role
    n begins in. homes: where memory n is in the loop's scratch; None for a result's own memory.
    """

    results: tuple[int, ...]
    before: tuple[int, ...]
    start: tuple[int, ...]
    homes: tuple[int | None, ...]


@final
@mutable(eq=False)
class Run:
    """A loop or a branch: `parts` are the programs of the functions it holds, in their order.

    scratch: bytes for what the parts keep, and for carries that change places, as `roles` says.
    """

    node: Node
    parts: tuple[Program, ...]
    args: tuple[Buffer, ...]
    outs: tuple[Buffer, ...]
    scratch: Buffer
    roles: Roles | None
    carries: list[tuple[int, int]]  # (operand, result) that a carry starts from and ends in
    work: int
    site: int = -1  # for memory that runs out
    pause: int = 0  # steps after which it asks whether a signal has come; 0: it never does
    signal: int = -1  # the site where that is
    unread: frozenset[int] = frozenset()  # results of whose rows nobody looks at those that no step makes

    @property
    def reads(self) -> set[Buffer]:
        """Buffers it reads."""
        return set(self.args)


RowStep = Nest | Fill | Product | Routine
"""What can run for a block of rows."""


@final
@mutable(eq=False)
class Blocks:
    """Steps that run for a block of rows at a time: what one makes of a block the next reads while it is in cache.

    `rows` counts the rows, and `loops` are those loops of the steps that do, perhaps together with others; `first` is
    the first row of the block at hand. private: what has room for one block only, in `room`.
    """

    steps: list[RowStep]
    rows: Var
    size: int
    first: Var
    loops: frozenset[Var]
    private: frozenset[Buffer]
    room: Buffer
    split: Split | None = None

    @property
    def reads(self) -> set[Buffer]:
        """Buffers it reads."""
        return {b for step in self.steps for b in step.reads} - self.private

    @property
    def work(self) -> int:
        """About how many scalar operations it takes."""
        return sum([step.work for step in self.steps])


Step = Nest | Rows | Blocks | Fill | Product | Host | Routine | Run | Copy


@final
@mutable(eq=False)
class Program:
    """Steps in order, and the buffers that carry values between them and the caller."""

    name: str
    params: tuple[Buffer, ...]
    results: tuple[Buffer, ...]
    steps: list[Step]
    sites: list[Site]
    arena: int = 0
    tapes: str = "none"  # whether it makes some, and leaves them to its caller
    fault: str = ""  # why nothing shares memory, if the verifier found the plan that shares it wrong


def takes_over(step: Step) -> list[tuple[Buffer, Buffer]]:
    """(operand, result) where the step could make the result in the operand's memory."""
    match step:
        case Fill():
            return [(step.copied, step.out)] if step.copied else []
        case Product():
            return [(step.start, step.out)] if step.start else []
        case Routine() if step.is_update:
            return [(step.args[0], step.outs[0])]
        case Nest():
            return [(root.base, root.buffer) for root in step.roots if root.base and root.buffer]
        case Run():
            pairs = [(step.args[a], step.outs[r]) for a, r in step.carries]
            return [(a, out) for a, out in pairs if step.args.count(a) == 1]
        case _:
            return []


def writes(step: Step) -> list[Buffer]:
    """Buffers a step writes."""
    match step:
        case Nest():
            made = [root.buffer for root in step.roots if root.buffer]
            return [*made, step.delay.ring] if step.delay else made
        case Rows():
            return [b for nest in step.nests for b in writes(nest)]
        case Blocks():
            made = [b for inner in step.steps for b in writes(inner) if b not in step.private]
            return [*made, step.room] if step.private else made
        case Host():
            return [out for out in step.outs if out]
        case Routine():
            return list(step.outs)
        case Run():
            return [*step.outs, step.scratch]
        case _:
            return [step.out]
