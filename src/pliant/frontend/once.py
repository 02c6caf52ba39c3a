"""What is asked of the world outside while a function is traced, and not at every call: clocks, files, what a user
types. A warning says so. The environment is small enough for a guard."""

from __future__ import annotations

import os
import types
import warnings
from typing import Any, Final, cast

import numpy as np

from pliant.core.origin import CodeOrigin, here
from pliant.errors import TracedOnceWarning
from pliant.frontend.creation import Maker
from pliant.frontend.guards import Box, note_size
from pliant.frontend.tracing import Trace

_READING: Final[dict[str, frozenset[str]]] = {
    module: frozenset(names.split())
    for module, names in {
        "time": "time time_ns perf_counter perf_counter_ns monotonic monotonic_ns process_time process_time_ns "
        "thread_time thread_time_ns ctime localtime gmtime strftime",
        "datetime": "datetime.now datetime.utcnow datetime.today date.today",
        "builtins": "input",
        "io": "open",
        "pathlib": "Path.open Path.read_text Path.read_bytes Path.exists Path.is_file Path.is_dir Path.iterdir "
        "Path.glob Path.rglob Path.stat",
        "os": "listdir scandir walk stat urandom",
        "genericpath": "exists isfile isdir getsize getmtime",
        "numpy": "load loadtxt genfromtxt fromfile fromregex",
        "uuid": "uuid1 uuid4",
        "secrets": "token_bytes token_hex token_urlsafe randbelow",
        "subprocess": "run check_output getoutput",
    }.items()
}
"""Module → the functions of it that look at what changes from call to call."""
_ALIASES: Final = {"_io": "io", "posix": "os", "nt": "os"}
_warned: Final[dict[Any, Any]] = {}  # where, for filters that show it once


def note_environment(value: Any, trace: Trace) -> Any:
    """A value just read; if it is `os.environ`, guards on all that it holds."""
    if value is os.environ:
        trace.roots.setdefault((id(value), ""), (Box(value), "", value))
        note_size(trace, vars(value)["_data"])
    return value


def note_once(fn: Any, trace: Trace) -> None:
    """TracedOnceWarning, at the user's line, if a function that is about to be called reads what may be another at the
    next call."""
    if fn is os.getenv:
        note_environment(os.environ, trace)
    fn = fn.function if type(fn) is Maker else fn.__func__ if isinstance(fn, types.MethodType) else fn
    if not isinstance(fn, types.FunctionType | types.BuiltinFunctionType | type(np.concatenate)):
        return
    holder: Any = getattr(fn, "__self__", None)
    path = cast("str", getattr(holder if isinstance(holder, type) else fn, "__module__", None) or "")
    first = path.partition(".")[0]
    module, name = _ALIASES.get(first, first), getattr(fn, "__qualname__", "")
    if name not in _READING.get(module, ()):
        return
    shown = name if module in ("builtins", "io") else f"{'os.path' if module == 'genericpath' else module}.{name}"
    tell_once(shown, "call it before the function, and pass what it gives as an argument")


def tell_once(shown: str, hint: str) -> None:
    """TracedOnceWarning, at the user's line, of what is called there."""
    place = here()
    if not isinstance(place, CodeOrigin):
        return
    text = (
        f"{shown} is called while {place.code.co_name} is traced: calls that need no new trace use what it gave then\n"
        f"{place.render('called here')}\nhint: {hint}"
    )
    warnings.warn_explicit(text, TracedOnceWarning, place.code.co_filename, place.span[0], registry=_warned)
