"""Equalities of sums and products of arrays that do not say which side is better, for an e-graph: in what order a chain
of products is multiplied, what is summed before it is multiplied, what is read before it is computed."""

from __future__ import annotations

from typing import Final

from pliant.core.ir import Value
from pliant.ops.base import Elementwise
from pliant.ops.contract import Dot
from pliant.ops.elementwise import Add, Div, Mul, Neg, Sub
from pliant.ops.reduce import ReduceSum, reduce_sum
from pliant.ops.shape import Broadcast, Permute, Slice, broadcast, permute, reshape
from pliant.ops.solve import Inv, Solve
from pliant.rewrite.rule import Rule, rewrite

Axes = tuple[int, ...]


def _parts(dot: Dot, x: Value, y: Value) -> tuple[Axes, Axes, int]:
    """The free axes of both operands, and where those of the second begin in the result."""
    free_x, free_y = dot.free(x, y)
    return free_x, free_y, len(dot.batch_axes[0]) + len(free_x)


def _is_plain(value: Value) -> bool:
    """Whether a value is a product without axes that both operands have in common."""
    return isinstance(value.op, Dot) and not value.op.batch_axes[0] and value.dtype[0] in "iufc"


def _product_of_product(value: Value, side: int) -> tuple[Dot, Dot, Value, Value] | None:
    """A product, the product that is its operand on a side, and the operands of that; None if it is something else."""
    inner = value.args[side]
    if not (_is_plain(value) and _is_plain(inner)):
        return None
    outer, dot = value.op, inner.op
    assert isinstance(outer, Dot) and isinstance(dot, Dot)
    x, y = inner.args
    return outer, dot, x, y


def _renamed(axes: Axes, places: Axes) -> Axes:
    """Where axes are, among those at some places."""
    return tuple([places.index(a) for a in axes])


@rewrite(Dot, level="algebraic", reads=(Dot,), grows=True)
def product_of_product_first(value: Value) -> Value | None:
    """(x·y)·z = x·(y·z), where z is multiplied with y."""
    found, z = _product_of_product(value, 0), value.args[1]
    if found is None:
        return None
    outer, dot, x, y = found
    _, free_y, begin = _parts(dot, x, y)
    if not outer.contract[0] or min(outer.contract[0]) < begin:
        return None
    of_y = tuple([free_y[a - begin] for a in outer.contract[0]])
    right = Dot((of_y, outer.contract[1]), ((), ()))(y, z)
    left_of_y = tuple([a for a in range(y.type.rank) if a not in of_y])
    return Dot((dot.contract[0], _renamed(dot.contract[1], left_of_y)), ((), ()))(x, right)


@rewrite(Dot, level="algebraic", reads=(Dot,), grows=True)
def product_of_product_last(value: Value) -> Value | None:
    """x·(y·z) = (x·y)·z, where x is multiplied with y."""
    found, (x, inner) = _product_of_product(value, 1), value.args
    if found is None:
        return None
    outer, dot, y, z = found
    free_y, _, begin = _parts(dot, y, z)
    if not outer.contract[1] or max(outer.contract[1]) >= begin:
        return None
    of_y = tuple([free_y[a] for a in outer.contract[1]])
    left = Dot((outer.contract[0], of_y), ((), ()))(x, y)
    free_x, left_of_y = outer.free(x, inner)[0], tuple([a for a in range(y.type.rank) if a not in of_y])
    return Dot((tuple([len(free_x) + left_of_y.index(a) for a in dot.contract[0]]), dot.contract[1]), ((), ()))(left, z)


@rewrite(Dot, level="algebraic", grows=True)
def product_swapped(value: Value) -> Value | None:
    """x·y = (yᵀ·xᵀ)ᵀ, as axes: the second operand's come last."""
    x, y = value.args
    if not _is_plain(value):
        return None
    dot = value.op
    assert isinstance(dot, Dot)
    free_x, free_y, begin = _parts(dot, x, y)
    of_x, of_y = dot.contract
    swapped = Dot((of_y, of_x), ((), ()))(y, x)
    count = len(free_x) + len(free_y)
    return permute(swapped, [(a + len(free_y)) % count for a in range(count)]) if begin and free_y else swapped


@rewrite(Dot, level="algebraic", reads=(Permute,))
def product_of_permuted(value: Value) -> Value | None:
    """permute(x)·y = x·y along the axes before, which does not move the elements."""
    dot = value.op
    assert isinstance(dot, Dot)
    for side in (0, 1):
        inner = value.args[side]
        if not isinstance(inner.op, Permute):
            continue
        order, (x,) = inner.op.order, inner.args
        axes = [tuple([order[a] for a in each[side]]) for each in (dot.contract, dot.batch_axes)]
        contract = tuple([axes[0] if n == side else dot.contract[n] for n in (0, 1)])
        batch = tuple([axes[1] if n == side else dot.batch_axes[n] for n in (0, 1)])
        operands = [x if n == side else value.args[n] for n in (0, 1)]
        new = Dot((contract[0], contract[1]), (batch[0], batch[1]))
        made = new(*operands)
        before = [order[a] for a in dot.free(*value.args)[side]]
        after = new.free(operands[0], operands[1])[side]
        begin = len(batch[0]) + (len(new.free(operands[0], operands[1])[0]) if side else 0)
        where = [*range(made.type.rank)]
        where[begin : begin + len(after)] = [begin + after.index(a) for a in before]
        return permute(made, where)
    return None


