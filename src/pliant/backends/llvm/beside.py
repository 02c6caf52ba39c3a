"""Rows that are folded into one row in memory, several at a time: it is read and written once for all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from pliant.backends.llvm.values import Val
from pliant.kernel.ir import Scalar, Var

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter

BESIDE: Final = 4
"""Rows at a time."""


def emit_beside(
    e: Emitter,
    loops: tuple[Var, Var],
    first: Sequence[Scalar],
    begin: Callable[[], None],
    step: Callable[[], None],
    row: Callable[[], None],
) -> None:
    """Two loops, over rows and along them. begin: computes `first`, what a row needs before its elements. step: folds
    an element of a row. row: folds a whole row, of those that are left at the end."""
    outer, inner = loops
    start, end = e.part.get(outer, ("0", str(outer.extent)))
    if outer in e.ends:
        end = e.op(f"call i64 @llvm.smax.i64(i64 {e.ends[outer]}, i64 0)")
    count = e.op(f"udiv i64 {e.op(f'sub nuw nsw i64 {end}, {start}')}, {BESIDE}")
    several, before = Var(outer.extent // BESIDE), e.env.get(outer)

    def rows() -> None:
        top = e.op(f"add nuw nsw i64 {e.op(f'mul nuw nsw i64 {e.env[several]}, {BESIDE}')}, {start}")
        places = [e.op(f"add nuw nsw i64 {top}, {n}") for n in range(BESIDE)]
        known: list[dict[Scalar, Val]] = []
        for place in places:
            e.env[outer] = place
            begin()
            known.append({s: e.values[s] for s in first})

        def steps() -> None:
            for place, values in zip(places, known, strict=True):
                e.env[outer] = place
                e.values.update(values)
                step()

        e.loop(inner, steps)

    e.unless(e.op(f"icmp eq i64 {count}, 0"), lambda: e.loop(several, rows, ("0", count)))
    if before is None:
        del e.env[outer]
    else:
        e.env[outer] = before
    rest = e.op(f"add nuw nsw i64 {e.op(f'mul nuw nsw i64 {count}, {BESIDE}')}, {start}")
    e.unless(e.op(f"icmp uge i64 {rest}, {end}"), lambda: e.loop(outer, row, (rest, end)))
