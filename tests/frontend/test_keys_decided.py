"""Dicts whose keys are numbers that data decide, read and written at traced keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant


def lookup(a: Any, t: Any) -> Any:
    d = {}
    for i in range(len(a)):
        d[a[i]] = 10 * i
    return d[t]


def of_a_comprehension(a: Any, t: Any) -> Any:
    return {v: i for i, v in enumerate(a)}[t]


def of_pairs(a: Any, t: Any) -> Any:
    return dict(zip(a, a * 10, strict=True))[t]


def of_tuples(a: Any, t: Any) -> Any:
    return {(v, v + 1): i for i, v in enumerate(a)}[t, t + 1]


def two_sum(a: Any, t: Any) -> Any:
    seen = {}
    for i, v in enumerate(a):
        if t - v in seen:
            return seen[t - v], i
        seen[v] = i
    return -1, -1


def grouped(a: Any, t: Any) -> Any:
    d: dict[Any, list[int]] = {}
    for i, v in enumerate(a):
        d.setdefault(v, []).append(i)
    return len(d[t])


def counted(a: Any, t: Any) -> Any:
    d = {}
    for v in a:
        if v in d:
            d[v] += 1
        else:
            d[v] = 1
    return d[t]


def ranks(a: Any, t: Any) -> Any:
    rank = {v: i for i, v in enumerate(np.sort(a))}
    return [rank[v] for v in a], t


def caught(a: Any, t: Any) -> Any:
    d = dict.fromkeys(a, 0)
    try:
        return d[t]
    except KeyError:
        return -7


def written(a: Any, t: Any) -> Any:
    d = dict.fromkeys(a, 0)
    d[a[-1] + t - t] += 5
    return list(d.values())


@pytest.mark.parametrize(
    "f", [lookup, of_a_comprehension, of_pairs, of_tuples, two_sum, grouped, counted, ranks, caught, written]
)
def test_it_does_what_python_does(f: Any) -> None:
    compiled = pliant.jit(f)
    for a, t in (([2, 0, 1], 0), ([2, 0, 1], 1), ([7, 5, 9], 5), ([2, 7, 11, 15], 9), ([1, 1, 3], 3), ([2, 0, 1], 2)):
        try:
            wanted = f(np.array(a), t)
        except KeyError:
            with pytest.raises(KeyError):
                compiled(np.array(a), t)
        else:
            assert compiled(np.array(a), t) == wanted


def test_the_gradient() -> None:
    def looked_up(x: Any, a: Any, t: Any) -> Any:
        d = {}
        for i in range(3):
            d[a[i]] = x[i]
        return d[t] ** 2 if t in d else 0.0

    x, a = np.array([3.0, 5.0, 7.0]), np.array([2, 0, 1])
    np.testing.assert_array_equal(pliant.grad(looked_up)(x, a, 0), [0, 10, 0])
    np.testing.assert_array_equal(pliant.grad(looked_up)(x, a, 2), [6, 0, 0])
    np.testing.assert_array_equal(pliant.grad(looked_up)(x, a, 5), [0, 0, 0])
