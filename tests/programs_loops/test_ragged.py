"""Parts of run-time length of arrays: rows of sparse matrices, segments, windows, sequences of several lengths. Values,
gradients and batches, of one structure or of a structure each; and a step costs what its part is long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
import pliant.testing
from tests.programs_loops.test_flat import N, passes

Program = Callable[..., Any]


def rows_of_a_sparse_matrix(a: Any, x: Any, starts: Any, places: Any) -> Any:
    y = np.zeros(len(starts) - 1)
    for i in range(len(y)):
        part = slice(starts[i], starts[i + 1])
        y[i] = x[part] @ a[places[part]]
    return y


def columns_of_a_sparse_matrix(a: Any, x: Any, starts: Any, places: Any) -> Any:
    y = np.zeros(len(a))
    for j in range(len(starts) - 1):
        first, last = starts[j], starts[j + 1]
        np.add.at(y, places[first:last], x[first:last] * a[j])
    return y


def solved_with_a_triangle(a: Any, x: Any, starts: Any, places: Any) -> Any:
    """Its rows are sparse, and lie behind each other."""
    y = np.zeros(len(a))
    for i in range(len(starts) - 1):
        first, last = starts[i], starts[i + 1]
        y[i] = (a[i] - x[first:last] @ y[places[first:last] // 2]) / (2.0 + a[i] ** 2)
    return y


def softmax_of_segments(a: Any, x: Any, starts: Any, places: Any) -> Any:
    out = np.zeros(len(x))
    for i in range(len(starts) - 1):
        first, last = starts[i], starts[i + 1]
        if last > first:
            e = np.exp(x[first:last] - x[first:last].max())
            out[first:last] = e / e.sum()
    return out * a


def attention_to_neighbours(a: Any, x: Any, starts: Any, places: Any) -> Any:
    out = np.zeros(len(starts) - 1)
    for i in range(len(out)):
        near = places[starts[i] : starts[i + 1]]
        if near.shape[0]:
            scores = a[i] * x[near]
            weights = np.exp(scores - scores.max())
            out[i] = weights @ a[near] / weights.sum()
    return out


def messages_of_neighbours(a: Any, x: Any, starts: Any, places: Any) -> Any:
    h = np.stack([a, x], 1)
    mix = np.array([[0.5, -0.3], [0.2, 0.7]])
    for _ in range(2):
        new = h * 0.5
        for i in range(len(starts) - 1):
            near = places[starts[i] : starts[i + 1]]
            new[i] += h[near].sum(0) @ mix
        h = np.tanh(new)
    return h


def means_of_segments(a: Any, x: Any, starts: Any, places: Any) -> Any:
    out = np.zeros(len(starts) - 1)
    for i in range(len(out)):
        part = x[starts[i] : starts[i + 1]] * a[i]
        out[i] = part.sum() / max(part.shape[0], 1)
    return out


def normalised_segments(a: Any, x: Any, starts: Any, places: Any) -> Any:
    out = a * 1.0
    for i in range(len(starts) - 1):
        first, last = starts[i], starts[i + 1]
        if last - first > 1:
            part = x[first:last]
            out[first:last] *= (part - part.mean()) / np.sqrt(part.var() + 0.1)
    return out


def running_sums_of_segments(a: Any, x: Any, starts: Any, places: Any) -> Any:
    out = np.zeros(len(x))
    for i in range(len(starts) - 1):
        first, last = starts[i], starts[i + 1]
        out[first:last] = np.cumsum(x[first:last] * a[first:last])
    return out


def running_products_of_segments(a: Any, x: Any, starts: Any, places: Any) -> Any:
    """And sums from their ends."""
    out = np.zeros(len(x))
    for i in range(len(starts) - 1):
        first, last = starts[i], starts[i + 1]
        out[first:last] = np.cumsum(a[first:last][::-1]) + np.cumprod(x[first:last])
    return out


def segments_against_their_reverse(a: Any, x: Any, starts: Any, places: Any) -> Any:
    out = np.zeros(len(starts) - 1)
    for i in range(len(out)):
        part = x[starts[i] : starts[i + 1]]
        out[i] = part @ part[::-1] * a[i]
    return out


def windows_before(a: Any, x: Any, starts: Any, places: Any) -> Any:
    out = np.zeros(len(x))
    for i in range(len(x)):
        k = min(places[i] % 4, i)
        out[i] = np.sum(np.sin(x[i - k : i]) * a[i])
    return out


def filtered_by_windows_before(a: Any, x: Any, starts: Any, places: Any) -> Any:
    y = x.copy()
    for i in range(len(x)):
        k = min(places[i] % 4, i)
        y[i] += 0.2 * a[:k] @ y[i - k : i]
    return y


def solved_with_a_band(a: Any, x: Any, starts: Any, places: Any) -> Any:
    width, n = 3, len(x)
    band = np.stack([a, x, a * x], 1) * 0.2
    y = np.zeros(n)
    for i in range(n):
        k = min(i, width)
        y[i] = (x[i] - band[i, width - k :] @ y[i - k : i]) / (1.0 + a[i])
    return y


def recurrences_of_several_lengths(a: Any, x: Any, starts: Any, places: Any) -> Any:
    out = np.zeros(len(starts) - 1)
    for i in range(len(out)):
        h = 0.1
        for t in range(starts[i], starts[i + 1]):
            h = np.tanh(a[t] * h + x[t])
        out[i] = h
    return out


def best_paths_of_several_lengths(a: Any, x: Any, starts: Any, places: Any) -> Any:
    """Viterbi's recursion for each sequence."""
    change = np.array([[0.3, -0.2], [0.1, 0.5]])
    seen = np.stack([a, x], 1)
    out = np.zeros(len(starts) - 1)
    for i in range(len(out)):
        v = np.zeros(2)
        for t in range(starts[i], starts[i + 1]):
            v = (v[:, None] + change).max(0) + seen[t]
        out[i] = v.max()
    return out


