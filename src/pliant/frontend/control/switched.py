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
from pliant.frontend.control.states import MOST, is_word, one_of_words, state_of, words_of
from pliant.frontend.control.unbound import Unbound
from pliant.frontend.convert import as_traced, value_of
from pliant.frontend.failures import fail_if
from pliant.frontend.number import with_kind
from pliant.frontend.sizes import size_of
from pliant.ops.bits import logical_or
from pliant.ops.compare import less
from pliant.ops.elementwise import add
from pliant.ops.select import select


def is_table(elements: Sequence[Any], key: Any) -> bool:
    """Whether one of several functions, or words, is asked for by a number known only at run time."""
    return _is_open(key) and bool(elements) and (all(map(_is_function, elements)) or _are_words(elements))


def columns_of(elements: Sequence[Any], key: Any) -> list[list[Any]] | None:
    """The columns of tuples some of whose parts are words, asked for by such a number: one of the tuples has an element
    of each. None of others."""
    if not _is_open(key) or not elements or not all([type(x) is tuple for x in elements]):
        return None
    if len({len(x) for x in elements}) > 1:
        return None
    columns = [list(column) for column in zip(*elements, strict=True)]
    return columns if any(map(_are_words, columns)) else None


def _is_open(key: Any) -> bool:
    return type(key) is TracedArray and key.concrete is None and not key.shape and key.type.kind in "iub"


def _are_words(elements: Sequence[Any]) -> bool:
    return len(elements) <= MOST and all([words_of(x) is not None for x in elements])


def _is_function(x: Any) -> bool:
    return callable(x) and type(x) not in (Prefix, Front, Unbound)  # which answer any use with an error


def one_at(elements: Sequence[Any], key: TracedArray, at: Callable[[int], Any]) -> Any:
    """The word at a place, or a function that calls the one there. at: the function at a known place."""
    if not _are_words(elements):
        return partial(switched, [at(n) for n in range(len(elements))], key)
    place = place_in(elements, key)
    if all(map(is_word, elements)):
        return one_of_words(place, tuple(elements))
    words = tuple(dict.fromkeys([word for x in elements for word in words_of(x) or ()]))
    return one_of_words(as_traced([state_of(x, words).number for x in elements])[place], words)


def switched(functions: Sequence[Callable[..., Any]], key: TracedArray, *args: Any, **options: Any) -> Any:
    """What the function at a place of a list returns."""
    number = place_in(functions, key)

    def among(first: int, end: int) -> Any:
        if end - first == 1:
            return functions[first](*args, **options)
        middle = (first + end) // 2
        return choose(number < middle, lambda: among(first, middle), lambda: among(middle, end))

    return among(0, len(functions))


def place_in(elements: Sequence[Any], key: TracedArray) -> Any:
    """A place of a list, counted from its beginning; an error where there is none."""
    count, place = len(elements), value_of(key, "i64")
    low, high = size_of(with_kind(place, CODE)).range
    if low is None or low < 0 or high is None or high >= count:
        place = select(less(place, const(0, "i64")), add(place, const(count, "i64")), place)
        away = logical_or(less(place, const(0, "i64")), less(const(count - 1, "i64"), place))
        fail_if(away, IndexError("list index out of range"))
    return with_kind(place, CODE)
