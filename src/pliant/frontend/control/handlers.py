"""`try` statements of the user's program: their handlers get what the user's code raises, not what tracing does.

try:                    what tracing itself cannot do is an error of the call, or lets a loop be unrolled, even if a
    y = f(x)            handler would catch that; see `attempts` for what is raised at run time
except ValueError:
    y = 0.0
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Sequence
from typing import Any, cast

from pliant.errors import PliantError
from pliant.frontend.control.effects import only_once
from pliant.frontend.control.region import in_loop
from pliant.frontend.failures import HIDDEN, Refusing, is_marked, refused
from pliant.frontend.kinds import as_tuple
from pliant.frontend.tracing import current, is_tracing


def attempted(*caught: Callable[[], Any]) -> None:
    """The body of a `try` statement is about to be run, whose handlers catch something."""
    if is_tracing():
        current().outermost.catchers.append(Refusing(kinds_of(caught)))


def kinds_of(caught: Sequence[Callable[[], Any]]) -> tuple[type[BaseException], ...]:
    """The classes of exceptions that handlers name."""
    named: list[Any] = [c() for c in caught]
    return tuple([kind for kinds in named for kind in as_tuple(kinds)])


def handled() -> None:
    """The end of a `try` statement."""
    if is_tracing():
        current().outermost.catchers.pop()


def unfinished() -> None:
    """What follows is done even if something was raised before: an error if that may have been, in a statement that is
    taken back then."""
    for catcher in current().outermost.catchers if is_tracing() else ():
        if catcher.is_trial and catcher.errors:
            raise refused(catcher.errors[-1], "write except and finally beside each other, in one try")


def caught() -> None:
    """A handler is about to be run: what it must not see is raised again."""
    error = sys.exc_info()[1]
    if error is not None and is_tracing():
        must_not_see(error)


def must_not_see(error: BaseException) -> None:
    """Raise an exception again that no handler of the user's may see."""
    if is_marked(error):
        return
    if isinstance(error, HIDDEN) or (in_loop() and isinstance(error, PliantError)):
        raise error
    if in_loop():  # it may be one of what a step cannot do whose number is traced
        raise only_once(f"{type(error).__name__} is caught") from error


class Suppressed(contextlib.suppress):
    """`contextlib.suppress`."""

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if is_tracing() and error is not None and not is_marked(error) and (in_loop() or isinstance(error, HIDDEN)):
            return False
        return cast("Any", super()).__exit__(kind, error, trace)
