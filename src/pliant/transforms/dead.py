"""Drop results nobody reads, inside nested functions too."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from pliant.core.inner import functions_of, map_functions, settling
from pliant.core.ir import Function, Param, Tangents, Value, Values, rebuild
from pliant.core.origin import at
from pliant.core.protocols import implements
from pliant.core.scope import scope


@runtime_checkable
class Prunable(Protocol):
    """A primitive that can do without some of its results."""

    def prune(self, used: tuple[bool, ...], xs: Values) -> Tangents:
        """The used results; None for the others."""
        ...


@settling
def eliminate_dead(fn: Function) -> Function:
    """`fn` computing only what its results need. Plain nodes die by not being reached; this is
    for primitives that hold functions or have results that nobody reads."""
    order = fn.nodes
    if not any(functions_of(n.op) or implements(n.op, Prunable) for n in order if not isinstance(n.op, Param)):
        return fn
    read = {a for node in order for a in node.args} | set(fn.results)
    used = {node: tuple([v in read for v in node.values]) for node in order}
    pruned = {node for node in order if not all(used[node]) and implements(node.op, Prunable)}
    inner = {node: map_functions(node.op, eliminate_dead) for node in order if node not in pruned}
    if not pruned and all([op is node.op for node, op in inner.items()]):
        return fn
    env: dict[Value, Value] = {p: p for p in fn.params}
    with scope():
        for node in order:
            if isinstance(node.op, Param):
                continue
            args = tuple([env[a] for a in node.args])
            with at(node.origin):
                if implements(node.op, Prunable) and node in pruned:
                    outs = _inside(node.op.prune(used[node], args))
                elif inner[node] is not node.op:
                    outs = inner[node].apply(*args)
                else:
                    outs = rebuild(node, args)
            env.update((v, o) for v, o in zip(node.values, outs, strict=True) if o is not None)
        return Function(fn.name, fn.params, tuple([env[r] for r in fn.results]))


def _inside(outs: Tangents) -> Tangents:
    """The results of a pruned node, computing only what they need inside it too."""
    node = next((o.node for o in outs if o is not None), None)
    if node is None or not functions_of(node.op):
        return outs
    made = map_functions(node.op, eliminate_dead).apply(*node.args)
    return tuple([None if o is None else made[o.index] for o in outs])
