"""Objects that hold arrays, as containers: arguments and results may be such, and hold such.

@dataclass
class Line:                 a `Line` that is given has the leaves `slope` and `offset`; the function gets, and may
    slope: np.ndarray       return, one of traced numbers, and what it sets is set of the caller's
    offset: float
                            an object that has a hash, and holds no array and no float, is a static value, as any other

Objects of other classes are static values until they are found to change; see `opened`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, partial
from types import SimpleNamespace
from typing import Any, Final, cast

import numpy as np
import optree

from pliant.frontend.array import TracedArray
from pliant.frontend.attributes import attributes, put_attribute
from pliant.frontend.reference import NAMESPACE
from pliant.frontend.whose import LIBRARIES

NUMBERS: Final = (TracedArray, np.ndarray, float, complex, np.inexact)
"""What changes from call to call; integers of what has a hash say how often or how large more often than how much."""
register: Final = cast("Any", optree).register_pytree_node


def is_record(kind: Any) -> bool:
    """Whether objects of a class are containers."""
    return (is_users(kind) or kind in OPENED) and register.get(kind, namespace=NAMESPACE) is not None


@cache
def is_users(kind: Any) -> bool:
    """Whether a class is a dataclass of the user's, or that of objects which are no more than their attributes."""
    return kind is SimpleNamespace or (
        hasattr(kind, "__dataclass_fields__") and kind.__module__.partition(".")[0] not in LIBRARIES
    )


def found_in(leaves: Iterable[Any]) -> bool:
    """Whether there are dataclasses with arrays or floats among leaves: their classes are containers from now on."""
    kinds = {kind for x in leaves if is_users(kind := cast("Any", type(x))) and _holds_numbers(x)}
    for kind in kinds:
        take_apart(kind)
    return bool(kinds)


def _holds_numbers(x: Any) -> bool:
    """Whether an object holds arrays or floats, or what has no hash, and so may hold them."""
    kind = cast("Any", type(x))
    parts: list[Any] = optree.tree_leaves(cast("Any", [*attributes(x).values()]), namespace=NAMESPACE)
    if kind.__hash__ is None or any([_is_number(part) or _is_other(part) for part in parts]):
        return True
    try:
        hash(x)
    except TypeError:
        return True
    return False


def _is_number(x: Any) -> bool:
    """Whether a part is a float or an array, of another library too."""
    return isinstance(x, NUMBERS) or hasattr(cast("Any", type(x)), "__dlpack__")


def _is_other(x: Any) -> bool:
    return is_users(cast("Any", type(x))) and _holds_numbers(x)


OPENED: Final[set[Any]] = set()
"""Classes of which objects are taken apart that are no dataclasses."""


def take_apart(kind: Any) -> None:
    """Have objects of a class be taken apart, and put together without its `__init__`."""

    def apart(x: Any) -> tuple[tuple[Any, ...], tuple[str, ...], tuple[str, ...]]:
        held = attributes(x)
        return tuple(held.values()), tuple(held), tuple(held)

    if register.get(kind, namespace=NAMESPACE) is None:
        register(kind, apart, partial(together, kind), namespace=NAMESPACE)


def together(kind: Any, names: Iterable[str], parts: Iterable[Any]) -> Any:
    """An object of a class with these attributes, made without its `__init__`."""
    made = (kind if kind is SimpleNamespace else object).__new__(kind)
    for name, part in zip(names, parts, strict=True):
        put_attribute(made, name, part)
    return made
