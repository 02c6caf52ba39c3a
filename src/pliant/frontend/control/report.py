"""What became of each loop of the user's program, for `explain`."""

from __future__ import annotations

from types import CodeType
from typing import final

from pliant.core.data import frozen
from pliant.core.origin import Origin
from pliant.frontend.tracing import Trace, current, is_tracing


@final
@frozen
class Report:
    """One loop: what it became, and why not a loop of the program."""

    where: Origin
    kind: str
    steps: int | None
    reason: str = ""
    carries: int = 0
    period: int = 1
    peeled: int = 0
    hint: str = ""  # of the error that is the reason

    def __str__(self) -> str:
        what = f"{self.where.short}: {self.kind}"
        what += f", {self.steps} steps" if self.steps is not None else ""
        if self.kind == "unrolled":
            return f"{what}: {self.reason}"
        what += f", {self.carries} values carried"
        what += f", {self.period} steps of the program taken together" if self.period > 1 else ""
        return what + (f", after {self.peeled} apart" if self.peeled else "")


def report(code: CodeType, made: Report, depth: int) -> None:
    """Remember what a loop became; a later fate replaces an earlier one."""
    reports = current().outermost.reports
    reports[code, 0] = made
    if made.kind == "unrolled":
        reports[code, depth + 1] = made


def was_while(code: CodeType) -> bool:
    """Whether a `while` is one loop of the program where it was met last."""
    if not is_tracing():
        return False
    found = current().outermost.reports.get((code, 0))
    return found is not None and found.kind == "while"


def reports_of(trace: Trace) -> tuple[Report, ...]:
    """What became of the loops of a trace, in the order of their lines."""
    made = [r for (_, depth), r in trace.outermost.reports.items() if not depth]
    return tuple(sorted(made, key=lambda r: [int(part) if part.isdigit() else 0 for part in r.where.short.split(":")]))


def failed_before(code: CodeType, depth: int) -> tuple[str, str]:
    """Why a loop, inside as many others, could not be one, and what to do about that; empty if it was not tried."""
    found = current().outermost.reports.get((code, depth + 1))
    return (found.reason, found.hint) if found is not None else ("", "")
