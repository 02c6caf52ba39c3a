"""`logging` in a traced function: a record is made whenever the program comes to it, as `print` prints."""

from __future__ import annotations

import math
import sys
import types
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, Final, cast

from pliant.frontend.failures import is_trial
from pliant.frontend.once import tell_once
from pliant.frontend.printing import callers_frame, is_apart, noted_line
from pliant.frontend.text import is_unknown, percent, shown, text
from pliant.frontend.tracing import Trace, current
from pliant.frontend.warned import warned
from pliant.ops.show import Holding

_OPTIONS: Final = frozenset(("extra", "exc_info", "stack_info", "stacklevel"))
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
    if name not in _LEVELS and name != "log":
        return None
    if holder is not module and not isinstance(holder, module.Logger | module.LoggerAdapter):
        return None
    _note_levels(holder, trace.outermost)
    if name == "log":
        return partial(_logged, holder, fn)
    return partial(_logged, holder, partial(_without_level, fn), _LEVELS[name])


def _without_level(plain: Any, _: int, /, *args: Any, **options: Any) -> None:
    plain(*args, **options)


def _note_levels(holder: Any, top: Trace) -> None:
    """Guards on what decides which records are made, and on what adapters add to them."""
    adapter: Any = holder
    while _is_adapter(adapter):
        _note_names(top, adapter, [*adapter.__dict__])
        adapter = adapter.logger
    logger: Any = _of_module(adapter)
    _note_names(top, logger.manager, ["_disable"])
    while logger is not None:
        _note_names(top, logger, ["level", "disabled", "parent"])
        logger = logger.parent


def _note_names(top: Trace, holder: Any, wanted: list[str]) -> None:
    names: dict[str, Any] = holder.__dict__
    for name in wanted:
        top.roots.setdefault((id(names), name), (names, name, names[name]))


def _of_module(holder: Any) -> Any:
    """A logger: the root if it is the module."""
    return holder.root if isinstance(holder, types.ModuleType) else holder


def _is_adapter(holder: Any) -> bool:
    """Whether something adapts what is logged, and hands it on."""
    return hasattr(holder, "process")


def _logged(holder: Any, plain: Any, level: int, message: Any, *args: Any, **options: Any) -> None:
    """`holder.log(level, message, *args)`, of a logger, an adapter, or the module; while tracing, once, in a function
    that is traced apart, and if `extra` holds more than plain constants. Records have no traceback and no stack,
    and arguments if all are plain: else these are in the text."""
    logger, said, more = holder, message, options
    while _is_adapter(logger):
        said, more = logger.process(said, more)
        logger = logger.logger
    is_module, logger = isinstance(logger, types.ModuleType), _of_module(logger)
    if not logger.isEnabledFor(level):
        return
    extra: dict[Any, Any] = more.get("extra") or {}
    is_strange = bool(more.keys() - _OPTIONS) or not all(map(_is_plain, (*extra, *extra.values())))
    if is_apart(current()) or is_strange:
        if is_strange:
            tell_once("a logger with such an `extra`", "plain constants may be in it; or put all into the message")
        if not is_trial():
            plain(level, message, *args, **options)
        return
    frame = callers_frame(more.get("stacklevel", 1))
    is_held = logger is not logger.root and logger.manager.loggerDict.get(logger.name) is not logger
    known = "" if logger is logger.root else logger.name
    name = None if is_module else Holding(known, logger) if is_held else known
    place = frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name
    if all(map(_is_plain, (said, *args))):
        noted_line(said, ("log", name, level, *place, args, tuple(extra.items())))
    else:
        noted_line(_text(said, args), ("log", name, level, *place, (), tuple(extra.items())))


def _text(message: Any, args: tuple[Any, ...]) -> str:
    """`message % args`."""
    is_table = len(args) == 1 and isinstance(args[0], dict)
    given: Any = cast("Any", args[0]) if is_table else args
    return shown(text(percent(str(message), given)) if args else str(message))


def _is_plain(x: Any) -> bool:
    """Whether something is known, and can be written in the text of a program."""
    return (type(x) is float and math.isfinite(x)) or (
        type(x) in (str, int, bool, types.NoneType) and not is_unknown(x)
    )
