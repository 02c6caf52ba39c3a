"""Views of views: what they show and where they write, however deep."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

import pliant


def drawn_slice(rng: Random, n: int) -> slice:
    """A slice of an axis of extent n, perhaps of nothing."""
    start, stop = (rng.choice([None, rng.randint(-n, n)]) for _ in range(2))
    return slice(start, stop, rng.choice([None, 1, 2, 3, -1, -2]))


@pytest.mark.parametrize("seed", range(40))
def test_slices_of_slices_are_numpys(seed: int):
    rng = Random(seed)
    keys = [(drawn_slice(rng, 9), drawn_slice(rng, 7)) for _ in range(rng.randint(2, 5))]

    def f(x: Any) -> Any:
        views = [x]
        for key in keys:
            views.append(views[-1][key])
            views[-1][...] += 1
        return views[1:]

    ours, theirs = (np.arange(99.0).reshape(11, 9) for _ in range(2))
    for made, wanted in zip(pliant.jit(f)(ours), f(theirs), strict=True):
        np.testing.assert_array_equal(made, wanted)
        assert (made.strides == wanted.strides or not made.size) and np.shares_memory(made, ours) == bool(made.size)
    np.testing.assert_array_equal(ours, theirs)


def test_a_write_through_many_views_is_one_write():
    def eliminate(x: Any) -> None:
        a = x
        for _ in range(20):
            a[1:] -= a[0] * 0.25
            a = a[1:, 1:]

    ours, theirs = (np.cos(np.arange(900.0)).reshape(30, 30) for _ in range(2))
    pliant.jit(eliminate)(ours)
    eliminate(theirs)
    np.testing.assert_array_equal(ours, theirs)
    assert str(pliant.trace(pliant.jit(eliminate), ours)).count("update_slice(") == 20
