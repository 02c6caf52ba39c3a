"""Open calls: replace primitives that only wrap a function by what they expand to."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from pliant.core.inner import answered, functions_of
from pliant.core.ir import Function, Node, Op, Value, Values
from pliant.core.protocols import implements
from pliant.transforms.replace import changed_inside, replaced


@runtime_checkable
class Inlinable(Protocol):
    """A primitive that exists for a transform's sake and is opened before code is made."""

    def inline(self, *xs: Value) -> tuple[Value, ...]:
        """The results, written in other primitives."""
        ...


def inline(fn: Function) -> Function:
    """`fn` with every `Inlinable` primitive opened, in the functions it holds too, until none is left."""
    while _has_open(fn):
        fn = _once(fn)
    return fn


def _is_open(op: Op) -> bool:
    """Whether there is something to open in this primitive."""
    if implements(op, Inlinable):
        return True
    return any(map(_has_open, functions_of(op).values()))


@answered
def _has_open(fn: Function) -> bool:
    return any(_is_open(n.op) for n in fn.nodes)


def _once(fn: Function) -> Function:
    def opened(node: Node, args: Values) -> Values | None:
        if implements(node.op, Inlinable):
            return node.op.inline(*args)
        return changed_inside(node, args, inline)

    return replaced(fn, opened)