@rewrite(Dot, level="algebraic", reads=(Mul, Div, Neg))
def product_of_scaled(value: Value) -> Value | None:
    """(c·x)·y = c·(x·y), for a scalar c."""
    for side in (0, 1):
        inner = value.args[side]
        found = _scaled(inner)
        if found is not None and value.dtype[0] in "iufc":
            x, c, op = found
            made = value.op(*[x if n == side else value.args[n] for n in (0, 1)])
            return op(made) if c is None else op(made, c)
    return None


def has_room(value: Value) -> bool:
    """Whether sums of its elements do not overflow before they are scaled: half floats end at 65504."""
    return value.type.is_float and value.dtype != "f16"


def _scaled(value: Value) -> tuple[Value, Value | None, Elementwise] | None:
    """An array, the number that it is multiplied with or divided by (None for −1), and the operation."""
    op = value.op
    if not value.shape:
        return None
    if isinstance(op, Neg):
        return value.args[0], None, op
    if isinstance(op, Mul | Div):
        x, c = value.args if not value.args[1].shape or isinstance(op, Div) else value.args[::-1]
        return (x, c, op) if not c.shape and has_room(value) else None
    return None


@rewrite(Add, level="algebraic", reads=(Dot,))
def sum_of_two_products(value: Value) -> Value | None:
    """x·y + x·z = x·(y + z), and x·z + y·z = (x + y)·z."""
    return _common(value)


@rewrite(Sub, level="algebraic", reads=(Dot,))
def difference_of_two_products(value: Value) -> Value | None:
    """x·y − x·z = x·(y − z), and x·z − y·z = (x − y)·z."""
    return _common(value)


def _common(value: Value) -> Value | None:
    a, b = value.args
    if not isinstance(a.op, Dot) or a.op != b.op or value.dtype == "bool":
        return None
    for side in (0, 1):
        other = 1 - side
        if a.args[side] is b.args[side] and a.args[other].type == b.args[other].type:
            both = value.op(a.args[other], b.args[other])
            return a.op(*((a.args[0], both) if side == 0 else (both, a.args[1])))
    return None


@rewrite(ReduceSum, level="algebraic", reads=(Mul, Div, Neg))
def sum_of_scaled(value: Value) -> Value | None:
    """Σ c·x = c·Σ x, for a scalar c."""
    (inner,) = value.args
    found = _scaled(inner)
    if found is None:
        return None
    x, c, op = found
    total = value.op(x)
    return op(total) if c is None else op(total, c)


@rewrite(ReduceSum, level="algebraic", reads=(Mul, Div))
def sum_of_rows_scaled(value: Value) -> Value | None:
    """Σ c·x = c·Σ x, where c does not change along the axes of the sum; and Σ x/c = (Σ x)/c."""
    (inner,), op = value.args, value.op
    assert isinstance(op, ReduceSum)
    if not has_room(value):
        return None
    for side in (0, 1) if isinstance(inner.op, Mul) else (1,):
        c = inner.args[side]
        if isinstance(c.op, Broadcast) and not {*c.op.axes} & {*op.axes}:
            total = op(inner.args[1 - side]) if inner.args[1 - side].shape else None
            kept = [a for a in range(inner.type.rank) if a not in op.axes]
            same = broadcast(c.args[0], value.shape, tuple([kept.index(a) for a in c.op.axes]))
            return None if total is None else inner.op(total, same)
    return None


@rewrite(ReduceSum, level="algebraic", reads=(Add, Sub))
def sum_of_sum(value: Value) -> Value | None:
    """Σ (x + y) = Σ x + Σ y, where that is less to add: one of them is repeated."""
    (inner,) = value.args
    x, y = inner.args
    if not any([isinstance(v.op, Broadcast | Dot) for v in (x, y)]) or x.shape != y.shape:
        return None
    return inner.op(value.op(x), value.op(y))


@rewrite(Add, level="algebraic", reads=(ReduceSum,), grows=True)
def sum_of_sums(value: Value) -> Value | None:
    """Σ x + Σ y = Σ (x + y)."""
    a, b = value.args
    if not isinstance(a.op, ReduceSum) or a.op != b.op or a.args[0].type != b.args[0].type:
        return None
    return a.op(value.op(a.args[0], b.args[0]))


