"""What loops and branches are to write over, and what reads it before.

A nest that reads such an array comes before the loop (see `order`), but not if it also reads what the loop, or a step
after it, makes: then the loop is given a copy. So what reads the one shares no nest with what reads the other.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Final, final

from pliant.core.ir import Value
from pliant.kernel.ir import Step, takes_over

FEW: Final = 16
"""Bytes that are copied as quickly as a nest of its own is run."""


@final
class Taken:
    """The arrays that steps are to write over. kept: those that nothing may write over."""

    def __init__(self, kept: Container[Value]) -> None:
        self.kept = kept
        self.by: dict[Value, int] = {}  # the first step that would write over it
        self.before: dict[int, int] = {}  # of a nest: the first step that would write over what it reads
        self.after: dict[int, int] = {}  # of a nest: the last step that makes what it reads

    def note(self, step: Step, number: int) -> None:
        """Note what a step, the n-th, would write over."""
        for source, _ in takes_over(step):
            if source.value and source.value not in self.kept and source.type.bytes > FEW:
                self.by.setdefault(source.value, number)

    def keeps_apart(self, nest: int, leaves: Iterable[Value], made_at: Mapping[Value, int]) -> bool:
        """Whether what reads some values had better not join a nest."""
        before, after = self.bounds(nest, leaves, made_at)
        is_one = self.after.get(nest, -1) < self.before.get(nest, nest)
        return is_one and after >= before

    def join(self, nest: int, leaves: Iterable[Value], made_at: Mapping[Value, int]) -> None:
        """Note what a nest reads."""
        if self.by:
            self.before[nest], self.after[nest] = self.bounds(nest, leaves, made_at)

    def bounds(self, nest: int, leaves: Iterable[Value], made_at: Mapping[Value, int]) -> tuple[int, int]:
        """The first step that would write over what a nest reads, and the last one that makes some of it."""
        before, after = self.before.get(nest, nest), self.after.get(nest, -1)
        for value in leaves if self.by else ():
            before = min(before, self.by.get(value, nest))
            made = made_at.get(value, -1)
            after = max(after, made if made < nest else -1)
        return before, after
