"""Contractions as BLAS calls, however their operands lie in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant


@pytest.mark.parametrize(
    ("spec", "left", "right"),
    [
        ("ab,bc->ac", (20, 30), (30, 40)),
        ("ab,cad->bcd", (12, 12), (3, 12, 12)),  # the free axes of the right operand stand apart
        ("abc,dbe->acde", (4, 12, 12), (5, 12, 9)),
        ("xab,xcad->xbcd", (2, 12, 12), (2, 6, 12, 10)),
    ],
)
@pytest.mark.parametrize("view", [lambda x: x, lambda x: x[..., ::-1], lambda x: 2 * x], ids=["as is", "view", "made"])
def test_contraction_agrees_with_numpy(spec: str, left: tuple[int, ...], right: tuple[int, ...], view: Any) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal(left), rng.standard_normal(right)
    got = pliant.jit(lambda x, y: np.einsum(spec, view(x), view(y)))(x, y)
    np.testing.assert_allclose(got, np.einsum(spec, view(x), view(y)), rtol=1e-12, atol=1e-12)
