"""What is one of a few words from step to step, by conditions known only at run time: the steps carry its number.

state = "idle"
for v in xs:
    if state == "idle":         a step is given one of the words, by what the number is; see `chosen`
        if v > 1: state = "run"
    elif v < 0:                 what it leaves is a number again
        state = "idle"
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, Final, TypeAlias, final

from pliant.core.ir import Value, const
from pliant.frontend.array import TracedArray
from pliant.frontend.control.signals import CODE
from pliant.frontend.control.unbound import Unbound, choice_of, note_which
from pliant.frontend.convert import as_traced, value_of
from pliant.frontend.number import is_number, kind_of, with_kind
from pliant.ops.compare import equal
from pliant.ops.select import select

Words: TypeAlias = "tuple[Any, ...]"

ASKED: Final = "compare it, as in state == 'run' or state in ('run', 'idle')"
"""What to do with a word of which nobody knows which one it is."""

MOST = 64
"""Words that a state may be one of."""


@final
class State:
    """One of some words, by a traced number."""

    __slots__ = ("number", "words")

    def __init__(self, number: Any, words: Words) -> None:
        self.number, self.words = number, words


def words_between(first: Any, last: Any, *, is_static: bool) -> Words | None:
    """The words that something is one of, given what it is before a loop and after a step; None if it has no need of a
    number. is_static: the steps may be traced one by one, in each of which it is known."""
    if first is last:
        return None
    ones, twos = words_of(first), words_of(last)
    if ones is None or twos is None:
        return None
    words = _distinct(*ones, *twos)
    is_known = is_word(first) and is_word(last) and not is_number(first)  # a number would be carried as one
    return None if not are_words(words) or len(words) < 2 or (is_static and is_known) else words


def words_of(x: Any) -> Words | None:
    """The words that something may be; None if it may be something else."""
    if is_word(x):
        return (x,)
    if type(x) is State:
        return x.words
    choice = choice_of(x) if type(x) in (Unbound, TracedArray) else None
    if choice is None:
        return None
    one, two = map(words_of, choice[1:])
    return None if one is None or two is None else _distinct(*one, *two)


def is_word(x: Any) -> bool:
    """Whether it is text, bytes, or a member of an Enum."""
    return type(x) in (str, bytes) or isinstance(x, Enum)


def are_words(words: Sequence[Any]) -> bool:
    """Whether something can be one of these: of not too many, which are all numbers of Python's, or none is."""
    if len(words) > MOST or not all(map(is_word, words)):
        return False
    return len({kind_of(as_traced(word)) if is_number(word) else None for word in words}) == 1


def is_member(x: Any) -> bool:
    """Whether something is a number that is one of some members of an IntEnum."""
    return type(x) is TracedArray and words_of(x) is not None


def _distinct(*words: Any) -> Words:
    found: dict[Any, Any] = {(type(word), word): word for word in words}
    return tuple(found.values())


def state_of(x: Any, words: Words) -> State:
    """The same as a number of one of some words, which it is one of."""
    if type(x) is State:  # more words may have been found, which come after those that it knows
        return x if x.words == words else State(x.number, words)
    return State(with_kind(_number_of(x, words), CODE), words)


def _number_of(x: Any, words: Words) -> Value:
    choice = choice_of(x)
    if choice is None:
        place = next(n for n, word in enumerate(words) if type(word) is type(x) and word == x)
        return const(place, "i64")
    condition, one, two = choice
    return select(condition, _number_of(one, words), _number_of(two, words))


def one_of_words(number: Any, words: Words) -> Any:
    """One of some words, as `chosen` knows it."""
    value, found = value_of(number, "i64"), words[-1]
    for n, word in reversed([*enumerate(words[:-1])]):
        is_this = equal(value, const(n, "i64"))
        if is_number(word):
            found = _one_of_two(is_this, word, found)
            continue
        made = Unbound(
            f"this is one of {', '.join(map(repr, words))}, and which one is known only at run time",
            ASKED,
        )
        made.choice = is_this, word, found
        found = made
    return found


def _one_of_two(condition: Value, one: Any, two: Any) -> TracedArray:
    """A number that is a member of an IntEnum, or one of others."""
    kind = kind_of(as_traced(one))
    made = with_kind(select(condition, *[value_of(x, kind.type.dtype) for x in (one, two)]), kind)
    note_which(made, condition, one, two)
    return made
