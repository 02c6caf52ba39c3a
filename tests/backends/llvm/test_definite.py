"""Whether matrices have a Cholesky factor: NumPy's answer, without a call to it for small ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.backends.llvm import BACKEND
from pliant.core.build import trace
from pliant.core.types import DTYPES, Type
from pliant.kernel.ir import Host
from pliant.ops.definite import Definite
from pliant.testing import run

NAMES = {np.dtype(v): k for k, v in DTYPES.items()}


def some_definite(dtype: str, lead: tuple[int, ...], n: int) -> Any:
    """Matrices of which about half have a negative eigenvalue."""
    rng = np.random.default_rng(n)
    a = rng.standard_normal((*lead, n, n))
    a = (a + 1j * rng.standard_normal(a.shape) if dtype[0] == "c" else a).astype(dtype)
    gram = a @ np.conj(np.swapaxes(a, -1, -2)) + np.eye(n)
    by = np.where(rng.random(lead) < 0.5, np.linalg.eigvalsh(gram)[..., n // 2] * 1.05, 0)
    return (gram - by[..., None, None] * np.eye(n)).astype(dtype)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("n", [1, 2, 3, 8, 9, 17, 31])
@pytest.mark.parametrize("lead", [(), (7,), (40,), (2, 3), (0,)])
def test_it_is_what_numpy_finds(dtype: str, n: int, lead: tuple[int, ...]) -> None:
    a = some_definite(dtype, lead, n)
    fn = trace(lambda v: Definite()(v), Type(NAMES[a.dtype], a.shape))
    compiled = BACKEND.compile(fn)
    assert not [step for step in compiled.program.steps if isinstance(step, Host)]
    np.testing.assert_array_equal(compiled([a])[0], run(fn, [a])[0])


def test_large_matrices_and_the_upper_triangle_that_is_not_read() -> None:
    for n in (70, 5):
        a = np.tril(some_definite("f8", (4,), n)) + np.triu(np.full((n, n), np.nan), 1)
        fn = trace(lambda v: Definite()(v), Type("f64", a.shape))
        np.testing.assert_array_equal(BACKEND.compile(fn)([a])[0], run(fn, [a])[0])


def test_what_is_caught_in_a_loop() -> None:
    def corners(x: Any) -> Any:
        out = np.zeros(len(x))
        for i in range(len(x)):
            try:
                out[i] = np.linalg.cholesky(np.array([[1.0, x[i]], [x[i], 1.0]]))[1, 1]
            except np.linalg.LinAlgError:
                out[i] = -1.0
        return out

    x = np.linspace(-1.5, 1.5, 24)
    np.testing.assert_allclose(pliant.jit(corners)(x), corners(x))
    assert "; 0 calls into Python" in str(pliant.explain(corners, x))
