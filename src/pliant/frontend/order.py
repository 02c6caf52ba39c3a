"""How NumPy lays out what a function makes of arrays that are not row-major: asked of NumPy, when it matters.

It matters where a reshape is a view or a copy, and so for few arrays. Then the function is called
on arrays of the same layouts with other content.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, Final, cast, final

import numpy as np
from numpy.lib.stride_tricks import as_strided

from pliant.core.data import frozen
from pliant.frontend.array import TracedArray, weak_kind
from pliant.frontend.kinds import is_sequence
from pliant.frontend.tracing import Storage, strides_of

LARGEST: Final = 1 << 20  # elements of arrays that NumPy is asked about

UNSURE: Final = (None,)
"""Strides of a storage that NumPy might lay out in another order."""

Layout = tuple[tuple[int, ...], tuple[int, ...]]  # shape and strides, in elements


@final
@frozen(eq=False)
class Later:
    """Strides that NumPy is asked for when they are needed: of result `number` of a call."""

    layout: Callable[[TracedArray], Layout | None]
    call: Callable[..., Any]
    args: Sequence[Any]
    kwargs: dict[str, Any] = field(default_factory=dict[str, Any])
    number: int | None = None

    def strides(self) -> tuple[Any, ...] | None:
        """The strides in elements, None if row-major; UNSURE if they cannot be found out."""
        try:
            args = [self.like(a) for a in self.args]
            kwargs = {k: self.like(v) for k, v in self.kwargs.items()}
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                made = self.call(*args, **kwargs)
        except (_UnknownError, ValueError, TypeError, ArithmeticError, IndexError):  # other content might do
            return UNSURE
        array = made if self.number is None else made[self.number]
        return strides_of(array) if isinstance(array, np.ndarray) else UNSURE

    def like(self, x: Any) -> Any:
        """What NumPy gets for an argument: an array of the same layout in place of a traced one."""
        if is_sequence(x) and not hasattr(x, "_fields"):
            return cast("Any", type(x))([self.like(y) for y in x])
        if type(x) is not TracedArray:
            return x
        if x.is_weak or x.is_scalar:
            number = 1 if x.concrete is None else x.concrete[()]
            return weak_kind(x)(number) if x.is_weak else x.dtype.type(number)
        found = self.layout(x)
        if found is None or x.size > LARGEST:
            raise _UnknownError
        return _array(x.dtype, *found, x.concrete)


class _UnknownError(Exception):
    """The layout of an operand is not known."""


def _array(dtype: np.dtype[Any], shape: tuple[int, ...], strides: tuple[int, ...], content: Any) -> Any:
    """An array of a layout: if its content is not known zeros for whole numbers, which may be places, else ones, and
    regular matrices."""
    ends = [s * (n - 1) for s, n in zip(strides, shape, strict=True) if n]
    low, high = sum(min(e, 0) for e in ends), sum(max(e, 0) for e in ends)
    memory = (np.zeros if dtype.kind in "iu" else np.ones)(high - low + 1, dtype)
    made = as_strided(memory[-low:], shape, [s * dtype.itemsize for s in strides])
    if content is not None:
        made[...] = content
    elif dtype.kind in "fc" and len(shape) > 1 and shape[-1] == shape[-2] and 0 not in strides:
        np.einsum("...ii->...i", made)[...] = shape[-1] + 1
    made.flags.writeable = False
    return made


def settle(storage: Storage) -> None:
    """Find out the strides of a storage, if that was left for later."""
    if isinstance(storage.strides, Later):
        storage.strides = storage.strides.strides()
