"""The text of one LLVM function: its instructions and basic blocks, and how it reads and writes memory."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Final

from pliant.backends.llvm.module import NARROW, WIDE, Module
from pliant.backends.llvm.values import Val, llvm_type, number_of, parts_of
from pliant.core.types import Type
from pliant.kernel.ir import Affine, Buffer, Checked, Scalar, Var, root_of

SCOPE: Final = "llvm.experimental.noalias.scope.decl"
OWN: Final = -2
"""The slot of memory that has no place in the table."""


class FunctionText:
    """One function, `void name(ptr table, ptr error)` if it has no other parameters. is_narrow: of what width its
    vectors are, see `width`."""

    def __init__(
        self,
        module: Module,
        name: str,
        parameters: str = "ptr noalias %table, ptr noalias %error",
        *,
        is_narrow: bool = False,
    ) -> None:
        self.module, self.name, self.parameters = module, name, parameters
        self.attributes = NARROW if is_narrow else WIDE
        self.names = itertools.count()
        self.head: list[str] = []  # allocas and base pointers, at the top
        self.lines: list[str] = []
        self.block = "start"
        self.places: dict[str, str] = {}  # what was computed of indices in this block
        self.bases: dict[tuple[int, int], str] = {}
        self.slots: dict[int, str] = {}
        self.values: dict[Scalar, Val] = {}
        self.env: dict[Var, str] = {}
        self.reports = False  # it may report an error
        self.is_past_caches = False  # something was written past the caches, and is not settled
        self.can_fail = False  # a function called in this step reports errors
        self.backward: frozenset[Var] = frozenset()  # loops that run from their end, in this step
        self.vectors = 0  # that loops of this step compute at a time; 0: as LLVM likes
        self.lanes = 0  # that their vectors have; 0: as LLVM likes
        self.costly = False  # loops of this step compute functions that take much longer than a mask
        self.ends: dict[Var, str] = {}  # loops that end before their extent, in this step
        self.part: dict[Var, tuple[str, str]] = {}  # where the loops begin and end that are run in part
        self.shifts: dict[Buffer, Affine] = {}  # what is added to all places in a buffer
        self.written: dict[Buffer, str] = {}  # buffer -> its metadata, in this step
        self.others = ""
        self.checks: dict[Checked, str] = {}
        self.unknown: dict[tuple[str, str], str] = {}

    # Text

    def fresh(self, prefix: str) -> str:
        """A new name."""
        return f"%{prefix}{next(self.names)}"

    def line(self, text: str) -> None:
        """Append an instruction without a value."""
        self.lines.append("  " + text)

    def op(self, text: str) -> str:
        """Append an instruction; the name of its value."""
        name = f"%v{next(self.names)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def place(self, text: str) -> str:
        """The value of an instruction that computes an index or an address, which a block needs once."""
        if text not in self.places:
            self.places[text] = self.op(text)
        return self.places[text]

    def call(self, name: str, dtype: str, *args: str, flags: str = "") -> str:
        """Call a function of libm, or an intrinsic, on floats of one dtype. flags: what LLVM may assume."""
        t = llvm_type(dtype)
        function = self.module.function(name, t, len(args))
        return self.op(f"call {flags and flags + ' '}{t} {function}({', '.join(f'{t} {a}' for a in args)})")

    def helper(self, name: str, write: Callable[[str], str]) -> str:
        """The name of a function whose text is written once."""
        return self.module.helper(name, write)

    def call_for_effect(self, call: str) -> None:
        """Append a call whose value is not needed."""
        self.line(f"call {call}")

    def call_complex(self, name: str, dtype: str, x: tuple[str, str]) -> tuple[str, str]:
        """Call a function of libm from complex numbers to complex ones."""
        t = llvm_type(dtype)
        pair = f"{{ {t}, {t} }}"
        made = self.op(f"call {pair} {self.module.complex_function(name, t)}({t} {x[0]}, {t} {x[1]})")
        return self.op(f"extractvalue {pair} {made}, 0"), self.op(f"extractvalue {pair} {made}, 1")

    def complex_function(self, name: str, dtype: str, count: int) -> str:
        """The name of a function of libm of so many complex numbers, declared."""
        return self.module.narrow_library(name, llvm_type(dtype), count)

    def label(self, name: str) -> None:
        """Begin a basic block."""
        self.lines.append(f"{name}:")
        self.block = name
        self.places.clear()

    def alloca(self, type: str) -> str:
        """A local variable; LLVM turns it into registers."""
        name = self.fresh("a")
        self.head.append(f"  {name} = alloca {type}")
        return name

    def unseen(self, type: str, number: str) -> str:
        """A number that LLVM does not know."""
        if (type, number) not in self.unknown:
            self.unknown[type, number] = name = self.fresh("u")
            slot = self.alloca(type)
            self.head.append(f"  store volatile {type} {number}, ptr {slot}")
            self.head.append(f"  {name} = load volatile {type}, ptr {slot}")
        return self.unknown[type, number]

    def text(self) -> str:
        """The whole function."""
        body = "\n".join([*self.head, "  br label %start", "start:", *self.lines, "  ret void"])
        return f"define internal void @{self.name}({self.parameters}) {self.attributes} {{\n{body}\n}}\n"

    def select(self, condition: str, dtype: str, yes: Val, no: Val) -> Val:
        """One of two numbers, by a condition."""
        t, pairs = llvm_type(dtype), zip(parts_of(yes), parts_of(no), strict=True)
        return number_of([self.op(f"select i1 {condition}, {t} {a}, {t} {b}") for a, b in pairs])

    # Memory

    def base(self, buffer: Buffer) -> str:
        """The address of a buffer."""
        key = (buffer.slot, buffer.offset)
        if key not in self.bases:
            if buffer.slot not in self.slots:
                at, name = self.fresh("s"), self.fresh("p")
                self.head.append(f"  {at} = getelementptr ptr, ptr %table, i64 {buffer.slot}")
                self.head.append(f"  {name} = load ptr, ptr {at}, !invariant.load !0")
                self.slots[buffer.slot] = name
            name = self.slots[buffer.slot]
            if buffer.offset:
                moved = self.fresh("b")
                self.head.append(f"  {moved} = getelementptr inbounds i8, ptr {name}, i64 {buffer.offset}")
                name = moved
            self.bases[key] = name
        return self.bases[key]

    def memory_at(self, type: Type, address: str) -> Buffer:
        """Memory that is no other's: what the function is given, or local memory."""
        buffer = Buffer(type, None)
        buffer.slot, buffer.offset = OWN, buffer.number
        self.bases[OWN, buffer.number] = address
        return buffer

    def local(self, dtype: str, count: int, align: int = 64) -> Buffer:
        """Local memory for so many elements."""
        type = Type(dtype, (count,))
        return self.memory_at(type, self.alloca(f"[{type.bytes} x i8], align {align}"))

    def begin_step(self, written: Iterable[Buffer]) -> None:
        """Alias metadata for one step: memory that it writes overlaps no other that it touches."""
        self.written, self.others = {}, ""
        self.checks = {}
        self.values = {}
        buffers = list(dict.fromkeys([root_of(b) for b in written]))
        if len(buffers) > 32:
            return
        scopes = {b: self.module.scope(i) for i, b in enumerate(buffers)}
        for b, scope in scopes.items():
            rest = [s for o, s in scopes.items() if o is not b]
            mine = f", !alias.scope {self.module.tuple_of([scope])}"
            self.written[b] = mine + (f", !noalias {self.module.tuple_of(rest)}" if rest else "")
        for scope in scopes.values() if self.module.alternating else ():  # of each step that LLVM unrolls by itself
            self.module.declared[SCOPE] = f"declare void @{SCOPE}(metadata)"
            self.line(f"call void @{SCOPE}(metadata {self.module.tuple_of([scope])})")
        if scopes:
            self.others = f", !noalias {self.module.tuple_of(list(scopes.values()))}"

    def address(self, buffer: Buffer, offset: Affine, part: int = 0) -> str:
        """The address of an element, or of one part of a complex one."""
        dtype = buffer.type.dtype
        memory = "i8" if dtype == "bool" else llvm_type(dtype)
        offset = offset + self.shifts[buffer] if buffer in self.shifts else offset
        if dtype[0] == "c":
            offset = offset * 2 + part
        index = self.affine(offset)
        base = self.base(buffer)
        return base if index == "0" else self.place(f"getelementptr inbounds {memory}, ptr {base}, i64 {index}")

    def load(self, buffer: Buffer, offset: Affine) -> Val:
        """An element of a buffer."""
        meta = self.written.get(root_of(buffer), self.others)
        dtype = buffer.type.dtype
        if dtype == "bool":
            raw = self.op(f"load i8, ptr {self.address(buffer, offset)}{meta}")
            return self.op(f"icmp ne i8 {raw}, 0")
        t = llvm_type(dtype)
        if dtype[0] == "c":
            re, im = (self.op(f"load {t}, ptr {self.address(buffer, offset, part)}{meta}") for part in (0, 1))
            return re, im
        return self.op(f"load {t}, ptr {self.address(buffer, offset)}{meta}")

    def apart(self, buffer: Buffer, x: Val) -> Val:
        """An element that was loaded, of which LLVM does not know that it lies where this step may write: of a choice
        between what lies there and another number it makes a store by a mask, which takes some processors longer than
        ten others."""
        t = llvm_type(buffer.type.dtype)
        if t == "i1" or root_of(buffer) not in self.written:
            return x
        if isinstance(x, tuple):
            return self.op(f"freeze {t} {x[0]}"), self.op(f"freeze {t} {x[1]}")
        return self.op(f"freeze {t} {x}")

    def store(self, buffer: Buffer, offset: Affine, value: Val) -> None:
        """Write an element of a buffer."""
        meta = self.written.get(root_of(buffer), "")
        dtype = buffer.type.dtype
        if dtype == "bool":
            value = self.op(f"zext i1 {value} to i8")
        t = "i8" if dtype == "bool" else llvm_type(dtype)
        for part, x in enumerate(value if isinstance(value, tuple) else (value,)):
            self.line(f"store {t} {x}, ptr {self.address(buffer, offset, part)}{meta}")

    def affine(self, index: Affine) -> str:
        """An index as an i64."""
        total = ""
        for atom, factor in index.terms:
            if isinstance(atom, Var):
                if atom not in self.env:
                    continue  # a loop of one step, or merged into the next
                name = self.env[atom]
            else:
                name = str(self.values[atom])
            term = name if factor == 1 else self.place(f"mul nsw i64 {name}, {factor}")
            total = self.place(f"add nsw i64 {total}, {term}") if total else term
        if not total:
            return str(index.start)
        return self.place(f"add nsw i64 {total}, {index.start}") if index.start else total
