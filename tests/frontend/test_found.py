"""Arrays of which it is known only at run time how many elements they have: what a mask selects, where a condition holds,
what is distinct. By themselves, changed further, returned, in loops; values, derivatives and batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pliant
from pliant.frontend.signature import flatten

Program = Callable[[Any], Any]

RESULTS: dict[str, Program] = {
    "mask": lambda x: x[x > 0],
    "mask changed": lambda x: x[x > 0] * 2 + 1,
    "two masks": lambda x: (x[x > 0], x[x < 1]),
    "mask of a mask": lambda x: x[x > 0][x[x > 0] < 2],
    "mask of a mask of another": lambda x: (x[x > 0] * 2)[np.sort(x[x > 0]) < 2],
    "sorted": lambda x: np.sort(x[x > 0]),
    "order": lambda x: np.argsort(x[x > 0], kind="stable"),
    "sorted back": lambda x: np.sort(x[x > 0])[::-1],
    "sums so far": lambda x: np.cumsum(x[x > 0]),
    "differences": lambda x: np.diff(x[x > 0]),
    "joined": lambda x: np.concatenate([x[x > 0], x[x < 0]]),
    "outer": lambda x: x[x > 0][:, None] - x[x < 0],
    "column": lambda x: x[x > 0].reshape(-1, 1),
    "isin": lambda x: np.isin(x[x > 0], [1, 2]),
    "clipped": lambda x: np.clip(x[x > 0], 0, 1),
    "a part of it": lambda x: x[x > 0][1:-1],
    "nonzero": lambda x: np.nonzero(x),
    "nonzero method": lambda x: (x > 0).nonzero(),
    "flatnonzero": lambda x: np.flatnonzero(x > 0),
    "where": lambda x: np.where(x > 0),
    "argwhere": lambda x: np.argwhere(x > 0),
    "elements found": lambda x: x[np.flatnonzero(x > 0)],
    "elements found by where": lambda x: x[np.where(x > 0)],
    "next to those found": lambda x: x[np.flatnonzero(x > 0) - 1],
    "found in the matrix": lambda x: np.nonzero(np.outer(x, x) > 1),
    "of the matrix": lambda x: np.outer(x, x)[np.nonzero(np.outer(x, x) > 1)],
    "of the matrix by a mask": lambda x: np.outer(x, x)[np.outer(x, x) > 1],
    "rows": lambda x: np.outer(x, x)[x > 0],
    "columns": lambda x: np.outer(x, x)[:, x > 0],
    "row sums": lambda x: np.outer(x, x)[x > 0].sum(1),
    "columns of rows found": lambda x: np.outer(x, x)[np.flatnonzero(x > 0)][:, np.flatnonzero(x < 1)],
    "grid of masks": lambda x: np.outer(x, x)[np.ix_(x > 0, x < 1)],
    "grid of places": lambda x: np.outer(x, x)[np.ix_(np.flatnonzero(x > 0), np.argsort(x)[:2])],
    "grid of three": lambda x: np.multiply.outer(np.outer(x, x), x)[np.ix_(x > 0, x < 1, x > -1)].sum(1),
    "eye": lambda x: np.eye(np.count_nonzero(x > 0)) @ x[x > 0],
    "eyes": lambda x: (np.eye(np.count_nonzero(x > 0), 3, -1, np.float32), np.eye(3, k=np.count_nonzero(x > 0) - 1)),
    "identity": lambda x: np.identity(np.count_nonzero(x > 0), int),
    "tri": lambda x: (np.tri(np.count_nonzero(x > 0)), np.tri(2, np.count_nonzero(x > 0), 1, bool)),
    "rows of the matrix": lambda x: np.argwhere(np.outer(x, x) > 1),
    "unique": lambda x: np.unique(x),
    "unique of some": lambda x: np.unique(x[x > 0]),
    "unique with all": lambda x: np.unique(x, return_index=True, return_inverse=True, return_counts=True),
    "unique of some with counts": lambda x: np.unique(x[x > 0], return_inverse=True, return_counts=True),
    "unique rows": lambda x: np.unique(np.stack([x > 0, x > 1, x > 0], 1), axis=0, return_counts=True),
    "unique rows with all": lambda x: np.unique(
        np.stack([x > 0, x > 1], 1) * 1, axis=0, return_index=True, return_inverse=True, return_counts=True
    ),
    "unique of a matrix": lambda x: np.unique(np.outer(x, x), return_inverse=True),
    "unique NaN": lambda x: np.unique(np.where(x > 1, np.nan, x), return_counts=True),
    "unique NaN each": lambda x: np.unique(np.where(x > 1, np.nan, x), equal_nan=False),
    "union": lambda x: np.union1d(x, x * 2),
    "both": lambda x: np.intersect1d(x, [0, 1, 2]),
    "either": lambda x: np.setxor1d(x, [0, 1, 7]),
    "without": lambda x: np.setdiff1d(x, [0, 1]),
    "trimmed": lambda x: np.trim_zeros(x),
    "trimmed in front": lambda x: np.trim_zeros(x, "f"),
    "compress": lambda x: np.compress(x > 0, x),
    "extract": lambda x: np.extract(x > 0, x),
    "slice": lambda x: x[: np.sum(x > 0)],
    "slice back": lambda x: x[: np.sum(x > 0)][::-1],
    "slice changed": lambda x: x[: np.sum(x > 0)] * 2,
    "columns found": lambda x: np.outer(x, x)[:, np.flatnonzero(x > 0)],
    "elements of columns found": lambda x: np.outer(x, x)[1:, np.flatnonzero(x > 0)].T,
    "found behind an axis": lambda x: np.stack([np.outer(x, x)] * 2)[:, *np.nonzero(np.outer(x, x) > 1)],
    "appended": lambda x: (np.append(x[x > 0], 1), np.append(x, x[x > 0]), np.hstack([x[x > 0], x])),
    "stacked": lambda x: (np.stack([x[x > 0], -x[x > 0]]), np.stack([x[x > 0], -x[x > 0]], axis=1)),
    "shifted": lambda x: (np.flatnonzero(x > 0) << 2, 64 >> np.flatnonzero(x > 0)[:3]),
    "parts of complex numbers": lambda x: ((x + 1j)[x > 0].real, (x - 2j)[x > 0].imag),
    "either of none": lambda x: (np.setxor1d(x[x > 99], x[x > 99]), np.setxor1d(x[x > 0], x[x < 2])),
    "a mask beside places": lambda x: np.outer(x, x)[x > 0, np.argsort(x)[x > 0]],
    "places beside a mask": lambda x: np.outer(x, x)[np.arange(len(x))[x < 0], x < 0] * 2,
    "a mask beside as many places": lambda x: np.multiply.outer(x, x - 1)[x > 0, np.flatnonzero(x > 0)],
    "places as one array": lambda x: np.append(np.where(x > 0), len(x)),
    "a number before places": lambda x: np.append(-1, np.nonzero(x > 0)),
    "the size of places": lambda x: np.size(np.where(x > 0)) + np.sum(np.nonzero(x > 0)),
    "without several": lambda x: (np.delete(x, np.where(x > 0)[0]), np.delete(np.where(x > 0)[0], np.where(x[x > 0] > 1)[0])),
    "without several columns": lambda x: np.delete(np.outer(x, x + 1), np.flatnonzero(x > 0), axis=1),
    "without a part": lambda x: (np.delete(x[x > 0], slice(0, 1)), np.delete(x[x > 0], slice(None, None, 2))),
    "without none": lambda x: (np.delete(x[x > 0], []), np.delete(x, np.flatnonzero(x > 99))),
    "without a mask": lambda x: np.delete(x[x > 0], x[x > 0] > 1),
    "in a dict": lambda x: {"y": x[x > 0], "k": [np.sum(x > 0)]},
}  # fmt: skip
VALUES: dict[str, Program] = {
    "squares": lambda x: (x[np.nonzero(x > 0)] ** 2).sum(),
    "pairs": lambda x: ((x[x > 0][:, None] - x[x > 0]) ** 2).sum(),
    "largest two": lambda x: np.sort(x[x > 0])[::-1][:2].sum(),
    "distinct": lambda x: np.sum(np.unique(x) ** 2),
    "dealt": lambda x: dealt(x) @ np.arange(len(x)),
    "sorted in place": lambda x: sorted_in_place(x) @ np.arange(len(x)),
    "loop": lambda x: sum([x[i] * i for i in np.flatnonzero(x > 0)]),
    "loop of pairs": lambda x: pairs(np.outer(x, x)),
    "products": lambda x: x[x > 0] @ np.cumsum(x[x > 0]),
    "steps": lambda x: steps(x),
    "grid": lambda x: grid(x),
}
LATER: dict[str, Program] = {
    "median": lambda x: np.median(x[x > 0]),
    "percentiles": lambda x: np.percentile(x[x > 0], [10, 50, 80]),
    "quantile": lambda x: np.quantile(x[x > 0], 0.3),
    "one of each row found": lambda x: np.outer(x, x)[np.flatnonzero(x > 0), 0],
    "medians of rows": lambda x: np.median(np.outer(x, x)[x > 0], axis=1, keepdims=True),
    "percentiles of rows": lambda x: np.percentile(np.outer(x, x)[x > 0], [10, 50], axis=1),
    "first": lambda x: np.flatnonzero(x > 0)[0],
    "last": lambda x: x[np.flatnonzero(x > 0)[-1]],
    "two of them": lambda x: x[x > 0][[0, -1]],
    "between": lambda x: x[np.where(x > 0)[0][0] : np.where(x > 0)[0][-1] + 1].sum(),
    "without the greatest": lambda x: np.delete(x, np.argmax(x)),
    "without the first and the last": lambda x: np.delete(x[x > 0], [0, -1]),
}
"""Those that need an element."""


def dealt(x: Any) -> Any:
    y = np.zeros_like(x)
    y[x > 0] = np.cumsum(x[x > 0])
    return y


def sorted_in_place(x: Any) -> Any:
    y = x.copy()
    y[y > 0] = np.sort(y[y > 0])[::-1]
    return y


def pairs(m: Any) -> Any:
    s = 0.0
    for i, j in zip(*np.nonzero(m > 0.5), strict=True):
        s += m[i, j] * (i - 2 * j)
    for i, j in np.argwhere(m < 0):
        s += m[i, j] * (i + j)
    return s


def steps(x: Any) -> Any:
    y = x.copy()
    for t in range(6):
        i = np.flatnonzero(y > 0.3 * t)
        if len(i) == 0:
            break
        y[i] -= 0.25 + 0.1 * y[i] ** 2
        y[np.where(y < -1)] *= 0.5
    return y.sum()


def inputs() -> list[Any]:
    rng = np.random.default_rng(5)
    whole = [rng.integers(-3, 4, n) for n in (1, 2, 7, 33)]
    made = [w.astype(dtype) for w in whole for dtype in (float, np.float32, np.int64, np.int8)]
    return [*made, np.zeros(0), np.zeros(5), np.ones(4), -np.ones(3), rng.normal(size=40)]


def check(f: Program, x: Any) -> None:
    wanted, given = flatten(f(x.copy())), flatten(pliant.jit(f)(x))
    assert given[1] == wanted[1]
    for y, z in zip(given[0], wanted[0], strict=True):
        assert type(y) is type(z)
        assert (np.shape(y), y.dtype) == (np.shape(z), z.dtype)
        assert_allclose(y, z, rtol=1e-6)


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_numpys(name: str) -> None:
    for x in inputs():
        check(RESULTS[name], x)


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_numpys_where_their_sizes_have_to_be_known(name: str) -> None:
    def f(x: Any) -> Any:
        made = RESULTS[name](x)
        for y in flatten(made)[0]:
            np.add.at(np.zeros(np.size(y) + 1), [0], 1.0)
        return made

    check(f, np.arange(-2.0, 5))


@pytest.mark.parametrize("name", LATER)
def test_what_needs_an_element_is_numpys(name: str) -> None:
    for x in inputs():
        if (x > 0).any():
            check(LATER[name], x)


def grid(x: Any) -> Any:
    m = np.outer(x, np.sin(x)) + np.eye(len(x))
    i, j = np.flatnonzero(x > 0), np.flatnonzero(x < 1)
    m[np.ix_(i, i)] *= 2.0
    m[i[:, None], j] += x[i][:, None] * x[j]
    m[np.ix_(j, [0])] = x[0]
    m[np.ix_(x > 0.5, x > 0.5)] = 0.5 * x[0]
    m[j[:, None], np.arange(len(x))] -= x
    m[np.array([[0], [-1]]), i] = 3.0 * x[i]
    return (m * np.cos(np.arange(m.size).reshape(m.shape))).sum()


@pytest.mark.parametrize("name", ["first", "last", "two of them", "without the greatest"])
def test_what_needs_an_element_raises_without(name: str) -> None:
    x = np.zeros(0) if name == "without the greatest" else -np.ones(4)
    with pytest.raises((IndexError, ValueError)) as plain:
        LATER[name](x)
    with pytest.raises(plain.type):
        pliant.jit(LATER[name])(x)


@pytest.mark.parametrize("name", VALUES)
def test_values_derivatives_and_batches(name: str) -> None:
    f, rng = VALUES[name], np.random.default_rng(3)
    for n in (1, 5, 12):
        x = rng.normal(size=n) * 2
        assert_allclose(pliant.jit(f)(x), f(x.copy()), rtol=1e-12)
        steps = np.eye(n) * 1e-6
        slopes = [(f(x + d) - f(x - d)) / 2e-6 for d in steps]
        assert_allclose(pliant.grad(f)(x), slopes, rtol=1e-6, atol=1e-6)
        xs = rng.normal(size=(3, n))
        assert_allclose(pliant.vmap(f)(xs), [f(row.copy()) for row in xs], rtol=1e-12)


def test_a_part_of_an_argument_is_a_view() -> None:
    x = np.arange(10.0)
    for f in (lambda x: x[: int(x[3])], lambda x: x[int(x[2]) : int(x[8]) : 3], lambda x: x[::-1][: int(x[4])]):
        part = pliant.jit(f)(x)
        assert np.shares_memory(part, x)
        assert_array_equal(part, f(x))


def test_a_few_elements_do_not_keep_the_memory_of_all() -> None:
    few = pliant.jit(lambda x: x[x > 3] * 2)(np.arange(1000.0) % 5)
    assert few.base is None or few.base.nbytes <= 2 * few.nbytes
    assert_array_equal(few, np.full(200, 8.0))


def test_writes_at_places_of_a_matrix() -> None:
    def f(m: Any) -> Any:
        m[np.nonzero(m > 1)] = -1.0
        m.T[np.nonzero(m.T == 0)] += 5.0
        return m

    m = np.outer(np.arange(-2.0, 4), np.arange(5.0))
    assert_array_equal(pliant.jit(f)(m.copy()), f(m.copy()))


def test_values_that_are_not_as_many_are_an_error() -> None:
    def f(x: Any) -> Any:
        x[x > 0] = x[x < 0]
        return x

    x = np.array([1.0, -1, 2, -3])
    assert_array_equal(pliant.jit(f)(x.copy()), f(x.copy()))
    with pytest.raises(ValueError, match="cannot assign"):
        f(np.array([1.0, 1, 2, -3, -4]))
    with pytest.raises(ValueError, match="cannot assign other input values than 3"):
        pliant.jit(f)(np.array([1.0, 1, 2, -3, -4]))


@pytest.mark.usefixtures("for_all_data")
@pytest.mark.parametrize("transform", [pliant.vmap, pliant.jacobian])
def test_results_inside_a_derivative_or_a_batch_are_refused(transform: Any) -> None:
    with pytest.raises(pliant.errors.UnsupportedError, match="inside a derivative or a batch"):
        transform(lambda x: x[x > 0] * 2)(np.ones((2, 3)) if transform is pliant.vmap else np.ones(3))


def test_out_of_unknown_shape_is_refused() -> None:
    with pytest.raises(pliant.errors.ArgumentError, match="known only after the call"):
        pliant.jit(lambda x: x[x > 0])(np.ones(3), out=np.ones(3))


def written(x: Any) -> Any:
    y = x[x > 0]
    z, last = y, y[1:]
    y += 1
    z[0] = 7
    last *= 2
    y[y > 5] -= y[0]
    return y, z, last


def written_in_a_loop(x: Any) -> Any:
    y = x[x > 0]
    for i in range(len(y)):
        y *= 1.5
        y[0] = i
        if y[-1] > 3:
            y[1:] -= 1
    return y


def written_in_a_function(x: Any) -> Any:
    def change(y: Any) -> None:
        y[[0, -1]] = y[-1] - y[0]
        y.sort()

    y = x[x > 0]
    change(y)
    return y, y.sum(), y * 2, y[::-1]


def written_by_out(x: Any) -> Any:
    y = x[x > 0]
    np.multiply(y, 3, out=y)
    np.exp(y[: len(y) // 2], out=y[: len(y) // 2])
    return y


def read_before_writes(x: Any) -> Any:
    mask = x > 0
    y, z = x[mask], x[mask][x[mask] < 2]
    mask[:], x[:] = False, 9
    y += 1
    return y, z, x[mask], x


def rows_written(x: Any) -> Any:
    m = np.outer(x, x)
    y, z = m[x > 0], m[:, x > 0]
    y -= y.sum(0)
    y[:, 0], z[:, 0] = 4, 5
    y[y > 3] = z[1, 0]
    return y, z, z.sum(1)


WRITES: dict[str, Program] = {
    f.__name__: f
    for f in (written, written_in_a_loop, written_in_a_function, written_by_out, read_before_writes, rows_written)
}


@pytest.mark.parametrize("name", WRITES)
def test_writes_to_what_is_selected_are_seen_under_all_its_names(name: str) -> None:
    f, rng = WRITES[name], np.random.default_rng(2)
    for n in (2, 7, 20):
        x = rng.normal(size=n) * 3
        x[0] = 1.5
        check(f, x)


def test_writes_to_what_is_selected_have_derivatives_and_batches() -> None:
    def f(x: Any) -> Any:
        y, z, last = written(x)
        return (y * np.cumsum(z)).sum() + last.sum() * written_in_a_loop(x).sum() + written_in_a_function(x)[1]

    x = np.array([1.03, -2.11, 3.27, 0.23, -5.4, 6.19, 0.57])
    slopes = [(f(x + d) - f(x - d)) / 2e-6 for d in np.eye(7) * 1e-6]
    assert_allclose(pliant.grad(f)(x), slopes, rtol=1e-6, atol=1e-6)
    xs = np.stack([x, x[::-1], x + 0.1])
    assert_allclose(pliant.vmap(f)(xs), [f(row.copy()) for row in xs], rtol=1e-12)


def test_rows_at_places_are_as_many_as_these() -> None:
    def f(m: Any, y: Any) -> Any:
        i = np.flatnonzero(m[:, 0] > 1)
        m[i] = m[i] * 2
        m[i] += m[0]
        m[:, i] = -1
        m[i, :] = y
        m[i, 0] = i
        return m

    m = np.arange(35.0).reshape(5, 7) - 8
    for y in (np.arange(7.0), np.ones((1, 7)), np.arange(21.0).reshape(3, 7)):
        check(lambda m, y=y: f(m, y), m)
    with pytest.raises(ValueError, match="differ"):
        pliant.jit(f)(m, np.zeros((4, 7)))


def test_what_is_selected_is_written_to_a_part_of_another_array() -> None:
    def f(x: Any) -> Any:
        y = np.zeros(5)
        y[:3] = x[x > 0]
        y[3:] = np.sort(x[x < 0])
        np.copyto(x[x > 9], y[:0])
        return y

    check(f, np.array([1.0, -1, 2, -3, 5]))
    with pytest.raises(ValueError, match="differ"):
        pliant.jit(f)(np.array([1.0, 1, 2, -3, 5]))


def test_whether_a_number_is_among_them() -> None:
    def f(x: Any) -> int:
        found = 0
        if 3 in x[x > 0]:
            found += 1
        if 2 not in np.flatnonzero(x > 0):
            found += 2
        return found

    for x in inputs():
        assert pliant.jit(f)(x) == f(x)


@pytest.mark.parametrize("x", [[0.0, -0.0], [-0.0, 0.0, 1.0, -1.0], [2.0, -0.0], [0.0, np.nan, -0.0]], ids=str)
def test_of_zeros_the_first_is_the_distinct_one(x: Any) -> None:
    made = pliant.jit(np.unique)(np.array(x))
    zero = next(z for z in x if z == 0)
    np.testing.assert_array_equal(made, np.unique(x))
    np.testing.assert_array_equal(np.signbit(made[made == 0]), np.signbit([zero]))


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1", "c16", "?"])
@pytest.mark.parametrize("count", [3, 48, 49, 500])
def test_elements_are_found_among_few_and_among_many(count: int, dtype: str) -> None:
    rng = np.random.default_rng(count)
    x, y = (rng.integers(0, 900, n).astype(dtype) for n in (200, count))
    if x.dtype.kind == "f":
        x[0] = y[0] = np.nan
    for invert in (False, True):
        made = pliant.jit(lambda x, y, invert=invert: np.isin(x, y, invert=invert))(x.reshape(20, 10), y)
        np.testing.assert_array_equal(made, np.isin(x.reshape(20, 10), y, invert=invert), strict=True)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "i8", "u8"])
@pytest.mark.parametrize("spread", [40, 2**7 - 1, 2**40, 2**63 - 1])
def test_integers_are_found_wherever_they_lie(spread: int, dtype: str) -> None:
    rng, info = np.random.default_rng(0), np.iinfo(dtype)
    least, most = max(info.min, -spread), min(info.max, spread)
    y = rng.integers(least, most, 300, endpoint=True).astype(dtype)
    for z in (y, y // 2 + np.array(info.max // 2, dtype), y // 2 + np.array(info.min // 2, dtype)):
        x = np.concatenate((z[::7], np.array([info.min, info.max, 0, 1], dtype), rng.permutation(y)[:90]))
        found = pliant.jit(np.isin)(x, z)
        np.testing.assert_array_equal(found, np.isin(x, z), strict=True)
        rows = pliant.vmap(np.isin)(np.stack([x, x + 1]), np.stack([z, z]))
        np.testing.assert_array_equal(rows, [np.isin(x, z), np.isin(x + 1, z)])


def test_a_first_axis_that_is_known_is_gone_over() -> None:
    def f(x: Any) -> Any:
        a, b = x[x[:, 0] > 2].T
        return (a * b).sum(), len(a), sum(row.max() for row in x[x[:, 0] > 2].T)

    x = np.arange(1.0, 9.0).reshape(4, 2)
    assert pliant.jit(f)(x) == f(x)
