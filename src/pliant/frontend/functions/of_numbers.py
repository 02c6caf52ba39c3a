"""Attributes that Python's numbers and NumPy's scalars have and arrays have not."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

from pliant.core.origin import here
from pliant.core.types import Type
from pliant.errors import TracedValueError
from pliant.frontend.array import TracedArray
from pliant.frontend.convert import value_of
from pliant.frontend.kinds import stood_for
from pliant.frontend.number import Kind, with_kind

NP: Final[Any] = np
_INT: Final = Kind(Type("i64"), is_scalar=True, is_weak=True)


def _is_integer(x: TracedArray) -> Any:
    """Whether a real number is a whole one."""
    return True if x.type.kind in "iub" else NP.isfinite(x) & (NP.floor(x) == x)


def _bit_count(x: TracedArray) -> Any:
    """How many bits of the absolute value are set."""
    return with_kind(value_of(NP.bitwise_count(x), "i64"), _INT)


def _bit_length(x: TracedArray) -> Any:
    """How many bits the absolute value takes."""
    filled = NP.abs(x).astype("uint64")
    for shift in (1, 2, 4, 8, 16, 32):
        filled = filled | (filled >> np.uint64(shift))
    return _bit_count(filled)


def _called(method: Callable[[TracedArray], Any], x: TracedArray) -> Callable[[], Any]:
    return partial(method, x)


ATTRIBUTES: Final[dict[str, Callable[[TracedArray], Any]]] = {
    "is_integer": partial(_called, _is_integer),
    "bit_count": partial(_called, _bit_count),
    "bit_length": partial(_called, _bit_length),
    "numerator": lambda x: x,
    "denominator": lambda _: 1,
}
"""Name → the function that answers for it; see `attribute` for which numbers have which."""


_INTERNAL: Final = frozenset(n for n in dir(TracedArray) if n[:2] != "__" and not hasattr(np.ndarray, n))
"""Attributes of what stands for an array that are none of the user's."""


def attribute(x: TracedArray, name: str) -> Any:
    """An attribute of a number that a traced value stands for; AttributeError if it has none that arrays have."""
    kind = stood_for(x)
    if name in _INTERNAL:
        raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}", name=name, obj=x)
    is_own = name in ATTRIBUTES or hasattr(np.ndarray, name) or (hasattr(kind, name) and not name.startswith("_"))
    if kind is np.ndarray or not is_own:
        return getattr(x, name)
    if not hasattr(kind, name):
        raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}", name=name, obj=x)
    if name in ATTRIBUTES:
        return ATTRIBUTES[name](x)
    return getattr(x, name) if hasattr(np.ndarray, name) else partial(_asked, x, kind, name)


def _asked(x: TracedArray, kind: type, name: str, *args: Any, **options: Any) -> Any:
    """What a method of a number returns that it has only if it is known."""
    if x.concrete is None:
        what = f"{kind.__name__}.{name} needs a number here, but {x.type} has no value while tracing"
        hint = "return the number, and ask it outside of the function"
        raise TracedValueError(what, hint=hint).at(("here", here())).needing(x.value)
    return getattr(kind(x.concrete.item()), name)(*args, **options)
