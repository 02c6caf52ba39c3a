"""Views that a branch or a loop makes, outside of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant

X = np.array([1.0, -2.0, 3.0, -4.0, 5.0, 1.5])
CASES = [X, -X, np.abs(X)]


def turned_if(x: Any, k: Any) -> Any:
    y = x[: k[0]]
    if x[2] > 0:
        y = y[::-1]
    y[0] = 3 * x[3]
    return x * 1.0


def last_turned(x: Any, k: Any) -> Any:
    y = x
    for n in range(k[1]):
        y = x[: n + 2][::-1]
    return np.sum(y * y * np.arange(len(y))) * x


@pytest.mark.parametrize("backend", ["llvm", "reference"])
@pytest.mark.parametrize("f", [turned_if, last_turned])
@pytest.mark.parametrize("k", [np.array([3, 0]), np.array([4, 3])])
def test_a_view_backwards_that_is_not_made_reaches_no_other_memory(f: Any, k: Any, backend: Any) -> None:
    rows = np.stack(CASES)
    wanted = [f(row, k) for row in rows.copy()]
    np.testing.assert_allclose(pliant.jit(pliant.vmap(f, in_axes=(0, None)), backend=backend)(rows, k), wanted)
    for row, want in zip(rows, wanted, strict=True):
        np.testing.assert_allclose(pliant.jit(f, backend=backend)(row.copy(), k), want)
