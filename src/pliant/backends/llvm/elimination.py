"""LU factorisations of matrices of some ten rows, and what is made from them, by loops over rows that stay in cache.

Column by column: the row of the largest element is brought up, and a multiple of it is taken from each row below. The
next column's largest element is found on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias, final

from pliant.backends.llvm.lanes import place_of
from pliant.backends.llvm.panels import Panel, divisor, is_zero, size_of
from pliant.backends.llvm.values import Parts, float_text, llvm_type
from pliant.core.data import frozen
from pliant.core.types import real_dtype
from pliant.kernel.ir import Affine, Buffer, Routine, Var

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter

LARGEST: Final = 64  # rows

Loops: TypeAlias = Sequence[Var]


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
@frozen
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


@final
class Order:
    """Which rows of a matrix those at hand were."""

    def __init__(self, e: Emitter, n: int) -> None:
        self.e, self.memory = e, e.alloca(f"[{n} x i64]")
        over(e, 0, n, lambda i: self.put(i, i))

    def get(self, row: str) -> str:
        """The number of a row."""
        return self.e.op(f"load i64, ptr {self._at(row)}")

    def put(self, row: str, number: str) -> None:
        """Another number."""
        self.e.line(f"store i64 {number}, ptr {self._at(row)}")

    def exchange(self, i: str, j: str) -> None:
        """Two rows have been exchanged."""
        x, y = self.get(i), self.get(j)
        self.put(j, x)
        self.put(i, y)

    def _at(self, row: str) -> str:
        return self.e.op(f"getelementptr i64, ptr {self.memory}, i64 {row}")


def lu(e: Emitter, step: Routine, loops: Loops) -> list[str]:
    """The triangles, and the order of the rows."""
    (a,), (lu, perm) = step.args, step.outs
    n = a.type.shape[-1]
    order, panel, every = Order(e, n), filled(e, a, loops), Var(n)
    Elimination(e, panel, order.exchange)
    emptied(e, panel, lu, loops)

    def number() -> None:
        e.store(perm, place_of(perm, loops, Affine(0, ((every, 1),))), order.get(e.env[every]))

    e.loop(every, number, ("0", str(n)))
    return []


def _turned(e: Emitter, sign: Slot, i: str, j: str) -> None:
    """Change a sign if two rows that have been exchanged are not one."""
    before, same = sign.get(), e.op(f"icmp eq i64 {i}, {j}")
    negative = e.op(f"fneg {sign.kind} {before}")
    sign.put(e.op(f"select i1 {same}, {sign.kind} {before}, {sign.kind} {negative}"))


def _started(e: Emitter, panel: Panel) -> list[Slot]:
    """Variables for the parts of a product of numbers of a panel, at 1."""
    real = real_dtype(panel.dtype)
    return [Slot.new(e, llvm_type(real), float_text(x, real)) for x, _ in zip((1.0, 0.0), panel.at("0"), strict=False)]


def _times(total: list[Slot], panel: Panel, k: str) -> None:
    """Multiply a product by a number of the diagonal."""
    scalar = replace(panel.pieces[0], width=1)
    product = scalar.product(tuple([slot.get() for slot in total]), panel.get(k, k))
    for slot, x in zip(total, product, strict=True):
        slot.put(x)


def det(e: Emitter, step: Routine, loops: Loops) -> list[str]:
    """The product of the diagonal of a triangle, its sign changed by every exchange of rows."""
    (a,), (out,) = step.args, step.outs
    panel = filled(e, a, loops)
    total = _started(e, panel)
    Elimination(e, panel, partial(_turned, e, total[0]))
    over(e, 0, panel.rows, partial(_times, total, panel))
    whole = [slot.get() for slot in total]
    e.store(out, place_of(out, loops), (whole[0], whole[1]) if len(whole) == 2 else whole[0])
    return []


def cofactor(e: Emitter, step: Routine, loops: Loops) -> list[str]:
    """Every cofactor, right for singular matrices too: with a[order] = l·u, those of u, from the left by l⁻ᵀ.

    Those of the first k + 1 rows and columns of u come without division from those of the first k:

        c[k] = -Σ u[i, k]·c[i] for all i < k; c[k, k] = det(u[:k, :k]); c[i] *= u[k, k]
    """
    (a,), (out,) = step.args, step.outs
    n, dtype = a.type.shape[-1], a.type.dtype
    order, panel, made = Order(e, n), filled(e, a, loops), Panel.new(e, dtype, n, n)
    sign, total = _started(e, panel)[0], _started(e, panel)

    def exchanged(i: str, j: str) -> None:
        order.exchange(i, j)
        _turned(e, sign, i, j)

    Elimination(e, panel, exchanged)

    def more(k: str) -> None:
        zeros = [(piece.zero,) * len(total) for piece in made.pieces]
        made.put_row(k, zeros)
        e.unless(e.op(f"icmp eq i64 {k}, 0"), lambda: over(e, 0, k, lambda i: less(made, k, panel.get(i, k), i, k)))
        for slot, place in zip(total, made.at(k, k), strict=True):
            e.line(f"store {slot.kind} {slot.get()}, ptr {place}")
        _times(total, panel, k)

    def less(rows: Panel, i: str, factor: Parts, j: str, scaled: str = "") -> None:
        triples = list(zip(rows.pieces, rows.row(i), rows.row(j), strict=True))
        rows.put_row(i, [piece.less_product(x, piece.all(factor), y) for piece, x, y in triples])
        if scaled:
            by = panel.get(scaled, scaled)
            rows.put_row(j, [piece.product(y, piece.all(by)) for piece, _, y in triples])

    def solved(step: str) -> None:
        j = e.op(f"sub nuw nsw i64 {n - 1}, {step}")
        e.unless(e.op(f"icmp eq i64 {j}, 0"), lambda: over(e, 0, j, lambda i: less(made, i, panel.get(j, i), j)))
        by = sign.get()
        signed = [
            tuple([piece.op("fmul", part, piece.all((by,))[0]) for part in x])
            for piece, x in zip(made.pieces, made.row(j), strict=True)
        ]
        made.put_row(j, signed)

    over(e, 0, n, more)
    over(e, 0, n, solved)
    row, target = Var(n), Var(n)

    def written() -> None:
        e.env[target] = order.get(e.env[row])
        made.empty(out, place_of(out, loops), row, n, target)
        del e.env[target]

    e.loop(row, written, ("0", str(n)), e.module.not_unrolled())
    return []
