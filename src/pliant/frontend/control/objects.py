"""Trees of what names are bound to, in which frozen dataclasses are taken apart too.

state = State(0.0, v)           a step that binds `state` anew carries the fields: whether two names are bound
for x in xs:                    to one object or to equal ones does not matter, as nobody can write to them
    state = State(state.s + x, state.v)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, cast, final

from pliant.core.frozen import frozen
from pliant.frontend import signature


@final
@frozen
class Parts:
    """A frozen dataclass: the structure of its fields, as a tuple, and how many leaves they have."""

    kind: Any
    names: tuple[str, ...]
    structure: Any
    count: int

    def made(self, leaves: Any) -> Any:
        """An object with these leaves; it is not initialised, as what it is made of was."""
        x = object.__new__(self.kind)
        for name, content in zip(self.names, unflatten(self.structure, leaves), strict=True):
            object.__setattr__(x, name, content)
        return x


@final
@frozen
class Structure:
    """That of a tree with objects: of the tree around them, and of each; None for other leaves."""

    outer: Any
    parts: tuple[Parts | None, ...]

    def is_leaf(self) -> bool:
        """Whether the tree is one leaf."""
        return False


def flatten(tree: Any) -> tuple[list[Any], Any]:
    """The leaves of a tree, and its structure."""
    leaves, outer = signature.flatten(tree)
    if not any([_is_object(x) for x in leaves]):
        return leaves, outer
    parts: list[Parts | None] = []
    made: list[Any] = []
    for x in leaves:
        if not _is_object(x):
            made.append(x)
            parts.append(None)
            continue
        names = tuple([f.name for f in fields(x) if hasattr(x, f.name)])
        inner, structure = flatten(tuple([getattr(x, name) for name in names]))
        made += inner
        parts.append(Parts(cast("Any", type(x)), names, structure, len(inner)))
    return made, Structure(outer, tuple(parts))


def unflatten(structure: Any, leaves: Any) -> Any:
    """The inverse of `flatten`."""
    if not isinstance(structure, Structure):
        return signature.unflatten(structure, leaves)
    rest = iter(leaves)
    return signature.unflatten(structure.outer, [_taken(part, rest) for part in structure.parts])


def _taken(part: Parts | None, rest: Iterator[Any]) -> Any:
    return next(rest) if part is None else part.made([next(rest) for _ in range(part.count)])


def _is_object(x: Any) -> bool:
    """Whether something is a frozen dataclass that nothing but its fields makes up."""
    kind = cast("Any", type(x))
    params = getattr(kind, "__dataclass_params__", None)
    if params is None or not params.frozen:
        return False
    is_own = kind.__setattr__.__qualname__ == f"{kind.__qualname__}.__setattr__"  # else it may have other attributes
    return is_own and not kind.__module__.startswith("pliant.")
