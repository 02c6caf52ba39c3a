"""Functions of singular values have their derivatives also where these are equal."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pliant
from pliant.core.types import Type
from pliant.ops.singular_function import FromSingularValues
from pliant.testing import check_primitive

RNG = np.random.default_rng(0)
SUMS = {
    "squares": lambda s: np.sum(s**2),
    "cubes": lambda s: np.sum(s**3),
    "log": lambda s: np.sum(np.log1p(s**2)),
    "nuclear": np.sum,
}


def with_values(shape: tuple[int, int], s: list[float]) -> np.ndarray:
    """A matrix with these singular values."""
    u, v = (np.linalg.qr(RNG.standard_normal((n, n)))[0][:, : len(s)] for n in shape)
    return u @ np.diag(s) @ v.T


@pytest.mark.parametrize("s", [[1.0, 1.0, 1.0], [2.0, 2.0, 0.5], [3.0, 2.0, 1.0]], ids=str)
@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (3, 5)])
@pytest.mark.parametrize("total", SUMS.values(), ids=SUMS.keys())
def test_sums_over_singular_values_have_second_derivatives(total, shape, s):
    a, e, h = with_values(shape, s), RNG.standard_normal(shape), 1e-3
    gradient = pliant.grad(lambda a: total(np.linalg.svdvals(a)))
    (_, along) = pliant.jvp(gradient, (a,), (e,))
    assert_allclose(along, (gradient(a + h * e) - gradient(a - h * e)) / (2 * h), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", ["f8", "c16"])
@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("s", [[1.0, 1.0, 1.0], [1.0, 0.0, 0.0], [3.0, 2.0, 1.0]], ids=str)
def test_odd_functions_have_derivatives(s, full, dtype):
    weights, e, h = RNG.standard_normal((3, 3)), RNG.standard_normal((3, 3)).astype(dtype), 1e-6
    e = e + 1j * RNG.standard_normal((3, 3)) if dtype == "c16" else e

    def cube(a):
        u, s, vh = np.linalg.svd(a, full_matrices=full)
        return np.sum(weights * ((u * s**3) @ vh)).real

    a = with_values((3, 3), s).astype(dtype)
    wanted = (cube(a + h * e) - cube(a - h * e)) / (2 * h)
    assert_allclose(np.sum(pliant.grad(cube)(a).conj() * e).real, wanted, rtol=1e-6)


@pytest.mark.parametrize(("shape", "full"), [((3, 3), True), ((4, 2), False), ((2, 3), False)])
def test_from_singular_values_obeys_the_laws(shape, full):
    k = min(shape)
    operands = [with_values(shape, [3.0, 2.0, 1.0][:k]), RNG.standard_normal(k), np.zeros(k)]
    types = Type("f64", shape), Type("f64", (k,)), Type("f64", (k,))
    check_primitive(FromSingularValues(full), *types, draw=lambda rng: operands, derivatives=False)


def test_the_squared_frobenius_norm_by_singular_values_is_smooth_at_zero():
    hessian = pliant.hessian(lambda a: np.sum(np.linalg.svdvals(a) ** 2))(np.zeros((2, 3)))
    assert_allclose(hessian.reshape(6, 6), 2 * np.eye(6), atol=1e-12)


@pytest.mark.parametrize(
    ("shape", "s"), [((3, 3), [2.0, 2.0, 1.0]), ((4, 3), [1.0, 1.0, 1.0]), ((4, 3), [2.0, 1.0, 0.0])]
)
def test_what_has_no_formula_for_equal_values_is_nan(shape, s):
    def cubes(a):
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return np.sum((u * s**3) @ vh * np.arange(1.0, a.size + 1).reshape(a.shape))

    a, da = with_values(shape, s), RNG.standard_normal(shape)
    assert np.isnan(pliant.hvp(cubes)(a, da)).all()
    b, h = with_values(shape, [3.0, 2.0, 1.0]), 1e-4
    differences = (pliant.grad(cubes)(b + h * da) - pliant.grad(cubes)(b - h * da)) / (2 * h)
    assert_allclose(pliant.hvp(cubes)(b, da), differences, rtol=1e-5, atol=1e-4)
