"""Fourier transforms by NumPy's own loops: its numbers, and no call of Python."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pliant
from pliant.backends.llvm import BACKEND, fourier
from pliant.kernel.ir import Host
from pliant.ops.fft import INVERSE, Fft
from tests.backends.llvm.factored import native, numbers


@pytest.mark.parametrize("shape", [(1,), (2,), (7,), (8,), (3, 10), (2, 3, 9), (4, 1), (0, 5), (100,), (6, 1024)])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kind", INVERSE)
def test_rows_are_transformed_as_by_numpy(kind, dtype, shape):
    n, letter = shape[-1], {"float64": "complex128", "float32": "complex64"}[dtype]
    points = (*shape[:-1], n // 2 + 1) if kind == "irfft" else shape
    x = numbers(dtype if kind == "rfft" else letter, *points)
    (made,), wanted = native(Fft(kind, n), x), getattr(np.fft, kind)(x, n=n)
    assert made.dtype == wanted.dtype
    assert_allclose(
        made, wanted, rtol=1e-12 if dtype == "float64" else 1e-4, atol=1e-12 if dtype == "float64" else 1e-5
    )


def test_transforms_in_a_loop_and_their_gradients():
    @pliant.jit
    def filtered(x):
        for n in range(3):
            x = np.fft.irfft(np.fft.rfft(x) * (n + 0.5), x.shape[-1])
        return x

    x = np.arange(12.0).reshape(2, 6)
    assert_allclose(filtered(x), 1.875 * x, rtol=1e-12, atol=1e-12)
    assert_allclose(pliant.grad(lambda x: (filtered(x) ** 2).sum())(x), 2 * 1.875**2 * x, rtol=1e-12, atol=1e-12)


def test_complex_numbers_that_nobody_else_has_are_transformed_where_they_lie():
    x = numbers("complex128", 60, 8)
    report = str(pliant.explain(lambda x: np.fft.fft(x, axis=0), x))
    assert f"{x.nbytes:,} of them in use at the peak" in report
    f = pliant.jit(lambda x: (y := x.T * 2, np.fft.fft(y), np.fft.ifft(y)))
    for made, wanted in zip(f(x), (2 * x.T, np.fft.fft(2 * x.T), np.fft.ifft(2 * x.T)), strict=True):
        assert_allclose(made, wanted, rtol=1e-12, atol=1e-12)


def test_python_is_called_where_numpys_loops_are_not_found(monkeypatch):
    monkeypatch.setattr(fourier, "function_named", lambda name: "")
    x = numbers("complex128", 3, 8)
    fn = pliant.trace(np.fft.fft, x)
    made = BACKEND.compile(fn)
    assert [step for step in made.program.steps if isinstance(step, Host)]
    assert_allclose(made([x])[0], np.fft.fft(x), rtol=1e-12)


def test_a_loop_that_gives_other_numbers_is_not_used():
    forward, back = (fourier.loop_of(name, "d") for name in ("rfft_n_even", "rfft_n_odd"))
    assert fourier.transforms(forward, "rffteven", "f64")
    assert fourier.transforms(back, "rfftodd", "f64")
    assert not fourier.transforms(back, "rffteven", "f64")
    assert fourier.loop_of("fft of another kind", "d") == 0
