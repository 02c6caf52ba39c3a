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
