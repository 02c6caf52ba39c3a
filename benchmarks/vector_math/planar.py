"""How far functions of complex numbers are from the truth, in each part, in units of its last place."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from benchmarks.vector_math.errors import Error, op_of
from pliant.backends.llvm import BACKEND
from pliant.core.build import trace
from pliant.core.types import Type

Array = Any
NAMES: Final = ("exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")
DTYPES: Final = {"c128": np.complex128, "c64": np.complex64}
WIDE: Final = {"c128": np.clongdouble, "c64": np.complex128}
FEW: Final = (
    0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, 3.0, 5e-324, -1e-45, 2.3e-308, 1.2e-38, 3.4e38, -1.7e308, 89.0,
    710.0, -104.0, -750.0, 50.0, 400.0, 1e9, 65536.0, 1e22,
)  # fmt: skip
"""Parts of special arguments: all pairs of them are taken."""


def compiled(name: str, z: Array) -> Array:
    """A function by Pliant."""
    dtype = next(d for d, t in DTYPES.items() if z.dtype == t)
    return BACKEND.compile(trace(lambda a: op_of(name).apply(a)[0], Type(dtype, z.shape)))([z])[0]


def by_numpy(name: str, z: Array) -> Array:
    """A function by NumPy."""
    with np.errstate(all="ignore"):
        return getattr(np, name)(z)


def arguments(name: str, dtype: str, count: int, seed: int = 0) -> Array:
    """Arguments near the origin, of all sizes, and close to the unit circle."""
    rng = np.random.default_rng(seed)
    largest, steep = (300, 700) if dtype == "c128" else (37, 80)
    parts = [
        rng.normal(size=(2, count)),
        rng.uniform(-steep, steep, (2, count)),
        10.0 ** rng.uniform(-largest, largest if name in ("log", "sqrt") else 2, (2, count)),
        (1 + rng.normal(size=count) * 10.0 ** rng.uniform(-20, 0, count)) * _circle(rng.uniform(0, 7, count)),
    ]
    x, y = np.concatenate(parts, axis=1) * rng.choice([-1, 1], (2, 4 * count))
    return paired(x, y, dtype)


def _circle(angle: Array) -> Array:
    return np.array([np.cos(angle), np.sin(angle)])


def paired(x: Array, y: Array, dtype: str) -> Array:
    """x + iy, of infinite parts too."""
    z = np.empty(x.shape, DTYPES[dtype])
    with np.errstate(over="ignore"):
        z.real, z.imag = x, y
    return z


def special(dtype: str) -> Array:
    """All pairs of special parts."""
    x, y = (a.ravel() for a in np.meshgrid(FEW, FEW))
    return paired(x, y, dtype)


def error(name: str, got: Array, z: Array) -> Error:
    """The greatest error of a part where the true one is finite; below the least normal number, in its unit."""
    dtype = next(d for d, t in DTYPES.items() if z.dtype == t)
    wanted, worst = by_numpy(name, z.astype(WIDE[dtype])), Error(0.0, ())
    for mine, true in ((got.real, wanted.real), (got.imag, wanted.imag)):
        with np.errstate(all="ignore"):
            rounded = true.astype(mine.dtype)
            unit = np.spacing(np.abs(rounded)).astype(np.longdouble)
            ulps = np.where(np.isfinite(rounded), np.abs(mine.astype(np.longdouble) - true) / unit, 0)
        at = int(np.argmax(np.where(np.isnan(ulps), np.inf, ulps)))
        if not ulps[at] <= worst.ulps:
            worst = Error(float(ulps[at]), (float(z[at].real), float(z[at].imag)))
    return worst
