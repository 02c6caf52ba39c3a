"""Blocks that are run only where a condition holds, in which what may be None is an object, or None.

if best is None or f(v) > best[0]:      `best` is an object where `best[0]` is asked for, and so it is after
    …                                   `if best is None: return`
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from types import FunctionType
from typing import Any, TypeVar, cast

from pliant.core.ir import Value
from pliant.frontend.array import TracedArray
from pliant.frontend.control.ornone import OrNone
from pliant.frontend.control.region import Place, bound_here, cells_of
from pliant.frontend.control.signals import Signal
from pliant.frontend.tracing import current
from pliant.ops.bits import Invert

B = TypeVar("B", Callable[[], Any], "Callable[[], Any] | None")


def narrowed(test: Any, block: B, cells: Sequence[Place], *, holds: bool) -> B:
    """A block that is run if a condition holds, or if it does not. cells: names that it may leave bound so."""
    root = current().outermost
    if not root.has_nones or (block is None and not any([type(place.get()) is OrNone for place in cells])):
        return block
    run, others = block or _nothing, [*dict.fromkeys(p for p in _places(block, set()) if p not in cells)]

    def narrow() -> Any:
        known = [*_following(test.value, holds)]
        root.sure += known
        try:
            _settle(cells, root.sure)
            with bound_here(_settled(others, root.sure)):
                made = run()
            _settle(cells, root.sure)
            if isinstance(made, Signal):
                return replace(made, result=_object(made.result, root.sure))
            return _object(made, root.sure)
        finally:
            del root.sure[len(root.sure) - len(known) :]

    return cast("B", narrow)


def _nothing() -> None:
    """A block without statements."""


def _places(block: Any, seen: set[int]) -> Iterator[Place]:
    """The names that a block shares with the function that it is part of, or that functions which it may call do."""
    if isinstance(block, partial):
        parts: tuple[Any, ...] = (block.func, *block.args)
        for part in parts:
            yield from _places(part, seen)
    if not isinstance(block, FunctionType) or id(block) in seen:
        return
    seen.add(id(block))
    for place in cells_of(block.__code__.co_freevars, block):
        yield place
        yield from _places(place.get(), seen)


def _settle(places: Sequence[Place], known: list[tuple[Value, bool]]) -> None:
    """Bind names to what they are known to be."""
    for place, (_, content) in _settled(places, known).items():
        place.set(content)


def _settled(places: Sequence[Place], known: list[tuple[Value, bool]]) -> dict[Place, tuple[Any, Any]]:
    """The names of which it is known what they are, what each is bound to, and what that is."""
    held = [(place, x, _object(x, known)) for place in places if type(x := place.get()) is OrNone]
    return {place: (x, found) for place, x, found in held if found is not x}


def _object(x: Any, known: list[tuple[Value, bool]]) -> Any:
    """What is an object or None, if that is known."""
    if type(x) is not OrNone or type(x.pliant_flag) is not TracedArray:
        return x
    flag = x.pliant_flag.value
    return x.pliant_value if (flag, True) in known else None if (flag, False) in known else x


def follows(made: Any, parts: list[Any], *, holds: bool, of: bool) -> None:
    """Note that where a condition holds, or does not, all of others do, or none of them."""
    if type(made) is TracedArray and made.concrete is None:
        values = [(x.value, of) for x in parts if type(x) is TracedArray]
        current().outermost.implied[made.value, holds] = values


def _following(value: Value, holds: bool) -> Iterator[tuple[Value, bool]]:
    """What holds, and what does not, where a condition does."""
    yield value, holds
    if isinstance(value.op, Invert):
        yield from _following(value.node.args[0], not holds)
    for other, is_so in current().outermost.implied.get((value, holds), ()):
        yield from _following(other, is_so)
