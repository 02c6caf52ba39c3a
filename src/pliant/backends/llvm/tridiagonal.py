"""Eigenvalues and vectors of Hermitian matrices of some ten rows, in cache: reflections make them tridiagonal, and
iterations diagonal. Steps and signs are those of LAPACK.

The vectors are the rows of a panel, so that a rotation of two of them is an operation on rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias, final

from pliant.backends.llvm.elimination import Slot, filled, over, steps
from pliant.backends.llvm.iterations import Iterations
from pliant.backends.llvm.lanes import place_of
from pliant.backends.llvm.panels import Panel, conjugate, conjugate_all
from pliant.backends.llvm.reals import Array, Real, Variable, real
from pliant.backends.llvm.reflections import (
    Reflection,
    Row,
    add_row,
    at_hand,
    identity,
    kept,
    negative,
    reflection,
    times,
)
from pliant.backends.llvm.values import Parts
from pliant.core.types import real_dtype
from pliant.kernel.ir import Affine, Buffer, Routine, Var

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter

LIMIT: Final = {"f32": 2.0**30, "f64": 2.0**300}
"""Largest numbers within this, and one by this, are not scaled."""

Loops: TypeAlias = Sequence[Var]


def eigvalsh(e: Emitter, step: Routine, loops: Loops) -> list[str]:
    """The eigenvalues alone."""
    values, failed, scale = decomposed(filled(e, step.args[0], loops), None)
    write_values(e, step.outs[0], loops, values, scale)
    return [failed]


def eigh(e: Emitter, step: Routine, loops: Loops) -> list[str]:
    """Eigenvalues and vectors."""
    panel = filled(e, step.args[0], loops)
    vectors = Panel.new(e, panel.dtype, panel.rows, panel.rows)
    values, failed, scale = decomposed(panel, vectors)
    write_values(e, step.outs[0], loops, values, scale)
    vectors.turn_out(step.outs[1], place_of(step.outs[1], loops))
    return [failed]


def write_values(e: Emitter, out: Buffer, loops: Loops, values: Array, scale: Real) -> None:
    """Write numbers, but for a scale."""
    every = Var(out.type.shape[-1])

    def one() -> None:
        value = values.get(e.env[every]) * scale
        e.store(out, place_of(out, loops, Affine(0, ((every, 1),))), value.text)

    e.loop(every, one, ("0", str(every.extent)), e.module.not_unrolled())


def decomposed(panel: Panel, vectors: Panel | None) -> tuple[Array, str, Real]:
    """The eigenvalues of a matrix, but for a scale; whether they have not been found; and that scale.

    Only the lower triangle of the matrix is read, and all of it is written over. vectors: where they go, in rows.
    """
    e, n, dtype = panel.e, panel.rows, real_dtype(panel.dtype)
    scale = _completed(e, panel)
    diagonal, beside = Array(e, dtype, n), Array(e, dtype, n, before=1)
    if vectors:
        identity(e, vectors)
    steps(e, panel, n - 1, Reduction(e, panel, diagonal, beside, vectors).step)
    diagonal.put(str(n - 1), real(e, dtype, panel.get(str(n - 1), n - 1)[0]))
    failed = Iterations(e, diagonal, beside, n, vectors).run() if n > 1 else "false"
    sort(e, diagonal, n, [vectors] if vectors else [], "olt")
    return diagonal, failed, scale


def _completed(e: Emitter, panel: Panel) -> Real:
    """Mirror the lower triangle, and scale the matrix if its numbers are very large or small; what undoes that."""
    dtype = real_dtype(panel.dtype)
    largest, by = Variable(e, dtype, 0.0), Variable(e, dtype, 1.0)

    def look(i: str, j: str) -> None:
        x = panel.get(i, j)
        for part in x:
            size = abs(real(e, dtype, part))
            largest.put(size.is_("ogt", largest.get()).where(size, largest.get()))
        panel.put(j, i, conjugate(e, panel.dtype, x))

    def row(i: str) -> None:
        x = real(e, dtype, panel.get(i, i)[0])
        largest.put(abs(x).is_("ogt", largest.get()).where(abs(x), largest.get()))
        panel.put(i, i, (x.text, x.like(0.0).text)[: len(panel.at(i))])
        e.unless(e.op(f"icmp eq i64 {i}, 0"), lambda: over(e, 0, i, lambda j: look(i, j)))

    over(e, 0, panel.rows, row)
    size, low, high = largest.get(), 1 / LIMIT[dtype], LIMIT[dtype]
    by.put(size.is_("olt", low).where(size.like(low) / size, by.get()))
    by.put(size.is_("ogt", high).where(size.like(high) / size, by.get()))

    def scaled(i: str) -> None:
        factor = (by.get().text,)
        panel.put_row(i, [tuple([p.product((x,), p.all(factor))[0] for x in v]) for p, v in _row(panel, i)])

    is_usual = by.get().is_("oeq", 1.0) | size.is_("oeq", 0.0)
    e.unless(is_usual.text, lambda: over(e, 0, panel.rows, scaled))
    return is_usual.where(size.like(1.0), size.like(1.0) / by.get())


def _row(panel: Panel, i: str):
    return list(zip(panel.pieces, panel.row(i), strict=True))


@final
class Reduction:
    """A Hermitian matrix made tridiagonal: a = q·t·qᴴ. vectors: becomes qᵀ."""

    def __init__(self, e: Emitter, panel: Panel, diagonal: Array, beside: Array, vectors: Panel | None) -> None:
        self.e, self.panel, self.diagonal, self.beside, self.vectors = e, panel, diagonal, beside, vectors
        self.v, self.w = (Panel.new(e, panel.dtype, 1, panel.columns) for _ in range(2))

    def step(self, rest: Panel, k: str) -> None:
        """Make column k, and row k, end below the diagonal; `rest` is the panel from the vector of that column on.

        Only the row is looked at: the column differs by rounding errors, which are all that is left of some matrices.
        """
        e, dtype, pieces = self.e, self.panel.dtype, rest.pieces
        below = e.op(f"add nuw nsw i64 {k}, 1")
        found = reflection(self.panel, lambda i: conjugate(e, dtype, self.panel.get(k, i)), below)
        self.diagonal.put(k, real(e, found.beta.dtype, self.panel.get(k, k)[0]))
        self.beside.put(k, found.beta)
        v = self.reflected(rest, k, below, found)
        zeros = [(piece.zero,) * len(found.tau) for piece in pieces]
        sums = kept(e, pieces, zeros)
        turned = (
            kept(e, self.vectors.pieces, [(p.zero,) * len(found.tau) for p in self.vectors.pieces])
            if self.vectors
            else []
        )

        def add(i: str) -> None:
            x = self.v.get("0", i)
            row = [tuple(conjugate_all(e, piece.kind, y)) for piece, y in zip(pieces, rest.row(i), strict=True)]
            add_row(pieces, sums, x, row)
            if self.vectors:
                add_row(self.vectors.pieces, turned, x, self.vectors.row(i))

        over(e, below, self.panel.rows, add)
        p = [
            piece.chosen(piece.compared("ugt", k), x, zero)
            for piece, x, zero in zip(pieces, times(pieces, found.tau, at_hand(sums)), zeros, strict=True)
        ]
        w = self.balanced(rest, v, p, found.tau)
        self.updated(rest, below, v, w)
        if self.vectors:
            self.turned(below, times(self.vectors.pieces, negative(e, dtype, found.tau), at_hand(turned)))

    def reflected(self, rest: Panel, k: str, below: str, found: Reflection) -> Row:
        """v as a row, also in memory."""
        e, made = self.e, Row()
        for piece, x in zip(rest.pieces, rest.row(k), strict=True):
            parts = found.divided(piece, conjugate_all(e, piece.kind, x))
            one = (*piece.all((real(e, piece.dtype, 1.0).text,)), *[piece.zero for _ in x[1:]])
            parts = piece.chosen(piece.compared("eq", below), one, parts)
            made.append(piece.chosen(piece.compared("ugt", k), parts, (piece.zero,) * len(x)))
        replace(self.v, skipped=rest.skipped).put_row("0", made)
        return made

    def balanced(self, rest: Panel, v: Row, p: Row, tau: Parts) -> Row:
        """w = p - (tau·pᴴ·v/2)·v, also in memory."""
        e, pieces, dtype = self.e, rest.pieces, real_dtype(self.panel.dtype)
        total = [real(e, dtype, 0.0) for _ in tau]
        for piece, x, y in zip(pieces, p, v, strict=True):
            product = piece.product(conjugate_all(e, piece.kind, x), y)
            total = [t + real(e, dtype, piece.sum(z)) for t, z in zip(total, product, strict=True)]
        scalar = replace(pieces[0], width=1)
        half = tuple([(t * -0.5).text for t in total])
        factor = scalar.product(half, tau)
        triples = zip(pieces, p, v, strict=True)
        w = [piece.plus_product(x, piece.all(factor), y) for piece, x, y in triples]
        replace(self.w, skipped=rest.skipped).put_row("0", w)
        return w

    def updated(self, rest: Panel, below: str, v: Row, w: Row) -> None:
        """Take v·wᴴ + w·vᴴ from the rest of the matrix."""
        e, pieces, dtype = self.e, rest.pieces, self.panel.dtype
        vs, ws = ([conjugate_all(e, p.kind, x) for p, x in zip(pieces, row, strict=True)] for row in (v, w))

        def less(i: str) -> None:
            x, y = (negative(e, dtype, panel.get("0", i)) for panel in (self.v, self.w))
            made = Row()
            for piece, old, a, b in zip(pieces, rest.row(i), vs, ws, strict=True):
                made.append(piece.plus_product(piece.plus_product(old, piece.all(x), b), piece.all(y), a))
            rest.put_row(i, made)

        over(e, below, self.panel.rows, less)

    def turned(self, below: str, moved: Row) -> None:
        """Multiply qᵀ by the transposed reflection from the left."""
        panel = self.vectors
        assert panel

        def add(i: str) -> None:
            v = conjugate(self.e, panel.dtype, self.v.get("0", i))
            triples = zip(panel.pieces, panel.row(i), moved, strict=True)
            panel.put_row(i, [piece.plus_product(x, piece.all(v), y) for piece, x, y in triples])

        over(self.e, below, panel.rows, add)


def sort(e: Emitter, values: Array, n: int, vectors: Sequence[Panel], before: str) -> None:
    """Bring the values, and the rows of panels with them, in the order of a comparison."""

    def first(i: str) -> None:
        at = Slot.new(e, "i64", i)

        def look(j: str) -> None:
            is_before = values.get(j).is_(before, values.get(at.get())).text
            at.put(e.op(f"select i1 {is_before}, i64 {j}, i64 {at.get()}"))

        over(e, e.op(f"add nuw nsw i64 {i}, 1"), n, look)
        j = at.get()
        x, y = values.get(i), values.get(j)
        values.put(i, y)
        values.put(j, x)
        for panel in vectors:
            above, below = panel.row(i), panel.row(j)
            panel.put_row(i, below)
            panel.put_row(j, above)

    if n > 1:
        over(e, 0, n - 1, first)
