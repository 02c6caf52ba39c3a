"""What draws one number of a distribution is traced once: every program takes it as it is."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar, Final, final

from pliant.core.data import frozen
from pliant.core.ir import Value
from pliant.core.origin import NOWHERE, at, here
from pliant.frontend.array import TracedArray
from pliant.frontend.closed import Closed, trace_closed
from pliant.frontend.control.region import born
from pliant.frontend.control.runtime import CALLS
from pliant.frontend.convert import as_traced
from pliant.frontend.decided import asking
from pliant.frontend.signature import flatten
from pliant.frontend.tracing import current, is_tracing

KEPT: Final = 512
"""Traces that are kept."""


@final
@frozen
class Sample:
    """A trace of such a function, and the arrays that it reads: tables."""

    closed: Closed
    arrays: tuple[Any, ...]

    def run(self, given: list[TracedArray]) -> Any:
        """What it returns for parts of bits and parameters."""
        tables = [current().capture(array).value for array in self.arrays]
        with at(here()):
            made = self.closed.fn(*[x.value for x in given], *tables)
        return self.closed.rebuild(made)


@final
class Sampled:
    """A function of bits, which it changes, and of parameters."""

    found: ClassVar[dict[Any, Sample]] = {}

    def __init__(self, fn: Callable[..., Any]) -> None:
        self.fn = fn
        functools.update_wrapper(self, fn)

    def __call__(self, bits: Any, *parameters: Any) -> Any:
        if not is_tracing():
            return self.fn(bits, *parameters)
        parts = [as_traced(getattr(bits, name)) for name in bits.PARTS]
        given = [*parts, *[p for p in parameters if type(p) is TracedArray]]
        known: Any = tuple([None if type(p) is TracedArray else (p.__class__, repr(p)) for p in parameters])
        key: Any = (self.fn, type(bits), tuple([(x.type, x.is_scalar, x.is_weak) for x in given]), known)
        sample = self.found.get(key)
        if sample is None:
            if len(self.found) >= KEPT:
                self.found.clear()
            sample = self.found[key] = self._traced(type(bits), given, parameters)
        value, *made = sample.run(given)
        for name, part, before in zip(bits.PARTS, made, parts, strict=True):
            if part.value is not before.value:
                CALLS["assign"](part, bits, name)
        return value

    def _traced(self, kind: Any, given: list[TracedArray], parameters: tuple[Any, ...]) -> Sample:
        top = current().outermost

        def run(*leaves: Any) -> Any:
            bits = born(object.__new__(kind))
            rest = iter(leaves[len(kind.PARTS) :])
            for name, part in zip(kind.PARTS, leaves, strict=False):
                setattr(bits, name, part)
            made = top.see(self.fn)(bits, *[next(rest) if type(p) is TracedArray else p for p in parameters])
            return made, *[getattr(bits, name) for name in kind.PARTS]

        with at(NOWHERE), asking(None):
            closed = trace_closed(run, given, flatten((tuple(given), {}))[1], [True] * len(given), may_raise=True)
        entered: dict[Value | None, Any] = {s.entered: s.source for s in top.captured.values()}
        return Sample(closed, tuple([entered[value] for value in closed.free]))
