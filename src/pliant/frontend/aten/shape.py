"""PyTorch's views, copies and makers, in terms of NumPy's functions. No result shares memory that is written later:
the graphs write to nothing."""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from pliant.frontend.array import fresh
from pliant.frontend.aten.call import Array, Call, Rule, axes_of, axis_of, cast, own
from pliant.frontend.kinds import is_traced
from pliant.ops.custom import stop_gradient

xp: Any = np


def reshaped(call: Call, x: Array, *_: Any, **__: Any) -> Array:
    """The elements in row-major order, in the shape of the result."""
    return xp.reshape(x, call.shape)


def converted(call: Call, x: Array, *_: Any, **__: Any) -> Array:
    """The numbers in the dtype of the result."""
    return cast(x, call.dtype)


def expanded(call: Call, x: Array, *_: Any, **__: Any) -> Array:
    """The elements repeated to the shape of the result."""
    return xp.broadcast_to(x, call.shape)


def filled(value: Any) -> Rule:
    """An array of one number, of the shape and dtype of the result."""
    return lambda call, *_, **__: xp.full(call.shape, value, call.dtype)


def full(call: Call, _: Any, value: Any, **__: Any) -> Array:
    """An array of a number, of the shape and dtype of the result."""
    return xp.full(call.shape, cast(value, call.dtype), call.dtype)


def transpose(call: Call, x: Array, first: int, second: int) -> Array:
    """The axes, two of them exchanged."""
    return xp.swapaxes(x, first, second) if x.ndim else x


def cat(call: Call, xs: Sequence[Array], dim: int = 0) -> Array:
    """Arrays one after the other; those that are `[0]` fit all others."""
    found = [cast(x, call.dtype) for x in xs if x.shape != (0,) or call.shape == (0,)]
    return xp.concatenate(found, axis=dim)


def parts(call: Call, x: Array, sizes: Sequence[int], dim: int = 0) -> list[Array]:
    """Parts of these lengths along an axis."""
    return [_cut(x, dim, e - n, e, 1) for n, e in zip(sizes, np.cumsum(np.asarray(sizes, int)).tolist(), strict=True)]


def split(call: Call, x: Array, size: int, dim: int = 0) -> list[Array]:
    """Parts of this length along an axis; the last may be shorter."""
    n = x.shape[dim]
    return parts(call, x, [min(size, n - k) for k in range(0, n, size)] or [0], dim)


def _cut(x: Array, dim: int, start: int, end: int, step: int) -> Array:
    return x[(*[slice(None)] * axis_of(dim, x), slice(start, end, step))]


def _bounds(x: Array, dim: int, start: int | None, end: int | None, step: int) -> tuple[int, int, int]:
    n = x.shape[dim]
    return slice(start, None if end is None else end, step).indices(n)


