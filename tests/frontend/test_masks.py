"""Traced masks beside other indices, for every place that NumPy lets them have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import IndexRangeError
from pliant.testing import check_gradient

X = np.cos(np.arange(60.0)).reshape(4, 5, 3)
EVERY, MASK = slice(None), object()
SHAPES = {4: (4,), 5: (5,), 3: (3,), 45: (4, 5), 53: (5, 3)}
KEYS: list[tuple[int, tuple[Any, ...]]] = [
    (4, (MASK, 0)), (4, (MASK, EVERY, 1)), (4, (MASK, ..., 1)), (4, (MASK, 1, 2)), (4, (MASK, None)), (4, (None, MASK)),
    (4, (MASK, slice(1, None))), (4, (MASK, slice(None, None, -1), 0)), (4, (MASK, ...)), (5, (EVERY, MASK)), (5, (0, MASK)),
    (5, (slice(1, 3), MASK, 1)), (3, (0, EVERY, MASK)), (3, (0, 0, MASK)), (3, (..., MASK)), (3, (EVERY, 0, MASK)),
    (53, (EVERY, MASK)), (53, (0, MASK)), (45, (MASK, 0)), (45, (MASK, slice(1, None))), (45, (None, MASK, 2)),
    (5, (EVERY, None, MASK)), (5, (1, None, MASK)), (5, (EVERY, MASK, ...)),
]  # fmt: skip


def keyed(key: tuple[Any, ...], mask: Any) -> Any:
    return tuple(mask if k is MASK else k for k in key)


def sets(x: Any, key: Any) -> None:
    x[key] = 5


def changes(x: Any, key: Any) -> None:
    x[key] += 1
    x[key] = x[key] * 2 + np.sin(x[key]) ** 2


def multiplies(x: Any, key: Any) -> None:
    np.multiply.at(x, key, 3.0)


def sums(x: Any, key: Any) -> Any:
    return x[key].sum() + x[key].mean()


def ids(case: Any) -> str:
    return str(["mask" if k is MASK else k for k in case[1]]) if isinstance(case, tuple) else case.__name__


@pytest.mark.parametrize("f", [sets, changes, multiplies, sums], ids=ids)
@pytest.mark.parametrize("case", KEYS, ids=ids)
def test_masks_beside_other_indices_are_numpys(case: tuple[int, tuple[Any, ...]], f: Callable[..., Any]):
    mask = np.sin(1 + np.arange(float(case[0])))[: int(np.prod(SHAPES[case[0]]))].reshape(SHAPES[case[0]]) > 0
    ours, theirs = X.copy(), X.copy()
    made, wanted = pliant.jit(lambda x, m: f(x, keyed(case[1], m)))(ours, mask), f(theirs, keyed(case[1], mask))
    np.testing.assert_allclose(ours, theirs, rtol=1e-15)
    np.testing.assert_allclose(np.array(made, float), np.array(wanted, float), rtol=1e-13, atol=1e-14)


def test_one_row_after_the_other_where_the_mask_comes_first():
    def f(x: Any, m: Any, rows: Any) -> None:
        x[m, 1:] = rows
        x[..., 0][m] = rows[:, :1, 0]

    mask = np.array([True, False, True, True])
    rows = np.arange(36.0).reshape(3, 4, 3)
    ours, theirs = X.copy(), X.copy()
    pliant.jit(f)(ours, mask, rows)
    f(theirs, mask, rows)
    np.testing.assert_array_equal(ours, theirs)


def test_what_a_mask_cannot_be_beside_is_said():
    mask = X[0, 0] > 0
    for key, error in (
        ((MASK, [0, 1]), IndexRangeError),
        ((MASK, [0, 1], MASK), IndexRangeError),
        ((MASK, 0), IndexRangeError),
    ):
        with pytest.raises(error, match="boolean index"):
            pliant.jit(lambda x, m, key=key: sets(x, keyed(key, m)))(X.copy(), mask)


PAYOFFS, DUE = np.cos(np.arange(12.0)).reshape(4, 3), np.array([0, 2, 1, 2])


@pytest.mark.parametrize(
    "f",
    [
        lambda p, t: p[p[:, 0] > 0, t[p[:, 0] > 0]],
        lambda p, t: p.T[t[p[:, 0] > 0], p[:, 0] > 0].sum(),
        lambda p, t: sets(p, (p[:, 0] > 0, t[p[:, 0] > 0])),
        lambda p, t: changes(p, (p[:, 0] > 0, t[p[:, 0] > 0])),
        lambda p, t: p[None][0, p[:, 0] > 0, t[p[:, 0] > 0]],
        lambda p, t: p[p[:, 0] > 0, [1]],
    ],
)
def test_masks_beside_places(f: Callable[..., Any]):
    ours, theirs = PAYOFFS.copy(), PAYOFFS.copy()
    np.testing.assert_allclose(np.array(pliant.jit(f)(ours, DUE), float), np.array(f(theirs, DUE), float))
    np.testing.assert_allclose(ours, theirs, rtol=1e-15)


def test_what_masks_beside_places_select_is_differentiated():
    check_gradient(lambda p: np.sum(np.exp(p[p[:, 0] > 0, DUE[p[:, 0] > 0]])), PAYOFFS)


def test_selections_are_differentiated():
    def loss(x: Any) -> Any:
        x = x * 2
        x[x[:, 0, 0] > 0, 1] *= x[0, 1]
        x[..., x[0, 0] > 0] += 1
        return (x**2).sum()

    check_gradient(loss, X, rtol=1e-6)


def adds(x: Any, m: Any, y: Any) -> None:
    x[m] += y


def divides(x: Any, m: Any, y: Any) -> None:
    x[m] = (2 * x[m] - y) / (y + 3)


@pytest.mark.parametrize("f", [adds, divides])
@pytest.mark.parametrize(("extents", "rest"), [((6,), ()), ((2, 3), ()), ((6,), (2,)), ((3, 2), (4,))])
def test_selected_elements_meet_one_number_each(f: Any, extents: tuple[int, ...], rest: tuple[int, ...]) -> None:
    mask = np.array([True, False, True, True, False, True]).reshape(extents)
    x, y = np.cos(np.arange(float(mask.size * np.prod(rest)))).reshape(*extents, *rest), np.arange(4.0 * np.prod(rest))
    y = y.reshape(4, *rest)
    ours, theirs = x.copy(), x.copy()
    compiled = pliant.jit(f)
    compiled(ours, mask, y)
    f(theirs, mask, y)
    np.testing.assert_allclose(ours, theirs, rtol=1e-15)
    with pytest.raises((IndexError, ValueError)):
        compiled(ours, ~mask, y)

    def total(x: Any, y: Any) -> Any:
        z = x.copy()
        f(z, mask_of(x), y)
        return (z * z).sum()

    def mask_of(x: Any) -> Any:
        return (x.reshape(*extents, -1)[..., 0] > -9) & mask

    check_gradient(total, x, y)
