"""Iterators that are used again, and `any` and `all`, which do not go over all elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import optree
import pytest

import pliant
from pliant.errors import UnsupportedError

XS = [np.array(x) for x in ([-1.0, 2.0, 3.0], [1.0, 2.0, -3.0], [*np.linspace(-3, 3, 30)])]


def an_array(x: Any) -> Any:
    it = iter(x)
    for v in it:
        if v > 0:
            break
    return sum(it)


def a_list(x: Any) -> Any:
    it, t = iter([10.0, 20.0, 30.0]), x[0]
    for v in it:
        if x[1] > v:
            break
    for v in it:
        t *= v
    return t


def numbered(x: Any) -> Any:
    it = enumerate(x)
    for _, v in it:
        if v > 0:
            break
    return next(it)


def of_a_generator(x: Any) -> Any:
    it, t = (v * 2 for v in x), 0.0
    for v in it:
        if v > 0:
            break
    for v in it:
        t += v
    return t


def doubled(x: Any) -> Any:
    for v in x:
        yield v * 2


def of_a_generator_function(x: Any) -> Any:
    it, t = doubled(x), 0.0
    for v in it:
        if v > 0:
            break
    for v in it:
        t += v
    return t


def asked_and_summed(x: Any) -> Any:
    it = iter([1.0, 2.0, 3.0])
    return any(v > x[1] for v in it), sum(it)


@pytest.mark.parametrize("f", [asked_and_summed, an_array, a_list, numbered, of_a_generator, of_a_generator_function])
def test_an_iterator_whose_place_nobody_knows_is_an_error(f: Callable[[Any], Any]) -> None:
    with pytest.raises(UnsupportedError, match="used again after a loop that is left under a condition"):
        pliant.jit(f)(XS[0])


def left_at_a_known_place(x: Any) -> Any:
    it, t = iter(range(4)), 0.0
    for k in it:
        if k == 1:
            break
    for k in it:
        t += k * x[0]
    return t


def taken_one_by_one(x: Any) -> Any:
    it, t = iter(x), 0.0
    first = next(it)
    for v in it:
        t = t * 0.5 + v
    return first, t, next(it, -1.0)


def bumped(x: Any) -> Any:
    def bump(i: int) -> Any:
        x[i] += 10
        return x[i] > 0

    return any(bump(i) for i in range(len(x))), x


def counted(x: Any) -> Any:
    n = 0

    def is_positive(v: Any) -> Any:
        nonlocal n
        n += 1
        return v > 0

    return all(is_positive(v) for v in x), n


def logged(x: Any) -> Any:
    log = []

    def is_positive(v: Any) -> Any:
        log.append(v)
        return v > 0

    return any(is_positive(v) for v in x), len(log)


def under_conditions(x: Any) -> Any:
    def is_positive(v: Any) -> Any:
        return v > 0

    some, every = any(is_positive(v) for v in x if v > 2), all(is_positive(v) for v in x if v > 1)
    return some, every, all(v > 0 for v in x if v < 9)


@pytest.mark.parametrize("f", [left_at_a_known_place, taken_one_by_one, bumped, counted, logged, under_conditions])
def test_as_many_elements_are_made_as_python_makes(f: Callable[[Any], Any]) -> None:
    for x in XS:
        got, wanted = pliant.jit(f)(x.copy()), f(x.copy())
        for a, b in zip(optree.tree_leaves(got), optree.tree_leaves(wanted), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-14)


def test_map_of_what_changes_something_is_refused_in_any_and_all() -> None:
    def f(x: Any) -> Any:
        n = 0

        def is_positive(v: Any) -> Any:
            nonlocal n
            n += 1
            return v > 0

        return all(map(is_positive, x)), n

    with pytest.raises(UnsupportedError, match=r"all\(map\(f, xs\)\) of a function that changes something"):
        pliant.jit(f)(XS[0])
