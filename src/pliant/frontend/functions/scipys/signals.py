"""scipy.signal: convolutions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pliant.core.origin import here
from pliant.errors import ShapeError
from pliant.frontend.functions.scipys.common import chosen, floats, xp

_MODES: Final = {"full": "full", "same": "same", "valid": "valid"}


def convolve(in1: Any, in2: Any, mode: Any = "full", method: Any = "auto") -> Any:
    """scipy.signal.convolve: directly along one axis, by Fourier transforms along more of them."""
    return _convolved(in1, in2, mode, "convolve")


def fftconvolve(in1: Any, in2: Any, mode: Any = "full") -> Any:
    """scipy.signal.fftconvolve, of floats always; of one axis directly."""
    return _convolved(floats(in1), floats(in2), mode, "fftconvolve")


def correlate(in1: Any, in2: Any, mode: Any = "full", method: Any = "auto") -> Any:
    """scipy.signal.correlate."""
    y = xp.asarray(in2)
    back = y[(slice(None, None, -1),) * y.ndim]
    return _convolved(in1, xp.conj(back) if y.dtype.kind == "c" else back, mode, "correlate")


def _convolved(in1: Any, in2: Any, mode: Any, name: str) -> Any:
    x, y, mode = xp.asarray(in1), xp.asarray(in2), chosen(_MODES, mode, "mode")
    if x.ndim != y.ndim or not x.ndim:
        raise ShapeError(f"scipy.signal.{name}: {x.type} and {y.type} do not have the same axes").at(("here", here()))
    extents = [m + n - 1 for m, n in zip(x.shape, y.shape, strict=True)]
    whole = xp.convolve(x, y) if x.ndim == 1 else _by_transforms(x, y, extents)
    if mode == "full":
        return whole
    if mode == "same":
        kept = x.shape
    else:
        pairs = list(zip(x.shape, y.shape, strict=True))
        if not (all([m >= n for m, n in pairs]) or all([m <= n for m, n in pairs])):
            raise ShapeError(f"scipy.signal.{name}: mode 'valid' needs one of {x.type} and {y.type} inside").at(
                ("here", here())
            )
        kept = [abs(m - n) + 1 for m, n in pairs]
    starts = [(n - k) // 2 for n, k in zip(extents, kept, strict=True)]
    return whole[tuple([slice(s, s + k) for s, k in zip(starts, kept, strict=True)])]


def _by_transforms(x: Any, y: Any, extents: list[int]) -> Any:
    kind = xp.result_type(x, y)
    axes = tuple(range(x.ndim))
    if kind.kind == "c":
        return xp.fft.ifftn(xp.fft.fftn(x, extents, axes) * xp.fft.fftn(y, extents, axes), axes=axes)
    made = xp.fft.irfftn(xp.fft.rfftn(x, extents, axes) * xp.fft.rfftn(y, extents, axes), extents, axes)
    return made if kind.kind == "f" else xp.rint(made).astype(kind)


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {f.__name__: f for f in (convolve, fftconvolve, correlate)}
