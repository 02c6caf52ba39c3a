"""How many numbers a draw makes: looked at while tracing."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.core.origin import here
from pliant.errors import UnsupportedError


def shape_of(size: Any, parameters: Sequence[Any]) -> tuple[int, ...] | None:
    """The shape of a result; None for one number. ValueError if the parameters are of another shape."""
    given = np.broadcast_shapes(*[np.shape(p) for p in parameters])
    if size is None:
        return given or None
    shape = tuple([operator.index(n) for n in (size if np.iterable(size) else (size,))])
    if np.broadcast_shapes(shape, given) != shape:
        raise ValueError(f"Output size {shape} is not compatible with broadcast dimensions of inputs {given}.")
    return shape


def count_in(size: Any) -> int:
    """How many numbers a result holds."""
    return math.prod(shape_of(size, ()) or ())


def long_only() -> UnsupportedError:
    """The error of numbers of 32 bits that are drawn of 64 here."""
    return UnsupportedError(
        "exponential and gamma numbers of 32 bits are not drawn at run time", hint="draw them of 64 bits"
    ).at(("here", here()))


def unseeded() -> UnsupportedError:
    """The error of a state that is to begin anew anywhere."""
    return UnsupportedError("np.random.seed() is not called at run time", hint="give it a number").at(("here", here()))


def is_short(dtype: Any) -> bool:
    """Whether numbers of 32 bits are asked for. TypeError for other than those and 64."""
    kind = np.dtype(dtype)
    if kind not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise TypeError(f"Unsupported dtype {kind!r}")
    return kind == np.float32
