"""A batch runs what single problems do not: their indices may lie anywhere, and stop nobody."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import IndexRangeError

STARTS = np.array([3, 20, 8, 9, 0, -4])
ROWS = np.random.default_rng(0).standard_normal((len(STARTS), 9))


def below(x: Any, k: Any) -> Any:
    if k < 9:
        x[k] = x[k] * 2
    return x


def window(x: Any, k: Any) -> Any:
    if k >= 3 and k < 10:
        x[k - 3 : k] += np.sin(x[k - 3 : k])
    return x


def products(x: Any, k: Any) -> Any:
    if k >= 0 and k < 9:
        np.multiply.at(x, [k, k], np.array([2.0, 3.0]))
    return x


def several(x: Any, k: Any) -> Any:
    if 0 <= k < 8:
        x[[k, k + 1]] = x[[k + 1, k]] ** 2
    return x


def search(x: Any, k: Any) -> Any:
    k = abs(k)
    while k < 9 and x[k] < 1:
        x[k] += np.exp(x[k])
        k += 1
    return x


def strides(x: Any, k: Any) -> Any:
    total = x[0]
    while k < 9:
        total += x[k + 4 if k < -4 else k] ** 2
        k += 2
    x[-1] = total
    return x


PROGRAMS: list[Callable[..., Any]] = [below, window, products, several, search, strides]


def copied(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, k: f(x.copy(), k)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_a_batch_gives_what_its_problems_give(f: Callable[..., Any], backend: str):
    expected = np.stack([f(x.copy(), int(k)) for x, k in zip(ROWS, STARTS, strict=True)])
    np.testing.assert_allclose(pliant.jit(pliant.vmap(copied(f)), backend=backend)(ROWS, STARTS), expected, rtol=1e-12)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_and_so_do_its_gradients(f: Callable[..., Any]):
    def loss(x: Any, k: Any) -> Any:
        return np.sum(copied(f)(x, k) ** 2)

    expected = np.stack([pliant.grad(loss)(x, int(k)) for x, k in zip(ROWS, STARTS, strict=True)])
    np.testing.assert_allclose(pliant.vmap(pliant.grad(loss))(ROWS, STARTS), expected, rtol=1e-12)
    total = pliant.grad(lambda xs: np.sum(pliant.vmap(loss)(xs, STARTS)))
    np.testing.assert_allclose(total(ROWS), expected, rtol=1e-12)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_and_their_derivatives_along_a_line(f: Callable[..., Any]):
    def along(x: Any, k: Any) -> Any:
        return pliant.jvp(lambda x: copied(f)(x, k), (x,), (x,))[1]

    expected = np.stack([along(x, int(k)) for x, k in zip(ROWS, STARTS, strict=True)])
    np.testing.assert_allclose(pliant.vmap(along)(ROWS, STARTS), expected, rtol=1e-12)


@pytest.mark.parametrize("k", [9, 20])
def test_an_index_of_a_problem_that_takes_the_branch_is_checked(k: int):
    def f(x: Any, k: Any) -> Any:
        return x[k] if k > 5 else x[0]

    with pytest.raises(IndexRangeError, match=f"index {k} is out of range"):
        pliant.vmap(f)(ROWS, np.array([0, 1, 2, k, 4, 5]))


def either_in_order(a: Any, k: Any) -> Any:
    return a[0] if k >= 4 or (a[0] < 2 and a[k] > 1) else a[1]


def one_within_another(a: Any, k: Any) -> Any:
    return a[0] if k < 4 and (a[0] < -2 or a[k] > 0) else a[1]


def search_under_a_condition(a: Any, k: Any) -> Any:
    i = 0
    if k < 4:
        while a[i] < 0.5:
            i += 1
    return a[i]


def search_within_a_search(a: Any, k: Any) -> Any:
    i = 0
    while i < 2:
        while a[i] < 0.5:
            i += 1
        i += 1
    return a[i - 1]


def merged(a: Any, k: Any) -> Any:
    i = j = 0
    while i < 2:
        if j == 4 or a[i] < a[j]:
            i += 1
        else:
            j += 1
    return a[0] * j


def left_or_gone_on(a: Any, k: Any) -> Any:
    i, s = 0, 0.0
    while True:
        if i >= 4:
            break
        if a[i] == 0.9:
            i += 1
            continue
        s += a[i] ** 2
        i += 1
    return s


def sum_within_a_branch(a: Any, k: Any) -> Any:
    s = a[0]
    if k < 2:
        for j in range(2):
            s += a[k + j] ** 2
    return s


NESTED: list[Callable[..., Any]] = [
    either_in_order, one_within_another, search_under_a_condition, search_within_a_search, merged, left_or_gone_on,
    sum_within_a_branch,
]  # fmt: skip
LINES = np.array([[0.1, 0.2, 0.3, 0.9], [0.9, 0.1, 0.6, 0.2], [0.7, 0.8, 0.9, 0.6], [0.1, 0.1, 0.1, 0.2]])
PLACES = np.array([0, 3, 9, 12])


@pytest.mark.parametrize("f", NESTED, ids=lambda f: f.__name__)
def test_conditions_within_others_guard_what_is_within_all(f: Callable[..., Any]):
    problems = [(a, int(k)) for a, k in zip(LINES, PLACES, strict=True)]
    problems = problems[:3] if f is search_within_a_search else problems  # the last one would leave the line
    rows, places = np.stack([a for a, _ in problems]), np.array([k for _, k in problems])
    np.testing.assert_allclose(pliant.vmap(f)(rows, places), [f(a, k) for a, k in problems], rtol=1e-12)
    slopes = np.stack([pliant.grad(f)(a, k) for a, k in problems])
    np.testing.assert_allclose(pliant.vmap(pliant.grad(f))(rows, places), slopes, rtol=1e-12)
    total = pliant.grad(lambda rows: np.sum(pliant.vmap(f)(rows, places)))
    np.testing.assert_allclose(total(rows), slopes, rtol=1e-12)


def inverted(a: Any, k: Any) -> Any:
    return np.linalg.inv(a)[0, 0] if k > 5 else a.sum()


def factored(a: Any, k: Any) -> Any:
    return a[0, 0] if k <= 5 else np.linalg.cholesky(a)[1, 1]


def converted(a: Any, k: Any) -> Any:
    return int(a[0, 0]) * 2.0 if k > 5 else a[1, 1]


def by_cond(a: Any, k: Any) -> Any:
    return pliant.cond(k > 5, lambda: np.linalg.inv(a)[0, 0], lambda: a.sum())


def by_switch(a: Any, k: Any) -> Any:
    return pliant.switch(k // 6, [lambda: a.sum(), lambda: np.linalg.inv(a)[0, 0]])


def in_a_loop(a: Any, k: Any) -> Any:
    total = a[0, 0] * 1.0
    for i in range(4):
        if k > i + 5:
            total += np.linalg.inv(a)[0, 0]
    return total


SHARED: list[Callable[..., Any]] = [inverted, factored, converted, by_cond, by_switch, in_a_loop]
FAILING = np.array([[np.nan, 0.0], [0.0, -1.0]])
ZEROS = np.zeros((2, 2))


@pytest.mark.parametrize("f", SHARED, ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_what_fails_for_all_does_not_where_no_problem_takes_it(f: Callable[..., Any], backend: str):
    batch = pliant.jit(pliant.vmap(f, in_axes=(None, 0)), backend=backend)
    failing = FAILING if f is converted else ZEROS
    np.testing.assert_array_equal(batch(failing, np.array([0, 3, 5])), [f(failing, 0)] * 3)
    with pytest.raises((ValueError, np.linalg.LinAlgError)):
        batch(failing, np.array([0, 6, 5]))


@pytest.mark.parametrize("f", SHARED, ids=lambda f: f.__name__)
def test_what_all_problems_share_under_conditions_of_their_own(f: Callable[..., Any]):
    a, ks = np.array([[2.0, 0.5], [0.5, 3.0]]), np.array([0, 7, 5, 9])
    np.testing.assert_allclose(pliant.vmap(f, in_axes=(None, 0))(a, ks), [f(a, int(k)) for k in ks])
    grads = pliant.vmap(pliant.grad(f), in_axes=(None, 0))(a, ks)
    np.testing.assert_allclose(grads, [pliant.grad(f)(a, k) for k in ks], atol=1e-12)


def test_loops_of_a_branch_that_none_or_some_or_all_problems_take():
    def f(x: Any, k: Any) -> Any:
        steps = 0.0
        if k > 5:
            while steps < k:
                steps += 1.0
                x = np.sin(x)
        return x.sum() + steps

    batch = pliant.vmap(f)
    for ks in ([0, 1, 2], [0, 8, 2], [9, 8, 7]):
        expected = [f(x, k) for x, k in zip(ROWS, ks, strict=False)]
        np.testing.assert_allclose(batch(ROWS[:3], np.array(ks)), expected, rtol=1e-12)


def sum_of_logarithms(a: Any, x: Any) -> Any:
    if x <= 0:
        return a * x
    total = a * 0.0
    for k in range(20):
        total += a * np.log(x) / (k + 1)
    return total


def roots_in_turn(a: Any, x: Any) -> Any:
    if x <= 0:
        return a * x
    for k in range(20):
        x = np.sqrt(x) * a + 0.01 * k
    return x


def squares_in_turn(a: Any, x: Any) -> Any:
    if x > 5:
        return a * x
    y = a * x
    for _ in range(20):
        y = y * y * 0.1 + a
    return y


def product_of_matrices(a: Any, x: Any) -> Any:
    if x <= 0:
        return a * x
    m = np.array([[np.sqrt(x), 0.1], [0.2, np.log(x) + 3]])
    return (m @ m @ np.array([a, 1.0])).sum()


def product_with_what_is_shared(a: Any, x: Any) -> Any:
    if x > 5:
        return a * x
    v = np.array([x, a * x, 1.0]) * np.exp(x * x)
    return ((np.outer(v, v) + a) @ v).max()


def solution(a: Any, x: Any) -> Any:
    if x <= 0:
        return a * x
    m = np.array([[np.sqrt(x), 0.1], [0.2, np.log(x) + 3]])
    return np.linalg.solve(m @ m.T, np.array([a, 1.0])).sum()


def growth(a: Any, x: Any) -> Any:
    if x <= 0:
        return a * x
    while x < 10:  # for ever, from 0
        x = x * 1.5 + np.sqrt(x) * a
    return x


def down_to_nothing(a: Any, x: Any) -> Any:
    total, x = a * x, np.floor(x)
    while x > 0:
        inner, k = a, 0.0
        while k < 2:
            inner, k = inner * np.log(x), k + 1  # no number where it has ended
        total, x = total + inner, x - 1
    return total


BEYOND: list[Callable[..., Any]] = [
    sum_of_logarithms, roots_in_turn, squares_in_turn, product_of_matrices, product_with_what_is_shared, solution, growth,
    down_to_nothing,
]  # fmt: skip


@pytest.mark.parametrize("xs", [[-3.0, 0.1, 6.0, -0.01, 0.0, 800.0], [-1.0, 0.0], [0.5, 2.0], []], ids=len)
@pytest.mark.parametrize("f", BEYOND, ids=lambda f: f.__name__)
def test_what_is_no_number_where_it_is_not_taken_spoils_no_derivative(f: Callable[..., Any], xs: list[float]):
    def loss(a: Any, xs: Any) -> Any:
        return np.sum(pliant.vmap(f, in_axes=(None, 0))(a, xs))

    a, rows = 0.9, np.array(xs)
    own = [pliant.grad(f, argnums=(0, 1))(a, x) for x in xs]
    over, each = pliant.grad(loss, argnums=(0, 1))(a, rows)
    np.testing.assert_allclose(over, sum([da for da, _ in own]), rtol=1e-10)
    np.testing.assert_allclose(each, [dx for _, dx in own], rtol=1e-10)
    np.testing.assert_allclose(loss(a, rows), sum([f(a, x) for x in xs]), rtol=1e-12)
    slope = pliant.jvp(loss, (a, rows), (1.0, np.ones(len(xs))))[1]
    np.testing.assert_allclose(slope, over + np.sum(each), rtol=1e-10)


def test_rows_that_are_masked_after_a_product_spoil_no_derivative():
    def loss(w: Any, x: Any) -> Any:
        return np.sum(np.where(np.isnan(x).any(axis=1)[:, None], 0.0, x @ w) ** 2)

    x, w = ROWS.copy(), np.random.default_rng(1).standard_normal((9, 4))
    x[[1, 4], [2, 0]] = np.nan
    kept = np.delete(x, [1, 4], axis=0)
    np.testing.assert_allclose(pliant.grad(loss)(w, x), 2 * kept.T @ (kept @ w), rtol=1e-12)


def by_either(m: Any, n: Any) -> Any:
    return m[:, None] | n[None, :]


def by_both(m: Any, n: Any) -> Any:
    return m[:, None] & n[None, :]


def by_choice(m: Any, n: Any) -> Any:
    return np.where(m[:, None], n[None, :], False)


def by_numbers(m: Any, n: Any) -> Any:
    return np.where(m[:, None], np.arange(4)[None, :], 0) < 2


def not_by_choice(m: Any, n: Any) -> Any:
    return ~np.where(m[:, None], n[None, :], False)


def unlike_both(m: Any, n: Any) -> Any:
    return (m[:, None] & n[None, :]) == False  # noqa: E712  (a comparison of masks)


@pytest.mark.parametrize("f", [by_either, by_both, by_choice, by_numbers, not_by_choice, unlike_both])
@pytest.mark.parametrize("is_kept", [True, False])
def test_masks_of_products_by_rows_and_columns(f: Callable[..., Any], *, is_kept: bool):
    x, w = ROWS, np.random.default_rng(1).standard_normal((9, 4))
    mask = f(x[:, 0] > 0, w[0] > 0)

    def loss(w: Any, x: Any) -> Any:
        product = x @ w
        return np.sum(np.where(mask, product, 0.0) if is_kept else np.where(mask, 0.0, product))

    ct = np.where(mask == is_kept, 1.0, 0.0)
    dw, dx = pliant.grad(loss, argnums=(0, 1))(w, x)
    np.testing.assert_allclose(dw, x.T @ ct, rtol=1e-12)
    np.testing.assert_allclose(dx, ct @ w.T, rtol=1e-12)


def test_rows_and_columns_that_are_masked_together_spoil_no_derivative():
    x = np.random.default_rng(2).standard_normal((6, 3))
    x[[0, 4], [1, 2]] = -3.0
    kept = (x > -2).all(axis=1)
    rest = x[kept]

    def loss(x: Any, kept: Any) -> Any:
        roots = np.sqrt(x + 2)
        return np.sum(np.where(kept[:, None] & kept[None, :], roots @ roots.T, 0.0))

    expected = np.zeros_like(x)
    expected[kept] = pliant.grad(loss)(rest, np.ones(len(rest), bool))
    np.testing.assert_allclose(pliant.grad(loss)(x, kept), expected, rtol=1e-12)
