"""Matrices in local memory, for loops over rows that stay in cache: each row is some aligned vectors.

Of complex matrices the real and the imaginary parts lie apart. What does not fill the last vector of a row is zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, final

from pliant.backends.llvm.lanes import BYTES
from pliant.backends.llvm.math import apply
from pliant.backends.llvm.tiles import BLOCK, turned
from pliant.backends.llvm.values import Parts, float_text, llvm_type, parts_of
from pliant.core.data import frozen
from pliant.core.types import real_dtype
from pliant.kernel.ir import Affine, Buffer, Var, root_of
from pliant.ops.elementwise import Div

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter

VECTOR: Final = 64  # bytes; processors with shorter ones take several
WIDEST: Final = 4  # vectors of a row that are at hand at the same time


@final
@frozen
class Piece:
    """Operations on the numbers of one vector of a row: `count` columns from `first` on, in `width` lanes."""

    e: Emitter
    dtype: str
    first: int
    count: int
    width: int

    @cached_property
    def kind(self) -> str:
        """The LLVM type of each part."""
        t = llvm_type(self.dtype)
        return t if self.width == 1 else f"<{self.width} x {t}>"

    def op(self, name: str, x: str, y: str) -> str:
        """One instruction on two vectors."""
        return self.e.op(f"{name} {self.kind} {x}, {y}")

    def all(self, x: Parts) -> Parts:
        """Vectors of one number."""
        if self.width == 1:
            return x
        t, zeros = llvm_type(self.dtype), f"<{self.width} x i32> zeroinitializer"
        ones = [self.e.op(f"insertelement {self.kind} poison, {t} {part}, i64 0") for part in x]
        return tuple([self.e.op(f"shufflevector {self.kind} {one}, {self.kind} poison, {zeros}") for one in ones])

    def less_product(self, x: Parts, y: Parts, z: Parts) -> Parts:
        """x - y·z, each rounded: what cancels exactly in NumPy does here."""
        return tuple([self.op("fsub", a, b) for a, b in zip(x, self.product(y, z), strict=True)])

    def plus_product(self, x: Parts, y: Parts, z: Parts) -> Parts:
        """x + y·z, rounded once if the processor can."""
        if len(x) == 1:
            return (self._sum(x[0], y[0], z[0]),)
        (a, b), (c, d) = y, z
        less = self.e.op(f"fneg {self.kind} {b}")
        return self._sum(self._sum(x[0], a, c), less, d), self._sum(self._sum(x[1], a, d), b, c)

    def _sum(self, x: str, y: str, z: str) -> str:
        """One part of x + y·z."""
        if self.width == 1:
            return self.e.call(f"llvm.fmuladd.{self.dtype}", self.dtype, y, z, x)
        function = f"@llvm.fmuladd.v{self.width}{self.dtype}"
        self.e.module.declared[function] = f"declare {self.kind} {function}({', '.join([self.kind] * 3)})"
        return self.e.op(f"call {self.kind} {function}({self.kind} {y}, {self.kind} {z}, {self.kind} {x})")

    def product(self, x: Parts, y: Parts) -> Parts:
        """x·y."""
        if len(x) == 1:
            return (self.op("fmul", x[0], y[0]),)
        (a, b), (c, d) = x, y
        real = self.op("fsub", self.op("fmul", a, c), self.op("fmul", b, d))
        return real, self.op("fadd", self.op("fmul", a, d), self.op("fmul", b, c))

    def sum(self, x: str) -> str:
        """The sum of all lanes of one part."""
        if self.width == 1:
            return x
        function, t = f"@llvm.vector.reduce.fadd.v{self.width}{self.dtype}", llvm_type(self.dtype)
        self.e.module.declared[function] = f"declare {t} {function}({t}, {self.kind})"
        return self.e.op(f"call reassoc {t} {function}({t} {float_text(-0.0, self.dtype)}, {self.kind} {x})")

    def divided(self, x: Parts, divisor: Parts) -> Parts:
        """x by what `divisor` made of a number."""
        return self.product(x, divisor) if len(x) == 2 else (self.op("fdiv", x[0], divisor[0]),)

    def chosen(self, condition: str, x: Parts, y: Parts) -> Parts:
        """x where a condition on lanes holds, y elsewhere."""
        c = "i1" if self.width == 1 else f"<{self.width} x i1>"
        pairs = zip(x, y, strict=True)
        return tuple([self.e.op(f"select {c} {condition}, {self.kind} {a}, {self.kind} {b}") for a, b in pairs])

    def compared(self, test: str, column: str) -> str:
        """For each lane, how its column compares with one, by an integer comparison."""
        if self.width == 1:
            return self.e.op(f"icmp {test} i64 {self.first}, {column}")
        kind = f"<{self.width} x i32>"
        columns = ", ".join([f"i32 {self.first + n}" for n in range(self.width)])
        one = self.e.op(f"insertelement {kind} poison, i32 {self.e.op(f'trunc i64 {column} to i32')}, i64 0")
        other = self.e.op(f"shufflevector {kind} {one}, {kind} poison, {kind} zeroinitializer")
        return self.e.op(f"icmp {test} {kind} <{columns}>, {other}")

    @property
    def zero(self) -> str:
        """One part of a vector of zeros."""
        return float_text(0.0, self.dtype) if self.width == 1 else "zeroinitializer"


def divisor(e: Emitter, dtype: str, x: Parts) -> Parts:
    """What numbers are divided by: a real number itself, the reciprocal of a complex one."""
    if len(x) == 1:
        return x
    one = float_text(1.0, dtype), float_text(0.0, dtype)
    return parts_of(apply(e, Div(), dtype, (dtype, dtype), (one, (x[0], x[1]))))


def conjugate(e: Emitter, dtype: str, x: Parts) -> Parts:
    """The conjugate of a number."""
    return x if len(x) == 1 else (x[0], e.op(f"fneg {llvm_type(dtype)} {x[1]}"))


def conjugate_all(e: Emitter, kind: str, x: Parts) -> Parts:
    """The conjugates of a vector."""
    return x if len(x) == 1 else (x[0], e.op(f"fneg {kind} {x[1]}"))


def size_of(e: Emitter, dtype: str, x: Parts) -> str:
    """LAPACK's measure of a number."""
    first, *others = [e.call(f"llvm.fabs.{real_dtype(dtype)}", real_dtype(dtype), part) for part in x]
    return e.op(f"fadd {llvm_type(dtype)} {first}, {others[0]}") if others else first


