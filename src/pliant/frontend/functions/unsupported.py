"""NumPy's functions that Pliant does not compile, each with what to do instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.frontend.functions.common import refuse

_UNIQUE = "np.unique(x, return_counts=True, …) gives the same"
_FILES = "write the result to a file after the call"

HINTS: dict[Callable[..., Any], str] = {
    np.unique_all: _UNIQUE,
    np.unique_counts: _UNIQUE,
    np.unique_inverse: _UNIQUE,
    np.unique_values: _UNIQUE,
    np.array2string: "print the result after the call",
    np.array_repr: "print the result after the call",
    np.array_str: "print the result after the call",
    np.save: _FILES,
    np.savez: _FILES,
    np.savez_compressed: _FILES,
    np.savetxt: _FILES,
}
"""NumPy function → what to do instead."""

FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    function: refuse(function.__name__, hint) for function, hint in HINTS.items()
}
"""NumPy function → what raises UnsupportedError."""
