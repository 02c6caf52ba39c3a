"""Drop results nobody reads, inside nested functions too."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from pliant.core.inner import functions_of, map_functions, settling
from pliant.core.ir import Function, Param, Tangents, Value, Values, nodes, rebuild
from pliant.core.origin import at
from pliant.core.protocols import implements
from pliant.core.scope import scope


@runtime_checkable
class Prunable(Protocol):
    """A primitive that can do without some of its results."""

    def prune(self, used: tuple[bool, ...], xs: Values) -> Tangents:
        """The used results; None for the others."""
        ...


@runtime_checkable
class Selective(Protocol):
    """A primitive that can do without some of its operands too, as `prune` makes it, if some results are not used."""

    def needs(self, used: tuple[bool, ...]) -> tuple[bool, ...]:
        """The operands that the used results need."""
        ...


def read_for(results: Values) -> set[Value]:
    """All values that some results need, themselves included. What a loop inside carries for a result that nobody
    reads is none of them."""
    found = set(results)
    for node in reversed(nodes(results)):
        used = tuple([v in found for v in node.values])
        if all(used) or (any(used) and not implements(node.op, Selective)):
            found.update(node.args)
        elif any(used) and implements(node.op, Selective):
            found.update([a for a, is_needed in zip(node.args, node.op.needs(used), strict=True) if is_needed])
    return found


@settling
def eliminate_dead(fn: Function) -> Function:
    """`fn` computing only what its results need. Plain nodes die by not being reached; this is
    for primitives that hold functions or have results that nobody reads."""
    if not any(functions_of(n.op) or implements(n.op, Prunable) for n in fn.nodes if not isinstance(n.op, Param)):
        return fn
    read = read_for(fn.results)
    order = [node for node in fn.nodes if any([v in read for v in node.values])]
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
            args = tuple([env.get(a, a) for a in node.args])  # what is not there is pruned
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
