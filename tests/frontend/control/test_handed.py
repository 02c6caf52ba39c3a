"""What is written to an array reaches it by whatever name a loop has left, or the next step has, for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from tests.frontend.control import laws
from tests.frontend.control.flows_handed import HANDED


@pytest.mark.parametrize("backend", ["reference", "llvm"])
@pytest.mark.parametrize("f", HANDED, ids=laws.name_of)
def test_writes_reach_the_array_that_a_name_has_from_another(f: Callable[..., Any], backend: str) -> None:
    compiled = pliant.jit(f, backend=backend)
    for n in range(5):
        for x in (laws.X, -laws.X):
            got, expected = (laws.outcome(lambda x, _, g=g, n=n: g(x, n), x) for g in (compiled, f))
            for a, b in zip(got, expected, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("n", [1, 5])
@pytest.mark.parametrize("f", HANDED, ids=laws.name_of)
def test_derivatives_of_what_is_written_are_differences(f: Callable[..., Any], n: int) -> None:
    laws.assert_derivatives_are_differences(lambda x, _: f(x, n))


@pytest.mark.parametrize("n", [1, 5])
@pytest.mark.parametrize("f", HANDED, ids=laws.name_of)
def test_a_batch_of_what_is_written_is_a_loop(f: Callable[..., Any], n: int) -> None:
    laws.assert_a_batch_is_a_loop(lambda x, _: f(x, n))


@pytest.mark.parametrize("f", HANDED, ids=laws.name_of)
def test_a_batch_whose_count_is_traced_is_a_loop(f: Callable[..., Any]) -> None:
    rows = np.stack([laws.X, -laws.X])

    def sums(rows: Any, n: Any) -> Any:
        return pliant.vmap(lambda x: laws.total(lambda y, _: f(y, n), x))(rows)

    for n in range(4):
        expected = [laws.total(lambda x, _, n=n: f(x, n), x) for x in rows]
        np.testing.assert_allclose(pliant.jit(sums)(rows, n), expected, rtol=1e-13)
