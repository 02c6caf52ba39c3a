"""Sizes known only at run time: affine expressions of traced integers, and the ranges they stay in.

Two sizes that are equal as expressions are one size: `x[:k]` and `y[:k]` have it in common. Ranges
come from loops (`note_range`), from literals, and from how a number was computed; they say how
large an array must be to hold every length, and that a bound needs no clamping.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import Any, Final, TypeAlias, TypeVar, final

from pliant.core.data import frozen
from pliant.core.ir import Const, Value, Values, const
from pliant.core.origin import here
from pliant.errors import NOWHERE, DTypeError, ShapeError
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.convert import as_traced, cast_value
from pliant.frontend.counts import bound_to, counted, counters
from pliant.frontend.failures import catcher_of, ensured
from pliant.frontend.limits import most_of, ordered
from pliant.frontend.tracing import current, thread
from pliant.ops import compare
from pliant.ops.bits import logical_or
from pliant.ops.block import Agree
from pliant.ops.compare import Maximum, Minimum
from pliant.ops.elementwise import Add, Convert, Mul, Neg, Sub, convert
from pliant.ops.ensure import Ensure
from pliant.ops.reduce import Argmax, Argmin, ReduceSum
from pliant.ops.rounding import FloorDivide, Remainder, floor_divide
from pliant.ops.select import Select, select
from pliant.ops.sort import Searchsorted

T = TypeVar("T")
Range: TypeAlias = "tuple[int | None, int | None]"

INT: Final = "i64"
DEPTH: Final = 24  # how far back a number is looked into


@final
@frozen
class Size:
    """start + Σ factor·atom; atoms are i64 values of rank 0, in the order they were first met."""

    start: int
    terms: tuple[tuple[Value, int], ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Size) and (self.start, self.terms) == (other.start, other.terms)

    def __hash__(self) -> int:
        return hash((self.start, self.terms))

    def __add__(self, other: Size | int) -> Size:
        if isinstance(other, int):
            return Size(self.start + other, self.terms)
        total = dict(self.terms)
        for atom, factor in other.terms:
            total[atom] = total.get(atom, 0) + factor
        kept = [(a, f) for a, f in total.items() if f]
        return Size(self.start + other.start, tuple(sorted(kept, key=lambda term: _number(term[0]))))

    def __mul__(self, factor: int) -> Size:
        return Size(self.start * factor, tuple([(a, f * factor) for a, f in self.terms]) if factor else ())

    def __sub__(self, other: Size | int) -> Size:
        return self + other * -1

    @property
    def known(self) -> int | None:
        """The number, if it is one."""
        return None if self.terms else self.start

    @property
    def value(self) -> Value:
        """The size as a value of the program."""
        total = None if self.start or not self.terms else self._term(*self.terms[0])
        rest = self.terms if total is None else self.terms[1:]
        total = const(self.start, INT) if total is None else total
        for n, (atom, factor) in enumerate(rest):
            term = self._term(atom, factor)
            total = term + total if not n and isinstance(total.op, Const) else total + term
        return total

    def _term(self, atom: Value, factor: int) -> Value:
        return atom if factor == 1 else -atom if factor == -1 else atom * const(factor, INT)

    @property
    def atoms(self) -> Values:
        """What it depends on."""
        return tuple([atom for atom, _ in self.terms])

    @property
    def range(self) -> Range:
        """Least and greatest value; None where nothing is known."""
        return self._end(is_upper=False), self._end(is_upper=True)

    def _end(self, *, is_upper: bool) -> int | None:
        """The greatest value, or the least: the better of what its own atoms and those met before them say."""
        if not self.terms:
            return self.start
        return _once((self, is_upper), lambda: self._found_end(is_upper=is_upper))

    def _found_end(self, *, is_upper: bool) -> int | None:
        limit = self._limit(is_upper=is_upper)
        ends = [size._interval()[is_upper] for size in ((self,) if limit is self else (self, limit))]
        known = [end for end in ends if end is not None]
        return min(known, default=None) if is_upper else max(known, default=None)

    def _interval(self) -> Range:
        """The range, from those of the atoms each by itself."""
        low: int | None = self.start
        high: int | None = self.start
        for atom, factor in self.terms:
            a, b = range_of(atom) if factor > 0 else range_of(atom)[::-1]
            low = None if low is None or a is None else low + a * factor
            high = None if high is None or b is None else high + b * factor
        return low, high

    def _limit(self, *, is_upper: bool) -> Size:
        """A size that this one is at most, or at least, in terms of atoms that were met before: of the index
        of an inner loop, what is known is in terms of that of the outer one."""
        found = self
        for _ in range(DEPTH):
            last = next((t for t in reversed(found.terms) if _bound(*t, is_upper=is_upper)), None)
            if last is None:
                break
            bound = _bound(*last, is_upper=is_upper)
            assert bound
            found = found - Size(0, (last,)) + bound * last[1]
        return found

    def is_at_least(self, other: Size | int) -> bool:
        """Whether it is known to be no less."""
        low = (self - other)._end(is_upper=False)
        return low is not None and low >= 0

    def __str__(self) -> str:
        parts = [f"{'' if f == 1 else '-' if f == -1 else f'{f}·'}{_name(a)}" for a, f in self.terms]
        text = " + ".join([*parts, *([str(self.start)] if self.start or not parts else [])])
        return text.replace("+ -", "- ")


@final
@frozen
class Fact:
    """When an atom was first met, and what is known of it."""

    number: int
    low: Size | None = None
    high: Size | None = None


def _bound(atom: Value, factor: int, *, is_upper: bool) -> Size | None:
    """What bounds factor·atom from above or below, for the atom."""
    fact = _fact(atom)
    return fact.high if is_upper == (factor > 0) else fact.low


def _fact(value: Value) -> Fact:
    facts: dict[Value, Any] = current().outermost.facts
    return facts.setdefault(value, Fact(len(facts)))


def _number(value: Value) -> int:
    return _fact(value).number


def _name(value: Value) -> str:
    """The user's name for a number, if it has one; that of what it was clamped from."""
    found = [value]
    for _ in range(DEPTH):
        hint = str(getattr(found[-1].op, "hint", ""))
        if hint or not found[-1].args:
            return hint or "n"
        found.append(next((a for a in reversed(found[-1].args) if not isinstance(a.op, Const)), found[-1].args[0]))
    return "n"