def taken(call: Call, x: Array, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Array:
    """Elements along an axis, at regular distances."""
    return _cut(x, dim, *_bounds(x, dim, start, end, step))


def selected(call: Call, x: Array, dim: int, index: int) -> Array:
    """One row along an axis."""
    return x[(*[slice(None)] * axis_of(dim, x), index)]


def written(call: Call, x: Array, new: Array, key: tuple[Any, ...]) -> Array:
    """A copy of x, with others at a part of it."""
    made = own(x)
    made[key] = cast(new, call.dtype)
    return made


def select_scatter(call: Call, x: Array, new: Array, dim: int, index: int) -> Array:
    """x with one row replaced."""
    return written(call, x, new, (*[slice(None)] * axis_of(dim, x), index))


def slice_scatter(
    call: Call, x: Array, new: Array, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Array:
    """x with rows at regular distances replaced."""
    return written(call, x, new, (*[slice(None)] * axis_of(dim, x), slice(*_bounds(x, dim, start, end, step))))


def diagonal(call: Call, x: Array, offset: int = 0, first: int = 0, second: int = 1) -> Array:
    """A diagonal of two axes, which comes last."""
    return xp.diagonal(x, offset, axis_of(first, x), axis_of(second, x))


def diagonal_scatter(call: Call, x: Array, new: Array, offset: int = 0, first: int = 0, second: int = 1) -> Array:
    """x with a diagonal of two axes replaced."""
    numbers = np.diagonal(np.arange(math.prod(x.shape)).reshape(x.shape), offset, axis_of(first, x), axis_of(second, x))
    made = own(xp.reshape(x, -1))
    made[numbers.reshape(-1)] = xp.reshape(cast(new, call.dtype), -1)
    return xp.reshape(made, call.shape)


def strided(call: Call, x: Array, size: Sequence[int], stride: Sequence[int], offset: int | None = None) -> Array:
    """The elements at regular distances in memory, where x lies in row-major order."""
    places = np.full(tuple(size), offset or 0)
    for axis, (n, step) in enumerate(zip(size, stride, strict=True)):
        places = places + step * np.arange(n).reshape([-1 if a == axis else 1 for a in range(len(size))])
    return xp.reshape(x, -1)[places]


def squeeze(call: Call, x: Array, *_: Any) -> Array:
    """Without axes of one element."""
    return xp.reshape(x, call.shape)


def roll(call: Call, x: Array, shifts: Sequence[int], dims: Sequence[int] = ()) -> Array:
    """The elements moved around along axes."""
    if not dims:
        return xp.reshape(xp.roll(xp.reshape(x, -1), shifts[0]), x.shape)
    return xp.roll(x, tuple(shifts), tuple(dims))


def unfold(call: Call, x: Array, dim: int, size: int, step: int) -> Array:
    """Windows along an axis; their own comes last."""
    axis = axis_of(dim, x)
    return _cut(xp.lib.stride_tricks.sliding_window_view(x, size, axis), axis, 0, x.shape[axis], step)


def pad(call: Call, x: Array, widths: Sequence[int], value: Any = 0) -> Array:
    """x with a number around it, or without what is at its ends; widths from the last axis on."""
    ends = [(0, 0)] * (x.ndim - len(widths) // 2) + list(zip(widths[::2], widths[1::2], strict=True))[::-1]
    inner = tuple([slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(ends, x.shape, strict=True)])
    around = [(max(a, 0), max(b, 0)) for a, b in ends]
    return xp.pad(x[inner], around, constant_values=cast(0 if value is None else value, call.dtype))


def arange(call: Call, *args: Any, **_: Any) -> Array:
    """Numbers at regular distances."""
    start, step = (args[0], args[2] if len(args) > 2 else 1) if len(args) > 1 else (0, 1)
    return (np.arange(call.shape[0]) * step + start).astype(call.dtype)


def linspace(call: Call, start: Any, end: Any, steps: int, **_: Any) -> Array:
    """So many numbers from one to another."""
    return np.linspace(start, end, steps).astype(call.dtype)


def triangle(f: Callable[..., Array]) -> Rule:
    """One triangle, zeros elsewhere."""
    return lambda call, x, diagonal=0: f(x, diagonal)


def as_pairs(call: Call, x: Array) -> Array:
    """Real and imaginary parts along a last axis."""
    return xp.stack([xp.real(x), xp.imag(x)], axis=-1)


def of_pairs(call: Call, x: Array) -> Array:
    """The inverse."""
    return x[..., 0] + 1j * x[..., 1]


def detached(call: Call, x: Array) -> Array:
    """x, as if it did not depend on anything."""
    return fresh(stop_gradient(x.value), is_array=True) if is_traced(x) else x


_SAME: Final = ("clone", "alias", "lift_fresh_copy", "lift_fresh", "contiguous", "lift", "resolve_conj", "resolve_neg")
_MADE_ANEW: Final = {"zeros": 0, "zeros_like": 0, "new_zeros": 0, "ones": 1, "ones_like": 1, "new_ones": 1}
_UNSET: Final = ("empty", "empty_like", "new_empty", "empty_permuted", "empty_strided", "new_empty_strided")

SHAPES: Final[dict[str, Rule]] = {
    **dict.fromkeys(("view", "reshape", "_unsafe_view", "_reshape_alias", "unsqueeze", "flatten"), reshaped),
    **{name: lambda call, x, *_, **__: x for name in _SAME},
    **dict.fromkeys(("_to_copy", "convert_element_type", "to", "_cast_Float"), converted),
    **{name: filled(value) for name, value in _MADE_ANEW.items()},
    **{name: filled(0) for name in _UNSET},
    **dict.fromkeys(("full", "full_like", "new_full", "fill"), full),
    "squeeze": squeeze, "expand": expanded, "broadcast_in_dim": expanded, "detach": detached,
    "scalar_tensor": lambda call, value, **_: xp.full((), value, call.dtype),
    "permute": lambda call, x, dims: xp.transpose(x, axes_of(dims, x.ndim)) if x.ndim else x, "transpose": transpose,
    "t": lambda call, x: xp.transpose(x), "repeat": lambda call, x, counts: xp.tile(x, tuple(counts)), "cat": cat,
    "stack": lambda call, xs, dim=0: xp.stack([cast(x, call.dtype) for x in xs], axis=dim),
    "split_with_sizes": parts, "split": split,
    "unbind": lambda call, x, dim=0: [selected(call, x, dim, n) for n in range(x.shape[dim])],
    "select": selected, "slice": taken, "select_scatter": select_scatter, "slice_scatter": slice_scatter,
    "diagonal_scatter": diagonal_scatter, "as_strided": strided, "is_same_size": lambda call, x, y: None,
    "diagonal": diagonal, "flip": lambda call, x, dims: xp.flip(x, axes_of(dims, x.ndim)) if dims else x, "roll": roll,
    "unfold": unfold, "constant_pad_nd": pad, "arange": arange, "linspace": linspace,
    "eye": lambda call, *_, **__: np.eye(*call.shape, dtype=call.dtype), "tril": triangle(xp.tril),
    "triu": triangle(xp.triu), "view_as_real": as_pairs, "view_as_complex": of_pairs,
    "copy": lambda call, x, new, *_: xp.broadcast_to(cast(new, call.dtype), call.shape),
    "numel": lambda call, x: math.prod(x.shape),
}  # fmt: skip
"""Views, copies and makers, by the names that PyTorch's graphs have for them."""
