"""How many operations a trace has: what copies of a body would cost to compile."""

from __future__ import annotations

from itertools import islice

from pliant.core.inner import functions_of
from pliant.core.ir import Node
from pliant.core.scope import current_scope
from pliant.frontend.tracing import is_tracing


def operations() -> int:
    """How many operations the trace has so far, each loop or branch counted as one."""
    current = current_scope()
    return len(current.table) if current else 0


def operations_since(before: int) -> int:
    """How many operations the trace has got since it had some, with those inside of loops and branches."""
    current = current_scope()
    return sum(map(_size, islice(current.table.values(), before, None))) if current and is_tracing() else 0


def _size(node: Node) -> int:
    """The operations of a node: one, and those of the functions that it holds."""
    return 1 + sum([_size(inner) for fn in functions_of(node.op).values() for inner in fn.nodes])
