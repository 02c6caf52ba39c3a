"""Loops over lists that their steps change, and over lists that have one object many times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from tests.frontend.control.laws import assert_derivatives_are_differences, assert_is_pythons, name_of

A = np.linspace(0.3, 1.1, 9).reshape(3, 3)


def rows(x: Any) -> list[Any]:
    found: list[Any] = []
    for v in x:
        found.append(v * np.array([1.0, 2.0]))  # noqa: PERF401  (rows of one array)
    return found


def appended_while_few(x: Any, n: int) -> Any:
    found, s = rows(x), 0.0
    for v in found:
        if len(found) < 14:
            found.append(v * 0.5)
        s = s * 0.5 + np.sum(v)
    return s


def popped(x: Any, n: int) -> Any:
    found, s = rows(x), 0.0
    for v in found:
        found.pop()
        s = s * 0.5 + np.sum(v)
    return s


def popped_from_the_end(x: Any, n: int) -> Any:
    found, s = rows(x), 0.0
    for v in reversed(found):
        found.pop()
        s = s * 0.5 + np.sum(v)
    return s


def last_one_replaced(x: Any, n: int) -> Any:
    found, s = rows(x), 0.0
    for v, w in zip(found, x, strict=True):
        found[-1] = w * np.array([3.0, 1.0])
        s = s * 0.5 + np.sum(v)
    return s


def last_tuple_replaced(x: Any, n: int) -> Any:
    found, s = [(a, a * 2) for a in x], 0.0
    for i, (a, b) in enumerate(found):
        found[-1] = (a * b, a)
        s = s * 0.5 + a * b + i
    return s


def lengthened_by_a_mapped_function(x: Any, n: int) -> Any:
    found, s = rows(x), 0.0

    def taken(v: Any) -> Any:
        if len(found) < 12:
            found.append(v + 1)
        return v * 2

    for v in map(taken, found):
        s = s * 0.5 + np.sum(v)
    return s


def same_one_popped(x: Any, n: int) -> Any:
    found, s = [x[:3]] * 9, 0.0
    for v, w in zip(found, x, strict=False):
        found.pop()
        s = s * 0.5 + np.sum(v) * w
    return s


def same_one_replaced(x: Any, n: int) -> Any:
    found, s = [x[:3]] * 9, 0.0
    for i, v in enumerate(found):
        found[(i * 2 + 1) % 9] = v * x[i]
        s = s * 0.5 + np.sum(v)
    return s, found


CHANGED = (
    appended_while_few, popped, popped_from_the_end, last_one_replaced, last_tuple_replaced,
    lengthened_by_a_mapped_function, same_one_popped, same_one_replaced,
)  # fmt: skip


class Box:
    def __init__(self, v: Any) -> None:
        self.v = v


def beside_the_elements(x: Any, n: int) -> Any:
    s = np.zeros(3)
    count = len(x)
    for i, (v, a, b, c) in enumerate(zip(x, [x[:3] * 2] * count, [None] * count, (0,) * count, strict=True)):
        s = np.tanh(a * s + v * i + c) if b is None else s
    return s


def alone(x: Any, n: int) -> Any:
    s = x[:3]
    for a in [A * x[0]] * 7:
        s = np.sin(a @ s)
    return s


def from_the_end(x: Any, n: int) -> Any:
    s = x[:3]
    for v, a in zip(reversed([x[3:6]] * 7), (x[6:],) * 7, strict=True):
        s = np.sin(v * s + a)
    return s


def at_places(x: Any, n: int) -> Any:
    found, s = [x[:3] * 2] * 9, x[3:6]
    for k in range(len(found) - 2, -1, -1):
        s = np.sin(found[k + 1] * s * 0.1) + found[-k] * x[k] * 0.1
    return s


def written_through_one_of_them(x: Any, n: int) -> Any:
    found, s = [x[:3].copy()] * 9, 0.0
    for k in range(8):
        found[k + 1][1] *= 0.5
        found[k][0] += x[k]
        s = s * 0.5 + np.sum(found[8 - k])
    return s, found


def written_while_gone_over(x: Any, n: int) -> Any:
    found, s = [x[:3].copy()] * 9, 0.0
    for v, w in zip(found, x, strict=True):
        v *= 0.5
        v[1] += w
        s = s * 0.5 + np.sum(v)
    return s, found


def objects(x: Any, n: int) -> Any:
    found, s = [Box(x[:3])] * 9, 0.0
    for v, w in zip(found, x, strict=True):
        v.v = np.sin(v.v + w)
        s = s * 0.5 + np.sum(v.v)
    return s, [box.v for box in found]


REPEATED = (
    beside_the_elements, alone, from_the_end, at_places, written_through_one_of_them, written_while_gone_over, objects,
)  # fmt: skip
each = pytest.mark.parametrize("f", [*CHANGED, *REPEATED], ids=name_of)


@each
@pytest.mark.parametrize("backend", ["reference", "llvm"])
def test_what_is_computed_is_what_python_computes(f: Callable[..., Any], backend: str) -> None:
    assert_is_pythons(f, backend)


@each
def test_derivatives_are_differences(f: Callable[..., Any]) -> None:
    assert_derivatives_are_differences(f)


@pytest.mark.parametrize("f", REPEATED, ids=name_of)
def test_the_same_object_many_times_needs_no_copies_of_the_steps(f: Callable[..., Any]) -> None:
    assert {report.kind for report in pliant.explain(f, np.linspace(-1.03, 2.11, 9), 5).loops} == {"loop"}


def test_a_place_that_a_list_of_one_object_does_not_have_is_an_error() -> None:
    def f(x: Any, k: Any) -> Any:
        return ([x[:2]] * 3)[int(k)] * x[2:4]

    x = np.arange(4.0)
    compiled = pliant.jit(f)
    np.testing.assert_array_equal(compiled(x, np.int64(-3)), f(x, -3))
    with pytest.raises(IndexError):
        compiled(x, np.int64(3))
    with pytest.raises(IndexError):
        compiled(x, np.int64(-4))
