"""NumPy's functions, ufuncs and methods as tables over primitives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pliant.frontend.functions import (
    create,
    edit,
    fft,
    histogram,
    index,
    join,
    linalg,
    math,
    norms,
    order,
    products,
    quantiles,
    reduce,
    scan,
    shape,
    statistics,
    unsupported,
    windows,
)
from pliant.frontend.functions.at import AT
from pliant.frontend.functions.methods import METHODS, PROPERTIES
from pliant.frontend.functions.ufuncs import NAMED_UFUNCS, UFUNCS
from pliant.ops import scan as scans

MODULES: Final = (
    reduce, statistics, quantiles, histogram, scan, order, shape, join, edit, index, math, create,
    windows, products, linalg, norms, fft,
)  # fmt: skip

FUNCTIONS: Final[dict[Callable[..., Any], Callable[..., Any]]] = {
    **unsupported.FUNCTIONS,
    **{function: ours for module in MODULES for function, ours in module.FUNCTIONS.items()},
}
"""NumPy function → the same over primitives."""

UNSUPPORTED: Final = {f: hint for f, hint in unsupported.HINTS.items() if FUNCTIONS[f] is unsupported.FUNCTIONS[f]}
"""NumPy function that always raises UnsupportedError → what to do instead."""

REDUCTIONS: Final[dict[np.ufunc, Callable[..., Any]]] = {
    np.add: reduce.sum_,
    np.multiply: reduce.prod,
    np.maximum: reduce.max_,
    np.minimum: reduce.min_,
    np.logical_and: reduce.all_,
    np.logical_or: reduce.any_,
    np.logaddexp: reduce.logaddexp_reduce,
    **{u: reduce.tree(u) for u in (np.fmax, np.fmin, np.hypot, np.logaddexp2, np.gcd, np.lcm)},
    **{u: reduce.tree(u, 0) for u in (np.bitwise_or, np.bitwise_xor)},
    np.bitwise_and: reduce.tree(np.bitwise_and),
    np.logical_xor: reduce.truth_tree(np.logical_xor),
}
"""Ufunc → its `reduce`."""

ACCUMULATIONS: Final[dict[np.ufunc, Callable[..., Any]]] = {
    np.add: scan.accumulate(scans.cumsum, is_sum=True),
    np.multiply: scan.accumulate(scans.cumprod, is_sum=True),
    np.maximum: scan.accumulate(scans.cummax),
    np.minimum: scan.accumulate(scans.cummin),
}
"""Ufunc → its `accumulate`."""

__all__ = [
    "ACCUMULATIONS",
    "AT",
    "FUNCTIONS",
    "METHODS",
    "NAMED_UFUNCS",
    "PROPERTIES",
    "REDUCTIONS",
    "UFUNCS",
    "UNSUPPORTED",
]
