"""What a draw of random numbers is given: looked at while tracing."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.core.origin import here
from pliant.errors import UnsupportedError
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.bounded import Bounded
from pliant.frontend.convert import as_traced
from pliant.frontend.ranges import is_open
from pliant.ops import bits


def shape_of(size: Any, parameters: Sequence[Any]) -> tuple[Any, ...] | None:
    """The shape of a result; None for one number. The first extent may be known only at run time, if the parameters are
    numbers. ValueError if they are of another shape."""
    given = np.broadcast_shapes(*[np.shape(p) for p in parameters])
    if size is None:
        return given or None
    if not given and any(map(is_open, _extents(size)[:1])):
        return _extents(size)
    shape = sizes(size)
    if np.broadcast_shapes(shape, given) != shape:
        raise ValueError(f"Output size {shape} is not compatible with broadcast dimensions of inputs {given}.")
    return shape


def _extents(size: Any) -> tuple[Any, ...]:
    """What is asked for as a shape: all known but the first extent, which may be a traced integer."""
    given = (*size,) if np.iterable(size) else (size,)
    whole = [n for n in given[:1] if type(n) is TracedArray and not n.shape and n.type.kind in "iu"]
    return (*whole, *map(operator.index, given[len(whole) :]))


def sizes(size: Any) -> tuple[int, ...]:
    """The shape that is asked for, which has to be known; none of one number."""
    return tuple([operator.index(n) for n in (size if np.iterable(size) else () if size is None else (size,))])


def count_in(size: Any) -> int:
    """How many numbers a result holds, which has to be known."""
    return math.prod(sizes(size))


def number_in(size: Any) -> Any:
    """How many numbers a result holds, which may be known only at run time."""
    return math.prod(shape_of(size, ()) or ())


def row_of(made: Any) -> Any:
    """The elements of an array in a row, with those beyond what is known only at run time."""
    return (made.whole if isinstance(made, Bounded) else made).reshape(-1)


def high_product(x: Any, y: Any) -> Any:
    """The upper half of a product of words."""
    made = fresh(bits.high_product(as_traced(x).value, as_traced(y).value), is_array=False)
    return TracedArray(made.storage, is_scalar=True)


def long_only() -> UnsupportedError:
    """The error of numbers of 32 bits that are drawn of 64 here."""
    return UnsupportedError(
        "exponential and gamma numbers of 32 bits are not drawn at run time", hint="draw them of 64 bits"
    ).at(("here", here()))


def of_one_only() -> UnsupportedError:
    """The error of several multinomial distributions."""
    message = "multinomial numbers of several distributions are not drawn at run time"
    return UnsupportedError(message, hint="draw those of one after the other").at(("here", here()))


def unchecked() -> UnsupportedError:
    """The error of a covariance that is to be looked at."""
    message = "check_valid= and tol= of multivariate_normal are not looked at, at run time"
    return UnsupportedError(message, hint='leave them out, or check_valid="ignore"').at(("here", here()))


def is_known(x: Any) -> bool:
    """Whether a whole number is Python's own, of any size."""
    return type(x) is int


def bounds_of(name: str, low: Any, last: Any, dtype: Any) -> tuple[Any, ...]:
    """The least and the greatest of whole numbers as the program holds them, and those that a dtype has, as far as it
    has to be asked. ValueError for known ones that the dtype does not have; TypeError for other dtypes."""
    kind = np.dtype(dtype)
    if kind.kind not in "iub":
        raise TypeError(f"Unsupported dtype {kind!r} for {name}")
    least, most = (0, 1) if kind.kind == "b" else (int(np.iinfo(kind).min), int(np.iinfo(kind).max))
    if type(low) is int and low < least:
        raise ValueError(f"low is out of bounds for {kind.name}")
    if type(last) is int and last > most:
        raise ValueError(f"high is out of bounds for {kind.name}")
    held = [np.uint64(x) if type(x) is int and x >= 2**63 else x for x in (low, last)]
    return (*held, least, min(most, 2**63 - 1) if kind != np.uint64 else np.uint64(most))


def is_short(dtype: Any) -> bool:
    """Whether numbers of 32 bits are asked for. TypeError for other than those and 64."""
    kind = np.dtype(dtype)
    if kind not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise TypeError(f"Unsupported dtype {kind!r}")
    return kind == np.float32
