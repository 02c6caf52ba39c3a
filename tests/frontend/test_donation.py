"""Donated arrays: results lie in their memory, and who uses them again is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import ArgumentError


def test_a_result_lies_in_the_memory_of_a_donated_array():
    step = pliant.jit(lambda w, g: w - 0.5 * g, donate="w")
    w, g = np.ones(1000), np.ones(1000)
    made = w
    for _ in range(4):  # the result of one call is given to the next
        made = step(made, g)
        assert np.shares_memory(made, w)
    np.testing.assert_array_equal(made, -np.ones(1000))


def test_leaves_of_donated_containers_are_given_away():
    step = pliant.jit(lambda p, g: {k: p[k] - g[k] for k in p}, donate="p")
    p, g = ({"a": np.ones(5), "b": np.ones((3, 4))} for _ in range(2))
    made = step(p, g)
    assert np.shares_memory(made["a"], p["a"]) and np.shares_memory(made["b"], p["b"])
    np.testing.assert_array_equal(made["b"], np.zeros((3, 4)))
    np.testing.assert_array_equal(g["a"], np.ones(5))


def test_a_donated_array_that_is_read_later_is_not_written_early():
    f = pliant.jit(lambda x: (np.cumsum(x)[::-1] + x[::-1], x.sum()), donate="x")
    x = np.arange(1.0, 101.0)
    wanted = np.cumsum(x)[::-1] + x[::-1], x.sum()
    for got, y in zip(f(x.copy()), wanted, strict=True):
        np.testing.assert_array_equal(got, y)


def test_a_donated_array_that_is_used_again_is_an_error_while_it_holds_a_result():
    f = pliant.jit(lambda x: x + 1, donate="x")
    x = np.ones(100)
    y = f(x)
    with pytest.raises(ArgumentError, match="donated is used again"):
        f(x)
    np.testing.assert_array_equal(y, np.full(100, 2.0))
    del y
    x[...] = 5
    np.testing.assert_array_equal(f(x), np.full(100, 6.0))


def test_a_donated_array_may_not_overlap_another_argument():
    f = pliant.jit(lambda x, y: x + y, donate="x")
    x = np.ones(10)
    for a, b in ((x, x), (x[:6], x[4:]), (x[:5], x[:5])):
        with pytest.raises(ArgumentError, match="shares memory"):
            f(a, b)
    np.testing.assert_array_equal(x, np.ones(10))


def test_read_only_and_strided_arrays_may_be_donated():
    f = pliant.jit(lambda x: np.sqrt(x), donate="x")
    x = np.full(50, 4.0)
    x.flags.writeable = False
    np.testing.assert_array_equal(f(x), np.full(50, 2.0))
    np.testing.assert_array_equal(x, np.full(50, 4.0))
    np.testing.assert_array_equal(f(np.full(100, 9.0)[::2]), np.full(50, 3.0))


def test_what_is_returned_as_it_is_keeps_its_content():
    def f(x: Any) -> Any:
        return x, np.sin(x)

    x = np.ones(100)
    same, sine = pliant.jit(f, donate="x")(x)
    assert same is x
    np.testing.assert_array_equal(x, np.ones(100))
    np.testing.assert_allclose(sine, np.sin(1))


def test_what_is_returned_by_a_condition_keeps_its_content():
    f = pliant.jit(lambda x, y, s: (x if s > 0 else y, x + y), donate=("x", "y"))
    x, y = np.ones(5), np.zeros(5)
    for s, wanted in ((1.0, x), (-1.0, y)):
        same, added = f(x, y, s)
        assert same is wanted
        np.testing.assert_array_equal(added, np.ones(5))
    np.testing.assert_array_equal((x[0], y[0]), (1, 0))


def test_text_of_an_exception_has_no_numbers_of_what_a_donated_array_held():
    """The program may have written its memory before."""

    def f(x: Any) -> Any:
        y = np.sin(x) * x - 50
        if y.sum() > -1000:
            raise ValueError(f"bad {y[0]:.3f}")
        return y

    with pytest.raises(ValueError, match=r"^bad (-50\.000|…)"):
        pliant.jit(f, donate="x")(np.arange(6.0))
