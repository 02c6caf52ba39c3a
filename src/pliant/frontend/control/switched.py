"""`functions[k](x)` at a traced place of a list: only the one that k names is run. `words[k]`: the one that k names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from pliant.core.ir import const
from pliant.frontend.array import TracedArray
from pliant.frontend.control.branch import choose
from pliant.frontend.control.fronts import Front
from pliant.frontend.control.growth import Prefix
from pliant.frontend.control.signals import CODE
from pliant.frontend.control.states import are_words, one_of_words
from pliant.frontend.control.unbound import Unbound
from pliant.frontend.convert import value_of
from pliant.frontend.failures import fail_if
from pliant.frontend.number import with_kind
from pliant.frontend.sizes import size_of
from pliant.ops.bits import logical_or
from pliant.ops.compare import less
from pliant.ops.elementwise import add
from pliant.ops.select import select


def is_table(elements: Sequence[Any], key: Any) -> bool:
    """Whether one of several functions, or words, is asked for by a number known only at run time."""
    is_open = type(key) is TracedArray and key.concrete is None and not key.shape and key.type.kind in "iub"
    return is_open and bool(elements) and (all(map(_is_function, elements)) or are_words(elements))


def _is_function(x: Any) -> bool:
    return callable(x) and type(x) not in (Prefix, Front, Unbound)  # which answer any use with an error


def one_at(elements: Sequence[Any], key: TracedArray, at: Callable[[int], Any]) -> Any:
    """The word at a place, or a function that calls the one there. at: the function at a known place."""
    if not are_words(elements):
        return partial(switched, [at(n) for n in range(len(elements))], key)
    return one_of_words(place_among(elements, key), tuple(elements))


def switched(functions: Sequence[Callable[..., Any]], key: TracedArray, /, *args: Any, **options: Any) -> Any:
    """What the function at a place of a list returns."""
    number = place_among(functions, key)

    def among(first: int, end: int) -> Any:
        if end - first == 1:
            return functions[first](*args, **options)
        middle = (first + end) // 2
        return choose(number < middle, lambda: among(first, middle), lambda: among(middle, end))

    return among(0, len(functions))


def place_among(elements: Sequence[Any], key: TracedArray) -> TracedArray:
    """A place of a list, counted from its beginning; an error where there is none."""
    count, place = len(elements), value_of(key, "i64")
    low, high = size_of(with_kind(place, CODE)).range
    if low is None or low < 0 or high is None or high >= count:
        place = select(less(place, const(0, "i64")), add(place, const(count, "i64")), place)
        away = logical_or(less(place, const(0, "i64")), less(const(count - 1, "i64"), place))
        fail_if(away, IndexError("list index out of range"))
    return with_kind(place, CODE)
