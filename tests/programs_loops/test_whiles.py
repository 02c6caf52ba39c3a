"""While loops as people write them: values are NumPy's, gradients those of differences, batches those of a loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant


def bisected(x: Any, w: Any) -> Any:
    """A root between bounds, left by break; one of Newton's steps carries the derivative."""
    a, b = np.sum(x), np.sum(w)
    lo, hi = 0.0, a + b + 2.0
    while True:
        m = 0.5 * (lo + hi)
        if hi - lo < 1e-11:
            break
        if m * m * m + a * m - b > 0:
            hi = m
        else:
            lo = m
    return m - (m * m * m + a * m - b) / (3 * m * m + a)


def newton_in_time(x: Any, w: Any) -> Any:
    """Implicit steps, each solved by Newton's iteration."""
    for _ in range(6):
        y = x
        while np.max(np.abs(y - x + 0.1 * w * y**3)) > 1e-12:
            y = y - (y - x + 0.1 * w * y**3) / (1 + 0.3 * w * y**2)
        x = y
    return np.sum(x * x)


def newton_of_a_system(x: Any, w: Any) -> Any:
    """Newton's iteration with a matrix, a bound on its steps, and a break."""
    a = np.diag(w + 2.0)
    y = x * 1.0
    for _ in range(30):
        f = a @ y + 0.1 * y**3 - x
        if np.max(np.abs(f)) < 1e-12:
            break
        y = y - np.linalg.solve(a + np.diag(0.3 * y**2), f)
    return np.sum(y**2)


def bogacki_shampine(x: Any, w: Any) -> Any:
    """Steps that are tried again when their error is too large."""
    t, h, y = 0.0, 0.1, x.copy()
    while t < 1.0:
        if t + h > 1.0:
            h = 1.0 - t
        k1 = -w * y
        k2 = -w * (y + 0.5 * h * k1)
        k3 = -w * (y + 0.75 * h * k2)
        new = y + h * (2 * k1 + 3 * k2 + 4 * k3) / 9
        error = h * np.max(np.abs(-5 * k1 / 72 + k2 / 12 + k3 / 9 + w * new / 8))
        if error < 1e-6:
            t, y = t + h, new
        h = h * min(2.0, max(0.3, 0.9 * (1e-6 / (error + 1e-18)) ** (1 / 3)))
    return np.sum(y * y)


def returned_early(x: Any, w: Any) -> Any:
    """A return from inside."""
    i = 0
    while i < 50:
        x = x * np.cos(0.3 * w)
        if np.sum(x) < 0.5:
            return np.sum(x * w) * 2.0
        i += 1
    return np.sum(x)


def left_or_not(x: Any, w: Any) -> Any:
    """An else that only a break leaves out."""
    n = 0
    while n < 10:
        x = x * w
        n += 1
        if np.sum(x) < 1e-3:
            break
    else:
        x = x + 1.0
    return np.sum(x * n)


def skipping(x: Any, w: Any) -> Any:
    """A continue."""
    n, s = 0, 0.0
    while n < 20:
        n += 1
        if n % 3 == 0:
            continue
        s = s + np.sum(np.sin(x * n) * w)
    return s


def line_search(x: Any, w: Any) -> Any:
    """Descent by steps that are halved until they help enough."""
    for _ in range(5):
        f, g = np.sum(w * x**4 + x**2), 4 * w * x**3 + 2 * x
        s = 1.0
        while np.sum(w * (x - s * g) ** 4 + (x - s * g) ** 2) > f - 0.3 * s * np.sum(g * g):
            s = s * 0.5
        x = x - s * g
    return np.sum(x * x)


def conjugate_gradients(x: Any, w: Any) -> Any:
    """Until the rest is small."""
    a = np.diag(2.0 + w) + 0.1 * np.outer(w, w)
    y = np.zeros(len(x))
    r = x - a @ y
    p, rs = r.copy(), r @ r
    while rs > 1e-24:
        ap = a @ p
        alpha = rs / (p @ ap)
        y, r = y + alpha * p, r - alpha * ap
        new = r @ r
        p, rs = r + (new / rs) * p, new
    return y @ x


def in_place(x: Any, w: Any) -> Any:
    """Elements changed where they lie, one after the other."""
    y, i = x.copy(), 0
    while y[i % len(x)] > 0.05:
        y[i % len(x)] *= 0.6 * w[i % len(x)] + 0.2
        i += 1
    return np.sum(y * w)


def three_deep(x: Any, w: Any) -> Any:
    """A loop in a loop in a loop."""
    t = 0
    while t < 3:
        y, k = x, 0
        while k < 4 and np.sum(y) > 0.3:
            z = y
            while np.max(z) > 0.5:
                z = z * 0.8 * np.cos(0.1 * w)
            y, k = 0.5 * (y + z), k + 1
        x, t = y, t + 1
    return np.sum(x * w)


PROGRAMS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        bisected, newton_in_time, newton_of_a_system, bogacki_shampine, returned_early, left_or_not, skipping,
        line_search, conjugate_gradients, in_place, three_deep,
    )
}  # fmt: skip
X, W = np.linspace(0.3, 0.9, 5), np.linspace(0.9, 0.4, 5)


def derived(f: Callable[..., Any]) -> Callable[..., Any]:
    return pliant.value_and_grad(f, argnums=(0, 1))


@pytest.mark.parametrize("backend", ["llvm", "reference"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_are_those_of_numpy_and_gradients_those_of_differences(name: str, backend: str) -> None:
    f = PROGRAMS[name]
    value, slopes = pliant.jit(derived(f), backend=backend)(X, W)
    np.testing.assert_allclose(value, f(X, W), rtol=1e-12)
    way = np.random.default_rng(0).normal(size=(2, 5))
    wanted = (f(X + 1e-6 * way[0], W + 1e-6 * way[1]) - f(X - 1e-6 * way[0], W - 1e-6 * way[1])) / 2e-6
    np.testing.assert_allclose(np.vdot(slopes, way), wanted, rtol=1e-4)
    np.testing.assert_allclose(pliant.jvp(f, (X, W), (way[0], way[1]))[1], np.vdot(slopes, way), rtol=1e-8)


@pytest.mark.parametrize("axes", [(0, None), (0, 0)])
@pytest.mark.parametrize("name", PROGRAMS)
def test_batches_are_those_of_a_loop(name: str, axes: tuple[int | None, int | None]) -> None:
    slope = derived(PROGRAMS[name])
    xs = np.stack([X * s for s in (0.5, 1.0, 1.2, 1.5)])
    ws = np.stack([W * s for s in (1.0, 0.8, 1.05, 0.9)]) if axes[1] == 0 else W
    values, slopes = pliant.vmap(slope, in_axes=axes)(xs, ws)
    for n, x in enumerate(xs):
        value, wanted = slope(x, ws[n] if axes[1] == 0 else W)
        np.testing.assert_allclose(values[n], value, rtol=1e-9)
        for a, b in zip(slopes, wanted, strict=True):
            np.testing.assert_allclose(a[n], b, rtol=1e-7, atol=1e-11)
