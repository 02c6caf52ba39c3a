"""`eval` and `exec` inside a traced function: the names of a text are looked up where the function looks up its own."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, MutableMapping
from typing import Any, final

from pliant.frontend.globals import TracedGlobals


@final
class Names(MutableMapping[str, Any]):
    """Local names, and where there are none, global ones as a traced function sees them: code that is no function's
    looks these up in the dict itself, which is empty."""

    def __init__(self, local: Any, outer: TracedGlobals) -> None:
        self.local, self.outer = local, outer

    def __getitem__(self, name: str) -> Any:
        try:
            return self.local[name]
        except KeyError:
            return self.outer[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.local[name] = value

    def __delitem__(self, name: str) -> None:
        del self.local[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.local)

    def __len__(self) -> int:
        return len(self.local)


def evaluated(fn: Any, own: Any, local: Any, /, *args: Any, **options: Any) -> Any:
    """`fn(...)` of what is called `eval` or `exec`. own, local: the names where it is called."""
    if fn is not builtins.eval and fn is not builtins.exec:
        return fn(*args, **options)
    source, *places = args
    given = {**dict(zip(("globals", "locals"), places, strict=False)), **options}
    outer, inner = given.pop("globals", None), given.pop("locals", None)
    if inner is None:
        inner = local if outer is None else outer
    outer = own if outer is None else outer
    if type(outer) is TracedGlobals and inner is not outer:
        inner = Names(inner, outer)
    return fn(source, outer, inner, **given)
