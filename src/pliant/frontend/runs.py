"""Slices whose bounds are known only at run time, as positions along an axis."""

from __future__ import annotations

from typing import final

from pliant.core.data import frozen
from pliant.core.origin import here
from pliant.errors import UnsupportedError
from pliant.frontend.sizes import Size, divided, larger, size_of, smaller, wrapped


@final
@frozen
class Run:
    """Positions start, start + step, …, `count` of them, along one axis."""

    start: Size
    count: Size
    step: int = 1


def run_of(key: slice, n: Size) -> Run:
    """The positions that a slice names on an axis of extent n, as Python counts them."""
    stride = Size(1) if key.step is None else size_of(key.step)
    step = stride.known
    if not step:
        error = UnsupportedError("the step of a slice is known only at run time", hint="use a mask")
        raise error.at(("here", here())).needing(*stride.atoms)
    given = [None if p is None else size_of(p) for p in (key.start, key.stop)]
    window = _window(given, n, step)
    if window is not None:
        return window
    least, most = (Size(0), n) if step > 0 else (Size(-1), n - 1)
    start, stop = (None if p is None else smaller(larger(wrapped(p, n), least), most) for p in given)
    if start is None:
        start = least if step > 0 else most
    if stop is None:
        stop = most if step > 0 else least
    away = stop - start if step > 0 else start - stop
    return Run(start, larger(divided(away + (abs(step) - 1), abs(step)), Size(0)), step)


def _window(given: list[Size | None], n: Size, step: int) -> Run | None:
    """`x[k:k+m]` with a known m > 0 has m elements: that they all exist is checked at run time. None if it is known
    that they do not at some step of a loop, where the slice is shorter."""
    start, stop = given
    if start is None or stop is None or n.known is None or not start.terms:
        return None
    m = (stop - start).known
    if step != 1 or m is None or not 0 < m <= n.known or _leaves(start, m, n.known):
        return None
    return Run(start + n if (start * -1).is_at_least(1) and (stop * -1).is_at_least(0) else start, Size(m))


def _leaves(start: Size, m: int, n: int) -> bool:
    """Whether m elements from a start that indices of loops make lie outside of n at some step."""
    low, high = start.range
    return (low is not None and low < 0 <= (high or 0)) or (high is not None and high + m > n)


def bound_of(size: Size, limit: int) -> int:
    """The greatest number a size can be, at most `limit`."""
    high = size.range[1]
    return limit if high is None else max(min(high, limit), 0)
