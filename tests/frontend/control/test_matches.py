"""`match` statements of every kind of pattern, about what is known only at run time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant


def of_a_mapping(v: Any) -> Any:
    match {"scale": v}:
        case {"scale": float(k)}:
            return 2 * k
        case _:
            return -1.0


def the_rest_of_a_mapping(v: Any) -> Any:
    match {"w": v, "b": 2.0, "c": 3}:
        case {"d": _}:
            return 0.0
        case {"w": np.ndarray() as w, **rest}:
            return w * 2 + sum(rest.values())
        case _:
            return -1.0


def sequences_of_any_length(v: Any) -> Any:
    match v:
        case [a, *_, b] if a > b:
            return a
        case [a, b] | [a, _, b]:
            return b
        case [*some]:
            return sum(some)
        case {"x": x}:
            return x
        case 3.0 | 4.0:
            return 7.0
        case _:
            return -1.0


def names_in_alternatives(v: Any) -> Any:
    match (v, 2.0):
        case (1.0, k) | (k, 2.0):
            return k * 10
        case _:
            return -1.0


def classes_as_alternatives(v: Any) -> Any:
    match ("scale", v):
        case ("scale", float(k) | int(k)):
            return 2 * k
        case _:
            return -1.0


def a_list_that_is_made(v: Any) -> Any:
    match [v, v + 1, v + 2]:
        case [1.0, *rest]:
            return sum(rest)
        case [a, b, *rest] if b > 5:
            return a + b + len(rest)
        case _:
            return -1.0


def not_bound_where_it_does_not_fit(x: Any) -> Any:
    v = 1.0
    match x[0], x[1]:
        case (v, 2.0):
            return v
    return v * 10


def bound_by_one_of_two(x: Any) -> Any:
    match x[0], x[1]:
        case (1.0, a) | (a, 1.0) if a > 2:
            return a
        case (a, b):
            return a - b


def a_number_with_a_name(x: Any) -> Any:
    q = 7.0
    match float(x[0]):
        case (1.0 | 2.0) as q:
            pass
    return q


def of_unknown_length(x: Any) -> Any:
    match [v for v in x if v > 1.5]:
        case []:
            return 0.0
        case [a]:
            return a
        case [a, *_]:
            return a * 100


def a_truth(x: Any) -> Any:
    match bool(x[0] > 2), None:
        case (True, None):
            return 1
        case (False, _):
            return 2


X = np.array([1.0, 2.0])
PAIRS = [np.array(x) for x in ([5.0, 3.0], [5.0, 2.0], [1.0, 3.0], [1.0, 1.0], [2.0, 1.0], [3.0, 1.0])]
GIVEN: list[tuple[Callable[[Any], Any], Any]] = [
    (of_a_mapping, 3.0), (of_a_mapping, X), (the_rest_of_a_mapping, X), (the_rest_of_a_mapping, 1.0),
    *[(sequences_of_any_length, v) for v in (
        (3.0, 2.0), (1.0, 2.0), (1.0, 5.0, 2.0), [1.0, 2.0, 3.0, 4.0], {"x": 4.0}, {"y": 4.0}, 3.0, 5.0, [],
    )],
    *[(f, x) for f in (
        not_bound_where_it_does_not_fit, bound_by_one_of_two, a_number_with_a_name, of_unknown_length, a_truth,
    ) for x in PAIRS],
    (names_in_alternatives, 1.0), (names_in_alternatives, 3.0), (classes_as_alternatives, 3.0),
    (classes_as_alternatives, 3), (classes_as_alternatives, X), *[(a_list_that_is_made, v) for v in (1.0, 5.0, 2.0)],
]  # fmt: skip


@pytest.mark.parametrize(("f", "given"), GIVEN)
def test_the_case_that_fits_is_pythons(f: Callable[[Any], Any], given: Any) -> None:
    np.testing.assert_array_equal(pliant.jit(f)(given), f(given))
