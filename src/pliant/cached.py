"""Transformed functions that are kept with what they are of, so that asking for one again finds it compiled."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import FunctionType, MethodType
from typing import Any, Final, TypeAlias, final

from pliant.callables import function_of
from pliant.compiled import Compiled
from pliant.core.data import frozen
from pliant.frontend.tracing import is_tracing

_KEPT: Final = "__pliant__"
FAMILIES, MEMBERS = 32, 2
"""Callables that are made anew again and again, by the code that they have in common: the latest of each are kept, with
what they close over."""
Parts: TypeAlias = "tuple[_Same, ...]"
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
    table = _table_of(f)
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
class Table(dict[Any, Compiled]):
    """What was made of a callable, by kind; nothing is, where it is pickled with a function that has it."""

    def __init__(self, of: Any = None, parts: Parts = ()) -> None:
        super().__init__()
        self.of, self.parts = of, parts

    def __reduce__(self) -> Any:
        return Table, ()

    def is_of(self, parts: Parts) -> bool:
        """Whether it is of what consists of these parts, still: defaults and code can be set."""
        return self.parts == parts and _parts(self.of) == parts


def _table_of(f: Any) -> Table:
    """What is kept on a function itself, or for callables that consist of the same."""
    parts, has_own = _parts(f), isinstance(f, FunctionType | Compiled)
    table: Any = f.__dict__.get(_KEPT) if has_own else None
    if table is not None and table.is_of(parts):  # functools.wraps copies it to other functions
        return table
    is_alone = has_own and (isinstance(f, Compiled) or f.__dict__.keys() - {_KEPT})  # others have not its attributes
    place = list[Table]() if is_alone else _family(parts[0])(parts)
    if not place or not place[0].is_of(parts):
        place[:] = [Table(f, parts)]
    if has_own:
        f.__dict__[_KEPT] = place[0]
        _with_tables.add(f)
    return place[0]


def _parts(f: Any) -> Parts:
    """What a callable consists of: those that consist of the same do the same. First what those have in common that one
    line makes again and again."""
    return tuple(map(_Same, _things_of(f)))


def _things_of(f: Any) -> Iterator[Any]:
    if isinstance(f, FunctionType):
        yield from (f.__code__, f.__globals__, f.__name__, *(f.__closure__ or ()), len(f.__defaults__ or ()))
        yield from (*(f.__defaults__ or ()), *_flat(f.__kwdefaults__ or {}))
    elif isinstance(f, MethodType):
        yield from (f.__func__, f.__self__)
    elif type(f) is functools.partial:
        yield from (*_things_of(f.func), len(f.args), *f.args, *_flat(f.keywords))
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
def _family(common: _Same) -> Callable[[Parts], list[Table]]:
    """The place for the table of a member of a family, given its parts."""

    @lru_cache(maxsize=MEMBERS)
    def place(parts: Parts) -> list[Table]:
        return []

    return place
