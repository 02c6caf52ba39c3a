"""scipy.fft and scipy.integrate: what NumPy has as well, and running integrals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pliant.frontend.functions.common import known
from pliant.frontend.functions.scipys.common import floats, xp
from pliant.frontend.kinds import is_sequence


def _listed(axes: Any) -> Any:
    """Axes or extents, of which one may be given as a number."""
    axes = known(axes, "s= and axes=")
    return (axes,) if axes is not None and not is_sequence(axes) and not xp.ndim(axes) else axes


def _along_one(name: str) -> Callable[..., Any]:
    def transform(x: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
        return getattr(xp.fft, name)(xp.asarray(x), n, axis, norm)

    return transform


def _along_two(name: str) -> Callable[..., Any]:
    def transform(x: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
        return getattr(xp.fft, name)(xp.asarray(x), _listed(s), _listed(axes), norm)

    return transform


def _along_some(name: str) -> Callable[..., Any]:
    def transform(x: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
        return getattr(xp.fft, name)(xp.asarray(x), _listed(s), _listed(axes), norm)

    return transform


def _shifted(name: str) -> Callable[..., Any]:
    def shift(x: Any, axes: Any = None) -> Any:
        return getattr(xp.fft, name)(xp.asarray(x), axes)

    return shift


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    """scipy.integrate.trapezoid."""
    return xp.trapezoid(y, x, dx, axis)


def cumulative_trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1, initial: Any = None) -> Any:
    """scipy.integrate.cumulative_trapezoid; `initial` may be 0."""
    lines = xp.moveaxis(floats(y), axis, -1)
    steps = dx
    if x is not None:
        given = xp.asarray(x)
        steps = xp.diff(given if given.ndim == 1 else xp.moveaxis(given, axis, -1))
    made = xp.cumsum(steps * (lines[..., 1:] + lines[..., :-1]) / 2.0, axis=-1)
    if known(initial, "initial=") is not None:
        made = xp.concatenate([xp.full((*made.shape[:-1], 1), initial, made.dtype), made], -1)
    return xp.moveaxis(made, -1, axis)


FFT: Final[dict[str, Callable[..., Any]]] = {
    **{name: _along_one(name) for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")},
    **{name: _along_two(name) for name in ("fft2", "ifft2", "rfft2", "irfft2")},
    **{name: _along_some(name) for name in ("fftn", "ifftn", "rfftn", "irfftn")},
    **{name: _shifted(name) for name in ("fftshift", "ifftshift")},
}
INTEGRATE: Final[dict[str, Callable[..., Any]]] = {f.__name__: f for f in (trapezoid, cumulative_trapezoid)}
