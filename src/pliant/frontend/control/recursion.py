"""Functions that call themselves under conditions known only at run time: both ways of each condition are traced, so
one that ends only by such a condition never ends here, or takes many times as long at each depth. Where that may be so,
the trace is given up, for the numbers that data decide; see `decided`. Where these decide nothing, it is traced again
for as long as it takes.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Final

from pliant.core.ir import Value
from pliant.core.origin import OURS
from pliant.frontend.control.copies import OUTSIDE
from pliant.frontend.needs import needing
from pliant.frontend.tracing import current

DEEP: Final = 4
"""Calls of a function inside each other, and conditions, from which on these are counted."""
MOST: Final = 250
"""Such conditions in all."""


@contextmanager
def under(condition: Value) -> Generator[None]:
    """Inside, both ways of a condition are traced. Raises RecursionError if there were many in calls inside each
    other."""
    needs = current().outermost.needs
    needs.depth += 1
    try:
        with needing(condition):
            is_limited = needs.decides and not needs.is_patient
            needs.calls += is_limited and needs.depth > DEEP and _is_recursive()
            if needs.calls > MOST:
                needs.is_given_up = True
                raise RecursionError("maximum recursion depth exceeded")
            yield
    finally:
        needs.depth -= 1


def _is_recursive() -> bool:
    """Whether many calls of one of the user's functions, or of a block of it, are inside each other."""
    found = Counter[CodeType]()
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and frame.f_globals.get("__name__") not in OUTSIDE:
        if not OURS[frame.f_code.co_filename]:
            found[frame.f_code] += 1
        frame = frame.f_back
    return any([calls > DEEP for calls in found.values()])
