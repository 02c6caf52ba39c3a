"""A program and the code made from it, and how a call runs it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import field
from typing import Any, final

from pliant.core.data import frozen
from pliant.frontend.donation import Donation
from pliant.frontend.placing import Pairs, filled, packed, row_major, targets, written_over
from pliant.frontend.program import Program


@final
@frozen
class Entry:
    """A program and the code made from it."""

    program: Program
    compile: Callable[[Pairs], Any]  # with these results made in these parameters
    forms: dict[Any, int] = field(default_factory=dict[Any, int])  # of calls, with how often they came
    scratch: list[dict[int, Any]] = field(default_factory=list[dict[int, Any]])  # free ones; pop and append are atomic
    codes: dict[Pairs, Any] = field(default_factory=dict[Pairs, Any])
    donation: Donation | None = None
    native: Any = None  # the backend, if it makes code that answers calls
    another: Callable[[Program], Entry] | None = None  # for the same arguments

    @functools.cached_property
    def row_major(self) -> Entry:
        """The same for calls with `out=`: arrays are what the program makes, and no views of that in another order."""
        program = row_major(self.program)
        return self.another(program) if self.another and program is not self.program else self

    @property
    def run(self) -> Any:
        """The code for a call without `out=`."""
        return self.code(())

    def code(self, more: Pairs) -> Any:
        """The code that makes more results in parameters than those that the function writes."""
        if more not in self.codes:
            self.codes[more] = self.compile((*self.program.pinned, *more))
        return self.codes[more]

    def call(
        self, tree: Any, given: list[Any], arrays: list[Any], leaves: list[Any], outs: list[Any] | None = None
    ) -> Any:
        """Run, write what the function writes, and make what it returns; the results are also left in `outs`.
        given: the leaves as they came; arrays: as arrays, with their axes in the order that they came with."""
        program, donation = self.program, self.donation
        arguments = program.arguments(leaves)
        if donation:
            donation.check(leaves)
            arguments = donation.arguments(arguments)
        results = self.run(arguments) if outs is None and not program.packs else self.into(arguments, outs)
        program.check(results)
        if donation:
            results = donation.results(leaves, arguments, results)
        held, made = program.held(tree, given), program.finish(arrays, leaves, results, arguments, outs)
        return program.rebuilt(made, held, program.update(held, given, leaves, results, made))

    @property
    def is_sure(self) -> bool:
        """Whether no call fails once it has begun, so that results may be made where callers want them."""
        return getattr(self.run, "is_sure", False) and self.program.failed is None

    def lies_in(self, arguments: list[Any], outs: list[Any]) -> Pairs:
        """(parameter, result) where the array for a result is an argument, and may be written before the end."""
        return written_over(self.program, arguments, outs) if self.is_sure else ()

    def into(self, arguments: list[Any], outs: list[Any] | None) -> list[Any]:
        """Results in the memory of `outs`, as far as that can be, else to be copied there; then packed vectors."""
        program = self.program
        vectors, parts = packed(program)
        code = self.code(self.lies_in(arguments, outs)) if outs is not None else self.run
        if not hasattr(code, "into"):
            results = code(arguments)
            return [*results, *filled(vectors, parts, results)]
        try:
            scratch = self.scratch.pop()
        except IndexError:
            scratch = {}
        given = [None] * len(program.fn.results) if outs is None else targets(
            program, arguments, outs, scratch, is_sure=self.is_sure
        )  # fmt: skip
        results = code.into(arguments, [parts.get(n, out) for n, out in enumerate(given)])
        self.scratch.append(scratch)
        return [*results, *filled(vectors, parts, results)]
