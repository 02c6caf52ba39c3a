"""np.packbits and np.unpackbits are NumPy's, along any axis and in both orders."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import pliant

RANDOM = np.random.default_rng(0)
NUMBERS = RANDOM.integers(0, 256, (3, 4)).astype(np.uint8)
BITS = RANDOM.random((5, 19)) < 0.5


def check(f: Any, x: Any) -> None:
    want, got = f(x), pliant.jit(f)(x)
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("order", ["big", "little"])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_as_numpy(axis: Any, order: Any) -> None:
    for count in (None, 5, 40, -3):
        check(partial(np.unpackbits, axis=axis, count=count, bitorder=order), NUMBERS)
    for x in (BITS, NUMBERS, NUMBERS - 7.0 > 0, np.zeros((0, 3), bool)):
        check(partial(np.packbits, axis=axis, bitorder=order), x)


def test_a_batch_is_of_rows() -> None:
    np.testing.assert_array_equal(pliant.vmap(np.unpackbits)(NUMBERS), np.unpackbits(NUMBERS, axis=1))
    np.testing.assert_array_equal(pliant.vmap(np.packbits)(BITS), np.packbits(BITS, axis=1))


def test_wrong_dtypes_are_numpys_errors() -> None:
    cases: Any = (np.unpackbits, np.arange(3), "array of uint8"), (np.packbits, np.ones(3), "bool or integers")
    for f, x, text in cases:
        with pytest.raises(TypeError):
            f(x)
        with pytest.raises(TypeError, match=text):
            pliant.jit(partial(f, axis=None))(x)
