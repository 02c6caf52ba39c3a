"""Means and variances along axes, of every kind of numbers, are NumPy's: dtype, shape and numbers."""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

import numpy as np
import pytest

import pliant

X = np.arange(20.0).reshape(4, 5) - 3.5
MASK = (X % 3 < 2) | (np.arange(5) == 0) | (np.arange(4) == 0)[:, None]
WHERE: list[dict[str, Any]] = [{}, {"where": MASK}, {"where": MASK[:1]}]
WAYS: list[dict[str, Any]] = [
    {"axis": axis, "keepdims": keepdims, **where}
    for axis, keepdims, where in product((None, 0, -1, (0, 1)), (False, True), WHERE)
]
"""Axes, whether they stay, and where elements count."""


def refusal(name: str, x: Any) -> str | None:
    """What is said of a dtype of integers; None if it is taken."""
    if x.dtype.kind == "f" and name.startswith("nan"):
        return "If a is inexact, then dtype must be inexact"
    return None if "mean" in name else "which would round the mean"


@pytest.mark.parametrize("name", ["mean", "nanmean", "var", "nanvar", "std", "nanstd"])
@pytest.mark.parametrize(
    ("data", "dtype"),
    [("f8", None), ("f8", "i4"), ("f4", "f8"), ("f4", None), ("i4", None), ("i4", "u1"), ("i4", "f4"), ("?", None)],
)
def test_along_axes(name: str, data: str, dtype: Any) -> None:
    fn, x = getattr(np, name), abs(X).astype(data)
    if x.dtype.kind == "f" and name.startswith("nan"):
        x[1, 2] = np.nan
    error = None if dtype not in ("i4", "u1") else refusal(name, x)
    if error is not None:
        with pytest.raises(pliant.errors.PliantError, match=error):
            pliant.jit(lambda x: fn(x, dtype=dtype))(x)
        return

    def all_ways(x: Any) -> Any:
        return [fn(x, dtype=dtype, **way) for way in WAYS]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted, found = all_ways(x), pliant.jit(all_ways)(x)
    for way, one, other in zip(WAYS, wanted, found, strict=True):
        assert (type(one), one.dtype, one.shape) == (type(other), other.dtype, other.shape), way
        np.testing.assert_allclose(other, one, rtol=1e-5, err_msg=str(way))
