"""Rows that are taken are all that is computed: the same numbers and errors, and less work."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pliant
from pliant.core.ir import nodes
from pliant.ops.contract import Dot
from pliant.ops.index import Gather
from pliant.ops.reduce import Reduction
from pliant.passes.fewer_rows import fewer_rows

RNG = np.random.default_rng(0)
X, A, STACK = RNG.standard_normal((40, 5)), RNG.standard_normal((5, 3)), RNG.standard_normal((40, 3, 4))
ROWS = np.array([3, 39, 3, -1, 0, 17])


def largest_work(f, *args):
    """The most elements that a product or a reduction of a program makes, after the pass."""
    fn = fewer_rows(pliant.trace(f, *args))
    return max([n.types[0].size for n in nodes(fn.results) if isinstance(n.op, Dot | Reduction)])


CASES = {
    "left operand": (lambda x, a, s, rows: (x @ a)[rows], 18),
    "right operand": (lambda x, a, s, rows: (a.T @ x.T).T[rows], 18),
    "chain": (lambda x, a, s, rows: np.tanh(np.exp(x @ a) * x.sum(1)[:, None] + 1)[rows], 18),
    "stack": (lambda x, a, s, rows: (s.swapaxes(1, 2) @ s)[rows], 96),
    "columns": (lambda x, a, s, rows: (a.T @ x.T)[:, rows], 18),
    "reshaped": (lambda x, a, s, rows: (s.reshape(40, 12)[:, 1:7].reshape(40, 2, 3) @ a.T)[rows], 60),
    "pieces": (lambda x, a, s, rows: (np.concatenate((x @ a, x[:, :2]), axis=1) @ np.ones((5, 2)))[rows], 18),
    "repeated": (lambda x, a, s, rows: (np.broadcast_to(a[0], (40, 3)) * x.sum(1)[:, None])[rows], 6),
}


@pytest.mark.parametrize("name", CASES)
def test_rows_are_taken_first(name):
    f, most = CASES[name]
    assert_allclose(pliant.jit(f)(X, A, STACK, ROWS), f(X, A, STACK, ROWS), rtol=1e-12)
    assert largest_work(f, X, A, STACK, ROWS) == most


KEPT = {
    "most rows are wanted": lambda x, a, rows: (x @ a)[np.concatenate((rows, rows, rows, rows))],
    "others need all": lambda x, a, rows: (x @ a)[rows].sum() + (x @ a),
    "nothing depends on the row": lambda x, a, rows: np.broadcast_to((a @ a.T).sum(), (40, 3))[rows],
    "rows of the other axis": lambda x, a, rows: (x @ (x.T @ x))[:, rows[:2]][rows],
}


@pytest.mark.parametrize("name", KEPT)
def test_what_cannot_be_moved_stays(name):
    f = KEPT[name]
    rows = np.array([3, 1, 3, -1, 0, 4])
    assert_allclose(pliant.jit(f)(X, A, rows), f(X, A, rows), rtol=1e-12)


def test_two_selections_of_one_array_are_right():
    def f(x, a, rows):
        y = x @ a
        return y[rows] + y[rows[::-1]]

    assert_allclose(pliant.jit(f)(X, A, ROWS), f(X, A, ROWS), rtol=1e-12)


def test_a_row_that_does_not_exist_is_an_error_of_the_same_axis():
    def f(x, a, rows):
        return (a.T @ x.T).T[rows]

    with pytest.raises(IndexError, match="index 40 is out of range for axis 0 of extent 40"):
        pliant.jit(f)(X, A, np.array([1, 40]))


def test_derivatives():
    def f(x, a, rows):
        return np.sum(np.sin(x @ a)[rows] ** 2)

    plain = np.take(X, ROWS, 0)
    wanted = np.zeros_like(X)
    np.add.at(wanted, ROWS, (2 * np.sin(plain @ A) * np.cos(plain @ A)) @ A.T)
    assert_allclose(pliant.grad(f)(X, A, ROWS), wanted, rtol=1e-10, atol=1e-12)
    jacobian = pliant.jacobian(lambda a, x, rows: (x @ a)[rows])(A, X, ROWS)
    assert jacobian.shape == (6, 3, 5, 3)
    assert_allclose(jacobian[:, 1, :, 1], plain, rtol=1e-12)


def test_batched():
    many = RNG.standard_normal((4, 40, 5))
    got = pliant.vmap(lambda x: (x @ A)[ROWS])(many)
    assert_allclose(got, (many @ A)[:, ROWS], rtol=1e-12)


def test_inside_a_loop():
    def f(x, a, rows):
        total = np.zeros((6, 3))
        for n in range(5):
            total = total + (n * x @ a)[rows]
        return total

    fn = pliant.trace(f, X, A, ROWS)
    assert any([isinstance(node.op, Gather) for node in nodes(fn.results)]) or "gather" in str(fn)
    assert_allclose(pliant.jit(f)(X, A, ROWS), f(X, A, ROWS), rtol=1e-12)
