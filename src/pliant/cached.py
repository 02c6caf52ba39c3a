"""Transformed functions that are kept with what they are of, so that a second call finds them compiled."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import lru_cache
from types import FunctionType, MethodType
from typing import Any, cast, final

from pliant.callables import function_of
from pliant.compiled import Compiled
from pliant.core.data import frozen
from pliant.frontend.tracing import is_tracing

_KEPT = "__pliant__"


def cached(
    transformed: Callable[..., Any], f: Callable[..., Any], kind: Any, plain: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """A compiled transformation of `f`, kept on f so that a second call finds it. plain: of `Compiled`; else f."""
    function_of(f)
    if is_tracing():
        return transformed
    table = _table_of(f) if isinstance(f, FunctionType) else _table_of_object(*map(_Same, _owners(f)))
    if kind not in table:
        table[kind] = Compiled(transformed, original=f, plain=plain or f)
    return table[kind]


def _table_of(f: FunctionType) -> dict[Any, Compiled]:
    """What is kept on a function itself."""
    owner, table = cast("tuple[Any, dict[Any, Compiled]]", f.__dict__.get(_KEPT, (None, {})))
    if owner is None or owner() is not f:  # functools.wraps copies the attribute to other functions
        table = dict[Any, Compiled]()
        f.__dict__[_KEPT] = (weakref.ref(f), table)
    return table


@final
@frozen
class _Same:
    """An object as a key: that very one."""

    thing: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.thing is other.thing

    def __hash__(self) -> int:
        return id(self.thing)


@lru_cache(maxsize=64)
def _table_of_object(*owners: _Same) -> dict[Any, Compiled]:
    """What is kept for the latest callables that are no functions: NumPy's own, methods, objects."""
    return {}


def _owners(f: Any) -> tuple[Any, ...]:
    """What a callable is made of: `x.f` is a new object at each call."""
    return (f.__self__, f.__func__) if isinstance(f, MethodType) else (f,)
