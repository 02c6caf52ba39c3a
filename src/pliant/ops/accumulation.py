"""What loops and branches add to zeros, and is then added to an array, they add to the array.

The cotangent of an array is mostly such sums: what an inner loop or a branch reads of it then costs what was read,
not what the array holds.
"""

from __future__ import annotations

from collections.abc import Iterator

from pliant.core.build import trace
from pliant.core.ir import Function, Param, Value, Values, nodes
from pliant.ops.block import AddBlock, BlockWrite
from pliant.ops.cond import Cond
from pliant.ops.elementwise import Add
from pliant.ops.index import Scatter, ScatterAdd
from pliant.ops.loop import Loop
from pliant.ops.select import is_zero
from pliant.ops.shape import Permute, Reshape, permute
from pliant.ops.tape import Rewind
from pliant.ops.update import AddSlice, Window
from pliant.rewrite.rule import Replacement, rewrite


@rewrite(Add, level="stable", reads=(Loop, Permute))
def add_of_accumulation(value: Value) -> Replacement:
    """acc + a loop's carry that starts from zero and is only added to → the carry starts from acc.

    What an inner loop reads of an array then has a cotangent that is not added up densely.
    """
    for acc, total, order in _sums(value):
        loop = total.op
        if not isinstance(loop, Loop) or loop.outs[total.index] != "last":
            continue
        place = next(p for p, k in loop.carries if k == total.index)
        if not is_zero(total.args[place - 1]) or acc.type != total.type:
            continue
        if not is_only_added_to(loop.body, place, total.index) or total.node in nodes([acc]):
            continue
        xs = list(total.args)
        xs[place - 1] = acc
        made = loop.apply(*xs)
        others = {v: m for v, m in zip(total.node.values, made, strict=True) if v is not total}
        return {**others, value: permute(made[total.index], order)}
    return None


def _sums(value: Value) -> Iterator[tuple[Value, Value, tuple[int, ...]]]:
    """Ways to see a sum as that of two arrays in another order of axes: the arrays, the second one as a loop or branch
    left it, and the order."""
    for x, y in (value.args, value.args[::-1]):
        if isinstance(y.op, Permute) and isinstance(y.args[0].op, Loop | Cond) and x.shape == y.shape:
            yield permute(x, y.op.inverse()), y.args[0], y.op.order
        else:
            yield x, y, tuple(range(y.type.rank))


def is_only_added_to(body: Function, place: int, k: int) -> bool:
    """Whether a carry comes out as itself plus something, and is read for nothing else."""
    question = is_only_added_to, place, k  # which each branch around this one asks for each of its operands
    if question not in body.answers:
        body.answers[question] = _is_only_added_to(body, place, k)
    return body.answers[question]


def _is_only_added_to(body: Function, place: int, k: int) -> bool:
    param, chain = body.params[place], set[Value]()
    value, axes = body.results[k], tuple(range(body.results[k].type.rank))
    while value is not param:
        below = value.args[0] if isinstance(value.op, Permute) else accumulator(value)
        if below is None:
            return False
        if isinstance(value.op, Permute):
            axes = tuple([value.op.order[a] for a in axes])
        chain.add(value)
        value = below
    if axes != tuple(range(len(axes))):
        return False
    chain.add(param)
    if any([r in chain for n, r in enumerate(body.results) if n != k]):
        return False
    uses = [a for node in body.nodes for a in node.args if a in chain]
    return len(uses) == len(chain) - 1


def accumulator(value: Value) -> Value | None:
    """What a value is a sum with, as far as its maker says."""
    op, args = value.op, value.args
    if isinstance(op, ScatterAdd | AddSlice | AddBlock):
        return args[0]
    if isinstance(op, Add):
        found = [a for a in args if isinstance(a.op, Param | ScatterAdd | AddSlice | AddBlock | Loop | Add)]
        return found[0] if found else None
    if isinstance(op, Loop) and op.outs[value.index] == "last":
        place = next(p for p, k in op.carries if k == value.index)
        return args[place - 1] if is_only_added_to(op.body, place, value.index) else None
    if isinstance(op, Rewind):
        place = op.carries[value.index][0]
        return args[place - op.saved + 1] if is_only_added_to(op.back, place, value.index) else None
    if isinstance(op, Cond):
        same = [n for n, a in enumerate(args[1:]) if a.type == value.type]
        found = [n for n in same if all([is_only_added_to(fn, n, value.index) for fn in op.branches])]
        return args[found[0] + 1] if found else None
    return None


@rewrite(Add, level="stable", reads=(Cond, Permute))
def add_of_cond(value: Value) -> Replacement:
    """acc + a result of a branch that is mostly zeros → the branches add to acc.

    What a branch reads of an array then costs its derivative what was read, not what the array holds.
    """
    for acc, term, order in _sums(value):
        op, k = term.op, term.index
        if not isinstance(op, Cond) or acc.shape != term.shape or term.node in nodes([acc]):
            continue
        if all([is_zero_but_for_parts(fn.results[k]) for fn in op.branches]):
            then, otherwise = (_adding(fn, k) for fn in op.branches)
            made = Cond(then, otherwise).apply(*term.args, acc)
            others = {v: m for v, m in zip(term.node.values, made, strict=True) if v is not term}
            return {**others, value: permute(made[k], order)}
    return None


@rewrite(Add, level="stable", reads=(ScatterAdd, AddSlice, AddBlock))
def add_of_addition(value: Value) -> Value | None:
    """acc + scatter_add(y, i, u) → scatter_add(acc + y, i, u), and so for windows, where y is a result of a branch that
    is mostly zeros."""
    for acc, total in (value.args, value.args[::-1]):
        below = total
        while isinstance(below.op, ScatterAdd | AddSlice | AddBlock):
            below = below.args[0]
        is_above = below is not total and isinstance(below.op, Cond) and acc.shape == total.shape
        if is_above and is_zero_but_for_parts(below):
            return total.op(acc + total.args[0], *total.args[1:])
    return None


def is_zero_but_for_parts(y: Value) -> bool:
    """Whether an array is zeros with some parts written, or added to by loops and branches."""
    if isinstance(y.op, Add):
        return all([a.shape == y.shape and is_zero_but_for_parts(a) for a in y.args])
    below: Value | None = y
    while below is not None and below.shape:
        y = below
        below = y.args[0] if isinstance(y.op, BlockWrite | Scatter | Window | Permute | Reshape) else accumulator(y)
    if isinstance(y.op, Cond):
        return all([is_zero_but_for_parts(fn.results[y.index]) for fn in y.op.branches])
    return bool(y.shape) and is_zero(y)


def _adding(fn: Function, k: int) -> Function:
    """The function with one operand more, which its k-th result is added to."""

    def step(*args: Value) -> Values:
        ys = list(fn(*args[:-1]))
        ys[k] = args[-1] if is_zero(ys[k]) else args[-1] + ys[k]
        return tuple(ys)

    return trace(step, *(p.type for p in fn.params), fn.results[k].type)


RULES = (add_of_accumulation, add_of_cond, add_of_addition)
