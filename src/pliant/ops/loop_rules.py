"""Identities of loops."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import cast

from pliant.core.build import hint_of, trace
from pliant.core.ir import Function, Users, Value, Values, substitute
from pliant.core.scope import scope
from pliant.ops.cond import with_zeros
from pliant.ops.contract import Dot
from pliant.ops.custom import pick
from pliant.ops.index import Gather, ScatterSet
from pliant.ops.loop import Loop
from pliant.ops.loop_form import In, Out
from pliant.ops.region import read_by
from pliant.ops.select import is_zero
from pliant.ops.shape import Permute, Reshape, permute, reshape
from pliant.ops.update import AddSlice, apart
from pliant.rewrite.rule import Replacement, rewrite

KEPT = ("carry", "count")  # operands that matter even if no step reads them


@rewrite(Loop, is_of_node=True)
def loop_without_idle_operands(value: Value) -> Replacement:
    """Operands that no step reads are dropped; a carry that every step leaves alone is a const.

    The k-th last result is then that operand itself.
    """
    loop, xs = value.node.op, value.node.args
    assert isinstance(loop, Loop)
    params = loop.body.params[1:]
    still = {c - 1: k for c, k in loop.carries if loop.body.results[k] is loop.body.params[c]}
    read = read_by(loop.body.results, params)
    if not still and all([r or kind in KEPT for r, kind in zip(read, loop.ins, strict=True)]):
        return None
    ends = set(still.values())
    stays = [k not in ends for k in range(len(loop.outs))]
    body = replace(loop.body, results=pick(loop.body.results, stays))
    ins = tuple([cast("In", "const") if n in still else kind for n, kind in enumerate(loop.ins)])
    read = read_by(body.results, params)
    keep = [r or kind in KEPT for r, kind in zip(read, ins, strict=True)]
    body = replace(body, params=(body.params[0], *pick(params, keep)))
    small = replace(loop, ins=pick(ins, keep), outs=pick(loop.outs, stays), body=body)
    made = iter(small.apply(*pick(xs, keep)) if any(stays) else ())
    kept = {k: xs[c] for c, k in still.items()}
    return {v: kept[k] if k in kept else next(made) for k, v in enumerate(value.node.values)}


@rewrite(Loop, is_of_node=True)
def loop_without_zeros(value: Value) -> Replacement:
    """What every step leaves at zero is zeros: the cotangent of what a step looks at but does not compute with."""
    loop = value.op
    assert isinstance(loop, Loop)
    pairs = zip(loop.body.results, loop.outs, strict=True)
    used = [kind not in ("sum", "stack") or not is_zero(y) for y, kind in pairs]
    return None if all(used) else with_zeros(value, loop.prune(tuple(used), value.args))


@rewrite(Loop, is_of_node=True)
def loop_with_permuted_rows(value: Value) -> Replacement:
    """Rows that are stacked or folded in another order of axes, or read from a stack in one, are stacked, folded and
    read as they lie, and permuted where they are used."""
    loop, xs = value.node.op, value.node.args
    assert isinstance(loop, Loop)
    made = {k: r for k, r in enumerate(loop.body.results) if loop.outs[k] != "last" and isinstance(r.op, Permute)}
    given = {n: x for n, x in enumerate(xs) if loop.ins[n] == "each" and _keeps_rows(x)}
    if not made and not given:
        return None
    plain = replace(
        loop.body, results=tuple([made[k].args[0] if k in made else r for k, r in enumerate(loop.body.results)])
    )

    def step(*rows: Value) -> Values:
        back = [permute(x, _of_rows(given[n - 1])) if n - 1 in given else x for n, x in enumerate(rows)]
        return plain(*back)

    types = [given[n - 1].args[0].type.row if n - 1 in given else p.type for n, p in enumerate(loop.body.params)]
    body = trace(step, *types, names=[hint_of(p) for p in loop.body.params]) if given else plain
    results = replace(loop, body=body).apply(*(given[n].args[0] if n in given else x for n, x in enumerate(xs)))
    order = {k: _of_result(loop.outs[k], cast("Permute", r.op)) for k, r in made.items()}
    return {
        v: permute(y, order[k]) if k in order else y
        for k, (v, y) in enumerate(zip(value.node.values, results, strict=True))
    }


@rewrite(Loop, is_of_node=True)
def loop_with_reshaped_terms(value: Value) -> Replacement:
    """Terms that are folded in another shape are folded in their own, and what they make is reshaped."""
    loop = value.node.op
    assert isinstance(loop, Loop)
    results = loop.body.results
    folded = [k for k, kind in enumerate(loop.outs) if kind not in ("last", "stack")]
    found = {k: results[k].args[0] for k in folded if isinstance(results[k].op, Reshape)}
    if not found:
        return None
    body = replace(loop.body, results=tuple([found.get(k, r) for k, r in enumerate(results)]))
    made = replace(loop, body=body).apply(*value.node.args)
    return {v: reshape(y, v.shape) for v, y in zip(value.node.values, made, strict=True)}


@rewrite(Loop, level="stable", is_of_node=True)
def loop_with_parts_added(value: Value) -> Replacement:
    """Zeros to parts of which every step adds are added to after the loop: a sum over the steps for each part.

    The gradient of weights that lie one after the other in an array is made so.
    """
    loop, xs = value.node.op, value.node.args
    assert isinstance(loop, Loop)
    users = loop.body.users()
    added = {k: found for c, k in loop.carries if is_zero(xs[c - 1]) and (found := _parts_added(loop, c, k, users))}
    if not added:
        return None
    starts = {k: c for c, k in loop.carries if k in added}
    keep = [n not in starts.values() for n in range(1, len(xs) + 1)]
    stays = [k not in added for k in range(len(loop.outs))]
    parts = [x for found in added.values() for x in found]
    index, *params = loop.body.params
    with scope():
        results = (*pick(loop.body.results, stays), *[x.args[1] for x in parts])
        body = Function(loop.body.name, (index, *pick(params, keep)), results)
    sums: tuple[Out, ...] = ("sum",) * len(parts)
    outs = (*pick(loop.outs, stays), *sums)
    made = replace(loop, ins=pick(loop.ins, keep), outs=outs, body=body).apply(*pick(xs, keep))
    rest, terms = iter(made), dict(zip(parts, made[len(made) - len(parts) :], strict=True))

    def whole(k: int) -> Value:
        total = xs[starts[k] - 1]
        for x in reversed(added[k]):
            (total,) = x.node.op.apply(total, terms[x])
        return total

    return {v: whole(k) if k in added else next(rest) for k, v in enumerate(value.node.values)}


def _parts_added(loop: Loop, c: int, k: int, users: Users) -> Values:
    """The sums with parts of a carry, apart from each other, which are all that a step does with it; none if it does
    anything else. The last one first."""
    p, total, found = loop.body.params[c], loop.body.results[k], list[Value]()
    while isinstance(total.op, AddSlice) and len(users[total]) == 1:
        found.append(total)
        total = total.args[0]
    windows = [cast("AddSlice", x.op).window(x.args[1].shape) for x in found]
    is_all = total is p and len(users[p]) == 1 and all(itertools.starmap(apart, itertools.combinations(windows, 2)))
    return tuple(found) if is_all else ()


def _keeps_rows(x: Value) -> bool:
    """Whether a stack is another one with the axes of its rows in another order."""
    return isinstance(x.op, Permute) and x.op.order[0] == 0


def _of_result(kind: Out, of_row: Permute) -> tuple[int, ...]:
    """The order of the axes of a result, of which a step makes a row or a term in an order of axes."""
    return (0, *(axis + 1 for axis in of_row.order)) if kind == "stack" else of_row.order


def _of_rows(x: Value) -> list[int]:
    """The order of the axes of the rows of a permuted stack."""
    return [axis - 1 for axis in cast("Permute", x.op).order[1:]]


@rewrite(Loop, is_of_node=True)
def loop_over_rows(value: Value) -> Replacement:
    """An array of which step i reads only row i is given row by row; one of which it writes row i is stacked."""
    loop, xs = value.node.op, value.node.args
    assert isinstance(loop, Loop)
    if "count" in loop.ins or not loop.length:
        return None
    users = loop.body.users()
    rows = {n: found for n in range(len(xs)) if (found := _rows_of(loop, n, users)) is not None}
    if not rows:
        return None
    ends = {k: n for n, (_, k) in rows.items() if k is not None}
    body = replace(
        loop.body, results=tuple([r if k not in ends else r.args[-1] for k, r in enumerate(loop.body.results)])
    )

    def step(*args: Value) -> Values:
        given = dict(zip(loop.body.params, args, strict=True))
        read = {v: given[loop.body.params[n + 1]] for n, (reads, _) in rows.items() for v in reads}
        return substitute(body.results, {**given, **read})

    ins = tuple([cast("In", "each") if n in rows else kind for n, kind in enumerate(loop.ins)])
    outs = tuple([cast("Out", "stack") if k in ends else kind for k, kind in enumerate(loop.outs)])
    types = [p.type.row if n - 1 in rows else p.type for n, p in enumerate(loop.body.params)]
    made = trace(step, *types, names=[hint_of(p) for p in loop.body.params])
    return dict(zip(value.node.values, replace(loop, ins=ins, outs=outs, body=made).apply(*xs), strict=True))


def _rows_of(loop: Loop, n: int, users: Users) -> tuple[Values, int | None] | None:
    """The reads of row i of an operand, and the number of the result that has row i written; None if there is more."""
    array, index = loop.body.params[n + 1], loop.body.params[0]
    if loop.ins[n] not in ("const", "carry") or array.shape[:1] != (loop.length,):
        return None
    reads, writes = list[Value](), list[Value]()
    for user in users.get(array, ()):
        if user is None or user.args[0] is not array or user.args[1:2] != (index,) or array in user.args[1:]:
            return None
        op = user.op
        if isinstance(op, Gather) and not op.shared and len(user.args) == 2:
            reads += user.values
        elif isinstance(op, ScatterSet) and not op.shared and len(user.args) == 3:
            writes += user.values
        else:
            return None
    if loop.ins[n] == "const":
        return (tuple(reads), None) if reads else None
    k = next(k for c, k in loop.carries if c == n + 1)
    if writes != [loop.body.results[k]] or users[writes[0]] != [None]:
        return None
    return tuple(reads), k


@rewrite(Loop, level="stable", is_of_node=True)
def sum_of_products(value: Value) -> Replacement:
    """Σ over the steps of products a·b that are larger than a and b → one product of their stacks.

    The gradient of a matrix that a loop multiplies by is such a sum of outer products.
    """
    loop, xs = value.node.op, value.node.args
    assert isinstance(loop, Loop)
    for k, kind in enumerate(loop.outs):
        product, order = _product(loop.body.results[k]) if kind == "sum" else (None, ())
        if product is None or sum([a.type.size for a in product.args]) > product.type.size:
            continue
        op = cast("Dot", product.op)
        outs: tuple[Out, ...] = (*loop.outs[:k], *loop.outs[k + 1 :], "stack", "stack")
        results = (*loop.body.results[:k], *loop.body.results[k + 1 :], *product.args)
        *same, a, b = replace(loop, outs=outs, body=replace(loop.body, results=results)).apply(*xs)
        contract = tuple([(0, *(axis + 1 for axis in axes)) for axes in op.contract])
        batch = tuple([tuple([axis + 1 for axis in axes]) for axes in op.batch_axes])
        total = permute(Dot((contract[0], contract[1]), (batch[0], batch[1]))(a, b), order)
        same.insert(k, total)
        return dict(zip(value.node.values, same, strict=True))
    return None


def _product(term: Value) -> tuple[Value | None, tuple[int, ...]]:
    """The product that a term is a permutation of, and in which order its axes are."""
    if isinstance(term.op, Dot):
        return term, tuple(range(len(term.shape)))
    if isinstance(term.op, Permute) and isinstance(term.args[0].op, Dot):
        return term.args[0], term.op.order
    return None, ()


RULES = (
    loop_over_rows,
    loop_without_zeros,
    loop_without_idle_operands,
    loop_with_permuted_rows,
    loop_with_reshaped_terms,
    loop_with_parts_added,
    sum_of_products,
)
