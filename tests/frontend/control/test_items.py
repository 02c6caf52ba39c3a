"""Elements of the user's containers, and what ranges count, at numbers known only at run time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import ReadOnlyError

X = np.array([1.5, -2.0, 3.0])


class Tenfold(list[Any]):
    """A list whose elements are read in a way of its own."""

    def __getitem__(self, key: Any) -> Any:
        value: Any = super().__getitem__(key)
        scaled: Any = value * 10
        return scaled if value > 0 else value


class Raised(dict[int, Any]):
    """A dict whose values are read in a way of its own."""

    def __getitem__(self, key: int) -> Any:
        value: Any = super().__getitem__(key)
        return value + 100


@pytest.mark.parametrize("n", [0, 1, -1])
def test_a_subclass_of_list_reads_in_its_own_way(n: int) -> None:
    def f(x: Any, n: int) -> Any:
        kept = Tenfold([x[0], x[1], x[2]])
        return kept[n] + kept[0]

    assert pliant.jit(f)(X, n) == f(X, n)
    np.testing.assert_array_equal(pliant.grad(f)(X, n), [[20, 0, 0], [10, 1, 0], [10, 0, 10]][n])


@pytest.mark.parametrize("n", [0, 1])
def test_a_subclass_of_dict_reads_in_its_own_way(n: int) -> None:
    def f(x: Any, n: int) -> Any:
        return Raised({0: x[0], 1: x[1]})[n]

    assert pliant.jit(f)(X, n) == f(X, n)


@pytest.mark.parametrize("n", [-3, 0, 1, 2, 7, 12])
def test_what_a_range_of_run_time_counts(n: int) -> None:
    def f(n: int) -> Any:
        return len(range(n)), len(range(3, n)), len(range(n, 3)), len(range(0, 9, abs(n) + 1)), len(range(9, n, -2))

    assert tuple(pliant.jit(f)(n)) == f(n)


@pytest.mark.parametrize("n", [3, -4])
def test_a_place_that_is_none_of_some_words(n: int) -> None:
    def f(x: Any, n: int) -> Any:
        return x * 2 if ["up", "down", "up"][n] == "up" else x

    with pytest.raises(IndexError, match="list index out of range"):
        pliant.jit(f)(X, n)


@pytest.mark.parametrize("v", [4, -2, 1])
def test_a_negative_power_of_an_int_is_a_float(v: int) -> None:
    def f(v: Any) -> Any:
        return v**-2

    assert pliant.jit(f)(v) == f(v)
    with pytest.raises(ValueError, match="Integers to negative integer powers"):
        pliant.jit(f)(np.array([v]))


def test_nobody_writes_to_the_imaginary_part_of_real_numbers() -> None:
    def f(x: Any) -> Any:
        x.imag[0] = 1.0
        return x

    def g(x: Any) -> Any:
        return x.imag + x

    np.testing.assert_array_equal(pliant.jit(g)(X), X)
    with pytest.raises(ReadOnlyError, match=r"it is the imaginary part of f64\[3\]"):
        pliant.jit(f)(X)
