"""The functions of the user that others stand for while they are traced."""

from __future__ import annotations

import functools
from types import MethodType
from typing import Any

from pliant.frontend.kinds import is_of, itself
from pliant.frontend.tracing import Trace


def original(x: Any, trace: Trace) -> Any:
    """What the user knows something as, which a trace leaves or returns."""
    known = trace.outermost.originals
    if isinstance(x, MethodType):
        return MethodType(known[id(x.__func__)], x.__self__) if id(x.__func__) in known else x
    if is_of(x, functools.partial):
        function = original(x.func, trace)
        return x if function is x.func else functools.partial(function, *x.args, **x.keywords)
    return known[id(x)] if id(x) in known else itself(x)
