"""How far functions are from the truth, in units of the last place (ulp), over many arguments."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Final, final
from unittest import mock

import numpy as np

from pliant.backends.llvm import BACKEND
from pliant.core.build import trace
from pliant.core.ir import Op
from pliant.core.types import Type
from pliant.ops import ALL

Array = Any
NAMES: Final = (
    "exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh arcsinh arccosh "
    "arctanh cbrt hypot pow"
).split()
TWO: Final = ("arctan2", "hypot", "pow")
DTYPES: Final = {"f64": np.float64, "f32": np.float32}
SPANS: Final = {
    "exp": (-745, 709.7), "exp2": (-1074, 1023.9), "expm1": (-50, 709.7), "sinh": (-710, 710), "cosh": (-710, 710),
    "tanh": (-20, 20), "sin": (-1e6, 1e6), "cos": (-1e6, 1e6), "tan": (-1e6, 1e6), "arcsin": (-1, 1),
    "arccos": (-1, 1), "arctanh": (-1, 1), "pow": (-300, 300),
}  # fmt: skip
"""Where arguments are drawn from, for f64; f32 takes an eighth of exponents, and a hundredth of angles."""
SPECIAL: Final = (
    0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 5e-324, -5e-324, 1e-310, 1e-45,
    -1e-40, 2.3e-308, 1.7e308, -1.7e308, 1.2e-38, 3.4e38, -3.4e38, 709.78, 709.79, -745.2, 710.47, 710.48, 88.72, 88.73,
    89.41, 89.42, -103.97, -104.0, 1e5, 65536.0, 1e9, 2.0**30, 1e22, -1e22,
)  # fmt: skip
"""Zeros, infinities, the least and greatest numbers, and the ends of ranges."""


@final
@dataclass(frozen=True)
class Error:
    """The greatest error of a function, and the arguments where it is."""

    ulps: float
    at: tuple[float, ...]


def op_of(name: str) -> Op:
    """The primitive of a name."""
    return ALL[name]()


def compiled(name: str, implementation: str, xs: tuple[Array, ...]) -> Array:
    """A function by Pliant; implementation: "own" or "system", or "" for what it takes by itself."""
    dtype = next(d for d, t in DTYPES.items() if xs[0].dtype == t)
    with mock.patch.dict(os.environ, {"PLIANT_MATH": implementation}):
        fn = trace(lambda *a: op_of(name).apply(*a)[0], *[Type(dtype, x.shape) for x in xs])
        return BACKEND.compile(fn)(list(xs))[0]


def by_numpy(name: str, xs: tuple[Array, ...]) -> Array:
    """A function by NumPy."""
    with np.errstate(all="ignore"):
        return getattr(np, {"pow": "power"}.get(name, name))(*xs)


def exact(name: str, xs: tuple[Array, ...]) -> Array:
    """A function in a wider format: the truth, to some digits more."""
    wide = np.float64 if xs[0].dtype == np.float32 else np.longdouble
    return by_numpy(name, tuple([x.astype(wide) for x in xs]))


def arguments(name: str, dtype: str, count: int, seed: int = 0) -> tuple[Array, ...]:
    """Arguments all over a function's range, of all sizes, and near 1."""
    rng = np.random.default_rng(seed)
    low, high = SPANS.get(name, (-1e3, 1e3))
    if dtype == "f32" and high > 1:
        low, high = (low / 100, high / 100) if high == 1e6 else (low / 8, high / 8)
    largest = 300 if dtype == "f64" else 37

    def one() -> Array:
        parts = [
            rng.uniform(low, high, count),
            rng.normal(size=count),
            10.0 ** rng.uniform(-largest, largest, count) * rng.choice([-1, 1], count),
            (1 + rng.normal(size=count) * 10.0 ** rng.uniform(-15, 0, count)) * rng.choice([-1, 1], count),
        ]
        return np.concatenate(parts).astype(DTYPES[dtype])

    return (one(), rng.permutation(one())) if name in TWO else (one(),)


def special(name: str, dtype: str) -> tuple[Array, ...]:
    """All special arguments, or all pairs of them."""
    with np.errstate(over="ignore"):
        x = np.array(SPECIAL).astype(DTYPES[dtype])
    return tuple([a.ravel() for a in np.meshgrid(x, x)]) if name in TWO else (x,)


def error(name: str, got: Array, xs: tuple[Array, ...]) -> Error:
    """The greatest error where the true result is finite."""
    wanted = exact(name, xs)
    with np.errstate(all="ignore"):
        rounded = wanted.astype(got.dtype)
        unit = np.spacing(np.abs(rounded)).astype(np.longdouble)
        ulps = np.where(np.isfinite(rounded), np.abs(got.astype(np.longdouble) - wanted) / unit, 0)
    worst = int(np.argmax(np.where(np.isnan(ulps), np.inf, ulps)))
    return Error(float(ulps[worst]), tuple([float(x[worst]) for x in xs]))
