"""Rows that a loop takes one after the other, and what inner loops read and write of them: views, as in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.testing import check_gradient


def transposed_planes(u: Any) -> Any:
    for k in range(len(u)):
        row = u[k].T
        for i in range(1, len(row)):
            row[i] += row[i - 1] * 0.2
            row[i, :i] *= 0.5
            row[:i, i] += row[i, :i]
            row[2:4, i] *= row[i, 1:3]
    return u


def rows_of_every_second_plane(u: Any) -> Any:
    for p in u[::2]:
        for i in range(1, 7):
            q = p[i]
            for j in range(6, 0, -1):
                q[j] *= 0.5 * q[j - 1] + p[i - 1, j]
            q[:3] += q[3:6]
            q[i:] *= 1.1
    return u


def neighbouring_planes(u: Any) -> Any:
    s = 0.0
    for a, b in zip(u[:3], u[3:0:-1], strict=True):
        for i in range(7):
            s += a[i] @ b[:, i]
            a[i, i] = s * 0.1
            b[i][::2] *= 0.9
    return u * s


def windows_of_windows(u: Any) -> Any:
    v = u[:, 2:6, :]
    for k in range(4):
        w = v[k, :, 1:]
        for i in range(4):
            for j in range(6):
                w[i, j] += np.sin(w[i - 1, j - 1]) * 0.3
    return u


def rows_of_parts(u: Any) -> Any:
    n = len(u)
    for k in range(n):
        for r in u[k:]:
            r[k] *= 0.9
            for c in r[:k]:
                c[k] += 1
    return u


PROGRAMS: list[Callable[[Any], Any]] = [
    transposed_planes, rows_of_every_second_plane, neighbouring_planes, windows_of_windows, rows_of_parts
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_rows_are_views(f: Callable[[Any], Any]) -> None:
    u = np.random.default_rng(0).random((4, 7, 7))
    weights = np.cos(np.arange(u.size)).reshape(u.shape)
    for x in (u, np.asfortranarray(u), u[::-1, :, ::-1]):
        ours, theirs = x.copy(), x.copy()
        np.testing.assert_allclose(pliant.jit(f)(ours), f(theirs), rtol=1e-12)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    check_gradient(lambda u: np.sum(weights * f(u * 1.0)), u)
    batch = np.stack([u, u[::-1]])
    np.testing.assert_allclose(pliant.vmap(f)(batch), [f(x.copy()) for x in batch], rtol=1e-12)


def planes_by_elements(u: Any, x: Any) -> Any:
    for plane in u:
        for i in range(1, 3):
            for k in range(1, 210):
                plane[i, k] += np.sin(plane[i - 1, k]) * plane[i, k - 1]
    return u


def rows_and_others(u: Any, x: Any) -> Any:
    rows = u.reshape(-1, 211)
    for row, other in zip(rows, rows[::-1], strict=True):
        for k in range(1, 210):
            if x[k] > 0.5:
                row[k] = row[k - 1] * 0.5 + other[k] * row[k + 1]
    return u


@pytest.mark.parametrize("f", [planes_by_elements, rows_and_others], ids=lambda f: f.__name__)
def test_no_step_of_an_inner_loop_passes_over_a_row(f: Callable[[Any, Any], Any]) -> None:
    rng = np.random.default_rng(0)
    u, x = rng.random((8, 3, 211)), rng.random(211)

    def total(u: Any, x: Any) -> Any:
        return np.sum(f(u * 1.0, x))

    for fn in (total, pliant.grad(total)):
        plan = str(pliant.explain(fn, u, x)).split("loops of the source")[1]
        inner = [line for line in plan.splitlines() if line.startswith("    - nest over")]
        assert inner
        assert not [line for line in inner if "nest over no loop" not in line]
    check_gradient(total, u, x)


def test_an_index_beyond_a_row_is_an_error_though_the_array_has_such_a_place() -> None:
    def f(u: Any, n: int) -> Any:
        total = 0.0
        for k in range(3):
            row = u[k, 1:4]
            for i in range(n):
                total += row[i]
        return total

    u = np.arange(30.0).reshape(3, 10)
    assert pliant.jit(f)(u, 3) == f(u, 3)
    with pytest.raises(IndexError):
        pliant.jit(f)(u, 4)
