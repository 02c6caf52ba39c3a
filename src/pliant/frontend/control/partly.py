"""Names that have a value only if a block was left in some of its ways.

for v in xs:                    where the step breaks, `found` has a value; where it goes on, it has none:
    if v > 1:                   an `Unbound` that holds the value, and that it has it by BREAK
        found = v; break
else:
    found = 0.0                 what comes after a `break` sees that value

if v > 0 and (w := f(v)) > 1:   where the condition holds, `w` has a value: the truth of `a and b` is a way as well
    total += w
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import Any, Final

from pliant.frontend.array import TracedArray
from pliant.frontend.control.region import Place, cells_of
from pliant.frontend.control.signals import MISSING, Signal, possible_of
from pliant.frontend.control.unbound import Unbound
from pliant.frontend.tracing import current, thread

_TRUTHS: Final = count(100)  # beyond the ways to leave a block


def is_void(content: Any) -> bool:
    """Whether a name has no value, or only by some ways."""
    return content is MISSING or type(content) is Unbound


def ways_of(contents: Sequence[Any], signals: Sequence[Signal | None]) -> frozenset[int]:
    """The ways to leave one of two blocks by which a name has a value."""
    held = frozenset[int]()
    void = frozenset[int]()
    for content, signal in zip(contents, signals, strict=True):
        possible = possible_of(signal)
        own = _ways(content) if is_void(content) else possible
        held, void = held | own & possible, void | possible - own
    return held - void


def _ways(content: Any) -> frozenset[int]:
    return content.ways if type(content) is Unbound else frozenset()


def value_in(content: Any) -> Any:
    """What a name is bound to, by the ways by which it is."""
    return (content.value if content.ways else MISSING) if type(content) is Unbound else content


def settle(cells: Iterable[Place], ways: Iterable[int] = ()) -> None:
    """Bind names to the values that they have by all of the ways in which the block before was left; those that
    have none by one of them, or by ways that are not told, lose it."""
    known = frozenset(ways)
    for place in cells:
        content = place.get()
        if type(content) is Unbound and content.ways:
            place.set(content.value if known and known <= content.ways else content.plain())


def partly_bound(block: Callable[..., Any]) -> list[Place]:
    """The names that a block shares which have a value only by some ways."""
    contents = [(place, place.get()) for place in cells_of(block.__code__.co_freevars, block)]
    return [place for place, content in contents if type(content) is Unbound and content.ways]


def new_truth() -> int:
    """The way of a condition that is being made."""
    return next(_TRUTHS)


def is_truth_of(test: Any, truth: int) -> None:
    """Note the way of a condition, a traced number."""
    current().outermost.truths[test.value] = truth


def truth_of(test: Any) -> int | None:
    """The way of a condition; None if it binds no names."""
    if type(test) is not TracedArray or thread.trace is None or not (truths := thread.trace.outermost.truths):
        return None
    return truths.get(test.value)


def value_if(content: Any, test: Any) -> Any:
    """What a name is bound to if a condition holds; MISSING if nothing is known of that."""
    if type(content) is Unbound and truth_of(test) in content.ways:
        return content.value
    return MISSING if is_void(content) else content


def settle_if(cells: Iterable[Place], test: Any) -> None:
    """Bind names to the values that they have if a condition holds, which does."""
    for place in cells:
        content = place.get()
        if type(content) is Unbound and (value := value_if(content, test)) is not MISSING:
            place.set(value)