def is_zero(e: Emitter, dtype: str, x: Parts) -> str:
    """Whether a number is zero, as an i1."""
    zero = float_text(0.0, real_dtype(dtype))
    first, *others = [e.op(f"fcmp oeq {llvm_type(dtype)} {part}, {zero}") for part in x]
    return e.op(f"and i1 {first}, {others[0]}") if others else first


@final
@frozen
class Panel:
    """A matrix of a dtype in local memory. skipped: vectors at the beginning of each row that are left out."""

    e: Emitter
    dtype: str
    rows: int
    columns: int
    memory: str = field(repr=False)
    skipped: int = 0

    @classmethod
    def new(cls, e: Emitter, dtype: str, rows: int, columns: int) -> Panel:
        """Memory for a matrix."""
        found = cls(e, dtype, rows, columns, "")
        size = found.pitch * rows * (2 if dtype[0] == "c" else 1)
        return replace(found, memory=e.alloca(f"[{size} x {llvm_type(dtype)}], align {VECTOR}"))

    @property
    def lanes(self) -> int:
        """How many numbers a whole vector has."""
        return VECTOR // BYTES[real_dtype(self.dtype)]

    @cached_property
    def pieces(self) -> list[Piece]:
        """The vectors of a row that are not left out."""
        counts = [(at, min(self.lanes, self.columns - at)) for at in range(0, self.columns, self.lanes)]
        real = real_dtype(self.dtype)
        every = [Piece(self.e, real, at, count, 1 << (count - 1).bit_length()) for at, count in counts]
        return every[self.skipped :]

    @property
    def pitch(self) -> int:
        """Numbers from row to row."""
        few = 1 << (self.columns - 1).bit_length()
        return few if few < self.lanes else -(-self.columns // self.lanes) * self.lanes

    def at(self, row: str, column: str | int = 0) -> Parts:
        """The addresses of the parts of a number."""
        t, size = llvm_type(self.dtype), self.pitch * self.rows
        index = self.e.op(f"mul nuw nsw i64 {row}, {self.pitch}") if self.pitch > 1 else row
        index = index if column == 0 else self.e.op(f"add nuw nsw i64 {index}, {column}")
        first = self.e.op(f"getelementptr inbounds {t}, ptr {self.memory}, i64 {index}")
        if self.dtype[0] != "c":
            return (first,)
        return first, self.e.op(f"getelementptr inbounds {t}, ptr {first}, i64 {size}")

    def get(self, row: str, column: str | int) -> Parts:
        """A number."""
        t = llvm_type(self.dtype)
        return tuple([self.e.op(f"load {t}, ptr {place}") for place in self.at(row, column)])

    def put(self, row: str, column: str | int, x: Parts) -> None:
        """Write a number."""
        for part, place in zip(x, self.at(row, column), strict=True):
            self.e.line(f"store {llvm_type(self.dtype)} {part}, ptr {place}")

    def row(self, row: str) -> list[Parts]:
        """The vectors of a row."""
        return [self._read(place, piece) for place, piece in self._places(row)]

    def put_row(self, row: str, vectors: list[Parts]) -> None:
        """Write the vectors of a row."""
        for (places, piece), x in zip(self._places(row), vectors, strict=True):
            for part, place in zip(x, places, strict=True):
                self.e.line(f"store {piece.kind} {part}, ptr {place}, align {self._align(piece)}")

    def _places(self, row: str) -> list[tuple[Parts, Piece]]:
        t, starts = llvm_type(self.dtype), self.at(row)
        return [
            (tuple([self.e.op(f"getelementptr inbounds {t}, ptr {at}, i64 {piece.first}") for at in starts]), piece)
            for piece in self.pieces
        ]

    def _read(self, places: Parts, piece: Piece) -> Parts:
        return tuple([self.e.op(f"load {piece.kind}, ptr {at}, align {self._align(piece)}") for at in places])

    def _align(self, piece: Piece) -> int:
        return piece.width * BYTES[piece.dtype]

    def fill(self, buffer: Buffer, start: Affine, row: Var, stride: int) -> None:
        """Read a row from a buffer, in which rows are so many elements apart."""
        found = list[Parts]()
        for piece in self.pieces:
            found.append(self._whole(buffer, start + Affine(piece.first, ((row, stride),)), piece))
        self.put_row(self.e.env[row], found)

    def _whole(self, buffer: Buffer, offset: Affine, piece: Piece) -> Parts:
        """Adjacent elements of a buffer as vectors, with zeros behind them."""
        e, t, count = self.e, llvm_type(self.dtype), piece.count
        meta = e.written.get(root_of(buffer), e.others)
        parts = 2 if self.dtype[0] == "c" else 1
        if count == 1:
            return parts_of(e.load(buffer, offset))
        kind = f"<{parts * count} x {t}>"
        place = e.address(buffer, offset)
        x = e.op(f"load {kind}, ptr {place}, align {BYTES[piece.dtype]}{meta}")
        if parts == 1 and count == piece.width:
            return (x,)
        masks = [[n * parts + part for n in range(count)] for part in range(parts)]
        more = [parts * count] * (piece.width - count)
        return tuple([shuffled(e, kind, x, "zeroinitializer", mask + more) for mask in masks])

    def empty(self, buffer: Buffer, start: Affine, row: Var, stride: int, target: Var | None = None) -> None:
        """Write a row to a buffer, in which rows are so many elements apart; to its row `target` if that is another."""
        e, t = self.e, llvm_type(self.dtype)
        meta = e.written.get(root_of(buffer), "")
        for piece, x in zip(self.pieces, self.row(e.env[row]), strict=True):
            at, count = start + Affine(piece.first, ((target or row, stride),)), piece.count
            if count == 1:
                e.store(buffer, at, (x[0], x[1]) if len(x) == 2 else x[0])
                continue
            mask = [n + part * piece.width for n in range(count) for part in range(len(x))]
            is_whole = len(x) == 1 and count == piece.width
            whole = x[0] if is_whole else shuffled(e, piece.kind, x[0], x[-1], mask)
            e.line(f"store <{len(mask)} x {t}> {whole}, ptr {e.address(buffer, at)}, align {BYTES[piece.dtype]}{meta}")

    def turn_in(self, buffer: Buffer, start: Affine) -> None:
        """Read a matrix transposed."""
        self._clear()
        wide, meta = buffer.type.shape[-1], self.e.written.get(root_of(buffer), self.e.others)

        def tile(row: Var, column: Var) -> None:
            source = self.e.address(buffer, start + Affine(0, ((row, wide),)) + Affine(0, ((column, 1),)))
            self._turn(source, wide, meta, self.at(self.e.env[column], self.e.env[row])[0], self.pitch, "")

        def one(row: Var, column: Var) -> None:
            x = self.e.load(buffer, start + Affine(0, ((row, wide),)) + Affine(0, ((column, 1),)))
            for part, place in zip(parts_of(x), self.at(self.e.env[column], self.e.env[row]), strict=True):
                self.e.line(f"store {llvm_type(self.dtype)} {part}, ptr {place}")

        self._squares(buffer.type.shape[-2:], tile, one)

    def turn_out(self, buffer: Buffer, start: Affine) -> None:
        """Write a matrix transposed."""
        wide, meta = buffer.type.shape[-1], self.e.written.get(root_of(buffer), "")

        def tile(row: Var, column: Var) -> None:
            target = self.e.address(buffer, start + Affine(0, ((row, wide),)) + Affine(0, ((column, 1),)))
            self._turn(self.at(self.e.env[column], self.e.env[row])[0], self.pitch, "", target, wide, meta)

        def one(row: Var, column: Var) -> None:
            x = self.get(self.e.env[column], self.e.env[row])
            at = start + Affine(0, ((row, wide),)) + Affine(0, ((column, 1),))
            self.e.store(buffer, at, (x[0], x[1]) if len(x) == 2 else x[0])

        self._squares(buffer.type.shape[-2:], tile, one)

    def _clear(self) -> None:
        """Fill what columns leave of the last vectors: operations on what happens to lie there may take long."""
        last = self.pieces[-1]
        if last.count == last.width:
            return
        row, ends = Var(self.rows), replace(self, skipped=self.skipped + len(self.pieces) - 1)
        zeros = (last.zero,) * (2 if self.dtype[0] == "c" else 1)
        bounds, wish = ("0", str(self.rows)), self.e.module.not_unrolled()
        self.e.loop(row, lambda: ends.put_row(self.e.env[row], [zeros]), bounds, wish)

    def _squares(
        self, shape: tuple[int, ...], tile: Callable[[Var, Var], None], one: Callable[[Var, Var], None]
    ) -> None:
        """Run a body for all squares; the last ones begin earlier. one: a body for each element, if there is none."""
        e, wish, starts = self.e, self.e.module.not_unrolled(), [Var(n) for n in shape]
        has_squares = min(shape) >= BLOCK and self.dtype[0] != "c"
        steps = [Var(-(-n // BLOCK)) for n in shape] if has_squares else starts

        def square() -> None:
            for start, number in zip(starts, steps, strict=True):
                place = e.op(f"mul nuw nsw i64 {e.env[number]}, {BLOCK}")
                e.env[start] = e.op(f"call i64 @llvm.umin.i64(i64 {place}, i64 {start.extent - BLOCK})")
            tile(*starts)
            del e.env[starts[0]], e.env[starts[1]]

        i, j = steps
        body = square if has_squares else lambda: one(i, j)
        e.loop(i, lambda: e.loop(j, body, ("0", str(j.extent)), wish), ("0", str(i.extent)), wish)

    def _turn(self, source: str, apart: int, meta: str, target: str, wide: int, written: str) -> None:
        """Turn a square over. apart, wide: numbers from row to row of the source and the target."""
        e, item = self.e, BYTES[self.dtype]
        kind, rows = f"<{BLOCK} x i{8 * item}>", list[str]()
        for r in range(BLOCK):
            at = e.op(f"getelementptr inbounds i{8 * item}, ptr {source}, i64 {r * apart}")
            rows.append(e.op(f"load {kind}, ptr {at}, align {item}{meta}"))
        for c, x in enumerate(turned(e.lines, rows, kind, item, e.fresh("t"))):
            at = e.op(f"getelementptr inbounds i{8 * item}, ptr {target}, i64 {c * wide}")
            e.line(f"store {kind} {x}, ptr {at}, align {item}{written}")


def shuffled(e: Emitter, kind: str, x: str, y: str, places: list[int]) -> str:
    """Elements of two vectors, those of the second counted on from those of the first."""
    mask = ", ".join([f"i32 {n}" for n in places])
    return e.op(f"shufflevector {kind} {x}, {kind} {y}, <{len(places)} x i32> <{mask}>")
