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
from pliant.diff.sparsity import hessian_sparsity, jacobian_sparsity
from pliant.errors import DifferentiationError, DTypeError, ShapeError, UnsupportedError
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
    return np.asarray(diff.jacobian(f, Pliant("forward"), x)).reshape(-1, x.size)


@pytest.mark.parametrize("f", JACOBIANS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("mode", ["forward", "reverse", "both"])
def test_sparse_jacobian_equals_dense(f: Any, mode: Any):
    made = diff.jacobian(f, Sparse(Pliant(mode)), X)
    assert isinstance(made, scipy.sparse.csr_array)
    np.testing.assert_allclose(made.toarray(), dense(X, f), rtol=1e-12, atol=1e-14)


def turned(x: Any) -> Any:
    return x.reshape(3, 3).T * x[0]


def from_einsum(x: Any) -> Any:
    return np.sin(np.einsum("ij->ji", x.reshape(3, 3)))


def in_fortran_order(x: Any) -> Any:
    y = np.zeros((3, 3), order="F")
    y[0] = x[:3]
    y[1] = x[3:6] * x[0]
    return y


def swapped(x: Any) -> Any:
    return np.moveaxis(x.reshape(1, 3, 3).swapaxes(0, 2) * 2.0, 1, 0)


@pytest.mark.parametrize("f", [turned, from_einsum, in_fortran_order, swapped], ids=lambda f: f.__name__)
def test_rows_are_elements_in_the_order_of_the_axes_however_results_lie(f: Any):
    np.testing.assert_allclose(diff.jacobian(f, Sparse(Pliant()), X).toarray(), dense(X, f), rtol=1e-12)


@pytest.mark.parametrize("layout", [np.asfortranarray, lambda x: np.repeat(x, 2, axis=1)[:, ::2], lambda x: x[::-1]])
def test_columns_are_elements_in_the_order_of_the_axes_however_x_lies(layout: Any):
    def f(x: Any) -> Any:
        return x * x[0] + x.reshape(-1)[:3]

    def total(x: Any) -> Any:
        return np.sum(x[0] ** 2 * x[1]) + np.sum(x.T[0] ** 3)

    x = layout(X.reshape(3, 3))
    sparse = Sparse(Pliant(), verify=True)
    prep = diff.prepare_jacobian(f, sparse, x)
    np.testing.assert_allclose(prep(x).toarray(), dense(x, f), rtol=1e-12)
    np.testing.assert_allclose(prep(np.ascontiguousarray(x)).toarray(), dense(x, f), rtol=1e-12)
    hessian = np.asarray(diff.hessian(total, Pliant(), x)).reshape(9, 9)
    np.testing.assert_allclose(diff.hessian(total, sparse, x).toarray(), hessian, rtol=1e-12, atol=1e-14)


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
        return np.linalg.solve(x[:4].reshape(2, 2), x[4:6]) * x[6]

    pattern = diff.prepare_jacobian(f, Sparse(Pliant()), np.zeros(9)).sparsity.pattern.toarray()
    np.testing.assert_array_equal(pattern, [[True] * 7 + [False] * 2] * 2)


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


@pytest.mark.parametrize("system", [JAX_, TORCH])
def test_sparse_jacobians_at_arrays_of_the_system_are_scipys(system: Any):
    own = system.array(X)
    assert system.owns(own)
    for made in (diff.jacobian(banded, Sparse(system), own), diff.prepare_jacobian(banded, Sparse(system), own)(own)):
        np.testing.assert_allclose(made.toarray(), dense(X, banded), rtol=1e-6, atol=1e-8)
    hessian = diff.hessian(lambda x: banded(x).sum(), Sparse(system), own)
    np.testing.assert_allclose(hessian.toarray(), diff.hessian(lambda x: np.sum(banded(x)), Pliant(), X), rtol=1e-5)


def test_value_comes_with_the_matrix_and_out_is_refreshed():
    y, out = diff.value_and_jacobian(in_place, Sparse(Pliant()), X)
    np.testing.assert_array_equal(y, in_place(X))
    assert diff.jacobian(in_place, Sparse(Pliant()), 2 * X, out=out) is out
    np.testing.assert_allclose(out.toarray(), dense(2 * X, in_place), rtol=1e-12)


def test_out_of_another_pattern_raises():
    with pytest.raises(ShapeError, match="another sparsity pattern"):
        diff.jacobian(in_place, Sparse(Pliant()), X, out=scipy.sparse.eye_array(9, format="csr"))


def emptied(matrix: Any) -> None:
    matrix.data[...] = 0.0
    matrix.eliminate_zeros()


def overwritten(matrix: Any) -> None:
    matrix.indices[...] = 0
    matrix.indptr[...] = 0


def cut(matrix: Any) -> None:
    matrix.resize((2, 2))


@pytest.mark.parametrize("change", [emptied, overwritten, cut], ids=lambda f: f.__name__)
def test_what_is_done_to_a_result_changes_neither_later_nor_earlier_ones(change: Any):
    sparse = Sparse(Pliant())
    prep = diff.prepare_jacobian(in_place, sparse, X)
    before, changed = prep(X), prep(X)
    change(changed)
    for made in (before, prep(X)):
        np.testing.assert_allclose(made.toarray(), dense(X, in_place), rtol=1e-12)
    with pytest.raises(ShapeError, match="another sparsity pattern"):
        diff.jacobian(in_place, sparse, X, prep=prep, out=changed)


def test_out_of_another_kind_than_the_result_is_refused():
    made = diff.jacobian(periodic, Sparse(Pliant()), X)
    for other in (made.tocsc(), made.T, made + made @ made, made[:5]):
        with pytest.raises(ShapeError, match="another sparsity pattern"):
            diff.jacobian(periodic, Sparse(Pliant()), X, out=other)
    with pytest.raises(DTypeError, match="out= has dtype int64, the result float64"):
        diff.jacobian(periodic, Sparse(Pliant()), X, out=made.astype(np.int64))
    for other in (made.toarray(), made.tocoo()):
        with pytest.raises(UnsupportedError, match="out= has to be a sparse array, as the result is"):
            diff.jacobian(periodic, Sparse(Pliant()), X, out=other)


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


def product(x: Any) -> Any:
    m = x.reshape(3, 3)
    return np.tril(m)[:2] @ (m * np.eye(3))


def scanned(x: Any) -> Any:
    return np.cumsum(x.reshape(3, 3), axis=1)[:, ::-1] * np.cumprod(x.reshape(3, 3), axis=0)


def sorted_rows(x: Any) -> Any:
    return np.sort(x.reshape(3, 3), axis=1) * x[:3]


def taken_by_value(x: Any) -> Any:
    return np.take_along_axis(x.reshape(3, 3), np.argsort(x.reshape(3, 3), axis=1), axis=1)


def stepped(x: Any) -> Any:
    import pliant

    def step(i: Any, u: Any) -> Any:
        return pliant.at(u, i + 1).set(u[i] * u[i + 1])

    return pliant.fori_loop(2, 6, step, x)


def folded(x: Any) -> Any:
    import pliant

    carry, rows = pliant.scan(lambda c, row: (c + row[0], c * row[1]), x[0], x[1:].reshape(4, 2))
    return np.concatenate([rows, carry.reshape(1)])


def branched(x: Any) -> Any:
    import pliant

    return pliant.cond(x[0] > 0, lambda u: u[1:4] * 2, lambda u: u[4:7] ** 2, x)


def repeated(x: Any) -> Any:
    import pliant

    return pliant.while_loop(lambda u: np.sum(u) < -1e-3, lambda u: u * x[:3] / np.max(np.abs(x)) * 0.9, x[3:6])


INSIDE = [product, scanned, sorted_rows, taken_by_value, stepped, folded, branched, repeated]


def any_sign(f: Any, x: Any) -> Any:
    """Where the Jacobian is not zero at one of several points: all that generic points can show."""
    rng = np.random.default_rng(3)  # of its own: at other points a loop might never end
    points = [x * np.array(signs) for signs in rng.choice([-1.0, 1.0], size=(12, 9))] + [rng.permutation(x)]
    return sum((dense(p, f) != 0).astype(int) for p in points) > 0


@pytest.mark.parametrize("f", INSIDE, ids=lambda f: f.__name__)
def test_patterns_inside_operations_miss_nothing(f: Any):
    pattern = diff.prepare_jacobian(f, Sparse(Pliant("forward")), np.zeros(9)).sparsity.pattern.toarray()
    found = any_sign(f, X)
    assert not np.any(found & ~pattern)
    np.testing.assert_allclose(
        diff.jacobian(f, Sparse(Pliant("forward")), X).toarray(), dense(X, f), rtol=1e-12, atol=1e-14
    )


@pytest.mark.parametrize("f", [scanned, stepped, folded, branched], ids=lambda f: f.__name__)
def test_patterns_inside_operations_are_exact(f: Any):
    pattern = diff.prepare_jacobian(f, Sparse(Pliant()), np.zeros(9)).sparsity.pattern.toarray()
    np.testing.assert_array_equal(pattern, any_sign(f, X))


def test_lines_that_are_sorted_stay_apart():
    pattern = diff.prepare_jacobian(sorted_rows, Sparse(Pliant()), np.zeros(9)).sparsity.pattern.toarray()
    blocks = np.kron(np.eye(3), np.ones((3, 3))) + np.tile(np.eye(3, 9), (3, 1)) > 0
    np.testing.assert_array_equal(pattern, blocks)


def test_rows_of_a_product_stay_apart():
    def f(x: Any, a: Any) -> Any:
        return x.reshape(3, 3) @ a

    pattern = diff.prepare_jacobian(f, Sparse(Pliant()), np.zeros(9), diff.Constant(np.zeros((3, 2)))).sparsity.pattern
    np.testing.assert_array_equal(pattern.toarray(), np.kron(np.eye(3), np.ones((2, 3))))


def test_a_long_loop_is_followed_as_one_step():
    import pliant

    def f(x: Any) -> Any:
        def step(i: Any, u: Any) -> Any:
            return u * x[:3] + np.roll(u, 1) * (i % 2)

        return pliant.fori_loop(0, 30_000, step, x[3:6])

    pattern = diff.prepare_jacobian(f, Sparse(Pliant()), np.zeros(9)).sparsity.pattern.toarray()
    np.testing.assert_array_equal(pattern, [[True] * 6 + [False] * 3] * 3)


@pytest.mark.parametrize("system", [PLIANT, DIFFERENCES, JAX_])
def test_a_pattern_follows_the_indices_it_was_found_with(system: Any):
    order = np.array([0, 1, 2])

    def by_constant(x: Any, i: Any) -> Any:
        return x[i] ** 2

    def by_captured(x: Any) -> Any:
        return x[order] ** 2

    prep = diff.prepare_jacobian(by_constant, Sparse(system), X, diff.Constant(order))
    captured = diff.prepare_jacobian(by_captured, Sparse(system), X)
    for new in ([0, 1, 2], [5, 5, 8], [2, 1, 0]):
        order[:] = new
        expected = np.zeros((3, 9))
        expected[np.arange(3), new] = 2 * X[new]
        made = diff.jacobian(by_constant, Sparse(system), X, diff.Constant(order), prep=prep)
        np.testing.assert_allclose(made.toarray(), expected, rtol=1e-6, atol=1e-9)
        made = diff.jacobian(by_captured, Sparse(system), X, prep=captured)
        np.testing.assert_allclose(made.toarray(), expected, rtol=1e-6, atol=1e-9)


def arrowhead(x: Any) -> Any:
    from pliant.diff import namespace

    xp = namespace(x)
    return xp.concatenate([xp.reshape(xp.sum(x * x), (1,)), x[1:] ** 2 * x[0]])


@pytest.mark.parametrize("system", [PLIANT, JAX_, diff.Mixed(diff.FiniteDifferences(), Pliant("reverse"))])
def test_an_arrowhead_takes_three_colours_in_both_directions(system: Any):
    prep = diff.prepare_jacobian(arrowhead, Sparse(system), np.zeros(50))
    assert prep.sparsity.ncolors == 3
    x = RNG.normal(size=50)
    y, made = diff.value_and_jacobian(arrowhead, Sparse(system), x, prep=prep)
    np.testing.assert_allclose(y, arrowhead(x))
    np.testing.assert_allclose(made.toarray(), dense(x, arrowhead), rtol=1e-6, atol=1e-8)
    checked = Sparse(system, verify=True)
    np.testing.assert_allclose(
        diff.jacobian(arrowhead, checked, x).toarray(), dense(x, arrowhead), rtol=1e-6, atol=1e-8
    )


@given(patterns(), st.sampled_from(["natural", "largest"]), st.sampled_from(["columns", "rows", "both"]))
def test_every_entry_is_read_from_the_colours_of_any_direction(pattern: Any, order: Any, direction: Any):
    matrix = pattern.toarray() * RNG.normal(size=pattern.shape)
    sparsity = jacobian_sparsity(pattern, order, direction)
    forward, backward = sparsity.seeds
    made = sparsity.matrix(np.concatenate([(forward @ matrix.T).reshape(-1), (backward @ matrix).reshape(-1)]))
    np.testing.assert_allclose(made.toarray(), matrix, atol=1e-15)


@given(patterns(symmetric=True), st.sampled_from(["natural", "largest"]))
def test_every_entry_is_read_from_star_colours(pattern: Any, order: Any):
    matrix = RNG.normal(size=pattern.shape)
    matrix = pattern.toarray() * (matrix + matrix.T)
    sparsity = hessian_sparsity(pattern, order)
    made = sparsity.matrix((sparsity.seeds[0] @ matrix).reshape(-1))
    np.testing.assert_allclose(made.toarray(), matrix, atol=1e-15)


@pytest.mark.parametrize("verify", [False, True])
def test_derivatives_of_nothing_are_empty(verify: bool):
    system = Sparse(Pliant(), verify=verify)
    assert diff.jacobian(lambda x: x**2, system, np.zeros(0)).shape == (0, 0)
    assert diff.hessian(lambda x: np.sum(x**2), system, np.zeros(0)).shape == (0, 0)
    assert diff.jacobian(lambda x: x[:0] * x.sum(), system, np.ones(3)).shape == (0, 3)


@pytest.mark.parametrize("mode", ["forward", "reverse", "both"])
def test_sparse_jacobians_of_complex_results_are_dense_ones(mode: Any):
    def f(x: Any) -> Any:
        return np.concatenate([x[1:] * x[:-1] * (1 + 2j), x[:1] * 1j])

    x = np.arange(1.0, 6.0)
    got = diff.jacobian(f, diff.Sparse(diff.Pliant(mode), verify=True), x).toarray()
    np.testing.assert_allclose(got, diff.jacobian(f, diff.Pliant(mode), x), rtol=1e-12)
