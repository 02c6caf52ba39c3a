"""LLVM vectors of adjacent elements: what is written out for small matrices works on these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, final

from pliant.backends.llvm.values import llvm_type
from pliant.core.data import frozen
from pliant.kernel.ir import Affine, Buffer, Var, root_of, strides_of

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter

BYTES: Final = {"f32": 4, "f64": 8}
"""The dtypes that matrices may have here."""


@final
@frozen
class Lanes:
    """Operations on vectors of `count` numbers of one dtype."""

    e: Emitter
    dtype: str
    count: int

    @property
    def kind(self) -> str:
        """Their LLVM type."""
        return f"<{self.count} x {llvm_type(self.dtype)}>"

    def load(self, buffer: Buffer, offset: Affine) -> str:
        """Adjacent elements of a buffer."""
        meta = self.e.written.get(root_of(buffer), self.e.others)
        return self.load_at(self.e.address(buffer, offset), meta)

    def load_at(self, place: str, meta: str = "") -> str:
        """Adjacent elements from an address on."""
        return self.e.op(f"load {self.kind}, ptr {place}, align {BYTES[self.dtype]}{meta}")

    def store(self, buffer: Buffer, offset: Affine, x: str) -> None:
        """Write adjacent elements of a buffer."""
        meta, place = self.e.written.get(root_of(buffer), ""), self.e.address(buffer, offset)
        self.store_at(place, x, meta)

    def store_at(self, place: str, x: str, meta: str = "") -> None:
        """Write adjacent elements from an address on."""
        self.e.line(f"store {self.kind} {x}, ptr {place}, align {BYTES[self.dtype]}{meta}")

    def below(self, count: str) -> str:
        """A mask of the first lanes, or of all if there are fewer."""
        kind = f"<{self.count} x i32>"
        few = self.e.op(f"trunc i64 {self.e.op(f'call i64 @llvm.umin.i64(i64 {count}, i64 {self.count})')} to i32")
        one = self.e.op(f"insertelement {kind} poison, i32 {few}, i64 0")
        all = self.e.op(f"shufflevector {kind} {one}, {kind} poison, {kind} zeroinitializer")
        return self.e.op(f"icmp ugt {kind} {all}, <{', '.join([f'i32 {n}' for n in range(self.count)])}>")

    def load_some(self, place: str, mask: str) -> str:
        """Adjacent elements, of which only some are read; the others are zero."""
        masks, size = f"<{self.count} x i1>", BYTES[self.dtype]
        function = f"@llvm.masked.load.v{self.count}{self.dtype}.p0"
        self.e.module.declared[function] = f"declare {self.kind} {function}(ptr, i32, {masks}, {self.kind})"
        args = f"ptr {place}, i32 {size}, {masks} {mask}, {self.kind} zeroinitializer"
        return self.e.op(f"call {self.kind} {function}({args})")

    def store_some(self, place: str, x: str, mask: str) -> None:
        """Write some of adjacent elements."""
        masks, size = f"<{self.count} x i1>", BYTES[self.dtype]
        function = f"@llvm.masked.store.v{self.count}{self.dtype}.p0"
        self.e.module.declared[function] = f"declare void {function}({self.kind}, ptr, i32, {masks})"
        self.e.line(f"call void {function}({self.kind} {x}, ptr {place}, i32 {size}, {masks} {mask})")

    def op(self, name: str, x: str, y: str) -> str:
        """One instruction on two vectors."""
        return self.e.op(f"{name} {self.kind} {x}, {y}")

    def less_product(self, x: str, y: str, z: str) -> str:
        """x - y·z, each rounded: what cancels exactly in NumPy does here."""
        return self.op("fsub", x, self.op("fmul", y, z))

    def plus_product(self, x: str, y: str, z: str) -> str:
        """x + y·z, rounded once if the processor can."""
        function = f"@llvm.fmuladd.v{self.count}{self.dtype}"
        self.e.module.declared[function] = f"declare {self.kind} {function}({self.kind}, {self.kind}, {self.kind})"
        return self.e.op(f"call {self.kind} {function}({self.kind} {y}, {self.kind} {z}, {self.kind} {x})")

    def all(self, x: str) -> str:
        """A vector of one number."""
        one = self.set("poison", 0, x)
        return self.e.op(f"shufflevector {self.kind} {one}, {self.kind} poison, <{self.count} x i32> zeroinitializer")

    def get(self, x: str, at: int) -> str:
        """An element."""
        return self.e.op(f"extractelement {self.kind} {x}, i64 {at}")

    def set(self, x: str, at: int, number: str) -> str:
        """The vector with another element."""
        return self.e.op(f"insertelement {self.kind} {x}, {llvm_type(self.dtype)} {number}, i64 {at}")

    def joined(self, x: str, y: str, count: int) -> str:
        """The first `count` elements of x, and the others of y."""
        places = [n if n < count else self.count + n for n in range(self.count)]
        mask = ", ".join([f"i32 {n}" for n in places])
        return self.e.op(f"shufflevector {self.kind} {x}, {self.kind} {y}, <{self.count} x i32> <{mask}>")


def place_of(buffer: Buffer, loops: Sequence[Var], *within: Affine | int) -> Affine:
    """The offset of the array that loops over the first axes are at, or of a row or an element of it."""
    strides = strides_of(buffer.type.shape)
    total = Affine(0, tuple([(v, s) for v, s in zip(loops, strides, strict=False) if v.extent != 1]))
    for n, stride in zip(within, strides[len(loops) :], strict=False):
        total = total + n * stride
    return total
