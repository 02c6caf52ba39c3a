"""Real numbers and conditions of a program with Python's operators, and arrays of such numbers in local memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from pliant.backends.llvm.values import float_text, llvm_type
from pliant.core.data import frozen

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter


@final
@frozen
class Condition:
    """An i1."""

    e: Emitter
    text: str

    def __and__(self, other: Condition) -> Condition:
        return Condition(self.e, self.e.op(f"and i1 {self.text}, {other.text}"))

    def __or__(self, other: Condition) -> Condition:
        return Condition(self.e, self.e.op(f"or i1 {self.text}, {other.text}"))

    def __invert__(self) -> Condition:
        return Condition(self.e, self.e.op(f"xor i1 {self.text}, true"))

    def where(self, x: Real, y: Real) -> Real:
        """One of two numbers."""
        t = llvm_type(x.dtype)
        return x.made(self.e.op(f"select i1 {self.text}, {t} {x.text}, {t} {y.text}"))


@final
@frozen
class Real:
    """A number of a real dtype."""

    e: Emitter
    dtype: str
    text: str

    def made(self, text: str) -> Real:
        """Another number of the same dtype."""
        return Real(self.e, self.dtype, text)

    def like(self, x: float) -> Real:
        """A literal."""
        return self.made(float_text(x, self.dtype))

    def __add__(self, other: Real) -> Real:
        return self._by("fadd", other)

    def __sub__(self, other: Real) -> Real:
        return self._by("fsub", other)

    def __mul__(self, other: Real | float) -> Real:
        return self._by("fmul", other if isinstance(other, Real) else self.like(other))

    def __truediv__(self, other: Real) -> Real:
        return self._by("fdiv", other)

    def __neg__(self) -> Real:
        return self.made(self.e.op(f"fneg {llvm_type(self.dtype)} {self.text}"))

    def __abs__(self) -> Real:
        return self._of("fabs")

    def sqrt(self) -> Real:
        """√x."""
        return self._of("sqrt")

    def signed(self, other: Real) -> Real:
        """|x| with the sign of another number."""
        return self._of("copysign", other)

    def plus(self, x: Real, y: Real) -> Real:
        """self + x·y, rounded once if the processor can."""
        return x._of("fmuladd", y, self)

    def is_(self, test: str, other: Real | float) -> Condition:
        """How it compares, by a comparison of LLVM."""
        other = other if isinstance(other, Real) else self.like(other)
        return Condition(self.e, self.e.op(f"fcmp {test} {llvm_type(self.dtype)} {self.text}, {other.text}"))

    def _by(self, name: str, other: Real) -> Real:
        return self.made(self.e.op(f"{name} {llvm_type(self.dtype)} {self.text}, {other.text}"))

    def _of(self, name: str, *others: Real) -> Real:
        texts = [x.text for x in (self, *others)]
        return self.made(self.e.call(f"llvm.{name}.{self.dtype}", self.dtype, *texts))


def real(e: Emitter, dtype: str, x: str | float) -> Real:
    """A number from its text or its value."""
    return Real(e, dtype, x if isinstance(x, str) else float_text(x, dtype))


@final
class Variable:
    """A number in local memory."""

    def __init__(self, e: Emitter, dtype: str, value: float | Real) -> None:
        self.e, self.dtype, self.place = e, dtype, e.alloca(llvm_type(dtype))
        self.put(value if isinstance(value, Real) else real(e, dtype, value))

    def get(self) -> Real:
        """The number."""
        return Real(self.e, self.dtype, self.e.op(f"load {llvm_type(self.dtype)}, ptr {self.place}"))

    def put(self, x: Real) -> None:
        """Another number."""
        self.e.line(f"store {llvm_type(self.dtype)} {x.text}, ptr {self.place}")


@final
class Array:
    """Numbers in local memory, from index `-before` on."""

    def __init__(self, e: Emitter, dtype: str, count: int, before: int = 0) -> None:
        self.e, self.dtype, self.before = e, dtype, before
        self.memory = e.alloca(f"[{count + before} x {llvm_type(dtype)}]")

    def at(self, index: str) -> str:
        """The address of a number."""
        index = self.e.op(f"add nsw i64 {index}, {self.before}") if self.before else index
        return self.e.op(f"getelementptr inbounds {llvm_type(self.dtype)}, ptr {self.memory}, i64 {index}")

    def get(self, index: str) -> Real:
        """A number."""
        return Real(self.e, self.dtype, self.e.op(f"load {llvm_type(self.dtype)}, ptr {self.at(index)}"))

    def put(self, index: str, x: Real) -> None:
        """Another number."""
        self.e.line(f"store {llvm_type(self.dtype)} {x.text}, ptr {self.at(index)}")
