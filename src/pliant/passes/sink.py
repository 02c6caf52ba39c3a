"""What only one branch reads is computed in that branch.

A value moves into a branch if everything that reads it is there. Before that, a choice between two
arrays by one condition becomes a branch where that saves work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from pliant.core.build import trace
from pliant.core.inner import functions_of, map_functions
from pliant.core.ir import Const, Function, Node, Op, Param, Value, Values, rebuild, substitute
from pliant.core.origin import at
from pliant.core.scope import scope
from pliant.ops.base import Elementwise, Movement, fit
from pliant.ops.cond import Cond
from pliant.ops.region import read_by
from pliant.ops.select import Select
from pliant.ops.shape import Broadcast
from pliant.transforms.replace import replaced_in

Side: TypeAlias = "tuple[Node, int]"  # a branching node, and which of its functions: 0 or 1
SideOf: TypeAlias = Callable[[Node, int], int | None]  # which side of a branching node reads its n-th operand

HEAVY: Final = 4096  # elements; less work than for so many is not worth a branch


def sink(fn: Function) -> Function:
    """`fn` with what only one branch reads inside that branch, also in the functions that it holds."""
    order = fn.nodes
    if not any([functions_of(n.op) or isinstance(n.op, Select) for n in order if not isinstance(n.op, Param)]):
        return fn
    fn = _with_branches(fn)
    claimed = _claims(fn, _side_of_cond)
    owners = {owner for owner, _ in claimed.values()}
    order = fn.nodes
    kept = [n for n in order if functions_of(n.op) and n not in claimed and n not in owners]
    held = {n: op for n in kept if (op := map_functions(n.op, sink)) is not n.op}
    if not claimed and not held:
        return fn
    env: dict[Value, Value] = {}
    with scope():
        for node in order:
            if isinstance(node.op, Param):
                env[node.values[0]] = node.values[0]
            elif node not in claimed:
                with at(node.origin):
                    env.update(zip(node.values, _rebuilt(node, held.get(node), claimed, env), strict=True))
        return Function(fn.name, fn.params, tuple([env[r] for r in fn.results]))


def _rebuilt(node: Node, held: Op | None, claimed: dict[Node, Side], env: dict[Value, Value]) -> Values:
    """The results of a node that stays where it is, of which branches may have taken in others."""
    op = node.op
    if not isinstance(op, Cond) or not any([owner is node for owner, _ in claimed.values()]):
        args = tuple([env[a] for a in node.args])
        return rebuild(node, args) if held is None else held.apply(*args)
    given = _frontier(node, claimed)

    def inside(branch: Function) -> Function:
        def step(*args: Value) -> Values:
            return branch(*substitute(node.args[1:], dict(zip(given, args, strict=True))))

        return trace(step, *(v.type for v in given))

    wider = map_functions(Cond(inside(op.then), inside(op.otherwise)), sink)
    return wider.apply(env[node.args[0]], *(env[v] for v in given))


def _frontier(node: Node, claimed: dict[Node, Side]) -> Values:
    """What a branching node reads once it has taken in what it claims."""
    found, todo, seen = dict[Value, None](), list(reversed(node.args[1:])), set[Node]()
    while todo:
        value = todo.pop()
        if claimed.get(value.node, (None,))[0] is not node:
            if not isinstance(value.op, Const):
                found[value] = None
        elif value.node not in seen:
            seen.add(value.node)
            todo.extend(reversed(value.args))
    return tuple(found)


def _claims(fn: Function, side_of: SideOf) -> dict[Node, Side]:
    """The nodes that only one side of one branching node needs."""
    order = fn.nodes
    readers: dict[Node, list[tuple[Node, int]]] = {node: [] for node in order}
    for node in order:
        for n, a in enumerate(node.args):
            readers[a.node].append((node, n))
    claimed = dict[Node, Side]()
    results = {r.node for r in fn.results}
    for node in reversed(order):
        if node in results or isinstance(node.op, Param | Const):
            continue
        owners = {_owner(reader, n, claimed, side_of) for reader, n in readers[node]}
        owner = owners.pop() if len(owners) == 1 else None
        if owner is not None:
            claimed[node] = owner
    return claimed


def _owner(reader: Node, n: int, claimed: dict[Node, Side], side_of: SideOf) -> Side | None:
    if reader in claimed:
        return claimed[reader]
    side = side_of(reader, n)
    return None if side is None else (reader, side)


def _side_of_cond(node: Node, n: int) -> int | None:
    """Which branch of a node reads its n-th operand, if exactly one does."""
    if not isinstance(node.op, Cond) or n == 0:
        return None
    if node.args[1:].count(node.args[n]) > 1:
        return None
    read = [read_by(fn.results, fn.params)[n - 1] for fn in node.op.branches]
    return read.index(True) if sum(read) == 1 else None


# --- choices that are worth a branch


def _with_branches(fn: Function) -> Function:
    """`fn` with a choice by one condition as a branch, where one side has much work of its own."""
    choices = [n for n in fn.nodes if isinstance(n.op, Select) and _predicate(n) is not None]
    if not choices:
        return fn
    heavy = {owner for node, (owner, _) in _claims(fn, _side_of_choice).items() if _is_heavy(node)}
    if not heavy:
        return fn
    return replaced_in(fn, lambda node, env: _branched(node, env) if node in heavy else None)


def _branched(node: Node, env: dict[Value, Value]) -> Value:
    predicate = _predicate(node)
    assert predicate is not None
    type, xs = node.types[0], [env[a] for a in node.args[1:]]

    def first(x: Value, y: Value) -> Value:
        return fit(x, type)

    def second(x: Value, y: Value) -> Value:
        return fit(y, type)

    with at(node.origin):
        return Cond(*(trace(side, *(x.type for x in xs)) for side in (first, second)))(env[predicate], *xs)


def _predicate(node: Node) -> Value | None:
    """The one condition of a choice; None if there are several."""
    condition = node.args[0]
    if not condition.shape:
        return condition
    return condition.args[0] if isinstance(condition.op, Broadcast) and not condition.args[0].shape else None


def _side_of_choice(node: Node, n: int) -> int | None:
    if not isinstance(node.op, Select) or _predicate(node) is None or node.args[1] is node.args[2]:
        return None
    return n - 1 if n else None


def _is_heavy(node: Node) -> bool:
    """Whether a node is more work than a pass over its elements."""
    if isinstance(node.op, Elementwise | Movement):
        return False
    return bool(functions_of(node.op)) or _elements(node.args) * _elements(node.values) >= HEAVY**2


def _elements(values: Sequence[Value]) -> int:
    return max([v.type.size for v in values], default=0)
