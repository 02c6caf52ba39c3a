"""Formulas on floats as LLVM code: numbers with Python's operators, without branches, for LLVM to make vectors of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias, final

from pliant.backends.llvm.values import float_text, llvm_type
from pliant.core.data import frozen

Real: TypeAlias = "Num | float"


@final
@frozen
class Format:
    """A float format: all its bits, those of the fraction, and the bias of the exponent."""

    dtype: str
    bits: int
    fraction: int
    bias: int

    @property
    def rounder(self) -> float:
        """A number so large that adding it rounds to a whole one, whose lowest bits are then those of the sum."""
        return 1.5 * 2.0**self.fraction

    @property
    def least(self) -> float:
        """The least normal number."""
        return 2.0 ** (1 - self.bias)


HALVED: Final = 9
"""Coefficients of a polynomial that is computed in two halves."""

F64: Final = Format("f64", 64, 52, 1023)
F32: Final = Format("f32", 32, 23, 127)


@final
class Body:
    """The instructions of one function, whose numbers are all of one format, or vectors of that."""

    def __init__(
        self, format: Format, function: Callable[..., str], lanes: int = 1, *, has_scale: bool = False
    ) -> None:
        """function: the name of a library's function of a number of operands of an LLVM type, declared.
        has_scale: whether the processor has an instruction for x·2ᵏ."""
        self.format, self.function, self.lanes, self.has_scale = format, function, lanes, has_scale
        self.scalar = llvm_type(format.dtype)
        self.type, self.whole, self.flag = (self.vector(t) for t in (self.scalar, f"i{format.bits}", "i1"))
        self.lines: list[str] = []
        self.block = "entry"

    def op(self, text: str) -> str:
        """Append an instruction; the name of its value."""
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def vector(self, type: str) -> str:
        """The LLVM type of a vector, if this is about vectors."""
        return type if self.lanes == 1 else f"<{self.lanes} x {type}>"

    def literal(self, type: str, text: str) -> str:
        """The text of a constant in all lanes."""
        return text if self.lanes == 1 else f"<{', '.join([f'{type} {text}'] * self.lanes)}>"

    def num(self, x: Real) -> Num:
        """A number, or a literal as one."""
        return x if isinstance(x, Num) else Num(self, self.literal(self.scalar, float_text(x, self.format.dtype)))

    def intrinsic(self, name: str, *xs: Real) -> Num:
        """An intrinsic."""
        lanes = "" if self.lanes == 1 else f"v{self.lanes}"
        function = self.function(f"llvm.{name}.{lanes}{self.format.dtype}", len(xs), self.type)
        args = ", ".join([f"{self.type} {self.num(x).text}" for x in xs])
        return Num(self, self.op(f"call {self.type} {function}({args})"))

    def fma(self, a: Real, b: Real, c: Real) -> Num:
        """a·b + c, rounded once."""
        return self.intrinsic("fma", a, b, c)

    def sqrt(self, x: Real) -> Num:
        """√x."""
        return self.intrinsic("sqrt", x)

    def unless(self, fine: Flag, made: Sequence[Num], other: Callable[[], Sequence[Num]]) -> list[Num]:
        """Numbers, but others, which are only computed then, if a condition does not hold in all lanes."""
        at, before = len(self.lines), self.block
        rare, end = f"rare{at}", f"end{at}"
        everywhere = fine.text
        if self.lanes > 1:
            everywhere = self.op(f"call i1 @llvm.vector.reduce.and.v{self.lanes}i1({self.flag} {fine.text})")
        self.lines += [f"  br i1 {everywhere}, label %{end}, label %{rare}", f"{rare}:"]
        self.block = rare
        found = other()
        last, self.block = self.block, end
        self.lines += [f"  br label %{end}", f"{end}:"]
        pairs = zip(made, found, strict=True)
        return [Num(self, self.op(f"phi {self.type} [ {x.text}, %{before} ], [ {y.text}, %{last} ]")) for x, y in pairs]

    def by_library(self, fine: Flag, made: Sequence[Num], name: str, xs: Sequence[Num]) -> list[Num]:
        """Numbers, but where a condition does not hold what a library's function of others gives."""
        return self.unless(
            fine,
            made,
            lambda: self._library(name, xs, len(made)) if self.lanes == 1 else self._by_lanes(fine, made, name, xs),
        )

    def _library(self, name: str, xs: Sequence[Num], results: int) -> list[Num]:
        """What a function of a library gives of scalars: one number or two."""
        t = self.scalar
        args = ", ".join([f"{t} {x.text}" for x in xs])
        made = f"{{ {t}, {t} }}" if results == 2 else t
        call = self.op(f"call {made} {self.function(name, len(xs), t)}({args})")
        parts = [self.op(f"extractvalue {made} {call}, {n}") for n in (0, 1)] if results == 2 else [call]
        return [Num(self, part) for part in parts]

    def _by_lanes(self, fine: Flag, made: Sequence[Num], name: str, xs: Sequence[Num]) -> list[Num]:
        """Vectors in some of whose lanes is what a function of a library gives, in a loop: there may be many."""
        t, lane, before, bytes = self.scalar, f"%lane{len(self.lines)}", self.block, f"<{self.lanes} x i8>"
        loop, call, after, done = (f"{part}{len(self.lines)}" for part in ("each", "call", "next", "done"))
        memory = [f"%{kind}{n}" for kind, nums in (("from", xs), ("to", made)) for n in range(len(nums))]
        self.lines[:0] = [f"  {m} = alloca {self.type}" for m in memory] + [f"  %fine = alloca {bytes}"]
        self.lines += [f"  store {self.type} {x.text}, ptr {m}" for m, x in zip(memory, (*xs, *made), strict=True)]
        self.lines.append(f"  store {bytes} {self.op(f'zext {self.flag} {fine.text} to {bytes}')}, ptr %fine")
        self.lines += [f"  br label %{loop}", f"{loop}:"]
        self.lines.append(f"  {lane} = phi i64 [ 0, %{before} ], [ {lane}.next, %{after} ]")
        skip = self.op(f"load i8, ptr {self.op(f'getelementptr i8, ptr %fine, i64 {lane}')}")
        self.lines += [f"  br i1 {self.op(f'icmp ne i8 {skip}, 0')}, label %{after}, label %{call}", f"{call}:"]
        places = [self.op(f"getelementptr {t}, ptr {m}, i64 {lane}") for m in memory]
        args = [Num(self, self.op(f"load {t}, ptr {place}")) for place in places[: len(xs)]]
        for one, place in zip(self._library(name, args, len(made)), places[len(xs) :], strict=True):
            self.lines.append(f"  store {t} {one.text}, ptr {place}")
        self.lines += [f"  br label %{after}", f"{after}:", f"  {lane}.next = add i64 {lane}, 1"]
        again = self.op(f"icmp ult i64 {lane}.next, {self.lanes}")
        self.lines += [f"  br i1 {again}, label %{loop}, label %{done}", f"{done}:"]
        self.block = done
        return [Num(self, self.op(f"load {self.type}, ptr {m}")) for m in memory[len(xs) :]]

    def scaled(self, x: Num, k: Bits) -> Num:
        """x·2ᵏ by one instruction."""
        lanes, power = "" if self.lanes == 1 else f"v{self.lanes}", self.vector("i32")
        function = self.function(f"llvm.ldexp.{lanes}{self.format.dtype}.{lanes}i32", 1, self.type, more=power)
        short = k.text if self.format.bits == 32 else self.op(f"trunc {self.whole} {k.text} to {power}")
        return Num(self, self.op(f"call {self.type} {function}({self.type} {x.text}, {power} {short})"))

    def where(self, condition: Flag, yes: Real, no: Real) -> Num:
        """One of two numbers."""
        x, y = self.num(yes), self.num(no)
        return Num(self, self.op(f"select {self.flag} {condition.text}, {self.type} {x.text}, {self.type} {y.text}"))

    def polynomial(self, table: Mapping[str, Sequence[float]], x: Num) -> Num:
        """A polynomial, from its coefficients for each format, the constant first; but for that, a long one is computed
        in two halves, which do not wait for each other."""
        constant, *rest = found = table[self.format.dtype]
        if len(found) < HALVED:
            return self._nested(found, x)
        square = x * x
        other = self.fma(self._nested(rest[1::2], square), x, self._nested(rest[::2], square))
        return self.fma(other, x, constant)

    def _nested(self, coefficients: Sequence[float], x: Num) -> Num:
        first, *rest = reversed(coefficients)
        total = self.num(first)
        for coefficient in rest:
            total = self.fma(total, x, coefficient)
        return total

    def parts(self, table: Mapping[str, tuple[float, float, float]]) -> tuple[float, float, float]:
        """A constant as a sum of three numbers of the format."""
        return table[self.format.dtype]


