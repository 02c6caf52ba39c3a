"""Gathers and scatters of JAX: windows of an array, at places that are found at run time.

Each axis of the array that is indexed gets an index, of the shape of the places and of the windows' axes; axes that
windows hold whole, and that are not indexed, stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, final

from pliant.backends.from_jax.walk import Rule
from pliant.core.build import trace
from pliant.core.data import frozen
from pliant.core.ir import Value, const
from pliant.core.types import Type
from pliant.errors import UnsupportedError
from pliant.ops.bits import bitwise_and
from pliant.ops.compare import greater_equal, less_equal, maximum, minimum
from pliant.ops.elementwise import convert, mul
from pliant.ops.folds import start_of
from pliant.ops.index import gather as gathered
from pliant.ops.index import scatter_add, scatter_set
from pliant.ops.scatter_extremum import scatter_max, scatter_min
from pliant.ops.scatter_fold import scatter_fold
from pliant.ops.select import select
from pliant.ops.shape import Permute, broadcast, concatenate, iota, permute, reshape, slice_axis


@final
@frozen
class Windows:
    """Which windows of an array of `shape` a gather reads, or a scatter writes.

    sizes: of windows, one for each axis. gone: axes along which they have one element, and no axis; batches: those that
    go with an axis of the places. mapped: axes that the last axis of `starts` gives places for. mode: JAX's, for
    windows that do not lie in the array.
    """

    shape: tuple[int, ...]
    sizes: tuple[int, ...]
    gone: tuple[int, ...]
    mapped: tuple[int, ...]
    batches: tuple[int, ...]
    batches_of_starts: tuple[int, ...]
    mode: str

    @property
    def indexed(self) -> list[int]:
        """The axes of the array that get an index."""
        found = {*self.mapped, *self.batches, *self.gone}
        return [a for a, (n, m) in enumerate(zip(self.shape, self.sizes, strict=True)) if a in found or m != n]

    @property
    def whole(self) -> list[int]:
        """The others."""
        return [a for a in range(len(self.shape)) if a not in self.indexed]

    @property
    def inner(self) -> list[int]:
        """Axes of windows that are indexed."""
        return [a for a in self.indexed if a not in (*self.gone, *self.batches)]

    @property
    def order(self) -> list[int]:
        """The order of the array's axes in which those that are indexed come first."""
        return [*self.indexed, *self.whole]

    def places(self, starts: Value) -> tuple[list[Value], Value | None]:
        """An index for each indexed axis, and which windows lie in the array: None if all do, or may be taken to."""
        outer = starts.shape[:-1]
        shape = (*outer, *[self.sizes[a] for a in self.inner])
        first, valid = dict[int, Value](), None
        for k, axis in enumerate(self.mapped):
            start = convert(reshape(slice_axis(starts, len(outer), k, 1), outer), "i64")
            low, high = const(0, "i64"), const(self.shape[axis] - self.sizes[axis], "i64")
            if self.mode == "FILL_OR_DROP":
                is_inside = bitwise_and(greater_equal(start, low), less_equal(start, high))
                valid = is_inside if valid is None else bitwise_and(valid, is_inside)
            if self.mode in ("FILL_OR_DROP", "CLIP"):
                start = minimum(maximum(start, low), maximum(high, low))
            first[axis] = start
        for axis, along in zip(self.batches, self.batches_of_starts, strict=True):
            first[axis] = broadcast(iota(self.shape[axis]), outer, (along,))
        places, over = list[Value](), tuple(range(len(outer)))
        for axis in self.indexed:
            at = broadcast(first[axis], shape, over) if axis in first else broadcast(const(0, "i64"), shape, ())
            if axis in self.inner:
                at = at + broadcast(iota(self.sizes[axis]), shape, (len(outer) + self.inner.index(axis),))
            places.append(at)
        return places, valid

    def axes_of(self, rank: int, windows: Sequence[int]) -> list[int]:
        """Where the axes of what is gathered (places, windows' indexed axes, whole axes) are in JAX's order, in which
        windows have the axes `windows`, in the array's order."""
        own = [a for a in range(len(self.shape)) if a not in (*self.gone, *self.batches)]
        at = dict(zip(own, windows, strict=True))
        outer = [a for a in range(rank) if a not in windows]
        return [*outer, *[at[a] for a in self.inner], *[at[a] for a in self.whole]]


def gather(
    x: Value, starts: Value, *, dimension_numbers: Any, slice_sizes: Any, mode: Any, fill_value: Any,
    unique_indices: bool, **_: Any,
) -> Value:  # fmt: skip
    """Windows of x."""
    d = dimension_numbers
    windows = Windows(
        x.shape, tuple(slice_sizes), tuple(d.collapsed_slice_dims), tuple(d.start_index_map),
        tuple(d.operand_batching_dims), tuple(d.start_indices_batching_dims), _mode(mode, "CLIP"),
    )  # fmt: skip
    places, valid = windows.places(starts)
    made = gathered(permute(x, windows.order), *places) if places else permute(x, windows.order)
    axes = windows.axes_of(made.type.rank, tuple(d.offset_dims))
    if valid is not None:
        fill = _missing(x.dtype) if fill_value is None else const(fill_value, x.dtype)
        is_inside = broadcast(valid, made.shape, tuple(range(valid.type.rank)))
        made = select(is_inside, made, broadcast(fill, made.shape, ()))
    return permute(made, Permute(tuple(axes)).inverse())


