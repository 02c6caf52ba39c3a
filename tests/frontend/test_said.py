"""Objects of the user's that say what array they are, by `__array__`: taken where NumPy takes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant


class Quantity:
    """Says what array it is by NumPy's own function."""

    def __init__(self, held: Any) -> None:
        self.held = held

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.held)


class Given(Quantity):
    """Says what array it is as it holds it, and loops before."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        made = self.held * 1
        for i in range(3):
            if made[i] > 100:
                made[i] = 0
        return made


class Loud(Quantity):
    """Answers ufuncs itself, with text."""

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **options: Any) -> Any:
        return ufunc.__name__


def _written(kind: Any, x: Any) -> Any:
    y = np.zeros(3)
    y[:] = kind(x * 2)
    return y


TAKEN: list[Callable[[Any, Any], Any]] = [
    lambda kind, x: np.asarray(kind(x * 2)).sum(),
    lambda kind, x: np.array(kind(x)) * 2,
    lambda kind, x: np.asanyarray(kind(x * 2)),
    lambda kind, x: np.asarray(kind(x * 2), dtype=np.float32),
    lambda kind, x: np.asarray(kind(np.arange(3))) + x,
    lambda kind, x: np.sqrt(kind(x * 2)),
    lambda kind, x: np.sum(kind(x * 2)),
    lambda kind, x: np.array([kind(x), kind(x * 2)]),
    lambda kind, x: np.dot(kind(x), x),
    lambda kind, x: np.concatenate([kind(x), x]),
    lambda kind, x: np.where(x > 1, kind(x), 0),
    lambda kind, x: np.linalg.norm(kind(x)),
    _written,
]


@pytest.mark.parametrize("kind", [Quantity, Given])
@pytest.mark.parametrize("number", [*range(len(TAKEN) + 2)])
def test_objects_that_say_what_array_they_are_are_taken_as_such(kind: Any, number: int) -> None:
    operators: list[Callable[[Any, Any], Any]] = [lambda kind, x: x + kind(x), lambda kind, x: kind(x) * x]
    case = [*TAKEN, *operators][number]
    for x in (np.array([1.0, 2.0, 3.0]), np.array([4.0, 200.0, 6.0])):
        want, got = case(kind, x.copy()), pliant.jit(lambda x: case(kind, x))(x.copy())
        np.testing.assert_allclose(got, want, rtol=1e-15)
        assert got.dtype == want.dtype


def test_objects_that_answer_ufuncs_are_asked_first() -> None:
    def shown(x: Any) -> Any:
        made: Any = np.sin(Loud(x))
        return np.asarray(Loud(x)) * (2 if made == "sin" else 3)

    x = np.arange(3.0)
    np.testing.assert_array_equal(pliant.jit(shown)(x), shown(x))


def test_derivatives_go_through_what_they_say() -> None:
    got = pliant.grad(lambda x: np.sum(np.asarray(Quantity(x * x)) * Quantity(x)))(np.array([1.0, 2.0]))
    np.testing.assert_allclose(got, [3.0, 12.0])