@final
@frozen
class Num:
    """A number in a body."""

    body: Body
    text: str

    def _with(self, name: str, other: Real, *, swapped: bool = False) -> Num:
        x, y = self.text, self.body.num(other).text
        return Num(self.body, self.body.op(f"{name} {self.body.type} {f'{y}, {x}' if swapped else f'{x}, {y}'}"))

    def __add__(self, other: Real) -> Num:
        return self._with("fadd", other)

    def __radd__(self, other: Real) -> Num:
        return self._with("fadd", other, swapped=True)

    def __sub__(self, other: Real) -> Num:
        return self._with("fsub", other)

    def __rsub__(self, other: Real) -> Num:
        return self._with("fsub", other, swapped=True)

    def __mul__(self, other: Real) -> Num:
        return self._with("fmul", other)

    def __rmul__(self, other: Real) -> Num:
        return self._with("fmul", other, swapped=True)

    def __truediv__(self, other: Real) -> Num:
        return self._with("fdiv", other)

    def __rtruediv__(self, other: Real) -> Num:
        return self._with("fdiv", other, swapped=True)

    def __neg__(self) -> Num:
        return Num(self.body, self.body.op(f"fneg {self.body.type} {self.text}"))

    def __abs__(self) -> Num:
        return self.body.intrinsic("fabs", self)

    def __lt__(self, other: Real) -> Flag:
        return self.compare("olt", other)

    def __gt__(self, other: Real) -> Flag:
        return self.compare("ogt", other)

    def is_(self, other: Real) -> Flag:
        """Whether the numbers are equal."""
        return self.compare("oeq", other)

    def is_nan(self) -> Flag:
        """Whether this is no number."""
        return self.compare("uno", self)

    def compare(self, predicate: str, other: Real) -> Flag:
        """A comparison by LLVM's predicate."""
        other = self.body.num(other)
        return Flag(self.body, self.body.op(f"fcmp {predicate} {self.body.type} {self.text}, {other.text}"))

    def signed(self, other: Num) -> Num:
        """This size with the sign of another number."""
        return self.body.intrinsic("copysign", self, other)

    def at_most(self, limit: float) -> Num:
        """This, or the limit if that is less; NaN stays."""
        return self.body.where(self > limit, limit, self)

    def at_least(self, limit: float) -> Num:
        """This, or the limit if that is more; NaN stays."""
        return self.body.where(self < limit, limit, self)

    def bits(self) -> Bits:
        """Its bits as a whole number."""
        b = self.body
        return Bits(b, b.op(f"bitcast {b.type} {self.text} to {b.whole}"))


