"""How many operations a trace has: what copies of a body would cost to compile."""

from __future__ import annotations

from itertools import islice
from types import CodeType
from typing import Final

from pliant.core.inner import answered, functions_of
from pliant.core.ir import Function, Node
from pliant.core.scope import current_scope
from pliant.frontend.tracing import current, is_tracing

HEAVY: Final = 200  # operations of a step of which no two are to be compiled
MANY: Final = 1000  # operations of all steps that are copies


def operations() -> int:
    """How many operations the trace has so far, each loop or branch counted as one."""
    current = current_scope()
    return len(current.table) if current else 0


def operations_since(before: int) -> int:
    """How many operations the trace has got since it had some, with those inside of loops and branches."""
    current = current_scope()
    if current is None or not is_tracing():
        return 0
    return sum(map(_size, islice(reversed(current.table.values()), len(current.table) - before)))


def is_heavy(code: CodeType) -> bool:
    """Whether a step of a loop has many operations, as far as one was traced."""
    return code in current().outermost.heavy


def note_size(code: CodeType, count: int, steps: int) -> None:
    """Remember a step of a loop that has many operations, or of which there would be so many copies."""
    if count > HEAVY or count * steps > MANY:
        current().outermost.heavy.add(code)


def _size(node: Node) -> int:
    """The operations of a node: one, and those of the functions that it holds."""
    return 1 + sum(map(_sizes, functions_of(node.op).values()))


@answered
def _sizes(fn: Function) -> int:
    return sum(map(_size, fn.nodes))
