"""Objects with a state that outlive a call, or that steps of a loop change: each call does what Python's would, or says
that it cannot."""

from __future__ import annotations

import collections
import io
import itertools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant

LOG: list[Any] = []
TABLE: dict[str, Any] = {}
STATES: dict[str, Any] = {}
X = np.arange(1.0, 61.0)


class Counted:
    """A class that counts its objects."""

    count = 0

    def __init__(self, v: Any) -> None:
        type(self).count += 1
        self.v = v


def start() -> None:
    """Everything as at first."""
    LOG.clear()
    TABLE.clear()
    Counted.count = 0
    STATES.update(numbers=itertools.count(2), random=random.Random(3), generated=(k * k for k in range(9)))


def a_log(x: Any) -> Any:
    LOG.append(1)
    return x * len(LOG)


def a_table(x: Any) -> Any:
    TABLE[str(len(TABLE))] = 1
    return x * len(TABLE)


def a_counter(x: Any) -> Any:
    return x + next(STATES["numbers"])


def draws(x: Any) -> Any:
    return x * STATES["random"].random()


def a_generator(x: Any) -> Any:
    return x * next(STATES["generated"])


def objects(x: Any) -> Any:
    Counted(x)
    return x * Counted.count


def objects_in_a_loop(x: Any) -> Any:
    Counted.count = 0
    total = 0.0
    for v in x:
        total += Counted(v).v
    return total, Counted.count


def sent_to(x: Any) -> Any:
    def running() -> Any:
        total = 0.0
        while True:
            total += yield total

    generator, s = running(), 0.0
    next(generator)
    for v in x:
        s = generator.send(v)
    return s


def draws_in_a_loop(x: Any) -> Any:
    generator, total = random.Random(0), 0.0
    for v in x:
        total += v * generator.random()
    return total


def written_to_a_file(x: Any) -> Any:
    file = io.StringIO()
    for _ in x:
        file.write("a")
    return len(file.getvalue())


def a_chain_of_dicts(x: Any) -> Any:
    found = collections.ChainMap({"a": x[0]})
    for _ in x:
        found["a"] = found["a"] * 0.9
    return found["a"]


@pytest.mark.parametrize(
    "f",
    [
        a_log, a_table, a_counter, draws, a_generator, objects, objects_in_a_loop, sent_to, draws_in_a_loop,
        written_to_a_file, a_chain_of_dicts,
    ],
)  # fmt: skip
def test_each_call_changes_it_as_pythons_do(f: Callable[[Any], Any]) -> None:
    start()
    expected = [f(X) for _ in range(4)]
    start()
    compiled = pliant.jit(f)
    for wanted in expected:
        got = compiled(X)
        for a, b in zip(*[x if isinstance(x, tuple) else (x,) for x in (got, wanted)], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


def under_a_condition(x: Any) -> Any:
    file = io.StringIO()
    if x[0] > 0:
        file.write("a")
    return len(file.getvalue())


def in_a_loop_of_unknown_length(x: Any) -> Any:
    generator, total = random.Random(0), 0.0
    while total < x[-1]:
        total += generator.random()
    return total


@pytest.mark.usefixtures("for_all_data")
@pytest.mark.parametrize("f", [under_a_condition, in_a_loop_of_unknown_length])
def test_what_cannot_be_taken_back_is_refused_where_it_may_have_to_be(f: Callable[[Any], Any]) -> None:
    with pytest.raises(pliant.PliantError, match=r"\.(write|random) of (StringIO|Random) is used"):
        pliant.jit(f)(X)


def counted_by_a_class(x: Any) -> Any:
    Counted.count = 0
    for v in x:
        if v > 3:
            Counted.count += 1
    return Counted.count * x[0]


def test_an_attribute_of_a_class_that_only_a_run_knows_is_refused() -> None:
    with pytest.raises(pliant.PliantError, match=r"attribute 'count' .* outlives the call"):
        pliant.jit(counted_by_a_class)(X)
    assert Counted.count == 0
