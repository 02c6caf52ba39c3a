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


def appended(x: Any, kind: Any) -> Any:
    log: Any = []
    for v in x:
        log.append(kind.UP if v > 0 else kind.DOWN)
    return sum([1.0 if m is kind.UP else 10.0 for m in log])


def appended_sometimes(x: Any, kind: Any) -> Any:
    log: Any = []
    for v in x:
        if v > 0.2:
            log.append(kind.UP if v > 0.5 else kind.DOWN)
    s = 0.0
    for m in log:
        s += 1.0 if m is kind.UP else 10.0
    return s


def in_tuples_at_a_place(x: Any, kind: Any) -> Any:
    m, v = [(kind.UP, 1.0), (kind.DOWN, 2.0), (kind.REST, 3.0)][np.argmax(x[:3])]
    return v if m is kind.UP else -v


def appended_in_tuples(x: Any, kind: Any) -> Any:
    log: Any = []
    for v in x:
        log.append((kind.UP if v > 0 else kind.DOWN, v))
    s = 0.0
    for m, v in log:
        s += v if m is kind.UP else 10.0 * v
    return s


def written_at_places(x: Any, kind: Any) -> Any:
    log, s = [kind.UP] * len(x), 0.0
    for k in range(len(x)):
        if x[k] > 0:
            log[k] = kind.DOWN
    for m in log:
        s += 1.0 if m is kind.UP else 10.0
    return s


def written_at_a_place(x: Any, kind: Any) -> Any:
    log = [kind.UP, kind.DOWN]
    log[np.argmax(x[:2])] = kind.REST
    return 1.0 if log[0] is kind.REST else 10.0


def read_back(x: Any, kind: Any) -> Any:
    log, s = list[Any](), 0.0
    for v in x:
        log.append(kind.UP if v > 0 else kind.DOWN)
        if len(log) > 1 and log[-2] is kind.UP:
            log[-1] = kind.REST
    for m in log:
        s += 1.0 if m is kind.UP else 10.0 if m is kind.REST else 100.0
    return s


def on_a_stack(x: Any, kind: Any) -> Any:
    todo, s = [kind.UP, kind.DOWN], 0.0
    while todo and s < 100:
        m = todo.pop()
        s += 1.0 if m is kind.UP else 2.0
        if x[0] > s:
            todo.append(kind.DOWN)
        elif x[0] + 2 > s:
            todo.append(kind.UP)
    return s


def or_none(x: Any, kind: Any) -> Any:
    best: Any = None
    for v in x:
        if v > 0:
            best = kind.UP if v > 0.5 else kind.DOWN
    return 0.0 if best is None else 1.0 if best is kind.UP else 2.0


class Plain(Enum):
    UP = 1
    DOWN = 2
    REST = 5


@pytest.mark.parametrize("x", [[0.1, 0.7, -0.9, 0.3, 0.6], [0.8, 0.7, 0.9, -1.0, 2.0], [-1.0, -2.0, -3.0, -1.0, -1.0]])
@pytest.mark.parametrize("kind", [Mode, Plain])
@pytest.mark.parametrize("f", [
    appended, appended_sometimes, in_tuples_at_a_place, appended_in_tuples, written_at_places, written_at_a_place,
    read_back, on_a_stack, or_none,
])  # fmt: skip
def test_they_are_told_apart_in_lists_and_beside_none(f: Callable[..., Any], kind: Any, x: list[float]) -> None:
    assert pliant.jit(lambda x: f(x, kind))(np.array(x)) == f(np.array(x), kind)


def test_numbers_and_arrays_have_no_attributes_of_ours() -> None:
    with pytest.raises(AttributeError, match="'float' object has no attribute 'value'"):
        pliant.jit(lambda x: x.value)(1.0)
    with pytest.raises(AttributeError, match="'ndarray' object has no attribute 'storage'"):
        pliant.jit(lambda x: x.storage)(np.ones(2))
