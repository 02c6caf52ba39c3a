"""Sums of products of half floats are those of single precision, rounded once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from numpy.testing import assert_allclose, assert_array_equal

import pliant
from pliant.core.build import trace
from pliant.core.types import Type
from pliant.ops import halves
from pliant.ops.contract import Dot
from pliant.ops.convolve import Convolve, Correlate
from pliant.rewrite.engine import simplify
from pliant.testing import check_rule

RNG = np.random.default_rng(0)
MATRICES = Dot(((1,), (0,)), ((), ()))
ROUNDED = 2.0**-11  # of a result, relative to it
PRODUCTS: dict[str, tuple[Callable[..., Any], tuple[int, ...], tuple[int, ...]]] = {
    "vectors": (np.dot, (20000,), (20000,)),
    "few": (np.matmul, (3, 5), (5, 4)),
    "small": (np.matmul, (8, 9), (9, 7)),
    "large": (np.matmul, (130, 4000), (4000, 70)),
    "long": (np.matmul, (2, 60000), (60000, 2)),
    "matrix and vector": (np.matmul, (90, 700), (700,)),
    "vector and matrix": (np.matmul, (700,), (700, 90)),
    "stack": (np.matmul, (50, 8, 33), (50, 33, 8)),
    "stack of vectors": (lambda x, y: (x @ y[..., None])[..., 0], (200, 8, 30), (200, 30)),
    "transposed": (lambda x, y: x.T @ y.T, (900, 30), (40, 900)),
    "reversed": (lambda x, y: x[:, ::-1] @ y, (30, 900), (900, 40)),
    "tensordot": (lambda x, y: np.tensordot(x, y, ((0, 2), (1, 0))), (20, 6, 50), (50, 20, 5)),
    "einsum": (lambda x, y: np.einsum("ibj,bjk->bik", x, y), (20, 6, 500), (6, 500, 4)),
    "windows": (lambda x, y: sliding_window_view(x, 300) @ y, (900,), (300,)),
    "convolve": (np.convolve, (3000,), (400,)),
    "correlate": (lambda x, y: np.correlate(x, y, "full"), (3000,), (400,)),
}

TURNED = {name: case for name, case in PRODUCTS.items() if name != "windows"}
"""Those whose gradients are products; to windows that overlap is added one by one."""


def drawn(*shapes: tuple[int, ...]) -> list[Any]:
    """Positive numbers, some as small as to be sums of which are in range."""
    return [(RNG.random(shape) * scale).astype("f2") for shape, scale in zip(shapes, (1.0, 1 / 64), strict=True)]


@pytest.mark.parametrize(("product", "left", "right"), PRODUCTS.values(), ids=PRODUCTS.keys())
def test_a_product_is_that_of_single_precision_rounded_once(product, left, right):
    x, y = drawn(left, right)
    got, exact = pliant.jit(product)(x, y), product(x.astype("f8"), y.astype("f8"))
    assert got.dtype == np.float16
    assert_allclose(got, exact, rtol=1.01 * ROUNDED, atol=2.0**-24)


@pytest.mark.parametrize(("product", "left", "right"), TURNED.values(), ids=TURNED.keys())
def test_so_is_each_product_of_a_gradient(product, left, right):
    x, y = drawn(left, right)
    loss = lambda x, y: np.sum(product(x, y) * np.float16(0.25))  # noqa: E731
    for got, exact in zip(
        pliant.grad(loss, argnums=(0, 1))(x, y),
        pliant.grad(loss, argnums=(0, 1))(x.astype("f8"), y.astype("f8")),
        strict=True,
    ):
        assert got.dtype == np.float16
        assert_allclose(got, exact, rtol=1.01 * ROUNDED, atol=2.0**-24)


def test_so_are_products_in_a_loop():
    x, y = drawn((40, 700), (700, 40))

    def f(x, y):
        rows = np.zeros((30, 40), np.float16)
        for i in range(30):
            rows[i] = x[i] @ y
        return rows

    exact = (x.astype("f8") @ y.astype("f8"))[:30]
    assert_allclose(pliant.jit(f)(x, y), exact, rtol=1.01 * ROUNDED)


def test_sums_of_single_precision_may_pass_what_half_floats_hold():
    x = np.float16([[60000, 60000, -60000], [np.inf, 1, -1], [np.nan, 1, 1]])
    y = np.float16([[1], [1], [1]])
    with np.errstate(all="ignore"):
        assert_array_equal(pliant.jit(np.matmul)(x, y), np.float16([[60000], [np.inf], [np.nan]]))


def test_what_adds_nothing_stays_as_it_is():
    x, y = drawn((30,), (40,))
    fn = trace(Dot(((), ()), ((), ())), Type("f16", (30,)), Type("f16", (40,)))
    assert simplify(fn, halves.RULES) is fn
    assert_array_equal(pliant.jit(np.outer)(x, y), np.outer(x, y))


@pytest.mark.parametrize(
    ("rule", "op", "shapes"),
    [
        (halves.dot_of_halves, MATRICES, ((3, 4), (4, 2))),
        (halves.pairing_of_halves, Convolve(), ((5,), (3,))),
        (halves.pairing_of_halves, Correlate(), ((5,), (3,))),
    ],
)
def test_rules_are_true_and_fire(rule, op, shapes):
    check_rule(rule, *[Type("f16", shape) for shape in shapes], program=op, rtol=2 * ROUNDED)
