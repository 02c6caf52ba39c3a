"""Members of an IntEnum that data choose: numbers, of which it is known which members they are."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, IntEnum
from typing import Any

import numpy as np
import pytest

import pliant


class Mode(IntEnum):
    UP = 1
    DOWN = 2
    REST = 5

    @property
    def rate(self) -> float:
        return self * 0.5

    def twice(self) -> int:
        return 2 * self.value


class Other(IntEnum):
    UP = 1
    DOWN = 2


class Half(float, Enum):
    LOW = 0.5
    HIGH = 1.5


class Machine:
    def __init__(self) -> None:
        self.mode = Mode.UP

    def step(self, x: Any) -> Any:
        if self.mode is Mode.UP and x > 0:
            self.mode = Mode.DOWN
        elif self.mode is Mode.DOWN and x > 1:
            self.mode = Mode.REST
        return self.mode.rate


def of_two(x: Any) -> Any:
    m: Any = Mode.UP if x > 0 else Mode.DOWN
    return m.value * x, m.rate + m.twice(), m + 1, m == 1, m < 2, [1.0, 2.0, 3.0][m]


def which_one(x: Any) -> Any:
    m: Any = Mode.UP if x > 0 else Mode.DOWN
    return m is Mode.UP, isinstance(m, Mode), type(m) is Mode, m in (Mode.UP, Mode.REST), hasattr(m, "rate")


def beside_a_number(x: Any) -> Any:
    m: Any = Mode.UP if x > 0 else 7
    return m is Mode.UP, isinstance(m, Mode), m * x


def of_two_classes(x: Any) -> Any:
    m: Any = Mode.UP if x > 0 else Other.UP
    return m is Mode.UP, type(m) is Other, m.value


def at_a_place(x: Any) -> Any:
    m: Any = [Mode.UP, Mode.DOWN, Mode.REST][np.argmax(np.array([x, 1.0, -x]))]
    return m is Mode.REST, m.value * x


def in_containers(x: Any) -> Any:
    held: Any = {"m": Mode.UP, "l": [Mode.DOWN, Mode.REST]}
    if x > 0:
        held = {"m": Mode.DOWN, "l": [Mode.UP, Mode.REST]}
    return held["m"].value * x + held["l"][0].rate


def in_steps(x: Any) -> Any:
    m, s = Mode.UP, 0.0
    for k in range(30):
        if m is Mode.UP:
            s += x
            m = Mode.DOWN if x > k else Mode.REST
        elif m is Mode.DOWN:
            s += 10 * x
            m = Mode.UP
        else:
            m = Mode.DOWN if x > 1 else Mode.UP
    return s, m.value


def while_it_is_not(x: Any) -> Any:
    m, n = Mode.UP, 0
    while m is not Mode.REST and n < 10:
        n += 1
        if x > n:
            m = Mode.DOWN
        elif m is Mode.DOWN:
            m = Mode.REST
    return n


def known_in_each_step(x: Any) -> Any:
    m, s = Mode.UP, 0.0
    for k in range(400):
        s += x if m is Mode.UP else k * x
        m = Mode.DOWN if m is Mode.UP else Mode.UP
    return s


def another_from_then_on(x: Any) -> Any:
    m, s = Mode.UP, 0.0
    for k in range(400):
        s += x if m is Mode.UP else k * x
        m = Mode.DOWN
    return s


def until_a_break(x: Any) -> Any:
    m = Mode.UP
    for k in range(5):
        if x > k:
            m = Mode.DOWN
            break
    return m + 1, m.value


def in_a_match(x: Any) -> Any:
    match Mode.UP if x > 0 else Mode.DOWN:
        case Mode.UP:
            return x
        case _:
            return -x


def of_a_machine(x: Any) -> Any:
    machine, s = Machine(), 0.0
    for k in range(6):
        s += machine.step(x * k - 1)
    return s


def of_halves(x: Any) -> Any:
    h: Any = Half.LOW if x > 0 else Half.HIGH
    return h.value * x, h is Half.LOW, h + 1


@pytest.mark.parametrize("x", [1.5, -1.5, 4.5, -6.0])
@pytest.mark.parametrize("f", [
    of_two, which_one, beside_a_number, of_two_classes, at_a_place, in_containers, in_steps, while_it_is_not,
    known_in_each_step, another_from_then_on, until_a_break, in_a_match, of_a_machine, of_halves,
])  # fmt: skip
def test_they_are_what_they_are_in_python(f: Callable[[Any], Any], x: float) -> None:
    assert pliant.jit(f)(x) == f(x)


@pytest.mark.parametrize("f", [in_containers, of_a_machine])
def test_a_derivative_and_a_batch_follow_them(f: Callable[[Any], Any]) -> None:
    xs = np.array([1.5, -1.5, 4.5])
    np.testing.assert_allclose(pliant.vmap(f)(xs), [f(x) for x in xs])
    np.testing.assert_allclose(
        pliant.vmap(pliant.grad(f))(xs), [(f(x + 1e-6) - f(x - 1e-6)) / 2e-6 for x in xs], atol=1e-6
    )


def test_numbers_and_arrays_have_no_attributes_of_ours() -> None:
    with pytest.raises(AttributeError, match="'float' object has no attribute 'value'"):
        pliant.jit(lambda x: x.value)(1.0)
    with pytest.raises(AttributeError, match="'ndarray' object has no attribute 'storage'"):
        pliant.jit(lambda x: x.storage)(np.ones(2))
