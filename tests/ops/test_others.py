"""Products of all elements but one."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pliant
from pliant.core.types import Type
from pliant.errors import ShapeError
from pliant.ops.others import ProductOfOthers
from pliant.testing import check_primitive

RNG = np.random.default_rng(0)
MANY = 80


@pytest.mark.parametrize("dtype", ["f32", "f64", "c128"])
@pytest.mark.parametrize(
    ("shape", "axes"),
    [((3,), (0,)), ((2, 3), (0,)), ((2, 3), (1,)), ((2, 3), (0, 1)), ((2, 3, 2), (0, 2)), ((0, 3), (0,)), ((2,), ())],
)
def test_products_of_others_obey_the_laws(shape, axes, dtype):
    check_primitive(ProductOfOthers(axes), Type(dtype, shape), derivatives=dtype == "f64", rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("zeros", [[0], [3, 5], [1, 3, 7]])
def test_products_of_others_obey_the_laws_at_zeros(zeros):
    x = RNG.standard_normal(8)
    x[zeros] = 0
    check_primitive(ProductOfOthers((0,)), Type("f64", (8,)), draw=lambda rng: (x,), rtol=1e-5, atol=1e-6)


def one_by_one(x, axis):
    """The products, each multiplied out."""
    rows = np.moveaxis(x, axis, -1)
    made = [np.prod(np.delete(rows, j, -1), axis=-1) for j in range(rows.shape[-1])]
    return np.moveaxis(np.stack(made, -1), -1, axis)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(
    "odd",
    [[], [0.0], [0.0, -0.0], [np.nan], [np.inf, 0.0], [np.inf], [1e30, 1e-39, 1e9], [1e-30, 1e-9], [1e-30, 1e-9, 1e39]],
)
def test_gradients_of_products_of_many_are_products_of_others(odd, axis, dtype):
    x = (1 + RNG.uniform(-0.1, 0.1, (MANY, MANY))).astype(dtype)
    with np.errstate(all="ignore"):
        x[1, 1 : 1 + len(odd)] = np.asarray(odd).astype(dtype)
        x[0, 0] = 3
        back = pliant.grad(lambda x: np.sum(np.real(np.prod(x, axis=axis))))(x)
        expected = np.conj(one_by_one(x, axis))
    assert_allclose(back, expected, rtol=1e-4 if dtype == np.float32 else 1e-11)


@pytest.mark.parametrize("zeros", [0, 1, 2, 3])
def test_derivatives_of_products_of_many_do_not_depend_on_how_many(zeros):
    x = 1 + RNG.uniform(-0.1, 0.1, MANY)
    x[4 : 4 + zeros] = 0
    v = RNG.standard_normal(MANY)

    def parts(x):
        return np.prod(np.prod(x.reshape(-1, 8), axis=1))  # products of few

    for f in (pliant.hvp(np.prod), pliant.hvp(parts)):
        assert_allclose(f(x, v), pliant.hvp(parts)(x, v), rtol=1e-9, atol=1e-12)
    (_, rate) = pliant.jvp(np.prod, (x,), (v,))
    assert_allclose(rate, pliant.jvp(parts, (x,), (v,))[1], rtol=1e-10, atol=1e-14)
    rows = np.stack([x, x[::-1], np.ones(MANY)])
    assert_allclose(pliant.vmap(pliant.grad(np.prod))(rows), [pliant.grad(parts)(row) for row in rows], rtol=1e-11)


def test_products_of_others_of_integers_are_refused():
    with pytest.raises(ShapeError, match="has no products"):
        ProductOfOthers((0,)).infer(Type("i64", (3,)))
