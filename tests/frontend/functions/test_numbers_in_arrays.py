"""Shifts, axes and shapes that are arrays, and numbers of elements that are arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant

SHIFTS = np.array([[0, 1], [1, 0], [-2, 3]])
X = np.arange(12.0).reshape(4, 3)


def rolled_by_a_local_array(x: Any) -> Any:
    return np.roll(x, np.array([1, 2]), axis=(0, 1)), np.roll(x, np.array([2]), axis=0), np.roll(x, np.array(2), axis=1)


def rolled_along_an_array(x: Any) -> Any:
    return np.roll(x, (1, 2), axis=np.array([0, 1])), np.roll(x, np.array([2]))


def rolled_by_rows(x: Any) -> Any:
    for i in range(3):
        x = x + np.roll(x, SHIFTS[i], axis=(0, 1))
    return x


def rolled_by_an_argument(x: Any, by: Any) -> Any:
    return np.roll(x, by, axis=(0, 1))


def shapes_as_arrays(x: Any) -> Any:
    shape = np.array(x.shape)
    return np.unravel_index(np.argmax(x), shape), np.ravel_multi_index((1, 2), shape)


@pytest.mark.parametrize(
    ("f", "more"),
    [
        (rolled_by_a_local_array, ()),
        (rolled_along_an_array, ()),
        (rolled_by_rows, ()),
        (rolled_by_an_argument, (SHIFTS[2],)),
        (shapes_as_arrays, ()),
    ],
)
def test_it_is_what_numpy_makes(f: Any, more: Any) -> None:
    compiled = pliant.jit(f)
    for _ in range(3):
        np.testing.assert_equal(compiled(X, *more), f(X, *more))


def frequencies(n: Any, d: Any) -> Any:
    return np.fft.fftfreq(n, d), np.fft.rfftfreq(n=n, d=d), np.fft.fftfreq(n), np.fft.fftfreq(int(8 / d), d)


def test_frequencies_for_a_number_that_is_an_argument() -> None:
    compiled = pliant.jit(frequencies)
    for n, d in ((8, 0.1), (9, 0.1), (8, 0.25), (9, 0.25)):
        for a, b in zip(compiled(n, d), frequencies(n, d), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-15)
            assert a.dtype == b.dtype


def test_the_gradient_with_respect_to_the_spacing() -> None:
    def f(x: Any, d: Any, n: Any) -> Any:
        return np.fft.fftfreq(n, d) @ x

    x = np.arange(4.0)
    np.testing.assert_allclose(pliant.grad(f, 1)(x, 0.1, 4), -f(x, 0.1, 4) / 0.1)
