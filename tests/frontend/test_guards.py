"""What a compiled function read outside of its arguments is read again when it has changed."""

from __future__ import annotations

import bisect
import math
import statistics
from typing import Any

import numpy as np
import pytest

import pliant

NUMBERS = [1.0, 2.0, 3.0]
READERS = {
    "np.sum": lambda x: x * np.sum(NUMBERS),
    "np.array": lambda x: (x * np.array(NUMBERS)[:, None]).sum(),
    "np.max": lambda x: x * np.max(a=NUMBERS),
    "a ufunc": lambda x: x * np.exp(NUMBERS).sum(),
    "len": lambda x: x * len(NUMBERS),
    "math": lambda x: x * math.fsum(NUMBERS),
    "a module of Python": lambda x: x * statistics.mean(NUMBERS),
    "bisect": lambda x: x * bisect.bisect(NUMBERS, x[0]),
    "count": lambda x: x * NUMBERS.count(50.0),
    "copy": lambda x: x * len(NUMBERS.copy()),
    "set": lambda x: x * len(set(NUMBERS)),
}


@pytest.mark.parametrize("name", READERS)
def test_a_list_that_got_longer_is_read_again(name: str) -> None:
    f, x = READERS[name], np.array([50.0])
    compiled = pliant.jit(f)
    try:
        for _ in range(3):
            np.testing.assert_allclose(compiled(x), f(x))
            NUMBERS.append(50.0)
    finally:
        del NUMBERS[3:]
    np.testing.assert_allclose(compiled(x), f(x))


def test_a_list_that_every_call_appends_to_is_no_reason_to_trace_again() -> None:
    log: list[Any] = []
    count = [0]

    def f(x: Any) -> Any:
        count[0] += 1
        log.append(1)
        return x * 2

    compiled = pliant.jit(f)
    for _ in range(4):
        compiled(np.ones(2))
    assert count[0] <= 4


@pytest.mark.parametrize(("one", "other"), [(np.exp, np.log), (np.sum, np.mean), (np, math), (np.sin, lambda x: x + 1)])
def test_a_name_that_holds_a_function_or_module_of_numpy_is_read_again(one: Any, other: Any) -> None:
    outside = one

    def f(x: float) -> Any:
        return (outside.cos if outside in (np, math) else outside)(x)

    compiled = pliant.jit(f)
    for _ in range(4):
        np.testing.assert_allclose(compiled(2.0), f(2.0))
    outside = other
    for _ in range(4):
        np.testing.assert_allclose(compiled(2.0), f(2.0))


class Base:
    """What an object reads of its classes."""

    factor = 2.0

    def method(self, x: Any) -> Any:
        return x + 1

    @staticmethod
    def plain(x: Any) -> Any:
        return x * 2

    @classmethod
    def of_class(cls, x: Any) -> Any:
        return x * 3

    @property
    def computed(self) -> float:
        return 5.0

    def __call__(self, x: Any) -> Any:
        return x - 1


class Derived(Base):
    """A class that has all from another one."""


THING = Derived()
READS: dict[str, Any] = {
    "method": (lambda x: THING.method(x), lambda self, x: x + 100),
    "plain": (lambda x: THING.plain(x), staticmethod(lambda x: x * 200)),
    "of_class": (lambda x: Derived.of_class(x), classmethod(lambda cls, x: x * 300)),
    "computed": (lambda x: THING.computed * x, property(lambda self: 50.0)),
    "factor": (lambda x: THING.factor * x, 9.0),
    "__call__": (lambda x: THING(x), lambda self, x: x - 100),
}


@pytest.mark.parametrize("of", [Base, Derived, THING], ids=["its class", "a class between", "the object"])
@pytest.mark.parametrize("name", READS)
def test_what_the_classes_of_an_object_have_is_read_again(name: str, of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    f, other = READS[name]
    if of is THING and name in ("of_class", "computed", "__call__"):
        pytest.skip("is read from the class alone")
    compiled, x = pliant.jit(f), np.arange(3.0)
    before = f(x)
    for _ in range(3):
        np.testing.assert_array_equal(compiled(x), before)
    monkeypatch.setattr(of, name, (lambda x: x - 7) if of is THING and callable(other) else other, raising=False)
    assert not np.array_equal(f(x), before)
    for _ in range(3):
        np.testing.assert_array_equal(compiled(x), f(x))
    monkeypatch.undo()
    np.testing.assert_array_equal(compiled(x), before)
