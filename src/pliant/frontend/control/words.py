"""What messages call what a name is bound to."""

from __future__ import annotations

from typing import Any, Final, cast

import numpy as np

from pliant.frontend.array import TracedArray
from pliant.frontend.bounded import Bounded
from pliant.frontend.control.fronts import Front, has_front
from pliant.frontend.convert import as_traced

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
    return repr(x) if isinstance(x, _LITERALS) else kind.__name__
