"""`functions[k](x)` at a traced place of a list: only the one that k names is run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pliant.core.ir import const
from pliant.frontend.array import TracedArray
from pliant.frontend.control.branch import choose
from pliant.frontend.control.fronts import Front
from pliant.frontend.control.growth import Prefix
from pliant.frontend.control.signals import CODE
from pliant.frontend.control.unbound import Unbound
from pliant.frontend.convert import value_of
from pliant.frontend.failures import fail_if
from pliant.frontend.number import with_kind
from pliant.frontend.sizes import size_of
from pliant.ops.bits import logical_or
from pliant.ops.compare import less
from pliant.ops.elementwise import add
from pliant.ops.select import select


def is_table(functions: Any, key: Any) -> bool:
    """Whether one of several functions is asked for by a traced number."""
    is_open = type(key) is TracedArray and key.concrete is None and not key.shape and key.type.kind in "iub"
    return is_open and bool(functions) and all(map(_is_function, functions))


def _is_function(x: Any) -> bool:
    return callable(x) and type(x) not in (Prefix, Front, Unbound)  # which answer any use with an error


def switched(functions: Sequence[Callable[..., Any]], key: TracedArray, *args: Any, **options: Any) -> Any:
    """What the function at a place of a list returns."""
    count, place = len(functions), value_of(key, "i64")
    low, high = size_of(key).range
    if low is None or low < 0 or high is None or high >= count:
        place = select(less(place, const(0, "i64")), add(place, const(count, "i64")), place)
        away = logical_or(less(place, const(0, "i64")), less(const(count - 1, "i64"), place))
        fail_if(away, IndexError("list index out of range"))
    number = with_kind(place, CODE)

    def among(first: int, end: int) -> Any:
        if end - first == 1:
            return functions[first](*args, **options)
        middle = (first + end) // 2
        return choose(number < middle, lambda: among(first, middle), lambda: among(middle, end))

    return among(0, count)
