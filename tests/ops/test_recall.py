"""What a function has made last."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import pliant
from pliant.ops.recall import MOST, Last


def test_it_is_made_once_for_two_that_ask() -> None:
    last, made = Last(), list[int]()

    def of(a: np.ndarray) -> float:
        return last.of(np, a, lambda: (made.append(1), a.sum())[1])

    x = np.arange(3.0)
    assert [of(x), of(x.copy())] == [3, 3]
    assert len(made) == 1
    assert of(x) == 3  # which a third one computes
    assert of(x.astype(np.float32)) == 3
    x[0] = 7
    assert of(x) == 10
    x[0] = 8  # which was seen before it was changed
    assert of(x) == 11
    assert len(made) == 5
    x[0] = 0.0
    of(x)
    x[0] = -0.0
    of(x)
    assert len(made) == 7
    thread = threading.Thread(target=of, args=(x,))
    thread.start()
    thread.join()
    assert len(made) == 8


def test_large_ones_and_what_failed_are_not_kept() -> None:
    last = Last()
    last.of(np, np.zeros(MOST // 8 + 1), lambda: 1)
    assert last.operand is None
    last.of(np, np.ones(2), lambda: 1)
    with pytest.raises(ZeroDivisionError):
        last.of(np, np.zeros(2), lambda: 1 // 0)
    assert last.operand is None


def test_eigenvalues_are_those_of_each_call() -> None:
    def radius(a: np.ndarray) -> float:
        return np.abs(np.linalg.eigvals(a)).max()

    compiled, rng = pliant.jit(radius), np.random.default_rng(0)
    for n in (4, 30):
        for _ in range(4):
            a = rng.standard_normal((n, n))
            for _ in range(3):
                np.testing.assert_allclose(compiled(a), radius(a), rtol=1e-12)
                a += 0.01
