"""np.pad in every mode: one axis after the other, each around what the axes before have made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pliant.core.ir import Value, const
from pliant.core.origin import here
from pliant.errors import ArgumentError, DomainError, ShapeError
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.convert import as_traced, axis_of, cast_value, value_of
from pliant.frontend.functions.common import array_of, is_sequence, known, one_of, solid, xp
from pliant.frontend.functions.join import along, concatenate
from pliant.frontend.functions.pieces import put_together, runs_of
from pliant.frontend.functions.shape import flip, sliced
from pliant.ops import update
from pliant.ops.shape import broadcast

Ends = tuple[Any, Any]  # what is put before and after an axis, or says how
Mode = Callable[[TracedArray, int, Ends, Any], TracedArray]  # (x, axis, widths, option) → the longer array

STATISTICS: Final[dict[str, Callable[..., Any]]] = {
    "maximum": np.max,
    "minimum": np.min,
    "mean": np.mean,
    "median": np.median,
}

OPTIONS: Final[dict[str, tuple[str, Any]]] = {
    "constant": ("constant_values", 0),
    "linear_ramp": ("end_values", 0),
    "reflect": ("reflect_type", "even"),
    "symmetric": ("reflect_type", "even"),
    **dict.fromkeys(STATISTICS, ("stat_length", None)),
}
"""Mode → the keyword that it takes, and its default."""

CONTINUED: Final = ("reflect", "symmetric")

NAMES: Final = (*OPTIONS, "edge", "wrap", "empty")


def pad(array: Any, pad_width: Any, mode: Any = "constant", **options: Any) -> TracedArray:
    """np.pad; what mode "empty" leaves undefined is zero."""
    x = array_of(solid(array))
    widths = _pairs(_per_axis(known(pad_width, "pad_width="), x.ndim), x.ndim, "pad_width")
    one_of(NAMES, mode, "np.pad: mode")
    name, default = OPTIONS.get(mode, ("", None))
    option = options.pop(name, default)
    if options:
        raise DomainError(f"unsupported keyword arguments for mode {mode!r}: {set(options)}").at(("here", here()))
    if mode in ("constant", "empty"):
        return fresh(_constant(x, widths, 0 if option is None else option), is_array=True)
    for axis, width in enumerate(widths):
        if any(width) and not x.shape[axis]:
            message = f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
            raise ShapeError(message).at(("here", here()))
    if is_copied := mode in ("edge", "wrap") or (mode in CONTINUED and option == "even"):
        runs = [
            runs_of(_places(n, width, mode)) if any(width) else [] for n, width in zip(x.shape, widths, strict=True)
        ]
        if made := put_together(x.value, runs):
            return fresh(made, is_array=True)
    made = x
    for axis, width in enumerate(widths):
        if any(width):
            places = (
                _places(x.shape[axis], width, mode) if is_copied or (mode in CONTINUED and x.shape[axis] == 1) else None
            )
            made = along(made, places, axis) if places is not None else _around(made, axis, width, mode, option)
    return fresh(made.value, is_array=True)


def _places(extent: int, widths: Ends, mode: str) -> Any:
    """Where the elements along a padded axis come from."""
    return np.pad(np.arange(extent), widths, mode)  # type: ignore[arg-type]


def _around(x: TracedArray, axis: int, widths: Ends, mode: str, option: Any) -> TracedArray:
    """An array longer along one axis, by elements that are computed."""
    if mode == "linear_ramp":
        return _ramped(x, axis, widths, option)
    if mode in STATISTICS:
        return _with_statistics(x, axis, widths, mode, option)
    return _reflected(x, axis, widths, is_edge_doubled=mode == "symmetric")


def _ramped(x: TracedArray, axis: int, widths: Ends, end_values: Any) -> TracedArray:
    """Straight lines from the ends of the result to those of x."""
    ends = xp.broadcast_to(as_traced(end_values), (x.ndim, 2))

    def ramp(side: int, edge: TracedArray) -> TracedArray:
        n = widths[side]
        if not n:
            return sliced(x, axis, 0, 0)
        steps = xp.arange(n).reshape([-1 if a == axis else 1 for a in range(x.ndim)])
        start = xp.multiply(ends[axis, side], 1.0)
        line = xp.add(xp.multiply(steps, (edge - start) / n), start)
        made = (xp.floor(line) if x.type.kind in "iu" else line).astype(x.dtype)
        return flip(made, axis) if side else made

    first, last = sliced(x, axis, 0, 1), sliced(x, axis, x.shape[axis] - 1, 1)
    return concatenate((ramp(0, first), x, ramp(1, last)), axis)


def _with_statistics(x: TracedArray, axis: int, widths: Ends, mode: str, lengths: Any) -> TracedArray:
    """One statistic of the first elements before x, and one of the last ones behind it."""
    n = x.shape[axis]
    pairs = ((n, n),) * x.ndim if lengths is None else _pairs(known(lengths, "stat_length="), x.ndim, "stat_length")
    first, last = (min(length, n) for length in pairs[axis])
    if (first == 0 or last == 0) and mode in ("maximum", "minimum"):
        raise ShapeError("stat_length of 0 yields no value for padding").at(("here", here()))

    def repeated(chunk: TracedArray, width: int) -> TracedArray:
        made = STATISTICS[mode](chunk, axis=axis, keepdims=True)
        made = xp.round(made) if x.type.kind in "iu" else made
        return xp.repeat(made.astype(x.dtype), width, axis)

    before, after = sliced(x, axis, 0, first), sliced(x, axis, n - last, last)
    return concatenate((repeated(before, widths[0]), x, repeated(after, widths[1])), axis)


def _reflected(x: TracedArray, axis: int, widths: Ends, *, is_edge_doubled: bool) -> TracedArray:
    """x continued by its reflections in the points of its ends, as often as it takes."""
    before, after = widths
    period, offset = x.shape[axis], int(is_edge_doubled)
    while before or after:
        n = x.shape[axis]
        length = n // period * period if is_edge_doubled else (n - 1) // (period - 1) * (period - 1)
        left, right = min(length, before), min(length, after)
        parts = [x]
        if left:
            chunk = flip(sliced(x, axis, 1 - offset, left), axis)
            parts.insert(0, (2 * sliced(x, axis, 0, 1) - chunk).astype(x.dtype))
        if right:
            chunk = flip(sliced(x, axis, n - 1 + offset - right, right), axis)
            parts.append((2 * sliced(x, axis, n - 1, 1) - chunk).astype(x.dtype))
        x = concatenate(parts, axis)
        before, after = before - left, after - right
    return x


def _constant(x: TracedArray, widths: list[tuple[int, int]], fill: Any) -> Value:
    """One fill for all sides, or one for each side of each axis."""
    filler = as_traced(fill)
    if filler.size == 1:
        low, high = zip(*widths, strict=True) if widths else ((), ())
        number = cast_value(as_traced(filler.reshape(())).value if filler.ndim else filler.value, x.type.dtype)
        if filler.concrete is not None:
            number = const(filler.concrete.reshape(-1)[0].astype(x.dtype).item(), x.type.dtype)
        return update.pad(x.value, low, high, number)
    fills = xp.broadcast_to(filler, (x.ndim, 2))
    shape = tuple([before + n + after for n, (before, after) in zip(x.shape, widths, strict=True)])
    # One array, written where it lies: x first, then the sides of one axis after the other.
    sides = [(axis, side) for axis, pair in enumerate(widths) for side in (0, 1) if pair[side]]
    numbers = [value_of(fills[at], x.type.dtype) for at in sides]
    whole = broadcast(numbers[-1] if numbers else const(0, x.type.dtype), shape, ())
    whole = update.update_slice(whole, x.value, [before for before, _ in widths])
    for (axis, side), number in zip(sides, numbers, strict=True):
        inside = [*zip((before for before, _ in widths), x.shape, strict=True)]
        inside[:axis] = [(0, n) for n in shape[:axis]]
        width = widths[axis][side]
        inside[axis] = (0 if side == 0 else shape[axis] - width, width)
        starts, lengths = zip(*inside, strict=True)
        whole = update.update_slice(whole, broadcast(number, lengths, ()), starts)
    return whole


def _per_axis(widths: Any, rank: int) -> Any:
    """Widths given by axis number as a list."""
    if not hasattr(widths, "items"):
        return widths
    given: list[Any] = [(0, 0)] * rank
    for axis, width in widths.items():
        given[axis_of(axis, rank)] = width if is_sequence(width) else (width, width)
    return given


def _pairs(given: Any, rank: int, name: str) -> list[tuple[int, int]]:
    """Two lengths for each axis."""
    full = xp.broadcast_to(np.asarray(given), (rank, 2))
    if full.dtype.kind not in "iu":
        raise ArgumentError(f"`{name}` must be of integral type.").at(("here", here()))
    pairs = [(int(before), int(after)) for before, after in full.tolist()]
    if min((n for pair in pairs for n in pair), default=0) < 0:
        raise ShapeError("index can't contain negative values").at(("here", here()))
    return pairs


FUNCTIONS: Final[dict[Callable[..., Any], Callable[..., Any]]] = {np.pad: pad}
"""NumPy's functions that put elements around an array."""
