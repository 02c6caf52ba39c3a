"""Batches of loops that write rows, and the same array elsewhere too: no step copies, whatever order axes have."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant


def first_row_too(x: Any) -> Any:
    y = x.copy()
    for t in range(1, len(y)):
        y[t] = 0.5 * y[t - 1]
        y[0] += y[t]
    return y


def first_rows_scaled(x: Any) -> Any:
    for t in range(2, len(x)):
        x[t] += x[t - 1] * x[0]
        x[:2] *= 0.9
    return x


def first_row_read(x: Any) -> Any:
    h = np.zeros(x.shape[1])
    for t in range(len(x)):
        h = np.tanh(x[0] * h + x[t])
    return h.sum() + x


def last_column_read(x: Any) -> Any:
    h = np.zeros(x.shape[1])
    for t in range(len(x)):
        h = np.tanh(x[t] + x[-2:, ::-1].sum(0) + h)
        x[t, 1:] += h[:-1]
    return h.sum() + x


PROGRAMS = [first_row_too, first_rows_scaled, first_row_read, last_column_read]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_batch_and_its_gradient_are_loops(f: Callable[[Any], Any]) -> None:
    x = np.random.default_rng(0).normal(size=(3, 40, 4))
    np.testing.assert_allclose(pliant.vmap(f)(x.copy()), [f(row.copy()) for row in x], rtol=1e-12)
    slope = pliant.grad(lambda x: (f(x) ** 2).sum())
    np.testing.assert_allclose(pliant.vmap(slope)(x), [slope(row) for row in x], rtol=1e-10)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("is_gradient", [False, True])
def test_no_step_walks_the_array(f: Callable[[Any], Any], is_gradient: bool) -> None:
    slope = pliant.grad(lambda x: (f(x) ** 2).sum())
    made = pliant.vmap(slope if is_gradient else f)
    text = str(pliant.explain(made, np.ones((3, 4099, 5))))
    inside = [line for line in text.splitlines() if re.match(r" +- nest over", line)]
    assert inside
    assert not [line for line in inside if "4099" in line]
