"""What holds objects of other classes, or with other attributes, by a condition known only at run time."""

from __future__ import annotations

from typing import Any

import pytest

import pliant


class Disc:
    def __init__(self, radius: Any, weight: Any) -> None:
        self.radius, self.weight = radius, weight


class Point:
    def __init__(self, weight: Any) -> None:
        self.weight = weight


POINT = Point(0.3)
DISC = Disc(2.0, 0.4)


def of_two_classes(r: Any, d: Any) -> Any:
    best = (Disc(r, 1.0), 0.0)
    if d > 0.5:
        best = (POINT, 1.0)
    return best[0].weight * r, best[1]


def one_from_outside(r: Any, d: Any) -> Any:
    best = [Disc(r, 1.0), 0.0]
    if d > 0.5:
        best = [DISC, 1.0]
    return best[0].weight * r, best[1]


def changed(r: Any, d: Any) -> Any:
    point = Point(r)
    best = Disc(r, 1.0)
    if d > 0.5:
        best = point
    best.weight *= 2
    return best.weight, point.weight


def deleted(r: Any, d: Any) -> Any:
    point = Point(r)
    best = Disc(r, 1.0)
    if d > 0.5:
        best = point
    del best.weight
    return hasattr(point, "weight")


@pytest.mark.parametrize("d", [0.2, 0.7])
@pytest.mark.parametrize("f", [of_two_classes, one_from_outside, changed, deleted])
def test_which_one_it_is_is_looked_at(f: Any, d: float) -> None:
    assert pliant.jit(f)(1.5, d) == f(1.5, d)
