"""What masks select as arrays of their own; `np.nonzero`, `np.unique` and their like: extents known only at run time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.testing import check_gradient

X = np.random.default_rng(0).standard_normal((6, 3))
Y = np.array([2, 0, 2, 1, 0, 2])


def covariance(x: Any, y: Any) -> Any:
    rows = x[y == 2]
    rows = rows - rows.mean(axis=0)
    return rows.T @ rows / (rows.shape[0] - 1)


def rows_in_order(x: Any, y: Any) -> Any:
    total = 0.0
    for i, row in enumerate(x[y == 2]):
        total = 0.5 * total + i * row.sum()
    return total


def places_in_order(x: Any, y: Any) -> Any:
    total = 0.0
    for i in np.flatnonzero(y == 2):
        total = 0.5 * total + i * x[i].sum()
    return total


def distances(x: Any, y: Any) -> Any:
    one, other = x[y == 2], x[y != 2]
    return np.sqrt(((one[:, None] - other[None]) ** 2).sum(-1)).min(axis=0).sum()


def exchanged(x: Any, y: Any) -> Any:
    made = x.copy()
    made[y == 2] = x[y < 2][::-1]
    return made


def at_places(x: Any, y: Any) -> Any:
    made, (rows, columns) = x.copy(), np.nonzero(x > 0)
    made[rows, columns] = x[rows, columns] * columns
    made[np.flatnonzero(y == 2)] *= 2
    made[np.where(y == 1)] = x[0]
    return made


def class_means(x: Any, y: Any) -> Any:
    classes, counts = np.unique(y, return_counts=True)
    means = np.zeros((len(classes), x.shape[1]))
    for i, c in enumerate(classes):
        means[i] = x[y == c].mean(axis=0)
    return counts @ means


def nearest_class(x: Any, y: Any) -> Any:
    classes = np.unique(y)
    away = np.zeros((len(x), len(classes)))
    for i, c in enumerate(classes):
        away[:, i] = ((x - x[y == c].mean(axis=0)) ** 2).sum(axis=1)
    return classes[np.argmin(away, axis=1)] * x[0, 0]


def all_of_unique(x: Any, y: Any) -> Any:
    values, first, inverse, counts = np.unique(y, True, True, True)
    return (inverse + counts[inverse] * first[inverse] + values[inverse]) * x[0, 0]


def argwhere(x: Any, y: Any) -> Any:
    places = np.argwhere(x > 0)
    return places.sum(axis=0) * x[places[0, 0], places[0, 1]] + len(places)


def extreme_row(x: Any, y: Any) -> Any:
    rows = x[y == 2]
    return rows[np.argmax(rows[:, 1])]


def two_masks(x: Any, y: Any) -> Any:
    made, diagonal = np.outer(x[:, 0], x[:, 1]), y == 2
    made[diagonal, diagonal] = 1.0
    return made * made[y > 1, diagonal].sum()


def reached(x: Any, y: Any) -> Any:
    queue, seen, total = list(np.flatnonzero(y == 2)), np.zeros(6), 0.0
    while queue:
        i = queue.pop()
        if not seen[i]:
            seen[i] = 1.0
            total = 0.9 * total + x[i, 0]
            queue.extend(np.flatnonzero(y == y[i] - 1))
            queue += list((y * 2)[y == 7])
    rows = list(x[y == 1])
    return total + np.array(rows).sum()


def extremes_from_a_start(x: Any, y: Any) -> Any:
    some = x[y == 7, 0]
    return np.min(x[y == 2, 0], initial=0.3) + np.max(some, initial=-1.0) * np.sum(x[y != 2, 1], initial=2.0)


def counted(x: Any, y: Any) -> Any:
    places = y[y > 0]
    return np.bincount(places, minlength=3) * x[0].sum() + np.bincount(places, weights=x[y > 0, 1], minlength=3)


CASES: dict[str, Callable[[Any, Any], Any]] = {
    "covariance": covariance,
    "rows in order": rows_in_order,
    "places in order": places_in_order,
    "distances": distances,
    "exchanged": exchanged,
    "reached": reached,
    "extremes from a start": extremes_from_a_start,
    "counted": counted,
    "at places": at_places,
    "class means": class_means,
    "nearest class": nearest_class,
    "all of unique": all_of_unique,
    "argwhere": argwhere,
    "extreme row": extreme_row,
    "two masks": two_masks,
    "another mask": lambda x, y: (x[y == 2][:2] * x[y < 2][:2]).sum(axis=0),
    "columns": lambda x, y: (x[:, x[0] > -9].T @ x).sum(axis=0),
    "joined": lambda x, y: np.cumsum(np.concatenate([x[y == 2], x[y < 2]]), axis=0).sum(),
    "elements": lambda x, y: np.diff(x[x > 0]).sum() + x[x > 0][0] + x[x > 0].shape[0],
    "a mask of a selection": lambda x, y: x[:, 0][y > 0][x[:, 0][y > 0] > 0].sum(),
    "a mask of a part": lambda x, y: x[: y[0]][x[: y[0]] > 0].sum(),
    "a list as an index": lambda x, y: x[y == 2][[0, -1]],
    "as an index": lambda x, y: x[y[y > 0]].sum(axis=0),
    "keepdims": lambda x, y: x[y == 2].sum(axis=0, keepdims=True)[0],
    "sort": lambda x, y: np.sort(x[:, 0][y == 2])[0] + np.argsort(x[:, 1][y == 2])[-1],
    "median": lambda x, y: np.median(x[y == 2], axis=0) + np.median(x[:, 1][y == 0]) + np.median(y[y > 0]),
    "unique floats": lambda x, y: np.diff(np.unique(np.round(x, 1))).max(),
    "union": lambda x, y: len(np.union1d(x[0], x[:, 0])) * x[0, 0],
    "nonzero, a method": lambda x, y: x[(y == 2).nonzero()[0]].sum(axis=0),
}


@pytest.mark.parametrize("f", CASES.values(), ids=CASES.keys())
def test_they_are_as_in_numpy_with_gradients_and_batches(f: Callable[[Any, Any], Any]) -> None:
    made, expected = pliant.jit(f)(X, Y), f(X, Y)
    assert np.asarray(made).dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(made, expected, rtol=1e-12)
    check_gradient(lambda x: np.sum(f(x, Y) ** 2), X)
    xs, ys = np.stack([X, 0.5 * X, -X]), np.stack([Y, np.roll(Y, 1), Y[::-1]])
    each = np.stack([f(x, y) for x, y in zip(xs, ys, strict=True)])
    np.testing.assert_allclose(pliant.vmap(f)(xs, ys), each, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1", "?", "c16"])
@pytest.mark.parametrize("n", [0, 1, 9])
def test_unique_of_any_numbers(dtype: str, n: int) -> None:
    x = (np.arange(n) * 5 % 3).astype(dtype)

    def padded(x: Any) -> Any:
        values, counts = np.unique(x, return_counts=True)
        made, many = np.zeros(n, x.dtype), np.zeros(n, int)
        made[: len(values)], many[: len(counts)] = values, counts
        return made, many, len(values)

    for made, expected in zip(pliant.jit(padded)(x), padded(x), strict=True):
        np.testing.assert_array_equal(made, expected)


@pytest.mark.parametrize("equal_nan", [True, False])
def test_unique_counts_nans_as_numpy_does(equal_nan: bool) -> None:
    x = np.array([np.nan, 1.0, np.nan, 1.0])
    made = pliant.jit(lambda x: len(np.unique(x, equal_nan=equal_nan)))(x)
    assert made == len(np.unique(x, equal_nan=equal_nan))


def test_nothing_selected() -> None:
    none = np.zeros(6, dtype=int)
    for f in (rows_in_order, places_in_order, lambda x, y: x[y == 2].T @ x[y == 2]):
        np.testing.assert_array_equal(pliant.jit(f)(X, none), f(X, none))


def test_places_out_of_range_are_an_error() -> None:
    with pytest.raises(IndexError, match="index 9 is out of range"):
        pliant.jit(lambda x, y: x[np.flatnonzero(y == 2) + 4].sum())(X, Y)
    with pytest.raises(IndexError, match="is out of range"):
        pliant.jit(lambda x, y: x[y == 2][np.array([0, 3])].sum())(X, Y)
    with pytest.raises(ValueError, match="boolean array indexing assignment"):
        pliant.jit(exchanged)(X, np.array([2, 0, 0, 0, 0, 0]))
