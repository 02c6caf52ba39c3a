"""Python's `min`, `max`, `any`, `all` and NumPy's types of scalars, on traced numbers."""

from __future__ import annotations

import math
import zlib
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.testing import check_gradient


def spread(x):
    low = high = x[0]
    for v in x[1:]:
        low, high = min(low, v), max(high, v)
    return high - low


def largest_by_key(x):
    return max(x[0], x[1], x[2], key=lambda v: -abs(v - 1))


def bounded(x):
    return min(2.0, max(0.3, x[0] * 2)) + min([x[1], 5.0]) + max(x)


def has_large(x):
    return any(v > 2 for v in x) or all(v > -5 for v in x)


def none_of_two(x):
    return not any([x[0] > 1, x[1] > 1]) and all((x[0] > -9, True))


@pytest.mark.parametrize("f", [spread, largest_by_key, bounded, has_large, none_of_two])
@pytest.mark.parametrize("seed", range(8))
def test_it_answers_as_python_does(f, seed):
    x = np.random.default_rng(seed).normal(size=6) * 2
    np.testing.assert_array_equal(pliant.jit(f)(x), f(x))


@pytest.mark.parametrize("f", [spread, largest_by_key, bounded])
def test_derivatives_are_those_of_what_is_chosen(f):
    x = np.random.default_rng(3).normal(size=6) * 2
    check_gradient(f, x)


def test_the_first_of_equals_is_chosen():
    assert pliant.grad(lambda x: max(x[0], x[1]))(np.ones(2)).tolist() == [1, 0]
    assert pliant.grad(lambda x: min(x[0], x[1]))(np.ones(2)).tolist() == [1, 0]


def test_numbers_known_while_tracing_stay_pythons():
    def f(x):
        n = max(len(x), 2)
        return x[: min(n, 3)].sum() * (2.0 if any([n > 100, False]) else 1.0)

    x = np.arange(5.0)
    assert pliant.jit(f)(x) == f(x)
    assert pliant.jit(lambda x: x + max([], default=3))(1.0) == 4


def test_a_scalar_type_called_is_a_cast():
    def crc(data):
        crc = np.uint32(0xFFFFFFFF)
        for b in data:
            crc = crc ^ np.uint32(b)
            for _ in range(8):
                odd = crc & np.uint32(1)
                crc = crc >> np.uint32(1)
                if odd:
                    crc ^= np.uint32(0xEDB88320)
        return crc ^ np.uint32(0xFFFFFFFF)

    data = np.random.default_rng(0).integers(0, 256, 40).astype(np.uint8)
    assert int(pliant.jit(crc)(data)) == zlib.crc32(data.tobytes())
    made = pliant.jit(lambda x: np.float32(x))(np.arange(3.0))
    assert made.dtype == np.float32


OF_OTHERS: list[tuple[Any, tuple[Any, ...]]] = [
    (max, (np.array([1.0, 3.0, 2.0]),)), (min, (3.0, 2.0)), (sorted, (np.array([1.0, 3.0, 2.0]),)), (math.sin, (2.0,)),
    (math.hypot, (3.0, 4.0)), (math.floor, (2.5,)), (round, (2.6,)), (int, (2.6,)), (float, (2,)), (abs, (-2.0,)),
    (sum, (np.array([1.0, 3.0]),)), (len, (np.ones(3),)), (np.sin, (np.ones(3),)),
    (np.array, ([1.0, 2.0],)), (np.maximum, (np.ones(3), 2.0)), (np.add.reduce, (np.ones(3),)), (np.stack, ([1.0, 2.0],)),
]  # fmt: skip


@pytest.mark.parametrize(("f", "args"), OF_OTHERS, ids=[f.__name__ for f, _ in OF_OTHERS])
def test_functions_that_are_not_the_users_are_compiled_as_they_are(f: Any, args: tuple[Any, ...]) -> None:
    made, wanted = pliant.jit(f)(*args), f(*args)
    assert type(made) is type(wanted)
    np.testing.assert_allclose(made, wanted, rtol=1e-15)


def test_derivatives_and_batches_of_functions_of_python() -> None:
    assert pliant.grad(math.sin)(2.0) == pytest.approx(math.cos(2.0))
    assert pliant.grad(max, argnums=1)(1.0, 2.0) == 1
    np.testing.assert_array_equal(pliant.vmap(max)(np.array([1.0, 5.0]), np.array([3.0, 2.0])), [3.0, 5.0])
