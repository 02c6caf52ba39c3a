"""Entries of programs with operations that NumPy computes: native code calls it with arrays around its own memory."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.backends.llvm import fourier

A = np.random.default_rng(7).standard_normal((70, 4))
X = np.random.default_rng(8).standard_normal(24)


@pytest.fixture(autouse=True)
def transforms_are_called(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fourier transforms are computed by Python's NumPy here, as where its loops are not found."""
    monkeypatch.setattr(fourier, "has", lambda op, types: False)


def filtered(x: Any) -> Any:
    """Two calls into NumPy with native code before, between and after."""
    return 2.0 * np.fft.irfft(np.fft.rfft(x + 1.0) * 0.5) - x


def spectrum(a: Any) -> Any:
    """One result of two is wanted."""
    return np.abs(np.linalg.eig(a[:4]).eigenvectors[0])


PROGRAMS: list[tuple[Any, Any]] = [
    (filtered, X),
    (spectrum, A),
    (np.fft.fft, X),
    (np.fft.fft, X.astype(np.complex64)),
    (np.fft.fft2, A),
    (np.fft.ifft, X[::-2]),
    (np.linalg.qr, A),
    (lambda a: np.linalg.qr(a)[1], A),
    (lambda a: np.linalg.svd(a, full_matrices=False), A),
    (lambda a: np.linalg.qr(a[:0]), A),
    (lambda a: (np.fft.fft(a[:, 0]), np.fft.fft(a[:, 0])), A),
]


def leaves(made: Any) -> list[Any]:
    return list(made) if isinstance(made, tuple) else [made]


@pytest.mark.parametrize(("f", "x"), PROGRAMS)
def test_every_call_gives_what_numpy_gives_in_memory_of_its_own(f: Any, x: Any) -> None:
    compiled = pliant.jit(f)
    made = [leaves(compiled(n * x)) for n in range(1, 6)]
    for n, found in enumerate(made, 1):
        for got, expected in zip(found, leaves(f(n * x)), strict=True):
            np.testing.assert_allclose(got, expected, rtol=2e-5, atol=2e-5)
            assert got.flags.owndata and got.flags.writeable
    everything = [y for found in made for y in found]
    assert not any([np.shares_memory(y, z) for n, y in enumerate(everything) for z in everything[:n]])


@pytest.mark.parametrize(("f", "x"), PROGRAMS)
def test_they_have_an_entry(f: Any, x: Any) -> None:
    compiled = pliant.jit(f)
    for _ in range(3):
        compiled(x)
    assert compiled.natives  # native code answers from now on


def test_results_are_left_in_out() -> None:
    compiled, out = pliant.jit(filtered), np.empty(24)
    for n in range(5):
        out[...] = 0.0
        assert compiled(n * X, out=out) is out
        np.testing.assert_allclose(out, filtered(n * X), rtol=1e-12, atol=1e-12)


def test_what_numpy_raises_is_raised_and_the_next_call_is_right() -> None:
    compiled, out = pliant.jit(spectrum), np.full(4, 7.0)
    for _ in range(5):
        with pytest.raises(np.linalg.LinAlgError, match="infs or NaNs"):
            compiled(np.full((70, 4), np.nan))
        with pytest.raises(np.linalg.LinAlgError, match="infs or NaNs"):
            compiled(np.full((70, 4), np.nan), out=out)
        np.testing.assert_array_equal(out, 7.0)
        np.testing.assert_allclose(compiled(A), spectrum(A), rtol=1e-12)


def test_arguments_are_written_as_numpy_writes_them() -> None:
    def update(a: Any, x: Any) -> Any:
        a[:4] = np.abs(np.linalg.eigvals(x[:4]))
        x += 1.0
        return a.sum()

    compiled = pliant.jit(update)
    for _ in range(5):
        ours, theirs = (A[:5].copy(), A.copy()), (A[:5].copy(), A.copy())
        np.testing.assert_allclose(compiled(*ours), update(*theirs), rtol=1e-12)
        np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-12)
        np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-12)
    with pytest.raises(np.linalg.LinAlgError):
        compiled(A[:5].copy(), np.full((70, 4), np.nan))


def test_threads_do_not_share_memory() -> None:
    compiled = pliant.jit(filtered)
    for _ in range(3):
        compiled(X)
    wrong = list[int]()

    def work(n: int) -> None:
        expected = filtered(n * X)
        for _ in range(200):
            if not np.allclose(compiled(n * X), expected):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_result_whose_axes_of_one_element_lie_elsewhere() -> None:
    x = np.random.default_rng(0).random((1, 3, 4))
    compiled = pliant.jit(lambda x: np.fft.ifft(x, axis=0))
    for _ in range(4):
        np.testing.assert_allclose(compiled(x), np.fft.ifft(x, axis=0))
