"""Context variables of the user's: read at every call, and set outside of traced functions alone."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, final

from pliant.core.data import frozen
from pliant.core.origin import here
from pliant.errors import UnsupportedError
from pliant.frontend.guards import Slot
from pliant.frontend.missing import MISSING
from pliant.frontend.tracing import Trace


@final
@frozen
class _Variable:
    """A context variable as an object with an attribute, which guards look at."""

    variable: ContextVar[Any]

    @property
    def content(self) -> Any:
        return self.variable.get(MISSING)


def of_context(fn: Any, trace: Trace, known: Callable[[Any, Any, str], Any]) -> Callable[..., Any] | None:
    """What stands for a method of a context variable while a function is traced; None for any other function. known: a
    value just read, of an owner under a name, as the trace sees it."""
    variable: Any = getattr(fn, "__self__", None)
    if type(variable) is not ContextVar or variable.name.startswith("pliant."):
        return None
    if fn.__name__ == "get":
        return functools.partial(_get, variable, trace, known)
    raise UnsupportedError(
        f"the context variable {variable.name!r} is changed inside a traced function: once, not at every call",
        hint="return the value, and set it after the call",
    ).at(("changed here", here()))


def _get(variable: ContextVar[Any], trace: Trace, known: Callable[[Any, Any, str], Any], *default: Any) -> Any:
    """`variable.get(default)`."""
    owner, content = Slot(_Variable(variable)), variable.get(MISSING)
    trace.roots[id(owner), "content"] = (owner, "content", content)
    return variable.get(*default) if content is MISSING else known(content, owner, "content")