def note_range(x: Any, low: Any, high: Any) -> None:
    """Remember that a traced integer, such as the index of a loop, is always between low and high, both
    included: integers, known or traced, or None where nothing is known."""
    value = x if isinstance(x, Value) else as_traced(x).value
    bounds = [None if b is None else size_of(b) for b in (low, high)]
    current().outermost.facts[value] = Fact(_fact(value).number, *bounds)
    current().outermost.ranges.clear()


def size_of(x: Any, name: str = "") -> Size:
    """A Python or traced integer as a size. name: of the function that it is an extent for; else it bounds a slice."""
    if isinstance(x, Size):
        return x
    traced = as_traced(x, "an integer")
    if traced.type.kind not in ("iub" if traced.is_weak else "iu") or traced.shape:
        said = f"{name}: an extent must be an integer" if name else "slice indices must be integers or None"
        hint = "int(n) makes an integer of a number" if not traced.shape else ""
        raise DTypeError(f"{said}, got {traced.type}", hint=hint).at(("here", here()))
    if traced.concrete is not None:
        return Size(int(traced.concrete))
    return taken_apart(cast_value(traced.value, INT))


def taken_apart(value: Value, depth: int = DEPTH) -> Size:
    """An i64 value as an expression of the values it was computed from."""
    op, args = value.op, value.args
    if isinstance(op, Const):
        return Size(int(op.value.real))
    if (number := _decided(value)) is not None:
        return Size(number)
    if not depth or value.shape or value in current().outermost.facts:
        return Size(0, ((value, 1),))
    match op:
        case Add():
            return taken_apart(args[0], depth - 1) + taken_apart(args[1], depth - 1)
        case Sub():
            return taken_apart(args[0], depth - 1) - taken_apart(args[1], depth - 1)
        case Neg():
            return taken_apart(args[0], depth - 1) * -1
        case Mul():
            first, second = (taken_apart(a, depth - 1) for a in args)
            for x, y in ((first, second), (second, first)):
                if x.known is not None:
                    return y * x.known
        case _:
            pass
    return Size(0, ((value, 1),))


def _once(key: Any, find: Callable[[], T]) -> T:
    """What is found of ranges for a key, the first time: those of bounds of bounds meet in the same ones again and
    again."""
    found: dict[Any, Any] = current().outermost.ranges
    if key not in found:
        found[key] = find()
    return found[key]


def range_of(value: Value) -> Range:
    """What is known of an i64 value's range."""
    return _once(value, lambda: _range_of(value))


