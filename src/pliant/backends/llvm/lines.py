"""The text of one LLVM function that works on Python objects, line by line."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Final, final

from pliant.backends.layout import TYPE
from pliant.backends.llvm.capi import numpy_function, python_function
from pliant.backends.llvm.jit import host_target

FEW: Final = 8  # references that are local variables each


@final
class Lines:
    """`ptr entry(ptr %self, ptr %args, i64 %count, ptr %names)`, as a fast-call builtin has it.

    It leaves by one of its ways out: `answer`, `refuse`, `fail` (a Python error is set). On each, what
    it owns is given back. refusal: writes what it answers where it refuses, a new reference.
    """

    def __init__(self, refusal: Callable[[Lines], str]) -> None:
        self.refusal = refusal
        self.head: list[str] = ["  %answer = alloca ptr", "  store ptr null, ptr %answer"]
        self.lines: list[str] = []
        self.owned: list[str] = []  # places of references to give back
        self.last: list[Callable[[], None]] = []  # what else is done on the way out
        self.numbers = itertools.count(1)

    def op(self, text: str) -> str:
        """The result of an instruction."""
        name = f"%v{next(self.numbers)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def line(self, text: str) -> None:
        """An instruction without a result."""
        self.lines.append("  " + text)

    def label(self, stem: str) -> str:
        """A new name for a block."""
        return f"{stem}{next(self.numbers)}"

    def begin(self, label: str) -> None:
        """A block begins here; the one before ends here, unless it has ended."""
        if not self.lines or not self.lines[-1].lstrip().startswith(("br ", "ret ")):
            self.line(f"br label %{label}")
        self.lines.append(f"{label}:")

    def counted(self, count: int) -> Iterator[str]:
        """A loop, of which what is written meanwhile is the body: the number of a step."""
        counter, again, done = self.local("i64"), self.label("again"), self.label("done")
        self.line(f"store i64 0, ptr {counter}")
        self.begin(again)
        number = self.load("i64", counter)
        yield number
        after = self.op(f"add nuw nsw i64 {number}, 1")
        self.line(f"store i64 {after}, ptr {counter}")
        self.line(f"br i1 {self.op(f'icmp ult i64 {after}, {count}')}, label %{again}, label %{done}")
        self.begin(done)

    def local(self, type: str, value: str = "") -> str:
        """The address of a local variable."""
        name = f"%v{next(self.numbers)}"
        self.head.append(f"  {name} = alloca {type}, align 16")
        if value:
            self.head.append(f"  store {type} {value}, ptr {name}")
        return name

    def at(self, pointer: str, offset: int) -> str:
        """An address some bytes further on."""
        return self.op(f"getelementptr i8, ptr {pointer}, i64 {offset}") if offset else pointer

    def further(self, pointer: str, counters: Sequence[str], steps: Sequence[int]) -> str:
        """An address that is some bytes further on at each step of loops."""
        for n, step in zip(counters, steps, strict=True):
            pointer = self.op(f"getelementptr i8, ptr {pointer}, i64 {self.op(f'mul i64 {n}, {step}')}")
        return pointer

    def load(self, type: str, pointer: str, offset: int = 0) -> str:
        """What lies at an address."""
        return self.op(f"load {type}, ptr {self.at(pointer, offset)}")

    def table(self, values: Sequence[str], type: str = "ptr") -> str:
        """The address of a local array of 8-byte values."""
        place = self.local(f"[{max(len(values), 1)} x {type}]")
        for number, value in enumerate(values):
            self.line(f"store {type} {value}, ptr {self.at(place, 8 * number)}")
        return place

    def require(self, condition: str) -> None:
        """Go on only if a condition holds, else refuse."""
        self._go_on(condition, "refuse")

    def require_made(self, thing: str) -> str:
        """Go on only if there is an object, else fail."""
        self._go_on(self.op(f"icmp ne ptr {thing}, null"), "leave")
        return thing

    def require_not_negative(self, status: str) -> None:
        """Go on only if a function of the C API did not fail."""
        self._go_on(self.op(f"icmp sge i32 {status}, 0"), "leave")

    def require_equal(self, type: str, x: str, y: str) -> None:
        """Go on only if two numbers or addresses are equal, else refuse."""
        self.require(self.op(f"icmp eq {type} {x}, {y}"))

    def require_type(self, thing: str, kind: type) -> None:
        """Go on only with an object of exactly this class."""
        self.require_equal("ptr", self.load("ptr", thing, TYPE), constant(kind))

    def _go_on(self, condition: str, otherwise: str) -> None:
        label = self.label("go")
        self.line(f"br i1 {condition}, label %{label}, label %{otherwise}, !prof !0")
        self.lines.append(f"{label}:")

    def call(self, returns: str, name: str, args: str) -> str:
        """Call a function of Python's C API."""
        return self.call_at(returns, f"inttoptr (i64 {python_function(name)} to ptr)", args)

    def call_numpy(self, returns: str, number: int, args: str) -> str:
        """Call a function of NumPy's C API."""
        return self.call_at(returns, f"inttoptr (i64 {numpy_function(number)} to ptr)", args)

    def call_python(self, function: object, args: Sequence[str]) -> str:
        """Call a Python object; what it returns, or null."""
        given = self.table(args)
        return self.call(
            "ptr", "PyObject_Vectorcall", f"ptr {constant(function)}, ptr {given}, i64 {len(args)}, ptr null"
        )

    def call_at(self, returns: str, address: str, args: str) -> str:
        """Call a function at an address."""
        if returns == "void":
            self.line(f"call void {address}({args})")
            return ""
        return self.op(f"call {returns} {address}({args})")

    def another(self, thing: str) -> str:
        """One more reference to an object."""
        self.call("void", "Py_IncRef", f"ptr {thing}")
        return thing

    def own(self, thing: str) -> str:
        """The place of a reference that is given back on the way out."""
        place = f"%owned{len(self.owned)}"
        self.line(f"store ptr {thing}, ptr {place}")
        self.owned.append(place)
        return place

    def give_back(self) -> None:
        """Give back what is owned.

        Many references lie in one array, which a loop walks: of variables LLVM would bring the value of each here
        from each line that may fail, which is quadratic in their number.
        """
        count = len(self.owned)
        if count <= FEW:
            for place in self.owned:
                self.head += [f"  {place} = alloca ptr", f"  store ptr null, ptr {place}"]
                self.call("void", "Py_DecRef", f"ptr {self.load('ptr', place)}")
            return
        self.head.append(f"  %owned = alloca [{count} x ptr]")
        self.head.append(f"  call void @llvm.memset.p0.i64(ptr %owned, i8 0, i64 {8 * count}, i1 false)")
        self.head += [f"  {place} = getelementptr ptr, ptr %owned, i64 {n}" for n, place in enumerate(self.owned)]
        for number in self.counted(count):
            place = self.op(f"getelementptr ptr, ptr %owned, i64 {number}")
            self.call("void", "Py_DecRef", f"ptr {self.load('ptr', place)}")

    def finish(self, answer: str) -> None:
        """Leave with a new reference to the answer."""
        self.line(f"store ptr {answer}, ptr %answer")
        self.line("br label %leave")

    def text(self) -> str:
        """The module of this function."""
        self.lines.append("refuse:")
        self.finish(self.refusal(self))
        self.lines.append("leave:")
        for step in self.last:
            step()
        self.give_back()
        self.line(f"ret ptr {self.load('ptr', '%answer')}")
        return "\n".join(
            [
                f'target triple = "{host_target().triple}"',
                "declare i32 @memcmp(ptr, ptr, i64)",
                "declare void @free(ptr)",
                "declare i32 @posix_memalign(ptr, i64, i64)",
                "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
                "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
                "define ptr @entry(ptr %self, ptr %args, i64 %count, ptr %names) {",
                *self.head,
                "  br label %start",
                "start:",
                *self.lines,
                "}",
                '!0 = !{!"branch_weights", i32 1000, i32 1}',
                "",
            ]
        )


def constant(thing: object) -> str:
    """The address of an object, which is kept alive elsewhere, as an LLVM constant."""
    return address_of(id(thing))


def address_of(number: int) -> str:
    """An address as an LLVM constant."""
    return f"inttoptr (i64 {number} to ptr)"
