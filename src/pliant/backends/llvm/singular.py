"""Singular values and vectors of matrices of some ten rows, in cache: rotations make the rows of j·a orthogonal.

Then these are diag(s)·vh, and a is jᴴ·diag(s)·vh. Of a matrix with more rows than columns it is aᵀ. Of larger ones j
begins as the eigenvectors of a·aᴴ, up to whose errors rows are orthogonal at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from pliant.backends.llvm.elimination import Slot, emptied, over
from pliant.backends.llvm.jacobi import NEGLIGIBLE, Sweeps, inner
from pliant.backends.llvm.lanes import place_of
from pliant.backends.llvm.panels import Panel, conjugate
from pliant.backends.llvm.reals import Array, Condition, Real, Variable, real
from pliant.backends.llvm.reflections import Row, add_row, at_hand, identity, kept, negative, unit_row
from pliant.backends.llvm.tridiagonal import decomposed, sort, write_values
from pliant.backends.llvm.values import llvm_type
from pliant.core.types import real_dtype
from pliant.kernel.ir import Buffer, Routine, Var

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter

MOST_ROTATED: Final = 8  # rows; more take eigenvectors of the product first
LEAST: Final = {"f32": 2.0**-126, "f64": 2.0**-1022}
EXPONENT: Final = {"f32": ("i32", 0x7F800000), "f64": ("i64", 0x7FF0000000000000)}
"""The bits of a number that are its power of two."""

Loops: TypeAlias = Sequence[Var]


def svdvals(e: Emitter, step: Routine, loops: Loops) -> list[str]:
    """The singular values alone."""
    (a,), (s,) = step.args, step.outs
    panel = Panel.new(e, a.type.dtype, min(a.type.shape[-2:]), max(a.type.shape[-2:]))
    found, unit = _orthogonal(e, a, loops, panel, None)
    return [_write(found, unit, s, loops)]


def svd(e: Emitter, step: Routine, loops: Loops) -> list[str]:
    """Singular values and vectors."""
    (a,), (u, s, vh) = step.args, step.outs
    (m, n), dtype = a.type.shape[-2:], a.type.dtype
    turned = Panel.new(e, dtype, min(m, n), min(m, n))
    panel = Panel.new(e, dtype, u.type.shape[-1] if m > n else vh.type.shape[-2], max(m, n))
    found, unit = _orthogonal(e, a, loops, panel, turned)
    _normalised(e, panel, found.sizes)
    straight, across = (vh, u) if m <= n else (u, vh)
    if m > n:
        panel.turn_out(straight, place_of(straight, loops))
        emptied(e, turned, across, loops)
    else:
        emptied(e, panel, straight, loops)
        turned.turn_out(across, place_of(across, loops))
    return [_write(found, unit, s, loops)]


def _orthogonal(e: Emitter, a: Buffer, loops: Loops, panel: Panel, turned: Panel | None) -> tuple[Sweeps, Real]:
    """A matrix, or its transpose, with orthogonal rows in a panel, the longest first, zeros below them; and the unit
    of the numbers there. turned: becomes the conjugate of j."""
    m, n = a.type.shape[-2:]
    count = min(m, n)
    if m > n:
        panel.turn_in(a, place_of(a, loops))
    else:
        row = Var(m)
        e.loop(row, lambda: panel.fill(a, place_of(a, loops), row, n), ("0", str(m)), e.module.not_unrolled())
    if panel.rows > count:
        over(e, count, panel.rows, lambda i: panel.put_row(i, _zeros(panel)))
    unit = _scaled(e, panel, count)
    if count > MOST_ROTATED:
        _near(e, panel, count, turned or Panel.new(e, panel.dtype, count, count))
    elif turned:
        identity(e, turned)
    found = Sweeps(e, panel, count, turned)
    found.run()
    sort(e, found.sizes, count, [panel, turned] if turned else [panel], "ogt")
    return found, unit


def _zeros(panel: Panel) -> Row:
    return [(piece.zero,) * len(panel.at("0")) for piece in panel.pieces]


def _scaled(e: Emitter, panel: Panel, count: int) -> Real:
    """Divide by a power of two, that at the largest number of a panel."""
    dtype = real_dtype(panel.dtype)
    largest, (kind, mask) = Variable(e, dtype, LEAST[dtype]), EXPONENT[dtype]

    def look(i: str, j: str) -> None:
        for part in panel.get(i, j):
            size = abs(real(e, dtype, part))
            largest.put(size.is_("ogt", largest.get()).where(size, largest.get()))

    over(e, 0, count, lambda i: over(e, 0, panel.columns, lambda j: look(i, j)))
    bits = e.op(f"bitcast {llvm_type(dtype)} {largest.get().text} to {kind}")
    unit = real(e, dtype, e.op(f"bitcast {kind} {e.op(f'and {kind} {bits}, {mask}')} to {llvm_type(dtype)}"))
    over(e, 0, count, lambda i: _multiply(panel, i, unit.like(1.0) / unit))
    return unit


def _multiply(panel: Panel, i: str, by: Real) -> None:
    """Multiply a row by a real number."""
    pairs = zip(panel.pieces, panel.row(i), strict=True)
    panel.put_row(i, [tuple([p.op("fmul", part, p.all((by.text,))[0]) for part in x]) for p, x in pairs])


def _near(e: Emitter, panel: Panel, count: int, turned: Panel) -> None:
    """Make the first rows of a panel orthogonal up to the errors of the eigenvectors of their products."""
    products, rows = Panel.new(e, panel.dtype, count, count), Panel.new(e, panel.dtype, count, panel.columns)

    def product(i: str, j: str) -> None:
        parts = inner(panel, panel.row(i), panel.row(j))
        products.put(i, j, tuple([part.text for part in parts]))

    def combined(i: str) -> None:
        slots = kept(e, panel.pieces, _zeros(panel))
        over(
            e,
            0,
            count,
            lambda j: add_row(panel.pieces, slots, conjugate(e, panel.dtype, turned.get(i, j)), rows.row(j)),
        )
        panel.put_row(i, at_hand(slots))

    def row(i: str) -> None:
        rows.put_row(i, panel.row(i))
        products.put_row(i, _zeros(products))
        over(e, 0, e.op(f"add nuw nsw i64 {i}, 1"), lambda j: product(i, j))

    over(e, 0, count, row)
    decomposed(products, turned)
    over(e, 0, count, combined)


def _write(found: Sweeps, unit: Real, out: Buffer, loops: Loops) -> str:
    """Write the lengths of rows; whether there is no answer. As in LAPACK, infinities have one, NaN."""
    failed = found.going

    def look(i: str) -> None:
        x = found.sizes.get(i)
        failed.put((Condition(found.e, failed.get()) | x.is_("uno", x)).text)

    over(found.e, 0, found.count, look)
    write_values(found.e, out, loops, found.sizes, unit)
    return (Condition(found.e, failed.get()) & unit.is_("olt", float("inf"))).text


def _normalised(e: Emitter, panel: Panel, sizes: Array) -> None:
    """Make all rows of a panel unit vectors, in the place of negligible ones some that are orthogonal to all before."""
    at, least = Slot.new(e, "i64", "0"), NEGLIGIBLE[sizes.dtype]

    def one(i: str) -> None:
        size = sizes.get(i)
        is_negligible = size.is_("ole", least)
        e.unless(is_negligible.text, lambda: _multiply(panel, i, size.like(1.0) / size))
        e.unless((~is_negligible).text, lambda: e.repeat(lambda: another(i)))

    def another(i: str) -> str:
        """What the rows above leave of the next column of the identity; whether that is too short.

        A column that is too short once stays so: none is looked at twice.
        """
        panel.put_row(i, unit_row(panel, at.get()))
        at.put(e.op(f"add nuw nsw i64 {at.get()}, 1"))
        e.unless(e.op(f"icmp eq i64 {i}, 0"), lambda: over(e, 0, 2, lambda _: over(e, 0, i, lambda j: less(i, j))))
        size = inner(panel, panel.row(i), panel.row(i))[0].sqrt()
        _multiply(panel, i, size.like(1.0) / size)
        return size.is_("olt", (2 * panel.columns) ** -0.5).text

    def less(i: str, j: str) -> None:
        row, other = panel.row(i), panel.row(j)
        by = negative(e, panel.dtype, tuple([part.text for part in inner(panel, row, other)]))
        slots = kept(e, panel.pieces, row)
        add_row(panel.pieces, slots, by, other)
        panel.put_row(i, at_hand(slots))

    over(e, 0, panel.rows, one)
