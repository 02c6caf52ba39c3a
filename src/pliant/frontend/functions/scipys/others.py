"""Functions and classes of SciPy that are not traced: what is known is given to them as NumPy's arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from pliant.core.origin import here
from pliant.errors import PliantError, TracedValueError
from pliant.frontend.array import NO_SCIPY, TracedArray
from pliant.frontend.control.objects import flatten
from pliant.frontend.kinds import is_sequence
from pliant.frontend.members import plain_member


def plainly(fn: Any) -> Callable[..., Any]:
    """A function or class of SciPy which takes what is known, and tells what is not, where SciPy's own error would not
    say that there is no number yet. Anything else as it is."""
    if not str(getattr(fn, "__module__", "")).startswith("scipy."):
        return fn

    @wraps(fn, updated=())
    def run(*args: Any, **options: Any) -> Any:
        try:
            return fn(*map(_plain, args), **{k: _plain(x) for k, x in options.items()})
        except (TypeError, ValueError) as error:
            unknown = [x for x in flatten((args, options))[0] if type(x) is TracedArray and x.concrete is None]
            if isinstance(error, PliantError) or not unknown:
                raise
            name = f"{fn.__module__.partition('._')[0]}.{fn.__name__}"
            what = f"SciPy, whose functions are not traced, needs numbers here: {name} got {unknown[0].type}"
            error = TracedValueError(f"{what}, which has no value while tracing", hint=NO_SCIPY)
            raise error.at(("needed here", here())).needing(*[x.value for x in unknown]) from None

    return run


def _plain(x: Any) -> Any:
    """An argument, of which arrays that are known are NumPy's own."""
    if is_sequence(x) and not hasattr(x, "_fields"):
        return type(x)([_plain(part) for part in x])
    return plain_member(x) if type(x) is TracedArray and x.concrete is not None else x
