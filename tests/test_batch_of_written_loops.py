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


def element_beside_block(x: Any) -> Any:
    y = x.copy()
    for k in range(1, len(x)):
        y[:k] += 0.1 * x[:k]
        y[k] = 0.5 * x[k]
    return y


def element_added_to(x: Any) -> Any:
    y = x.copy()
    for k in range(1, len(x)):
        y[k] *= 0.5
        y[:k] += 0.1 * y[k] * x[:k]
        y[k] += x[k - 1]
    return y


def element_under_a_condition(x: Any) -> Any:
    y = x.copy()
    for k in range(1, len(x)):
        y[:k] += 0.1 * x[:k]
        if k % 3 == 0:
            y[k] = 0.5 * y[k - 1]
    return y


def element_of_the_data(x: Any) -> Any:
    y = x.copy()
    for k in range(1, len(x)):
        y[:k] += 0.1 * x[:k]
        y[(np.argmax(x) + k) // 2] = x[k]
    return y


def row_beside_block(x: Any) -> Any:
    y = np.zeros((len(x), 3))
    for k in range(1, len(x)):
        y[:k] += 0.1 * x[:k, None]
        y[k, :] = x[k]
    return y


def column_beside_block(x: Any) -> Any:
    y = np.zeros((3, len(x)))
    for k in range(1, len(x)):
        y[:, :k] += 0.1 * x[:k]
        y[:, k] = x[k]
    return y


def durbin(r: Any) -> Any:
    y = np.empty_like(r)
    alpha, beta = -r[0], 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y


BESIDE_BLOCKS = [
    element_beside_block, element_added_to, element_under_a_condition, element_of_the_data, row_beside_block,
    column_beside_block, durbin,
]  # fmt: skip


@pytest.mark.parametrize("f", BESIDE_BLOCKS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("count", [2, 16])
def test_elements_beside_blocks_are_written_where_these_lie(f: Callable[[Any], Any], count: int) -> None:
    x = np.random.default_rng(0).normal(size=(count, 37)) / 10
    made = pliant.vmap(f)
    np.testing.assert_allclose(made(x), [f(row) for row in x], rtol=1e-11, atol=1e-13)
    text = str(pliant.explain(made, x))
    assert "copies" not in text
    assert not re.search(r"- scatter.*→ workspace", text)


@pytest.mark.parametrize("f", BESIDE_BLOCKS, ids=lambda f: f.__name__)
def test_derivatives_write_elements_where_blocks_lie(f: Callable[[Any], Any]) -> None:
    x = np.random.default_rng(0).normal(size=(5, 37)) / 10
    slope = pliant.grad(lambda x: (f(x) ** 2).sum())
    rows = [slope(row) for row in x]
    of_all = pliant.grad(lambda xs: (pliant.vmap(f)(xs) ** 2).sum())
    for made in (pliant.vmap(slope), of_all):
        np.testing.assert_allclose(made(x), rows, rtol=1e-10, atol=1e-13)
        assert "copies" not in str(pliant.explain(made, x))


def test_an_element_out_of_range_beside_blocks_is_an_error() -> None:
    def f(x: Any) -> Any:
        y = x.copy()
        for k in range(len(x)):
            y[:k] += x[:k]
            y[k + 1] = 0.5
        return y

    with pytest.raises(IndexError, match="8"):
        pliant.vmap(f)(np.ones((3, 8)))


def test_why_a_step_copies_names_what_it_copies() -> None:
    text = str(pliant.explain(pliant.vmap(lambda x: element_of_the_data(np.exp(x))), np.ones((3, 37))))
    assert not re.search(r"since  |argument ,", text)
