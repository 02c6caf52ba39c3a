"""Arrays that traced functions make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant


def test_arrays_of_any_numbers_are_no_constants_of_the_program():
    def f(x: Any) -> Any:
        rows = np.empty((4, 3))
        for t in range(4):
            rows[t] = x * t
        return rows, np.empty_like(np.ones(2), dtype=np.int8)

    program = pliant.trace(f, np.ones(3))
    assert len(program.params) == 1
    np.testing.assert_array_equal(pliant.jit(f)(np.ones(3))[0], f(np.ones(3))[0])


X = np.array([1.0, -2.0, 3.0])

NUMBERS: dict[str, Callable[[Any], Any]] = {
    "tolist": lambda x: [a * 2 for a in x.tolist()],
    "tolist of rows": lambda x: np.outer(x, x).tolist(),
    "tolist of integers beside single precision": lambda x: x.astype(int).tolist()[1] * x.astype("f4"),
    "tolist of a number": lambda x: x[0].tolist(),
    "item": lambda x: x[0].item(),
    "item beside single precision": lambda x: x.item(2) * x.astype("f4"),
    "item of single precision": lambda x: x.astype("f4").item(2) / 3,
    "item of bools": lambda x: (x > 0).item(1),
    "item of long integers": lambda x: (x.astype(np.uint64) + np.uint64(2**63)).item(0),
    "round": lambda x: round(float(x[0]) * 1.2345, 2),
    "round of NumPy's": lambda x: round(x[0] * 1.2345, 2),
    "fromiter": lambda x: np.fromiter((v * 2 for v in x), float),
    "fromiter of a part": lambda x: np.fromiter(x, int, count=2),
    "fromiter of what is known": lambda x: np.fromiter(range(3), float) * x,
    "as_strided of what is known": lambda x: np.lib.stride_tricks.as_strided(np.arange(4.0), (3, 2), (8, 8)) @ x[:2],
}


@pytest.mark.parametrize("f", NUMBERS.values(), ids=NUMBERS.keys())
def test_python_numbers_of_arrays_and_arrays_of_these(f: Callable[[Any], Any]) -> None:
    made, expected = pliant.jit(f)(X), f(X)
    assert type(made) is type(expected)
    assert np.asarray(made).dtype == np.asarray(expected).dtype
    np.testing.assert_array_equal(made, expected)


SHAPES: tuple[Callable[[Any], Any], ...] = (
    lambda x: x.reshape(np.array([3, 1])),
    lambda x: np.reshape(x, np.append(np.shape(x), 1), order="F"),
    lambda x: x.reshape(np.array(x.shape)[::-1]),
    lambda x: np.zeros(np.append(np.shape(x), 2)) + x[0],
    lambda x: np.full(np.array([2, 3]), x),
    lambda x: np.broadcast_to(x, np.append(2, x.shape)),
    lambda x: np.tile(x, np.array([2, 1])),
    lambda x: np.resize(x, np.array([2, 2])),
    lambda x: np.transpose(np.outer(x, x), np.array([1, 0])),
    lambda x: np.ones(np.array([(x > 0).sum(), 2])) * x[0],
    lambda x: x.reshape(np.array([(x > 5).sum() + 1, -1])),
)


@pytest.mark.parametrize("f", SHAPES)
def test_shapes_that_are_arrays(f: Callable[[Any], Any]) -> None:
    np.testing.assert_array_equal(pliant.jit(f)(X), f(X), strict=True)


UNBOUND: tuple[Callable[[Any], Any], ...] = (
    lambda x: np.ndarray.copy(x),
    lambda x: np.ndarray.sum(np.outer(x, x), axis=0) + list(map(np.ndarray.max, [x, x + 1, -x])),
    lambda x: np.ndarray.reshape(x, (3, 1)).T,
    lambda x: np.ndarray.__add__(x, 1) * np.float64.__mul__(x[0], 2.0),
    lambda x: np.ndarray.astype(np.arange(3), float) + np.ndarray.dot(x, x),
    lambda x: np.ndarray.sum(X) + x,
)


@pytest.mark.parametrize("f", UNBOUND)
def test_methods_of_classes(f: Callable[[Any], Any]) -> None:
    np.testing.assert_array_equal(pliant.jit(f)(X), f(X), strict=True)
    assert np.isfinite(pliant.grad(lambda x: np.sum(f(x)))(X)).all()


REFUSED: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "item": (lambda x: x.item(), ValueError, r"x.item\(\) needs an array of one element"),
    "fromiter": (lambda x: np.fromiter(x, float, count=7), ValueError, "expected 7 elements, got 3"),
}


@pytest.mark.parametrize(("f", "kind", "text"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_made_says_so(f: Callable[[Any], Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text) as info:
        pliant.jit(f)(X)
    assert isinstance(info.value, pliant.errors.PliantError)
