"""Householder's reflections of matrices of some ten rows, in cache: 1 - tau·v·vᴴ makes all but the first number of a
column 0; and the factors Q and R that they give. Signs are those of LAPACK."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias, final

from pliant.backends.llvm.elimination import Slot, filled, over, steps
from pliant.backends.llvm.lanes import place_of
from pliant.backends.llvm.panels import Panel, Piece, conjugate, divisor, is_zero
from pliant.backends.llvm.reals import Condition, Real, Variable, real
from pliant.backends.llvm.values import Parts, llvm_type
from pliant.core.data import frozen
from pliant.core.types import real_dtype
from pliant.kernel.ir import Buffer, Routine, Var

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter

RANGE: Final = {"f32": 2.0**100, "f64": 2.0**900}
"""Sums of squares within this, and one by this, have lost nothing to the limits of the dtype."""
UNIT: Final = {"f32": 2.0**98, "f64": 2.0**600}
"""What smaller numbers are multiplied by, and larger ones divided by."""

Loops: TypeAlias = Sequence[Var]
Row: TypeAlias = list[Parts]


@final
@frozen
class Reflection:
    """What makes numbers a multiple, beta, of the first unit vector. none: nothing, as they are one; tau is 0 then.

    unit, by: what all but the first number, 1, of v are multiplied by, and divided by then.
    """

    none: Condition
    beta: Real
    tau: Parts
    unit: Real
    by: Parts

    def divided(self, scalar: Piece, x: Parts) -> Parts:
        """What x becomes in v."""
        (unit,) = scalar.all((self.unit.text,))
        return scalar.divided(tuple([scalar.op("fmul", part, unit) for part in x]), scalar.all(self.by))


def reflection(panel: Panel, numbers: Callable[[str], Parts], top: str) -> Reflection:
    """The reflection for as many numbers as a panel has rows, from `top` on; as of LAPACK's larfg."""
    e, dtype = panel.e, real_dtype(panel.dtype)
    below = e.op(f"add nuw nsw i64 {top}, 1")
    squares, unit, some = Variable(e, dtype, 0.0), Variable(e, dtype, 1.0), Slot.new(e, "i1", "false")

    def alpha() -> list[Real]:
        return [real(e, dtype, part) * unit.get() for part in numbers(top)]

    def total() -> Real:
        found = squares.get()
        for x in alpha():
            found = found.plus(x, x)
        return found

    def add(i: str) -> None:
        for part in numbers(i):
            x = real(e, dtype, part) * unit.get()
            squares.put(squares.get().plus(x, x))
            some.put((Condition(e, some.get()) | x.is_("une", 0.0)).text)

    def add_all() -> None:
        e.unless(e.op(f"icmp uge i64 {below}, {panel.rows}"), lambda: over(e, below, panel.rows, add))

    def again() -> None:
        far = real(e, dtype, UNIT[dtype])
        unit.put(whole.is_("olt", 1.0).where(far, far.like(1 / UNIT[dtype])))
        squares.put(far.like(0.0))
        add_all()

    add_all()
    whole = total()
    e.unless((whole.is_("ogt", 1 / RANGE[dtype]) & whole.is_("olt", RANGE[dtype])).text, again)
    first, *others = alpha()
    none = ~Condition(e, some.get())
    for x in others:
        none = none & x.is_("oeq", 0.0)
    zero, one = first.like(0.0), first.like(1.0)
    beta = none.where(first, -total().sqrt().signed(first))
    tau = [none.where(zero, (beta - first) / beta), *[none.where(zero, -x / beta) for x in others]]
    by = none.where(one, first - beta), *others
    return Reflection(
        none,
        beta / unit.get(),
        tuple([x.text for x in tau]),
        unit.get(),
        divisor(e, panel.dtype, tuple([x.text for x in by])),
    )


def kept(e: Emitter, pieces: Sequence[Piece], row: Row) -> list[list[Slot]]:
    """Variables for the vectors of a row."""
    pairs = zip(pieces, row, strict=True)
    return [[Slot.new(e, piece.kind, part) for part in x] for piece, x in pairs]


