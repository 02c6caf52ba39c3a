"""Make a function anew with some of its nodes made otherwise: what most passes are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from pliant.core.inner import map_functions
from pliant.core.ir import Function, Node, Param, Value, Values, nodes, rebuild
from pliant.core.origin import swap
from pliant.core.scope import scope

Env: TypeAlias = "dict[Value, Value]"
Rule: TypeAlias = Callable[[Node, Values], "Values | Value | None"]


def replaced(fn: Function, rule: Rule) -> Function:
    """`fn` with each node as `rule(node, args)` makes it: its results, for None what it was."""
    return replaced_in(fn, lambda node, env: rule(node, tuple([env[a] for a in node.args])))


def replaced_in(fn: Function, rule: Callable[[Node, Env], Values | Value | None]) -> Function:
    """The same by a rule that is given what every value before the node has become."""
    env: Env = {p: p for p in fn.params}
    with scope():
        for node in fn.nodes:
            if isinstance(node.op, Param):
                env.setdefault(node.values[0], node.values[0])
                continue
            before = swap(node.origin)
            try:
                made = rule(node, env)
            finally:
                swap(before)
            if made is None:
                made = rebuild(node, tuple([env[a] for a in node.args]))
            env.update(zip(node.values, made if isinstance(made, tuple) else (made,), strict=True))
        return Function(fn.name, fn.params, tuple([env[r] for r in fn.results]))


def copied(
    results: Values,
    env: Env,
    early: Sequence[Value] = (),
    rule: Callable[[Node, Env], Values | None] = lambda node, env: None,
) -> Values:
    """The results, in the scope there is, made again of what some values have become: some of them early, nodes as
    `rule` makes them."""
    for node in nodes([*early, *results]):
        if isinstance(node.op, Param):
            env.setdefault(node.values[0], node.values[0])
            continue
        made = rule(node, env)
        made = rebuild(node, tuple([env[a] for a in node.args])) if made is None else made
        env.update(zip(node.values, made, strict=True))
    return tuple([env[r] for r in results])


def changed_inside(node: Node, args: Values, change: Callable[[Function], Function]) -> Values | None:
    """The node with the functions that its primitive holds changed; None if they are not."""
    op = map_functions(node.op, change)
    return None if op is node.op else op.apply(*args)