def products_of_groups(a: Any, x: Any, starts: Any, places: Any) -> Any:
    h = np.stack([a, x], 1)
    out = np.zeros((len(starts) - 1, 2, 2))
    for i in range(len(out)):
        part = h[starts[i] : starts[i + 1]]
        out[i] = part.T @ part
    return out


def layers_over_neighbours(a: Any, x: Any, starts: Any, places: Any) -> Any:
    h = np.stack([a, x], 1)
    mix = np.array([[0.5, -0.3], [0.2, 0.7]])
    out = np.zeros((len(starts) - 1, 2))
    for i in range(len(out)):
        out[i] = np.tanh(h[places[starts[i] : starts[i + 1]]] @ mix).sum(0)
    return out


def extrema_of_segments(a: Any, x: Any, starts: Any, places: Any) -> Any:
    out = np.zeros(len(starts) - 1)
    for i in range(len(out)):
        first, last = starts[i], starts[i + 1]
        if first < last:
            out[i] = x[first:last].max() - np.abs(a[first:last]).min()
    return out


PROGRAMS: list[Program] = [
    rows_of_a_sparse_matrix, columns_of_a_sparse_matrix, solved_with_a_triangle, softmax_of_segments,
    attention_to_neighbours, messages_of_neighbours, means_of_segments, normalised_segments,
    running_sums_of_segments, running_products_of_segments, segments_against_their_reverse, windows_before, filtered_by_windows_before,
    solved_with_a_band, recurrences_of_several_lengths, best_paths_of_several_lengths, products_of_groups,
    layers_over_neighbours, extrema_of_segments,
]  # fmt: skip


def arrays(n: int, seed: int = 0) -> tuple[Any, ...]:
    """n numbers a and x, and n // 2 segments of them, one of which may be empty; and places of n."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 4, n // 2)
    starts = np.minimum(np.concatenate([[0], np.cumsum(lengths)]), n)
    return rng.random(n) + 0.2, rng.random(n), starts, rng.integers(0, n, n)


def batch(n: int, own: bool) -> tuple[Any, ...]:
    """Three problems, of which each has its own structure, or all have one."""
    rows = [arrays(n, seed) for seed in range(3)]
    stacked = [np.stack(column) for column in zip(*rows, strict=True)]
    return tuple(stacked) if own else (*stacked[:2], *rows[0][2:])


def axes(own: bool) -> tuple[int | None, ...]:
    return (0, 0, 0, 0) if own else (0, 0, None, None)


def total(f: Program) -> Program:
    return lambda *xs: np.sum(np.sin(f(*xs)))


def rows(own: bool, xs: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """The problems of a batch."""
    return [tuple([x if axis is None else x[k] for x, axis in zip(xs, axes(own), strict=True)]) for k in range(3)]


def assert_rows_close(got: Any, rows: list[Any]) -> None:
    """Each result has the rows that are listed, problem by problem."""
    columns = zip(*rows, strict=True) if isinstance(got, tuple) else [rows]
    for y, column in zip(got if isinstance(got, tuple) else (got,), columns, strict=True):
        np.testing.assert_allclose(y, np.stack(column), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_it_is_what_numpy_makes_and_its_gradient_what_differences_are(f: Program) -> None:
    a, x, *structure = arrays(40)
    np.testing.assert_allclose(pliant.jit(f)(a, x, *structure), f(a, x, *structure), rtol=1e-11, atol=1e-12)
    pliant.testing.check_gradient(lambda a, x: total(f)(a, x, *structure), a, x)


@pytest.mark.parametrize("own", [False, True], ids=["one structure", "each its own"])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_batch_is_each_problem(f: Program, own: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever lies in memory that nobody looks at."""
    monkeypatch.setenv("PLIANT_POISON", "1")
    xs, gradient = batch(40, own), pliant.grad(total(f), (0, 1))
    problems = rows(own, xs)
    assert_rows_close(pliant.vmap(f, axes(own))(*xs), [f(*row) for row in problems])
    wanted = [gradient(*row) for row in problems]
    assert_rows_close(pliant.vmap(gradient, axes(own))(*xs), wanted)
    every = pliant.grad(lambda a, x: np.sum(pliant.vmap(total(f), axes(own))(a, x, *xs[2:])), (0, 1))
    assert_rows_close(every(*xs[:2]), wanted)


WHOLE = [  # whose products go over all there may be
    products_of_groups,
    layers_over_neighbours,
]
WHOLE_BACK = [normalised_segments, running_products_of_segments]  # which keep an array at each step
ROWS = [solved_with_a_triangle]  # which keep a row at each step, and of that no more than there is


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_no_step_passes_over_an_array(f: Program) -> None:
    gradient = pliant.grad(total(f), (0, 1))
    for fn, but in ((f, WHOLE), (gradient, WHOLE + WHOLE_BACK)):
        alone = passes(str(pliant.explain(fn, *arrays(N))))
        at_once = passes(str(pliant.explain(pliant.vmap(fn, axes(False)), *batch(N, False))))
        one_by_one = passes(str(pliant.explain(pliant.vmap(fn, axes(True)), *batch(N, True))), 2)
        if fn is gradient and f in ROWS:
            assert ["loop(" in line for line in alone + at_once] == [True, True]
        else:
            assert f in but or alone + at_once + one_by_one == []
