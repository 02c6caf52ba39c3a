"""numpy.fft: discrete Fourier transforms along any axes, with NumPy's norms."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final, cast

import numpy as np

from pliant.core.ir import Value, const
from pliant.core.origin import here
from pliant.core.types import COMPLEX_OF
from pliant.errors import DTypeError, IndexRangeError, PliantError, ShapeError
from pliant.frontend.convert import as_traced, axes_of, axis_of, integer_of
from pliant.frontend.functions.common import known, store_out
from pliant.ops.complex import conj
from pliant.ops.elementwise import convert, mul
from pliant.ops.fft import fft as transform

FORWARD = {"fft": True, "rfft": True, "ifft": False, "irfft": False}


def operand(x: Any, kind: str) -> Value:
    """The value in the dtype that a transform takes: integers as f64, f16 as f32."""
    value = as_traced(x).value
    dtype = {"f16": "f32"}.get(value.dtype, value.dtype) if value.type.is_float else "f64"
    if kind == "rfft":
        if dtype[0] == "c":
            raise DTypeError(f"np.fft.rfft: takes real arrays, got {value.type}", hint="use np.fft.fft").at(
                ("here", here())
            )
        return convert(value, dtype)
    return convert(value, COMPLEX_OF.get(dtype, dtype))


def along(x: Value, kind: str, length: Any, axis: int, norm: Any) -> Value:
    """One transform along one axis."""
    if length is None:
        length = 2 * (x.shape[axis] - 1) if kind == "irfft" else x.shape[axis]
    n = integer_of(known(length, "the number of points of a Fourier transform"))
    if n < 1:
        raise ShapeError(f"np.fft.{kind}: the number of points is {n}, but must be at least 1").at(("here", here()))
    try:
        y = transform(x, kind, length=n, axis=axis)
    except PliantError as error:
        raise error.at(("here", here())) from None
    factor = scale(n, norm, FORWARD[kind])
    return y if factor == 1 else mul(y, const(factor, y.dtype))


def scale(n: int, norm: Any, is_forward: bool) -> float:
    """What the norm multiplies with, when inverse transforms divide by n already."""
    if norm not in (None, "backward", "ortho", "forward"):
        raise ShapeError(f"np.fft: norm is 'backward', 'ortho' or 'forward', not {norm!r}").at(("here", here()))
    power = {"ortho": 0.5, "forward": 1.0}.get(norm or "", 0.0)
    return float(n) ** (-power if is_forward else power)


def one(kind: str, a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    """np.fft.fft and its like."""
    x = operand(a, kind)
    y = along(x, kind, n, axis_of(axis, x.type.rank), norm)
    return store_out(real(y, a) if kind == "irfft" else y, out, f"np.fft.{kind}")


def real(y: Value, a: Any) -> Value:
    """The result of one transform of an array to real numbers: of half floats NumPy keeps only these narrow."""
    return convert(y, "f16") if as_traced(a).type.dtype == "f16" else y


def hfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    """np.fft.hfft: of a spectrum that is Hermitian."""
    swapped = {None: "forward", "backward": "forward", "forward": "backward"}.get(norm, norm)
    x = conj(operand(a, "irfft"))
    return store_out(real(along(x, "irfft", n, axis_of(axis, x.type.rank), swapped), a), out, "np.fft.hfft")


def ihfft(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
    """np.fft.ihfft: the inverse of hfft."""
    swapped = {None: "forward", "backward": "forward", "forward": "backward"}.get(norm, norm)
    x = operand(a, "rfft")
    return store_out(conj(along(x, "rfft", n, axis_of(axis, x.type.rank), swapped)), out, "np.fft.ihfft")


def several(kind: str, a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    """np.fft.fftn and its like: one axis after the other, the last first; real transforms take the last axis."""
    x = operand(a, kind)
    lengths = None if s is None else [int(n) for n in known(s, "s= of a Fourier transform")]
    if axes is None:
        count = x.type.rank if lengths is None else len(lengths)
        chosen: Sequence[int] = [axis_of(k, x.type.rank) for k in range(-count, 0)]
    else:
        chosen = [axis_of(k, x.type.rank) for k in axes]
    if lengths is None:
        lengths = [x.shape[k] for k in chosen]
        if kind == "irfft" and chosen:
            lengths[-1] = 2 * (x.shape[chosen[-1]] - 1)
    if len(lengths) != len(chosen):
        raise ShapeError("np.fft: s= and axes= have different lengths").at(("here", here()))
    inner = {"rfft": "fft", "irfft": "ifft"}.get(kind, kind)
    lengths = [x.shape[k] if n == -1 else n for n, k in zip(lengths, chosen, strict=True)]
    pairs = list(zip(lengths, chosen, strict=True))
    if not pairs:
        if kind != inner:
            raise IndexRangeError(f"np.fft.{kind}n: no axis to transform along").at(("here", here()))
        return store_out(as_traced(a).value, out, f"np.fft.{kind}n")
    if kind == "irfft":
        for n, k in pairs[:-1]:
            x = along(x, inner, n, k, norm)
        x = along(x, kind, *pairs[-1], norm)
        x = real(x, a) if len(pairs) == 1 else x
    else:
        for i, (n, k) in enumerate(reversed(pairs)):
            x = along(x, kind if i == 0 else inner, n, k, norm)
    return store_out(x, out, f"np.fft.{kind}n")


def plane(kind: str, a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None) -> Any:
    """np.fft.fft2 and its like."""
    return several(kind, a, s, axes, norm, out)


def shifted(direction: int, x: Any, axes: Any = None) -> Any:
    """np.fft.fftshift and ifftshift."""
    array = as_traced(x)
    chosen = axes_of(axes, array.type.rank)
    by = tuple(array.shape[k] // 2 if direction > 0 else -(array.shape[k] // 2) for k in chosen)
    return np.roll(cast("Any", array), by, chosen)


FUNCTIONS: Final[dict[Any, Any]] = {
    np.fft.fft: partial(one, "fft"),
    np.fft.ifft: partial(one, "ifft"),
    np.fft.rfft: partial(one, "rfft"),
    np.fft.irfft: partial(one, "irfft"),
    np.fft.hfft: hfft,
    np.fft.ihfft: ihfft,
    np.fft.fftn: partial(several, "fft"),
    np.fft.ifftn: partial(several, "ifft"),
    np.fft.rfftn: partial(several, "rfft"),
    np.fft.irfftn: partial(several, "irfft"),
    np.fft.fft2: partial(plane, "fft"),
    np.fft.ifft2: partial(plane, "ifft"),
    np.fft.rfft2: partial(plane, "rfft"),
    np.fft.irfft2: partial(plane, "irfft"),
    np.fft.fftshift: partial(shifted, 1),
    np.fft.ifftshift: partial(shifted, -1),
}
