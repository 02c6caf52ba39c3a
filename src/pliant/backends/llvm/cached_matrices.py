"""Factorisations and triangular systems of matrices of some ten rows, by loops over rows that stay in cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from pliant.backends.llvm.elimination import LARGEST, Loops, Slot, cofactor, det, lu, over, steps
from pliant.backends.llvm.lanes import place_of
from pliant.backends.llvm.panels import WIDEST, Panel, conjugate, divisor, is_zero
from pliant.backends.llvm.reflections import qr, triangle
from pliant.backends.llvm.singular import svd, svdvals
from pliant.backends.llvm.tridiagonal import eigh, eigvalsh
from pliant.backends.llvm.values import Parts, float_text, llvm_type, parts_of
from pliant.core.ir import Op
from pliant.core.types import Type, itemsize, real_dtype
from pliant.kernel.ir import Affine, Buffer, Routine, Var
from pliant.ops.definite import Definite
from pliant.ops.solve import Cofactor, Det, Lu
from pliant.ops.spectral import Eigh, Eigvalsh, SingularValues, Svd
from pliant.ops.triangular import Cholesky, Qr, QrTriangle, TriangularSolve

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter


LONGEST: Final = 512  # bytes of a row; of more vectors the loops take LLVM long, and LAPACK is as fast
LONGEST_OF: Final[dict[type[Op], int]] = {SingularValues: 256}
"""Bytes of a row up to which the loops are as fast as LAPACK, if that is not for all."""


def is_cached(op: Op, types: Sequence[Type]) -> bool:
    """Whether a primitive on matrices of these types is done by loops in the program."""
    if type(op) not in LOOPED:
        return False
    most = min(LARGEST, LONGEST_OF.get(type(op), LONGEST) // itemsize(types[0].dtype))
    return min(types[0].shape[-2:]) > 0 and max(types[0].shape[-2:]) <= most


def is_in_vectors(op: Op, types: Sequence[Type]) -> bool:
    """Whether LLVM finds no loop to make vectors of in the code of a primitive: all long ones are written in them."""
    return type(op) in IN_VECTORS and is_cached(op, types)


def _cholesky(e: Emitter, step: Routine, loops: Loops) -> list[str]:
    """No answer: as of those written out."""
    panel, failed = _triangle(e, step.args[0], loops)
    panel.turn_out(step.outs[0], place_of(step.outs[0], loops))
    return [failed.get()]


def _definite(e: Emitter, step: Routine, loops: Loops) -> list[str]:
    """Whether there is an answer."""
    failed = _triangle(e, step.args[0], loops)[1]
    e.store(step.outs[0], place_of(step.outs[0], loops), e.op(f"xor i1 {failed.get()}, true"))
    return []


def _triangle(e: Emitter, a: Buffer, loops: Loops) -> tuple[Panel, Slot]:
    """The transposed Cholesky factor, row by row, each being taken from those below; and whether there is none."""
    n, dtype = a.type.shape[-1], a.type.dtype
    real = real_dtype(dtype)
    t, zero = llvm_type(real), float_text(0.0, real)
    panel, failed = Panel.new(e, dtype, n, n), Slot.new(e, "i1", "false")
    panel.turn_in(a, place_of(a, loops))
    size = Slot.new(e, t, panel.get("0", 0)[0])  # of the next number on the diagonal
    scalar = replace(panel.pieces[0], width=1)

    def finished(rest: Panel, k: str) -> list[Parts]:
        failed.put(e.op(f"or i1 {failed.get()}, {e.op(f'fcmp ole {t} {size.get()}, {zero}')}"))
        root = (e.call(f"llvm.sqrt.{real}", real, size.get()), zero)[: len(panel.get(k, k))]
        after = e.op(f"call i64 @llvm.umin.i64(i64 {e.op(f'add nuw nsw i64 {k}, 1')}, i64 {n - 1})")
        x = tuple([e.op(f"fdiv {t} {part}, {root[0]}") for part in panel.get(k, after)])
        size.put(scalar.less_product(panel.get(after, after), x, conjugate(e, dtype, x))[0])
        made = list[Parts]()
        for piece, x in zip(rest.pieces, rest.row(k), strict=True):
            every = piece.all(root)
            made.append(tuple([piece.op("fdiv", part, every[0]) for part in x]))
        first = rest.pieces[0]
        above = first.chosen(first.compared("ugt", k), made[0], (first.zero,) * len(root))
        made[0] = first.chosen(first.compared("eq", k), first.all(root), above)
        panel.put_row(k, [(piece.zero,) * len(root) for piece in panel.pieces[: rest.skipped]] + made)
        return made

    def row(rest: Panel, k: str) -> None:
        made, after = finished(rest, k), e.op(f"add nuw nsw i64 {k}, 1")
        for m in range(len(made)):
            below = replace(panel, skipped=rest.skipped + m)
            low = below.pieces[0].first
            high, each = min(low + panel.lanes, n), partial(less, k, below, made[m:])
            if m:
                over(e, low, high, each)
            else:
                e.unless(e.op(f"icmp eq i64 {after}, {high}"), partial(over, e, after, high, each))

    def less(k: str, below: Panel, rows: list[Parts], i: str) -> None:
        factor = conjugate(e, dtype, panel.get(k, i))
        triples = zip(below.pieces, below.row(i), rows, strict=True)
        below.put_row(i, [piece.less_product(x, piece.all(factor), y) for piece, x, y in triples])

    steps(e, panel, n, row)
    return panel, failed


def _triangular_solve(e: Emitter, step: Routine, loops: Loops) -> list[str]:
    """Substitution, some right sides at once. No answer: a zero on the diagonal."""
    b, out = step.args[1], step.outs[0]
    columns = out.type.shape[-1]
    failed = Slot.new(e, "i1", "false")
    most = WIDEST * Panel(e, out.type.dtype, 1, 1, "").lanes
    count, rest = divmod(columns, most)

    def block(first: Affine, width: int) -> None:
        panel, row = Panel.new(e, out.type.dtype, out.type.shape[-2], width), Var(out.type.shape[-2])
        bounds, wish = ("0", str(panel.rows)), e.module.not_unrolled()
        e.loop(row, lambda: panel.fill(b, place_of(b, loops) + first, row, columns), bounds, wish)
        _substituted(e, step, loops, panel, failed)
        e.loop(row, lambda: panel.empty(out, place_of(out, loops) + first, row, columns), bounds, wish)

    if count:
        every = Var(count)
        e.loop(every, lambda: block(Affine(0, ((every, most),)), most), ("0", str(count)), e.module.not_unrolled())
    if rest:
        block(Affine(count * most), rest)
    return [failed.get()]


def _substituted(e: Emitter, step: Routine, loops: Loops, panel: Panel, failed: Slot) -> None:
    """The solutions in the place of right sides."""
    a, op, n, dtype = step.args[0], step.node.op, panel.rows, panel.dtype
    assert isinstance(op, TriangularSolve)
    forward, start = op.lower != op.adjoint, place_of(a, loops)

    def element(i: Var, j: Var) -> Parts:
        i, j = (j, i) if op.adjoint else (i, j)
        x = parts_of(e.load(a, start + Affine(0, ((i, n),)) + Affine(0, ((j, 1),))))
        return conjugate(e, dtype, x) if op.adjoint else x

    def solved(j: Var) -> list[Parts]:
        row = panel.row(e.env[j])
        if op.unit:
            return row
        x = element(j, j)
        failed.put(e.op(f"or i1 {failed.get()}, {is_zero(e, dtype, x)}"))
        by = divisor(e, dtype, x)
        row = [piece.divided(y, piece.all(by)) for piece, y in zip(panel.pieces, row, strict=True)]
        panel.put_row(e.env[j], row)
        return row

    def column(step: str) -> None:
        e.env[j] = step if forward else e.op(f"sub nuw nsw i64 {n - 1}, {step}")
        row = solved(j)
        bounds = (e.op(f"add nuw nsw i64 {e.env[j]}, 1"), str(n)) if forward else ("0", e.env[j])
        last = e.op(f"icmp eq i64 {step}, {n - 1}")
        e.unless(last, lambda: e.loop(i, lambda: others(row), bounds, e.module.not_unrolled()))
        del e.env[j]

    def others(row: list[Parts]) -> None:
        x, here = element(i, j), panel.row(e.env[i])
        triples = zip(panel.pieces, here, row, strict=True)
        panel.put_row(e.env[i], [piece.less_product(y, piece.all(x), z) for piece, y, z in triples])

    i, j = Var(n), Var(n)
    over(e, 0, n, column)


LOOPED: Final[dict[type[Op], Callable[[Emitter, Routine, Loops], list[str]]]] = {
    Cholesky: _cholesky,
    Cofactor: cofactor,
    Definite: _definite,
    Det: det,
    Eigh: eigh,
    Eigvalsh: eigvalsh,
    Lu: lu,
    Qr: qr,
    QrTriangle: triangle,
    SingularValues: svdvals,
    Svd: svd,
    TriangularSolve: _triangular_solve,
}
"""Primitive → its code for one matrix; i1s that say that there is no answer."""
IN_VECTORS: Final = (Eigh, Eigvalsh, Qr, QrTriangle, SingularValues, Svd)
