"""What a step makes of a row and of what it remembers of the steps before: running sums, late rows, some rows kept,
sums relative to an extremum or a mean, which are brought up to date as that moves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from pliant.core.ir import Const, Node, Value, Values, const, substitute
from pliant.core.types import Type
from pliant.ops.compare import equal, less, maximum, minimum
from pliant.ops.elementwise import Div, Mul, add, convert, div, mul, sub
from pliant.ops.folds import added_up, filled, start_of
from pliant.ops.index import Gather, ScatterSet
from pliant.ops.reduce import ReduceSum, Reduction
from pliant.ops.rounding import floor_divide, remainder
from pliant.ops.scan import Cummax, Cummin, Cumprod, Cumsum, Scan
from pliant.ops.select import Select, select
from pliant.ops.shape import Broadcast, Reshape, broadcast, slice_axis
from pliant.ops.transcendental import exp
from pliant.passes.row_folds import RowFold
from pliant.passes.row_wise import row_of, taken

SCANS: Final[dict[type[Scan], str]] = {Cumsum: "sum", Cumprod: "prod", Cummax: "max", Cummin: "min"}
GREATEST: Final = {"f16": 65504.0, "f32": 3.4028234663852886e38, "f64": 1.7976931348623157e308}


def scan_of(node: Node, *, reverse: bool, is_derived: bool) -> RowFold | None:
    """A scan along the steps, in the order in which these are run: the state is the row that is made."""
    op, row = node.op, node.types[0].row
    kind = SCANS.get(type(op)) if isinstance(op, Scan) and op.axis == 0 and op.reverse == reverse else None
    if kind is None or (kind in ("max", "min") and row.is_float and not is_derived):
        return None  # of elements that tie, only one has the derivative of a running extremum
    assert isinstance(op, Scan)
    combine = op.combines

    def step(i: Value, rows: Sequence[Value], states: Sequence[Value]) -> Values:
        (made,) = combine.apply(states[0], rows[0])
        return made, made

    start = -0.0 if kind == "sum" and row.is_float else start_of(kind, row.dtype)
    return RowFold(step, (), (row,), (start,))


def late(row: Type, by: int) -> RowFold:
    """The row of `by` steps before; zeros in the first steps."""

    def after_one(i: Value, rows: Sequence[Value], states: Sequence[Value]) -> Values:
        return states[0], rows[0]

    def after_some(i: Value, rows: Sequence[Value], states: Sequence[Value]) -> Values:
        place = remainder(i, const(by, "i64"))
        return Gather(0, True)(states[0], place), ScatterSet(0, True)(states[0], place, rows[0])

    return RowFold(after_one, (), (row,), (0,)) if by == 1 else RowFold(after_some, (), (row.stacked(by),), (0,))


def thinned(row: Type, span: range, count: int, *, reverse: bool) -> RowFold:
    """Some of the rows. Rows that are not wanted are written too: to the place of one that is made later, or to a last
    place that is for nothing."""
    low, step, size = min(span), abs(span.step), len(span)
    spare = const(size, "i64")

    def write(i: Value, rows: Sequence[Value], states: Sequence[Value]) -> Values:
        ahead = 0 if reverse else step - 1
        place = floor_divide(add(i, const(ahead - low, "i64")), const(step, "i64"))
        place = minimum(place, spare)
        before = less(i, const(low, "i64"))
        place = select(before, spare, place) if reverse else maximum(place, const(0, "i64"))
        return (ScatterSet(0, True)(states[0], place, rows[0]),)

    def end(results: Values, known: Values) -> Value:
        made = slice_axis(results[0], 0, 0, size)
        return taken(made, range(size)[::-1]) if span.step < 0 else made

    return RowFold(write, (), (row.stacked(size + 1),), (0,), end)


# --- relative to an extremum


def extremum_of(g: Value) -> Value | None:
    """The reduction whose result a value is, but perhaps for a number where that is infinite."""
    while True:
        match g.op:
            case Broadcast() | Reshape():
                g = g.args[0]
            case Select() if _is_number(g.args[2]):
                g = g.args[1]
            case Reduction():
                return g
            case _:
                return None


def _is_number(x: Value) -> bool:
    return isinstance(x.op, Const) or (isinstance(x.op, Broadcast) and _is_number(x.args[0]))


def shift_of(g: Value, best: Value, fold: RowFold) -> RowFold:
    """What g would be if the rows so far were all; `best`, made by a fold, is what it is made from. Never −∞."""

    def step(i: Value, rows: Sequence[Value], states: Sequence[Value]) -> Values:
        (term,) = fold.step(i, rows, ())
        new = maximum(states[0], term)
        (now,) = substitute((g,), {best: new})
        return maximum(now, broadcast(const(-GREATEST[now.dtype], now.dtype), now.shape, ())), new

    return RowFold(step, (), (best.type,), (-math.inf,))


def change_of(g: Value) -> RowFold:
    """What exp(x − g) of all rows before is multiplied by."""

    def step(i: Value, rows: Sequence[Value], states: Sequence[Value]) -> Values:
        return exp(sub(states[0], rows[0])), rows[0]

    return RowFold(step, (), (g.type,), (-math.inf,))


def rescaled(fold: RowFold, g: Value, type: Type) -> RowFold:
    """A sum of terms that are multiples of exp(−g): what is summed changes with g. The last row read is by how much."""
    summing = added_up()

    def step(i: Value, rows: Sequence[Value], states: Sequence[Value]) -> Values:
        (term,), change = fold.step(i, rows[:-1], ()), rows[-1]
        change = broadcast(change, term.shape, ()) if not change.shape else change
        held = [select(equal(s, filled(0, s.type)), s, mul(s, change)) for s in states]
        return summing.step(tuple(held), term)

    def end(results: Values, known: Values) -> Value:
        nothing = sub(known[0], known[0])  # NaN if g is not finite, as x − g is then
        return add(summing.finish(results), nothing if nothing.shape else broadcast(nothing, type.shape, ()))

    return RowFold(step, (), (type, type), (0, 0), end, (g,))


# --- relative to a mean


def mean_of(g: Value) -> Value | None:
    """The sum that a value is, divided by the number of its terms."""
    while isinstance(g.op, Broadcast | Reshape):
        g = g.args[0]
    if not isinstance(g.op, Div | Mul):
        return None
    total, number = g.args if not _is_number(g.args[0]) else g.args[::-1]
    while isinstance(number.op, Broadcast):
        number = number.args[0]
    while isinstance(total.op, Reshape):
        total = total.args[0]
    if not isinstance(total.op, ReduceSum) or not isinstance(number.op, Const):
        return None
    count, factor = math.prod([total.args[0].shape[a] for a in total.op.axes]), number.op.value
    wanted = count if isinstance(g.op, Div) else 1 / count
    return total if g.type.kind == "f" and math.isclose(float(factor.real), wanted, rel_tol=1e-12) else None


def deviations(node: Node, axes: tuple[int, ...], count: int, *, reverse: bool, block: int) -> RowFold:
    """Σ (x − mean)², where the mean is over `axes`, by Welford's method. Source: Chan, Golub, LeVeque 1983."""
    op, x = node.op, node.args[0].type
    assert isinstance(op, ReduceSum)
    type = x.without(axes)
    inner = ReduceSum(axes if block else tuple([a - 1 for a in axes if a]))
    rest = ReduceSum(tuple([n for n, a in enumerate(a for a in range(x.rank) if a not in axes) if a in op.axes]))
    size = math.prod([x.shape[a] for a in axes]) // count

    def number(n: Value | float) -> Value:
        one = convert(n, type.dtype) if isinstance(n, Value) else const(n, type.dtype)
        return broadcast(one, type.shape, ())

    def step(i: Value, rows: Sequence[Value], states: Sequence[Value]) -> Values:
        (row,), (mean, squares) = rows, states
        done = sub(const(count - 1, "i64"), i) if reverse else i  # steps
        own, spread = row, squares
        if inner.axes:
            own = div(row_of(inner, rows), number(size))
            kept = tuple([a for a in range(row.type.rank) if a not in inner.axes])
            away = sub(row, broadcast(own, row.shape, kept))
            spread = add(squares, row_of(inner, (mul(away, away),)))
        share = number(div(number_of(1), convert(add(done, const(1, "i64")), "f64")))
        apart = sub(own, mean)
        new = add(mean, mul(apart, share))
        before = number(mul(convert(done, "f64"), number_of(size)))
        return new, add(spread, mul(mul(apart, apart), mul(share, before)))

    def number_of(n: float) -> Value:
        return const(n, "f64")

    def end(results: Values, known: Values) -> Value:
        mean, squares = results
        return row_of(rest, (add(squares, sub(mean, mean)),))  # NaN if the mean is not finite

    return RowFold(step, (), (type, type), (0, 0), end)
