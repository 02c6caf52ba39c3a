"""Operands of products in stacks: computed one matrix after the other, with the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pliant
from pliant.core.ir import nodes
from pliant.kernel.stacked import stacked
from pliant.ops.contract import Dot

RNG = np.random.default_rng(0)
A, X, Y = RNG.standard_normal((6, 9, 9)), RNG.standard_normal((300, 9)), RNG.standard_normal((6, 9))


def away(x, y):
    """Differences of all pairs: `[n, d], [k, d] → [n, k, d]`."""
    return x[:, None] - y


def batch_axes(f, *args):
    """The axes of the stacks of all products of a program, after the pass."""
    fn = stacked(pliant.trace(f, *args))
    return [node.op.batch_axes for node in nodes(fn.results) if isinstance(node.op, Dot)]


def assert_same(f, *args):
    assert_allclose(pliant.jit(f)(*args), f(*args), rtol=1e-12, atol=1e-12)


def test_computed_operand_gets_the_axis_of_the_stack_in_front():
    def turned(a, x, y):
        return np.einsum("kij,nkj->nki", a, away(x, y))

    assert batch_axes(turned, A, X, Y) == [((0,), (0,))]
    assert_same(turned, A, X, Y)


def test_two_products_read_the_same():
    def both(a, x, y):
        d = away(x, y)
        return np.einsum("kij,nkj->nki", a, d) + np.einsum("nkj,kji->nki", d, a)

    assert batch_axes(both, A, X, Y) == [((0,), (0,)), ((0,), (0,))]
    assert_same(both, A, X, Y)


@pytest.mark.parametrize(
    "f",
    [
        lambda a, x, y: np.einsum("kij,nkj->nki", a, away(x, y)) + away(x, y),  # read by others
        lambda a, x, y: (np.einsum("kij,nkj->nki", a, away(x, y)), away(x, y))[0] * away(x, y).sum(),
        lambda a, x, y: np.einsum("kij,knj->nki", a, away(x, y).swapaxes(0, 1).copy()),
    ],
)
def test_what_others_read_stays(f):
    assert_same(f, A, X, Y)


def test_a_product_with_itself_along_two_stacks():
    def f(x, y):
        d = away(x, y)
        return np.einsum("nkj,nkj->nk", d, d) + np.einsum("nki,nkj->kij", d, d).sum()

    assert_same(f, X, Y)


def test_gradient_of_a_mixture():
    def energy(y, a, x):
        return np.sum(np.einsum("kij,nkj->nki", a, away(x, y)) ** 2)

    d = away(X, Y)
    wanted = -2 * np.einsum("kij,kil,nkl->kj", A, A, d)
    assert_allclose(pliant.grad(energy)(Y, A, X), wanted, rtol=1e-10)
