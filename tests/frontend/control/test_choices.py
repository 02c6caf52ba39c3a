"""Names that may be bound to one array, or to one of several, in loops that write to them."""

import numpy as np
import optree
import pytest

import pliant
from pliant.errors import ReadOnlyError, UnsupportedError

NOISE = np.random.default_rng(3).normal(size=(10, 3))
X = np.array([0.3, 0.7, -0.9])


def two_names_of_a_new_array(x, noise):
    z, s = x * 2, 0.0
    y = x * 1.0
    for _ in range(10):
        z[0] += 1.0
        s += y[0]
        z = z * 0.5
        y = z
    return s, y, z


def two_names_before(x, noise):
    a = b = x
    s = 0.0
    for i in range(10):
        if noise[i, 0] > 0:
            a = a * 0.5
        if noise[i, 1] > 0:
            b = b * 0.5
        a[0] += 1
        s += b[0]
    return s, a, b


def a_row_that_is_read(x, noise):
    rows, s = np.outer(x, x), 0.0
    row = rows[1]
    for i in range(10):
        if noise[i, 0] > 0.5:
            row = row * 0.5
        row[0] += 1
        s += rows[1, 0]
    return s, row, rows


def best_that_is_written_with_x(x, noise):
    x = x.copy()
    best, f = x, 9.0
    for i in range(10):
        if noise[i, 1] > 0.3:
            x = x * 0.5
        x[0] += noise[i, 0]
        if x[0] < f:
            best = x
            f = x[0]
    return best, x


def exchanged_by_a_condition(x, noise):
    a, b = x.copy(), x * 2
    for i in range(10):
        if noise[i, 0] > 0:
            a, b = b, a
        a[0] += 1
        b[1] *= 0.5
    return a, b


def appended_and_written(x, noise):
    x, out = x.copy(), []
    for i in range(10):
        if noise[i, 0] > 0:
            x = x * 0.5
        x[0] += 1
        out.append(x)
    return np.array(out)


def cut_and_written(x, noise):
    y = x
    for i in range(4):
        if noise[i, 0] > 0.5:
            y = y[y > y.min()]
    y[0] = 50.0
    return y.sum(), y.size


def written_and_cut(x, noise):
    y = np.repeat(x, 3)
    z = y
    for _ in range(4):
        y[0] = y[0] + 1
        y = y[y > y.min()]
    return z, y.sum()


def parts_of_parts(x, noise):
    y = np.repeat(x, 3)
    z, k = y, int(noise[0, 0] > 9)
    for _ in range(2):
        y = y[k : y.size - 1]
    y[0] = 7.0
    return z


def former_array_of_another_name(x, noise):
    y, z = x.copy(), x * 3
    for i in range(6):
        x = z + 0.1
        if noise[i, 0] > 0:
            y = z = x * 0.7
        else:
            x, z = z, x
    y[2] = -3.0
    return y, x


def what_the_caller_has_after_the_first_step(x, noise):
    y = z = x * 1
    s = 0.0
    for i in range(6):
        y[0] *= 0.9
        y = x
        x = y * 0.5
        s += y[1]
        if noise[i, 0] > 0.3:
            break
    y[2] = -3.0
    return x, y, z, s


ALIASES = [
    two_names_of_a_new_array, two_names_before, a_row_that_is_read, best_that_is_written_with_x, exchanged_by_a_condition,
    appended_and_written, cut_and_written, written_and_cut, parts_of_parts,
    former_array_of_another_name, what_the_caller_has_after_the_first_step,
]  # fmt: skip


@pytest.mark.parametrize("turn", [1.0, -1.0])
@pytest.mark.parametrize("f", ALIASES, ids=lambda f: f.__name__)
def test_a_write_is_seen_by_all_names_of_the_array_and_by_no_other(f, turn):
    x, y, noise = X.copy(), X.copy(), turn * NOISE
    expected, got = f(x, noise), pliant.jit(f)(y, noise)
    for a, b in zip(optree.tree_leaves((expected, x)), optree.tree_leaves((got, y)), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-12)


def test_the_results_of_a_loop_are_one_array_where_its_names_were():
    def f(x, noise):
        best = x
        for i in range(10):
            x = x + noise[i]
            if x[0] < best[0]:
                best = x
        return x, best

    x = np.zeros(3)
    falling = -np.ones((10, 3))
    last, best = pliant.jit(f)(x, falling)
    assert last is best
    last, best = pliant.jit(f)(x, -falling)
    assert best is x
    assert last is not x


def test_samples_that_may_be_one_array_are_written_as_one():
    def f(x, u):
        x, out = x * 1.0, []
        for i in range(8):
            if u[i, 0] > 0:
                x = x + u[i]
            out.append(x)
        out[2][0] = 1.0
        return np.array(out)

    np.testing.assert_array_equal(pliant.jit(f)(X, NOISE), f(X, NOISE))


@pytest.mark.usefixtures("for_all_data")
def test_an_array_that_may_get_longer_in_a_loop_that_cannot_be_unrolled_is_refused_with_its_line():
    def f(x):
        y = x[x > 0]
        while y.sum() < 10:
            y = np.append(y, y.max())
        return y.size

    with pytest.raises(UnsupportedError, match="y may have more elements after a step than before it") as info:
        pliant.jit(f)(X)
    assert "while y.sum() < 10" in str(info.value)
    assert "for _ in range(most), and a break" in str(info.value)


@pytest.mark.parametrize("given", [X, -X, np.repeat(X, 5)])
def test_what_gets_shorter_until_a_condition_holds_may_be_returned(given):
    def f(x):
        y = x
        while True:
            keep = np.abs(y - y.mean()) <= 1.2 * y.std()
            if keep.all():
                return y
            y = y[keep]

    np.testing.assert_allclose(pliant.jit(f)(given), f(given))


def test_a_search_that_returns_what_it_found_is_a_loop():
    def f(a):
        r = np.ones(4) / 4
        for _ in range(100):
            new = 0.1 + 0.5 * (a @ r)
            if np.abs(new - r).sum() < 1e-6:
                return new
            r = new
        return r

    a = np.abs(np.random.default_rng(0).normal(size=(4, 4)))
    a /= a.sum(0)
    np.testing.assert_allclose(pliant.jit(f)(a), f(a))
    assert "unrolled" not in str(pliant.explain(f, a))


@pytest.mark.usefixtures("for_all_data")
def test_a_write_to_one_of_two_arrays_that_a_loop_has_copied_is_refused_with_its_line():
    def f(x, u):
        x = x.copy()
        y, z, s, i = x, x, 0.0, 0
        while s < 50 and i < 6:
            if x[0] > s:
                s += y[0]
            else:
                x = y * 0.5
            z = x.copy()
            if u[i] > 0:
                y = z = x * 0.7
            if u[i] > 1:
                y = z
            if u[i] > 0:
                x = y * 0.5
            i += 1
        y[2] = -3.0
        z[0] += 1
        return x, y, s

    with pytest.raises(ReadOnlyError, match="a loop or a branch has copied this array") as info:
        pliant.jit(f)(X, NOISE[:, 0])
    assert "y[2] = -3.0" in str(info.value)
