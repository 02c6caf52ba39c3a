"""Integer arguments for whose values a compiled function has programs: remembered, so that the next value is compiled
at once, and counted, as numbers that data decide are."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, Final, final

from pliant.core.origin import CodeOrigin, here
from pliant.errors import RecompiledWarning
from pliant.frontend.needs import may_be_known
from pliant.frontend.program import Program
from pliant.frontend.tracing import Needs

MANY: Final = 16  # values of one argument before a warning


@final
class Known:
    """Those of one function, by the structure of its arguments; empty for most."""

    may_guess: ClassVar[bool] = True  # tests of programs for all integers say no

    def __init__(self) -> None:
        self.leaves: dict[Any, tuple[int, ...]] = {}
        self.firsts: dict[Any, dict[int, Any]] = {}  # by forms of calls: the integers that slices of the first have
        self.places: dict[Any, str] = {}  # the user's line that asked first
        self.values: dict[tuple[Any, int | None], set[Any]] = {}  # None: of numbers that data decide

    def of(self, structure: Any, form: Any, leaves: Sequence[Any]) -> tuple[int, ...]:
        """The leaves of a call that are known: they have to be, or are what the first call of this form had."""
        if not (self.leaves or self.firsts):
            return ()
        return tuple(sorted({*self._needed(structure, leaves), *self._as_first(form, leaves)}))

    def needs(self, structure: Any, form: Any, leaves: Sequence[Any]) -> Needs:
        """The same for a trace, which may guess if it is the first of its form."""
        needed, same = self._needed(structure, leaves), self._as_first(form, leaves)
        guesses = self.may_guess and form not in self.firsts
        return Needs(needed | same, decides=True, guesses=guesses, guessed=same - needed)

    def _needed(self, structure: Any, leaves: Sequence[Any]) -> frozenset[int]:
        return frozenset([i for i in self.leaves.get(structure, ()) if may_be_known(leaves[i])])

    def _as_first(self, form: Any, leaves: Sequence[Any]) -> frozenset[int]:
        first = self.firsts.get(form, {})
        return frozenset(first) if all([leaves[i] == x for i, x in first.items()]) else frozenset()

    def learn(
        self, structure: Any, form: Any, program: Program, leaves: Sequence[Any], names: Sequence[str]
    ) -> tuple[int, ...]:
        """What a new program is made for; RecompiledWarning if an argument has had many values."""
        needed = {*program.known} - program.guessed
        self.leaves = {**self.leaves, structure: tuple(sorted({*self.leaves.get(structure, ()), *needed}))}
        if program.guessed:
            self.firsts = {**self.firsts, form: {i: leaves[i] for i in program.guessed}}
        if program.asked is not None:
            self.places.setdefault(structure, program.asked.render("needed here"))
        for i in needed:
            values = self.values.setdefault((structure, i), set())
            values.add(leaves[i])
            if len(values) == MANY:
                _warn(_many(program, repr(names[i]), self.places.get(structure, ""), names[i]))
        if program.decided is not None:
            values = self.values.setdefault((structure, None), set())
            values.add(tuple([x.tobytes() for x in program.decided.contents]))
            if len(values) == MANY:
                _warn(_many(program, "a number that depends on data", self.places.get(structure, "")))
        return self.of(structure, form, leaves)


def _warn(text: str) -> None:
    """Warn at the user's line, however far away that is."""
    origin = here()
    place = (origin.code.co_filename, origin.span[0]) if isinstance(origin, CodeOrigin) else ("<unknown>", 0)
    warnings.warn_explicit(text, RecompiledWarning, *place)


def _many(program: Program, what: str, place: str, name: str = "") -> str:
    """The text for a number of many values. name: of an argument that it is."""
    lines = [f"{program.fn.name}: {what} has to be known while tracing, so each of its {MANY} values was compiled"]
    lines += [place] if place else []
    declared = f'static="{name}" says that this is meant; else ' if name.isidentifier() else ""
    lines += [f"hint: {declared}make the largest array and take a part of it, as in np.zeros(most)[:n]"]
    return "\n".join(lines)
