"""The innermost loops of matrix products: some rows times some columns, whose sums stay in registers.

    for each block of rows:
        totals[i] = 0, as vectors
        for each term t:
            totals[i] += left[i, t] · right[t, :]
        out[i, :] = totals[i], or added to what is there

Rows that a last block lacks are copies of the last row, and are computed and stored again. What does not fill the last
vector of a row is masked.
"""

from __future__ import annotations

from typing import Final, final

from pliant.backends.llvm.emit import Emitter
from pliant.backends.llvm.lanes import BYTES, Lanes
from pliant.backends.llvm.values import llvm_type
from pliant.core.data import frozen
from pliant.kernel.ir import Var


@final
@frozen
class Shape:
    """What a kernel computes at a time."""

    vectors: int  # of a row
    rows: int
    is_whole: bool = False  # the last vector has no mask, which would take a register

    @property
    def name(self) -> str:
        """The name of the function."""
        return f"kernel{self.vectors}{'_whole' * self.is_whole}"


SHAPES: Final = {
    64: (Shape(4, 6), Shape(3, 8), Shape(2, 8), Shape(1, 8)),
    32: (Shape(3, 4, is_whole=True), Shape(3, 3), Shape(2, 6), Shape(1, 8)),
}
"""By bytes of a vector: as many sums as there are registers beside what they are made of, and so many that none waits
for the one before. The first is for most columns."""
PARAMETERS: Final = (
    "ptr noalias readonly %left, i64 %left.row, i64 %left.column, ptr noalias readonly %right, i64 %right.row, "
    "ptr noalias %out, i64 %out.row, i64 %rows, i64 %columns, i64 %terms, i1 %more"
)
"""Addresses of the first elements, elements from one row or column to the next, extents, and whether to add."""
KINDS: Final = ", ".join([parameter.split()[0] for parameter in PARAMETERS.split(", ")])


def most_columns(dtype: str, width: int) -> int:
    """How many columns are computed at a time, by vectors of so many bytes."""
    return SHAPES[width][0].vectors * width // BYTES[dtype]


def kernel_text(e: Emitter, dtype: str, shape: Shape, width: int) -> str:
    """The function for as many columns as fill the vectors of a shape, the last one perhaps in part."""
    v = Lanes(e, dtype, width // BYTES[dtype])
    rest = "" if shape.is_whole else e.op(f"sub nuw nsw i64 %columns, {v.count * (shape.vectors - 1)}")
    kernel = Kernel(e, v, shape.vectors, rest and v.below(rest))
    all_rows, few = shape.rows, shape.rows // 2
    blocks = e.op(f"udiv i64 {e.op(f'add nuw nsw i64 %rows, {all_rows - few - 1}')}, {all_rows}")
    is_none = e.op(f"icmp eq i64 {blocks}, 0")
    every = Var(2)

    def block() -> None:
        kernel.rows(e.op(f"mul nuw nsw i64 {e.env[every]}, {all_rows}"), all_rows)

    e.unless(is_none, lambda: e.loop(every, block, ("0", blocks), e.module.not_unrolled()))
    done = e.op(f"mul nuw nsw i64 {blocks}, {all_rows}")
    e.unless(e.op(f"icmp uge i64 {done}, %rows"), lambda: kernel.rows(done, few))
    return e.text()


@final
@frozen
class Kernel:
    """The code for some vectors of each row."""

    e: Emitter
    v: Lanes
    vectors: int
    mask: str  # of the last vector, if it has one

    def rows(self, first: str, count: int) -> None:
        """`count` rows from one on, or as many as there are."""
        e, kind = self.e, self.v.kind
        last = e.op("sub nuw nsw i64 %rows, 1")
        inside = [e.op(f"add nuw nsw i64 {first}, {n}") for n in range(count)]
        inside = [e.op(f"call i64 @llvm.umin.i64(i64 {at}, i64 {last})") for at in inside]
        lefts = [self.at("%left", e.op(f"mul nuw nsw i64 {at}, %left.row")) for at in inside]
        outs = [self.at("%out", e.op(f"mul nuw nsw i64 {at}, %out.row")) for at in inside]
        slots = [[e.alloca(kind) for _ in range(self.vectors)] for _ in range(count)]
        for slot in [slot for row in slots for slot in row]:
            e.line(f"store {kind} zeroinitializer, ptr {slot}")
        term = Var(2)
        e.loop(term, lambda: self.term(e.env[term], lefts, slots), ("0", "%terms"), e.module.not_unrolled())
        e.unless(e.op("xor i1 %more, true"), lambda: self.added(outs, slots))
        for out, row in zip(outs, slots, strict=True):
            for n, slot in enumerate(row):
                self.store(self.at(out, self.v.count * n), n, e.op(f"load {kind}, ptr {slot}"))

    def term(self, t: str, lefts: list[str], slots: list[list[str]]) -> None:
        """Add the products of one term to all sums."""
        e, v = self.e, self.v
        row = self.at("%right", e.op(f"mul nuw nsw i64 {t}, %right.row"))
        rights = [self.load(self.at(row, v.count * n), n) for n in range(self.vectors)]
        column = e.op(f"mul nuw nsw i64 {t}, %left.column")
        for left, totals in zip(lefts, slots, strict=True):
            x = v.all(e.op(f"load {llvm_type(v.dtype)}, ptr {self.at(left, column)}"))
            for slot, right in zip(totals, rights, strict=True):
                total = v.plus_product(e.op(f"load {v.kind}, ptr {slot}"), x, right)
                e.line(f"store {v.kind} {total}, ptr {slot}")

    def added(self, outs: list[str], slots: list[list[str]]) -> None:
        """Add what is there to the sums."""
        e, v = self.e, self.v
        for out, row in zip(outs, slots, strict=True):
            for n, slot in enumerate(row):
                there = self.load(self.at(out, v.count * n), n)
                total = v.op("fadd", there, e.op(f"load {v.kind}, ptr {slot}"))
                e.line(f"store {v.kind} {total}, ptr {slot}")

    def at(self, base: str, index: str | int) -> str:
        """The address of an element."""
        return self.e.op(f"getelementptr {llvm_type(self.v.dtype)}, ptr {base}, i64 {index}") if index else base

    def load(self, place: str, number: int) -> str:
        """The n-th vector of a row."""
        is_masked = self.mask and number == self.vectors - 1
        return self.v.load_some(place, self.mask) if is_masked else self.v.load_at(place)

    def store(self, place: str, number: int, x: str) -> None:
        """Write the n-th vector of a row."""
        if self.mask and number == self.vectors - 1:
            self.v.store_some(place, x, self.mask)
        else:
            self.v.store_at(place, x)
