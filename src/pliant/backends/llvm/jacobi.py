"""Jacobi's rotations of pairs of rows, one-sided: they make the rows of a matrix of some ten rows orthogonal.

The matrix becomes j·a, where j is the product of the rotations; the lengths of its rows are the singular values of a.
Source: Demmel and Veselić, Jacobi's method is more accurate than QR, 1992.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, final

from pliant.backends.llvm.elimination import Slot, over
from pliant.backends.llvm.iterations import length
from pliant.backends.llvm.panels import Panel, conjugate, conjugate_all
from pliant.backends.llvm.reals import Array, Real, real
from pliant.backends.llvm.reflections import Row, negative
from pliant.backends.llvm.values import Parts
from pliant.core.types import real_dtype

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter

PATIENCE: Final = 60  # sweeps; of any matrix some four to fifteen are needed
EPSILON: Final = {"f32": 2.0**-23, "f64": 2.0**-52}
NEGLIGIBLE: Final = {"f32": 2.0**-32, "f64": 2.0**-400}
"""Rows that are shorter are not rotated, if the largest number of the matrix is about 1: their products are inexact."""


@final
class Sweeps:
    """Rotations of all pairs of the first `count` rows of a panel, again and again until these are orthogonal.

    turned: a panel whose rows take the conjugate rotations. sizes: the lengths of all rows. going: an i1, whether there
    were rotations in the last sweep.
    """

    def __init__(self, e: Emitter, panel: Panel, count: int, turned: Panel | None) -> None:
        self.e, self.panel, self.count, self.turned = e, panel, count, turned
        self.dtype = real_dtype(panel.dtype)
        self.sizes, self.going = Array(e, self.dtype, panel.rows), Slot.new(e, "i1", "false")
        self.number = Slot.new(e, "i64", "0")

    def run(self) -> None:
        """All sweeps."""
        e, n = self.e, self.count

        def column(total: str, i: str) -> None:
            j = e.op(f"sub nsw i64 {total}, {i}")
            is_negative = e.op(f"icmp slt i64 {j}, 0")
            j = e.op(f"select i1 {is_negative}, i64 {e.op(f'add nsw i64 {j}, {n}')}, i64 {j}")
            e.unless(e.op(f"icmp sle i64 {j}, {i}"), lambda: self.pair(i, j))

        def sweep() -> str:
            self.going.put("false")
            self.number.put(e.op(f"add nuw nsw i64 {self.number.get()}, 1"))
            over(e, 0, self.panel.rows, self.measure)
            # Pairs with the same sum of indices have no row in common: a processor works on several of them.
            over(e, 0, n, lambda total: over(e, 0, n, lambda i: column(total, i)))
            return e.op(f"and i1 {self.going.get()}, {e.op(f'icmp ult i64 {self.number.get()}, {PATIENCE}')}")

        e.repeat(sweep)

    def measure(self, i: str) -> None:
        """Note the length of a row."""
        row = self.panel.row(i)
        self.sizes.put(i, inner(self.panel, row, row)[0].sqrt())

    def pair(self, i: str, j: str) -> None:
        """Rotate two rows, if they are not orthogonal; the longer one comes first then."""
        x, y = self.sizes.get(i), self.sizes.get(j)
        least, tolerance = NEGLIGIBLE[self.dtype], EPSILON[self.dtype] * self.panel.columns**0.5
        product = inner(self.panel, self.panel.row(i), self.panel.row(j))
        size = abs(product[0]) if len(product) == 1 else length(*product)
        is_done = x.is_("ole", least) | y.is_("ole", least) | size.is_("ule", x * y * tolerance)
        self.e.unless(is_done.text, lambda: self.rotate(i, j, product, size))

    def rotate(self, i: str, j: str, product: Sequence[Real], size: Real) -> None:
        """Rotate two rows by the smaller angle that makes them orthogonal. size: of their product."""
        e, x, y = self.e, self.sizes.get(i), self.sizes.get(j)
        one, zero = x.like(1.0), x.like(0.0)
        slope = (x - y) * (x + y) / (size + size)
        tangent = one / (abs(slope) + one.plus(slope, slope).sqrt())
        root = one.plus(tangent, tangent).sqrt()
        phase = [one.signed(product[0])] if len(product) == 1 else [part / size for part in product]
        sine, half = (
            tuple([(z.signed(slope) * part).text for part in phase]) for z in (tangent / root, tangent / (one + root))
        )
        is_shorter = x.is_("olt", y)
        ends = [e.op(f"select i1 {is_shorter.text}, i64 {p}, i64 {q}") for p, q in ((j, i), (i, j))]
        rotated(self.panel, (i, j), ends, sine, half)
        if self.turned:
            rotated(self.turned, (i, j), ends, *(conjugate(e, self.panel.dtype, z) for z in (sine, half)))
        longer, shorter = is_shorter.where(y, x), is_shorter.where(x, y)
        left = shorter * shorter - tangent * size
        self.sizes.put(i, (longer * longer).plus(tangent, size).sqrt())
        self.sizes.put(j, left.is_("ogt", 0.0).where(left, zero).sqrt())
        self.going.put("true")


def rotated(panel: Panel, rows: tuple[str, str], ends: Sequence[str], s: Parts, half: Parts) -> None:
    """Rows i and j become c·i + s·j and c·j - s̄·i, in other places.

    half: s/(1 + c). What is added to a row is small where the angle is, so that rounding c does not change its length.
    """
    made, pairs = (Row(), Row()), zip(panel.pieces, *(panel.row(i) for i in rows), strict=True)
    s_less, half_less = (negative(panel.e, panel.dtype, conjugate(panel.e, panel.dtype, x)) for x in (s, half))
    for piece, x, y in pairs:
        for row, p, q, factor, back in ((made[0], x, y, s, half_less), (made[1], y, x, s_less, half)):
            row.append(piece.plus_product(p, piece.all(factor), piece.plus_product(q, piece.all(back), p)))
    for place, row in zip(ends, made, strict=True):
        panel.put_row(place, row)


def inner(panel: Panel, x: Row, y: Row) -> tuple[Real, ...]:
    """Σ x·ȳ of two rows, as its parts."""
    e, sums = panel.e, dict[int, Parts]()
    last = {piece.width: piece for piece in panel.pieces}
    for piece, p, q in zip(panel.pieces, x, y, strict=True):
        q, before = conjugate_all(e, piece.kind, q), sums.get(piece.width)
        sums[piece.width] = piece.plus_product(before, p, q) if before else piece.product(p, q)
    first, *others = [[real(e, piece.dtype, piece.sum(part)) for part in sums[w]] for w, piece in last.items()]
    for other in others:
        first = [p + q for p, q in zip(first, other, strict=True)]
    return tuple(first)
