"""A while loop and its way back with a tape become one: the loop is run once.

What lies between the two, from the value of the loop to the cotangents that the way back starts from, goes into the
primitive that both become; so does what only that reads. A branch that holds a loop, and the branch that holds its way
back, become one branch first, if little lies between them, since that is then in either arm.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from pliant.core.build import abstract, trace
from pliant.core.ir import Const, Function, Node, Op, Param, Value, Values, functions_of, nodes, rebuild
from pliant.core.origin import at
from pliant.core.scope import scope
from pliant.ops.base import Elementwise, Movement
from pliant.ops.cond import Cond
from pliant.ops.reduce import Reduction
from pliant.ops.retrace import Retrace
from pliant.ops.while_loop import WhileLoop
from pliant.ops.while_once import WhileOnce
from pliant.transforms.dead import eliminate_dead
from pliant.transforms.replace import changed_inside, replaced

SIMPLE = (Elementwise, Movement, Reduction)
FEW: Final = 50  # nodes


def run_once(fn: Function) -> Function:
    """`fn` with while loops that are run for their value and again for a tape run once, also in what it holds."""
    if not any([_holds_retrace(node) for node in nodes(fn.results)]):
        return fn
    if any([functions_of(node.op) for node in nodes(fn.results)]):
        fn = replaced(fn, lambda node, args: changed_inside(node, args, run_once) if functions_of(node.op) else None)
    while branches := _branches(fn):
        fn = _joined(fn, *branches)
    while pair := _pair(nodes(fn.results)):
        fn = _joined(fn, *pair)
    return fn


def _holds_retrace(node: Node) -> bool:
    if isinstance(node.op, Retrace):
        return True
    return any([_holds_retrace(n) for f in functions_of(node.op).values() for n in nodes(f.results)])


def _pair(order: list[Node]) -> tuple[Node, Node] | None:
    """A loop, and its way back."""
    loops = {node.args: node for node in order if isinstance(node.op, WhileLoop)}
    for node in order:
        if isinstance(node.op, Retrace):
            loop = loops.get(node.args[: len(node.op.ins)])
            if loop and _is_same(loop, node.op):
                return loop, node
    return None


def _branches(fn: Function) -> tuple[Node, Node] | None:
    """A branch that holds a loop, and one on the same condition that holds its way back, with little between them."""
    order, results = nodes(fn.results), {r.node for r in fn.results}
    first: dict[Value, Node] = {}
    for node in order:
        if not isinstance(node.op, Cond):
            continue
        before = first.setdefault(node.args[0], node)
        if before is node or not _holds(node, Retrace) or not _holds(before, WhileLoop):
            continue
        between = _between(order, before, node, results)
        if len(between) <= FEW and not any([functions_of(n.op) for n in between]):
            return before, node
    return None


def _holds(node: Node, kind: type[Op]) -> bool:
    """Whether an arm of a branch, or of one in it, is made with a primitive of a kind."""
    inside = [n for fn in functions_of(node.op).values() for n in nodes(fn.results)]
    return any([isinstance(n.op, kind) or (isinstance(n.op, Cond) and _holds(n, kind)) for n in inside])


def _is_same(node: Node, op: Retrace) -> bool:
    """Whether the way forward is that loop, but for what it saves."""
    loop = node.op
    assert isinstance(loop, WhileLoop)
    if loop.ins != op.ins or loop.test != op.test:
        return False
    ahead = Function("step", op.ahead.params, op.ahead.results[: len(op.carries)])
    body = Function("step", loop.body.params, loop.body.results)
    return eliminate_dead(ahead) == eliminate_dead(body)


def _joined(fn: Function, loop: Node, back: Node) -> Function:
    """`fn` with the two as one."""
    order = nodes(fn.results)
    between = _between(order, loop, back, {r.node for r in fn.results})
    made = [v for node in order if node is loop or node in between for v in node.values]
    outside = {a for node in order if node not in between and node is not back for a in node.args} | {*fn.results}
    outs = tuple([v for v in made if v in outside])
    starts = back.args[len(back.op.ins) :] if isinstance(back.op, Retrace) else back.args[1:]
    more = _frontier((*starts, *outs), loop, between)
    once, given = (_once if isinstance(back.op, Retrace) else _in_each_arm)(loop, back, (*starts, *outs), more)
    env: dict[Value, Value] = {p: p for p in fn.params}
    late = _after(order, {loop, back})

    def rebuilt(node: Node) -> None:
        if isinstance(node.op, Param):
            env.setdefault(node.values[0], node.values[0])
        else:
            env.update(zip(node.values, rebuild(node, tuple([env[a] for a in node.args])), strict=True))

    with scope():
        for node in order:
            if node not in late and node not in between:
                rebuilt(node)
        with at(loop.origin):
            new = once.apply(*(env[a] for a in given))
        env.update(zip((*back.values, *outs), new, strict=True))
        for node in order:
            if node in late and node not in between and node is not loop and node is not back:
                rebuilt(node)
        return Function(fn.name, fn.params, tuple([env[r] for r in fn.results]))


def _once(loop: Node, back: Node, results: Values, more: Values) -> tuple[Op, Values]:
    """The loop, what leads to the results, and the way back, as one primitive; and its operands."""
    op = back.op
    assert isinstance(op, Retrace)
    middle = run_once(abstract(results, (*loop.values, *more), "middle"))
    once = WhileOnce(op.test, op.ahead, middle, op.back, op.ins, op.reads)
    return once, (*back.args[: len(op.ins)], *more)


def _in_each_arm(first: Node, back: Node, results: Values, more: Values) -> tuple[Op, Values]:
    """The same of two branches on one condition."""
    condition, *xs = first.args
    given = tuple(dict.fromkeys((*xs, *more)))
    middle = abstract(results, (*first.values, *given), "middle")
    places, count = [given.index(x) for x in xs], len(back.args) - 1

    def joined(ahead: Function, behind: Function) -> Function:
        def arm(*args: Value) -> Values:
            made = middle(*ahead(*(args[n] for n in places)), *args)
            return *behind(*made[:count]), *made[count:]

        return run_once(trace(arm, *(v.type for v in given)))

    arms = zip(functions_of(first.op).values(), functions_of(back.op).values(), strict=True)
    return Cond(*(joined(ahead, behind) for ahead, behind in arms)), (condition, *given)


def _between(order: list[Node], loop: Node, back: Node, results: Collection[Node]) -> set[Node]:
    """What is made of the loop's value and leads to where the way back starts; what else is simply made of that,
    such as the sum that is differentiated; and simple operations for these alone."""
    late, starts = _after(order, {loop}), back.args[0 if isinstance(back.op, Cond) else len(loop.args) :]
    found = {node for node in nodes(starts) if node in late and node is not loop}
    others = _after(order, {loop, back}) - found - {loop}
    for node in order:
        if node in others and isinstance(node.op, SIMPLE) and all([a.node not in others for a in node.args]):
            others.remove(node)
            found.add(node)
    readers: dict[Node, set[Node]] = {}
    for node in order:
        for a in node.args if node is not back else starts:
            readers.setdefault(a.node, set()).add(node)
    kept = {*results, *(a.node for a in loop.args)}
    for node in reversed(order):
        is_simple = isinstance(node.op, SIMPLE) and node not in kept
        if node not in late and is_simple and readers[node] <= found | {back}:
            found.add(node)
    return found


def _after(order: list[Node], first: Collection[Node]) -> set[Node]:
    """Some nodes, and those that depend on them."""
    found = set(first)
    for node in order:
        if any([a.node in found for a in node.args]):
            found.add(node)
    return found


def _frontier(results: Values, loop: Node, inside: Collection[Node]) -> Values:
    """What is read by what leads to the results, inside, and is not made there."""
    found, todo, seen = dict[Value, None](), list(reversed(results)), set[Node]()
    while todo:
        value = todo.pop()
        if isinstance(value.op, Const) or value.node is loop:
            continue
        if value.node not in inside:
            found[value] = None
        elif value.node not in seen:
            seen.add(value.node)
            todo.extend(reversed(value.args))
    return tuple(found)
