"""Products with matrices that are never in memory: NumPy's values, and temporaries of the size of a row."""

from __future__ import annotations

import numpy as np
import pytest

import pliant
from pliant.backends import backend_named
from pliant.kernel.thin import LARGE

N = 200  # N² is beyond LARGE


def distances(x, y):
    return ((x[:, None] - y[None]) ** 2).sum(-1)


PROGRAMS = {
    "matrix times vector": lambda x, y, b: np.exp(-distances(x, y)) @ b,
    "vector times matrix": lambda x, y, b: b @ np.exp(-distances(x, y)),
    "transposed": lambda x, y, b: np.exp(-distances(x, y)).T @ b,
    "one column": lambda x, y, b: np.exp(-distances(x, y)) @ b[:, None],
    "two products of one matrix": lambda x, y, b: (lambda k: (k @ b) * (b @ k))(np.exp(-distances(x, y))),
    "weighted mean": lambda x, y, b: (lambda k: (k @ b) / k.sum(1))(np.exp(-distances(x, y))),
    "several vectors by axes": lambda x, y, b: np.einsum("ij,j->i", np.cos(x[:, :1] * y[:, 0]), b),
    "nearest": lambda x, y, b: b[distances(x, y).argmin(1)],
    "least": lambda x, y, b: distances(x, y).min(1) + b,
    "outer product": lambda x, y, b: np.outer(b, b).sum(0) + np.outer(x[:, 0], b) @ b,
    "outer product of matrices": lambda x, y, b: np.einsum("ij,kl->ikjl", x[:20], y[:9]).sum((0, 2)),
}


def inputs(dtype, n=N):
    rng = np.random.default_rng(0)
    return tuple(rng.normal(size=shape).astype(dtype) for shape in ((n, 3), (n, 3), (n,)))


def workspace(f, *args):
    fn = pliant.trace(f, *args)
    return backend_named("llvm").compile(fn).program.arena


def test_the_programs_are_large_enough():
    assert N * N > LARGE


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_values_are_numpys(name, dtype):
    x, y, b = inputs(dtype)
    rtol = 1e-12 if dtype == "float64" else 2e-4
    np.testing.assert_allclose(pliant.jit(PROGRAMS[name])(x, y, b), PROGRAMS[name](x, y, b), rtol=rtol, atol=rtol)


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_are_what_differences_say(name):
    given = inputs("float64")
    rng = np.random.default_rng(1)
    steps = [1e-6 * rng.normal(size=a.shape) for a in given]

    def loss(x, y, b):
        return np.sin(PROGRAMS[name](x, y, b)).sum()

    ahead, behind = (loss(*(a + sign * s for a, s in zip(given, steps, strict=True))) for sign in (1, -1))
    grads = pliant.grad(loss, argnums=(0, 1, 2))(*given)
    slope = sum((g * s).sum() for g, s in zip(grads, steps, strict=True))
    np.testing.assert_allclose(slope, (ahead - behind) / 2, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_matrix_is_not_in_memory(name):
    assert workspace(PROGRAMS[name], *inputs("float64")) < N * N


def test_the_gradient_of_a_large_sum_makes_rows_only():
    given = inputs("float32", 1500)

    def loss(x, y, b):
        return np.sin(np.exp(-distances(x, y)) @ b).sum()

    assert workspace(pliant.grad(loss, argnums=(0, 1, 2)), *given) < 100 * 1500


def test_a_matrix_that_is_wanted_in_memory_is_multiplied_there():
    def f(x, y, b):
        k = np.exp(-distances(x, y))
        return k, k @ b

    x, y, b = inputs("float64")
    assert "product: " in str(pliant.explain(f, x, y, b))
    for got, want in zip(pliant.jit(f)(x, y, b), f(x, y, b), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)


def test_in_batches():
    x, y, b = inputs("float64", 150)
    many = np.stack([x, 2 * x])
    want = [PROGRAMS["matrix times vector"](each, y, b) for each in many]
    np.testing.assert_allclose(
        pliant.vmap(PROGRAMS["matrix times vector"], (0, None, None))(many, y, b), want, rtol=1e-12
    )
