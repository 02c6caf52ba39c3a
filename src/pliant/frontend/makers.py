"""Makers of arrays whose extents must be known while tracing: windows, triangles, frequencies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pliant.frontend.array import TracedArray, fresh_concrete
from pliant.frontend.kinds import is_sequence


def integer(x: Any) -> Any:
    """The integer that a traced number is, which has to be known."""
    return x.__index__() if type(x) is TracedArray else x


def of_known_extents(make: Callable[..., Any]) -> Callable[..., Any]:
    """A maker like np.hanning or np.tril_indices, whose arguments are extents."""

    def made(*args: Any, **options: Any) -> Any:
        arrays = make(*map(integer, args), **{name: integer(x) for name, x in options.items()})
        return tuple([fresh_concrete(a) for a in arrays]) if is_sequence(arrays) else fresh_concrete(arrays)

    return made


def frequencies(make: Callable[..., Any]) -> Callable[..., Any]:
    """np.fft.fftfreq and its like: the spacing may be traced, whatever NumPy's own code makes of it."""

    def made(n: Any, *args: Any, **options: Any) -> Any:
        array = make(integer(n), *args, **options)
        return array if type(array) is TracedArray else fresh_concrete(array)

    return made


MAKERS: Final[dict[Any, Callable[..., Any]]] = {
    **{
        make: of_known_extents(make)
        for make in (np.hanning, np.hamming, np.tril_indices, np.triu_indices, np.diag_indices)
    },
    **{make: frequencies(make) for make in (np.fft.fftfreq, np.fft.rfftfreq)},
}
