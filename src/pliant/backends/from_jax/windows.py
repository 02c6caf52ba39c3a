"""Convolutions, and reductions over windows: sums, and extrema, over the places of a window, which are few."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import product
from typing import Any, Final

from pliant.backends.from_jax.shapes import dot_general, pad, slice_
from pliant.backends.from_jax.walk import Rule
from pliant.core.ir import Value, const
from pliant.errors import UnsupportedError
from pliant.ops.compare import maximum, minimum
from pliant.ops.elementwise import add
from pliant.ops.folds import start_of
from pliant.ops.shape import Permute, broadcast, concatenate, permute, reshape, slice_axis

MOST: Final = 4096  # places of a window


def _shifted(x: Value, place: Sequence[int], counts: Sequence[int], steps: Sequence[int]) -> Value:
    """The elements of x that windows have at a place of theirs, for so many windows along each axis, steps apart."""
    ends = [start + (n - 1) * step + 1 if n else start for start, n, step in zip(place, counts, steps, strict=True)]
    return slice_(x, start_indices=place, limit_indices=ends, strides=steps)


def _places(sizes: Sequence[int], dilations: Sequence[int]) -> list[tuple[int, ...]]:
    """All places of a window."""
    places = list(product(*[range(0, n * d, d) for n, d in zip(sizes, dilations, strict=True)]))
    if len(places) > MOST:
        raise UnsupportedError(f"from_jax: windows of {len(places)} places, of more than {MOST}, are not supported")
    return places


def _counts(shape: Sequence[int], sizes: Sequence[int], dilations: Sequence[int], steps: Sequence[int]) -> list[int]:
    """How many windows there are along each axis."""
    rows = zip(shape, sizes, dilations, steps, strict=True)
    return [max((n - (m - 1) * d - 1) // step + 1, 0) for n, m, d, step in rows]


def _over_windows(kind: str, combine: Callable[[Value, Value], Value]) -> Rule:
    def rule(
        x: Value, *, window_dimensions: Any, window_strides: Any, padding: Any, base_dilation: Any,
        window_dilation: Any, **_: Any,
    ) -> Value:  # fmt: skip
        around = [(low, high, inner - 1) for (low, high), inner in zip(padding, base_dilation, strict=True)]
        whole = pad(x, const(start_of(kind, x.dtype), x.dtype), padding_config=around)
        counts = _counts(whole.shape, window_dimensions, window_dilation, window_strides)
        places = _places(window_dimensions, window_dilation)
        return reduce(combine, [_shifted(whole, place, counts, window_strides) for place in places])

    return rule


def conv_general_dilated(
    x: Value, kernel: Value, *, window_strides: Any, padding: Any, lhs_dilation: Any, rhs_dilation: Any,
    dimension_numbers: Any, feature_group_count: int, batch_group_count: int, **_: Any,
) -> Value:  # fmt: skip
    """A convolution, as JAX and XLA have it, in groups of features."""
    if batch_group_count != 1:
        raise UnsupportedError("from_jax: convolutions in groups of batches are not supported")
    d = dimension_numbers
    x, kernel = permute(x, tuple(d.lhs_spec)), permute(kernel, tuple(d.rhs_spec))
    around = [(0, 0, 0)] * 2 + [
        (low, high, inner - 1) for (low, high), inner in zip(padding, lhs_dilation, strict=True)
    ]
    x = pad(x, const(0, x.dtype), padding_config=around)
    sizes = kernel.shape[2:]
    counts = _counts(x.shape[2:], sizes, rhs_dilation, window_strides)
    made = [
        _in_group(part, weights, (sizes, rhs_dilation, counts, window_strides))
        for part, weights in _groups(x, kernel, feature_group_count)
    ]
    y = concatenate(tuple(made), 1) if len(made) > 1 else made[0]
    return permute(y, Permute(tuple(d.out_spec)).inverse())


def _groups(x: Value, kernel: Value, count: int) -> list[tuple[Value, Value]]:
    """The features in groups, each with its part of the kernel."""
    features, outputs = x.shape[1] // count, kernel.shape[0] // count
    return [
        (slice_axis(x, 1, n * features, features), slice_axis(kernel, 0, n * outputs, outputs)) for n in range(count)
    ]


def _in_group(x: Value, kernel: Value, windows: Any) -> Value:
    """The convolution of all features: the sum, over the places of a window, of products of matrices."""
    sizes, dilations, counts, steps = windows
    terms = list[Value]()
    for tap, place in zip(product(*map(range, sizes)), _places(sizes, dilations), strict=True):
        seen = _shifted(x, (0, 0, *place), (*x.shape[:2], *counts), (1, 1, *steps))
        weights = reduce(lambda w, k: slice_axis(w, *k, 1), enumerate(tap, start=2), kernel)
        weights = reshape(weights, kernel.shape[:2])
        terms.append(dot_general(weights, seen, dimension_numbers=(((1,), (1,)), ((), ()))))
    if not terms:
        return broadcast(const(0, x.dtype), (x.shape[0], kernel.shape[0], *counts), ())
    total = reduce(add, terms)
    return permute(total, (1, 0, *range(2, total.type.rank)))


RULES: Final[dict[str, Rule]] = {
    "conv_general_dilated": conv_general_dilated,
    "reduce_window_sum": _over_windows("sum", add),
    "reduce_window_max": _over_windows("max", maximum),
    "reduce_window_min": _over_windows("min", minimum),
}
