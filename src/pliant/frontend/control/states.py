"""What is one of a few words from step to step, by conditions known only at run time: the steps carry its number.

state = "idle"
for v in xs:
    if state == "idle":         a step is given one of the words, by what the number is; see `chosen`
        if v > 1: state = "run"
    elif v < 0:                 what it leaves is a number again
        state = "idle"
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Final, TypeAlias, cast, final

from pliant.core.ir import Value, const
from pliant.frontend.control.signals import CODE
from pliant.frontend.control.unbound import Unbound
from pliant.frontend.convert import value_of
from pliant.frontend.number import with_kind
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
    words = tuple(dict.fromkeys((*ones, *twos)))
    is_known = Unbound not in (type(first), type(last)) and type(first) is not State
    return None if len(words) > MOST or len(words) < 2 or (is_static and is_known) else words


def words_of(x: Any) -> Words | None:
    """The words that something may be; None if it may be something else."""
    if is_word(x):
        return (x,)
    if type(x) is State:
        return x.words
    if type(x) is not Unbound or x.choice is None:
        return None
    one, two = map(words_of, x.choice[1:])
    return None if one is None or two is None else tuple(dict.fromkeys((*one, *two)))


def is_word(x: Any) -> bool:
    """Whether it is text, bytes, or a member of an Enum that is no number."""
    return type(x) in (str, bytes) or (isinstance(x, Enum) and not isinstance(x, int | float))


def state_of(x: Any, words: Words) -> State:
    """The same as a number of one of some words, which it is one of."""
    if type(x) is State:  # more words may have been found, which come after those that it knows
        return x if x.words == words else State(x.number, words)
    return State(with_kind(_number_of(x, words), CODE), words)


def _number_of(x: Any, words: Words) -> Value:
    if type(x) is not Unbound:
        return const(words.index(x), "i64")
    condition, one, two = cast("Any", x.choice)
    return select(condition, _number_of(one, words), _number_of(two, words))


def one_of_words(number: Any, words: Words) -> Any:
    """One of some words, as `chosen` knows it."""
    value, found = value_of(number, "i64"), words[-1]
    for n, word in reversed([*enumerate(words[:-1])]):
        made = Unbound(
            f"this is one of {', '.join(map(repr, words))}, and which one is known only at run time",
            ASKED,
        )
        made.choice = equal(value, const(n, "i64")), word, found
        found = made
    return found
