"""What users give for a function: its parameters, and whether it can be compiled."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, Final, ParamSpec, Protocol, cast, overload

from pliant.core.origin import here
from pliant.errors import ArgumentError

P = ParamSpec("P")


class Transformation(Protocol[P]):
    """A function of a function; without that, a decorator."""

    @overload
    def __call__(self, f: Callable[..., Any], /, *args: P.args, **options: P.kwargs) -> Callable[..., Any]: ...

    @overload
    def __call__(self, **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]: ...


def also_decorator(transform: Callable[Concatenate[Callable[..., Any], P], Callable[..., Any]]) -> Transformation[P]:
    """`transform`, which given options alone is a decorator with them, as `@pliant.vmap(in_axes=1)`."""
    first, *_ = known = tuple(inspect.signature(transform).parameters)

    @functools.wraps(transform)
    def transformation(*args: Any, **options: Any) -> Any:
        if not options.keys() <= set(known):
            raise _unknown(transform.__name__, known, options)
        return transform(*args, **options) if args or first in options else functools.partial(transform, **options)

    return cast("Transformation[P]", transformation)


_OF_JIT: Final = {
    "static": "pliant.{name}(pliant.jit(f, static={given!r}))",
    "donate": "pliant.jit(pliant.{name}(f), donate={given!r})",
    "backend": "pliant.jit(pliant.{name}(f), backend={given!r})",
}
"""Options that only `jit` has → what to write with other transformations."""


def _unknown(name: str, known: Sequence[str], options: dict[str, Any]) -> ArgumentError:
    """The error about an option that a transformation of this name does not have."""
    wrong = next(option for option in options if option not in known)
    instead = _OF_JIT.get(wrong, "{name} takes {known}")
    hint = instead.format(name=name, given=options[wrong], known=", ".join(known))
    return ArgumentError(f"{name}() got an unexpected keyword argument {wrong!r}", hint=hint)


def parameter_names(f: Callable[..., Any]) -> list[str]:
    """The parameters of a function that take positional arguments."""
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):  # a C function without a signature
        return []
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def has_parameter(f: Callable[..., Any], name: str) -> bool:
    """Whether a function takes a keyword of this name."""
    try:
        parameters = inspect.signature(f).parameters
    except (TypeError, ValueError):
        return False
    return name in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def positional(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], name: str) -> tuple[Any, ...]:
    """The arguments of a call of `f` by position, those of all its parameters, defaults too. ArgumentError for
    a call that f does not take, or of which some have no position; name: who asks."""
    what = f"{name}: {getattr(f, '__name__', 'the function')}"
    try:
        given = inspect.signature(f).bind(*args, **kwargs)
    except (TypeError, ValueError) as error:
        message = f"{what} cannot be called with the keywords {', '.join(kwargs)}: {error}"
        raise ArgumentError(message, hint="pass the arguments by position").at(("here", here())) from None
    given.apply_defaults()
    parameters = given.signature.parameters
    named = [n for n in kwargs if n not in parameters or parameters[n].kind is inspect.Parameter.KEYWORD_ONLY]
    if named:
        raise ArgumentError(
            f"{what} takes {', '.join(named)} by keyword only, and its derivative is given arguments by position",
            hint="make it a parameter that may be positional, or fix it with functools.partial",
        ).at(("here", here()))
    return given.args


def function_of(f: Any) -> Callable[..., Any]:
    """`f` itself, or ArgumentError if it cannot be called."""
    if isinstance(f, classmethod | staticmethod):
        name = "classmethod" if isinstance(f, classmethod) else "staticmethod"
        raise ArgumentError(f"expected a function, got a {name}", hint=f"put @{name} above the other decorator")
    if not callable(f):
        raise ArgumentError(f"expected a function, got {type(f).__name__}")
    flags = getattr(getattr(f, "__code__", None), "co_flags", 0)
    if flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        is_generator = flags & inspect.CO_GENERATOR
        kind = "generator" if is_generator else "async"
        raise ArgumentError(
            f"expected a function that returns its results, got the {kind} function {getattr(f, '__name__', f)}",
            hint="return the values in a list, or stack them" if is_generator else "write it as a plain function",
        )
    return f
