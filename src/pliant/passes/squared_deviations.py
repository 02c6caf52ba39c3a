"""Sums of squared deviations from the mean, of arrays that do not stay near the processor, in one pass over memory.

    m = Σ x / n                      for each block b of n_b elements, c the mean of its first k:
    q = Σ (x - m)²              →        s = Σ (x - c),  m_b = c + s / n_b,  q_b = Σ (x - c)² - s² / n_b
                                     m = Σ (c n_b + s) / n
                                     q = Σ (q_b + n_b (m_b - m)²)

The numbers are as good (Chan, Golub and LeVeque 1983). What rounding loses of q_b is of order ε n_b (c - m_b)², and c
is a mean of numbers that q has the deviations of: of all blocks that is no more than 2 ε (1 + n_b / k) q, and next to
nothing unless those few numbers lie far from all others. For arrays summed over all axes: the means of columns are
sums as slow as their way from memory, and a second pass over a block spares nothing.
"""

from __future__ import annotations

import math
from typing import Final, final

from pliant.core.data import frozen
from pliant.core.ir import Function, Param, Value, const, substitute
from pliant.core.origin import at
from pliant.core.scope import scope
from pliant.ops.compare import Isfinite, Minimum
from pliant.ops.elementwise import Div, Mul, Sub
from pliant.ops.reduce import ReduceSum, reduce_sum
from pliant.ops.select import select
from pliant.ops.shape import broadcast, reshape, slice_axis

FAR: Final = 1 << 21  # bytes of an array that a second pass does not find at hand
POINTS: Final = 8192  # elements of a block
SHARE: Final = 128  # of a block's elements, one is looked at before
LONGEST: Final = 1 << 14  # elements of a row that is a block


@final
@frozen
class Deviations:
    """`squares`, the sum of all (x - mean)², where `mean` is `total`, the sum of all x, divided by a number."""

    squares: Value
    x: Value
    total: Value
    mean: Value


def in_one_pass(fn: Function) -> Function:
    """`fn` with such sums made block by block."""
    found = [d for node in fn.nodes if (d := deviations(node.values[0]))]
    if not found:
        return fn
    known: dict[Value, Value] = {}
    with scope():
        for d in found:
            with at(d.squares.origin):
                known.update(by_blocks(d))
        return Function(fn.name, fn.params, substitute(fn.results, known))


def deviations(squares: Value) -> Deviations | None:
    """What a value is a sum of, if it is one of squared deviations of many numbers that lie in memory."""
    if not isinstance(squares.op, ReduceSum) or squares.shape:
        return None
    (square,) = squares.args
    if not isinstance(square.op, Mul) or square.args[0] is not square.args[1]:
        return None
    away = square.args[0]
    if not isinstance(away.op, Sub) or away.type.bytes < FAR or away.dtype not in ("f32", "f64"):
        return None
    x, mean = away.args
    if not isinstance(x.op, Param) or mean.shape or not isinstance(mean.op, Div):
        return None
    total = mean.args[0]
    is_sum = isinstance(total.op, ReduceSum) and total.args == (x,)
    return Deviations(squares, x, total, mean) if is_sum and math.prod(x.shape[1:]) <= LONGEST else None


def by_blocks(d: Deviations) -> dict[Value, Value]:
    """The sum of the numbers, and of their squared deviations."""
    n, row = d.x.shape[0], math.prod(d.x.shape[1:])
    rows = 1 << max(1, POINTS // row).bit_length() - 1  # a power of two, which is divided by without rounding
    whole = n // rows * rows
    parts = [_Part(reshape(slice_axis(d.x, 0, 0, whole), (whole // rows, rows * row)))]
    if whole < n:
        parts.append(_Part(reshape(slice_axis(d.x, 0, whole, n - whole), (1, (n - whole) * row))))
    total = _sum([reduce_sum(p.totals) for p in parts])
    (mean,) = substitute((d.mean,), {d.total: total})
    return {d.total: total, d.squares: _sum([p.squares_from(mean) for p in parts])}


def _sum(values: list[Value]) -> Value:
    total, *more = values
    return total + more[0] if more else total


@final
class _Part:
    """Blocks, one in each row of x."""

    def __init__(self, x: Value) -> None:
        count = x.shape[1]
        few = 1 << max(1, count // SHARE).bit_length() - 1
        self.count = const(float(count), x.dtype)
        near = reduce_sum(slice_axis(x, 1, 0, few), (1,)) * const(1 / few, x.dtype)
        away = x - broadcast(near, x.shape, (0,))
        total, squares = reduce_sum(away, (1,)), reduce_sum(away * away, (1,))
        self.means = near + total * const(1 / count, x.dtype)
        self.totals = near * self.count + total
        least = total * (total * const(1 / count, x.dtype))  # no sum of squares is less, but for rounding
        self.squares = select(Isfinite()(least), squares - Minimum()(least, squares), squares)

    def squares_from(self, mean: Value) -> Value:
        """The squared deviations from another mean than their own, of all blocks."""
        away = self.means - broadcast(mean, self.means.shape, ())
        return reduce_sum(self.squares + away * away * self.count)
