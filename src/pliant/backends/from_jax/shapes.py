"""Operations that move elements, make ranges, and find extrema, sums and orders along axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, Final

from pliant.backends.from_jax.walk import Rule, short
from pliant.core.ir import Value, const
from pliant.ops import reduce, scan, shape, sort
from pliant.ops.bits import bitwise_xor
from pliant.ops.compare import isfinite, maximum, minimum
from pliant.ops.contract import dot_general as contracted
from pliant.ops.custom import stop_gradient
from pliant.ops.elementwise import convert, sub
from pliant.ops.fft import fft as transformed
from pliant.ops.index import dynamic_slice as sliced
from pliant.ops.index import dynamic_update_slice as updated
from pliant.ops.index import take_along
from pliant.ops.select import select
from pliant.ops.transcendental import exp, log
from pliant.ops.update import update_slice

_iota, _spread, _reshaped = shape.iota, shape.broadcast, shape.reshape  # names that are also those of operations


def iota(*_: Value, dtype: Any, shape: Sequence[int], dimension: int, **__: Any) -> Value:
    """The index along an axis."""
    return _spread(convert(_iota(shape[dimension]), short(dtype)), tuple(shape), (dimension,))


def broadcast_in_dim(x: Value, *_: Value, shape: Any, broadcast_dimensions: Any, **__: Any) -> Value:
    """Repeated along new axes, and along those of extent 1."""
    shape, axes = tuple(shape), tuple(broadcast_dimensions)
    kept = [n for n, a in enumerate(axes) if x.shape[n] == shape[a]]
    x = _reshaped(x, [x.shape[n] for n in kept])
    return _spread(x, shape, tuple([axes[n] for n in kept])) if x.shape != shape else x


def reshape(x: Value, *, new_sizes: Any, **_: Any) -> Value:
    """The same elements, row-major, in another shape."""
    return _reshaped(x, tuple(new_sizes))


def squeeze(x: Value, *, dimensions: Any, **_: Any) -> Value:
    """Without some axes of extent 1."""
    gone = {d % x.type.rank for d in dimensions}
    return _reshaped(x, [n for a, n in enumerate(x.shape) if a not in gone])


def expand_dims(x: Value, *, dimensions: Any, **_: Any) -> Value:
    """With more axes of extent 1."""
    rank = x.type.rank + len(dimensions)
    new, rest = {d % rank for d in dimensions}, iter(x.shape)
    return _reshaped(x, [1 if a in new else next(rest) for a in range(rank)])


def transpose(x: Value, *, permutation: Any, **_: Any) -> Value:
    """Axes in another order."""
    return shape.permute(x, tuple(permutation))


def rev(x: Value, *, dimensions: Any, **_: Any) -> Value:
    """Backward along some axes."""
    return shape.flip(x, tuple(dimensions))


def concatenate(x: Value, *others: Value, dimension: int, **_: Any) -> Value:
    """One after the other along an axis."""
    return shape.concatenate((x, *others), dimension) if others else x


def stack(*xs: Value, axis: int = 0, **_: Any) -> Value:
    """One after the other along a new axis."""
    return shape.concatenate(tuple([expand_dims(x, dimensions=(axis,)) for x in xs]), axis)


def tile(x: Value, *, reps: Any, **_: Any) -> Value:
    """Repeated along each axis, as a whole."""
    shape = [part for pair in zip(reps, x.shape, strict=True) for part in pair]
    many = _spread(x, tuple(map(int, shape)), tuple(range(1, 2 * x.type.rank, 2)))
    return _reshaped(many, [n * m for n, m in zip(reps, x.shape, strict=True)])


def split(x: Value, *, sizes: Any, axis: int, **_: Any) -> list[Value]:
    """Parts along an axis."""
    counts = list(map(int, sizes))  # which JAX may have made NumPy's
    starts = [0, *accumulate(counts)]
    return [shape.slice_axis(x, axis, start, n) for start, n in zip(starts, counts, strict=False)]


def pad(x: Value, fill: Value, *, padding_config: Any, **_: Any) -> Value:
    """With more elements before, between and after those along each axis; fewer, where these are negative."""
    config: list[Any] = [tuple(map(int, around)) for around in padding_config]
    extents = [max(low + n + high + max(n - 1, 0) * inner, 0) for n, (low, high, inner) in _axes(x, config)]
    for axis, (low, high, inner) in enumerate(config):
        n = x.shape[axis]
        whole = n + max(n - 1, 0) * inner  # before and after which the others are
        first = -(-max(-low, 0) // (inner + 1))  # the first element that is left, and the one after the last
        end = min(n, (whole + min(high, 0) + inner) // (inner + 1)) if n else 0
        x = shape.slice_axis(x, axis, first, max(end - first, 0)) if (first, end) != (0, n) else x
        count = x.shape[axis]
        sizes = (*x.shape[:axis], extents[axis], *x.shape[axis + 1 :])
        if x.shape == sizes:
            continue
        board = _spread(fill, sizes, ())
        start = [low + first * (inner + 1) if a == axis else 0 for a in range(len(sizes))]
        steps = [inner + 1 if a == axis else 1 for a in range(len(sizes))]
        x = update_slice(board, x, start, steps) if count else board
    return x


def _axes(x: Value, config: Any) -> Any:
    return zip(x.shape, config, strict=True)


def slice_(x: Value, *, start_indices: Any, limit_indices: Any, strides: Any, **_: Any) -> Value:
    """A part, maybe with steps."""
    rows = zip(start_indices, limit_indices, strides or (1,) * x.type.rank, strict=True)
    for axis, bounds in enumerate(rows):
        start, end, step = map(int, bounds)
        count = max(-(-(end - start) // step), 0)
        if (start, count, step) != (0, x.shape[axis], 1):
            x = shape.slice_axis(x, axis, start, count, step)
    return x


def _within(starts: Sequence[Value], extents: Sequence[int], lengths: Sequence[int]) -> list[Value]:
    """Where blocks start, so that they lie in an array."""
    rows = zip(starts, extents, lengths, strict=True)
    return [
        const(0, "i64") if n == m else minimum(maximum(convert(s, "i64"), const(0, "i64")), const(n - m, "i64"))
        for s, n, m in rows
    ]


def dynamic_slice(x: Value, *starts: Value, slice_sizes: Any, **_: Any) -> Value:
    """A block, moved so that it lies in the array."""
    return sliced(x, _within(starts, x.shape, slice_sizes), tuple(slice_sizes))


def dynamic_update_slice(x: Value, u: Value, *starts: Value, **_: Any) -> Value:
    """The array with a block replaced, moved so that it lies in it."""
    return updated(x, u, _within(starts, x.shape, u.shape))


def _reduction(f: Callable[[Value, tuple[int, ...]], Value]) -> Rule:
    def rule(x: Value, *, axes: Any, **_: Any) -> Value:
        return f(x, tuple(axes)) if axes else x

    return rule


def _choice(f: Callable[[Value, tuple[int, ...]], Value], of_two: Callable[[Value, Value], Value]) -> Rule:
    """A reduction that takes one of all; of complex numbers, which go by their real parts first, by one of two."""

    def pairwise(x: Value, y: Value) -> list[Value]:
        return [of_two(x, y)]

    def rule(x: Value, *, axes: Any, **_: Any) -> Value:
        if not axes:
            return x
        is_folded = x.dtype[0] == "c" and 0 not in [x.shape[a] for a in axes]
        return folded(pairwise, [x], tuple(axes))[0] if is_folded else f(x, tuple(axes))

    return rule


def folded(combine: Callable[..., Sequence[Value]], xs: Sequence[Value], axes: Sequence[int]) -> list[Value]:
    """What combines all elements along some axes, of which there are any, by halves; several arrays as one."""
    rank = xs[0].type.rank
    order = (*axes, *[a for a in range(rank) if a not in axes])
    rest = tuple([xs[0].shape[a] for a in order[len(axes) :]])
    n = math.prod([xs[0].shape[a] for a in axes])
    xs = [_reshaped(shape.permute(x, order), (n, *rest)) for x in xs]
    while n > 1:
        half, odd = divmod(n, 2)
        lows, highs = ([shape.slice_axis(x, 0, start, half) for x in xs] for start in (0, half))
        ends = [[shape.slice_axis(x, 0, n - 1, 1)] if odd else [] for x in xs]
        made = combine(*lows, *highs)
        xs = [shape.concatenate((y, *end), 0) if end else y for y, end in zip(made, ends, strict=True)]
        n = half + odd
    return [_reshaped(x, rest) for x in xs]


def reduce_xor(x: Value, *, axes: Any, **_: Any) -> Value:
    """Bits that an odd number of elements has."""
    if 0 in [x.shape[a] for a in axes]:
        return _spread(const(0, x.dtype), tuple([n for a, n in enumerate(x.shape) if a not in axes]), ())
    return folded(_differing, [x], tuple(axes))[0]


def _differing(x: Value, y: Value) -> list[Value]:
    return [bitwise_xor(x, y)]


def _arg(f: Callable[[Value, int], Value]) -> Rule:
    def rule(x: Value, *, axes: Any, index_dtype: Any, **_: Any) -> Value:
        return convert(f(x, axes[0]), short(index_dtype))

    return rule


def _scan(f: Callable[..., Value]) -> Rule:
    def rule(x: Value, *, axis: int, reverse: bool, **_: Any) -> Value:
        return f(x, axis, reverse=reverse)

    return rule


def cumlogsumexp(x: Value, *, axis: int, reverse: bool, **_: Any) -> Value:
    """The logarithm of running sums of exponentials, each relative to the greatest element so far."""
    most = stop_gradient(scan.cummax(x, axis, reverse=reverse))
    most = select(isfinite(most), most, _spread(const(0, x.dtype), x.shape, ()))
    before = scan.shift(most, axis, float("-inf"), reverse=reverse)
    return most + log(scan.recur(exp(before - most), exp(x - most), axis, reverse=reverse))


def dot_general(x: Value, y: Value, *, dimension_numbers: Any, preferred_element_type: Any = None, **_: Any) -> Value:
    """A sum of products along some axes, problem by problem along others."""
    (contract, batch) = [tuple([tuple(axes) for axes in pair]) for pair in dimension_numbers]
    if preferred_element_type is not None:
        x, y = convert(x, short(preferred_element_type)), convert(y, short(preferred_element_type))
    return contracted(x, y, contract, batch)  # type: ignore[arg-type]


def sort_(*xs: Value, dimension: int, is_stable: bool, num_keys: int, **_: Any) -> Value | list[Value]:
    """In the order of the first operands, along an axis."""
    if len(xs) == 1:
        return sort.sort(xs[0], dimension)
    order: Value | None = None
    for key in reversed(xs[:num_keys]):
        at = key if order is None else take_along(key, order, dimension)
        more = sort.argsort(at, dimension, stable=True)
        order = more if order is None else take_along(order, more, dimension)
    assert order is not None
    return [take_along(x, order, dimension, unique=True) for x in xs]


def top_k(x: Value, *, k: int, axis: int = -1, **_: Any) -> list[Value]:
    """The k greatest, and where they are; of equal ones the first."""
    axis %= x.type.rank
    n = x.shape[axis]
    back = shape.flip(sort.argsort(shape.flip(x, (axis,)), axis, stable=True), (axis,))
    places = shape.slice_axis(sub(_spread(const(n - 1, "i64"), back.shape, ()), back), axis, 0, k)
    return [take_along(x, places, axis, unique=True), convert(places, "i32")]


def fft(x: Value, *, fft_type: Any, fft_lengths: Any, **_: Any) -> Value:
    """Discrete Fourier transforms along the last axes."""
    kind, rank = str(getattr(fft_type, "name", fft_type)).rpartition(".")[2].lower(), x.type.rank
    axes = range(rank - len(fft_lengths), rank)
    rows = list(zip(axes, fft_lengths, strict=True))
    half = {"rfft": "fft", "irfft": "ifft"}
    if kind == "rfft":  # the last axis first, whose half is left
        x = transformed(x, kind, length=rows[-1][1], axis=rows[-1][0])
        rows, kind = rows[:-1], half[kind]
    last = [rows.pop()] if kind == "irfft" else []
    for axis, n in rows:
        x = transformed(x, half.get(kind, kind), length=n, axis=axis)
    for axis, n in last:
        x = transformed(x, kind, length=n, axis=axis)
    return x


RULES: Final[dict[str, Rule]] = {
    "iota": iota, "broadcast_in_dim": broadcast_in_dim, "reshape": reshape, "squeeze": squeeze,
    "expand_dims": expand_dims, "transpose": transpose, "rev": rev, "concatenate": concatenate, "split": split,
    "stack": stack, "tile": tile,
    "pad": pad, "slice": slice_, "dynamic_slice": dynamic_slice, "dynamic_update_slice": dynamic_update_slice,
    "reduce_sum": _reduction(reduce.reduce_sum), "reduce_prod": _reduction(reduce.reduce_prod),
    "reduce_max": _choice(reduce.reduce_max, maximum), "reduce_min": _choice(reduce.reduce_min, minimum),
    "reduce_and": _reduction(reduce.reduce_and), "reduce_or": _reduction(reduce.reduce_or),
    "reduce_xor": reduce_xor,
    "argmax": _arg(reduce.argmax), "argmin": _arg(reduce.argmin), "cumsum": _scan(scan.cumsum),
    "cumprod": _scan(scan.cumprod), "cummax": _scan(scan.cummax), "cummin": _scan(scan.cummin),
    "cumlogsumexp": cumlogsumexp, "dot_general": dot_general, "sort": sort_, "top_k": top_k, "fft": fft,
}  # fmt: skip
