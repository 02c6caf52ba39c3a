# ruff: noqa: RUF005, SIM300 (the order of operands is what is tested)
"""Python's operators of traced numbers are those of Python's numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import DTypeError

Z = np.array([1j, 2.0])


@pytest.mark.parametrize(
    "f",
    [
        lambda z, n: z.tolist()[0] < n, lambda z, n: n >= z.tolist()[0], lambda z, n: complex(n, 1.0) > 3,
        lambda z, n: max(n, z.tolist()[0], 1), lambda z, n: sorted(z.tolist()),
    ],
)  # fmt: skip
def test_pythons_complex_numbers_have_no_order(f: Callable[[Any, Any], Any]) -> None:
    with pytest.raises(TypeError, match="not supported between instances of"):
        f(Z, 3)
    with pytest.raises(DTypeError, match=r"'[<>]=?' not supported between instances of[\s\S]*abs\(z\)"):
        pliant.jit(f)(Z, 3)


def test_numpys_complex_numbers_are_ordered() -> None:
    def f(z: Any, n: Any) -> Any:
        return z[0] < n, np.float64(2.0) < z.tolist()[1], z.tolist()[0] == n

    assert pliant.jit(f)(Z, 3) == f(Z, 3)


@pytest.mark.parametrize("x", [np.array(1.25), np.array([1.25]), np.ones(3)], ids=repr)
def test_arrays_are_not_rounded_to_a_number(x: Any) -> None:
    for f in (lambda x: round(x), lambda x: round(x, 1)):
        with pytest.raises(TypeError, match="doesn't define __round__"):
            f(x)
        with pytest.raises(DTypeError, match=r"type numpy.ndarray doesn't define __round__ method[\s\S]*np\.round"):
            pliant.jit(f)(x)
    assert pliant.jit(lambda x: round(x.sum() * 0.5))(x) == round(x.sum() * 0.5)


@pytest.mark.parametrize(
    "f",
    [
        lambda x, n: [1, 2] * n, lambda x, n: (n > 2) * (1, 2), lambda x, n: [1, 2] * np.int64(n),
        lambda x, n: x.sum(keepdims=True) * [1, 2], lambda x, n: [1, 2] == n, lambda x, n: [1, 2] == x[0],
        lambda x, n: x[0] < [1, 2], lambda x, n: [1, 2] + x[0], lambda x, n: ([1, 2] + n, 2)[1],
        lambda x, n: n - [1, 2], lambda x, n: [1, 2] < n, lambda x, n: x.item(0) * (1, 2), lambda x, n: [0] * x.sum(),
        lambda x, n: x[0] * (0,), lambda x, n: "ab" * x[0], lambda x, n: [1, 2] * (x[0] > 0), lambda x, n: n + None,
    ],
)  # fmt: skip
def test_numbers_beside_sequences_are_as_in_python(f: Callable[[Any, Any], Any]) -> None:
    x = np.array([1.0, 2.0, 3.0])
    try:
        expected = repr(f(x, 3))
    except TypeError as error:
        with pytest.raises(DTypeError, match=re.escape(str(error))):
            pliant.jit(f)(x, 3)
    else:
        assert repr(pliant.jit(f)(x, 3)) == expected


@pytest.mark.parametrize("f", [lambda x: x + None, lambda x: [None] < x.item(0), lambda x: x[0] - {}])
def test_operands_are_named_by_what_they_stand_for(f: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match=r"'(numpy.ndarray|numpy.float64|float)'"):
        pliant.jit(f)(np.array([1.0, 2.0, 3.0]))


class OfUfuncs:
    """An object that says what ufuncs make of it."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any) -> Any:
        x, y = [2.0 if a is self else a for a in args]
        return [ufunc.__name__, ufunc(x, y)]

    def __rmul__(self, x: Any) -> Any:
        return ["not asked"]


class OfNoUfuncs:
    """An object that ufuncs take none of."""

    __array_ufunc__ = None

    def __rmul__(self, x: Any) -> Any:
        return ["asked", x + 1]


OBJECTS = OfUfuncs(), OfNoUfuncs()


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x * OBJECTS[0], lambda x: x[0] - OBJECTS[0], lambda x: OBJECTS[0] - x, lambda x: x * OBJECTS[1],
        lambda x: np.subtract(OBJECTS[0], x),
    ],
)  # fmt: skip
def test_objects_that_answer_for_ufuncs_are_asked(f: Callable[[Any], Any]) -> None:
    x = np.array([1.0, 2.0, 3.0])
    assert repr(pliant.jit(f)(x)) == repr(f(x))


class Held:
    """An object that stands for its number in ufuncs, also where they write."""

    def __init__(self, number: Any) -> None:
        self.number = number

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **options: Any) -> Any:
        return getattr(ufunc, method)(*[a.number if isinstance(a, Held) else a for a in args], **options)


def added(x: Any) -> Any:
    x += Held(x)
    return x


def multiplied(x: Any) -> Any:
    y = z = x.copy()
    y *= Held(2.0)
    return z


def part(x: Any) -> Any:
    x[1:] -= Held(0.5)
    return x


def number(x: Any) -> Any:
    y = x[0]
    y *= Held(3.0)
    y *= OBJECTS[1]
    return y


@pytest.mark.parametrize("f", [added, multiplied, part, number])
def test_objects_with_ufuncs_of_their_own_are_written_with(f: Any) -> None:
    mine, numpys = np.arange(4.0), np.arange(4.0)
    made, expected = pliant.jit(f)(mine), f(numpys)
    np.testing.assert_array_equal(mine, numpys)
    for x, y in zip(made, expected, strict=True) if isinstance(expected, list) else [(made, expected)]:
        np.testing.assert_array_equal(x, y)


def test_what_ufuncs_take_none_of_is_not_written_with() -> None:
    def f(x: Any) -> Any:
        x *= OBJECTS[1]
        return x

    for g in (f, pliant.jit(f)):
        with pytest.raises(TypeError, match="'OfNoUfuncs' does not support ufuncs"):
            g(np.ones(3))
