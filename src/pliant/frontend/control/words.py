"""What messages call what a name is bound to."""

from __future__ import annotations

from enum import Enum
from typing import Any, Final, cast

import numpy as np

from pliant.frontend.array import TracedArray
from pliant.frontend.attributes import attributes
from pliant.frontend.bounded import Bounded
from pliant.frontend.control.fronts import Front, has_front
from pliant.frontend.convert import as_traced
from pliant.frontend.number import is_number

_LITERALS: Final[Any] = (type(None), bool, int, float, complex, str, bytes, slice, range)


def text_of(x: Any) -> str:
    """Arrays by their type, containers by what they hold, what Python has literals for as it is written."""
    if isinstance(x, TracedArray | np.ndarray):
        return str(as_traced(x).type)
    if isinstance(x, Bounded):
        return x.text
    if type(x) is Front or has_front(x):
        return "a list whose length is known only at run time"
    if isinstance(x, dict):
        return f"a dict of {', '.join(map(repr, cast('dict[Any, Any]', x))) or 'nothing'}"
    kind = cast("Any", type(x))
    if kind in (list, tuple):
        return f"a {kind.__name__} of {len(x)}"
    if isinstance(x, Enum):
        return str(x)
    return repr(x) if isinstance(x, _LITERALS) else kind.__name__


def difference(what: str, a: Any, b: Any) -> tuple[str, Any, Any]:
    """The first part in which two objects differ that are called the same, and what it is in each."""
    if text_of(a) == text_of(b):
        for name, x, y in _parts(a, b):
            found = difference(f"{what}{name}", x, y)
            if is_number(found[1]) and is_number(found[2]):  # which can be one of two
                continue
            if text_of(found[1]) != text_of(found[2]):
                return found
    return what, a, b


def _parts(a: Any, b: Any) -> list[tuple[str, Any, Any]]:
    if isinstance(a, dict):
        return [(f"[{k!r}]", x, b[k]) for k, x in cast("dict[Any, Any]", a).items()]
    if has_front(a) or has_front(b):
        return []
    if type(a) in (list, tuple):
        return [(f"[{n}]", x, y) for n, (x, y) in enumerate(zip(a, b, strict=True))]
    if isinstance(a, TracedArray | np.ndarray | Bounded | Enum):
        return []
    held = attributes(b)
    return [(f".{n}", x, held[n]) for n, x in attributes(a).items() if n in held]
