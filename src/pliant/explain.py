"""What became of a function: its program before and after the passes, which rules fired, its steps and memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from pliant.backends import backend_named
from pliant.compiled import DEFAULT_BACKEND, Compiled
from pliant.core.data import frozen
from pliant.core.ir import Function
from pliant.core.print import format_function
from pliant.errors import ArgumentError
from pliant.frontend.control.report import Report
from pliant.frontend.decided import Decided
from pliant.rewrite.explain import Log


@frozen
class Explanation:
    """The stages of one compilation; `str` and `print` show them all."""

    traced: Function
    optimised: Function
    rules: Log
    code: str
    captured: int
    memory: str
    picture: str
    loops: tuple[Report, ...] = ()
    known: tuple[str, ...] = ()
    decided: Decided | None = None

    @property
    def search(self) -> str:
        """What `optimize` looked at and chose, of the function and of those that it calls; empty if there is none."""
        return "\n".join(self.rules.notes)

    def __str__(self) -> str:
        fired = ", ".join(f"{name} ×{count}" for name, count in self.rules.fired.most_common()) or "none"
        before, after = len(self.traced.nodes), len(self.optimised.nodes)
        return "\n".join((
            "program as traced", format_function(self.traced, origins=True),
            f"after the passes: {before} → {after} values; rules fired: {fired}",
            format_function(self.optimised, origins=True), *self.rules.notes,
            f"arrays captured from outside: {self.captured}",
            *([f"made for {', '.join(self.known)}"] if self.known else []),
            *(["made for numbers that data decide", f"  {self.decided}"] if self.decided is not None else []),
            *(["loops of the source", *(f"  {report}" for report in self.loops)] if self.loops else []),
            self.code, self.memory,
        ))  # fmt: skip

    __repr__ = __str__

    def memory_picture(self, path: str | os.PathLike[str]) -> None:
        """Write an SVG: every array as a rectangle, over the steps of its life, at its address.

        Raises ArgumentError if the path names another kind of picture.
        """
        if os.path.splitext(path)[1].lower() not in ("", ".svg"):
            raise ArgumentError(f"memory_picture writes SVG, not {os.path.basename(path)}", hint="name it memory.svg")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.picture)


def explain(f: Callable[..., Any], *args: Any, measure: bool = False, **kwargs: Any) -> Explanation:
    """What Pliant makes of `f` for arguments like these: programs, rules, native code's plan.

    measure: also how long each step takes on one thread, and how near that is to what the machine can do: to
    its roofline, which is measured by copies and by multiplications with additions, once, and kept.

    >>> import numpy as np, pliant
    >>> "sin" in str(pliant.explain(lambda x: np.sin(x) * 1.0, np.ones(3)))
    True
    """
    compiled = f if isinstance(f, Compiled) else Compiled(f)
    program, arrays = compiled.program_and_arrays(args, kwargs)
    log = Log()
    for each in program.found:
        log.join(each)
    best = compiled.optimised(program.fn, log)
    backend: Any = backend_named(DEFAULT_BACKEND)
    code = backend.describe(best, pinned=program.pinned, arrays=arrays if measure else None)
    memory, picture = backend.memory(best, pinned=program.pinned)
    captured, known = len(program.captured), tuple(compiled.known_in(program, args, kwargs))
    return Explanation(program.fn, best, log, code, captured, memory, picture, program.loops, known, program.decided)
