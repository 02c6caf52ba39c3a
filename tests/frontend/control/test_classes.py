"""`isinstance`, `type`, class patterns and single dispatch see what a traced value stands for."""

from __future__ import annotations

import dataclasses
import functools
import math
import numbers
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pliant

KINDS: tuple[Any, ...] = (
    np.ndarray, np.generic, np.floating, np.float64, np.float32, np.integer, np.int64, np.bool_, np.complexfloating,
    float, int, bool, complex, (int, float), int | float, list, (list, np.ndarray), str,
    numbers.Number, numbers.Real, numbers.Integral, numbers.Complex, Iterable,
)  # fmt: skip
VALUES = {
    "array": np.arange(1.0, 3.0), "of no axes": np.array(2.0), "scalar": np.float64(2.0), "single": np.float32(2.0),
    "whole": np.int64(2), "truth": np.bool_(True), "float": 2.0, "int": 2, "bool": True, "complex": 2.0 + 1j,
    "complex array": np.ones(2, np.complex64),
}  # fmt: skip
MADE: dict[str, Callable[[Any], Any]] = {
    "given": lambda x: x,
    "doubled": lambda x: x + x,
    "added up": lambda x: np.sum(x),
    "an item": lambda x: np.atleast_1d(x)[0],
    "a view": lambda x: np.atleast_1d(x)[:1],
    "compared": lambda x: x == x,
    "a list": lambda x: [x],
}


@pytest.mark.parametrize("name", sorted(VALUES))
@pytest.mark.parametrize("made", sorted(MADE))
def test_is_instance(name: str, made: str):
    def f(x: Any) -> Any:
        y = MADE[made](x)
        return [isinstance(y, kind) for kind in KINDS], [type(y) is kind for kind in KINDS if isinstance(kind, type)]

    assert pliant.jit(f)(VALUES[name]) == f(VALUES[name])


def test_a_value_chooses_by_its_class():
    def norm(x: Any) -> Any:
        if not isinstance(x, np.ndarray):
            x = np.array([x, 1.0])
        return np.sqrt((x * x).sum())

    for x in (np.arange(4.0), 3.0):
        np.testing.assert_allclose(pliant.jit(norm)(x), norm(x), rtol=1e-15)
    np.testing.assert_allclose(pliant.grad(norm)(3.0), 3 / np.sqrt(10))


def test_of_a_number_carried_by_a_loop():
    def f(x: Any) -> Any:
        s: Any = 0.0
        was_float = 0
        for v in x:
            was_float += isinstance(s, float) and isinstance(v, np.floating)
            s = s + v  # pyright: ignore[reportUnknownVariableType]
        return s, was_float

    assert pliant.jit(f)(np.arange(50.0)) == f(np.arange(50.0))


def test_type_makes_classes_and_converts_as_before():
    def f(x: Any) -> Any:
        made: Any = type("Made", (), {"scale": 2})()
        return made.scale * x, type(x)(3), type(made).__name__

    for x in (2.0, 2, np.float32(2)):
        assert pliant.jit(f)(x) == f(x)


@dataclass
class Pair:
    """Two things."""

    x: Any
    y: Any


def matched(v: Any) -> Any:
    """A number that tells which pattern v fits, and what it bound."""
    match v:
        case None:
            return 1.0
        case Pair(x=int(), y=[a, b]):
            return 2.0 + np.sum(a) + np.sum(b)
        case Pair(np.ndarray() as u, int(k)):
            return u.sum() * k
        case Pair(int() | float(), _):
            return 3.0
        case [int(a), [b, c]]:
            return a * b.sum() + np.sum(c)
        case [np.ndarray(), [int(), b]]:
            return 5.0 * b
        case np.ndarray():
            return 6.0
        case np.floating():
            return 7.0
        case bool():
            return 8.0
        case int() | float() as q if q > 2:
            return 9.0 + q
        case int() | float():
            return 10.0
        case str(t):
            return 11.0 + len(t)
        case _:
            return 12.0


CASES: dict[str, Callable[[Any, Any], Any]] = {
    "array": lambda x, n: x, "number": lambda x, n: n, "item": lambda x, n: x[0], "none": lambda x, n: None,
    "text": lambda x, n: "text", "list": lambda x, n: [x, n], "nested": lambda x, n: (n, [x, x]),
    "other nested": lambda x, n: (x, [n, n]), "not nested": lambda x, n: [n, n], "dict": lambda x, n: {"k": n},
    "pair": lambda x, n: Pair(x, n), "pair of lists": lambda x, n: Pair(n, [n, x]), "pair of text": lambda x, n: Pair("", x),
    "pair of a number": lambda x, n: Pair(n, n),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(CASES))
