"""Make a function anew with some of its nodes made otherwise: what most passes are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from pliant.core.inner import map_functions
from pliant.core.ir import Const, Function, Node, Param, Value, Values, nodes, rebuild, substitute
from pliant.core.origin import swap
from pliant.core.scope import scope

Env: TypeAlias = "dict[Value, Value]"
Rule: TypeAlias = Callable[[Node, Values], "Values | Value | None"]
InEnv: TypeAlias = Callable[[Node, Env], "Values | Value | None"]


def replaced(fn: Function, rule: Rule, *, keeps: bool = False) -> Function:
    """`fn` with each node as `rule(node, args)` makes it: its results, for None what it was. `fn` itself if no node
    is made otherwise."""
    return replaced_in(fn, lambda node, env: rule(node, tuple([env[a] for a in node.args])), keeps=keeps)


def replaced_in(fn: Function, rule: InEnv, *, keeps: bool = False) -> Function:
    """The same by a rule that is given what every value before the node has become. keeps: whether the rule keeps
    what it makes for later nodes."""
    with scope():
        is_plain = keeps or not _is_interned(fn)
        env, start = ({p: p for p in fn.params}, 0) if is_plain else _begun(fn, rule)
        if start is None:
            return fn
        for node in fn.nodes[start:]:
            if isinstance(node.op, Param):
                env.setdefault(node.values[0], node.values[0])
            else:
                env.update(zip(node.values, _made(node, env, rule) or _again(node, env), strict=True))
        return Function(fn.name, fn.params, tuple([env[r] for r in fn.results]))


def _begun(fn: Function, rule: InEnv) -> tuple[Env, int | None]:
    """What values become up to the first node that a rule makes otherwise, and the number of the next one; None if
    there is none. The nodes before it are made again only then: what is made of them is interned with the rest."""
    same: Env = {p: p for p in fn.params}
    for n, node in enumerate(fn.nodes):
        made = None if isinstance(node.op, Param) else _made(node, same, rule)
        if made is not None:
            env: Env = {p: p for p in fn.params}
            for other in fn.nodes[:n]:
                if isinstance(other.op, Param):
                    env.setdefault(other.values[0], other.values[0])
                else:
                    env.update(zip(other.values, _again(other, env), strict=True))
            env.update(zip(node.values, substitute(made, env), strict=True))
            return env, n + 1
        same.update([(v, v) for v in node.values])
    return same, None


def _is_interned(fn: Function) -> bool:
    """Whether no node is there twice, as all are of one trace."""
    return len({node.scope for node in fn.nodes if not isinstance(node.op, Param | Const)}) <= 1


def _made(node: Node, env: Env, rule: InEnv) -> Values | None:
    """The results of a node as a rule makes them; None if that is the same node."""
    before = swap(node.origin)
    try:
        made = rule(node, env)
    finally:
        swap(before)
    if made is None:
        return None
    results = made if isinstance(made, tuple) else (made,)
    new = results[0].node
    is_same = new.op is node.op and new.values == results and new.args == tuple([env[a] for a in node.args])
    return None if is_same else results


def _again(node: Node, env: Env) -> Values:
    """The same node, of what its operands have become."""
    return rebuild(node, tuple([env[a] for a in node.args]))


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
