"""Which container is which: a list, dict or object that is given twice is one to the function too, and what it has put
where is the caller's own afterwards.

f(a, a)         a list of both names: what is put into the one is there in the other
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any, Final, TypeAlias, cast

import numpy as np

from pliant.frontend.array import TracedArray
from pliant.frontend.attributes import attributes, put_attribute, put_attributes
from pliant.frontend.kinds import is_of, is_sequence, is_table
from pliant.frontend.records import is_record
from pliant.frontend.spread import spread_out

LEAVES: Final = frozenset((np.ndarray, np.float64, float, int, bool, complex, str, type(None), TracedArray))
"""Classes of most that are no containers."""
Closed: TypeAlias = frozenset[int]
"""The ids of lists into which nobody looks; see `growing`."""
NONE: Final[Closed] = frozenset()
Join: TypeAlias = "Callable[[Any, Any], Any]"
Firsts: TypeAlias = tuple[int, ...]
"""Of the containers that can be changed, in their order, the number of the first one that is the same; nothing if all
are different. What is in one that was there before is not gone through again."""


def sharing(tree: Any, closed: Closed = NONE) -> Firsts:
    """Which of the containers of arguments are the same."""
    numbers = dict[int, int]()
    firsts = [numbers.setdefault(id(x), n) for n, x in enumerate(containers(tree, closed))]
    return tuple(firsts) if len(numbers) < len(firsts) else ()


def containers(tree: Any, closed: Closed = NONE) -> list[Any]:
    """Those that can be changed, in order, each as often as it is there; what is in one is gone through once."""
    found = list[Any]()
    _gather(tree, found, set(closed))
    return found


def origins(tree: Any, given: Sequence[Any], closed: Closed = NONE) -> tuple[int | None, ...]:
    """Of each container, its number among those that were given; None for new ones."""
    numbers = {id(x): n for n, x in reversed([*enumerate(given)])}
    return tuple([numbers.get(id(x)) for x in containers(tree, closed)])


def replace_items(given: Sequence[Any], after: Any, found: Sequence[int | None], closed: Closed = NONE) -> list[Any]:
    """Make given containers hold what those of a tree hold. found: the origins of these. Return for each the one that
    has come in its place."""
    new = containers(after, closed)
    now = {id(x): x if n is None else given[n] for x, n in zip(new, found, strict=True)}
    for x in {id(x): x for x in new}.values():
        if id(now[id(x)]) not in closed:
            fill(now[id(x)], _spread_out([(key, mapped(part, now)) for key, part in parts_of(x) or []]))
    return [now[id(x)] for x in new]


def mapped(x: Any, now: dict[int, Any]) -> Any:
    """What a container holds, with others in place of containers, by their ids."""
    if id(x) in now:
        return now[id(x)]
    return alike(x, spread_out([mapped(part, now) for part in x])) if is_of(x, tuple) else x


def _spread_out(parts: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """The parts of a container, with the elements of lists in place of what stands for them."""
    return [(key, y) for key, x in parts for y in spread_out([x])]


def alike(x: Any, parts: list[Any]) -> Any:
    """A tuple like another one, or that itself, if it has the same parts."""
    kind = cast("Any", type(x))
    return x if len(parts) == len(x) and all(map(operator.is_, parts, x)) else getattr(kind, "_make", kind)(parts)


def fill(target: Any, parts: Sequence[tuple[Any, Any]]) -> None:
    """Have a container hold these parts, and nothing else."""
    if have_same(parts_of(target) or [], parts):
        return
    if is_table(target):
        if [*target] != [key for key, _ in parts]:
            target.clear()
        target.update(parts)
    elif is_of(target, deque):
        target.clear()
        target.extend([x for _, x in parts])
    elif is_sequence(target):
        cast("list[Any]", target)[:] = [x for _, x in parts]
    else:
        put_attributes(target, dict(parts))


def have_same(before: Sequence[tuple[Any, Any]], now: Sequence[tuple[Any, Any]]) -> bool:
    """Whether a container has the same parts as before."""
    return len(before) == len(now) and all([k == m and x is y for (k, x), (m, y) in zip(before, now, strict=True)])


def as_one(
    tree: Any, firsts: Firsts, closed: Closed = NONE, *, join: Join = lambda first, _: first,
    made: dict[int, Any] | None = None,
) -> Any:  # fmt: skip
    """Arguments of the same nesting, with one container in place of those that are the same: what `join` makes of the
    first one and another one. made: gets the containers by their numbers."""
    return _joined(tree, count(), firsts, {} if made is None else made, closed, join) if firsts else tree


def _gather(x: Any, found: list[Any], seen: set[int]) -> None:
    """Gather the containers that can be changed, each as often as it is there."""
    parts = parts_of(x)
    if parts is None:
        return
    if not is_of(x, tuple):
        found.append(x)
        if id(x) in seen:
            return
        seen.add(id(x))
    for _, part in parts:
        _gather(part, found, seen)


def parts_of(x: Any) -> list[tuple[Any, Any]] | None:
    """What a container holds, with the keys; None for anything else."""
    if x.__class__ in LEAVES:
        return None
    if is_table(x):
        return [*x.items()]
    if is_sequence(x) or is_of(x, deque):
        return [*enumerate(x)]
    return [*attributes(x).items()] if is_record(cast("Any", type(x))) else None


def _joined(x: Any, numbers: Iterator[int], firsts: Firsts, made: dict[int, Any], closed: Closed, join: Join) -> Any:
    parts = parts_of(x)
    if parts is None:
        return x
    if is_of(x, tuple):
        return alike(x, [_joined(part, numbers, firsts, made, closed, join) for _, part in parts])
    number = next(numbers)
    if firsts[number] != number:
        return join(made[firsts[number]], x)
    made[number] = x
    for key, part in parts if id(x) not in closed else ():
        new = _joined(part, numbers, firsts, made, closed, join)
        if new is not part:
            put_attribute(x, key, new) if is_record(cast("Any", type(x))) else x.__setitem__(key, new)
    return x
