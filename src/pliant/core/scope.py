"""Which trace values belong to: its nodes by content, so that equal expressions are one object."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar, Final, final

if TYPE_CHECKING:
    from pliant.core.ir import Node, Value


@final
class Scope:
    """One trace: its nodes by content, and a number that tells its nodes from outer ones."""

    __slots__ = ("literals", "number", "table")
    _numbers: ClassVar[Iterator[int]] = count(1)

    def __init__(self) -> None:
        self.number = next(self._numbers)
        self.table: dict[tuple[Any, ...], Node] = {}
        self.literals: dict[tuple[str, Any], Value] = {}


@final
class Traced(threading.local):
    """What this thread traces."""

    scope: Scope | None = None


traced: Final = Traced()


@contextmanager
def scope(existing: Scope | None = None) -> Generator[Scope]:
    """Values made inside are interned together, apart from all others; or with those of `existing`."""
    before = traced.scope
    traced.scope = new = existing or Scope()
    try:
        yield new
    finally:
        traced.scope = before


def current_scope() -> Scope | None:
    """The trace that values made now belong to."""
    return traced.scope
