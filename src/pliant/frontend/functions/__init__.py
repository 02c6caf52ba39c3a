"""NumPy's functions, ufuncs and methods as tables over primitives."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

from pliant.frontend.functions import (
    create,
    distinct,
    edit,
    fft,
    found,
    histogram,
    index,
    join,
    linalg,
    math,
    norms,
    order,
    packed,
    pad,
    polynomials,
    products,
    quantiles,
    reduce,
    scan,
    shape,
    statistics,
    ufunc_methods,
    unsupported,
    windows,
)
from pliant.frontend.functions.at import AT
from pliant.frontend.functions.methods import METHODS, PROPERTIES, REFUSED_METHODS, REFUSED_PROPERTIES
from pliant.frontend.functions.special import NAMED_UFUNCS
from pliant.frontend.functions.ufuncs import UFUNCS
from pliant.ops import scan as scans

MODULES: Final = (
    reduce, statistics, quantiles, histogram, scan, order, shape, join, edit, pad, index, math, create, packed,
    found, distinct,
    windows, products, polynomials, linalg, norms, fft,
)  # fmt: skip

FUNCTIONS: Final[dict[Callable[..., Any], Callable[..., Any]]] = {
    **unsupported.FUNCTIONS,
    **{function: ours for module in MODULES for function, ours in module.FUNCTIONS.items()},
}
"""NumPy function → the same over primitives."""

UNSUPPORTED: Final = {f: hint for f, hint in unsupported.HINTS.items() if FUNCTIONS[f] is unsupported.FUNCTIONS[f]}
"""NumPy function that always raises UnsupportedError → what to do instead."""

BINARY: Final = tuple(u for u in UFUNCS if u.nin == 2 and u.nout == 1 and u.signature is None and u is not np.ldexp)
ASSOCIATIVE: Final = (
    np.fmax, np.fmin, np.hypot, np.logaddexp2, np.gcd, np.lcm, np.bitwise_and, np.bitwise_or, np.bitwise_xor,
)  # fmt: skip

REDUCTIONS: Final[dict[np.ufunc, Callable[..., Any]]] = {
    **{u: ufunc_methods.in_order(u) for u in BINARY},
    **{u: reduce.tree(u) for u in ASSOCIATIVE},
    np.add: reduce.sum_,
    np.multiply: reduce.prod,
    np.maximum: reduce.max_,
    np.minimum: reduce.min_,
    np.logical_and: reduce.all_,
    np.logical_or: reduce.any_,
    np.logaddexp: reduce.logaddexp_reduce,
    np.logical_xor: reduce.truth_tree(np.logical_xor),
}
"""Ufunc → its `reduce`."""

ACCUMULATIONS: Final[dict[np.ufunc, Callable[..., Any]]] = {
    **{u: ufunc_methods.in_steps(u) for u in BINARY},
    np.add: scan.accumulate(scans.cumsum, is_sum=True),
    np.multiply: scan.accumulate(scans.cumprod, is_sum=True),
    np.maximum: ufunc_methods.ordered(np.maximum, scan.accumulate(scans.cummax)),
    np.minimum: ufunc_methods.ordered(np.minimum, scan.accumulate(scans.cummin)),
}
"""Ufunc → its `accumulate`."""

PARTS: Final[dict[np.ufunc, Callable[..., Any]]] = {u: partial(ufunc_methods.reduceat, u) for u in BINARY}
"""Ufunc → its `reduceat`."""

__all__ = [
    "ACCUMULATIONS",
    "AT",
    "FUNCTIONS",
    "METHODS",
    "NAMED_UFUNCS",
    "PARTS",
    "PROPERTIES",
    "REDUCTIONS",
    "REFUSED_METHODS",
    "REFUSED_PROPERTIES",
    "UFUNCS",
    "UNSUPPORTED",
]
