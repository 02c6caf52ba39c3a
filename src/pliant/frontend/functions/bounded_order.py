"""Order in arrays whose extents are known only at run time: beyond them stands what comes last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pliant.frontend.bounded import Bounded, bounded, extents_of, filled, whole_of
from pliant.frontend.convert import as_traced
from pliant.frontend.functions.common import unsupported, xp
from pliant.frontend.sizes import Size, traced
from pliant.ops.folds import start_of


def searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
    """np.searchsorted, in the elements there are."""
    if sorter is not None:
        raise unsupported("np.searchsorted: sorter= beside extents known only at run time", "use a[sorter]")
    found = xp.searchsorted(filled(a, _last(whole_of(a).type.dtype)), whole_of(v), side)
    count = extents_of(a)[0] if isinstance(a, Bounded) else None
    if isinstance(count, Size):
        found = xp.minimum(found, as_traced(traced(count)))
    return bounded(found, extents_of(v))


def _last(dtype: str) -> Any:
    """What comes after all numbers in NumPy's order."""
    if dtype == "bool":
        return True
    return start_of("min", dtype) if dtype[0] in "iu" else np.nan


FUNCTIONS: Final[dict[Any, Callable[..., Any]]] = {np.searchsorted: searchsorted}
METHODS: Final[dict[str, Callable[..., Any]]] = {"searchsorted": searchsorted}
