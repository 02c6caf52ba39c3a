"""A few elements that are read before a write and used after it are kept: their array is written in place."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.testing import assert_allclose

import pliant


def sections(s: Any, x: Any) -> Any:
    """Filters of second order, one after the other, of two channels."""
    state, out = np.zeros((s.shape[0], 2, 2)), x.copy()
    for n in range(x.shape[-1]):
        for k in range(s.shape[0]):
            xn = out[..., n].copy()
            out[..., n] = s[k, 0] * xn + state[k, 0]
            state[k, 0] = s[k, 1] * xn - s[k, 4] * out[..., n] + state[k, 1]
            state[k, 1] = s[k, 2] * xn - s[k, 5] * out[..., n]
    return np.sum(out * out)


def test_no_step_of_a_gradient_copies_an_array_that_it_changes() -> None:
    rng = np.random.default_rng(0)
    s, x = rng.normal(size=(3, 6)) * 0.3, rng.normal(size=(2, 400))
    text = str(pliant.explain(pliant.grad(sections, argnums=(0, 1)), s, x))
    assert f"copies {x.nbytes:,} bytes" not in text


def test_its_derivatives() -> None:
    rng = np.random.default_rng(1)
    s, x = rng.normal(size=(3, 6)) * 0.3, rng.normal(size=(2, 9))
    ds, dx = pliant.grad(sections, argnums=(0, 1))(s, x)
    for array, slope in ((s, ds), (x, dx)):
        for k in np.ndindex(array.shape):
            step = np.zeros_like(array)
            step[k] = 1e-6
            ends = [sections(*(a + sign * step if a is array else a for a in (s, x))) for sign in (1, -1)]
            assert_allclose(slope[k], (ends[0] - ends[1]) / 2e-6, rtol=1e-5, atol=1e-6)
