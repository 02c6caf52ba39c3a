"""Loops that read and write an array as it is and as a view of another shape or dtype: a step, and that of the
gradient, costs what it reads and writes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.testing import check_gradient
from tests.programs_loops.test_flat import Program, arrays, passes

WIDTH = 4


def real_parts(a: Any, x: Any) -> Any:
    z = a + 1j * x
    for k in range(1, len(x)):
        z.real[k] = z.real[k - 1] * 0.5 + z.imag[k]
    return np.abs(z)


def imaginary_parts(a: Any, x: Any) -> Any:
    z = a + 1j * x
    for k in range(1, len(x)):
        z.imag[k] -= z.imag[k - 1] * z.real[k]
    return np.abs(z)


def both_parts(a: Any, x: Any) -> Any:
    z = a + 1j * x
    for k in range(1, len(x)):
        z.real[k] = z.imag[k - 1] * 0.5
        z.imag[k - 1] *= z.real[k]
        z[k] *= z[k - 1]
    return np.abs(z)


def parts_at_places(a: Any, x: Any) -> Any:
    z, places = a + 1j * x, np.arange(len(x))[::-1].copy()
    for k in range(1, len(x)):
        z.real[places[k]] += z.imag[places[k - 1]] * x[k]
    return np.abs(z)


def parts_of_rows(a: Any, x: Any) -> Any:
    z = np.outer(a + 1j * x, np.arange(1.0, WIDTH + 1))
    for k in range(1, len(z)):
        z.real[k] = z.imag[k - 1] * 0.5 + z.real[k - 1]
        z.imag[k, 1:3] *= 2
    return np.abs(z)


def in_one_row(a: Any, x: Any) -> Any:
    m = np.outer(a, np.arange(1.0, WIDTH + 1))
    flat = m.ravel()
    for k in range(1, len(m)):
        flat[k * WIDTH] = flat[k * WIDTH - WIDTH] * x[k] + m[k, 3]
    return m


def by_flat_places(a: Any, x: Any) -> Any:
    m = np.outer(a, np.arange(1.0, WIDTH + 1))
    for k in range(1, len(m)):
        m.flat[k * WIDTH] = m.flat[k * WIDTH - 2] * x[k] + m[k, 3]
        m[k, 1] += m.flat[k]
    return m


def read_by_flat_places(a: Any, x: Any) -> Any:
    m, s = np.outer(a, np.arange(1.0, WIDTH + 1)), 0.0
    for k in range(len(x)):
        s = s * 0.5 + m.flat[k] * m[k // WIDTH, 3] * x[k]
    return s


PROGRAMS: list[Program] = [
    real_parts, imaginary_parts, both_parts, parts_at_places, parts_of_rows, in_one_row, by_flat_places,
    read_by_flat_places,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_it_is_what_numpy_makes_and_its_gradient_what_differences_are(f: Program) -> None:
    a, x = arrays()
    np.testing.assert_allclose(pliant.jit(f)(a.copy(), x), f(a.copy(), x), rtol=1e-12)
    check_gradient(lambda a, x: np.sum(f(a, x)), a, x, rtol=1e-5)
    check_gradient(lambda a, x: np.sum(f(a, x)), a, x, argnums=1, rtol=1e-5)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_no_step_passes_over_an_array(f: Program) -> None:
    def total(a: Any, x: Any) -> Any:
        return np.sum(f(a, x))

    for fn in (total, pliant.grad(total, (0, 1))):
        assert passes(str(pliant.explain(fn, *arrays()))) == []


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_batch_is_a_loop_of_problems(f: Program) -> None:
    batch = [np.stack([x, x[::-1], 0.9 * x]) for x in arrays()]
    np.testing.assert_allclose(pliant.vmap(f)(*batch), [f(*row) for row in zip(*batch, strict=True)], rtol=1e-12)
