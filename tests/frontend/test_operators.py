"""Python's operators of traced numbers are those of Python's numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import DTypeError

Z = np.array([1j, 2.0])


@pytest.mark.parametrize(
    "f",
    [
        lambda z, n: z.tolist()[0] < n, lambda z, n: n >= z.tolist()[0], lambda z, n: complex(n, 1.0) > 3,
        lambda z, n: max(n, z.tolist()[0], 1), lambda z, n: sorted(z.tolist()),
    ],
)  # fmt: skip
def test_pythons_complex_numbers_have_no_order(f: Callable[[Any, Any], Any]) -> None:
    with pytest.raises(TypeError, match="not supported between instances of"):
        f(Z, 3)
    with pytest.raises(DTypeError, match=r"'[<>]=?' not supported between instances of[\s\S]*abs\(z\)"):
        pliant.jit(f)(Z, 3)


def test_numpys_complex_numbers_are_ordered() -> None:
    def f(z: Any, n: Any) -> Any:
        return z[0] < n, np.float64(2.0) < z.tolist()[1], z.tolist()[0] == n

    assert pliant.jit(f)(Z, 3) == f(Z, 3)


@pytest.mark.parametrize("x", [np.array(1.25), np.array([1.25]), np.ones(3)], ids=repr)
def test_arrays_are_not_rounded_to_a_number(x: Any) -> None:
    for f in (lambda x: round(x), lambda x: round(x, 1)):
        with pytest.raises(TypeError, match="doesn't define __round__"):
            f(x)
        with pytest.raises(DTypeError, match=r"type numpy.ndarray doesn't define __round__ method[\s\S]*np\.round"):
            pliant.jit(f)(x)
    assert pliant.jit(lambda x: round(x.sum() * 0.5))(x) == round(x.sum() * 0.5)
