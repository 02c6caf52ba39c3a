"""Arrays that are written in several shapes are written where they lie, and what is read of them before is right."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pliant

COLUMNS, STEPS = 256, 40


def rows(x: Any) -> None:
    a = x.reshape(-1, COLUMNS)
    for k in range(1, STEPS):
        a[k] -= a[k - 1] * 0.5


def rows_of_rows(x: Any) -> None:
    a = x.reshape(-1, 16, 16)
    for k in range(1, STEPS):
        for j in range(1, 4):
            a[k, j] -= a[k - 1, j] * 0.5 + np.sin(a[k, j - 1])


def until_known(x: Any) -> None:
    a, k = x.reshape(-1, COLUMNS), 1
    while k < STEPS and a[k, 0] < 2.0:
        a[k] -= a[k - 1] * 0.5
        k += 1


def shown_in_steps(x: Any) -> None:
    for k in range(STEPS):
        x.reshape(-1, 4)[k] += x.reshape(-1, 4)[k + 1] * 2.0


def two_shapes(x: Any) -> None:
    a, b = x.reshape(-1, COLUMNS), x.reshape(-1, 16, 16)
    for k in range(1, STEPS):
        b[k, 1] = a[k, 3] + a[k + 1, :16]
        a[k, :16] = b[k - 1, 2] * x[16 * k : 16 * k + 16]
        x[k] = a[k, 2] + b[k, 2, 3]


def read_flat(x: Any) -> None:
    a = x.reshape(-1, COLUMNS)
    for k in range(1, STEPS):
        a[k] -= x[(k - 1) * COLUMNS : k * COLUMNS] * x[k]


def swapped(x: Any) -> None:
    a = x.reshape(-1, COLUMNS)
    for k in range(1, STEPS):
        before = x[k * COLUMNS : (k + 1) * COLUMNS].copy()
        a[k] = a[k - 1] * 2.0
        x[(k - 1) * COLUMNS : k * COLUMNS] = before


def on_condition(x: Any) -> None:
    a = x.reshape(-1, COLUMNS)
    for k in range(1, STEPS):
        if a[k, 0] > 0.0:
            a[k] -= a[k - 1] * 0.5
        else:
            x[k] = a[k, 1] * a[k, 2]


def summed_up(x: Any) -> None:
    a = x.reshape(-1, COLUMNS)
    for k in range(1, STEPS):
        a[k] = a[k - 1] / (1.0 + np.abs(a[k]).sum())
        x[k] = a[k].max()


def elements(x: Any) -> None:
    a = x.reshape(-1, COLUMNS)
    for k in range(1, STEPS):
        a[k, k] += x[5 * k] * a[k - 1, 3]
        x[3 * k] = a[k, k] * 2.0


WRITTEN = [
    rows, rows_of_rows, until_known, shown_in_steps, two_shapes, read_flat, swapped, on_condition, summed_up, elements,
]  # fmt: skip


def workspace(f: Any, *args: Any) -> int:
    """Bytes of memory beside arguments and results."""
    found = re.search(r"([\d,]+) bytes of workspace", pliant.explain(f, *args).memory)
    return int(found[1].replace(",", "")) if found else 0


def data(seed: int) -> Any:
    return np.random.default_rng(seed).normal(size=128 * COLUMNS)


@pytest.mark.parametrize("f", WRITTEN)
def test_an_array_written_in_another_shape_is_written_where_it_lies(f: Callable[..., None]) -> None:
    compiled = pliant.jit(f)
    assert workspace(f, data(0)) < data(0).nbytes // 16
    for seed in range(3):
        x, y = data(seed), data(seed)
        f(x)
        compiled(y)
        assert_allclose(y, x, rtol=1e-12)


@pytest.mark.parametrize("f", WRITTEN)
def test_so_is_its_cotangent(f: Callable[..., None]) -> None:
    def energy(x: Any) -> Any:
        y = x.copy()
        f(y)
        return (y * y).sum()

    gradient = pliant.grad(energy)
    assert f"copies {data(0).nbytes:,} bytes" not in pliant.explain(gradient, data(0)).memory
    assert workspace(gradient, data(0)) < 2 * data(0).nbytes  # the array that is returned is not of it
    for seed in range(2):
        x, dx = data(seed), 1e-6 * data(seed + 5)
        assert_allclose(gradient(x) @ dx, (energy(x + dx) - energy(x - dx)) / 2, rtol=1e-4)


def test_a_read_only_array_is_copied_once_for_that() -> None:
    def f(x: Any) -> Any:
        a = np.array(x).reshape(-1, COLUMNS)
        for k in range(1, STEPS):
            a[k] -= a[k - 1] * 0.5
        return a, x.sum()

    x = data(0)
    x.flags.writeable = False
    assert_allclose(pliant.jit(f)(x)[0], f(x)[0], rtol=1e-12)
    assert_allclose(x, data(0))


def test_an_array_is_left_as_it_is_if_a_place_in_another_shape_fails() -> None:
    def f(x: Any, i: Any) -> None:
        x.reshape(-1, COLUMNS)[i, i] = x[:3]

    compiled, places = pliant.jit(f), np.array([0, 5, 128])
    x = data(0)
    with pytest.raises(IndexError):
        compiled(x, places)
    assert_allclose(x, data(0))
    compiled(x, places - 1)
    want = data(0)
    f(want, places - 1)
    assert_allclose(x, want)
