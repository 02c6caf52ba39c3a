"""Names that have a value only if a block was left in some of its ways.

for v in xs:                    where the step breaks, `found` has a value; where it goes on, it has none:
    if v > 1:                   an `Unbound` that holds the value, and that it has it by BREAK
        found = v; break
else:
    found = 0.0                 what comes after a `break` sees that value
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pliant.frontend.control.region import Place, cells_of
from pliant.frontend.control.signals import MISSING, Signal, possible_of
from pliant.frontend.control.unbound import Unbound


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
