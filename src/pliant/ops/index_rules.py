"""Identities of gathers and scatters, and of sums with what was written into zeros."""

from __future__ import annotations

from pliant.core.ir import Const, Value
from pliant.ops.block import AddBlock, BlockWrite, UpdateBlock
from pliant.ops.elementwise import Add, Sub, add, neg
from pliant.ops.index import Gather, LinearScatter, Scatter, ScatterAdd, ScatterSet
from pliant.ops.select import is_zero, updated_by, with_update
from pliant.ops.shape import Permute, Reshape, Slice, permute, reshape
from pliant.ops.update import AddSlice, UpdateSlice, Window, add_slice
from pliant.rewrite.rule import rewrite

DEPTH = 8  # how many movements and writes may lie between a sum and the zeros below


@rewrite(Add, level="stable", reads=(Scatter, BlockWrite, UpdateSlice, AddSlice, Permute, Reshape))
def add_of_write_into_zeros(value: Value) -> Value | None:
    """`acc + scatter_add(zeros, i, u)` is `scatter_add(acc, i, u)`, and so for windows: what a read
    contributes to a cotangent costs what was read, not what was read from."""
    x, y = value.args
    if x.shape != y.shape:
        return None
    return _at_same_places(x, y) or _onto(x, y, DEPTH) or _onto(y, x, DEPTH)


def _at_same_places(x: Value, y: Value) -> Value | None:
    """The sum of two updates of zeros, where both are at the same places: one update by a sum. Not where several are
    added at a place: in another order they would round otherwise."""
    is_plain = isinstance(x.op, LinearScatter | Window | BlockWrite) and is_zero(x.args[0])
    if not is_plain or x.op != y.op or (x is not y and isinstance(x.op, ScatterAdd) and not x.op.unique):
        return None
    u, v = updated_by(x), updated_by(y)
    is_same = u.type == v.type and all([a is b or (a is u and b is v) for a, b in zip(x.args, y.args, strict=True)])
    return with_update(x, add(u, v)) if is_same else None


def added(acc: Value, y: Value) -> Value:
    """`acc + y`, where it costs no more than what was written into zeros, if y is that."""
    return _onto(acc, y, DEPTH) or add(acc, y)


def _onto(acc: Value, y: Value, depth: int) -> Value | None:
    """`acc + y`, where y is zeros written to, seen through reshapes and permutes; else None."""
    match y.op:
        case UpdateSlice(start, step) if is_zero(y.args[0]):
            return add_slice(acc, y.args[1], start, step)
        case ScatterAdd() | AddBlock() if is_zero(y.args[0]):
            return y.op(acc, *y.args[1:])
        case UpdateBlock(step, shared) if is_zero(y.args[0]):
            return AddBlock(step, shared)(acc, *y.args[1:])
        case _ if not depth:
            return None
        case Permute(order):
            under = _onto(permute(acc, y.op.inverse()), y.args[0], depth - 1)
            return None if under is None else permute(under, order)
        case Reshape(shape):
            under = _onto(reshape(acc, y.args[0].shape), y.args[0], depth - 1)
            return None if under is None else reshape(under, shape)
        case AddSlice() | ScatterAdd() | AddBlock():
            under = _onto(acc, y.args[0], depth - 1)
            return None if under is None else y.op(under, *y.args[1:])
        case _:
            return None


@rewrite(Gather, reads=(Const,))
def gather_at_known_place(value: Value) -> Value | None:
    """What is read at one place that is a literal, and in range, is a window."""
    (x, *indices), op = value.args, value.op
    assert isinstance(op, Gather)
    places = [int(i.op.value.real) for i in indices if isinstance(i.op, Const)]
    is_inside = all([0 <= i < n for i, n in zip(places, x.shape, strict=False)])
    if op.shared or len(places) < len(indices) or not is_inside:
        return None
    rest = x.shape[len(places) :]
    start, length = (*places, *[0] * len(rest)), (*[1] * len(places), *rest)
    return reshape(Slice(start, (1,) * len(start), length)(x), rest)