@final
@frozen
class Flag:
    """A truth value in a body."""

    body: Body
    text: str

    def __and__(self, other: Flag) -> Flag:
        return Flag(self.body, self.body.op(f"and {self.body.flag} {self.text}, {other.text}"))

    def __or__(self, other: Flag) -> Flag:
        return Flag(self.body, self.body.op(f"or {self.body.flag} {self.text}, {other.text}"))


@final
@frozen
class Bits:
    """A whole number as wide as the floats of a body."""

    body: Body
    text: str

    def _with(self, name: str, other: Bits | int) -> Bits:
        b = self.body
        y = other.text if isinstance(other, Bits) else b.literal(f"i{b.format.bits}", str(other))
        return Bits(b, b.op(f"{name} {b.whole} {self.text}, {y}"))

    def __add__(self, other: Bits | int) -> Bits:
        return self._with("add", other)

    def __sub__(self, other: Bits | int) -> Bits:
        return self._with("sub", other)

    def __and__(self, other: Bits | int) -> Bits:
        return self._with("and", other)

    def __or__(self, other: Bits | int) -> Bits:
        return self._with("or", other)

    def __xor__(self, other: Bits | int) -> Bits:
        return self._with("xor", other)

    def __lshift__(self, count: int) -> Bits:
        return self._with("shl", count)

    def __rshift__(self, count: int) -> Bits:
        return self._with("lshr", count)

    def is_zero(self) -> Flag:
        """Whether no bit is set."""
        b = self.body
        return Flag(b, b.op(f"icmp eq {b.whole} {self.text}, {b.literal(f'i{b.format.bits}', '0')}"))

    def num(self) -> Num:
        """The number with these bits."""
        b = self.body
        return Num(b, b.op(f"bitcast {b.whole} {self.text} to {b.type}"))
