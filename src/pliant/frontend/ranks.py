"""The order of the elements that a traced mask selects: how many come before each, and values dealt out in it."""

from __future__ import annotations

from pliant.core.ir import Value, const
from pliant.frontend.failures import ensured
from pliant.ops.compare import equal
from pliant.ops.elementwise import add, convert, sub
from pliant.ops.index import gather
from pliant.ops.positions import positions
from pliant.ops.reduce import reduce_sum
from pliant.ops.rounding import remainder
from pliant.ops.scan import cumsum
from pliant.ops.select import select
from pliant.ops.shape import broadcast, reshape, slice_axis


def ranks(mask: Value) -> Value:
    """For each place of a mask, in row-major order, how many selected ones lie before it: `i64[size]`.

    What it says of a place that is not selected is in range if any place is.
    """
    return sub(cumsum(convert(reshape(mask, (mask.type.size,)), "i64"), 0), 1)


def count(mask: Value) -> Value:
    """How many places a mask selects."""
    return reduce_sum(convert(mask, "i64"))


def places(mask: Value) -> Value:
    """The selected places, in order, and zeros behind them: `bool[s…] → i64[size]`."""
    return positions(reshape(mask, (mask.type.size,)))


def dealt(mask: Value, values: Value, failure: str = "assigned") -> Value:
    """`values[j…]` at the j-th selected place, something elsewhere: `bool[s…], t[m, r…] → t[s…, r…]`.

    The error of that name, when the program runs, unless the mask selects m places.
    """
    m, n = values.shape[0], count(mask)
    flat = reshape(mask, (mask.type.size,))
    code = select(equal(n, const(m, "i64")), const(0, "i64"), add(n, 1))
    broadcasts = equal(n, const(1, "i64")) if failure == "operands" else None
    order = ensured(select(flat, ranks(mask), const(0, "i64")), code, f"{failure} {m}", ours=broadcasts)
    found = gather(values if m else _stand_in(flat, values), order)
    return reshape(found, (*mask.shape, *values.shape[1:]))


def _stand_in(flat: Value, values: Value) -> Value:
    """One row in place of none, made of the mask: a literal would need no place."""
    row = convert(slice_axis(flat, 0, 0, min(flat.type.size, 1)), values.dtype)
    return broadcast(row, (row.type.size, *values.shape[1:]), (0,))


def repeated(mask: Value, values: Value) -> Value:
    """`values` over and over again at the selected places, in order; something elsewhere: `bool[s…], t[m] → t[s…]`."""
    return reshape(gather(values, remainder(ranks(mask), values.shape[0])), mask.shape)
