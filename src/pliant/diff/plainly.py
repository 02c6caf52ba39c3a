"""Whether the arguments of a call plainly are like those that a preparation was made for: a look that costs little.

A kind is what an argument is compared with: (class, dtype, shape) of an array, (class, None, None) of a number, and
(class, check, None) of containers and of what is part of the program.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, cast

from pliant.diff.contexts import Active, Cache, Constant
from pliant.diff.system import kind
from pliant.frontend.attributes import attributes
from pliant.frontend.records import is_record

Kind = tuple[Any, Any, Any]
Role = tuple[Any, Any, Any, Any]  # the class of a context, or None for x, and the kind of its value


def kind_of(x: Any) -> Kind | None:
    """The kind of an argument; None if only a closer look can compare it."""
    if hasattr(x, "dtype") or x is None or x.__class__ in (int, float, complex):
        return kind(x)
    made: Any = x.__class__
    if made in (bool, str):
        return made, partial(operator.eq, x), None
    if made is dict:
        names = tuple(x)
        return _container(made, x.values(), lambda a: [a[k] for k in names] if [*a] == [*names] else ())
    if made in (tuple, list) or (isinstance(x, tuple) and hasattr(made, "_fields")):
        return _container(made, cast("Any", x), lambda a: a)
    if is_record(made):
        names = tuple(attributes(x))
        return _container(made, attributes(x).values(), lambda a: _attributes(a, names))
    return None


def _attributes(x: Any, names: tuple[str, ...]) -> Sequence[Any]:
    held = attributes(x)
    return [*held.values()] if tuple(held) == names else ()


def _container(made: Any, parts: Iterable[Any], parts_of: Callable[[Any], Sequence[Any]]) -> Kind | None:
    kinds = [kind_of(part) for part in parts]
    if not kinds or None in kinds:
        return None
    known = cast("list[Kind]", kinds)

    def check(a: Any) -> bool:
        return are_of(parts_of(a), known)

    return made, check, None


def are_of(xs: Sequence[Any], kinds: Sequence[Kind]) -> bool:
    """Whether arguments plainly are of these kinds: false also where a closer look would find that they are."""
    if len(xs) != len(kinds):
        return False
    for x, (type_, of, shape) in zip(xs, kinds, strict=True):
        if x.__class__ is not type_:
            return False
        if shape is not None:
            if x.dtype != of or x.shape != shape:
                return False
        elif of is not None and not of(x):
            return False
    return True


def roles_of(x: Any, contexts: Sequence[Any]) -> list[Role]:
    """What `Prep.quick` compares x and contexts with; nothing if only a closer look can."""
    made: list[Role] = []
    for role, a in ((None, x), *[(c.__class__, c) for c in contexts]):
        if role not in (None, Constant, Active, Cache):
            return []
        found = kind_of(a if role is None else a.value)
        if found is None:
            return []
        made.append((role, *found))
    return made
