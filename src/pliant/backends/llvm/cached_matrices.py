"""Factorisations and triangular systems of matrices of some ten rows, by loops over rows that stay in cache.

LU, column by column: the row of the largest element is brought up, and a multiple of it is taken from each row below.
The next column's largest element is found on the way. Cholesky likewise, on the transposed matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias, final

from pliant.backends.llvm.lanes import place_of
from pliant.backends.llvm.panels import WIDEST, Panel, Parts, conjugate, divisor, is_zero, parts_of, size_of
from pliant.backends.llvm.values import float_text, llvm_type
from pliant.core.ir import Op
from pliant.core.types import Type, real_dtype
from pliant.kernel.ir import Affine, Buffer, Routine, Var
from pliant.ops.solve import Det, Lu
from pliant.ops.triangular import Cholesky, TriangularSolve

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter

LARGEST: Final = 32  # rows; larger matrices go to LAPACK

Loops: TypeAlias = Sequence[Var]


def is_cached(op: Op, types: Sequence[Type]) -> bool:
    """Whether a primitive on matrices of these types is done by loops in the program."""
    return type(op) in LOOPED and 0 < types[0].shape[-1] <= LARGEST


def over(e: Emitter, first: str | int, end: str | int, body: Callable[[str], None], most: int = LARGEST) -> None:
    """A body for each index of a range that is not empty, by a loop that stays one."""
    every = Var(most)
    e.loop(every, lambda: body(e.env[every]), (str(first), str(end)), e.module.not_unrolled())


def filled(e: Emitter, a: Buffer, loops: Loops) -> Panel:
    """A copy of the matrix that the loops are at."""
    n, m = a.type.shape[-2:]
    panel, row = Panel.new(e, a.type.dtype, n, m), Var(n)
    e.loop(row, lambda: panel.fill(a, place_of(a, loops), row, m), ("0", str(n)), e.module.not_unrolled())
    return panel


def emptied(e: Emitter, panel: Panel, out: Buffer, loops: Loops) -> None:
    """Write a whole matrix."""
    n, m = out.type.shape[-2:]
    row = Var(n)
    e.loop(row, lambda: panel.empty(out, place_of(out, loops), row, m), ("0", str(n)), e.module.not_unrolled())


def steps(e: Emitter, panel: Panel, end: int, body: Callable[[Panel, str], None]) -> None:
    """A body for each row, and each column, before `end`, and the panel without the vectors before that column."""
    for skipped in range(len(panel.pieces)):
        low, high = skipped * panel.lanes, min((skipped + 1) * panel.lanes, end)
        rest = replace(panel, skipped=skipped)
        if low < high:
            over(e, low, high, lambda k, rest=rest: body(rest, k))


@final
@dataclass(frozen=True)
class Slot:
    """A variable of the program."""

    e: Emitter
    kind: str
    place: str

    @classmethod
    def new(cls, e: Emitter, kind: str, value: str) -> Slot:
        """A variable with its first value."""
        slot = cls(e, kind, e.alloca(kind))
        slot.put(value)
        return slot

    def put(self, value: str) -> None:
        """Another value."""
        self.e.line(f"store {self.kind} {value}, ptr {self.place}")

    def get(self) -> str:
        """The value."""
        return self.e.op(f"load {self.kind}, ptr {self.place}")


@final
class Elimination:
    """The triangles of a matrix, packed, in the place of the matrix itself."""

    def __init__(self, e: Emitter, panel: Panel, exchanged: Callable[[str, str], None]) -> None:
        """exchanged: emits what is to be done when two rows have been exchanged, perhaps one with itself."""
        self.e, self.panel, self.exchanged = e, panel, exchanged
        self.dtype, self.real = panel.dtype, real_dtype(panel.dtype)
        self.largest = Slot.new(e, llvm_type(self.real), float_text(-1.0, self.real))
        self.where = Slot.new(e, "i64", "0")
        n = panel.rows
        over(e, 0, n, lambda i: self.look(i, panel.get(i, 0)))
        steps(e, panel, n - 1, self.step)

    def look(self, row: str, x: Parts) -> None:
        """Note whether a number is the largest one so far."""
        size, before, at = size_of(self.e, self.dtype, x), self.largest.get(), self.where.get()
        t = llvm_type(self.real)
        larger = self.e.op(f"fcmp ogt {t} {size}, {before}")
        self.largest.put(self.e.op(f"select i1 {larger}, {t} {size}, {t} {before}"))
        self.where.put(self.e.op(f"select i1 {larger}, i64 {row}, i64 {at}"))

    def step(self, rest: Panel, k: str) -> None:
        """Eliminate column k; `rest` is the panel from the vector of that column on."""
        e, panel, at = self.e, self.panel, self.where.get()
        top, first = self.brought_up(k, at), rest.pieces[0]
        after = e.op(f"add nuw nsw i64 {k}, 1")
        number, next_one = panel.get(k, k), panel.get(k, after)
        by, one = divisor(e, self.dtype, number), (float_text(1.0, self.real), float_text(0.0, self.real))
        none = is_zero(e, self.dtype, number)
        t = llvm_type(self.dtype)
        by = tuple([e.op(f"select i1 {none}, {t} {y}, {t} {x}") for x, y in zip(by, one, strict=False)])
        is_after, is_here = first.compared("ugt", k), first.compared("eq", k)
        scalar = replace(first, width=1)
        self.largest.put(float_text(-1.0, self.real))
        self.where.put(after)
        pivots = top[rest.skipped :]

        def row(i: str) -> None:
            factor = scalar.divided(panel.get(i, k), by)
            self.look(i, scalar.less_product(panel.get(i, after), factor, next_one))
            made = list[Parts]()
            for n, (piece, x, y) in enumerate(zip(rest.pieces, rest.row(i), pivots, strict=True)):
                every = piece.all(factor)
                less = piece.less_product(x, every, y)
                made.append(less if n else piece.chosen(is_after, less, piece.chosen(is_here, every, x)))
            rest.put_row(i, made)

        over(e, after, panel.rows, row)

    def brought_up(self, k: str, at: str) -> list[Parts]:
        """Exchange two rows; the vectors of the one that is further up then."""
        above, below = self.panel.row(k), self.panel.row(at)
        self.panel.put_row(at, above)
        self.panel.put_row(k, below)
        self.exchanged(k, at)
        return below


def _lu(e: Emitter, step: Routine, loops: Loops) -> list[str]:
    """The triangles, and the order of the rows."""
    (a,), (lu, perm) = step.args, step.outs
    n = a.type.shape[-1]
    order = e.alloca(f"[{n} x i64]")

    def place(i: str) -> str:
        return e.op(f"getelementptr i64, ptr {order}, i64 {i}")

    def exchanged(i: str, j: str) -> None:
        x, y = (e.op(f"load i64, ptr {place(row)}") for row in (i, j))
        e.line(f"store i64 {x}, ptr {place(j)}")
        e.line(f"store i64 {y}, ptr {place(i)}")

    over(e, 0, n, lambda i: e.line(f"store i64 {i}, ptr {place(i)}"))
    panel = filled(e, a, loops)
    Elimination(e, panel, exchanged)
    emptied(e, panel, lu, loops)
    every = Var(n)

    def number() -> None:
        e.store(perm, place_of(perm, loops, Affine(0, ((every, 1),))), e.op(f"load i64, ptr {place(e.env[every])}"))

    e.loop(every, number, ("0", str(n)))
    return []


def _det(e: Emitter, step: Routine, loops: Loops) -> list[str]:
    """The product of the diagonal of a triangle, its sign changed by every exchange of rows."""
    (a,), (out,) = step.args, step.outs
    dtype, n = real_dtype(a.type.dtype), a.type.shape[-1]
    t = llvm_type(dtype)
    panel = filled(e, a, loops)
    sign = Slot.new(e, t, float_text(1.0, dtype))

    def exchanged(i: str, j: str) -> None:
        before, same = sign.get(), e.op(f"icmp eq i64 {i}, {j}")
        sign.put(e.op(f"select i1 {same}, {t} {before}, {t} {e.op(f'fneg {t} {before}')}"))

    Elimination(e, panel, exchanged)
    one = sign.get(), float_text(0.0, dtype)
    total = [Slot.new(e, t, x) for x, _ in zip(one, panel.get("0", 0), strict=False)]
    scalar = replace(panel.pieces[0], width=1)

    def times(i: str) -> None:
        product = scalar.product(tuple([slot.get() for slot in total]), panel.get(i, i))
        for slot, x in zip(total, product, strict=True):
            slot.put(x)

    over(e, 0, n, times)
    whole = [slot.get() for slot in total]
    e.store(out, place_of(out, loops), (whole[0], whole[1]) if len(whole) == 2 else whole[0])
    return []


def _cholesky(e: Emitter, step: Routine, loops: Loops) -> list[str]:
    """The transposed factor, row by row, each being taken from those below. No answer: as of those written out."""
    (a,), (out,) = step.args, step.outs
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
    panel.turn_out(out, place_of(out, loops))
    return [failed.get()]


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
    Det: _det,
    Lu: _lu,
    TriangularSolve: _triangular_solve,
}
"""Primitive → its code for one matrix; i1s that say that there is no answer."""