@rewrite(Gather, reads=(ScatterSet, ScatterAdd))
def gather_of_scatter(value: Value) -> Value | None:
    """What was just written at places named once each is read back, or what was just added to what was there."""
    (x, *indices), op, write = value.args, value.op, value.args[0].op
    assert isinstance(op, Gather)
    if not isinstance(write, ScatterSet | ScatterAdd) or not write.unique or write.shared != op.shared:
        return None
    if x.args[1:-1] != (*indices,):
        return None
    return x.args[-1] if isinstance(write, ScatterSet) else op(x.args[0], *indices) + x.args[-1]


@rewrite(Gather, reads=(ScatterSet, ScatterAdd))
def gather_beside_scatter(value: Value) -> Value | None:
    """What is read at another place than was just written, `x[i - 1]` after `x[i] = u`, was there before."""
    (x, *indices), op = value.args, value.op
    assert isinstance(op, Gather)
    if not isinstance(x.op, ScatterSet | ScatterAdd) or x.op.shared != op.shared or len(x.args) - 2 != len(indices):
        return None
    pairs = zip(indices, x.args[1:-1], strict=True)
    is_apart = any([not i.shape and _moved(i)[0] is _moved(j)[0] and _moved(i) != _moved(j) for i, j in pairs])
    return op(x.args[0], *indices) if is_apart else None


def _moved(place: Value) -> tuple[Value | None, int]:
    """A number as another one and how far it is from that."""
    far = 0
    while isinstance(place.op, Add | Sub) and isinstance(by := place.args[1].op, Const):
        far += int(by.value.real) * (1 if isinstance(place.op, Add) else -1)
        place = place.args[0]
    return (None, int(place.op.value.real) + far) if isinstance(place.op, Const) else (place, far)


@rewrite(ScatterSet, reads=(Add, Sub))
def scatter_set_of_own_sum(value: Value) -> Value | None:
    """`x[i] = x[i] ± u` is `np.add.at(x, i, ±u)` where no place is named twice."""
    (x, *indices, total), op = value.args, value.op
    if not (isinstance(op, ScatterSet) and op.unique and isinstance(total.op, Add | Sub)):
        return None
    pairs = [(total.args, isinstance(total.op, Add))]
    pairs += [(total.args[::-1], True)] if isinstance(total.op, Add) else []
    for (old, u), is_sum in pairs:
        reads = isinstance(old.op, Gather) and old.op.shared == op.shared and old.args == (x, *indices)
        if reads and u.shape == total.shape:
            return ScatterAdd(op.shared, unique=True)(x, *indices, u if is_sum else neg(u))
    return None


@rewrite(ScatterAdd, level="stable", reads=(ScatterSet,))
def scatter_add_to_cleared(value: Value) -> Value | None:
    """Places that have been cleared, and then added to, are set (but for the sign of -0.0)."""
    (x, *indices, u), op = value.args, value.op
    if not (isinstance(op, ScatterAdd) and op.unique and isinstance(x.op, ScatterSet) and is_zero(x.args[-1])):
        return None
    is_same = x.args[1:-1] == (*indices,) and x.op.shared == op.shared
    return ScatterSet(op.shared, unique=True)(x.args[0], *indices, u) if is_same else None


@rewrite(ScatterAdd, level="stable")
def scatter_add_of_zeros(value: Value) -> Value | None:
    """Adding zeros changes nothing (but the sign of -0.0)."""
    return value.args[0] if is_zero(value.args[-1]) else None


RULES = (
    gather_at_known_place,
    add_of_write_into_zeros,
    gather_of_scatter,
    gather_beside_scatter,
    scatter_set_of_own_sum,
    scatter_add_to_cleared,
    scatter_add_of_zeros,
)
