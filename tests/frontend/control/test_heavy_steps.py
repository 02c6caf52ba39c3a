"""Loops of few steps with many operations each: compiled once, as loops of many steps are, but for the first step."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pliant
from pliant.backends.llvm.kept import all_nodes
from pliant.testing import check_gradient

X = np.linspace(0.1, 1.0, 7)


def heavy(x: Any, steps: int) -> Any:
    """Many operations in each step, by inner loops that are no loops of the program; names made in it are used later."""
    total, k, n = 0.0, 0, 0
    for k in range(steps):
        for n in range(4):
            for m in range(4):
                x = x + np.sin(x[::-1] * (n + 0.5)) * 0.1 + np.cos(x + m) * 0.01
        for n in range(4):
            x[n] = x[n] * 0.5 + k
            for m in range(4):
                x[n : n + 2] += 0.01 * np.tanh(x[m : m + 2] - n)
        total = total + x @ x
    return total + k + x[n]


def of_other_shapes(x: Any, steps: int) -> Any:
    """Steps that no loop of the program can have, as each one adds an element."""
    for _ in range(steps):
        for n in range(4):
            for m in range(4):
                x = x * 0.9 + 0.02 * np.sin(x[::-1] * (n + 0.5)) + 0.01 * np.cos(x + m) * np.tanh(x - n) + 0.01 * x[2]
        x = np.append(x, x.mean())
    return x @ x


def size(f: Any, steps: int) -> int:
    return len([*all_nodes(pliant.trace(partial(f, steps=steps), X))])


def test_a_heavy_step_is_there_twice_at_most():
    once = size(heavy, 1)
    assert once > 200
    assert size(heavy, 4) < 2.2 * once


@pytest.mark.parametrize("f", [heavy, of_other_shapes])
@pytest.mark.parametrize("steps", [2, 3, 4])
def test_values_and_gradients(f: Any, steps: int):
    run = partial(f, steps=steps)
    assert_allclose(pliant.jit(run)(X.copy()), run(X.copy()), rtol=1e-12)
    check_gradient(run, X.copy(), rtol=1e-5)


def merged(x: Any) -> Any:
    """Merge sort from below, by Python integers: how often the inner loops are run is known, and grows with n."""
    a, b, n, width = x.copy(), np.empty_like(x), len(x), 1
    while width < n:
        lo = 0
        while lo < n:
            mid, hi = min(lo + width, n), min(lo + 2 * width, n)
            i, j, k = lo, mid, lo
            while k < hi:
                if i < mid and (j >= hi or a[i] <= a[j]):
                    b[k] = a[i]
                    i += 1
                else:
                    b[k] = a[j]
                    j += 1
                k += 1
            lo += 2 * width
        a, b = b, a
        width *= 2
    return a


def test_a_while_of_many_operations_is_one_loop_after_few_copies():
    x = np.arange(96.0) * 37 % 97
    sizes = [len([*all_nodes(pliant.trace(merged, x[:n]))]) for n in (48, 96)]
    assert sizes[1] < 1.1 * sizes[0]
    assert_allclose(pliant.jit(merged)(x), np.sort(x))
    check_gradient(lambda x: merged(x) @ np.arange(96.0), x, rtol=1e-5)


OFFSETS = [(0, 1), (1, 0), (0, -1), (-1, 0), (1, 1)]


def walked(x: Any, near: Any, k: int) -> Any:
    """Many operations, of loops of unknown length inside of each other."""
    total, n = 0.0, near
    while x[n] < 2:
        m = near
        while x[m] < 2.5:
            if m != n:
                d = x[n] - x[m]
                total += k * np.exp(-d * d) + np.sin(d) * np.cos(x[m]) / (1 + d * d) + np.tanh(d) * x[n] * x[m]
            m += 1
        n += 1
    return total


def of_tuples(x: Any) -> Any:
    total = 0.0
    for a in (-1, 0, 1):
        for b in (2, 0, 1):
            for weight, c in ((0.5, 1), (1.5, 0), (0.25, 2)):
                total += weight * walked(x, a + b + c + 1, b)
    return total, a, weight


def of_ranges(x: Any) -> Any:
    total, c = 0.0, 0
    for a in range(3):
        for b in range(3):
            for c in range(-1, 2):
                total += walked(x, a + b + c + 1, b)
    return total, c


def of_a_list(x: Any) -> Any:
    total = 0.0
    for a, b in OFFSETS:
        for _, c in enumerate((3, 1, 2)):
            total += walked(x, a + b + c + 1, b)
    return total


def of_a_product(x: Any) -> Any:
    total, b = 0.0, 0
    for a, b, c in product((-1, 0, 1), repeat=3):
        total += walked(x, a + b + c + 3, b)
        if total > 40:
            break
    return total, b


def of_a_list_that_grows(x: Any) -> Any:
    total, todo = 0.0, [1, 2, 3]
    for a in todo:
        total += walked(x, a, 1)
        if len(todo) < 6:
            todo.append(a + 1)
    return total


def first(f: Any, x: Any) -> Any:
    """The result of a function, or the first of several."""
    results: Any = f(x)
    return results[0] if f in (of_tuples, of_ranges, of_a_product) else results


def last_of_tuples(x: Any) -> Any:
    """The last numbers are known after the loop, as in copies of the body."""
    total, k, weight = 0.0, 0, 0.0
    for k, weight in ((1, 0.5), (3, 0.25), (4, 2.5)):
        for _ in range(3):
            total += weight * walked(x, k, k) + walked(x, k + 1, 1)
    return total, np.zeros(k) + weight, [0, 1, 2, 3, 4][k]


def test_the_last_of_known_elements_is_known_after_a_loop():
    found, expected = pliant.jit(last_of_tuples)(LONG), last_of_tuples(LONG)
    for x, y in zip(found, expected, strict=True):
        assert_allclose(x, y, rtol=1e-12)


NESTS = [of_tuples, of_ranges, of_a_list, of_a_product, of_a_list_that_grows]
LONG = np.linspace(0.0, 3.0, 12)


@pytest.mark.parametrize("f", NESTS)
def test_known_elements_of_heavy_loops_are_those_of_python(f: Any):
    found, expected = pliant.jit(f)(LONG), f(LONG)
    assert_allclose(found, expected, rtol=1e-12)
    assert str(found)[-10:].split(",")[1:] == str(expected)[-10:].split(",")[1:]
    check_gradient(partial(first, f), LONG, rtol=1e-5)


@pytest.mark.parametrize("f", NESTS[:4])
def test_nests_of_short_loops_hold_a_heavy_body_a_few_times(f: Any):
    once = len([*all_nodes(pliant.trace(partial(walked, near=1, k=1), LONG))])
    assert len([*all_nodes(pliant.trace(f, LONG))]) < 11 * once
