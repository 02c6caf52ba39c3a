"""Small matrix products in the program itself: a block of the result at a time stays in registers.

    for each block of columns:
        for each block of rows:
            totals[i] = 0, or the rows that the product is added to, as vectors
            for each term t:
                totals[i] += left[i, t] · right[t, :]

Columns of a right operand whose rows are not contiguous are copied first, unless they are read only once or twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, final

from pliant.backends.llvm.emit import Emitter
from pliant.backends.llvm.lanes import BYTES, Lanes
from pliant.backends.llvm.module import Module
from pliant.backends.llvm.values import llvm_type
from pliant.core.data import frozen
from pliant.kernel.ir import Affine, Product, Var

DEEPEST: Final = 64  # terms; with more, what is for any size is as fast
LARGEST: Final = 64  # rows or columns, whichever are fewer
UNROLLED: Final = 8  # terms that need no loop
SHARED: Final = 4096  # multiplications, beside which a call is nothing: such products have a function for all alike
SHARED_FUNCTION: Final = (
    "declare void {0}(ptr nocapture readonly, ptr nocapture readonly, ptr nocapture) "
    "nounwind nofree nosync willreturn memory(argmem: readwrite)"
)
"""What LLVM finds out itself of a function whose code it sees."""
TALLEST: Final = 8  # rows at a time
REGISTERS: Final = {16: 8, 32: 12, 64: 24}  # vectors of the result, by their bytes
WHOLE: Final = {16: 4, 32: 3, 64: 4}
"""Vectors of a row that is not cut: with those of the result beside them and one more they are all in registers."""


def is_small(step: Product) -> bool:
    """Whether a product is faster in the program than by what is for any size."""
    m, n, k = step.sizes
    return step.out.type.dtype in BYTES and 1 < min(m, n) <= LARGEST and 0 < k <= DEEPEST


def emit_small(e: Emitter, step: Product, left: Affine, right: Affine, out: Affine) -> None:
    """The product of the matrices that begin at `left` and `right`; the result begins at `out`."""
    if math.prod(step.sizes) < SHARED:
        emit_here(e, step, left, right, out)
        return

    def text(name: str) -> str:
        return shared_text(e.module, name, step)

    name, is_copied = shared_name(step), step.right.column != 1  # by a loop that LLVM makes vectors of
    name = e.module.helper(name, text) if is_copied else e.module.in_vectors(name, SHARED_FUNCTION, text)
    memory = (step.left.buffer, left), (step.right.buffer, right), (step.out, out)
    places = ", ".join([f"ptr {e.address(buffer, at)}" for buffer, at in memory])
    e.call_for_effect(f"void {name}({places})")


def shared_name(step: Product) -> str:
    """The name of the function for all products like one: what its code depends on."""
    strides = (step.left.row, step.left.column, step.right.row, step.right.column)
    words = map(str, (*step.sizes, *strides, step.out.type.dtype, "more" if step.start else "alone"))
    return "_".join(["product", *words]).replace("-", "minus")


def shared_text(module: Module, name: str, step: Product) -> str:
    """The function: (left, right, out), the addresses of the first elements."""
    e = Emitter(module, name, "ptr %left, ptr %right, ptr %out")
    left, right, out = (e.memory_at(step.out.type, f"%{place}") for place in ("left", "right", "out"))
    left, right = replace(step.left, buffer=left), replace(step.right, buffer=right)
    e.begin_step([out])
    emit_here(e, replace(step, left=left, right=right, out=out, start=step.start and out), *[Affine()] * 3)
    return e.text()


def emit_here(e: Emitter, step: Product, left: Affine, right: Affine, out: Affine) -> None:
    """The code itself."""
    n, width = step.sizes[1], e.module.widths[-1]
    lanes = width // BYTES[step.out.type.dtype]
    most = min(n, vectors_at_once(-(-n // lanes), width) * lanes)

    def columns(first: Affine, count: int) -> None:
        pieces = [(at, min(lanes, count - at)) for at in range(0, count, lanes)]
        Block(e, step, left, right + first * step.right.column, out + first, pieces).all_rows()

    count, rest = divmod(n, most)
    repeat(e, count, lambda j: columns(j * most, most))
    if rest:
        columns(Affine(count * most), rest)


def vectors_at_once(count: int, width: int) -> int:
    """How many of the vectors of a row are computed at a time, of so many bytes each."""
    return count if count <= WHOLE[width] else 2 if count <= 4 else 3


def rows_at_once(count: int, vectors: int, width: int) -> int:
    """How many of so many rows are computed at a time, if that many vectors of each are."""
    return min(count, TALLEST, max(REGISTERS[width] // vectors, 1))


def repeat(e: Emitter, count: int, body: Callable[[Affine], None]) -> None:
    """A body for each of `count` indices, by a loop that stays one."""
    if count == 1:
        body(Affine())
        return
    every = Var(count)
    e.loop(every, lambda: body(Affine(0, ((every, 1),))), ("0", str(count)))


@final
@frozen
class Block:
    """Code for some columns of a product; these, the left operand and the result begin at the places given."""

    e: Emitter
    step: Product
    left: Affine
    right: Affine
    out: Affine
    pieces: Sequence[tuple[int, int]]  # the vectors that make up a row: first column, and how many
    copy: str = ""  # the address of a copy of the right operand, row by row

    @property
    def width(self) -> int:
        """How many columns."""
        return sum([lanes for _, lanes in self.pieces])

    def all_rows(self) -> None:
        """All rows."""
        m = self.step.sizes[0]
        rows = rows_at_once(m, len(self.pieces), self.e.module.widths[-1])
        block = self.packed() if self.step.right.column != 1 and m > 2 * rows else self
        count, rest = divmod(m, rows)
        repeat(self.e, count, lambda i: block.rows(i * rows, rows))
        if rest:
            block.rows(Affine(count * rows), rest)

    def rows(self, first: Affine, count: int) -> None:
        """`count` rows from `first` on."""
        (_, n, k), out = self.step.sizes, self.step.out
        places = [
            (self.out + (first + i) * n + at, self.vector(lanes)) for i in range(count) for at, lanes in self.pieces
        ]
        totals = [v.load(out, at) if self.step.start else "zeroinitializer" for at, v in places]
        if k <= UNROLLED:
            for t in range(k):
                totals = self.added(totals, first, count, Affine(t))
        else:
            totals = self.looped(totals, first, count)
        for (at, v), total in zip(places, totals, strict=True):
            v.store(out, at, total)

    def looped(self, totals: Sequence[str], first: Affine, count: int) -> list[str]:
        """The totals with all terms, by a loop."""
        e, kinds = self.e, [self.vector(lanes).kind for _ in range(count) for _, lanes in self.pieces]
        slots = [e.alloca(kind) for kind in kinds]

        def put(values: Sequence[str]) -> None:
            for slot, kind, value in zip(slots, kinds, values, strict=True):
                e.line(f"store {kind} {value}, ptr {slot}")

        def held() -> list[str]:
            return [e.op(f"load {kind}, ptr {slot}") for slot, kind in zip(slots, kinds, strict=True)]

        put(totals)
        repeat(e, self.step.sizes[2], lambda t: put(self.added(held(), first, count, t)))
        return held()

    def added(self, totals: Sequence[str], first: Affine, count: int, t: Affine) -> list[str]:
        """The totals with the products of term t."""
        left, old, new = self.step.left, iter(totals), list[str]()
        rights = [(self.vector(lanes), self.part_of_row(t, at, lanes)) for at, lanes in self.pieces]
        for i in range(count):
            x = str(self.e.load(left.buffer, self.left + (first + i) * left.row + t * left.column))
            new += [v.plus_product(next(old), v.all(x), y) for v, y in rights]
        return new

    def part_of_row(self, t: Affine, at: int, lanes: int) -> str:
        """Some elements of row t of the right operand."""
        right, v = self.step.right, self.vector(lanes)
        if self.copy:
            return v.load_at(self.in_copy(t, Affine(at)))
        if right.column == 1:
            return v.load(right.buffer, self.right + t * right.row + at)
        row = "poison"
        for j in range(lanes):
            x = self.e.load(right.buffer, self.right + t * right.row + (at + j) * right.column)
            row = v.set(row, j, str(x))
        return row

    def packed(self) -> Block:
        """The same, reading a copy of the right operand."""
        e, matrix, k, t = self.e, self.step.right, self.step.sizes[2], llvm_type(self.step.out.type.dtype)
        block = replace(self, copy=e.alloca(f"[{self.width * k} x {t}], align 64"))

        def move(i: Affine, j: Affine) -> None:
            x = e.load(matrix.buffer, self.right + i * matrix.row + j * matrix.column)
            e.line(f"store {t} {x}, ptr {block.in_copy(i, j)}")

        repeat(e, self.width, lambda j: repeat(e, k, lambda i: move(i, j)))
        return block

    def in_copy(self, row: Affine, column: Affine) -> str:
        """The address of an element of the copy."""
        index = self.e.affine(row * self.width + column)
        return self.e.op(f"getelementptr {llvm_type(self.step.out.type.dtype)}, ptr {self.copy}, i64 {index}")

    def vector(self, lanes: int) -> Lanes:
        """Vectors of so many elements."""
        return Lanes(self.e, self.step.out.type.dtype, lanes)
