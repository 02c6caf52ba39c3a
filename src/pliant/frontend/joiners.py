"""What makes arrays by what stands between brackets, as a traced function sees it: `np.r_` and `np.c_` of parts,
`np.mgrid` and `np.ogrid` of grids."""

from __future__ import annotations

from typing import Any, Final, final

import numpy as np

from pliant.core.origin import here
from pliant.core.types import DTYPES
from pliant.errors import UnsupportedError
from pliant.frontend.adopt import adopt, has_traced
from pliant.frontend.bounded import Bounded, whole_of
from pliant.frontend.convert import as_traced, result_dtype
from pliant.frontend.kinds import as_tuple, is_array
from pliant.frontend.selection import Selection, all_listed

xp: Any = np

FORMS: Final = {id(np.r_): (0, 1, -1), id(np.c_): (-1, 2, 0)}
"""Object → along which axis it joins, how many axes there are at least, and where the own axes of a part begin."""


@final
class Joiner:
    """`np.r_` or `np.c_`."""

    __slots__ = ("numpys",)

    def __init__(self, numpys: Any) -> None:
        self.numpys = numpys

    def __getitem__(self, key: Any) -> Any:
        items: list[Any] = list(as_tuple(key)) if isinstance(key, tuple) else [key]
        if not has_traced(items) and not any(type(k) in (Bounded, Selection) or is_array(k) for k in items):
            return adopt(self.numpys[key])
        axis, rank, first = FORMS[id(self.numpys)]
        if isinstance(items[0], str):
            axis, rank, first = _form(items.pop(0), rank)
        parts = [_part(self.numpys[k] if isinstance(k, slice) else k) for k in items]
        dtype = np.dtype(DTYPES[result_dtype(*map(whole_of, parts))])
        return xp.concatenate([_placed(p.astype(dtype), rank, first) for p in parts], axis)


@final
class Grids:
    """`np.mgrid` or `np.ogrid`."""

    __slots__ = ("numpys",)

    def __init__(self, numpys: Any) -> None:
        self.numpys = numpys

    def __getitem__(self, key: Any) -> Any:
        return adopt(self.numpys[key])


def joiner_of(value: Any) -> Joiner | Grids | None:
    """What a traced function sees for such an object; None for anything else."""
    if value is np.mgrid or value is np.ogrid:
        return Grids(value)
    return Joiner(value) if id(value) in FORMS else None


def _form(text: str, rank: int) -> tuple[int, int, int]:
    """What the text in `np.r_["axis, axes, first", …]` says."""
    try:
        given = [int(part) for part in text.split(",")]
        axis, least, first = (*given, *(rank, -1)[len(given) - 1 :])
    except ValueError:
        raise UnsupportedError(f"np.r_[{text!r}, …] is not supported", hint="use np.concatenate").at(
            ("here", here())
        ) from None
    return axis, least, first


def _part(x: Any) -> Any:
    """An array of those that are joined, whether its extents are known or not."""
    return x if type(x) is Bounded else all_listed(x) if type(x) is Selection else as_traced(x)


def _placed(x: Any, rank: int, first: int) -> Any:
    """A part with at least `rank` axes, its own from number `first` on, or at the end for -1."""
    more = rank - x.ndim
    if more <= 0:
        return x
    begin = first if first >= 0 else first + more + 1
    return x[(*(None,) * begin, *(slice(None),) * x.ndim, *(None,) * (more - begin))]
