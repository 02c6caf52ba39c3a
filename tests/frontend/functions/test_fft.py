"""numpy.fft in traced functions: every kind, length, axis and norm."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.errors import DTypeError, ShapeError
from tests.frontend.functions.numpys import KINDS, assert_as_numpy, drawn

NORMS = [None, "ortho", "forward"]


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_transforms_along_one_axis(name, kind, norm):
    f = getattr(np.fft, name)
    (a,) = drawn("f8" if name in ("rfft", "ihfft") and kind == "c16" else kind, (5, 6))
    for n in (None, 4, 7, 9):
        assert_as_numpy(lambda x, n=n: f(x, n, norm=norm), a)
        assert_as_numpy(lambda x, n=n: f(x, n, axis=0, norm=norm), a)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", ["fft2", "ifft2", "fftn", "ifftn", "rfft2", "rfftn", "irfft2", "irfftn"])
def test_transforms_along_several_axes(name, norm):
    f = getattr(np.fft, name)
    (a,) = drawn("f8" if name.startswith("r") else "c16", (2, 4, 5))
    assert_as_numpy(lambda x: f(x, norm=norm), a)
    assert_as_numpy(lambda x: f(x, s=(3, 6), axes=(0, 1), norm=norm), a)


def test_shifts():
    (a,) = drawn("f8", (5, 4))
    assert_as_numpy(np.fft.fftshift, a)
    assert_as_numpy(lambda x: np.fft.ifftshift(x, axes=1), a)


def test_no_points_are_refused():
    with pytest.raises(ShapeError, match="number of points"):
        pliant.jit(lambda x: np.fft.fft(x, 0))(np.ones(3))
    with pytest.raises(DTypeError, match="takes real arrays"):
        pliant.jit(np.fft.rfft)(np.ones(3, complex))