@rewrite(ReduceSum, level="algebraic", reads=(Mul,))
def sum_of_products_of_elements(value: Value) -> Value | None:
    """Σ x[i, k]·y[k, j] over k, of arrays repeated along i and j, = x·y: a product of matrices."""
    (inner,), op = value.args, value.op
    assert isinstance(op, ReduceSum)
    if value.dtype[0] not in "fc" or len({a.shape for a in inner.args}) > 1:
        return None
    every = tuple(range(inner.type.rank))
    (x, at_x), (y, at_y) = [(v.args[0], v.op.axes) if isinstance(v.op, Broadcast) else (v, every) for v in inner.args]
    if not {*op.axes} <= {*at_x} & {*at_y} or {*every} - {*at_x, *at_y}:
        return None
    shared = [a for a in at_x if a in at_y and a not in op.axes]
    dot = Dot(
        (_renamed(op.axes, at_x), _renamed(op.axes, at_y)),
        (_renamed(tuple(shared), at_x), _renamed(tuple(shared), at_y)),
    )
    made = dot(x, y)
    free_x, free_y = dot.free(x, y)
    axes = [*shared, *[at_x[a] for a in free_x], *[at_y[a] for a in free_y]]
    return permute(made, [axes.index(a) for a in range(inner.type.rank) if a not in op.axes])


@rewrite(ReduceSum, level="algebraic", reads=(Dot,))
def sum_of_product(value: Value) -> Value | None:
    """Σ of x·y along an axis of y = x·Σ y: the sum first."""
    (inner,), op = value.args, value.op
    if not _is_plain(inner) or value.dtype[0] not in "fc":
        return None
    dot = inner.op
    assert isinstance(dot, Dot) and isinstance(op, ReduceSum)
    x, y = inner.args
    free_x, free_y, begin = _parts(dot, x, y)
    summed = tuple([free_x[a] for a in op.axes if a < begin]), tuple([free_y[a - begin] for a in op.axes if a >= begin])
    if not any(summed):
        return None
    small = [reduce_sum(v, axes) if axes else v for v, axes in zip((x, y), summed, strict=True)]
    places = [tuple([a for a in range(v.type.rank) if a not in axes]) for v, axes in zip((x, y), summed, strict=True)]
    contract = [_renamed(axes, at) for axes, at in zip(dot.contract, places, strict=True)]
    return Dot((contract[0], contract[1]), ((), ()))(*small)


@rewrite(Slice, level="algebraic", reads=(Dot,))
def part_of_product(value: Value) -> Value | None:
    """Rows of x·y are those rows of x, times y; and so for columns."""
    (inner,), op = value.args, value.op
    if not _is_plain(inner):
        return None
    dot = inner.op
    assert isinstance(dot, Dot) and isinstance(op, Slice)
    x, y = inner.args
    free_x, free_y, begin = _parts(dot, x, y)
    parts = [
        _cut(v, {a: begins + n for n, a in enumerate(free)}, op)
        for v, free, begins in ((x, free_x, 0), (y, free_y, begin))
    ]
    return dot(*parts)


def _cut(x: Value, places: dict[int, int], op: Slice) -> Value:
    """x, of whose axes some are cut as a slice cuts those at other places."""
    start, step, length = [0] * x.type.rank, [1] * x.type.rank, [*x.shape]
    for axis, place in places.items():
        start[axis], step[axis], length[axis] = op.start[place], op.step[place], op.length[place]
    return x if length == [*x.shape] and not any(start) else Slice(tuple(start), tuple(step), tuple(length))(x)


@rewrite(Slice, level="algebraic", reads=(Elementwise,), grows=True)
def part_of_elementwise(value: Value) -> Value | None:
    """A part of f(x, y) is f of parts."""
    (inner,) = value.args
    return inner.op(*[value.op(v) if v.shape else v for v in inner.args]) if inner.shape else None


@rewrite(Dot, level="algebraic", reads=(Inv,))
def inverse_times(value: Value) -> Value | None:
    """a⁻¹·b = solve(a, b), without the inverse."""
    inverse, b = value.args
    if not _is_plain(value) or not isinstance(inverse.op, Inv) or inverse.type.rank != 2 or b.type.rank > 2:
        return None
    dot = value.op
    assert isinstance(dot, Dot)
    if dot.contract != ((1,), (0,)):
        return None
    (a,) = inverse.args
    if b.type.rank == 2:
        return Solve()(a, b)
    column = Solve()(a, reshape(b, (*b.shape, 1)))
    return reshape(column, b.shape)


FACTORS: Final[tuple[Rule, ...]] = (
    product_of_product_first, product_of_product_last, product_swapped, product_of_permuted, product_of_scaled,
    sum_of_two_products, difference_of_two_products, sum_of_scaled, sum_of_rows_scaled, sum_of_sum, sum_of_sums,
    sum_of_products_of_elements, sum_of_product, part_of_product, part_of_elementwise, inverse_times,
)  # fmt: skip
"""Of products of arrays, sums and parts."""
