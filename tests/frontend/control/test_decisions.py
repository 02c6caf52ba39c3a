"""Sequential minimal optimisation, whose decisions (clipped or not, changed or not) any rounding turns into others: with
numbers that are rounded to multiples of 2⁻¹², so that sums of any order are the same, every path is NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant


def on_the_grid(x: Any) -> Any:
    return np.floor(x * 4096) / 4096


def bounds(same: Any, ai: Any, aj: Any, c: Any) -> Any:
    if same:
        return max(0.0, ai + aj - c), min(c, ai + aj)
    return max(0.0, aj - ai), min(c, c + aj - ai)


def by_a_table(x: Any, y: Any, c: Any, table: Any) -> Any:
    """The second index is that of a table; errors are computed where they are needed."""
    n, a, b, passes, count, sweeps = len(y), np.zeros(len(y)), 0.0, 0, 0, 0
    while passes < 2 and sweeps < 40:
        changed = 0
        for i in range(n):
            ei = np.sum(a * y * (x @ x[i])) + b - y[i]
            if not ((y[i] * ei < -0.001 and a[i] < c) or (y[i] * ei > 0.001 and a[i] > 0)):
                continue
            j = table[count % len(table)]
            count += 1
            if j == i:
                continue
            ej = np.sum(a * y * (x @ x[j])) + b - y[j]
            ai, aj = a[i], a[j]
            low, high = bounds(y[i] == y[j], ai, aj, c)
            if low == high:
                continue
            eta = 2 * x[i] @ x[j] - x[i] @ x[i] - x[j] @ x[j]
            if eta >= 0:
                continue
            a[j] -= on_the_grid(y[j] * (ei - ej) / eta)
            a[j] = min(high, max(low, a[j]))
            if abs(a[j] - aj) < 1e-4:
                a[j] = aj
                continue
            a[i] += y[i] * y[j] * (aj - a[j])
            b1 = b - ei - y[i] * (a[i] - ai) * (x[i] @ x[i]) - y[j] * (a[j] - aj) * (x[i] @ x[j])
            b2 = b - ej - y[i] * (a[i] - ai) * (x[i] @ x[j]) - y[j] * (a[j] - aj) * (x[j] @ x[j])
            if 0 < a[i] < c:
                b = b1
            elif 0 < a[j] < c:
                b = b2
            else:
                b = on_the_grid((b1 + b2) / 2)
            changed += 1
        passes = passes + 1 if changed == 0 else 0
        sweeps += 1
    return a, b, sweeps, count


def by_kept_errors(x: Any, y: Any, c: Any, table: Any) -> Any:
    """The second index is that of the most different error; all errors are kept up to date."""
    n, a, b, errors, sweep = len(y), np.zeros(len(y)), 0.0, -y.copy(), 0
    k = x @ x.T
    for sweep in range(30):  # noqa: B007
        changed = 0
        for i in range(n):
            r = errors[i] * y[i]
            if (r < -0.001 and a[i] < c) or (r > 0.001 and a[i] > 0):
                j, best = -1, 0.0
                for t in range(n):
                    if t != i and abs(errors[i] - errors[t]) > best:
                        best, j = abs(errors[i] - errors[t]), t
                if j < 0:
                    continue
                low, high = bounds(y[i] == y[j], a[i], a[j], c)
                eta = k[i, i] + k[j, j] - 2 * k[i, j]
                if low == high or eta <= 0:
                    continue
                aj = np.clip(a[j] + on_the_grid(y[j] * (errors[i] - errors[j]) / eta), low, high)
                if abs(aj - a[j]) < 1e-4:
                    continue
                di, dj = y[i] * (y[i] * y[j] * (a[j] - aj)), y[j] * (aj - a[j])
                b1 = b - errors[i] - di * k[i, i] - dj * k[i, j]
                b2 = b - errors[j] - di * k[i, j] - dj * k[j, j]
                a[i], a[j] = a[i] + y[i] * di, aj
                new = b1 if 0 < a[i] < c else b2 if 0 < a[j] < c else on_the_grid((b1 + b2) / 2)
                for t in range(n):
                    errors[t] += di * k[i, t] + dj * k[j, t] + new - b
                b = new
                changed += 1
        if changed == 0:
            break
    return a, b, errors, sweep


@pytest.mark.parametrize("f", [by_a_table, by_kept_errors])
def test_every_path_is_numpys(f: Any) -> None:
    compiled = pliant.jit(f)
    for seed, c in ((0, 1.0), (1, 0.25), (2, 8.0), (3, 1.0)):
        rng = np.random.default_rng(seed)
        x, table = rng.integers(-8, 9, (20, 2)) / 4.0, rng.integers(0, 20, 37)
        y = np.where(x @ rng.normal(size=2) + rng.normal(size=20) > 0, 1.0, -1.0)
        for got, expected in zip(compiled(x, y, c, table), f(x, y, c, table), strict=True):
            np.testing.assert_array_equal(got, expected)
