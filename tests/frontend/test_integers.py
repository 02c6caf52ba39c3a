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


def _shifts_in_a_loop(n: int) -> int:
    total = 0
    for i in range(5):
        total += 1 << (n - i)
    return total


def _shifted_in_place(n: int) -> int:
    m = 5
    m <<= n
    m >>= n // 2
    return m


def _caught(n: int) -> int:
    try:
        return 1 << n
    except ValueError:
        return -7


@pytest.mark.parametrize("n", [6, 3, 0, -1])
@pytest.mark.parametrize(
    "f", [lambda n: 1 << n, lambda n: 200 >> n, lambda n: n >> n, _shifts_in_a_loop, _shifted_in_place, _caught]
)
def test_integers_are_shifted_by_no_number_below_0(f: Any, n: int) -> None:
    try:
        want = f(n)
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error)):
            pliant.jit(f)(n)
    else:
        assert pliant.jit(f)(n) == want


def test_shifts_of_numpys_integers_and_in_steps_are_as_before() -> None:
    def step(state: Any) -> Any:
        return state[0] + (1 << state[1]), state[1] + 1

    assert pliant.jit(lambda n: pliant.while_loop(lambda s: s[1] < n, step, (0, 0)))(5) == (31, 5)
    x = np.array([1, 2, -1])
    np.testing.assert_array_equal(pliant.jit(lambda x: (1 << x, x >> 1))(x), (1 << x, x >> 1))
