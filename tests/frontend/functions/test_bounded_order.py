"""Order in arrays of unknown extents: what lies beyond them is not looked at."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant

SORTED = {
    "floats": np.array([-1.0, 0.5, 0.5, 2.0, np.inf, np.inf, np.nan, np.nan]),
    "narrow": np.array([-1.0, 0.5, 0.5, 2.0, np.inf, np.nan, np.nan], np.float32),
    "integers": np.array([-128, -3, 0, 0, 5, 127, 127], np.int8),
    "unsigned": np.array([0, 3, 3, 200, 255], np.uint8),
    "truths": np.array([False, False, True, True]),
}
WANTED = np.array([-np.inf, -200.0, -3.0, 0.5, 0.0, 1.0, 127.0, 255.0, np.inf, np.nan])


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("name", SORTED)
def test_places_are_those_among_the_elements_there_are(name: str, side: str) -> None:
    a = SORTED[name]

    def places(a: Any, v: Any, k: Any, m: Any) -> Any:
        made = np.zeros(len(v), int)
        made[:m] = np.searchsorted(a, v[:m], side)
        return np.searchsorted(a[:k], v, side=side), a[:k].searchsorted(v[1], side), a[k:].searchsorted(v, side), made

    compiled = pliant.jit(places)
    for k in range(len(a) + 1):
        given = a, WANTED, np.array(k), np.array(k)
        for got, expected in zip(compiled(*given), places(*given), strict=True):
            np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("k", [0, 1, 3, 4])
def test_places_by_an_order_of_unknown_extents(k: int) -> None:
    def places(a: Any, k: Any) -> Any:
        return np.searchsorted(a[:k], 0.5, sorter=np.argsort(a[:k]))

    a = np.array([3.0, -1.0, 0.5, 2.0, 7.0])
    assert pliant.jit(places)(a, np.array(k)) == places(a, k)
