"""Keywords of ufuncs over vectors and matrices that name their axes: `axes=`, `axis=`, `keepdims=`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, cast

import numpy as np

from pliant.core.origin import here
from pliant.errors import ArgumentError, ShapeError
from pliant.frontend.array import TracedArray
from pliant.frontend.convert import as_traced
from pliant.frontend.kinds import as_tuple

KEYWORDS: Final = frozenset(("axes", "axis", "keepdims"))


def at_axes(
    ufunc: np.ufunc, args: Sequence[Any], product: Callable[..., TracedArray], *, axes: Any = None, axis: Any = None,
    keepdims: bool = False,
) -> TracedArray:  # fmt: skip
    """`ufunc(*args)` along these axes, where `product` is the ufunc along the last ones."""
    xs = [as_traced(a, f"an array for np.{ufunc.__name__}") for a in args]
    *cores, result = _cores(cast("str", ufunc.signature))
    if keepdims and (result or len(set(map(len, cores))) > 1):
        raise ArgumentError(
            f"np.{ufunc.__name__} does not support keepdims: its signature is {ufunc.signature}",
            hint="keepdims is for ufuncs whose results have no axes of their own, as np.vecdot",
        ).at(("here", here()))
    left_out = {n for core, x in zip(cores, xs, strict=True) if x.ndim < len(core) for n in core if n.endswith("?")}
    *counts, count = [len([n for n in core if n not in left_out]) for core in (*cores, result)]
    if keepdims:
        count = counts[0]
    given = _entries(ufunc, axes, axis, [*counts, count], has_own=bool(result))
    moved = [_moved(x, entry, -1) for x, entry in zip(xs, given, strict=False)]
    made = product(*moved)
    if keepdims:
        made = cast("TracedArray", made[(..., *(None,) * count)])
    return _moved(made, given[-1], 1)


@cache
def _cores(signature: str) -> list[tuple[str, ...]]:
    """The names of the last axes of operands and result: `(n),(n)->()` has n, n and none."""
    return [tuple(core.split(",")) if core else () for core in re.findall(r"\(([^)]*)\)", signature)]


def _entries(ufunc: np.ufunc, axes: Any, axis: Any, counts: list[int], *, has_own: bool) -> list[tuple[int, ...]]:
    """For each operand and the result the axes that are named, or the last ones."""
    if axis is not None:
        if axes is not None:
            raise ArgumentError("cannot specify both 'axis' and 'axes'").at(("here", here()))
        if has_own or set(counts[:-1]) != {1}:
            raise ArgumentError(
                f"np.{ufunc.__name__}: axis= names one axis, its signature is {ufunc.signature}",
                hint="axes= takes a tuple of axes for each operand and the result",
            ).at(("here", here()))
        axes = [axis] * (len(counts) - 1 + counts[-1])
    if axes is None:
        return [tuple(range(-n, 0)) for n in counts]
    if not isinstance(axes, list):
        raise ArgumentError("axes should be a list.").at(("here", here()))
    entries: list[tuple[int, ...]] = [as_tuple(e) for e in cast("list[Any]", axes)]
    if len(entries) == len(counts) - 1 and not has_own:
        entries.append(tuple(range(-counts[-1], 0)))
    if len(entries) != len(counts):
        raise ShapeError(
            f"axes should be a list with an entry for all {len(counts)} inputs and outputs; entries for outputs can "
            "only be omitted if none of them has core axes."
        ).at(("here", here()))
    for n, (entry, wanted) in enumerate(zip(entries, counts, strict=True)):
        if len(entry) != wanted:
            raise ShapeError(f"np.{ufunc.__name__}: axes[{n}] should name {wanted} axes, got {entry}").at(
                ("here", here())
            )
    return entries


def _moved(x: TracedArray, axes: tuple[int, ...], way: int) -> TracedArray:
    """These axes at the end, or for `way` 1 the last ones at these places."""
    last = tuple(range(-len(axes), 0))
    return cast("Any", np.moveaxis)(x, *((axes, last) if way < 0 else (last, axes))) if axes and axes != last else x
