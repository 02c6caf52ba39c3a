"""Python's names for folds where they stand for other functions, as after `from numpy import *`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy import all, any, max, min, sum

import pliant


def feasible(v: Any, w: Any) -> Any:
    return all([a < b for a, b in zip(v, w, strict=True)])


def some(v: Any, w: Any) -> Any:
    return any([a < b for a, b in zip(v, w, strict=True)])


def squared_distance(v: Any, w: Any) -> Any:
    return sum([(v[i] - w[i]) ** 2 for i in range(len(v))])


def along_an_axis(v: Any, w: Any) -> Any:
    return sum([[a, b] for a, b in zip(v, w, strict=True)], axis=0), max([v, w], 0)


def extremes(v: Any, w: Any) -> Any:
    return max([abs(a - b) for a, b in zip(v, w, strict=True)]), min([a * b for a, b in zip(v, w, strict=True) if a])


def searched(v: Any, w: Any) -> Any:
    n = 0
    while not all([a < b for a, b in zip(v, w, strict=True)]) and n < 10:
        v = v - 1
        n += 1
    return n


def sorted(xs: Any, scale: Any = 1.0) -> Any:
    """A function of the user that has a name of Python's."""
    return np.stack([x * scale for x in xs])


def a_users_function(v: Any, w: Any) -> Any:
    return sorted([a + b for a, b in zip(v, w, strict=True)], scale=v[1]), sorted(a for a in v)


@pytest.mark.parametrize("n", [3, 12])
@pytest.mark.parametrize("backend", ["llvm", "reference"])
@pytest.mark.parametrize(
    "f", [feasible, some, squared_distance, along_an_axis, extremes, searched, a_users_function],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_they_get_lists(f: Callable[..., Any], backend: str, n: int) -> None:
    compiled = pliant.jit(f, backend=backend)
    v = np.linspace(1.0, 4.0, n)
    for w in (v - 1.0, v + 1.0, v[::-1].copy()):
        made, wanted = (y if isinstance(y, tuple) else (y,) for y in (compiled(v, w), f(v, w)))
        for one, other in zip(made, wanted, strict=True):
            np.testing.assert_allclose(one, other)
