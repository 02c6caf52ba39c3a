"""Powers of Python's integers are floats where the exponent is negative."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant

X = np.array([1.0, 2.0])
PROGRAMS: dict[str, Any] = {
    "negative": lambda x, n: x * 10**-n,
    "difference": lambda x, n: x * 2 ** (1 - n),
    "of_two": lambda x, n: x * n ** -(n + 1),
    "positive": lambda x, n: x * 2 ** (n + 4),
    "sign": lambda x, n: x * (-1) ** n,
    "in_a_loop": lambda x, n: sum([x * 2**-i for i in range(8)]) * n,
    "down_a_loop": lambda x, n: sum([x * 2 ** (8 - i) for i in range(8)]) * n,
    "of_a_float": lambda x, n: x * 2.0**-n,
}


@pytest.mark.parametrize("backend", ["llvm", "reference"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_powers_are_pythons(name: str, backend: str) -> None:
    f = PROGRAMS[name]
    compiled = pliant.jit(f, backend=backend)
    for n in (3, 1, 2) if name in ("positive", "sign") else (3, 1, 2, -2):
        np.testing.assert_allclose(compiled(X, n), f(X, n), rtol=1e-14)


@pytest.mark.parametrize("name", PROGRAMS)
def test_their_derivatives_and_batches(name: str) -> None:
    f = PROGRAMS[name]
    np.testing.assert_allclose(pliant.grad(lambda x, n: f(x, n).sum())(X, 3), f(np.ones(2), 3))
    np.testing.assert_allclose(pliant.vmap(f, (0, None))(X, 3), f(X, 3))


def test_exponents_that_are_not_written_as_negative_are_not_known() -> None:
    f = pliant.jit(lambda x, n: x * 2**n * (-1) ** n)
    for n in (1, 2, 3):
        f(X, n)
    assert len(f.entries) == 1


def halves(n: Any) -> Any:
    total = 0.0
    for k in range(n):
        total += 2 ** (-k)
    return total


def test_exponents_that_are_never_positive_make_floats():
    for n in (0, 1, 10):
        assert pliant.jit(halves)(n) == halves(n)