def at_hand(slots: list[list[Slot]]) -> Row:
    """The vectors of a row."""
    return [tuple([slot.get() for slot in x]) for x in slots]


def add_row(pieces: Sequence[Piece], slots: list[list[Slot]], factor: Parts, row: Row) -> None:
    """Add a multiple of a row."""
    for piece, x, y in zip(pieces, slots, row, strict=True):
        made = piece.plus_product(tuple([slot.get() for slot in x]), piece.all(factor), y)
        for slot, part in zip(x, made, strict=True):
            slot.put(part)


def times(pieces: Sequence[Piece], factor: Parts, row: Row) -> Row:
    """A multiple of a row."""
    return [piece.product(piece.all(factor), x) for piece, x in zip(pieces, row, strict=True)]


def negative(e: Emitter, dtype: str, x: Parts) -> Parts:
    """-x."""
    return tuple([e.op(f"fneg {llvm_type(dtype)} {part}") for part in x])


def qr(e: Emitter, step: Routine, loops: Loops) -> list[str]:
    """The triangle, and the product of the reflections."""
    q, r = step.outs
    panel, taus = _reflected_columns(e, step, loops)
    whole = Panel.new(e, panel.dtype, panel.rows, q.type.shape[-1])
    _product_of_all(e, panel, taus, whole)
    every, wish = Var(panel.rows), e.module.not_unrolled()
    e.loop(every, lambda: whole.empty(q, place_of(q, loops), every, whole.columns), ("0", str(panel.rows)), wish)
    _write_triangle(e, panel, r, loops)
    return []


def triangle(e: Emitter, step: Routine, loops: Loops) -> list[str]:
    """The triangle alone."""
    panel, _ = _reflected_columns(e, step, loops)
    _write_triangle(e, panel, step.outs[0], loops)
    return []


def _reflected_columns(e: Emitter, step: Routine, loops: Loops) -> tuple[Panel, Panel]:
    """A panel with the triangle, and the vectors of the reflections below it, and their taus."""
    (a,) = step.args
    dtype, rank = a.type.dtype, min(a.type.shape[-2:])
    panel = filled(e, a, loops)
    taus, column = Panel.new(e, dtype, rank, 1), Panel.new(e, dtype, panel.rows, 1)
    steps(e, panel, rank, lambda rest, j: _reflected(e, panel, rest, j, taus, column))
    return panel, taus


def _write_triangle(e: Emitter, panel: Panel, r: Buffer, loops: Loops) -> None:
    """The rows of a panel, zeros below the diagonal."""
    every = Var(panel.rows)

    def row() -> None:
        row, i = panel.row(e.env[every]), e.env[every]
        pairs = zip(panel.pieces, row, strict=True)
        made = [piece.chosen(piece.compared("uge", i), x, (piece.zero,) * len(x)) for piece, x in pairs]
        panel.put_row(i, made)
        panel.empty(r, place_of(r, loops), every, panel.columns)

    e.loop(every, row, ("0", str(r.type.shape[-2])), e.module.not_unrolled())


def _reflected(e: Emitter, panel: Panel, rest: Panel, j: str, taus: Panel, column: Panel) -> None:
    """Reflect column j and those after it; v takes the place of the zeros. column: memory for v."""
    found = reflection(panel, lambda i: panel.get(i, j), j)
    taus.put(j, 0, found.tau)
    e.unless(found.none.text, lambda: _reflect_rest(e, rest, j, found, column))


