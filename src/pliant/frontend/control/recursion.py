"""Functions that call themselves under conditions known only at run time: both ways of each condition are traced, so
one that ends only by such a condition never ends here, or takes many times as long at each depth. Where that may be so,
the trace is given up, for the numbers that data decide; see `decided`. Where these decide nothing, it is traced again
for as long as it takes.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any, Final

from pliant.core.ir import Value
from pliant.core.origin import OURS
from pliant.frontend.control.copies import OUTSIDE
from pliant.frontend.needs import needing
from pliant.frontend.tracing import current

DEEP: Final = 4
"""Calls of a function inside each other, and conditions, from which on these are counted."""
MOST: Final = 500
"""Such conditions in all."""


@contextmanager
def under(condition: Value) -> Generator[None]:
    """Inside, both ways of a condition are traced. Raises RecursionError if there were many in calls inside each other
    that have no end in sight."""
    needs = current().outermost.needs
    needs.depth += 1
    try:
        with needing(condition):
            is_limited = needs.decides and not needs.is_patient
            needs.calls += is_limited and needs.depth > DEEP and _is_endless()
            if needs.calls > MOST:
                needs.is_given_up = True
                raise RecursionError("maximum recursion depth exceeded")
            yield
    finally:
        needs.depth -= 1


def _is_endless() -> bool:
    """Whether many calls of one of the user's functions, or of a block of it, are inside each other, and no argument
    tells when that ends."""
    found: dict[CodeType, list[FrameType]] = {}
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and frame.f_globals.get("__name__") not in OUTSIDE:
        code = frame.f_code
        if not OURS[code.co_filename]:
            found.setdefault(code, []).append(frame)
        frame = frame.f_back
    if not any([len(calls) > DEEP for calls in found.values()]):
        return False
    blocks = {c for code in found for c in code.co_consts if type(c) is CodeType and c.co_name == code.co_name}
    functions = [calls for code, calls in found.items() if code not in blocks and len(calls) >= DEEP]
    return not any(map(_counts, functions))


def _counts(calls: list[FrameType]) -> bool:
    """Whether an argument is an integer that gets greater, or less, with each call."""
    code = calls[0].f_code
    for name in code.co_varnames[: code.co_argcount]:
        values: list[Any] = [call.f_locals.get(name) for call in calls]
        if all([type(v) is int for v in values]):
            steps: list[int] = [a - b for a, b in itertools.pairwise(values)]
            if all([step > 0 for step in steps]) or all([step < 0 for step in steps]):
                return True
    return False
