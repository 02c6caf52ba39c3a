"""Batches: which axes of their arguments are mapped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import ArgumentError, ShapeError

X = np.arange(6.0).reshape(3, 2)


@dataclass
class Line:
    slope: Any
    offset: Any


def at_two(line: Line) -> Any:
    return Line(line.slope * 2, line.offset + np.sum(line.slope))


def test_a_size_that_the_arguments_do_not_have_is_an_error() -> None:
    doubled = pliant.vmap(lambda a: a * 2, axis_size=5)
    with pytest.raises(
        ShapeError, match=r"axis_size=5, but the mapped axis of an arg.* f64\[3, 2\] has 3(?s:.*)hint: leave"
    ):
        doubled(X)
    np.testing.assert_array_equal(doubled(np.ones((5, 2))), np.full((5, 2), 2.0))
    np.testing.assert_array_equal(pliant.vmap(lambda a: a * 2, in_axes=None, axis_size=5)(2.0), np.full(5, 4.0))


def test_axes_follow_the_structure_of_objects() -> None:
    batched = pliant.vmap(at_two, in_axes=(Line(0, None),), out_axes=Line(1, 0))
    for slopes, offset in ((X, 1.0), (X + 1, 3.0), (2 * X, -1.0)):
        made = batched(Line(slopes, offset))
        np.testing.assert_array_equal(made.slope, 2 * slopes.T)
        np.testing.assert_array_equal(made.offset, offset + slopes.sum(1))
    gradient = pliant.grad(lambda x: np.sum(batched(Line(x, 1.0)).offset ** 2))
    np.testing.assert_allclose(gradient(X), np.repeat(2 * (1 + X.sum(1)), 2).reshape(3, 2))


def test_axes_of_another_structure_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"in_axes must be .* like the arguments; got Line\(slope=0, offset=None\)"):
        pliant.vmap(lambda xs: xs[0], in_axes=(Line(0, None),))([X, 1.0])


@dataclass
class Named:
    w: Any
    name: str = "q"
    more: Any = None


def scaled(x: Any, *, scale: Any = 1.0, is_negative: bool = False, name: str = "") -> Any:
    return -x * scale if is_negative else x * scale


def test_numbers_flags_and_text_by_keyword_are_the_same_for_all() -> None:
    batched = pliant.vmap(scaled)
    np.testing.assert_array_equal(batched(X, scale=2.0, is_negative=True, name="a"), -2 * X)
    np.testing.assert_array_equal(batched(X, scale=np.float64(3.0)), 3 * X)
    np.testing.assert_array_equal(pliant.jit(lambda x, s: pliant.vmap(scaled)(x, scale=s))(X, 2.0), 2 * X)


def test_arrays_by_keyword_are_mapped_over_their_first_axis() -> None:
    batched = pliant.vmap(scaled)
    np.testing.assert_array_equal(batched(X, scale=np.arange(3.0)), X * np.arange(3.0)[:, None])
    with pytest.raises(
        ArgumentError, match=r"scale is an array without axes(?s:.*)hint: pass it by position with in_a"
    ):
        batched(X, scale=np.array(2.0))


def test_text_and_none_have_no_axis() -> None:
    total = pliant.vmap(lambda p: p.w.sum())
    np.testing.assert_array_equal(total(Named(X)), X.sum(1))
    np.testing.assert_array_equal(pliant.vmap(lambda d: d["w"] * 2)({"w": X, "name": "a", "more": None}), X * 2)


@pytest.mark.parametrize("other", ["text", {"name": "text"}])
def test_an_argument_without_arrays_is_named(other: Any) -> None:
    def first(x: Any, other: Any) -> Any:
        return x

    with pytest.raises(ArgumentError, match="expected arrays to map over, got str for other"):
        pliant.vmap(first)(X, other)
    np.testing.assert_array_equal(pliant.vmap(first, in_axes=(0, None))(X, other), X)
