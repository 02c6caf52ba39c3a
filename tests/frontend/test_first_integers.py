"""The integers of a first call that bound slices are known; others have one program for all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pliant
from pliant.errors import RecompiledWarning
from pliant.frontend.known import Known

X = np.linspace(0.5, 2.0, 13)
KIND = ""


@pytest.fixture(autouse=True)
def first_integers(for_all_integers: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Known, "may_guess", True)


def lagged(x: Any, k: Any) -> Any:
    return np.sum(x[k:] * x[: len(x) - k]) / k


def swept(x: Any, n: Any) -> Any:
    y = np.zeros_like(x)
    for i in range(1, len(x)):
        y[1 : n - 1] = 0.5 * y[: n - 2] + x[1 : n - 1] * x[i]
        y[i] += x[i]
    return y.sum()


def blocks(x: Any, size: Any) -> Any:
    total = 0.0
    for i in range(0, len(x), size):
        part = x[i : i + size]
        total += np.max(part) * np.sum(part)
    return total


def bounded(x: Any, n: Any) -> Any:
    return np.sum(np.cumsum(x)[np.arange(min(n, 13))])


def ended(x: Any, n: Any) -> Any:
    return np.mean(x[-n:] ** 2)


PROGRAMS = [lagged, swept, blocks, bounded, ended]
ORDERS = [(3, 4, 3, 7), (5, 5, 5, 2, 9, 5), (2, 3, 2)]


@pytest.mark.parametrize("ns", ORDERS)
@pytest.mark.parametrize("f", PROGRAMS)
def test_the_first_is_known_and_one_program_serves_others(f: Callable[..., Any], ns: tuple[int, ...]) -> None:
    compiled, derived = pliant.jit(f), pliant.value_and_grad(f)
    for n in ns:
        value, grad = derived(X, n)
        np.testing.assert_allclose([compiled(X, n), value], [f(X, n)] * 2, rtol=1e-12)
        np.testing.assert_allclose(grad, pliant.grad(lambda x, n=n: f(x, n))(X), rtol=1e-10, atol=1e-12)
    for each in (compiled, derived):
        assert [len(e) for e in each.entries.values()] == [1, 1]
        first, second = [e[0].program for e in each.entries.values()]
        assert (first.values, second.values) == ((ns[0],), ())


@given(st.lists(st.integers(1, 12), min_size=4, max_size=12))
def test_values_in_any_order(ns: list[int]) -> None:
    compiled = pliant.jit(lagged)
    for n in ns:
        np.testing.assert_allclose(compiled(X, n), lagged(X, n), rtol=1e-12)
    assert len(compiled.entries) <= 2


def test_the_first_keeps_its_program_and_bits() -> None:
    f = pliant.jit(lambda x, n: (x[:n] * 0.1).sum())
    x = np.random.default_rng(0).random(5001)
    first = {f(x, 4711) for _ in range(4)}
    for n in (5, 6, 7, 8):
        f(x, n)
    assert {f(x, 4711) for _ in range(4)} == first
    assert len(first) == 1


def test_each_form_has_a_first() -> None:
    f = pliant.jit(swept)
    for n in (9, 11, 13):
        x = np.linspace(0.0, 1.0, n)
        for _ in range(2):
            np.testing.assert_allclose(f(x, n), swept(x, n), rtol=1e-12)
    assert [key[-1] for key in f.entries] == [9, 11, 13]


def test_another_program_for_the_first_does_not_make_them_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: Any, n: Any) -> Any:
        return np.sum(x[:n]) * (3.0 if KIND == "sum" else 1.0)

    compiled = pliant.jit(f)
    for kind in ("sum", "other"):
        monkeypatch.setitem(globals(), "KIND", kind)
        for n in (4, 4, 5, 6, 4):
            np.testing.assert_allclose(compiled(X, n), f(X, n))
    assert len(compiled.entries) == 2


def test_numbers_that_bound_no_slice_are_not_known() -> None:
    f = pliant.jit(lambda x, k, n: np.sum(x[k:]) * n + x[n])
    for n in (1, 2, 3):
        np.testing.assert_allclose(f(X, 4, n), np.sum(X[4:]) * n + X[n])
    assert len(f.entries) == 1


def test_numbers_that_have_to_be_known_are_beside_them() -> None:
    f = pliant.jit(lambda x, rows, k: x.reshape(rows, -1)[:, :k].sum(1))
    x = np.arange(12.0)
    for rows, k in [(3, 2), (3, 1), (3, 3), (2, 2), (2, 4), (3, 2)]:
        np.testing.assert_allclose(f(x, rows, k), x.reshape(rows, -1)[:, :k].sum(1))
    assert len(f.entries) == 4  # (3, 2) first; of all others one for each number of rows, and of k = 2 one more


def test_many_values_are_not_warned_of(recwarn: pytest.WarningsRecorder) -> None:
    f = pliant.jit(lagged)
    x = np.ones(50)
    for n in range(1, 40):
        f(x, n)
    assert not [w for w in recwarn if w.category is RecompiledWarning]


def test_attributes_of_objects() -> None:
    @dataclass
    class Window:
        size: int
        decay: float

        def mean(self, x: Any) -> Any:
            self.size += 1
            return np.sum(x[: self.size]) * self.decay

    mine, plain = Window(3, 0.5), Window(3, 0.5)
    f = pliant.jit(Window.mean)
    for _ in range(5):
        np.testing.assert_allclose(f(mine, X), plain.mean(X))
    assert mine == plain


def test_what_a_trace_did_outside_is_done_once() -> None:
    seen = list[int]()

    def f(x: Any, n: Any) -> Any:
        seen.append(1)
        x[:n] *= 2.0
        return x[:n].sum()

    x = X.copy()
    assert pliant.jit(f)(x, 4) == pytest.approx(2 * X[:4].sum())
    assert seen == [1]
    np.testing.assert_array_equal(x, np.where(np.arange(13) < 4, 2 * X, X))


def test_arrays_that_overlap() -> None:
    def shift(x: Any, y: Any, n: Any) -> None:
        x[:n] = y[1 : n + 1] * 2.0

    mine, plain = X.copy(), X.copy()
    f = pliant.jit(shift)
    for n in (4, 4, 6, 4):
        f(mine[1:], mine[:-1], n)
        shift(plain[1:], plain[:-1], n)
        np.testing.assert_array_equal(mine, plain)


def test_batches_and_numbers_of_numpy() -> None:
    f = pliant.vmap(lagged, in_axes=(0, None))
    rows = np.stack([X, X[::-1], X**2])
    for n in (np.int64(3), np.int64(3), 4, np.int32(5)):
        np.testing.assert_allclose(f(rows, n), [lagged(row, n) for row in rows], rtol=1e-12)


def test_explain_says_what_a_program_is_for() -> None:
    text = str(pliant.explain(pliant.grad(lagged), X, 3))
    assert "made for k = 3" in text
    assert "made for" not in str(pliant.explain(pliant.grad(lambda x, k: x[k] ** 2), X, 3))
