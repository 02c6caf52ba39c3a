"""What is kept in memory, by the model: what is cheap, or grown from little, is made again by each reader."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.kernel.cost import FAR, is_kept, price_of
from pliant.ops import ALL
from pliant.ops.strided import Strided

NEAR = FAR - 8


@pytest.mark.parametrize(
    ("cost", "bytes", "readers", "share", "kept"),
    [
        (7, NEAR, 2, 1, False),
        (8, NEAR, 2, 1, True),
        (4, NEAR, 1000, 0, True),
        (3, NEAR, 1000, 0, False),
        (3, FAR, 2, 1, False),
        (6, FAR, 2, 1, True),
        (3, FAR, 2, 2, True),  # two arrays are read to make it, and one to have it
        (20, FAR, 2, 0.001, False),
        (101, FAR, 2, 0.001, True),
    ],
)
def test_a_value_is_kept_if_that_is_cheaper(cost: int, bytes: int, readers: float, share: float, kept: bool):
    assert is_kept(cost, bytes, readers, share) is kept


@pytest.mark.parametrize("bytes", [NEAR, FAR])
@pytest.mark.parametrize("share", [0.5, 1, 2])
def test_what_costs_more_or_is_read_more_is_kept_rather(bytes: int, share: float):
    kept = [[is_kept(cost, bytes, readers, share) for cost in range(0, 120, 4)] for readers in (1, 2, 3, 8, 100)]
    assert all([row == sorted(row) for row in kept])
    assert all([[*column] == sorted(column) for column in zip(*kept, strict=True)])


def test_one_reader_keeps_nothing():
    assert not any([is_kept(cost, bytes, 1, 1) for cost in (1, 16, 99) for bytes in (NEAR, FAR)])


def test_prices_of_primitives():
    assert [price_of(ALL[name]()) for name in ("add", "select", "div", "sqrt", "exp", "pow")] == [1, 1, 4, 4, 16, 32]


def centred(x: Any) -> Any:
    d = x / (1 + x * x)
    return d - d.mean()


def centred_square(x: Any) -> Any:
    d = x * x + x
    return d - d.mean()


def weighted(x: Any) -> Any:
    k = np.exp(-((x[:, None] - x[None]) ** 2))
    return k @ x, k.sum(0)


def steps(fn: Any, size: int) -> str:
    """What `explain` says of the steps that a function of a vector becomes."""
    text = str(pliant.explain(fn, np.ones(size)))
    return text[text.index("arrays captured") :]


def test_programs_keep_what_pays():
    size = FAR // 8
    assert f"div: f64[{size}]" in steps(centred, size)
    assert f"add: f64[{size}]" not in steps(centred_square, size)
    assert "f64[1000, 1000]" not in steps(weighted, 1000)


PLACES = np.arange(-500, 500)


def picked(x: Any) -> Any:
    return np.exp(x[PLACES]).sum()


def test_an_index_is_computed_where_it_is_read():
    assert "i64[1000] →" not in steps(picked, 1000)
    assert steps(picked, 1000).count("nest over 1000;") == 1


def test_what_is_read_at_a_distance_is_kept_if_it_is_read_often():
    prices = [price_of(Strided(0, (100, step), (3, 4))) for step in (1, -1, 2, 3, 50, 99)]
    assert prices[:2] == [0, 0]
    assert prices == sorted(prices)

    def copies(f: Any, x: Any) -> int:
        return str(pliant.explain(f, x)).count("strided: f64[300] → workspace")

    far, near = np.ones((300, 64))[:, 3], np.ones((2, 300))[::-1][0]
    assert copies(lambda x: np.exp(-np.abs(x[:, None] - x[None, :])).sum(1), far) == 1
    assert copies(lambda x: np.exp(-np.abs(x[:, None] - x[None, :])).sum(1), near) == 0
    assert copies(lambda x: x.sum() + (x * x).sum(), far) == 0
