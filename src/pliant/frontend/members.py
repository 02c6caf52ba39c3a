"""Keys of dicts and members of sets: traced numbers may be such, if they are known, but nobody may see them after the
call. What a function returns, or leaves in its arguments, has the numbers that they are.

for v, k in zip(x, labels): d[k] = d.get(k, 0.0) + v      returned: {np.int64(0): …, np.int64(1): …}
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, Final, cast

from pliant.errors import UnsupportedError
from pliant.frontend.array import TracedArray
from pliant.frontend.attributes import attributes
from pliant.frontend.kinds import is_of
from pliant.frontend.records import is_users, together
from pliant.frontend.sharing import LEAVES, alike
from pliant.frontend.whose import is_plain

_MOST: Final = 1 << 14  # objects that are looked at
_PLAIN: Final = LEAVES - {TracedArray}


def with_plain_members(tree: Any) -> Any:
    """A tree in whose dicts and sets, which are the same, no number is traced; UnsupportedError for others."""
    for x in _held((tree,)):
        if is_of(x, dict) and any([_holds(k) for k in x]):
            items = [(plain_member(k), held) for k, held in x.items()]
            x.clear()
            for k, held in items:  # `update` of a `Counter` would count them
                x[k] = held
        elif is_of(x, set) and any([_holds(k) for k in x]):
            members = [plain_member(k) for k in x]
            x.clear()
            x.update(members)
    return tree


def plain_member(key: Any) -> Any:
    """A key with numbers in place of traced ones."""
    if type(key) is TracedArray and key.concrete is not None:
        return key.concrete.item() if key.is_weak else key.concrete[()]
    if is_of(key, tuple):
        return alike(key, [plain_member(part) for part in key])
    if is_of(key, frozenset):
        return frozenset(map(plain_member, key)) if _holds(key) else key
    held, kind = traced_in(key), cast("Any", type(key))
    if held is None:
        return key
    if is_users(kind):
        found = attributes(key)
        return together(kind, found, map(plain_member, found.values()))
    raise UnsupportedError(
        f"what the function leaves has a key of class {kind.__name__}, which holds a traced array {held.type}",
        hint="make the key of numbers and tuples",
    ).at(("made here", held.value.origin))


def traced_in(x: Any) -> TracedArray | None:
    """The first traced array that containers hold, or objects of the user; None if there is none."""
    return next((part for part in _held((x,)) if type(part) is TracedArray), None)


def _holds(key: Any) -> bool:
    return type(key) not in _PLAIN and traced_in(key) is not None


def _held(queue: Iterable[Any]) -> Iterable[Any]:
    """All that containers hold, and objects of the user: themselves first, each once."""
    todo, seen = [*queue], set[int]()
    while todo and len(seen) < _MOST:
        x = todo.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        parts = [*_parts(x)]  # before others change it
        yield x
        todo += [part for part in parts if type(part) not in _PLAIN]


def _parts(x: Any) -> Iterable[Any]:
    if is_of(x, dict):
        return (*x.keys(), *x.values())
    if is_of(x, list | tuple | set | frozenset | deque):
        return x
    kind = cast("Any", type(x))
    return attributes(x).values() if is_plain(kind) or is_users(kind) else ()
