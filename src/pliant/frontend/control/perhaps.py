"""Dicts of which it is known only at run time what keys they have: they can be read by their keys, and no more.

if x > 0:
    d["a"] = x                  reading d["a"] is an error, and so are len(d), "a" in d and a loop over d
counts = Counter()
for v in xs:
    if v > 0:
        counts["a"] += 1        counts["a"] is right, as it would be 0 without the key; len(counts) is an error
"""

from __future__ import annotations

import itertools
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable
from typing import Any, Final, cast

from pliant.core.ir import Value
from pliant.core.origin import here
from pliant.errors import UnboundError
from pliant.frontend.control.ornone import returned as without_none
from pliant.frontend.control.region import born, is_conditional, where_made
from pliant.frontend.control.unbound import Unbound
from pliant.frontend.tracing import current, is_tracing

ASKING: Final = frozenset(("items", "keys", "values", "most_common", "elements", "total", "copy", "popitem"))
"""Methods that look at all elements of a dict."""

_set: Final[Any] = dict.__setitem__  # type: ignore[reportUnknownMemberType]


def begin(holder: Any, key: Any) -> None:
    """An item is about to be read: a dict that makes those that it has not begins it, whatever conditions hold."""
    if not isinstance(holder, defaultdict | Counter) or not is_tracing():
        return
    items = cast("dict[Any, Any]", holder)
    if key in items:
        return
    makes: Any = cast("Any", holder).default_factory if isinstance(holder, defaultdict) else None
    if is_conditional(items):
        current().outermost.perhaps[id(items)] = items, key, here()
    elif makes is None:
        return
    if makes is not None or isinstance(holder, Counter):
        with where_made(items):
            _set(items, key, 0 if makes is None else born(makes()))


def whole(holder: Any) -> None:
    """UnboundError if it is asked what keys a dict has, and a condition decides that."""
    if not isinstance(holder, dict) or not is_tracing():
        return
    for value in cast("dict[Any, Any]", holder).values():
        if type(value) is Unbound:
            raise value.refused()
    found: Any = current().outermost.perhaps.get(id(cast("Any", holder)))
    if found is not None:
        _, key, place = found
        kind = type(cast("object", holder)).__name__
        raise UnboundError(
            f"whether the {kind} has the key {key!r} depends on a condition that is known only at run time",
            hint="give it its keys before, as dict.fromkeys(keys, 0) does",
        ).at(("used here", here()), ("its first use", place))


def in_two_orders(holder: dict[Any, Any], condition: Value) -> None:
    """Note that a condition decides in which order a dict has its keys."""
    current().outermost.orders[id(holder)] = holder, condition, here()


def overwritten(holder: Any, key: Any) -> None:
    """An item is about to be written: if the dict may have its key already, and has got others since, where the key is
    depends on that."""
    before = holder.get(key)
    if type(before) is not Unbound or not before.needs:
        return
    later = itertools.takewhile(lambda k: k != key, reversed(holder))
    if not all([type(x) is Unbound and x.needs == before.needs for x in map(holder.get, later)]):
        in_two_orders(holder, before.needs[0])


def all_overwritten(holder: Any) -> None:
    """Items of a dict are about to be written, of which it is not known here which ones."""
    for x in [x for x in holder.values() if type(x) is Unbound and x.needs]:
        in_two_orders(holder, x.needs[0])


def compared(x: Any, y: Any) -> None:
    """Dicts are compared: UnboundError if they are equal only in one order, which is not known."""
    if isinstance(x, OrderedDict) and isinstance(y, OrderedDict) and is_tracing():
        check_orders(cast("tuple[dict[Any, Any], ...]", (x, y)))


def has_two_orders(holder: Any) -> bool:
    """Whether a condition decides in which order a dict has its keys."""
    return id(holder) in current().outermost.orders


def in_known_order(holder: Any) -> None:
    """A dict is gone over: UnboundError if it is not known what keys it has, or in which order."""
    if is_tracing():
        whole(holder)
        check_orders((holder,))


def check_orders(holders: Iterable[Any]) -> None:
    """UnboundError if a condition decides in which order one of some dicts has its keys."""
    for holder, condition, place in [current().outermost.orders[id(x)] for x in holders if has_two_orders(x)]:
        kind = type(holder).__name__
        error = UnboundError(
            f"the order of the keys of the {kind} depends on a condition that is known only at run time",
            hint="give an item its new value without taking it out before, and write keys in one order",
        )
        raise error.at(("used here", here()), ("left so here", place)).needing(condition)


def returned(tree: Any) -> Any:
    """What a function returns; an error if the keys of a dict in it are not known."""
    if current().outermost.perhaps:
        whole(tree)
        for part in _parts(tree):
            returned(part)
    return without_none(tree)


def _parts(tree: Any) -> list[Any]:
    if isinstance(tree, dict):
        return list(cast("dict[Any, Any]", tree).values())
    return list(cast("list[Any]", tree)) if isinstance(tree, list | tuple) else []