def _reflect_rest(e: Emitter, rest: Panel, j: str, found: Reflection, column: Panel) -> None:
    """Reflect column j and those after it by what has been found for it."""
    dtype, pieces = rest.dtype, rest.pieces
    scalar, first = replace(pieces[0], width=1), pieces[0]
    sums, below = kept(e, pieces, rest.row(j)), e.op(f"add nuw nsw i64 {j}, 1")
    is_last = e.op(f"icmp uge i64 {below}, {rest.rows}")

    def add(i: str) -> None:
        v = found.divided(scalar, rest.get(i, j))
        column.put(i, 0, v)
        add_row(pieces, sums, conjugate(e, dtype, v), rest.row(i))

    e.unless(is_last, lambda: over(e, below, rest.rows, add))
    moved = times(pieces, negative(e, dtype, conjugate(e, dtype, found.tau)), at_hand(sums))
    is_after, is_here = first.compared("ugt", j), first.compared("eq", j)

    def put(i: str, v: Parts, here: Parts) -> None:
        old = rest.row(i)
        triples = zip(pieces, old, moved, strict=True)
        made = [piece.plus_product(x, piece.all(v), y) for piece, x, y in triples]
        made[0] = first.chosen(is_after, made[0], first.chosen(is_here, first.all(here), old[0]))
        rest.put_row(i, made)

    def less(i: str) -> None:
        v = column.get(i, 0)
        put(i, v, v)

    one, zero = found.beta.like(1.0).text, found.beta.like(0.0).text
    put(j, (one, zero)[: len(found.tau)], (found.beta.text, zero)[: len(found.tau)])
    e.unless(is_last, lambda: over(e, below, rest.rows, less))


def _product_of_all(e: Emitter, panel: Panel, taus: Panel, whole: Panel) -> None:
    """The product of the reflections whose vectors a panel holds below its diagonal, times the identity."""
    identity(e, whole)
    last = taus.rows - 1

    def step(skipped: int) -> Callable[[str], None]:
        return lambda n: one(replace(whole, skipped=skipped), e.op(f"sub nuw nsw i64 {last}, {n}"))

    def one(rest: Panel, j: str) -> None:
        tau = taus.get(j, 0)
        e.unless(is_zero(e, panel.dtype, tau), lambda: reflect(e, rest, panel, j, tau))

    # The rows from j on are those of the identity before column j: backward, they stay short.
    for skipped in reversed(range(len(whole.pieces))):
        low, high = skipped * whole.lanes, min((skipped + 1) * whole.lanes, taus.rows)
        if low < high:
            over(e, last + 1 - high, last + 1 - low, step(skipped))


def identity(e: Emitter, panel: Panel) -> None:
    """Fill a panel with ones on its diagonal and zeros elsewhere."""

    over(e, 0, panel.rows, lambda i: panel.put_row(i, unit_row(panel, i)))


def unit_row(panel: Panel, i: str) -> Row:
    """Row i of the identity."""
    made = Row()
    for piece in panel.pieces:
        one = real(panel.e, piece.dtype, 1.0).text
        parts = (piece.zero,) * (2 if panel.dtype[0] == "c" else 1)
        ones = (*piece.all((one,)), *parts[1:])
        made.append(piece.chosen(piece.compared("eq", i), ones, parts))
    return made


def reflect(e: Emitter, rest: Panel, panel: Panel, j: str, tau: Parts) -> None:
    """Reflect all columns of a panel by the reflection in column j of another one."""
    dtype, pieces, below = panel.dtype, rest.pieces, e.op(f"add nuw nsw i64 {j}, 1")
    sums, is_last = kept(e, pieces, rest.row(j)), e.op(f"icmp uge i64 {below}, {panel.rows}")

    def add(i: str) -> None:
        add_row(pieces, sums, conjugate(e, dtype, panel.get(i, j)), rest.row(i))

    e.unless(is_last, lambda: over(e, below, panel.rows, add))
    moved = times(pieces, negative(e, dtype, tau), at_hand(sums))

    def less(i: str) -> None:
        triples = zip(pieces, rest.row(i), moved, strict=True)
        v = panel.get(i, j)
        rest.put_row(i, [piece.plus_product(x, piece.all(v), y) for piece, x, y in triples])

    top = zip(pieces, rest.row(j), moved, strict=True)
    rest.put_row(j, [tuple([piece.op("fadd", p, q) for p, q in zip(x, y, strict=True)]) for piece, x, y in top])
    e.unless(is_last, lambda: over(e, below, panel.rows, less))