@pytest.mark.parametrize("n", [1, 3, 2.5, True])
def test_class_patterns(name: str, n: Any):
    def f(x: Any, n: Any) -> Any:
        return matched(CASES[name](x, n))

    x = np.arange(1.0, 4.0)
    assert pliant.jit(f)(x, n) == f(x, n)


def test_a_class_pattern_of_too_many_parts_is_pythons_error():
    def f(x: Any) -> Any:
        match x:
            case float(1, 2):  # pyright: ignore[reportGeneralTypeIssues]
                return 1.0
            case _:
                return x

    with pytest.raises(TypeError, match=r"float\(\) accepts 1 positional sub-pattern \(2 given\)"):
        pliant.jit(f)(2.0)


@functools.singledispatch
def area(x: Any) -> Any:
    """The product of the extents of something."""
    raise NotImplementedError


@area.register
def _(x: np.ndarray, scale: float = 1.0) -> Any:
    return scale * x.prod()


@area.register(float)
@area.register(int)
def _(x: Any) -> Any:
    return x * x


def test_single_dispatch():
    def f(x: Any, n: Any) -> Any:
        return area(x, scale=2.0) + area(n) + area(x[0])

    x = np.arange(1.0, 4.0)
    for n in (3, 2.5):
        assert pliant.jit(f)(x, n) == f(x, n)
    np.testing.assert_allclose(pliant.grad(f)(x, 2.5), [14.0, 6.0, 4.0])


OPERATORS: Any = operator


class Affine:
    """x -> scale x + shift."""

    def __init__(self, scale: Any, shift: Any):
        self.numbers = np.array([scale, shift])

    def __matmul__(self, other: Affine) -> Affine:
        (a, b), (c, d) = self.numbers, other.numbers
        return Affine(a * c, a * d + b)

    def __lt__(self, other: Affine) -> Any:
        return self.numbers[0] < other.numbers[0]


def test_functions_of_operators_call_the_methods_of_a_class():
    def f(x: Any) -> Any:
        parts = [Affine(*row) for row in x]
        all_of_them = functools.reduce(OPERATORS.matmul, parts)
        return all_of_them.numbers, operator.lt(parts[0], all_of_them), operator.mul(x[0, 0], x[1, 0])

    x = np.arange(1.0, 9.0).reshape(4, 2)
    for a, b in zip(pliant.jit(f)(x), f(x), strict=True):
        np.testing.assert_array_equal(a, b)

    def product_of_scales(x: Any) -> Any:
        return f(x)[0][0]

    np.testing.assert_allclose(pliant.grad(product_of_scales)(x)[:, 0], [105.0, 35.0, 21.0, 15.0])


def with_classes(x: Any, n: Any) -> Any:
    class Scaled:
        factor = math.pi
        table = (np.sin(0.0), *[float(i) for i in range(2)])

        def __init__(self, x: Any) -> None:
            self.x = x

        @functools.cached_property
        def twice(self) -> Any:
            return 2 * self.x

        def shifted(self, by: Any = np.ones(3)) -> Any:  # noqa: B008
            return self.factor * self.x + by

    total = Scaled(x).twice + Scaled.table[2]
    for i in range(n):

        @dataclasses.dataclass
        class Step:
            x: Any
            rate: float = math.e

            def made(self, i: Any = i) -> Any:
                return Scaled(self.x * self.rate * i).shifted()

        total = total + Step(x).made()
    return total


def names_of_classes(x: Any) -> list[str]:
    names: list[str] = []
    if x[0] > 0:

        class A:
            class B:
                def get(self) -> None: ...

        def f() -> None: ...

        names += [A.__qualname__, A.B.__qualname__, A.B.get.__qualname__, f.__qualname__]
    return names


def test_bodies_of_classes_read_modules_and_what_is_beside_them():
    x = np.array([0.5, 1.0, 2.0])
    np.testing.assert_allclose(pliant.jit(with_classes)(x, 3), with_classes(x, 3))
    slope = pliant.grad(lambda x: with_classes(x, 3).sum())(x)
    np.testing.assert_allclose(slope, np.full(3, 2 + 3 * math.pi * math.e))


def test_classes_and_functions_have_the_names_of_where_they_are():
    x = np.ones(2)
    assert pliant.jit(names_of_classes)(x) == names_of_classes(x)
