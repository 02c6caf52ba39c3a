"""`collections.deque` as a list while a function is traced: then it may be one that loops extend, and conditions do."""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Final, cast

from pliant.core.origin import here
from pliant.errors import UnsupportedError
from pliant.frontend.array import TracedArray
from pliant.frontend.attributes import attributes
from pliant.frontend.control.fronts import front_of
from pliant.frontend.control.lists import is_open, knowing
from pliant.frontend.control.methods import method
from pliant.frontend.control.region import born
from pliant.frontend.records import is_record, together
from pliant.frontend.tracing import current, is_tracing


def made_of(every: Callable[..., list[Any]], *args: Any, **options: Any) -> Any:
    """`deque(elements)`; one that has a greatest length is what it is. every: makes a list."""
    if not is_tracing() or len(args) > 1 or options:
        known = [_known(n) for n in args[1:]], {k: _known(n) if k == "maxlen" else n for k, n in options.items()}
        return born(knowing(deque)(*args[:1], *known[0], **known[1]))
    made = born(every(*args))
    current().outermost.deques[id(made)] = made
    return made


def _known(most: Any) -> Any:
    """The greatest length as Python's number."""
    return operator.index(most) if type(most) is TracedArray else most


def is_deque(x: Any) -> bool:
    """Whether a list stands for a `deque`."""
    return type(x) is list and is_tracing() and current().outermost.deques.get(id(cast("Any", x))) is x


def deque_method(holder: Any, name: str) -> Callable[..., Any] | None:
    """A method that lists do not have, of one that stands for a `deque`; None for others."""
    if name not in _METHODS or type(holder) is not list or not is_deque(cast("Any", holder)):
        return None
    return partial(_METHODS[name], cast("Any", holder))


def _called(holder: list[Any], name: str, *args: Any) -> Any:
    return (method(holder, name) or getattr(holder, name))(*args)


def _extend_left(holder: list[Any], elements: Any) -> None:
    for x in [*elements]:
        _called(holder, "insert", 0, x)


def _rotate(holder: list[Any], n: Any = 1) -> None:
    if front_of(holder) is not None or is_open(n):
        raise UnsupportedError(
            "a deque is rotated, and how many elements it has, or by how many, is known only at run time",
            hint="append what popleft gives, as often",
        ).at(("here", here()))
    k = n % len(holder) if holder else 0
    holder[:] = [*holder[len(holder) - k :], *holder[: len(holder) - k]]


def _pop_left(holder: list[Any]) -> Any:
    return _called(holder, "pop", 0)


def _append_left(holder: list[Any], x: Any) -> None:
    _called(holder, "insert", 0, x)


_METHODS: Final[dict[str, Callable[..., Any]]] = {
    "popleft": _pop_left, "appendleft": _append_left, "extendleft": _extend_left, "rotate": _rotate,
}  # fmt: skip


def as_deques(tree: Any) -> Any:
    """A tree with a `deque` in place of each list that stands for one."""
    if not current().outermost.deques:
        return tree
    kind = cast("Any", type(tree))
    if kind is list:
        parts = [as_deques(x) for x in tree]
        return deque(parts) if is_deque(tree) else tree if _are_same(parts, tree) else parts
    if kind is tuple:
        parts = [as_deques(x) for x in tree]
        return tree if _are_same(parts, tree) else tuple(parts)
    if kind is dict:
        held = {k: as_deques(x) for k, x in tree.items()}
        return tree if _are_same([*held.values()], [*tree.values()]) else held
    if is_record(kind):
        held = attributes(tree)
        parts = [as_deques(x) for x in held.values()]
        return tree if _are_same(parts, [*held.values()]) else together(kind, held, parts)
    return tree


def _are_same(parts: list[Any], others: Any) -> bool:
    return all([a is b for a, b in zip(parts, others, strict=True)])
