"""`warnings.warn` and `logging` in a traced function: they tell whenever the program comes to it, as `print` prints."""

from __future__ import annotations

import sys
import types
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, Final, cast

from pliant.core.origin import OURS
from pliant.frontend.failures import is_trial
from pliant.frontend.printing import is_apart, noted_line
from pliant.frontend.text import percent, shown, text
from pliant.frontend.tracing import Trace, current
from pliant.ops.show import kind_named

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


def warned(message: Any, category: Any = None, stacklevel: int = 1, *more: Any, **options: Any) -> None:
    """`warnings.warn`."""
    frame = _caller(stacklevel)
    is_warning = isinstance(message, Warning)
    kind = type(message) if is_warning else category or UserWarning
    file, line, module = frame.f_code.co_filename, frame.f_lineno, frame.f_globals.get("__name__", "<unknown>")
    if is_apart(current()) or more or options:
        if not is_trial():
            warnings.warn_explicit(shown(str(message)), kind, file, line, module)
        return
    known = next(k for k in kind.__mro__ if kind_named(k.__module__, k.__qualname__) is k)
    noted_line(shown(str(message)), ("warning", known.__module__, known.__qualname__, file, line, module))


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
    frame = _caller(options.get("stacklevel", 1))
    name = "" if is_root else logger.name
    noted_line(shown(made), ("log", name, level, frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))


def _caller(level: int) -> types.FrameType:
    """The user's frame, or as many calls out; the parts of one function count once."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame.f_back is not None and (OURS[frame.f_code.co_filename] or level > 1):
        before, frame = frame, frame.f_back
        names = [(f.f_code.co_filename, f.f_code.co_qualname) for f in (before, frame)]
        is_part = names[0] == names[1]
        level -= not OURS[before.f_code.co_filename] and not is_part
    return frame
