"""Where masks hold: positions in the order of a row, of which there are as many as places that are selected."""

from __future__ import annotations

from typing import final

from pliant.core.data import frozen
from pliant.core.ir import Op, Tangents, Value, Values, const
from pliant.core.types import Type
from pliant.errors import DTypeError, ShapeError
from pliant.ops.elementwise import convert, sub
from pliant.ops.index import ScatterSet
from pliant.ops.scan import cumsum
from pliant.ops.select import select
from pliant.ops.shape import broadcast, iota, slice_axis


@final
@frozen
class Positions(Op):
    """The places of each row where a mask holds, in order, and zeros behind them: `bool[b…, n] → i64[b…, n]`."""

    def infer(self, mask: Type) -> Type:
        if mask.dtype != "bool":
            raise DTypeError(f"positions: {mask} is no mask")
        if not mask.rank:
            raise ShapeError(f"positions: {mask} has no rows")
        return mask.with_dtype("i64")

    def expand(self, mask: Value) -> Value:
        *outer, n = mask.shape
        last = len(outer)
        board = broadcast(const(0, "i64"), (*outer, n + 1), ())
        before = sub(cumsum(convert(mask, "i64"), last), 1)
        spare = select(mask, before, const(n, "i64"))  # where those go that are not selected
        places = broadcast(iota(n), mask.shape, (last,))
        return slice_axis(ScatterSet(shared=last)(board, spare, places), last, 0, n)

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        return self.apply(*xs), (None,)

    def batch(self, n: int, batched: tuple[bool, ...], mask: Value) -> Value:
        return self(mask)


def positions(mask: Value) -> Value:
    """The places of each row where a mask holds, in order, and zeros behind them."""
    return Positions()(mask)


RULES = ()
