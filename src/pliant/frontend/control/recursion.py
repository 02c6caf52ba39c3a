"""Functions that call themselves under conditions known only at run time: both ways of each condition are traced, so
one that ends only by such a condition never ends here, and one that calls itself twice takes twice as long at each
depth. After many conditions the trace is given up, for the numbers that data decide; see `decided`. Where these decide
nothing, it is traced again for as long as it takes.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Final

from pliant.core.ir import Value
from pliant.core.origin import OURS
from pliant.frontend.control.rewrite import BLOCK
from pliant.frontend.needs import needing
from pliant.frontend.tracing import current

DEEP: Final = 6
"""Conditions inside each other from which on it is looked for calls."""
MOST: Final = 1000
"""Conditions below functions that call themselves, in all."""


@contextmanager
def under(condition: Value) -> Generator[None]:
    """Inside, both ways of a condition are traced. Raises RecursionError if there were too many such conditions
    below functions that call themselves."""
    needs = current().outermost.needs
    needs.depth += 1
    try:
        with needing(condition):
            is_limited = needs.decides and not needs.is_patient
            needs.calls += is_limited and needs.depth > DEEP and _is_called_by_itself()
            if needs.calls > MOST:
                needs.is_given_up = True
                raise RecursionError("maximum recursion depth exceeded")
            yield
    finally:
        needs.depth -= 1


def _is_called_by_itself() -> bool:
    """Whether one of the user's functions that run was called by itself, or by what it called."""
    seen = set[CodeType]()
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        code = frame.f_code
        if not OURS[code.co_filename] and not code.co_name.startswith(BLOCK):
            if code in seen:
                return True
            seen.add(code)
        frame = frame.f_back
    return False
