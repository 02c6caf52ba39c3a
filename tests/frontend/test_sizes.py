"""Slices whose bounds are known only at run time: NumPy's values, exact derivatives, batches, clear errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pliant
from pliant.errors import IndexRangeError, PliantError, ShapeError, TracedValueError, UnsupportedError
from pliant.testing import check_gradient

RNG = np.random.default_rng(0)
N = 6
X, Y = RNG.uniform(0.5, 1.5, N), RNG.uniform(0.5, 1.5, N)
A, B = RNG.uniform(0.5, 1.5, (N, N)), RNG.uniform(0.5, 1.5, (N, N))

READS = {
    "sum": lambda x, a, k: np.sum(x[:k]),
    "sum from": lambda x, a, k: x[k:].sum(),
    "product": lambda x, a, k: np.prod(x[k:]),
    "method": lambda x, a, k: (x[:k] * 2 - 1).sum(),
    "quotient by a number outside": lambda x, a, k: np.sum(x[0] / x[:k] + 1 / x[:k] * x[1]),
    "roots": lambda x, a, k: np.sum(np.sqrt(x[k:]) / np.log(x[k:] + 1)),
    "flip": lambda x, a, k: np.sum(x[:k] * np.flip(x[:k]) * x[:k][::-1]),
    "steps": lambda x, a, k: np.sum(x[k::2]) + np.sum(x[:k:3]) + np.sum(x[k::-1]),
    "negative": lambda x, a, k: np.sum(x[-k:] * 2) + np.sum(x[:-k]),
    "slice of a slice": lambda x, a, k: np.sum(x[:k][1:]) + np.sum(x[1:][:k]) + np.sum(x[:k][:-1] * x[:k][1:]),
    "dot": lambda x, a, k: np.dot(x[:k], x[N - k :]) + x[:k] @ x[:k] + np.vdot(x[k:], x[k:]) + np.inner(x[:k], x[:k]),
    "row and column": lambda x, a, k: a[k - 1, :k] @ a[:k, 2],
    "matrix and vector": lambda x, a, k: np.sum(a[:, :k] @ x[:k]) + np.sum(x[:k] @ a[:k]) + np.sum(a[:k, :k] @ x[:k]),
    "matrices": lambda x, a, k: np.sum((a[:, :k] @ a[:k]) ** 2) + np.sum((a[:k, k:] @ a[k:, :k]) ** 2),
    "outer": lambda x, a, k: np.sum(np.outer(x[:k], 1 / x[k:]) ** 2) + np.sum(np.multiply.outer(x[:k], x[:k])),
    "einsum": lambda x, a, k: np.sum(np.einsum("ij,j->i", a[k:, :k], x[:k]) ** 2),
    "broadcast": lambda x, a, k: np.sum(x[:k, None] / a[:k] + a[0] / a[:k]),
    "axis": lambda x, a, k: np.sum(a[:k].sum(axis=0) ** 2) + np.sum(1 / a[:k].sum(axis=1)) + a[:k].sum(1, keepdims=True).sum(),
    "where": lambda x, a, k: np.sum(np.where(x[:k] > 1, x[:k], 1 / x[:k])) + np.sum(np.clip(x[:k], 0.8, 1.2)),
    "cumsum": lambda x, a, k: np.sum(1 / np.cumsum(x[:k])) + np.sum(np.cumprod(x[:k])),
    "roll": lambda x, a, k: np.sum(np.roll(x[:k], 1) / x[:k] + np.roll(x[:k], -3) * x[0]) + np.sum(
        np.roll(a[:3, :k], -1, 1) * a[:3, :k] + np.roll(a[:3, :k], 1, axis=0) / a[:3, :k]
    ),
    "diff": lambda x, a, k: np.sum(np.diff(x[:k]) ** 2),
    "concatenate": lambda x, a, k: np.sum(np.concatenate([x[k:], x[:k]]) * x),
    "concatenate longer": lambda x, a, k: np.sum(np.concatenate([x[k:], x[:3], x[:k]])[k:] ** 2),
    "norm": lambda x, a, k: np.linalg.norm(x[: k + 1]) + np.linalg.norm(x[:k], np.inf),
    "like": lambda x, a, k: np.sum((np.zeros_like(x[:k]) + x[:k]) * np.ones_like(x[:k])) + x[:k].copy().sum(),
    "transpose": lambda x, a, k: np.sum(a[:k].T[1] * a[:k, 1]) + np.sum(np.transpose(a[k:]) @ a[k:, 0]),
    "extent": lambda x, a, k: x[:k].shape[0] * x[0] + x[:k].size * np.sum(x[: x[k:].shape[0]]),
    "integers": lambda x, a, k: np.sum(np.arange(N)[:k] * x[:k]) + np.sum((np.arange(N) > 2)[:k]),
}  # fmt: skip

NOT_EMPTY = {
    "mean": lambda x, a, k: np.mean(x[:k]) + x[:k].mean() + np.sum(np.mean(a[:k], axis=0) ** 2),
    "spread": lambda x, a, k: np.var(x[:k]) + a[:k].std() + np.ptp(x[:k]),
    "extrema": lambda x, a, k: x[:k].max() * np.min(x[:k]) + np.sum(a[:k].max(axis=1)) + np.max(-x[:k]),
    "places": lambda x, a, k: x[np.argmax(x[:k])] + x[np.argmin(x[:k])] * 2,
    "elements": lambda x, a, k: x[:k][0] + x[:k][-1] + a[:k][k - 1, 0],
}


@pytest.mark.parametrize("name", [*READS, *NOT_EMPTY])
@pytest.mark.parametrize("backend", ["reference", "llvm"])
def test_values_are_numpys_for_every_length(name: str, backend: str) -> None:
    f = (READS | NOT_EMPTY)[name]
    compiled = pliant.jit(f, backend=backend)
    for k in range(name in NOT_EMPTY, N + 1):
        with np.errstate(all="ignore"):
            wanted = f(X, A, k) if not (name == "row and column" and k == 0) else None
        if wanted is not None:
            got = compiled(X, A, k)
            assert np.asarray(got).dtype == np.asarray(wanted).dtype
            assert_allclose(got, wanted, rtol=1e-12)


def check_slopes(f: Any, gradient: Any, xs: tuple[Any, Any], k: int) -> None:
    """The gradient with respect to both arrays, each along a direction, against differences."""
    found = gradient(*xs, k)
    for place in range(2):
        d, step = RNG.normal(size=xs[place].shape), 1e-6
        ends = [f(*(x + s * step * d if n == place else x for n, x in enumerate(xs)), k) for s in (1, -1)]
        assert_allclose(np.sum(found[place] * d), (ends[0] - ends[1]) / (2 * step), rtol=2e-5, atol=1e-7)


@pytest.mark.parametrize("name", [*READS, *NOT_EMPTY])
def test_gradients_are_those_of_differences(name: str) -> None:
    f = (READS | NOT_EMPTY)[name]
    gradient = pliant.grad(f, argnums=(0, 1))
    for k in (1, 3, N):
        check_slopes(f, gradient, (X, A), k)


@pytest.mark.parametrize("name", [*READS, *NOT_EMPTY])
def test_a_batch_of_lengths_is_a_loop_over_them(name: str) -> None:
    f = (READS | NOT_EMPTY)[name]
    lengths = np.arange(1, N + 1)
    got = pliant.vmap(f, in_axes=(None, None, 0))(X, A, lengths)
    assert_allclose(got, [f(X, A, int(k)) for k in lengths], rtol=1e-12)
    xs = RNG.uniform(0.5, 1.5, (len(lengths), N))
    slopes = pliant.vmap(pliant.grad(f), in_axes=(0, None, 0))(xs, A, lengths)
    single = pliant.grad(f)
    assert_allclose(slopes, [single(x, A, k) for x, k in zip(xs, lengths, strict=True)], rtol=1e-9)


def set_part(x: Any, y: Any, k: Any) -> None:
    x[:k] = y[:k] * 2


def add_flipped(x: Any, y: Any, k: Any) -> None:
    x[:k] += 3 * np.flip(x[:k])


def shift(x: Any, y: Any, k: Any) -> None:
    x[1:k] = x[: k - 1]


def shift_down(x: Any, y: Any, k: Any) -> None:
    x[: N - 1 - k] = x[k : N - 1]


def divide(x: Any, y: Any, k: Any) -> None:
    x[k:] /= y[0]


def fill(x: Any, y: Any, k: Any) -> None:
    x[k:][1:] = 7
    x[:k].fill(y[1])


def view(x: Any, y: Any, k: Any) -> None:
    part = x[k:]
    part *= part
    part[::-1][:1] -= 5


def out(x: Any, y: Any, k: Any) -> None:
    np.multiply(x[:k], y[:k], out=x[:k])


WRITES = (set_part, add_flipped, shift, shift_down, divide, fill, view, out)


@pytest.mark.parametrize("f", WRITES)
@pytest.mark.parametrize("backend", ["reference", "llvm"])
def test_writes_are_numpys_for_every_length(f: Any, backend: str) -> None:
    compiled = pliant.jit(f, backend=backend)
    for k in range(1, N):
        wanted, got = X.copy(), X.copy()
        f(wanted, Y, k)
        compiled(got, Y, k)
        assert_allclose(got, wanted, rtol=1e-13)


@pytest.mark.parametrize("f", WRITES)
def test_gradients_of_writes_are_those_of_differences(f: Any) -> None:
    def loss(x: Any, y: Any, k: Any) -> Any:
        x = x.copy()
        f(x, y, k)
        return np.sum(x * x * np.arange(1, N + 1))

    gradient = pliant.grad(loss, argnums=(0, 1))
    for k in range(1, N):
        check_slopes(loss, gradient, (X, Y), k)


def lu(a: Any) -> Any:
    def step(k: Any, a: Any) -> Any:
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
        return a

    return pliant.fori_loop(0, a.shape[0], step, a.copy())


def cholesky(a: Any) -> Any:
    a = a @ a.T

    def row(i: Any, a: Any) -> Any:
        def column(j: Any, a: Any) -> Any:
            a[i, j] = (a[i, j] - np.dot(a[i, :j], a[j, :j])) / a[j, j]
            return a

        a = pliant.fori_loop(0, i, column, a, max_steps=a.shape[0])
        a[i, i] = np.sqrt(a[i, i] - a[i, :i] @ a[i, :i])
        return a

    return pliant.fori_loop(0, a.shape[0], row, a)


def trisolv(a: Any) -> Any:
    def step(i: Any, x: Any) -> Any:
        x[i] = (a[0, i] - a[i, :i] @ x[:i]) / a[i, i]
        return x

    return pliant.fori_loop(0, a.shape[0], step, np.zeros(a.shape[0]))


def trmm(a: Any) -> Any:
    def step(i: Any, b: Any) -> Any:
        b[i] += a[i + 1 :, i] @ b[i + 1 :]
        return b

    return pliant.fori_loop(0, a.shape[0], step, 2 * a)


def durbin(a: Any) -> Any:
    r = a[0]

    def step(k: Any, state: Any) -> Any:
        y, alpha, beta = state
        beta *= 1 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
        return y, alpha, beta

    y = np.zeros(r.shape[0])
    y[0] = -r[0]
    return pliant.fori_loop(1, r.shape[0], step, (y, -r[0], 1.0))[0]


def gramschmidt(a: Any) -> Any:
    q = np.zeros_like(a)

    def step(k: Any, state: Any) -> Any:
        a, q = state
        q[:, k] = a[:, k] / np.sqrt(a[:, k] @ a[:, k])
        a[:, k + 1 :] -= np.outer(q[:, k], q[:, k] @ a[:, k + 1 :])
        return a, q

    return pliant.fori_loop(0, a.shape[0], step, (a.copy(), q))[1]


def lu_by_rows(a: Any) -> Any:
    a = a.copy()
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, a.shape[0]):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return a


def symmetric_update(a: Any) -> Any:
    c = np.zeros_like(a)
    for i in range(a.shape[0]):
        c[i, : i + 1] *= 0.5
        for k in range(a.shape[1]):
            c[i, : i + 1] += 1.5 * a[i, k] * a[: i + 1, k]
    return c


def means_so_far(a: Any) -> Any:
    made = np.zeros(a.shape[0])
    for k in range(1, a.shape[0] + 1):
        head = a[:k, 0]
        made[k - 1] = head.mean() + head.max() * np.sqrt(np.sum((head - np.mean(head)) ** 2) + 1)
    return made


LOOPS = (lu, cholesky, trisolv, trmm, durbin, gramschmidt, lu_by_rows, symmetric_update, means_so_far)


@pytest.mark.parametrize("f", LOOPS)
@pytest.mark.parametrize("n", [1, 2, 5])
def test_triangular_loops(f: Any, n: int) -> None:
    a = RNG.uniform(0.2, 0.4, (n, n)) + np.eye(n)
    for backend in ("reference", "llvm"):
        assert_allclose(pliant.jit(f, backend=backend)(a), f(a), rtol=1e-12, atol=1e-14)
    check_gradient(lambda a: np.sum(np.sin(f(a))), a)


def last_part(x: Any) -> Any:
    part = x[:1]
    for k in range(6):
        part = x[:k]
    return part.sum()


def parts_of_a_step(x: Any, n: Any) -> Any:
    total = 0.0
    for k in range(n):
        part = x[:k]
        total = total + (part * 2).sum()
    return total


def last_part_of_many(x: Any, n: Any) -> Any:
    part = x[:1]
    for k in range(n):
        part = x[:k]
    return part.sum()


@pytest.mark.usefixtures("for_all_data")
def test_names_of_parts_in_loops() -> None:
    assert_allclose(pliant.jit(last_part)(X), last_part(X))
    assert_allclose(pliant.jit(parts_of_a_step)(X, 5), parts_of_a_step(X, 5))
    check_gradient(last_part, X)
    with pytest.raises(UnsupportedError, match="part may have more elements after a step"):
        pliant.jit(last_part_of_many)(X, np.array(4))


def test_a_window_of_known_length_is_a_view_like_any_other() -> None:
    def f(x: Any, k: Any) -> Any:
        x[k : k + 2] += 1
        return x[k + 1 : k + 4] * np.array([1.0, 2, 3])

    for k in range(3):
        wanted, got = X.copy(), X.copy()
        assert_allclose(pliant.jit(f)(got, k), f(wanted, k))
        assert_allclose(got, wanted)


@pytest.mark.parametrize("k", [4, -1])
@pytest.mark.parametrize("is_returned", [False, True])
def test_a_window_of_known_length_that_leaves_the_array_says_what_numpy_would_do(k: int, is_returned: bool) -> None:
    def f(x: Any, k: Any) -> Any:
        part = x[k : k + 3]
        return part if is_returned else np.sum(part)

    with pytest.raises(IndexRangeError, match=f"a slice of 3 elements that starts at {k} leaves axis 0") as error:
        pliant.jit(f)(X, k)
    assert "in f: this slice" in str(error.value)
    assert "part = x[k : k + 3]\n             ^^^^^^^^^^^^" in str(error.value)
    assert "NumPy's slice would be shorter" in str(error.value)
    assert "k = np.clip(k, 0, 3)" in str(error.value)


EXTREMA = {
    "max": lambda x, k: np.max(x[:k]),
    "min": lambda x, k: x[:k].min(),
    "argmax": lambda x, k: np.argmax(x[:k]),
    "argmin of rows": lambda x, k: np.outer(x, x)[:k].argmin(axis=0),
    "ptp": lambda x, k: np.ptp(x[:k]),
    "ufunc": lambda x, k: np.maximum.reduce(x[:k]),
}


@pytest.mark.parametrize("f", EXTREMA.values(), ids=EXTREMA.keys())
def test_an_extremum_of_no_elements_raises_what_numpy_raises(f: Any) -> None:
    x, made = np.array([2.0, 1.0, 3.0]), pliant.jit(f)
    np.testing.assert_array_equal(made(x, 2), f(x, 2))
    with pytest.raises(ValueError, match=r"empty sequence|zero-size array") as expected:
        f(x, 0)
    with pytest.raises(ValueError, match=str(expected.value)):
        made(x, 0)
    np.testing.assert_array_equal(made(x, 3), f(x, 3))


def test_an_element_beyond_the_length_is_an_error() -> None:
    f = pliant.jit(lambda x, k, i: x[:k][i])
    assert f(X, 3, 2) == X[2]
    assert f(X, 3, -1) == X[2]
    with pytest.raises(IndexRangeError, match="out of range"):
        f(X, 3, 3)


def test_extents_that_agree_at_run_time_are_fine() -> None:
    f = pliant.jit(lambda x, y, k, m: np.sum(x[:k] * y[m:]))
    assert_allclose(f(X, Y, 2, 4), X[:2] @ Y[4:])
    with pytest.raises(ShapeError, match="differ"):
        f(X, Y, 2, 3)


ERRORS = [
    (lambda x, y, k: x[:k] + y, ShapeError, "do not fit together(?s:.*)an extent that is 1 only at run time"),
    (lambda x, y, k: np.sum(x[:k] * y[k + 1 :]), ShapeError, "known only at run time, differ"),
    (
        lambda x, y, k: pliant.vmap(lambda v: v[:k])(np.stack([x, y])),
        UnsupportedError,
        "inside a derivative or a batch",
    ),
    (lambda x, y, k: x[:k, None], UnsupportedError, "shares its memory with others"),
    (lambda x, y, k: bool(x[:k]), TracedValueError, "a bool"),
    (lambda x, y, k: iter(x[:k]), UnsupportedError, "iteration"),
    (lambda x, y, k: np.unwrap(x[:k]), UnsupportedError, "np.unwrap"),
    (lambda x, y, k: x[:k].reshape(2, -1), UnsupportedError, "reshape"),
    (lambda x, y, k: x[: np.sum(y)], PliantError, "must be integers"),
    (lambda x, y, k: x[:k, None][np.array([0, 1]), 0], UnsupportedError, "by an array beside other indices"),
]


@pytest.mark.usefixtures("for_all_data")
@pytest.mark.parametrize(("f", "kind", "text"), ERRORS)
def test_what_needs_the_length_is_refused(f: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        pliant.jit(f)(X, Y, np.array(3))  # an integer of Python would be known


@pytest.mark.parametrize("whole", [int, math.trunc, lambda v: v.astype(int)])
def test_a_number_without_its_fraction_may_be_more_than_what_bounds_it(whole: Any):
    def f(x: Any) -> Any:
        return np.arange(5.0)[: whole(np.minimum(x[0], -0.5))].sum()

    for value in (-0.7, -1.5, 3.0):
        assert pliant.jit(f)(np.array([value])) == f(np.array([value]))
