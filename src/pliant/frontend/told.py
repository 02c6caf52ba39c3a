"""`logging` in a traced function: a record is made whenever the program comes to it, as `print` prints."""

from __future__ import annotations

import sys
import types
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, Final, cast

from pliant.frontend.failures import is_trial
from pliant.frontend.printing import callers_frame, is_apart, noted_line
from pliant.frontend.text import percent, shown, text
from pliant.frontend.tracing import Trace, current
from pliant.frontend.warned import warned

_LEVELS: Final = {"debug": 10, "info": 20, "warning": 30, "warn": 30, "error": 40, "exception": 40, "critical": 50}


def telling_of(fn: Any, trace: Trace) -> Callable[..., Any] | None:
    """What a traced function calls instead of a function that warns or logs; None for anything else."""
    if fn is warnings.warn:
        return warned
    module: Any = sys.modules.get("logging")  # imported by those who have a logger
    function = fn.__func__ if isinstance(fn, types.MethodType) else fn
    if not isinstance(function, types.FunctionType) or function.__module__ != "logging":
        return None
    name, holder = function.__name__, getattr(fn, "__self__", module)
    if (name not in _LEVELS and name != "log") or not (holder is module or isinstance(holder, module.Logger)):
        return None
    logger, plain = (module.root if holder is module else holder), fn
    _note_levels(logger, trace.outermost)
    if name == "log":
        return partial(_logged, logger, plain)
    return partial(_logged, logger, partial(_without_level, plain), _LEVELS[name])


def _without_level(plain: Any, _: int, /, *args: Any, **options: Any) -> None:
    plain(*args, **options)


def _note_levels(logger: Any, top: Trace) -> None:
    """Guards on what decides which records are made."""
    entries: list[tuple[dict[str, Any], str]] = [(vars(logger.manager), "_disable")]
    while logger is not None:
        entries += [(vars(logger), name) for name in ("level", "disabled", "parent")]
        logger = logger.parent
    for names, name in entries:
        top.roots.setdefault((id(names), name), (names, name, names[name]))


def _logged(logger: Any, plain: Any, level: int, message: Any, *args: Any, **options: Any) -> None:
    """`logger.log(level, message, *args)`."""
    if not logger.isEnabledFor(level):
        return
    is_root = logger is logger.root
    is_known = is_root or logger.manager.loggerDict.get(logger.name) is logger
    if is_apart(current()) or options.keys() - {"stacklevel"} or not is_known:
        if not is_trial():
            plain(level, message, *args, **options)
        return
    is_table = len(args) == 1 and isinstance(args[0], dict)
    given: Any = cast("Any", args[0]) if is_table else args
    made = text(percent(str(message), given)) if args else str(message)
    frame = callers_frame(options.get("stacklevel", 1))
    name = "" if is_root else logger.name
    noted_line(shown(made), ("log", name, level, frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
