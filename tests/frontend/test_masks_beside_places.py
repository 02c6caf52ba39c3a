"""Traced masks and arrays of places in one key: where axes go, what broadcasts, and what does not fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import IndexRangeError, ShapeError
from pliant.testing import check_gradient

X = np.cos(np.arange(48.0)).reshape(4, 4, 3)
MASKS = [np.array(m, bool) for m in ([1, 0, 1, 0], [0, 0, 1, 0], [0, 1, 1, 0], [1, 1, 1, 0], [0, 0, 0, 0])]
PLACES = np.array([0, 2])

READS: dict[str, Callable[..., Any]] = {
    "m, :, j": lambda x, m, j: x[m, :, j],
    "m, :, list": lambda x, m, j: x[m, :, [1, 2]],
    "m, :, one": lambda x, m, j: x[m, :, [1]],
    "nonzero, :, j": lambda x, m, j: x[np.nonzero(m)[0], :, j],
    "m, j": lambda x, m, j: x[m, j],
    "m, j, slice": lambda x, m, j: x[m, j, ::-1],
    "m, matrix, None": lambda x, m, j: x[m, [[0, 1]], None],
    "m, None, j": lambda x, m, j: x[m, None, j],
    "m, i, None, None, j": lambda x, m, j: x[m, 0, None, None, j],
    "m, :, column": lambda x, m, j: x[m, :, j[:, None]],
    "m, :, negative": lambda x, m, j: x[m, :, j - 3],
    "m, i, ..., j": lambda x, m, j: x[m, 1, ..., j],
    "None, m, j, ..., None": lambda x, m, j: x[None, m, j, ..., None],
    "m, m, ..., matrix": lambda x, m, j: x[m, m, ..., [[0, 1]]],
    "..., m, j": lambda x, m, j: x[..., m, j],
    "m, :, mask": lambda x, m, j: x[m, :, x[1, 2] > 0],
    "m, other mask": lambda x, m, j: x[m, x[1, :, 0] > 0],
    "m, slice, places of m": lambda x, m, j: x[m, 1:, (x[m, 0, 0] > 0).astype(np.int8)],
    "too many": lambda x, m, j: x[j[None], m, m, :],
}


def adds(x: Any, m: Any, j: Any) -> Any:
    x[m, :, j] += 1
    return x


def assigns(key: Callable[[Any, Any], Any], shape: tuple[int, ...]) -> Callable[..., Any]:
    def f(x: Any, m: Any, j: Any) -> Any:
        x[key(m, j)] = np.sin(np.arange(float(np.prod(shape)))).reshape(shape) * x[0, 0, 0]
        return x

    return f


WRITES: dict[str, Callable[..., Any]] = {
    "adds": adds,
    "rows": assigns(lambda m, j: (m, slice(None), j), (4,)),
    "all": assigns(lambda m, j: (m, slice(None), j), (2, 4)),
    "one for each": assigns(lambda m, j: (m, j), (2, 1)),
    "behind an axis": assigns(lambda m, j: (slice(1, None), m, j), (3, 2)),
    "new axes": assigns(lambda m, j: (m, 0, None, j), (1, 1, 2, 1)),
    "backwards": assigns(lambda m, j: (m, slice(None, None, -1), j), (4,)),
    "twice": assigns(lambda m, j: (m, slice(None), [0, 0]), (2, 4)),
}


def outcome(f: Callable[..., Any], *args: Any) -> Any:
    """What a function returns, or the class of what it raises."""
    try:
        return np.array(f(*[a.copy() for a in args]))
    except (IndexError, ValueError) as error:
        return IndexError if isinstance(error, IndexError) else ValueError


@pytest.mark.usefixtures("for_all_data")
@pytest.mark.parametrize("f", [*READS.values(), *WRITES.values()], ids=[*READS, *WRITES])
def test_masks_beside_places_are_numpys(f: Callable[..., Any]) -> None:
    compiled = pliant.jit(f)
    for m in MASKS:
        wanted, made = outcome(f, X, m, PLACES), outcome(compiled, X, m, PLACES)
        if isinstance(wanted, type):
            assert made is wanted
        else:
            np.testing.assert_allclose(made, wanted, rtol=1e-15, strict=True)


@pytest.mark.parametrize("name", ["m, :, j", "m, matrix, None", "m, j, slice", "m, m, ..., matrix"])
def test_what_is_read_is_differentiated(name: str) -> None:
    def loss(x: Any) -> Any:
        made = READS[name](x, x[:, 0, 0] > x[0, 1, 1] + 0.4, PLACES)  # two of four
        return (np.exp(made) * np.arange(1.0, 1 + made.size).reshape(made.shape)).sum()

    check_gradient(loss, np.linspace(1, 2, 48).reshape(4, 4, 3))


@pytest.mark.parametrize("name", ["adds", "all", "behind an axis", "twice"])
def test_what_is_written_is_differentiated(name: str) -> None:
    def loss(x: Any) -> Any:
        made = WRITES[name](x * 1, x[:, 0, 0] > x[0, 1, 1] + 0.4, PLACES)
        return (made**2 * np.arange(48.0).reshape(made.shape)).sum()

    check_gradient(loss, np.linspace(1, 2, 48).reshape(4, 4, 3))


def test_one_place_is_repeated_in_either_array() -> None:
    def f(x: Any, m: Any, k: Any) -> Any:
        return x[np.nonzero(m)[0], np.nonzero(k)[0]].sum(axis=0)

    compiled = pliant.jit(f)
    for m in MASKS:
        for k in MASKS:
            wanted, made = outcome(f, X, m, k), outcome(compiled, X, m, k)
            assert (made is wanted) if isinstance(wanted, type) else np.array_equal(made, wanted)


@pytest.mark.parametrize("f", [lambda x, k: x[k, :, ..., [0, 1]], lambda x, k: x[:, k, ..., [0, 1]]])
def test_an_ellipsis_of_no_axes_stands_between_arrays_of_places(f: Callable[..., Any]) -> None:
    k = np.array([1, 2])
    np.testing.assert_array_equal(pliant.jit(f)(X, k), f(X, k), strict=True)

    def put(x: Any, k: Any) -> Any:
        x[:, k, ..., [0, 1]] = np.arange(8.0).reshape(2, 4)
        return x

    np.testing.assert_array_equal(pliant.jit(put)(X.copy(), k), put(X.copy(), k))


@pytest.mark.usefixtures("for_all_data")
def test_what_does_not_fit_is_said() -> None:
    with pytest.raises(IndexRangeError, match="3 places of an index array do not fit those of the arrays beside it"):
        pliant.jit(lambda x, m, j: x[m, :, j])(X, MASKS[3], PLACES)
    with pytest.raises(IndexRangeError, match="index arrays of 2 and 3 places along an axis do not fit together"):
        pliant.jit(lambda x, m, j: x[m, j, [0, 1, 2]])(X, MASKS[0], PLACES)
    with pytest.raises(
        ShapeError, match=r"f64\[2, 1, 2, 1\] could not be broadcast to what the key selects, of 2 axes"
    ):
        pliant.jit(assigns(lambda m, j: (m, 0, None, j), (2, 1, 2, 1)))(X.copy(), MASKS[0], PLACES)
    with pytest.raises(pliant.errors.UnsupportedError, match=r"x\[places\] = y, of rows of y"):
        pliant.jit(lambda x, m, j: x.__setitem__((m, slice(None), j), x[m, 0, 0]))(X.copy(), MASKS[0], PLACES)


def test_rows_of_unknown_length_are_those_of_each_call() -> None:
    def f(x: Any, m: Any, j: Any, y: Any) -> Any:
        x[m, :, j] = y[y > 0]
        return x

    compiled = pliant.jit(f)
    for y in (np.arange(5.0), np.array([3.0, 2.0, 0.0, 1.0, 4.0]), np.array([0.0, 0.0, 0.0, 7.0, 0.0])):
        args = MASKS[0], PLACES, y
        np.testing.assert_array_equal(compiled(X.copy(), *args), f(X.copy(), *args))
