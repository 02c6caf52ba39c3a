"""What one element of a result is made of: affine indices, and scalars in regions.

A kernel rule describes one element. Recording it gives scalars: loads at affine offsets, primitives
on them, choices and folds.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, final

from pliant.core.types import Type

if TYPE_CHECKING:
    from pliant.core.ir import Number, Op, Value

numbers: Final = itertools.count()
"""Numbers that give loop variables, buffers and scalars one order."""


@final
class Var:
    """A loop variable: 0 ≤ it < extent. Scheduling may merge an outer loop into it."""

    __slots__ = ("extent", "number")

    def __init__(self, extent: int) -> None:
        self.extent, self.number = extent, next(numbers)


@final
class Affine:
    """start + Σ factor·atom; an atom is a loop variable or an i64 scalar."""

    __slots__ = ("start", "terms")

    def __init__(self, start: int = 0, terms: tuple[tuple[Var | Scalar, int], ...] = ()) -> None:
        self.start, self.terms = start, terms

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Affine) and self.start == other.start and self.terms == other.terms

    def __hash__(self) -> int:
        return hash((self.start, self.terms))

    def __add__(self, other: Affine | int) -> Affine:
        if isinstance(other, int):
            return Affine(self.start + other, self.terms)
        if not other.terms:
            return Affine(self.start + other.start, self.terms)
        if not self.terms:
            return Affine(self.start + other.start, other.terms)
        total = dict(self.terms)
        for atom, factor in other.terms:
            total[atom] = total.get(atom, 0) + factor
        # One order for all, so that equal indices are equal tuples.
        terms = sorted(((a, f) for a, f in total.items() if f), key=lambda term: term[0].number)
        return Affine(self.start + other.start, tuple(terms))

    def __mul__(self, factor: int) -> Affine:
        if factor == 1:
            return self
        return Affine(self.start * factor, tuple([(a, f * factor) for a, f in self.terms]) if factor else ())

    def __sub__(self, other: Affine | int) -> Affine:
        return self + other * -1

    __radd__ = __add__
    __rmul__ = __mul__

    def factor(self, atom: Var | Scalar) -> int:
        """The factor of an atom, 0 if it does not occur."""
        return next((f for a, f in self.terms if a is atom), 0)

    def digit(self, divisor: int, modulus: int) -> Affine | None:
        """(this // divisor) % modulus, where that is a sum too; of modulus 0 only the quotient."""
        low = Affine(self.start % divisor, tuple([(a, f) for a, f in self.terms if f % divisor]))
        high = Affine(self.start // divisor, tuple([(a, f // divisor) for a, f in self.terms if f % divisor == 0]))
        if modulus:
            high = Affine(high.start % modulus, tuple([(a, f) for a, f in high.terms if f % modulus]))
        fits = [
            span and span[0] >= 0 and (not n or span[1] < n)
            for span, n in ((low.range(), divisor), (high.range(), modulus))
        ]
        return high if all(fits) else None

    @property
    def is_of_loops(self) -> bool:
        """Whether nothing but loops tells which place this is."""
        return all([isinstance(atom, Var) for atom, _ in self.terms])

    @property
    def bare(self) -> Var | None:
        """The variable this is, if it is nothing else."""
        terms = self.terms
        if len(terms) > 1:  # a loop of one step is always at 0
            terms = tuple([(a, f) for a, f in terms if not isinstance(a, Var) or a.extent != 1])
        if self.start == 0 and len(terms) == 1:
            atom, factor = terms[0]
            return atom if factor == 1 and isinstance(atom, Var) else None
        return None

    def range(self, spans: Mapping[Scalar, tuple[int, int]] | None = None) -> tuple[int, int] | None:
        """Least and greatest value, if it is made of loop variables, and of scalars whose `spans` are known."""
        low = high = self.start
        for atom, factor in self.terms:
            span = (0, max(atom.extent, 1) - 1) if isinstance(atom, Var) else spans.get(atom) if spans else None
            if span is None:
                return None
            edges = factor * span[0], factor * span[1]
            low, high = low + min(edges), high + max(edges)
        return low, high


@final
class Index(tuple[Affine, ...]):
    """An index of an array. One made by a reshape also knows its row-major offset."""

    flat: Affine | None = None


def index_of(parts: Sequence[Affine]) -> Index:
    """An index from its parts; an index unchanged."""
    return parts if isinstance(parts, Index) else Index(parts)


def affine(x: Affine | Scalar | int) -> Affine:
    """Anything that can be an index as an affine expression."""
    if isinstance(x, Affine):
        return x
    if isinstance(x, int):
        return Affine(x)
    match x:
        case FromIndex():
            return x.index
        case Literal():
            return Affine(int(x.value.real))
        case Apply() if x.op.name == "add":
            return affine(x.args[0]) + affine(x.args[1])
        case Apply() if x.op.name == "sub":
            return affine(x.args[0]) - affine(x.args[1])
        case Apply() if x.op.name == "neg":
            return affine(x.args[0]) * -1
        case _:
            return Affine(0, ((x, 1),))


def strides_of(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides in elements."""
    strides = [1] * len(shape)
    for axis in range(len(shape) - 1, 0, -1):
        strides[axis - 1] = strides[axis] * shape[axis]
    return tuple(strides)


def offset_of(index: Index, shape: Sequence[int]) -> Affine:
    """Row-major offset of an element."""
    if index.flat is not None:
        return index.flat
    total = Affine()
    for part, stride in zip(index, strides_of(shape), strict=True):
        total = total + part * stride
    return total


def number_of_point(loops: Sequence[Var]) -> Affine:
    """The number of the point that loops are at, among all of theirs in row-major order."""
    return offset_of(Index([Affine(0, ((v, 1),)) for v in loops]), [v.extent for v in loops])


@final
class Buffer:
    """Memory of one row-major array. Where it lies is decided by `share` and `place`."""

    __slots__ = ("number", "offset", "reason", "shared", "slot", "type", "value")

    def __init__(self, type: Type, value: Value | None) -> None:
        self.type, self.value, self.number = type, value, next(numbers)
        self.slot, self.offset = -1, 0  # entry of the pointer table, bytes from there
        self.shared: Buffer | None = None  # the buffer whose memory it takes over
        self.reason = ""  # why it takes over none


def root_of(buffer: Buffer) -> Buffer:
    """The buffer whose memory it has in the end."""
    while buffer.shared is not None:
        buffer = buffer.shared
    return buffer


class Scalar:
    """One number, computed at one point of a nest."""

    __slots__ = ("dtype", "number", "region")

    dtype: str
    region: Region
    number: int

    def operands(self) -> Iterator[Scalar]:
        """Scalars this one is computed from."""
        return iter(())

    def indices(self) -> Iterator[Affine]:
        """Indices it reads, offsets included."""
        return iter(())


@final
class Literal(Scalar):
    """A number known now."""

    __slots__ = ("value",)

    def __init__(self, dtype: str, value: Number) -> None:
        self.dtype, self.value = dtype, value


@final
class Load(Scalar):
    """The element of a buffer at an offset. `ordered` loads see the stores before them."""

    __slots__ = ("buffer", "offset", "ordered")

    def __init__(self, buffer: Buffer, offset: Affine, ordered: bool = False) -> None:
        self.dtype, self.buffer, self.offset, self.ordered = buffer.type.dtype, buffer, offset, ordered

    def indices(self) -> Iterator[Affine]:
        yield self.offset


@final
class Apply(Scalar):
    """An elementwise primitive on scalars."""

    __slots__ = ("args", "op")

    def __init__(self, dtype: str, op: Op, args: tuple[Scalar, ...]) -> None:
        self.dtype, self.op, self.args = dtype, op, args

    def operands(self) -> Iterator[Scalar]:
        return iter(self.args)


@final
class FromIndex(Scalar):
    """An index as an i64 number."""

    __slots__ = ("index",)

    def __init__(self, index: Affine) -> None:
        self.dtype, self.index = "i64", index

    def indices(self) -> Iterator[Affine]:
        yield self.index


@final
class Digit(Scalar):
    """(index // divisor) % modulus, for a reshape; index ≥ 0. Modulus 0: no remainder is taken."""

    __slots__ = ("divisor", "index", "modulus")

    def __init__(self, index: Affine, divisor: int, modulus: int) -> None:
        self.dtype, self.index, self.divisor, self.modulus = "i64", index, divisor, modulus

    def indices(self) -> Iterator[Affine]:
        yield self.index


@final
class Within(Scalar):
    """Whether low ≤ index < high and (index - low) is a multiple of `step`."""

    __slots__ = ("high", "index", "low", "step")

    def __init__(self, index: Affine, low: int, high: int, step: int) -> None:
        self.dtype, self.index, self.low, self.high, self.step = "bool", index, low, high, step

    def indices(self) -> Iterator[Affine]:
        yield self.index


@final
class All(Scalar):
    """Whether all of several conditions hold."""

    __slots__ = ("args",)

    def __init__(self, args: tuple[Scalar, ...]) -> None:
        self.dtype, self.args = "bool", args

    def operands(self) -> Iterator[Scalar]:
        return iter(self.args)


@final
class Checked(Scalar):
    """An index, or 0 after noting an error where it lies outside 0 ≤ index < extent."""

    __slots__ = ("extent", "index", "site")

    def __init__(self, index: Affine, extent: int, site: int) -> None:
        self.dtype, self.index, self.extent, self.site = "i64", index, extent, site

    def indices(self) -> Iterator[Affine]:
        yield self.index


@final
class Choose(Scalar):
    """One of two scalars; a side is only computed if it is chosen, unless both are free."""

    __slots__ = ("cond", "no", "sides", "yes")

    def __init__(self, cond: Scalar, yes: Scalar, no: Scalar, sides: tuple[Region, Region]) -> None:
        self.dtype, self.cond, self.yes, self.no, self.sides = yes.dtype, cond, yes, no, sides

    def operands(self) -> Iterator[Scalar]:
        yield self.cond
        yield self.yes
        yield self.no


@final
class Fold(Scalar):
    """A reduction inside a nest, over loops of its own; of kind argmax or argmin, the first place of one loop where the
    extremum is, or the first NaN."""

    __slots__ = ("body", "element", "kind", "vars")

    def __init__(self, kind: str, dtype: str, vars: tuple[Var, ...], body: Region, element: Scalar) -> None:
        self.dtype, self.kind, self.vars, self.body, self.element = dtype, kind, vars, body, element

    def operands(self) -> Iterator[Scalar]:
        yield self.element


@final
class Store(Scalar):
    """Writes a scalar into a buffer; a statement."""

    __slots__ = ("buffer", "offset", "scalar")

    def __init__(self, buffer: Buffer, offset: Affine, scalar: Scalar) -> None:
        self.dtype, self.buffer, self.offset, self.scalar = "bool", buffer, offset, scalar

    def operands(self) -> Iterator[Scalar]:
        yield self.scalar

    def indices(self) -> Iterator[Affine]:
        yield self.offset


@final
class Stop(Scalar):
    """Ends the program if an index was out of range before; a statement."""

    __slots__ = ()

    def __init__(self) -> None:
        self.dtype = "bool"


@final
class Loop(Scalar):
    """Runs a body over loops, in order, each up to its limit if it has one; a statement."""

    __slots__ = ("body", "limits", "vars")

    def __init__(self, vars: tuple[Var, ...], body: Region, limits: tuple[Scalar | None, ...] = ()) -> None:
        self.dtype, self.vars, self.body, self.limits = "bool", vars, body, limits or (None,) * len(vars)

    def operands(self) -> Iterator[Scalar]:
        return iter([limit for limit in self.limits if limit])


@final
class Region:
    """Scalars in the order they are computed; those of the parent are visible.

    `below`: loop variables that are known to be less than a scalar, inside.
    """

    __slots__ = ("below", "body", "memo", "parent")

    def __init__(self, parent: Region | None) -> None:
        self.parent = parent
        self.below: dict[Var, Scalar] = {}
        self.body: list[Scalar] = []
        self.memo: dict[object, Scalar] = {}
