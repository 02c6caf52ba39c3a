"""Convolution and correlation: values in every mode, and laws."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pliant.core.build import trace
from pliant.core.types import Type
from pliant.errors import ShapeError
from pliant.ops.convolve import Convolve, convolve, correlate
from pliant.testing import check_primitive, run

RNG = np.random.default_rng(0)
SIZES = [(5, 3), (3, 5), (4, 4), (6, 2), (2, 6), (1, 4), (5, 4), (4, 5)]


@pytest.mark.parametrize("dtype", ["f64", "c128"])
def test_convolve_is_numpys_and_obeys_the_laws(dtype):
    check_primitive(Convolve(), Type(dtype, (4,)), Type(dtype, (3,)), oracle=np.convolve)


@pytest.mark.parametrize("dtype", ["i32", "u8", "f32"])
def test_stacked_sequences_of_any_dtype(dtype):
    check_primitive(Convolve(), Type(dtype, (2, 2, 3)), Type(dtype, (2, 2, 4)))


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize(("m", "n"), SIZES)
@pytest.mark.parametrize(("ours", "numpys"), [(convolve, np.convolve), (correlate, np.correlate)])
def test_modes_are_numpys(ours, numpys, m, n, mode):
    x, y = (RNG.standard_normal(k) + 1j * RNG.standard_normal(k) for k in (m, n))
    fn = trace(lambda a, b: ours(a, b, mode=mode), Type("c128", (m,)), Type("c128", (n,)))
    assert_allclose(run(fn, (x, y))[0], numpys(x, y, mode), atol=1e-12)


def test_empty_sequences_are_refused():
    with pytest.raises(ShapeError, match="empty sequence"):
        Convolve().infer(Type("f64", (0,)), Type("f64", (3,)))
