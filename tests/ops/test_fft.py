"""Fourier transforms: values, laws and lengths."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pliant.core.build import trace
from pliant.core.types import Type
from pliant.errors import DTypeError, ShapeError
from pliant.ops.fft import Fft, fft
from pliant.testing import check_primitive, run

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("n", [1, 2, 5, 6])
@pytest.mark.parametrize("kind", ["fft", "ifft", "rfft", "irfft"])
def test_transforms_are_numpys_and_obey_the_laws(kind, n):
    op = Fft(kind, n)
    type = Type("f64" if kind == "rfft" else "c128", (2, op.points(kind == "irfft")))
    check_primitive(op, type, oracle=lambda x: getattr(np.fft, kind)(x, n))


@pytest.mark.parametrize("kind", ["fft", "ifft", "rfft", "irfft"])
def test_single_precision_is_kept(kind):
    op = Fft(kind, 6)
    type = Type("f32" if kind == "rfft" else "c64", (op.points(kind == "irfft"),))
    check_primitive(op, type, oracle=lambda x: getattr(np.fft, kind)(x, 6))


@pytest.mark.parametrize("n", [3, 5, 8])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_an_axis_is_cut_or_filled_up(axis, n):
    x = RNG.standard_normal((2, 5, 3)) + 1j
    fn = trace(lambda v: fft(v, "fft", length=n, axis=axis), Type("c128", x.shape))
    assert_allclose(run(fn, (x,))[0], np.fft.fft(x, n, axis), atol=1e-12)


def test_operands_that_do_not_fit_are_refused():
    with pytest.raises(ShapeError, match="5 points does not fit"):
        Fft("fft", 5).infer(Type("c128", (4,)))
    with pytest.raises(DTypeError, match="not defined for"):
        Fft("fft", 4).infer(Type("f64", (4,)))
