"""Windows that slide over arrays: NumPy's views, and their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from numpy.testing import assert_array_equal

import pliant
from pliant.errors import ReadOnlyError, ShapeError, UnsupportedError
from pliant.testing import check_gradient


@pytest.mark.parametrize("backend", ["reference", "llvm"])
@pytest.mark.parametrize(
    ("window", "axis"), [((2, 3), None), (2, 0), (3, -1), ((2, 2), (1, 1)), ((1, 4), None), ((), ())]
)
def test_windows_are_numpys_views(window: Any, axis: Any, backend: str) -> None:
    def f(x: Any) -> Any:
        y = sliding_window_view(x, window, axis)
        x[1] += 1
        return y, y.sum(-1)

    compiled = pliant.jit(f, backend=backend)
    for _ in range(2):
        ours, theirs = np.arange(20.0).reshape(5, 4), np.arange(20.0).reshape(5, 4)
        made, wanted = compiled(ours), f(theirs)
        for m, w in zip(made, wanted, strict=True):
            assert_array_equal(m, w)
            assert np.shares_memory(m, ours) == np.shares_memory(w, theirs)


def test_windows_have_derivatives() -> None:
    check_gradient(lambda x: (sliding_window_view(x**2, 3).mean(-1) ** 2).sum(), np.arange(6.0))


@pytest.mark.parametrize(
    ("error", "f"),
    [
        (ReadOnlyError, lambda x: sliding_window_view(x, 2).fill(1)),
        (ShapeError, lambda x: sliding_window_view(x, 9)),
        (ShapeError, lambda x: sliding_window_view(x, (2, 2))),
        (UnsupportedError, lambda x: sliding_window_view(x, 2, writeable=True)),
    ],
)
def test_what_is_refused(error: type[Exception], f: Any) -> None:
    with pytest.raises(error):
        pliant.jit(f)(np.arange(5.0))
