"""Names that exchange arrays in loops counted at run time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import UnsupportedError
from tests.frontend.control import flows_swapped, laws


@pytest.mark.parametrize("n", range(5))
@pytest.mark.parametrize("f", flows_swapped.SWAPPED, ids=laws.name_of)
def test_names_that_exchange_views_leave_arrays_as_python_does(f: Callable[..., Any], n: int) -> None:
    compiled = pliant.jit(f)
    got, expected = (laws.outcome(lambda x, _, g=g: g(x, n), laws.X) for g in (compiled, f))
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14)


@pytest.mark.parametrize("f", flows_swapped.SWAPPED, ids=laws.name_of)
def test_derivatives_of_exchanged_views_are_differences(f: Callable[..., Any]) -> None:
    laws.assert_derivatives_are_differences(f)


@pytest.mark.parametrize("f", flows_swapped.SWAPPED, ids=laws.name_of)
def test_a_batch_of_exchanged_views_is_a_loop(f: Callable[..., Any]) -> None:
    laws.assert_a_batch_is_a_loop(f)


def test_a_batch_of_views_that_are_exchanged_by_data_and_written_is_refused() -> None:
    def f(x: Any) -> Any:
        y = x * 0.5
        while x.sum() < 5:
            x, y = y[::-1], x
            x[0] += 1
        return y

    np.testing.assert_array_equal(pliant.jit(f)(np.zeros(3)), f(np.zeros(3)))
    with pytest.raises(UnsupportedError, match="exchange views of arrays that are written"):
        pliant.vmap(f)(np.zeros((2, 3)))
