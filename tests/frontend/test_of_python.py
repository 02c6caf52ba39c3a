"""What of Python's own works on numbers of run time."""

from __future__ import annotations

import functools
import json
from collections import Counter
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import TracedValueError


@functools.cache
def squared(x: Any) -> Any:
    return x * x if x > 0 else 0.0 * x


@functools.lru_cache(maxsize=500)
def fibonacci(n: int) -> int:
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def test_a_function_that_remembers_is_called_with_numbers_of_run_time() -> None:
    def f(x: Any, n: int) -> Any:
        total = 0.0
        for i in range(5):
            total += squared(x[i % 2]) * squared(3.0)
        return total + fibonacci(n)

    x = np.array([1.5, -2.0])
    assert pliant.jit(f)(x, 30) == f(x, 30)
    np.testing.assert_allclose(pliant.grad(f)(x, 20), [81.0, 0.0])
    with pytest.raises(TracedValueError, match="unhashable type"):
        pliant.jit(squared)(x)


def test_powers_by_a_modulus_are_pythons() -> None:
    f = pliant.jit(lambda x, k: (x * pow(k, -1, 7), pow(2, k, 7), pow(x, k), pow(x[0], 2)))
    x = np.array([2.0, 3.0])
    for k in (3, 5):
        for got, expected in zip(f(x, k), (x * pow(k, -1, 7), pow(2, k, 7), x**k, 4.0), strict=True):
            np.testing.assert_array_equal(got, expected)


def test_integers_among_the_arguments_are_known_where_python_needs_them() -> None:
    f = pliant.jit(lambda n, x: (json.dumps({"n": n}), Counter([n, n])[n], x * n))
    assert [f(n, 2.0) for n in (1, 2)] == [('{"n": 1}', 2, 2.0), ('{"n": 2}', 2, 4.0)]
