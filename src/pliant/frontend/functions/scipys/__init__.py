"""Functions of SciPy, known by name so that SciPy need not be imported: in terms of NumPy's, and of `scipy.special`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pliant.frontend.functions.scipys import (
    distances,
    equations,
    factors,
    linalg,
    loops,
    matrices,
    optimize,
    signals,
    special,
    transforms,
)

FUNCTIONS: Final[dict[str, dict[str, Callable[..., Any]]]] = {
    "scipy.linalg": {
        **linalg.FUNCTIONS,
        **factors.FUNCTIONS,
        **equations.FUNCTIONS,
        **matrices.FUNCTIONS,
        **loops.LINALG,
    },
    "scipy.special": special.FUNCTIONS,
    "scipy.spatial.distance": distances.FUNCTIONS,
    "scipy.optimize": optimize.FUNCTIONS,
    "scipy.fft": transforms.FFT,
    "scipy.integrate": transforms.INTEGRATE,
    "scipy.signal": signals.FUNCTIONS | loops.SIGNAL,
}
"""Module of SciPy → name of a function → the same over NumPy's. Parameters have SciPy's names; those that are not there
are refused unless they have SciPy's defaults."""
