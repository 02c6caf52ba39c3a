"""Elements of the user's containers, and what ranges count, at numbers known only at run time."""

from __future__ import annotations

from enum import Enum, IntEnum
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


class Plain(tuple[Any, ...]):
    """A tuple that reads its elements by the method of its class."""

    def __getitem__(self, key: Any) -> Any:
        value: Any = super().__getitem__(key)
        return value


class Third(list[Any]):
    """A list that reads its elements without itself."""

    @staticmethod
    def __getitem__(key: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return 3.0


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


def test_what_reads_in_its_own_way_at_numbers_of_run_time() -> None:
    def f(x: Any) -> Any:
        kept, total = Tenfold([x[0], x[1], x[2]]), x[0] * Third([x])[0]
        for i in range(int(x[2])):
            total += kept[i]
        return total + kept[np.argmax(x)] + Plain((np.sin, np.cos))[int(x[2]) - 2](x[0])

    np.testing.assert_allclose(pliant.jit(f)(X), f(X))
    np.testing.assert_allclose(pliant.grad(f)(X), [13 - np.sin(X[0]), 1, 20])


def test_get_of_a_dict_is_not_its_own_way() -> None:
    def f(x: Any, n: int) -> Any:
        raised = Raised({0: x[0], 1: x[1]})
        return raised.get(n, 7.0) + raised.get(n + 5, 7.0)

    assert pliant.jit(f)(X, 1) == f(X, 1)


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


def of_a_list(x: Any, n: int) -> Any:
    return [x.sum()][int(x[n])]


def of_a_constant(x: Any, n: int) -> Any:
    return np.array([2.0])[int(x[n])]


def of_an_array(x: Any, n: int) -> Any:
    return x[:1].copy()[int(x[n])]


def of_one_that_is_written(x: Any, n: int) -> Any:
    y = np.zeros(1)
    y[int(x[n])] = 1.0
    return y


GRADIENTS: Any = {
    of_a_list: [1, 1, 1, 1],
    of_a_constant: [0] * 4,
    of_an_array: [1, 0, 0, 0],
    of_one_that_is_written: [0] * 4,
}


@pytest.mark.parametrize("f", GRADIENTS)
def test_the_only_element_has_a_place_too(f: Any) -> None:
    def total(x: Any, n: int) -> Any:
        return np.sum(f(x, n))

    x = np.array([0.0, -1.0, 1.0, -2.0])
    for n in (0, 1):
        np.testing.assert_array_equal(pliant.jit(f)(x, n), f(x, n))
        np.testing.assert_array_equal(pliant.grad(total)(x, n), GRADIENTS[f])
    for n in (2, 3):
        with pytest.raises(IndexError, match="out of range for axis 0 of extent 1"):
            pliant.jit(f)(x, n)


@pytest.mark.parametrize("v", [4, -2, 1])
def test_a_negative_power_of_an_int_is_a_float(v: int) -> None:
    def f(v: Any) -> Any:
        return v**-2

    assert pliant.jit(f)(v) == f(v)
    with pytest.raises(ValueError, match="Integers to negative integer powers"):
        pliant.jit(f)(np.array([v]))


def test_a_negative_power_of_zero() -> None:
    def f(k: Any) -> Any:
        k **= -1
        return k

    def caught(k: int) -> Any:
        try:
            return f(k)
        except ZeroDivisionError:
            return -5.0

    assert pliant.jit(f)(4) == 0.25
    assert [pliant.jit(caught)(k) for k in (0, 2)] == [-5.0, 0.5]
    with pytest.raises(ZeroDivisionError, match="cannot be raised to a negative power"):
        pliant.jit(f)(0)


@pytest.mark.parametrize("k", [0, 1])
def test_a_word_or_a_function_by_a_condition(k: int) -> None:
    def f(x: Any, k: int) -> Any:
        word = ["up", "down"][k > 0]
        return (np.sin, np.cos)[k > 0](x) * (2 if word == "up" else 3)

    np.testing.assert_allclose(pliant.jit(f)(X, k), f(X, k))


def test_nobody_writes_to_the_imaginary_part_of_real_numbers() -> None:
    def f(x: Any) -> Any:
        x.imag[0] = 1.0
        return x

    def g(x: Any) -> Any:
        return x.imag + x

    np.testing.assert_array_equal(pliant.jit(g)(X), X)
    with pytest.raises(ReadOnlyError, match=r"it is the imaginary part of f64\[3\]"):
        pliant.jit(f)(X)


class Level(IntEnum):
    LOW = 0
    HIGH = 1


class Named(Enum):
    A = "a"
    B = "b"


def enumerated(x: Any) -> Any:
    return [np.sum(x > level) * k for k, level in enumerate(Level)]


def zipped(x: Any) -> Any:
    return [x * level for _, level in zip("ab", Level, strict=True)]


def backward(x: Any) -> Any:
    return sum([x * level for level in reversed(Level)])


def by_class(x: Any) -> Any:
    return [x * level for level in map(Level, [1, 0])]


def members(x: Any) -> Any:
    total = 0.0
    for k, name in enumerate(Named):
        if name is Named.B:
            total = total + k * x
    return total


@pytest.mark.parametrize("f", [enumerated, zipped, backward, by_class, members])
def test_classes_of_enums_are_gone_over(f: Any):
    np.testing.assert_array_equal(pliant.jit(f)(X), f(X))


def of_a_tuple(x: Any, i: Any) -> Any:
    """An array of a tuple, by an integer argument and by one that data decide."""
    both = (x, 2 * x)
    return np.sum(both[i]) + np.sum(both[int(x[0] > 1)])


@pytest.mark.parametrize("i", [0, 1])
def test_derivatives_of_arrays_in_tuples_at_places_known_only_at_run_time(i: int) -> None:
    x, factor = np.array([2.0, 1.0]), (1.0, 2.0)[i] + 2.0
    np.testing.assert_allclose(pliant.grad(of_a_tuple)(x, i), [factor, factor])
    value, tangent = pliant.jvp(lambda x: of_a_tuple(x, i), (x,), (x,))
    np.testing.assert_allclose((value, tangent), (3 * factor, 3 * factor))
    batch = np.array([[2.0, 1.0], [0.5, 1.0]])
    expected = [of_a_tuple(row, i) for row in batch]
    np.testing.assert_allclose(pliant.vmap(of_a_tuple, in_axes=(0, None))(batch, i), expected)
