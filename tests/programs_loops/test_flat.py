"""A step of a loop, and of its gradient, costs what it reads and writes, whatever the arrays hold: no copy of an array,
no pass over one, none kept at each step."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
import pliant.testing

Program = Callable[[Any, Any], Any]
N = 211  # elements, so many that nothing else is as long


def squared_under_a_condition(a: Any, x: Any) -> Any:
    for k in range(len(x)):
        if x[k] > 0.5:
            a[k] = a[k] ** 2
    return a


def conditions_in_conditions(a: Any, x: Any) -> Any:
    for k in range(1, len(x) - 1):
        if x[k] > 0.5:
            if a[k] > 0.3:
                a[k] = a[k] ** 2
            else:
                a[k - 1] = a[k + 1] * a[k]
    return a


def in_a_while_loop(a: Any, x: Any) -> Any:
    k = 0
    while k < len(x):
        if x[k] > 0.5:
            a[k] = a[k] ** 2
        k += 1
    return a


def at_places_of_an_array(a: Any, x: Any) -> Any:
    places = (x * len(x)).astype(int)
    for k in range(len(x)):
        j = places[k]
        if x[k] > 0.5:
            a[j] *= a[k]
        elif x[k] > 0.2:
            a[k] = np.exp(-a[j]) + a[k - 1]
    return a


def a_while_loop_in_each_step(a: Any, x: Any) -> Any:
    for k in range(1, len(x) - 1):
        y = 1.0
        while abs(y * y * y - a[k] - a[k - 1]) > 1e-9:
            y = y - (y - (a[k] + a[k - 1]) / (y * y)) / 3.0
        a[k] = y * 0.5
    return a


def parts_under_a_condition(a: Any, x: Any) -> Any:
    for k in range(len(x) - 3):
        if x[k] > 0.5:
            a[k : k + 3] = a[k : k + 3] ** 2 * x[k]
    return a


def exchanged_or_left(a: Any, x: Any) -> Any:
    for k in range(len(x) - 3):
        if a[k] > a[k + 1]:
            t = a[k]
            a[k] = a[k + 1]
            a[k + 1] = t
        elif a[k] < 0.01:
            break
        a[k] *= a[k]
    return a


def sums_of_some(a: Any, x: Any) -> Any:
    for k in range(len(x) - 60):
        s = 0.0
        for j in range(40):
            if x[k + j] > 0.5:
                s += np.sin(a[k + j])
        a[k] = s * 0.1
    return a


def sums_of_squares(a: Any, x: Any) -> Any:
    for k in range(len(x) - 60):
        s = 0.0
        for j in range(40):
            s += a[k + j] ** 2
        a[k] = s * 0.1
    return a


def sums_of_as_many_as_an_array_says(a: Any, x: Any) -> Any:
    for k in range(len(x) - 60):
        s = 0.0
        for j in range(int(x[k] * 40)):
            s += a[k + j] ** 2
        a[k] = s * 0.1
    return a


def solved_by_sweeps(a: Any, x: Any) -> Any:
    """Gauss and Seidel's, of a sparse matrix."""
    n = len(x)
    starts, columns = np.arange(0, 3 * n + 1, 3), (np.arange(3 * n) * 7) % n
    for _ in range(2):
        for i in range(n):
            s = 0.0
            for j in range(starts[i], starts[i + 1]):
                s += np.cos(a[columns[j]]) * 0.1
            a[i] = (x[i] - s) / (2.0 + a[i])
    return a


def either_of_two(a: Any, x: Any) -> Any:
    for k in range(1, len(x) - 1):
        a[k] = (a[k - 1] ** 2 if x[k] > 0.5 else a[k + 1] ** 3) * a[k]
    return a


def rows_and_elements(a: Any, x: Any) -> Any:
    y = np.stack([a, x], 1)
    for k in range(1, len(x) - 1):
        if x[k] > 0.5:
            y[k] = y[k - 1] ** 2
        else:
            y[k, 1] = y[k, 0] * y[k + 1, 1]
    return y


def columns_of_one(a: Any, x: Any) -> Any:
    y = np.stack([a, x], 1)
    for k in range(1, len(x) - 1):
        y[k, 1] = y[k, 0] * y[k + 1, 1]
    return y


def planes_of_one(a: Any, x: Any) -> Any:
    y = np.stack([a, x, a * x])[:, :, None] * np.ones(2)
    for k in range(1, len(x) - 1):
        y[0, k] = y[1, k] * y[0, k + 1, 0]
        y[2, k, 1] = y[0, k, 1] * y[2, k - 1, 0]
    return y


def views_of_columns(a: Any, x: Any) -> Any:
    y = np.stack([a, x], 1)
    u, v = y[:, 0], y[:, 1]
    for k in range(1, len(x) - 1):
        u[k] = v[k - 1] * u[k]
    return y


