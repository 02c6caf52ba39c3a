"""Transformed functions that are kept with what they are of, so that asking for one again finds it compiled."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import FunctionType, MethodType
from typing import Any, Final, final

from pliant.callables import function_of
from pliant.compiled import Compiled
from pliant.core.data import frozen
from pliant.frontend.tracing import is_tracing

Table = dict[Any, Compiled]
_KEPT: Final = "__pliant__"
FAMILIES, MEMBERS = 32, 4
"""Callables that are made anew again and again, by what all of a family have in common: the latest of each are kept,
with what they close over."""
_with_tables: Final = weakref.WeakSet[Any]()


def cached(
    transformed: Callable[..., Any], f: Callable[..., Any], kind: Any, plain: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """A compiled transformation of `f`, kept on f so that a second call finds it. plain: of `Compiled`; else f."""
    function_of(f)
    if is_tracing():
        return transformed
    return kept(f, kind, lambda: Compiled(transformed, original=f, plain=plain or f))


def kept(f: Callable[..., Any], kind: Any, make: Callable[[], Compiled]) -> Compiled:
    """What was made of `f` before, if it was of the same kind: of f itself, or of one that does the same, as
    `lambda x: loss(x, data)` does at each step of a loop. kind: all else that tells it from others; what has no hash
    is made anew."""
    if is_tracing():
        return make()
    table = _table_of(f) if isinstance(f, FunctionType | Compiled) else _table_of_alike(f)
    key = (kind, repr(kind))  # True is no 1
    try:
        found = table.get(key)
    except TypeError:  # no hash
        return make()
    if found is None:
        found = table[key] = make()
    return found


def forget() -> None:
    """Make all anew from now on."""
    for f in list(_with_tables):
        f.__dict__.pop(_KEPT, None)
    _with_tables.clear()
    _family.cache_clear()


@final
class Kept:
    """What a function has in its `__dict__`. A function that is pickled with that has nothing kept."""

    __slots__ = ("owner", "table")

    def __init__(self, owner: Any = None, table: Table | None = None) -> None:
        self.owner = None if owner is None else weakref.ref(owner)
        self.table = Table() if table is None else table

    def __reduce__(self) -> Any:
        return Kept, ()


def _table_of(f: FunctionType | Compiled) -> Table:
    """What is kept on a function itself."""
    found: Kept | None = f.__dict__.get(_KEPT)
    if found is None or found.owner is None or found.owner() is not f:  # functools.wraps copies it to other functions
        found = f.__dict__[_KEPT] = Kept(f, _table_of_alike(f) if isinstance(f, FunctionType) else None)
        _with_tables.add(f)
    return found.table


def _table_of_alike(f: Any) -> Table:
    """What is kept for callables that consist of the same, and so do the same."""
    first, *others = map(_Same, _parts(f))
    return _family(first)(*others)


def _parts(f: Any) -> Iterator[Any]:
    """What a callable consists of; first what those have in common that one line makes again and again."""
    if isinstance(f, FunctionType):
        yield from (f.__code__, f.__globals__, *(f.__closure__ or ()), len(f.__defaults__ or ()))
        yield from (*(f.__defaults__ or ()), *_flat(f.__kwdefaults__ or {}))
    elif isinstance(f, MethodType):
        yield from (f.__func__, f.__self__)
    elif type(f) is functools.partial:
        yield from (*_parts(f.func), len(f.args), *f.args, *_flat(f.keywords))
    else:
        yield f


def _flat(named: dict[str, Any]) -> Iterator[Any]:
    for pair in named.items():
        yield from pair


@final
@frozen
class _Same:
    """An object as a key: that very one."""

    thing: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.thing is other.thing

    def __hash__(self) -> int:
        return id(self.thing)


@lru_cache(maxsize=FAMILIES)
def _family(common: _Same) -> Callable[..., Table]:
    """The table of a member of a family, given the other parts of it."""
    return lru_cache(maxsize=MEMBERS)(lambda *parts: Table())
