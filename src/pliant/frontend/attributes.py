"""What an object has, in its `__dict__` and in its slots."""

from __future__ import annotations

import types
from functools import cache
from typing import Any, Final, cast

HELD: Final = "__pliant_attributes__"
"""What a class has that tells itself which attributes its objects have."""


@cache
def slots_of(kind: Any) -> frozenset[str]:
    """The attributes that objects of a class have outside of a `__dict__`."""
    if (told := kind.__dict__.get(HELD)) is not None:
        return frozenset(told)
    classes: list[Any] = [c for c in kind.__mro__ if "__slots__" in c.__dict__]
    held = [(str(n), c.__dict__[n]) for c in classes for n in c.__dict__]
    return frozenset([n for n, d in held if isinstance(d, types.MemberDescriptorType)])


def attributes(x: Any) -> dict[str, Any]:
    """The attributes of an object; what is written to this dict may not reach it."""
    held: dict[str, Any] = dict(x.__dict__) if isinstance(x, type) else getattr(x, "__dict__", {})
    names = slots_of(cast("Any", type(x)))
    return {n: getattr(x, n) for n in sorted(names) if hasattr(x, n)} | held if names else held


def put_attribute(x: Any, name: str, content: Any) -> None:
    """Set an attribute, whatever the class says to that."""
    if isinstance(x, type):
        type.__setattr__(x, name, content)
    elif name in slots_of(cast("Any", type(x))):
        object.__setattr__(x, name, content)
    else:
        x.__dict__[name] = content


def drop_attribute(x: Any, name: str) -> None:
    """Take an attribute away, if there is one."""
    if isinstance(x, type):
        if name in x.__dict__:
            type.__delattr__(x, name)
    elif name not in slots_of(cast("Any", type(x))):
        x.__dict__.pop(name, None)
    elif hasattr(x, name):
        object.__delattr__(x, name)


def put_attributes(x: Any, parts: dict[str, Any]) -> None:
    """Have an object have these attributes, and no others."""
    for name in attributes(x).keys() - parts.keys():
        drop_attribute(x, name)
    for name, content in parts.items():
        put_attribute(x, name, content)