def _range_of(value: Value) -> Range:
    fact: Any = current().outermost.facts.get(value)
    if fact is not None and (fact.low, fact.high) != (None, None):
        return fact.low and fact.low._end(is_upper=False), fact.high and fact.high._end(is_upper=True)
    op, args = value.op, value.args
    if isinstance(op, Const):
        return int(op.value.real), int(op.value.real)
    match op:
        case Minimum() | Maximum():
            (a, b), (c, d) = (taken_apart(x).range for x in args)
            lows, highs = [x for x in (a, c) if x is not None], [x for x in (b, d) if x is not None]
            if isinstance(op, Minimum):
                return min(lows) if len(lows) == 2 else None, min(highs, default=None)
            return max(lows, default=None), max(highs) if len(highs) == 2 else None
        case Select():
            return range_of_either(*(range_if(args[0], x, holds=n == 0) for n, x in enumerate(args[1:])))
        case Agree():
            (a, b), (c, d) = (taken_apart(x).range for x in args)
            lows, highs = [x for x in (a, c) if x is not None], [x for x in (b, d) if x is not None]
            return max(lows, default=None), min(highs, default=None)
        case Ensure():
            return range_of(args[0])
        case Remainder():
            limit = taken_apart(args[1]).known or 0
            return (0, limit - 1) if limit > 0 else (None, None)
        case FloorDivide():
            low, high, divisor = *taken_apart(args[0]).range, taken_apart(args[1]).known or 0
            ends = [None if end is None or divisor <= 0 else end // divisor for end in (low, high)]
            return ends[0], ends[1]
        case Argmax() | Argmin() | Searchsorted():
            return 0, args[0].type.size
        case ReduceSum() if isinstance(args[0].op, Convert) and args[0].args[0].dtype == "bool":
            return 0, args[0].type.size
        case Convert():
            if args[0].dtype == "bool":
                return 0, 1
            most = most_of(args[0])
            return 0 if args[0].dtype[0] == "u" else None, None if most is None else math.trunc(most)
        case _:
            count = counted(value)
            if count is None:
                return _range_of_bound(value)
            ends = zip(taken_apart(count[0]).range, count[1], strict=True)
            low, high = [None if end is None else end + more for end, more in ends]
            return low, high


def _range_of_bound(value: Value) -> Range:
    """The range of a number that the steps of a loop bind to others, of which the counters of its steps are known."""
    bound = bound_to(value)
    if bound is None:
        return None, None
    for counter, start, most in counters(value):
        if _fact(counter).high is None:
            note_range(counter, start if isinstance(start, int) else taken_apart(start).range[0], most)
    return reduce(range_of_either, [taken_apart(x).range for x in bound])


def range_if(condition: Value, x: Value, *, holds: bool) -> Range:
    """The range of an i64 value where a condition holds, or where it does not."""
    low, high = taken_apart(x).range
    pair = ordered(condition, holds=holds)
    if pair is None or pair[0].dtype != INT:
        return low, high
    least, most = (taken_apart(end).range for end in pair[:2])
    if x is pair[0] and most[1] is not None:
        high = most[1] - pair[2] if high is None else min(high, most[1] - pair[2])
    if x is pair[1] and least[0] is not None:
        low = least[0] + pair[2] if low is None else max(low, least[0] + pair[2])
    return low, high


def range_of_either(one: Range, other: Range) -> Range:
    """The range of what is in one of two."""
    (a, b), (c, d) = one, other
    return None if a is None or c is None else min(a, c), None if b is None or d is None else max(b, d)


def smaller(a: Size, b: Size) -> Size:
    """The lesser of two sizes."""
    if b.is_at_least(a):
        return a
    return b if a.is_at_least(b) else _atom(compare.minimum(a.value, b.value))


def larger(a: Size, b: Size) -> Size:
    """The greater of two sizes."""
    if a.is_at_least(b):
        return a
    return b if b.is_at_least(a) else _atom(compare.maximum(a.value, b.value))


def _atom(value: Value) -> Size:
    number = _decided(value)
    if number is not None:
        return Size(number)
    _fact(value)
    return Size(0, ((value, 1),))


def _decided(value: Value) -> int | None:
    """The number that a value is, if the program is made for it; see `decided`."""
    found = thread.deciding.of(value) if thread.deciding is not None else None
    return None if found is None else int(found)


def wrapped(i: Size, n: Size) -> Size:
    """A position counted from the end where it is negative."""
    if i.is_at_least(0):
        return i
    if (i * -1).is_at_least(1):
        return i + n
    value = i.value
    return _atom(select(compare.less(value, const(0, INT)), (i + n).value, value))


def inside(i: Size, n: Size) -> Size:
    """The position i if it is one of n, else one that no array has, which is an error at run time."""
    if n.is_at_least(i + 1):
        return i
    return _atom(select(compare.less(i.value, n.value), i.value, const(NOWHERE, INT)))


def agreed(a: Size, b: Size) -> Size | None:
    """The common value of two sizes, which is an error at run time if they differ; None if they must."""
    low, high = (a - b).range
    if (low is not None and low > 0) or (high is not None and high < 0):
        return None
    if a == b:
        return a
    x, y = a.value, b.value
    if catcher_of(ShapeError) is None:
        return _atom(Agree()(x, y))
    one = const(1, INT)
    broadcasts = logical_or(compare.equal(x, one), compare.equal(y, one))
    return _atom(ensured(x, convert(compare.not_equal(x, y), INT), Agree.failure, ours=broadcasts))


def divided(a: Size, divisor: int) -> Size:
    """a // divisor."""
    if divisor == 1:
        return a
    if a.known is not None:
        return Size(a.known // divisor)
    value = floor_divide(a.value, const(divisor, INT))
    low, high = a.range
    note_range(value, None if low is None else low // divisor, None if high is None else high // divisor)
    return _atom(value)


def traced(size: Size) -> Any:
    """A size as an integer of the user's program."""
    if size.known is not None:
        return size.known
    return TracedArray(fresh(size.value).storage, is_scalar=True, is_weak=True)
