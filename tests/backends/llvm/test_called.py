"""Loops and branches with operations that have no native code are native: they call Python for these alone."""

from __future__ import annotations

import signal
import sys
import threading
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.backends.llvm import fourier

A = np.array([[2.0, 0.5, 0.1], [0.3, 1.5, 0.2], [0.1, 0.4, 1.0]])


@pytest.fixture(autouse=True)
def transforms_are_called(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fourier transforms are computed by Python's NumPy here, as where its loops are not found."""
    monkeypatch.setattr(fourier, "has", lambda op, types: False)


def scaled(a: Any, steps: int) -> Any:
    """Eigenvalues at each step of a loop."""
    for _ in range(steps):
        a = 0.5 * a + 0.5 * a / np.max(np.abs(np.linalg.eigvals(a)))
    return a


def spectrum_if_large(a: Any, limit: float) -> Any:
    """Eigenvalues in one branch, in another a transform of a row."""
    if np.sum(a) > limit:
        return np.sort(np.abs(np.linalg.eigvals(a)))
    return np.abs(np.fft.fft(a[0]))


def until_small(a: Any) -> Any:
    """Eigenvalues until all are small."""
    largest = np.max(np.abs(np.linalg.eigvals(a)))
    while largest > 0.5:
        a = a / (1.0 + largest)
        largest = np.max(np.abs(np.linalg.eigvals(a)))
    return a


def spectra(a: Any, x: Any) -> Any:
    """Complex values in a loop."""
    for _ in range(3):
        x = np.fft.ifft(np.fft.fft(x) * np.fft.fft(a[0]))
    return np.real(x)


PROGRAMS: list[tuple[Any, tuple[Any, ...]]] = [
    (scaled, (A, 5)),
    (spectrum_if_large, (A, 0.0)),
    (spectrum_if_large, (A, 99.0)),
    (until_small, (A,)),
    (spectra, (A, np.array([1.0, 2.0, -1.0]))),
]


@pytest.mark.parametrize(("f", "args"), PROGRAMS)
def test_values_and_gradients(f: Any, args: tuple[Any, ...]) -> None:
    compiled = pliant.jit(f)
    for _ in range(3):
        np.testing.assert_allclose(compiled(*args), f(*args), rtol=1e-12, atol=1e-12)
    way = np.linspace(-1.0, 1.0, 9).reshape(3, 3)
    ends = [np.sum(f(args[0] + h * way, *args[1:]) ** 2) for h in (1e-6, -1e-6)]
    gradient = pliant.grad(lambda *xs: np.sum(f(*xs) ** 2))(*args)
    assert np.sum(gradient * way) == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6, abs=1e-8)
    batch = pliant.vmap(f, in_axes=(0, *[None] * (len(args) - 1)))(np.stack([A, 1.1 * A]), *args[1:])
    np.testing.assert_allclose(batch, [f(a, *args[1:]) for a in (A, 1.1 * A)], rtol=1e-12, atol=1e-12)


def test_only_the_operation_itself_is_run_by_python() -> None:
    text = str(pliant.explain(scaled, A, 5))
    assert "- Python: eigvals " in text and "Python: while" not in text and "Python: loop" not in text
    assert "1 calls into Python" in text


def test_what_a_call_raises_is_raised_and_the_next_call_is_right() -> None:
    compiled = pliant.jit(scaled)
    for _ in range(4):
        with pytest.raises(np.linalg.LinAlgError, match="infs or NaNs"):
            compiled(np.full((3, 3), np.nan), 5)
        np.testing.assert_allclose(compiled(A, 5), scaled(A, 5), rtol=1e-12)


def test_threads_call_at_once_and_each_sees_its_own_error() -> None:
    compiled = pliant.jit(scaled)
    compiled(A, 5)
    seen: list[str] = []

    def work(a: Any) -> None:
        for _ in range(20):
            try:
                compiled(a, 5)
                seen.append("made")
            except np.linalg.LinAlgError:
                seen.append("raised")

    threads = [threading.Thread(target=work, args=(a,)) for a in (A, np.full((3, 3), np.nan), A)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (seen.count("made"), seen.count("raised")) == (40, 20)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="uses a timer")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_is_raised_wherever_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    def total(a: Any, steps: int) -> Any:
        found = 0.0
        for i in range(steps):
            found += np.abs(np.linalg.eigvals(a * (1 + 0.001 * i))).sum()
        return found

    f, raised = pliant.jit(total), 0
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        assert np.isfinite(f(A, 2))
        assert np.isfinite(f(A, 3))
        for turn in range(20):
            signal.setitimer(signal.ITIMER_REAL, 0.004 + 0.001 * turn)
            try:
                f(A, 100_000)
            except KeyboardInterrupt:
                raised += 1
        assert raised == 20
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    np.testing.assert_allclose(f(A, 5), total(A, 5), rtol=1e-12)
