"""Folds along rows that tiles interrupt: what a row has come to waits in memory until the next tile beside this one.

for each block of rows:
    for each tile of the block:
        for each row of the tile:
            go on with the totals of the row, or begin them
            the row's steps in this tile
            put the totals by, or finish them
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, final

from pliant.kernel.ir import Var

if TYPE_CHECKING:
    from pliant.backends.llvm.accumulator import Accumulator
    from pliant.backends.llvm.emit import Emitter
    from pliant.backends.llvm.streams import Edges


@final
class Resumed:
    """The totals of all rows of a tile. rows, steps: the loops; tall: rows of a tile at most."""

    def __init__(self, e: Emitter, totals: Sequence[Accumulator], loops: tuple[Var, Var], tall: int) -> None:
        self.e, (self.rows, steps), self.tall = e, loops, tall
        self.begin, self.end = e.part.get(steps, ("0", str(steps.extent)))
        self.waiting = [
            (place, kind, e.alloca(f"[{tall} x {kind}]")) for total in totals for place, kind in total.state
        ]

    def go_on(self, edges: Edges) -> None:
        """Take up the totals of a row, which are at their beginning, unless they begin here."""
        self.e.unless(self.e.op(f"icmp eq i64 {edges[0]}, {self.begin}"), lambda: self.move(into=False))

    def put_by(self, edges: Edges, finish: Callable[[], None]) -> None:
        """Let the totals of a row wait, or finish them where they end."""
        self.move(into=True)
        self.e.unless(self.e.op(f"icmp ne i64 {edges[1]}, {self.end}"), finish)

    def move(self, *, into: bool) -> None:
        """The totals of a row from their registers into the memory where they wait, or back."""
        e = self.e
        row = e.op(f"urem i64 {e.env[self.rows]}, {self.tall}") if self.waiting else "0"
        for place, kind, waiting in self.waiting:
            there = e.op(f"getelementptr {kind}, ptr {waiting}, i64 {row}")
            source, target = (place, there) if into else (there, place)
            e.line(f"store {kind} {e.op(f'load {kind}, ptr {source}')}, ptr {target}")
