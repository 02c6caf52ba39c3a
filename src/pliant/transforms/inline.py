"""Open calls: replace primitives that only wrap a function by what they expand to."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from pliant.core.ir import Function, Op, Param, Value, functions_of, implements, map_functions, nodes, rebuild, scope
from pliant.core.origin import at


@runtime_checkable
class Inlinable(Protocol):
    """A primitive that exists for a transform's sake and is opened before code is made."""

    def inline(self, *xs: Value) -> tuple[Value, ...]:
        """The results, written in other primitives."""
        ...


def inline(fn: Function) -> Function:
    """`fn` with every `Inlinable` primitive opened, in the functions it holds too, until none is left."""
    while any(_is_open(n.op) for n in nodes(fn.results)):
        fn = _once(fn)
    return fn


def _is_open(op: Op) -> bool:
    """Whether there is something to open in this primitive."""
    if implements(op, Inlinable):
        return True
    return any(_is_open(n.op) for f in functions_of(op).values() for n in nodes(f.results))


def _once(fn: Function) -> Function:
    env: dict[Value, Value] = {p: p for p in fn.params}
    with scope():
        for node in nodes(fn.results):
            if isinstance(node.op, Param):
                env.setdefault(node.values[0], node.values[0])
                continue
            args = tuple([env[a] for a in node.args])
            if implements(node.op, Inlinable):
                with at(node.origin):
                    outs = node.op.inline(*args)
            elif functions_of(node.op):
                with at(node.origin):
                    outs = map_functions(node.op, inline).apply(*args)
            else:
                outs = rebuild(node, args)
            env.update(zip(node.values, outs, strict=True))
        return Function(fn.name, fn.params, tuple([env[r] for r in fn.results]))
