"""Names without a value: the error is that of Python, whatever block asks for them."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import PliantError, UnboundError

# ruff: noqa: F821, F841, RET503


def in_a_branch(v: float) -> Any:
    if True:
        del v
        return v


def in_a_loop(v: float) -> Any:
    for _ in range(3):
        v = v + late
        late = v
    return v


def in_two_blocks(v: float) -> Any:
    if v is not None:
        for _ in range(2):
            if True:
                v += late
    late = v
    return v


def at_the_end(v: float) -> Any:
    while False:
        late = v
    return late


def of_a_function_around(v: float) -> Any:
    def inner(v: float) -> Any:
        if True:
            return v + late

    made = inner(v)
    late = 2.0
    return made


def of_a_function_inside(v: float) -> Any:
    def inner(v: float) -> Any:
        if True:
            v = v + late
            late = v
        return late

    return inner(v)


def nowhere(v: float) -> Any:
    if True:
        return v + never_bound  # type: ignore[name-defined]


@pytest.mark.parametrize(
    "f", [in_a_branch, in_a_loop, in_two_blocks, at_the_end, of_a_function_around, of_a_function_inside, nowhere]
)
def test_a_name_without_a_value_is_pythons_error(f: Any) -> None:
    with pytest.raises(NameError) as wanted:
        f(1.0)
    with pytest.raises(NameError) as raised:
        pliant.jit(f)(1.0)
    assert type(raised.value) is wanted.type
    assert str(raised.value) == str(wanted.value)


def read_by_a_function_inside(x: Any) -> Any:
    i = 0
    while i < 3 and x[i] < 3 and (v := x[i]) < 0.5:
        i += 1
    return (lambda: v)()


def read_by_a_generator(x: Any) -> Any:
    def last() -> Any:
        i = 0
        while i < 3 and x[i] < 3 and (v := x[i]) < 0.5:
            i += 1
        yield v

    return next(last())


@pytest.mark.usefixtures("for_all_data")
def test_a_name_that_an_operand_binds_is_refused_where_nobody_can_ask_whether_it_has_a_value() -> None:
    with pytest.raises(UnboundError, match="v has a value only if a condition holds that is known only at run time"):
        pliant.jit(read_by_a_function_inside)(np.arange(3.0))


def test_a_generator_asks_whether_a_name_that_an_operand_binds_has_a_value() -> None:
    compiled = pliant.jit(read_by_a_generator)
    assert compiled(np.arange(3.0)) == read_by_a_generator(np.arange(3.0))
    with pytest.raises(UnboundLocalError, match="cannot access local variable 'v'"):
        compiled(np.full(3, 4.0))


def test_keys_that_only_some_steps_give_a_dict_that_nobody_reads() -> None:
    def shortest(w: Any, start: Any) -> Any:
        n = len(w)
        far, before, queue = np.full(n, np.inf), {}, [(0.0, start)]
        far[start] = 0
        while queue:
            d, u = heapq.heappop(queue)
            for v in range(n):
                if d + w[u, v] < far[v]:
                    far[v] = d + w[u, v]
                    before[v] = u
                    heapq.heappush(queue, (far[v], v))
        return far

    compiled = pliant.jit(shortest)
    for seed in range(4):
        w = np.random.default_rng(seed).integers(1, 9, (6, 6)).astype(float)
        np.testing.assert_array_equal(compiled(w, 1), shortest(w, 1))
    assert "while" in str(pliant.explain(shortest, w, 1)).partition("loops of the source")[2]


@pytest.mark.usefixtures("for_all_data")
@pytest.mark.parametrize(
    "use",
    [lambda d, k: d[k], lambda d, k: len(d), lambda d, k: k in d, lambda d, k: d.get(k), lambda d, k: sum(d.values())],
    ids=["item", "len", "in", "get", "values"],
)
def test_the_use_of_such_a_dict_is_an_error(use: Any) -> None:
    def f(x: Any) -> Any:
        found, k = {}, 0
        while True:
            for v in range(4):
                if x[k] > v:
                    found[v] = k
            k += 1
            if x[k] > 3:
                return use(found, 1)

    with pytest.raises(PliantError, match=r"has no value before the loop|only if a condition holds"):
        pliant.jit(f)(np.array([0.0, 1.5, 2.5, 3.5]))
