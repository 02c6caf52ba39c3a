"""Where masks hold, in each row: the laws, and NumPy's answer."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.core.ir import param
from pliant.core.scope import scope
from pliant.core.types import Type
from pliant.errors import DTypeError, ShapeError
from pliant.ops.positions import Positions, positions
from pliant.testing import check_primitive


def places(mask: np.ndarray) -> np.ndarray:
    """The places of a row, and zeros behind them."""
    found = np.flatnonzero(mask)
    return np.pad(found, (0, mask.size - found.size))


@pytest.mark.parametrize("shape", [(5,), (3, 40), (2, 3, 32), (0, 33), (3, 0)])
def test_positions_obey_the_laws(shape: tuple[int, ...]) -> None:
    def rows(mask: np.ndarray) -> np.ndarray:
        return np.apply_along_axis(places, -1, mask) if mask.size else np.zeros(shape, np.int64)

    check_primitive(Positions(), Type("bool", shape), oracle=rows)


@pytest.mark.parametrize("n", [1, 31, 32, 33, 40, 63, 1000])
@pytest.mark.parametrize("share", [0, 0.1, 0.9, 1])
def test_masks_of_any_length_select_what_numpy_selects(n: int, share: float) -> None:
    x = np.random.default_rng(n).random(n)
    made = pliant.jit(lambda x, m: (np.flatnonzero(m), x[m], np.nonzero(m.reshape(1, n))[1]))(x, x < share)
    for found, wanted in zip(made, (np.flatnonzero(x < share), x[x < share], np.flatnonzero(x < share)), strict=True):
        np.testing.assert_array_equal(found, wanted, strict=True)


def test_bytes_of_a_mask_other_than_one_select_one_place_each() -> None:
    mask = np.arange(100, dtype=np.uint8).view(bool)
    np.testing.assert_array_equal(pliant.jit(np.flatnonzero)(mask), np.arange(1, 100))


def test_rows_of_masks_find_their_places_each() -> None:
    x = np.random.default_rng(0).standard_normal((7, 50))
    first = pliant.vmap(lambda row: np.flatnonzero(row > 0)[0])(x)
    np.testing.assert_array_equal(first, np.argmax(x > 0, axis=1))


@pytest.mark.parametrize(
    ("type", "error", "message"),
    [(Type("f64", (3,)), DTypeError, r"positions: f64\[3\] is no mask"), (Type("bool"), ShapeError, "has no rows")],
)
def test_what_is_no_row_of_a_mask_is_refused(type: Type, error: type[Exception], message: str) -> None:
    with scope(), pytest.raises(error, match=message):
        positions(param(type))