def _mode(mode: Any, unsaid: str) -> str:
    """JAX's mode. unsaid: that of places which are promised to lie in the array, and may not."""
    name = str(getattr(mode, "name", mode)).rpartition(".")[2]
    return unsaid if name in ("PROMISE_IN_BOUNDS", "None") else name


def _missing(dtype: str) -> Value:
    """What JAX reads where there is nothing."""
    if dtype[0] in "fc":
        return const(float("nan"), dtype)
    if dtype == "bool":
        return const(True, dtype)
    return const(int(start_of("max" if dtype[0] == "i" else "min", dtype)), dtype)


Put = Callable[[Value, Sequence[Value], Value], Value]


def _scatter(put: Put, idle: Callable[[str], float | None]) -> Rule:
    """The rule of a scatter. idle: what leaves an element of some dtype as it is; None if nothing does."""

    def rule(x: Value, starts: Value, u: Value, *, dimension_numbers: Any, mode: Any, **_: Any) -> Value:
        d = dimension_numbers
        gone, batches = tuple(d.inserted_window_dims), tuple(d.operand_batching_dims)
        own = [a for a in range(x.type.rank) if a not in (*gone, *batches)]
        windowed: list[int] = [u.shape[a] for a in d.update_window_dims]
        sizes = dict(zip(own, windowed, strict=True))
        windows = Windows(
            x.shape, tuple([sizes.get(a, 1) for a in range(x.type.rank)]), gone,
            tuple(d.scatter_dims_to_operand_dims), batches, tuple(d.scatter_indices_batching_dims),
            _mode(mode, "FILL_OR_DROP"),
        )  # fmt: skip
        if any([m > n for m, n in zip(windows.sizes, x.shape, strict=True)]):
            return x
        places, valid = windows.places(starts)
        u = permute(u, tuple(windows.axes_of(u.type.rank, tuple(d.update_window_dims))))
        below = permute(x, windows.order)
        if not places:
            places, below = [const(0, "i64")], reshape(below, (1, *below.shape))
            return reshape(put(below, places, u), x.shape)
        made = put(below, places, u) if valid is None else _inside(put, idle(x.dtype), below, places, valid, u)
        return permute(made, Permute(tuple(windows.order)).inverse())

    return rule


def _inside(put: Put, idle: float | None, x: Value, places: list[Value], valid: Value, u: Value) -> Value:
    """x after the writes of the windows that lie in it: those of the others leave elements as they are, or go to a row
    more, which is left out."""
    if idle is not None:
        kept = broadcast(valid, u.shape, tuple(range(valid.type.rank)))
        return put(x, places, select(kept, u, broadcast(const(idle, u.dtype), u.shape, ())))
    n, kept = x.shape[0], broadcast(valid, places[0].shape, tuple(range(valid.type.rank)))
    spare = broadcast(const(0, x.dtype), (1, *x.shape[1:]), ())
    first = select(kept, places[0], broadcast(const(n, "i64"), places[0].shape, ()))
    return slice_axis(put(concatenate((x, spare), 0), [first, *places[1:]], u), 0, 0, n)


def _set(x: Value, places: Sequence[Value], u: Value) -> Value:
    return scatter_set(x, places, u)


def _added(x: Value, places: Sequence[Value], u: Value) -> Value:
    return scatter_add(x, places, u)


def _subtracted(x: Value, places: Sequence[Value], u: Value) -> Value:
    return scatter_add(x, places, -u)


def _multiplied(x: Value, places: Sequence[Value], u: Value) -> Value:
    return scatter_fold(x, places, u, trace(mul, Type(x.dtype), Type(x.dtype)))


def _greatest(x: Value, places: Sequence[Value], u: Value) -> Value:
    return scatter_max(x, places, u)


def _least(x: Value, places: Sequence[Value], u: Value) -> Value:
    return scatter_min(x, places, u)


def scatter_apply(*_: Value, **__: Any) -> Value:
    """A function applied to elements at places, which has no primitive."""
    raise UnsupportedError("from_jax: x.at[...].apply is not supported", hint="x.at[i].set(f(x[i])) says the same")


RULES: Final[dict[str, Rule]] = {
    "gather": gather,
    "scatter": _scatter(_set, lambda _: None),
    "scatter-add": _scatter(_added, lambda _: 0),
    "scatter_add": _scatter(_added, lambda _: 0),
    "scatter_sub": _scatter(_subtracted, lambda _: 0),
    "scatter-sub": _scatter(_subtracted, lambda _: 0),
    "scatter_mul": _scatter(_multiplied, lambda _: 1),
    "scatter-mul": _scatter(_multiplied, lambda _: 1),
    "scatter_max": _scatter(_greatest, lambda dtype: start_of("max", dtype)),
    "scatter-max": _scatter(_greatest, lambda dtype: start_of("max", dtype)),
    "scatter_min": _scatter(_least, lambda dtype: start_of("min", dtype)),
    "scatter-min": _scatter(_least, lambda dtype: start_of("min", dtype)),
}
