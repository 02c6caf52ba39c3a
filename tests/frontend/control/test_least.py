"""Python's `min` and `max` of what has a number of elements that is known only at run time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant

CASES: dict[str, Callable[[Any], Any]] = {
    "least": lambda x: min(x[x < 0]),
    "greatest_of_a_slice": lambda x: max(x[: np.count_nonzero(x < 0)]),
    "least_or_else": lambda x: min(x[x < 0], default=np.inf),
    "greatest_by_a_key": lambda x: max(x[x < 0], key=lambda v: (v + 3.0) ** 2, default=7.0),
    "a_step_length": lambda x: min(1.0, 0.9 * min(-2.0 / x[x < 0], default=np.inf)),
    "least_place": lambda x: min(np.flatnonzero(x < 0), default=-1),
}
SOME, NONE = np.array([1.0, -2.0, 3.0, -4.5, 5.0]), np.array([1.0, 2.0])


@pytest.mark.parametrize("f", CASES.values(), ids=CASES)
@pytest.mark.parametrize("x", [SOME, NONE, SOME.astype(np.float32)], ids=["some", "none", "f32"])
def test_as_python(f: Callable[[Any], Any], x: Any) -> None:
    try:
        want = f(x)
    except ValueError:
        with pytest.raises(ValueError, match="empty"):
            pliant.jit(f)(x)
        return
    np.testing.assert_allclose(pliant.jit(f)(x), want, rtol=1e-6)


@pytest.mark.parametrize("name", ["least", "greatest_by_a_key", "a_step_length"])
def test_derivatives_and_batches(name: str) -> None:
    f = CASES[name]
    wanted = [(f(SOME + d) - f(SOME - d)) / 2e-6 for d in 1e-6 * np.eye(5)]
    np.testing.assert_allclose(pliant.grad(f)(SOME), wanted, rtol=1e-6, atol=1e-8)
    rows = np.stack([SOME, -SOME])
    np.testing.assert_allclose(pliant.vmap(f)(rows), [f(row) for row in rows])
