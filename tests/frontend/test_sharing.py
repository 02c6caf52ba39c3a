"""Containers that are given twice, and what a function puts where: as in Python."""

from __future__ import annotations

import copy
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import pliant


@dataclass
class Box:
    """A container with a name."""

    held: Any
    more: Any = None


class Pair(NamedTuple):
    """A tuple with names."""

    a: Any
    b: Any


def put_first(d: Any, e: Any, x: Any) -> Any:
    d[0] = d[0] + x
    return e[0] * 2


def grown(d: Any, e: Any, x: Any) -> Any:
    d.append(e[0] * x)
    return len(e), e[-1]


def put_by_name(d: Any, e: Any, x: Any) -> Any:
    d["a"], d["new"] = e["a"] * x, x
    return e["a"], len(e)


def set_anew(d: Any, e: Any, x: Any) -> Any:
    d.held = e.held + x
    return e.held


def linked(d: Any, e: Any, x: Any) -> Any:
    d.more = e
    e.held = x
    return d.more.held


def swapped(d: Any, e: Any, x: Any) -> Any:
    d.held, e.held = e.held, d.held
    d.held[0] = x
    return d.held[0]


def replaced(d: Any, e: Any, x: Any) -> Any:
    d[0] = [x, d[0]]
    return e[0]


def inside(d: Any, e: Any, x: Any) -> Any:
    d[0].append(x)
    e[1].a["k"] = x * 2
    return e[0][-1]


def turned(d: Any, e: Any, x: Any) -> Any:
    d.append(x)
    e.rotate(1)
    return d[0]


def ordered(d: Any, e: Any, x: Any) -> Any:
    d["z"] = d.pop("a") * x
    return e["z"]


def many() -> Any:
    row = [1.0]
    return [row, Pair({"k": 1.0}, row), row]


CASES: list[tuple[Callable[..., Any], Callable[[], Any]]] = [
    (put_first, lambda: [1.0, 2.0]),
    (put_first, lambda: [np.ones(2), 2.0]),
    (grown, lambda: [1.0, 2.0]),
    (put_by_name, lambda: {"b": 1.0, "a": 2.0}),
    (set_anew, lambda: Box(np.ones(2))),
    (linked, lambda: Box(np.ones(2))),
    (swapped, lambda: Box([1.0, 2.0])),
    (replaced, lambda: [1.0, 2.0]),
    (inside, many),
    (turned, lambda: deque([1.0, 2.0, 3.0])),
    (ordered, lambda: {"a": 1.0, "b": 2.0}),
    (ordered, lambda: OrderedDict(a=1.0, b=2.0)),
]


def content(x: Any, seen: dict[int, int] | None = None) -> Any:
    """What containers hold, with a number for each, so that the same ones have the same."""
    seen = {} if seen is None else seen
    if isinstance(x, np.ndarray | np.generic | float | int):
        return np.asarray(x).tolist()
    if not isinstance(x, tuple):
        if id(x) in seen:
            return seen[id(x)]
        seen[id(x)] = len(seen)
    parts = vars(x) if isinstance(x, Box) else x
    items = parts.items() if isinstance(parts, dict) else enumerate(parts or ())
    return type(x).__name__, [(k, content(v, seen)) for k, v in items]


@pytest.mark.parametrize(("f", "make"), CASES)
@pytest.mark.parametrize("is_one", [False, True])
def test_arguments_that_are_one(f: Callable[..., Any], make: Callable[[], Any], *, is_one: bool) -> None:
    if is_one and f is linked:
        pytest.skip("it would hold itself")
    compiled = pliant.jit(f)
    first, second = make(), make()
    ours = (first, first if is_one else second)
    theirs = copy.deepcopy(ours)
    held = [id(x) for x in ours]
    for x in (2.0, 3.0):
        if f is ordered:
            ours, theirs = copy.deepcopy((make(),) * 2), copy.deepcopy((make(),) * 2)
            held = [id(part) for part in ours]
        try:
            expected = f(*theirs, x)
        except KeyError:
            return
        assert content(compiled(*ours, x)) == content(expected)
        assert content(ours) == content(theirs)
        assert [id(part) for part in ours] == held


def test_containers_that_become_one_without_new_numbers() -> None:
    def join(d: Any, x: Any) -> Any:
        d["b"] = d["a"]
        return x

    compiled = pliant.jit(join)
    for make in (lambda: [[]], list, lambda: [[1.0]]):
        table: dict[str, Any] = {"a": make(), "b": make()}
        first = table["a"]
        assert compiled(table, 2.0) == 2.0
        assert table["a"] is table["b"] is first


def test_one_program_does_not_serve_both() -> None:
    compiled = pliant.jit(put_first)
    for _ in range(3):
        one, two = [1.0], [5.0]
        assert compiled(one, one, 2.0) == 6.0
        assert compiled(one, two, 2.0) == 10.0
        assert (one, two) == ([5.0], [5.0])


def test_a_container_that_is_taken_out_stays_as_it_was() -> None:
    inner = {"y": 1.0}
    outer = {"a": inner}

    def new(d: Any, x: Any) -> Any:
        d["a"] = {"y": x}
        return x

    pliant.jit(new)(outer, 2.0)
    assert (inner, outer) == ({"y": 1.0}, {"a": {"y": 2.0}})


@pytest.mark.parametrize(
    "make",
    [
        lambda k: [1.0 * k, 2.0 * k],
        lambda k: [np.ones(2) * k, np.zeros(2)],
        lambda k: {0: 1.0 * k, 1: 2.0 * k},
        lambda k: [[1.0 * k, 2.0], [3.0, 4.0 * k]],
        lambda k: [0.5 * k + n for n in range(50)],
    ],
    ids=["numbers", "arrays", "dict", "lists", "many"],
)
def test_one_in_two_places_and_two_are_told_apart_by_every_call(make: Any) -> None:
    def f(a: Any, b: Any) -> Any:
        return np.sum(a[0]) + np.sum(b[1]), a is b

    for order in (True, False):
        compiled = pliant.jit(f)
        for _ in range(4):
            a, b = make(1), make(10)
            for given in ((a, a), (a, b))[:: 1 if order else -1]:
                assert compiled(*given) == f(*given)


def test_rows_that_are_one_and_several() -> None:
    def sums(rows: Any) -> Any:
        return [sum(row) for row in rows]

    compiled = pliant.jit(sums)
    one = [[1.0, 2.0, 3.0] * 3] * 9
    several = [[float(i + j) for j in range(9)] for i in range(9)]
    for _ in range(4):
        for rows in (one, several):
            np.testing.assert_allclose(compiled(rows), sums(rows))
