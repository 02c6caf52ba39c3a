"""Arguments whose memory a call may use for what it computes, and arrays that have lost theirs that way."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any, Final, final

import numpy as np

from pliant.core.data import frozen
from pliant.errors import ArgumentError
from pliant.frontend.alias import groups_of
from pliant.frontend.program import Program


@final
@frozen
class Donation:
    """The leaves of a call that are given away, by name; for programs that do not return them as they are."""

    program: Program
    names: dict[int, str]  # leaf number -> what the caller calls it

    @property
    def params(self) -> dict[int, int]:
        """Leaf number -> parameter, of those whose memory is free: not those that are written or returned."""
        changed = self.program.changed.outputs if self.program.changed else ()
        sides = [side for o in (*self.program.outputs, *changed) for side in o.sides]
        shown = {side.place for side in sides if side.kind in ("source", "leaf")}
        pinned = {p for p, _ in self.program.pinned}
        places = {leaf: p for p, leaf in enumerate(self.program.leaves)}
        kept = [leaf for leaf in self.names if leaf in places and leaf not in shown and places[leaf] not in pinned]
        return {leaf: places[leaf] for leaf in kept}

    def check(self, leaves: Sequence[Any]) -> None:
        """ArgumentError if a donated array overlaps another, or holds the result of another call."""
        if groups_of([*leaves, *self.program.met], [n for n in self.names if isinstance(leaves[n], np.ndarray)]):
            named = ", ".join(self.names.values())
            raise ArgumentError(
                f"{self.program.fn.name}: an array donated as {named} shares memory with another argument",
                hint="donate a copy",
            )
        for leaf in leaves:
            held = _given.get(id(leaf))
            if held and held[0]() is leaf and held[1]() is not None:
                raise ArgumentError(
                    f"{self.program.fn.name}: an array that was donated is used again; it holds a result now",
                    hint="use that result, or donate a copy",
                )

    def arguments(self, arguments: list[Any]) -> list[Any]:
        """The arrays to run on: read-only ones stay as they are."""
        for p in self.params.values():
            if not arguments[p].flags.writeable:
                arguments[p] = arguments[p].copy()
        return arguments

    def results(self, leaves: Sequence[Any], arguments: Sequence[Any], results: Sequence[Any]) -> list[Any]:
        """The results, those in donated memory as arrays of their own; it is noted who lost it."""
        made = list(results)
        for leaf, p in self.params.items():
            for n, result in enumerate(results):
                if result is arguments[p] and result is leaves[leaf]:
                    made[n] = result.view()
                    note(result, made[n])
        return made


_given: Final[dict[int, tuple[weakref.ref[Any], weakref.ref[Any]]]] = {}


def note(array: Any, result: Any) -> None:
    """Remember that an array's memory holds a result, as long as there are both."""
    number = id(array)
    _given[number] = weakref.ref(array, lambda _: _given.pop(number, None)), weakref.ref(result)
