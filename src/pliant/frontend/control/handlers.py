"""`try` statements of the user's program: their handlers get what the user's code raises, not what tracing does.

try:                    the body is traced as if nothing was raised that depends on numbers known only at run time;
    y = f(x)            what tracing itself cannot do is an error of the call, or lets a loop be unrolled, even if a
except ValueError:      handler would catch that
    y = 0.0
"""

from __future__ import annotations

import contextlib
import sys
from typing import Any, Final, cast

from pliant.errors import PliantError, TracedValueError, UnboundError, UnsupportedError
from pliant.frontend.control.effects import only_once
from pliant.frontend.control.region import in_loop
from pliant.frontend.failures import is_marked
from pliant.frontend.tracing import current, is_tracing

_HIDDEN: Final = (UnsupportedError, TracedValueError, UnboundError)
"""What NumPy and Python would not raise."""


def attempted() -> None:
    """The body of a `try` statement is about to be run."""
    if is_tracing():
        current().outermost.handlers += 1


def handled() -> None:
    """The end of a `try` statement."""
    if is_tracing():
        current().outermost.handlers -= 1


def caught() -> None:
    """A handler is about to be run: what it must not see is raised again."""
    error = sys.exc_info()[1]
    if error is None or not is_tracing() or is_marked(error):
        return
    if isinstance(error, _HIDDEN) or (in_loop() and isinstance(error, PliantError)):
        raise error
    if in_loop():  # it may be one of what a step cannot do whose number is traced
        raise only_once(f"{type(error).__name__} is caught") from error


class Suppressed(contextlib.suppress):
    """`contextlib.suppress`."""

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if is_tracing() and error is not None and not is_marked(error) and (in_loop() or isinstance(error, _HIDDEN)):
            return False
        return cast("Any", super()).__exit__(kind, error, trace)
