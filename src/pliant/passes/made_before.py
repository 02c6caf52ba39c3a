"""What a branch makes that is made before it anyway is given to it.

    if a[i] - g > best: best = a[i] - g        x = a[i] - g;  if x > best: best = x

The branch then only chooses, its derivative reads what is at hand, and a tape keeps less. Only single numbers that
take about as long as a load are given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias

from pliant.core.build import hint_of, trace
from pliant.core.inner import functions_of, map_functions
from pliant.core.ir import Const, Function, Node, Value, Values, rebuild, substitute
from pliant.ops.cond import Cond
from pliant.ops.region import is_simple
from pliant.transforms.replace import Env, replaced_in

Known: TypeAlias = "Mapping[tuple[object, ...], Value]"
"""Numbers by the primitive that makes them and what they are made of."""
Given: TypeAlias = "dict[Value, Value]"
"""What a branch makes, and what it is given instead."""


def made_before(fn: Function) -> Function:
    """`fn` with such branches, in the functions that its primitives hold too."""
    order = fn.nodes
    if not any([functions_of(node.op) for node in order]):
        return fn
    branching = [(node, op) for node in order if isinstance(op := node.op, Cond)]
    known = {_key(node, {}): node.values[0] for node in order if _is_number(node)} if branching else {}
    found = {node: given for node, op in branching if any(given := [_given(f, node, known) for f in op.branches])}

    def rule(node: Node, env: Env) -> Values | None:
        if node in found:
            return _with_given(node, found[node], env)
        op = map_functions(node.op, made_before)
        return None if op is node.op else op.apply(*[env[a] for a in node.args])

    return replaced_in(fn, rule)


def _is_number(node: Node) -> bool:
    """Whether a node makes one number, in no longer than it takes to load it."""
    return bool(node.args) and node.values[0].type.rank == 0 and is_simple(node.op)


def _key(node: Node, outside: Mapping[Value, Value]) -> tuple[object, ...]:
    """A number by what makes it. outside: what values of a branch are outside of it."""
    return node.op, *[a.op if isinstance(a.op, Const) else outside.get(a, a) for a in node.args]


def _given(fn: Function, node: Node, known: Known) -> Given:
    """What a branch of a node makes that is known outside, as far as the rest of the branch reads it."""
    outside = dict(zip(fn.params, node.args[1:], strict=True))
    for inner in fn.nodes:
        made = known.get(_key(inner, outside)) if _is_number(inner) else None
        if made is not None:
            outside[inner.values[0]] = made
    found, todo, seen = dict[Value, Value](), [*fn.results], set[Value]()
    while todo:
        value = todo.pop()
        if value in outside and value.args:
            found[value] = outside[value]
        elif value not in seen:
            seen.add(value)
            todo.extend(value.args)
    return found


def _with_given(node: Node, given: list[Given], env: Env) -> Values:
    """The results of a node whose branches are given what is made before."""
    op = node.op
    assert isinstance(op, Cond)
    outside = tuple(dict.fromkeys([v for some in given for v in some.values()]))

    def taking(fn: Function, some: Given) -> Function:
        def step(*args: Value) -> Values:
            more = dict(zip(outside, args[len(fn.params) :], strict=True))
            own = dict(zip(fn.params, args, strict=False))
            return substitute(fn.results, {**own, **{v: more[known] for v, known in some.items()}})

        types = [v.type for v in (*fn.params, *outside)]
        made = made_before(trace(step, *types, names=[hint_of(p) for p in (*fn.params, *outside)]))
        return replace(made, name=fn.name)

    branches = [taking(fn, some) for fn, some in zip(op.branches, given, strict=True)]
    args = [env[a] for a in node.args]
    return Cond(*branches).of_read(*args, *[_made(v, env) for v in outside])


def _made(value: Value, env: Env) -> Value:
    """What a number has become; made now, if it has not been."""
    if value not in env:
        (env[value],) = rebuild(value.node, tuple([_made(a, env) for a in value.args]))
    return env[value]
