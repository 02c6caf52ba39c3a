"""Calls of SciPy's functions inside a traced one: by SciPy itself if all is known, else by what stands for them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from inspect import Parameter
from typing import Any, Final

from pliant.core.origin import here
from pliant.errors import ArgumentError, PliantError
from pliant.frontend.adopt import adopt, has_traced
from pliant.frontend.control.fronts import as_argument
from pliant.frontend.convert import said
from pliant.frontend.dispatch import known
from pliant.frontend.functions.common import unsupported
from pliant.frontend.functions.scipys import FUNCTIONS
from pliant.frontend.functions.scipys.distributions import of_distribution
from pliant.frontend.kinds import is_array, is_sequence
from pliant.frontend.whose import is_followed

IGNORED: Final = frozenset(
    ("check_finite", "lapack_driver", "driver", "overwrite_a", "overwrite_b", "overwrite_x", "workers")
)
"""Parameters that change no result."""
_PLAIN: Final = (bool, int, float, str)


def written_anew(fn: Any, see: Callable[[Any], Any]) -> Callable[..., Any] | None:
    """What stands for a function of SciPy inside a traced one; None for any other.

    see: makes of a function that is written as users' are what the trace sees.
    """
    if not str(getattr(fn, "__module__", "")).startswith("scipy."):
        return None
    name = getattr(fn, "__name__", "")
    for package, table in FUNCTIONS.items():
        if name in table and getattr(sys.modules.get(package), name, None) is fn:
            return partial(_called, fn, partial(_by_name, fn, f"{package}.{name}", see, table[name]))
    ours = of_distribution(fn)
    return None if ours is None else partial(_called, fn, ours)


def _called(fn: Any, ours: Callable[..., Any], /, *args: Any, **options: Any) -> Any:
    args = tuple([said(as_argument(a), "") for a in args])
    options = {k: said(as_argument(a), "") for k, a in options.items()}
    plain = of_known(fn, args, options)
    if plain is not None:
        return plain
    try:
        return ours(*args, **options)
    except PliantError as error:
        error.at(("here", here()))
        raise


def _by_name(
    fn: Any, name: str, see: Callable[[Any], Any], ours: Callable[..., Any], /, *args: Any, **options: Any
) -> Any:
    listed, named = arguments(fn, name, ours, args, options)
    return (see(ours) if is_followed(ours) else ours)(*listed, **named)


def of_known(fn: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What SciPy makes of what is known while tracing; None if something is not."""
    given = (*args, *options.values())
    if not has_traced(given) and not _has_outside(given):
        return adopt(fn(*args, **options))
    return known(fn, args, options)


def _has_outside(xs: Any) -> bool:
    """Whether there is an array among arguments, in sequences too, that was met outside: it is read at each call."""
    return any([is_array(x) or (is_sequence(x) and _has_outside(x)) for x in xs])


def arguments(
    fn: Any, name: str, ours: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What a function of ours is called with, by place and by name, where SciPy's would be called with these."""
    signature = import_module("inspect").signature
    parameters = signature(fn).parameters
    try:
        given = dict(signature(fn).bind(*args, **options).arguments)
    except TypeError as error:
        raise ArgumentError(f"{name}: {error}").at(("here", here())) from error
    listed: tuple[Any, ...] = ()
    for parameter in parameters.values():
        if parameter.kind is Parameter.VAR_POSITIONAL:
            listed = given.pop(parameter.name, ())
        if parameter.kind is Parameter.VAR_KEYWORD:
            given |= given.pop(parameter.name, {})
    taken = signature(ours).parameters
    for key in given.keys() - taken.keys():
        value, default = given.pop(key), parameters[key].default if key in parameters else Parameter.empty
        is_default = value is default or (type(value) in _PLAIN and type(default) in _PLAIN and value == default)
        if key not in IGNORED and not is_default:
            raise unsupported(f"{name}: {key}={_shown(value)} is not supported in a traced function")
    return listed, given


def _shown(value: Any) -> str:
    return repr(value) if type(value) in _PLAIN or value is None else "…"