def views_of_rows(a: Any, x: Any) -> Any:
    y = np.stack([a, x])
    u, v = y
    for k in range(1, len(x) - 3):
        u[k] = v[k] * u[k - 1]
        v[k] = u[k] * v[k + 1]
    return y


def views_from_behind_and_within(a: Any, x: Any) -> Any:
    b, c = a[::-1], a[1:-1]
    for k in range(1, len(x) - 3):
        c[k] = b[k] * c[k - 1]
        c[k : k + 2] *= 0.9
    return a


def views_of_every_second(a: Any, x: Any) -> Any:
    odd, even = a[1::2], a[::2]
    for k in range(1, len(x) // 2):
        odd[k] = even[k] * odd[k - 1]
        if x[k] > 0.5:
            even[k] += odd[k] ** 2
    return a


def transposed_views(a: Any, x: Any) -> Any:
    y = np.stack([a, x, a * x], 1)
    t = y.T
    for k in range(1, len(x) - 1):
        t[1:3, k] = t[0:2, k - 1] * t[1:, k]
    return y


def product_with_a_sparse_matrix(a: Any, x: Any) -> Any:
    n = len(x)
    starts, columns = np.minimum(np.arange(n + 1) * 2, n), (np.arange(n) * 7) % n
    y = np.zeros(n)
    for i in range(n):
        for k in range(starts[i], starts[i + 1]):
            y[i] += x[k] * a[columns[k]] ** 2
    return y


def rows_of_a_sparse_matrix(a: Any, x: Any) -> Any:
    n = len(x)
    starts, columns = np.minimum(np.arange(n + 1) * 2, n), (np.arange(n) * 7) % n
    y = np.zeros(n)
    for i in range(n):
        first, last = starts[i], starts[i + 1]
        y[i] = x[first:last] @ a[columns[first:last]]
    return y


def softmax_of_its_rows(a: Any, x: Any) -> Any:
    n = len(x)
    starts, columns = np.minimum(np.arange(n + 1) * 2, n), (np.arange(n) * 7) % n
    y, out = np.zeros(n), np.zeros(n)
    for i in range(n // 2):
        first, last = starts[i], starts[i + 1]
        z = x[first:last] * a[columns[first:last]]
        e = np.exp(z - z.max())
        y[i] = e.sum() + z @ e
        out[first:last] = e / e.sum()
    return y + out


def columns_of_a_sparse_matrix(a: Any, x: Any) -> Any:
    n = len(x)
    starts, rows = np.minimum(np.arange(n + 1) * 2, n), (np.arange(n) * 7) % n
    y = np.zeros(n)
    for i in range(n):
        first, last = starts[i], starts[i + 1]
        y[rows[first:last]] += a[first:last] * x[i]
    return y**2


def elements_of_its_rows(a: Any, x: Any) -> Any:
    n = len(x)
    starts, columns = np.minimum(np.arange(n + 1) * 2, n), (np.arange(n) * 7) % n
    y = np.zeros(n)
    for i in range(n):
        first, last = starts[i], starts[i + 1]
        for j, v in zip(columns[first:last], x[first:last], strict=True):
            y[i] += v * a[j] ** 2
    return y


def sums_of_the_last_two(a: Any, x: Any) -> Any:
    out = np.zeros(len(x))
    for i in range(len(x)):
        for k in range(min(2, i)):
            out[i] += a[i - 1 - k] * a[i]
    return out


def sums_that_end_early(a: Any, x: Any) -> Any:
    out = np.zeros(len(x))
    for i in range(len(x) - 20):
        for k in range(20):
            if x[i + k] < 0.2:
                break
            out[i] += a[i + k] * a[i]
    return out


def sums_under_a_condition(a: Any, x: Any) -> Any:
    out = np.zeros(len(x))
    for i in range(len(x) - 20):
        if x[i] > 0.5:
            for k in range(20):
                out[i] += np.sin(a[i + k]) * a[i]
    return out


def written_on_in_each_step(a: Any, x: Any) -> Any:
    n = len(x)
    out = np.zeros(n)
    for i in range(n):
        for k in range(i, min(i + 3, n)):
            out[k] += a[i] ** 2
    return out


def written_on_under_a_condition(a: Any, x: Any) -> Any:
    n = len(x)
    out = np.zeros(n)
    for i in range(n):
        if x[i] > 0.5:
            for k in range(i, min(i + 3, n)):
                out[k] = a[i] ** 2
    return out


def one_of_two_arrays(a: Any, x: Any) -> Any:
    left, right = np.zeros(len(x)), a * 0.5
    for i in range(len(x)):
        side = left if x[i] < 0.5 else right
        side[i] = side[i - 1] + a[i] ** 2
    return left - right


def ranks_of_pages(a: Any, x: Any) -> Any:
    n = len(x)
    starts, columns = np.minimum(np.arange(n + 1) * 2, n), (np.arange(n) * 7) % n
    r = np.full(n, 1 / n)
    for _ in range(20):
        new = np.full(n, 0.15 / n)
        for i in range(n):
            if starts[i] == starts[i + 1]:
                continue
            total = 0.0
            for k in range(starts[i], starts[i + 1]):
                total += a[k]
            for k in range(starts[i], starts[i + 1]):
                new[columns[k]] += 0.85 * r[i] * a[k] / total
        if np.abs(new - r).sum() < 1e-12:
            break
        r = new
    return r


PROGRAMS: list[Program] = [
    squared_under_a_condition, conditions_in_conditions, in_a_while_loop, at_places_of_an_array, a_while_loop_in_each_step,
    parts_under_a_condition, exchanged_or_left, sums_of_some, sums_of_squares, sums_of_as_many_as_an_array_says,
    solved_by_sweeps, either_of_two, rows_and_elements, columns_of_one, planes_of_one, views_of_columns, views_of_rows,
    views_from_behind_and_within, views_of_every_second, transposed_views, product_with_a_sparse_matrix,
    rows_of_a_sparse_matrix, columns_of_a_sparse_matrix, softmax_of_its_rows, elements_of_its_rows,
    sums_of_the_last_two, sums_that_end_early, sums_under_a_condition, written_on_in_each_step,
    written_on_under_a_condition, one_of_two_arrays, ranks_of_pages,
]  # fmt: skip


def arrays() -> tuple[Any, Any]:
    rng = np.random.default_rng(5)
    return rng.random(N) + 0.2, rng.random(N)


def passes(text: str, depth: int = 1) -> list[str]:
    """Lines of an explanation that tell of something as long as an array in a step, or for each; of loops in
    as many others as `depth` says. An argument may be copied, once."""
    program, plan = text[text.index("after the passes") :].split("arrays captured from outside")
    kept = [line for line in program.splitlines() if re.search(r"= loop\(", line) and re.search(rf"\[\d\d+, {N}", line)]
    inside = [line for line in plan.splitlines() if line.startswith("  " * depth) and extent(line) >= N]
    filled = [line for line in plan.splitlines() if line.startswith("  " * depth) and "all of it filled" in line]
    inside += [line for line in filled if longest(line) >= N // 2]
    inside += [line for line in plan.splitlines() if is_run_all_over(line) and line.startswith("  " * depth)]
    copies = [line for line in plan.splitlines() if re.search(r"\bcop(y|ies)\b", line)]
    return kept + inside + [line for line in copies if "keeps its content" not in line]


def is_run_all_over(line: str) -> bool:
    """Whether a line tells of a running sum, or a recurrence, of all there may be."""
    return bool(re.search(rf"- (cum\w+|recur): fills \S*\b{N}\] ", line))


def longest(line: str) -> int:
    """The greatest extent of the array that a line tells of."""
    found = re.search(r"\[([\d, ]+)\]", line)
    return max(map(int, found[1].split(","))) if found else 0


def extent(line: str) -> int:
    """How many points a nest has."""
    found = re.search(r"- nest over ([\d× ]+)", line)
    return math.prod(map(int, re.findall(r"\d+", found[1]))) if found else 0


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_it_is_what_numpy_makes_and_its_gradient_what_differences_are(f: Program) -> None:
    a, x = arrays()
    np.testing.assert_allclose(pliant.jit(f)(a.copy(), x), f(a.copy(), x), rtol=1e-12)
    pliant.testing.check_gradient(lambda a, x: np.sum(f(a * 1.0, x)), a, x)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_no_step_passes_over_an_array(f: Program) -> None:
    def total(a: Any, x: Any) -> Any:
        return np.sum(f(a * 1.0, x))

    for fn in (total, pliant.grad(total, (0, 1))):
        assert passes(str(pliant.explain(fn, *arrays())), 1 + (f in IN_ANOTHER)) == []


ONE_BY_ONE = [  # problems of a batch end at different steps, which read or write parts of arrays
    a_while_loop_in_each_step, exchanged_or_left, sums_of_as_many_as_an_array_says, sums_that_end_early,
    sums_under_a_condition, written_on_under_a_condition, ranks_of_pages,
]  # fmt: skip
IN_ANOTHER = [ranks_of_pages]  # whose steps pass over arrays, too


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_no_step_of_a_batch_passes_over_its_arrays(f: Program) -> None:
    def total(a: Any, x: Any) -> Any:
        return np.sum(f(a * 1.0, x))

    batch = [np.stack([x, x[::-1], 0.9 * x]) for x in arrays()]
    for fn in (total, pliant.grad(total)):
        mapped = pliant.vmap(fn)
        np.testing.assert_allclose(mapped(*batch), [fn(*row) for row in zip(*batch, strict=True)], rtol=1e-12)
        assert passes(str(pliant.explain(mapped, *batch)), 1 + (f in ONE_BY_ONE) + (f in IN_ANOTHER)) == []
