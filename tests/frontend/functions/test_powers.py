"""Powers whose exponent is known: as NumPy's operator has them, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.testing import check_gradient

ENDS = [
    -1,
    -4 - 0j,
    complex(-1, -0.0),
    complex(0, -0.0),
    complex(-0.0, -0.0),
    complex(np.inf, 1),
    complex(-np.inf, -1),
    1 + 2j,
]


@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_the_power_of_one_half_of_complex_arrays_is_their_root(dtype: Any) -> None:
    z = np.array(ENDS, dtype)
    made, wanted = pliant.jit(lambda z: (z**0.5, z.reshape(2, 4) ** 0.5))(z), (z**0.5, z.reshape(2, 4) ** 0.5)
    for got, root in zip(made, wanted, strict=True):
        np.testing.assert_array_equal(got, root, strict=True)
        for part in (np.real, np.imag):
            np.testing.assert_array_equal(np.signbit(part(got)), np.signbit(part(root)))


def test_that_of_one_complex_number_is_a_power() -> None:
    z = np.array([-1, 2j])
    assert pliant.jit(lambda z: z[0] ** 0.5)(z) == pytest.approx(z[0] ** 0.5, abs=1e-16)


def test_it_has_the_derivatives_of_a_root() -> None:
    check_gradient(lambda x: np.sum(np.abs((x + 1j * x**2) ** 0.5)), np.array([0.5, 1.0, 2.0]))
