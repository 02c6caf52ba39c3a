"""Keys with bounds known only at run time: which block of an array they name, and the view of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, cast, final

from pliant.core.data import frozen
from pliant.core.origin import here
from pliant.errors import IndexRangeError, UnsupportedError
from pliant.frontend.array import TracedArray
from pliant.frontend.kinds import as_tuple, is_sequence
from pliant.frontend.runs import Run, bound_of, run_of
from pliant.frontend.sizes import Size, inside, size_of, taken_apart, wrapped
from pliant.frontend.view import BlockLens, DynamicLens, Lens, ReshapeLens

Extent: TypeAlias = "int | Size"  # of one axis: a number, or known only at run time


@final
@frozen
class Part:
    """A view through a key: its array, of the greatest lengths, and the extents it has."""

    whole: TracedArray
    extents: tuple[Extent, ...]

    @property
    def is_bounded(self) -> bool:
        """Whether some extent is known only at run time."""
        return any(isinstance(n, Size) for n in self.extents)


def has_traced_bound(key: Any) -> bool:
    """Whether a slice in a key has a bound known only at run time."""
    items: tuple[Any, ...] = as_tuple(key) if isinstance(key, tuple) else (key,)
    return any([type(k) is slice and _is_traced(k) for k in items])


def _is_traced(key: slice) -> bool:
    bounds: tuple[Any, ...] = (key.start, key.stop, key.step)
    return any([isinstance(p, Size) or (type(p) is TracedArray and p.concrete is None) for p in bounds])


def part_of(x: TracedArray, extents: Sequence[Extent], key: Any) -> Part:
    """`x[key]` for integers, slices, Ellipsis and new axes, where x has these extents."""
    items = _expanded(key, len(extents))
    axes = [k for k in items if k is not None]
    runs = [_run(k, n, a) for a, (k, n) in enumerate(zip(axes, extents, strict=True))]
    bounds = [bound_of(r.count, m) for r, m in zip(runs, x.shape, strict=True)]
    kept = iter([(r.count, m) if isinstance(k, slice) else None for k, r, m in zip(axes, runs, bounds, strict=True)])
    final: list[tuple[Size, int]] = []
    for k in items:
        pair = (Size(1), 1) if k is None else next(kept)
        final += [pair] if pair else []
    lenses = _lenses(x, extents, runs, tuple(bounds))
    shape = tuple(m for _, m in final)
    lenses += (ReshapeLens(shape),) if shape != tuple(bounds) else ()
    counts = [n.known for n, _ in final]
    found = tuple(n if known is None else known for known, (n, _) in zip(counts, final, strict=True))
    return Part(TracedArray(x.storage, lenses), found)


def flipped(x: TracedArray, extents: Sequence[Extent], axes: Sequence[int]) -> Part:
    """A view with the order along some axes reversed."""
    return part_of(x, extents, tuple(slice(None, None, -1 if a in axes else 1) for a in range(len(extents))))


def _expanded(key: Any, rank: int) -> list[Any]:
    """The items of a key, one for each axis, and None for new ones."""
    items: list[Any] = [*as_tuple(key)] if isinstance(key, tuple) else [key]
    used = sum([k is not None and k is not Ellipsis for k in items])
    if used > rank:
        raise IndexRangeError(f"too many indices: the array has {rank} axes, the key has {used}").at(("here", here()))
    at = next((n for n, k in enumerate(items) if k is Ellipsis), len(items))
    items[at : at + 1] = [slice(None)] * (rank - used)
    return items


def _run(key: Any, extent: Extent, axis: int) -> Run:
    """The positions along one axis that an item of a key names."""
    n = size_of(extent)
    if isinstance(key, slice):
        return run_of(cast("slice", key), n)
    if isinstance(key, bool) or is_sequence(key) or getattr(key, "shape", ()):
        raise UnsupportedError(
            "an index array beside a slice whose bounds are known only at run time is not supported",
            hint="slice first, or write x[rows][:, :k] as two steps",
        ).at(("here", here()))
    i = size_of(key)
    if i.known is not None and n.known is not None and not -n.known <= i.known < n.known:
        raise IndexRangeError(f"index {i} is out of bounds for axis {axis} with size {n}").at(("here", here()))
    place = wrapped(i, n)
    return Run(inside(place, n) if isinstance(extent, Size) else place, Size(1))


def _is_whole(run: Run, extent: Extent) -> bool:
    return run == Run(Size(0), size_of(extent))


def _lenses(x: TracedArray, extents: Sequence[Extent], runs: Sequence[Run], shape: tuple[int, ...]) -> tuple[Lens, ...]:
    """The lenses of x, and then one for a block; two blocks in a row become one."""
    if all([_is_whole(r, n) for r, n in zip(runs, extents, strict=True)]):
        return x.lenses
    before, last = x.lenses[:-1], x.lenses[-1] if x.lenses else None
    if isinstance(last, BlockLens):
        outer = zip(map(taken_apart, last.starts), last.step, runs, strict=True)
        runs = [Run(start + run.start * step, run.count, step * run.step) for start, step, run in outer]
    else:
        before = x.lenses
    starts = tuple(r.start.value for r in runs)
    if all([r.step == 1 and r.count.known == m for r, m in zip(runs, shape, strict=True)]):
        return (*before, DynamicLens(starts, shape))
    counts = tuple(r.count.value for r in runs)
    return (*before, BlockLens(starts, counts, shape, tuple(r.step for r in runs)))
