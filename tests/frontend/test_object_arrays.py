"""Arrays of objects that a traced function makes: placeholders, of which no numbers are asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant


class Model:
    def __init__(self, n: int) -> None:
        self.weights: Any = np.array([[None] * n]).T
        self.others = np.full(3, None)

    def fit(self, x: Any) -> Model:
        if self.others[0] is None and (self.weights == None).all():  # noqa: E711
            self.weights = x * len(self.weights)
        return self


X = np.array([1.0, 2.0])
USES: tuple[Callable[[Any], Any], ...] = (
    lambda x: Model(2).fit(x).weights,
    lambda x: x if np.array([None, None])[1] is None else -x,
    lambda x: x + np.empty((2, 3), dtype=object).T.shape[0],
    lambda x: [x for v in np.array([None, "a"]) if v is None],
    lambda x: np.where(np.array([None, 1]) == 1, x, 0) + np.array([[None]]).reshape(1).copy().size,
)


@pytest.mark.parametrize("f", USES)
def test_placeholders(f: Callable[[Any], Any]) -> None:
    np.testing.assert_array_equal(pliant.jit(f)(X), f(X))


REFUSED: tuple[tuple[Callable[[Any], Any], str], ...] = (
    (lambda x: np.array([None, None]) + x, "a use as an array for np.add"),
    (lambda x: np.array([None, None]).sum(), r"\.sum"),
    (lambda x: np.array([None, None]) == x, "a comparison"),
    (lambda x: x if np.array([None]) else -x, "a condition"),
    (lambda x: np.array([None, None]), "returning it"),
    (lambda x: Model(2), "returning an object of class Model, with .weights"),
)


@pytest.mark.parametrize(("f", "text"), REFUSED)
def test_numbers_of_objects_are_refused(f: Callable[[Any], Any], text: str) -> None:
    with pytest.raises(pliant.errors.DTypeError, match=f"{text}: expected an array of bool"):
        pliant.jit(f)(X)


def test_nothing_is_written_to_them() -> None:
    def f(x: Any) -> Any:
        parts = np.empty(2, dtype=object)
        parts[0] = x
        return parts[0]

    with pytest.raises(pliant.errors.DTypeError, match="writing: expected an array of bool"):
        pliant.jit(f)(X)
