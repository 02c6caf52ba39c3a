"""Sparse Jacobians and Hessians against dense ones; patterns and colourings against their definitions."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize._numdiff import group_columns

import pliant.diff as diff
from pliant.diff import FiniteDifferences, KnownPattern, Pliant, SecondOrder, Sparse
from pliant.diff.coloring import column_colors, row_colors, star_colors
from pliant.errors import DifferentiationError, ShapeError, UnsupportedError
from tests.diff.systems import AUTOGRAD, DIFFERENCES, JAX_, PLIANT, STEP, TORCH

RNG = np.random.default_rng(0)
X = RNG.normal(size=9)
ORDER = np.array([2, 0, 1, 1])


def in_place(x: Any) -> Any:
    y = np.zeros_like(x)
    y[1:-1] = x[:-2] - 2 * x[1:-1] + x[2:]
    y[0], y[-1] = x[0], x[-1] ** 2
    return y * y


def periodic(x: Any) -> Any:
    u = x.reshape(3, 3)
    return u * (np.roll(u, 1, 0) + np.roll(u, -1, 1))


def gathered(x: Any) -> Any:
    return x[ORDER] ** 2


def scattered(x: Any) -> Any:
    y = np.zeros(4)
    np.add.at(y, ORDER, x[:4])
    return y * x[1]


def stacked(x: Any) -> Any:
    return np.concatenate([x[::-2], np.stack([x[:2], x[1:3]], axis=1).reshape(-1)])


def halves(x: Any) -> Any:
    return np.sum(x.reshape(3, 3), axis=1) * np.where(x[:3] > 0, x[3:6], x[6:])


def constant(x: Any) -> Any:
    return np.zeros(3)


JACOBIANS = [in_place, periodic, gathered, scattered, stacked, halves, constant]


def dense(x: Any, f: Any) -> Any:
    return np.asarray(diff.jacobian(f, Pliant(), x)).reshape(-1, x.size)


@pytest.mark.parametrize("f", JACOBIANS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("mode", ["forward", "reverse", "both"])
def test_sparse_jacobian_equals_dense(f: Any, mode: Any):
    made = diff.jacobian(f, Sparse(Pliant(mode)), X)
    assert isinstance(made, scipy.sparse.csr_array)
    np.testing.assert_allclose(made.toarray(), dense(X, f), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("f", [in_place, periodic, gathered, stacked], ids=lambda f: f.__name__)
def test_patterns_through_indexing_are_exact(f: Any):
    pattern = diff.prepare_jacobian(f, Sparse(Pliant()), np.zeros(9)).sparsity.pattern
    np.testing.assert_array_equal(pattern.toarray(), dense(X, f) != 0)


def test_a_pattern_does_not_depend_on_the_values_at_preparation():
    def f(x: Any, c: Any) -> Any:
        return np.where(x > 0, c * x, x[::-1])

    prep = diff.prepare_jacobian(f, Sparse(Pliant()), np.zeros(9), diff.Constant(0.0))
    made = diff.jacobian(f, Sparse(Pliant()), X, diff.Constant(2.0), prep=prep)
    np.testing.assert_array_equal(made.toarray(), dense(X, lambda x: f(x, 2.0)))


def test_what_is_not_known_exactly_depends_on_all_it_reads():
    def f(x: Any) -> Any:
        return np.sort(x[:3]) * x[3]

    pattern = diff.prepare_jacobian(f, Sparse(Pliant()), np.zeros(9)).sparsity.pattern.toarray()
    np.testing.assert_array_equal(pattern, [[True] * 4 + [False] * 5] * 3)


def chain(x: Any) -> Any:
    return np.sum(np.diff(x) ** 2 * x[1:]) + x[0] ** 2


def arrow(x: Any) -> Any:
    return x[0] * np.sum(x**2) + np.sum(x**4)


def separable(x: Any) -> Any:
    return np.sum(np.exp(x)) + np.sum(3.0 * x)


def grid(x: Any) -> Any:
    u = x.reshape(3, 3)
    return np.sum(np.sin(u[1:] * u[:-1])) + np.sum(u[:, 1:] * u[:, :-1] ** 2)


@pytest.mark.parametrize("f", [chain, arrow, separable, grid], ids=lambda f: f.__name__)
@pytest.mark.parametrize("order", ["natural", "largest"])
@pytest.mark.parametrize("system", [Pliant(), SecondOrder(FiniteDifferences(), Pliant())], ids=lambda s: s.name)
def test_sparse_hessian_equals_dense(f: Any, order: Any, system: Any):
    made = diff.hessian(f, Sparse(system, order=order), X)
    np.testing.assert_allclose(made.toarray(), diff.hessian(f, Pliant(), X), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(("f", "colors"), [(chain, 3), (arrow, 2), (separable, 1)])
def test_colours_of_a_hessian_do_not_grow_with_its_size(f: Any, colors: int):
    assert diff.prepare_hessian(f, Sparse(Pliant()), np.zeros(300)).sparsity.ncolors == colors


def banded(x: Any) -> Any:
    from pliant.diff import namespace

    return namespace(x).exp(x[1:]) * x[:-1]


@pytest.mark.parametrize("system", [PLIANT, DIFFERENCES, STEP, AUTOGRAD, JAX_, TORCH])
def test_every_system_makes_sparse_jacobians(system: Any):
    prep = diff.prepare_jacobian(banded, Sparse(system), X)
    assert prep.sparsity.ncolors == 2
    made = diff.jacobian(banded, Sparse(system), X, prep=prep)
    np.testing.assert_allclose(made.toarray(), dense(X, banded), rtol=1e-6, atol=1e-8)


def test_value_comes_with_the_matrix_and_out_is_refreshed():
    y, out = diff.value_and_jacobian(in_place, Sparse(Pliant()), X)
    np.testing.assert_array_equal(y, in_place(X))
    assert diff.jacobian(in_place, Sparse(Pliant()), 2 * X, out=out) is out
    np.testing.assert_allclose(out.toarray(), dense(2 * X, in_place), rtol=1e-12)


def test_out_of_another_pattern_raises():
    with pytest.raises(ShapeError, match="another sparsity pattern"):
        diff.jacobian(in_place, Sparse(Pliant()), X, out=scipy.sparse.eye_array(9, format="csr"))


def test_a_known_pattern_is_used_and_verified():
    right = KnownPattern(dense(X, in_place))
    made = diff.jacobian(in_place, Sparse(Pliant(), right, verify=True), X)
    np.testing.assert_allclose(made.toarray(), dense(X, in_place), rtol=1e-12)
    with pytest.raises(DifferentiationError, match="the sparsity pattern misses entries"):
        diff.jacobian(in_place, Sparse(Pliant(), KnownPattern(np.eye(9)), verify=True), X)
    with pytest.raises(ShapeError, match="the pattern has 4 columns, x has 9 elements"):
        diff.jacobian(in_place, Sparse(Pliant(), KnownPattern(np.eye(4))), X)


def test_only_matrices_are_sparse():
    with pytest.raises(UnsupportedError, match="gradient has no sparse form"):
        diff.gradient(chain, Sparse(Pliant()), X)
    with pytest.raises(UnsupportedError, match="one real array x"):
        diff.jacobian(in_place, Sparse(Pliant()), [X, X])


@st.composite
def patterns(draw: st.DrawFn, *, symmetric: bool = False) -> Any:
    n, m = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    flags = draw(st.lists(st.booleans(), min_size=n * m, max_size=n * m))
    matrix = np.array(flags).reshape(n, m)
    if symmetric:
        k = min(n, m)
        matrix = matrix[:k, :k] | matrix[:k, :k].T
    return scipy.sparse.csr_array(matrix)


@given(patterns(), st.sampled_from(["natural", "largest"]))
def test_columns_of_one_colour_never_meet_in_a_row(pattern: Any, order: Any):
    colors = column_colors(pattern, order)
    for row in pattern.toarray():
        assert len(set(colors[row])) == row.sum()


@given(patterns(), st.sampled_from(["natural", "largest"]))
def test_rows_of_one_colour_never_meet_in_a_column(pattern: Any, order: Any):
    colors = row_colors(pattern, order)
    for column in pattern.toarray().T:
        assert len(set(colors[column])) == column.sum()


@given(patterns(symmetric=True), st.sampled_from(["natural", "largest"]))
def test_every_entry_of_a_star_colouring_can_be_read_directly(pattern: Any, order: Any):
    colors, matrix = star_colors(pattern, order), pattern.toarray()
    for i, j in itertools.combinations(range(len(matrix)), 2):
        if matrix[i, j]:
            alone_in_i = np.sum(colors[matrix[i]] == colors[j]) == 1
            alone_in_j = np.sum(colors[matrix[j]] == colors[i]) == 1
            assert alone_in_i or alone_in_j


@pytest.mark.parametrize("density", [0.01, 0.05, 0.2])
def test_columns_take_no_more_colours_than_scipys_groups(density: float):
    pattern = scipy.sparse.random_array((60, 60), density=density, format="csr", rng=RNG) != 0
    groups = group_columns(pattern.toarray().astype(int), np.arange(60))
    assert column_colors(pattern.tocsr()).max() <= groups.max() + 1
