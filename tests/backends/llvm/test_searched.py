"""Places of extrema in rows of any number of blocks, which overlap, are NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import pliant
from pliant.backends.llvm.searched import BLOCK, size_of_block


def test_blocks_overlap_little_and_have_whole_vectors():
    assert [size_of_block(n, "f64") for n in (100, 128, 129, 173, 256, 300)] == [100, 128, 80, 96, 128, 112]
    assert [size_of_block(n, "f32") for n in (129, 173, 300)] == [96, 96, 128]
    assert size_of_block(300, "u8") == BLOCK


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4", "i8", "u1"])
@pytest.mark.parametrize("n", [127, 129, 173, 200, 257, 300, 500, 4095, 4097])
def test_places_are_the_first_ones(n: int, dtype: str):
    x = (np.random.default_rng(n).random((6, n)) * 100).astype(dtype)
    if dtype[0] == "f":
        x[2, -1] = x[3, n // 2] = x[3, -1] = np.nan
    x[4], x[5] = 1, np.arange(n) % 100
    for f in (np.argmax, np.argmin):
        assert_array_equal(pliant.jit(lambda x, f=f: f(x, axis=1))(x), f(x, axis=1))
