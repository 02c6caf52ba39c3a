"""Dicts of numbers as keys, read and written at a key that is known only at run time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import TracedValueError, UnboundError, UnsupportedError

HELD = {4: np.ones(2), 2: np.arange(2.0)}


def made_here(n: Any, x: Any) -> Any:
    return {1: x, 0: 2 * x}[n]


def outside(n: Any, x: Any) -> Any:
    return HELD[2 * n + 2] * x


def by_floats(n: Any, x: Any) -> Any:
    return {0.5: 3.0, 1.5: x}[n + 0.5]


def functions(n: Any, x: Any) -> Any:
    return {0: np.sin, 1: np.cos}[n](x)


def in_a_loop(n: Any, x: Any) -> Any:
    rates = {0: x, 1: x * x}
    total = 0.0
    for i in range(50):
        total += rates[i % 2] * x + {3: 1.0, 5: x}[3 + 2 * n]
    return total


def with_a_default(n: Any, x: Any) -> Any:
    return {0: x, 5: 2 * x}.get(n, 7.0) + HELD.get(n, x)[0] if x.ndim else {0: x, 5: 2 * x}.get(n, 7.0)


def under_a_condition(n: Any, x: Any) -> Any:
    return {0: x, 1: 2 * x}[n] if n < 2 else 0.0 * x


PROGRAMS: list[Callable[[Any, Any], Any]] = [
    made_here, outside, by_floats, functions, in_a_loop, with_a_default, under_a_condition
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_as_python(f: Callable[[Any, Any], Any]):
    x = np.float64(1.25)
    for n in (0, 1):
        np.testing.assert_allclose(pliant.jit(f)(n, x), f(n, x), rtol=1e-14)
        step = 1e-6
        wanted = (np.sum(f(n, x + step)) - np.sum(f(n, x - step))) / (2 * step)
        np.testing.assert_allclose(pliant.grad(lambda n, x: np.sum(f(n, x)), argnums=1)(n, x), wanted, rtol=1e-7)
    np.testing.assert_allclose(
        pliant.vmap(lambda n: f(n, x))(np.array([0, 1, 1])), np.stack([f(0, x), f(1, x), f(1, x)]), rtol=1e-14
    )


def test_a_changed_dict_is_seen():
    rates = {1: 2.0, 3: np.ones(2)[0]}
    f = pliant.jit(lambda n: rates[n])
    assert (f(1), f(3)) == (2.0, 1.0)
    rates[3] = np.float64(5.0)
    rates[7] = 6.0
    assert (f(3), f(7)) == (5.0, 6.0)


def test_a_missing_key_is_pythons_error():
    for f in (made_here, outside, by_floats, in_a_loop):
        with pytest.raises(KeyError):
            pliant.jit(f)(6, 1.5)
    assert pliant.jit(under_a_condition)(6, 1.5) == 0.0
    assert pliant.jit(with_a_default)(6, np.float64(1.5)) == 7.0


def test_keys_of_other_kinds_are_refused():
    def f(n: Any) -> Any:
        return {"a": 1}[n]

    with pytest.raises(TracedValueError, match="Python needs a key here"):
        pliant.jit(f)(1.0)
    with pytest.raises(KeyError):  # an integer is known where it has to be
        pliant.jit(f)(1)


def sums_by_key(k: Any, x: Any) -> Any:
    sums = {10: 0.0, 20: x[0], 30: 1.0}
    for i in range(len(k)):
        sums[k[i]] = sums[k[i]] * 0.5 + x[i] ** 2
    return sums[10] + 2 * sums[20] * sums[30]


def counted(k: Any, x: Any) -> Any:
    counts = dict.fromkeys((10, 20, 30), 0)
    for i in range(len(k)):
        counts[k[i]] += 1
    return np.array(list(counts.values())) * x[0]


def one_write(k: Any, x: Any) -> Any:
    rows = {10: x, 20: 2 * x, 30: x**2}
    rows[k[0]] = rows[k[1]] * x
    return rows[10] + rows[20] * rows[30]


def looked_for(k: Any, x: Any) -> Any:
    total, weights = 0.0, {10: 1.0, 30: x[1]}
    for i in range(len(k)):
        if k[i] in weights:
            total += weights[k[i]] * x[i]
        if k[i] not in weights.keys() and k[i] in {20, 40}:  # noqa: SIM118
            total -= x[i] ** 2
    return total


KEYS = np.array([10, 30, 20, 20, 10, 30])
WRITES: list[Callable[[Any, Any], Any]] = [sums_by_key, counted, one_write, looked_for]


@pytest.mark.parametrize("f", WRITES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_writes_and_tests_at_a_key_of_run_time_are_pythons(f: Callable[[Any, Any], Any], backend: str):
    for dtype in (np.float64, np.float32):
        x = np.linspace(0.5, 2.0, 6).astype(dtype)
        for keys in (KEYS, KEYS[::-1].copy()):
            want = f(keys, x)
            got = pliant.jit(f, backend=backend)(keys, x)
            np.testing.assert_allclose(got, want, rtol=1e-6 if dtype is np.float32 else 1e-14)


@pytest.mark.parametrize("f", WRITES, ids=lambda f: f.__name__)
def test_their_derivatives_and_batches(f: Callable[[Any, Any], Any]):
    def loss(keys: Any, x: Any) -> Any:
        return np.sum(f(keys, x) ** 2)

    x, steps = np.linspace(0.5, 2.0, 6), 1e-6 * np.eye(6)
    wanted = [(loss(KEYS, x + d) - loss(KEYS, x - d)) / 2e-6 for d in steps]
    np.testing.assert_allclose(pliant.grad(loss, 1)(KEYS, x), wanted, rtol=1e-6, atol=1e-6)
    keys, xs = np.stack([KEYS, KEYS[::-1]]), np.stack([x, 2 * x])
    np.testing.assert_allclose(pliant.vmap(f)(keys, xs), [f(k, y) for k, y in zip(keys, xs, strict=True)])
    rows = [pliant.grad(loss, 1)(k, y) for k, y in zip(keys, xs, strict=True)]
    np.testing.assert_allclose(pliant.vmap(pliant.grad(loss, 1))(keys, xs), rows)


def test_a_new_key_of_run_time_is_refused():
    def f(k: Any, x: Any) -> Any:
        found = {1: 0.0, 2: 0.0}
        found[k[0]] = x
        return found[1]

    assert pliant.jit(f)(np.array([1]), 3.0) == 3.0
    with pytest.raises(UnsupportedError, match="gets a new key that is known only at run time: it has 1, 2") as error:
        pliant.jit(f)(np.array([3]), 3.0)
    assert "found[k[0]] = x" in str(error.value)


@pytest.mark.parametrize("first", [1.0, np.array([3])], ids=["known", "traced"])
def test_what_a_container_outside_holds_is_looked_at_again(first: Any):
    table, items, some = {1: 0.0}, [1], {1}

    def f(x: Any) -> Any:
        key = x[0] if isinstance(x, np.ndarray) else 3
        return (key in table) + 10 * (key in items) + 100 * (key in some)

    compiled = pliant.jit(f)
    for change in (lambda: None, lambda: table.update({3: 1.0}), lambda: items.append(3), lambda: some.add(3)):
        change()
        assert [compiled(first) for _ in range(3)] == [f(first)] * 3
    some.remove(3)
    some.add(4)  # as many elements
    assert [compiled(first) for _ in range(3)] == [f(first)] * 3


def counted(x: Any) -> Any:
    counts = Counter()
    for v in x:
        counts["positive" if v > 0 else "negative"] += 1
    return counts["positive"] * x[0]


def asked_for(x: Any) -> Any:
    return x[0] if ("a" if x[0] > 0 else "b") in {"a": 1.0} else x[1]


def read_or_else(x: Any) -> Any:
    return {"a": x[0], "b": x[1]}.get("a" if x[0] > 0 else "b", 0.0)


def among_others(x: Any) -> Any:
    found = set()
    found.add("a" if x[0] > 0 else "b")
    return len(found) * x[0]


def written(x: Any) -> Any:
    table, key = {"a": 0.0, "b": 1.0}, "a" if x[0] > 0 else "b"
    table[key] = x[1]
    table["b" if x[1] > 0 else "a"] *= x[0]
    return table["a"] * 2 + table["b"]


@pytest.mark.parametrize("f", [counted, read_or_else, written], ids=lambda f: f.__name__)
def test_a_key_that_is_one_of_two_texts(f: Any) -> None:
    for x in (np.array([1.0, -2.0, 3.0]), np.array([-1.0, 2.0, 3.0]), np.array([-1.0, -2.0, -3.0])):
        assert pliant.jit(f)(x) == f(x)
        wanted = [(f(x + d) - f(x - d)) / 2e-6 for d in np.eye(3) * 1e-6]
        np.testing.assert_allclose(pliant.grad(f)(x), wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.usefixtures("for_all_data")
def test_an_element_of_a_set_that_is_one_of_two_texts_is_refused() -> None:
    with pytest.raises(UnboundError, match="after one branch and"):
        pliant.jit(among_others)(np.array([1.0, -2.0, 3.0]))


def test_whether_a_dict_has_a_key_that_is_one_of_two_texts_is_known() -> None:
    for x in (np.array([1.0, -2.0]), np.array([-1.0, -2.0])):
        assert pliant.jit(asked_for)(x) == asked_for(x)


def states_by_step(k: Any, x: Any) -> Any:
    states, outs = {-1: 0.0 * x}, {}
    for t in range(14):
        states[t] = np.tanh(states[t - 1] + k[t % len(k)] * x)
        outs[t] = states[t].sum()
    return states[13], sum(outs.values())


def numbers_of_fibonacci(k: Any, x: Any) -> Any:
    memo = {0: x[0], 1: x[1]}
    for n in range(2, 12):
        memo[n] = memo[n - 1] + memo[n - 2]
    return memo[k[1]], len(memo)


def overwritten_and_new(k: Any, x: Any) -> Any:
    rows = dict.fromkeys(range(3), 0.0)
    for n in range(0, 24, 2):
        rows[n] = x[0] * k[n % 6] + rows.get(n - 2, 1.0)
    return list(rows.values()), list(rows)


@pytest.mark.parametrize("f", [states_by_step, numbers_of_fibonacci, overwritten_and_new], ids=lambda f: f.__name__)
def test_the_index_of_a_loop_makes_new_keys(f: Callable[[Any, Any], Any]):
    keys, x = np.array([1, 3, 2, 0, 4, 5]), np.array([0.5, 0.25])
    want, got = f(keys, x), pliant.jit(f)(keys, x)
    for w, g in zip(want, got, strict=True):
        np.testing.assert_allclose(g, w, rtol=1e-14)


WALLS, PRICES = {(0, 1), (2, 2)}, {(0, 0): 1.5, (0, 1): 2.5, (1, 0): 4.0}


def pairs_in_lists_and_sets(n: Any, x: Any) -> Any:
    known = [(n, 1), (3, 4)]
    return (n, 1) in WALLS, (n, n) not in [(0, 0), (5, 1)], (0, 1) in known, [n, 2] in [[1, 2]], (n, 1) in PRICES


def pairs_in_views(n: Any, x: Any) -> Any:
    table = {1: 2, 0: 7}
    return n in table.keys(), n + 1 in table.values(), (n, 2) in table.items(), 2.5 + n in PRICES.values()  # noqa: SIM118


def parts_of_pairs(n: Any, x: Any) -> Any:
    return (n, "a") in [(1, "a"), (0, "b")], ((n, 1), 2) in [((1, 1), 2)], (n, 2) in ((1, 2), None, "a", 3, (1, 2, 3))


def pairs_as_keys(n: Any, x: Any) -> Any:
    return PRICES[0, n] * x + PRICES.get((n, n), 7.0) + {(1, 0): x, (0, 1): 2 * x}[n, 1 - n]


def pairs_written(n: Any, x: Any) -> Any:
    table = dict.fromkeys([(0, 0), (0, 1), (1, 0)], 0.0)
    for i in range(12):
        table[i % 2, 0] += x * i
    table[0, n] = 3 * x
    return table


def walks(n: Any, x: Any) -> Any:
    place, seen = (0, 0), [(7, 7)]
    for i in range(12):
        new = (place[0] + (n + i) % 3, place[1] + n)
        if new not in WALLS:
            place = new
        if place not in seen:
            seen.append(place)
    return place, len(seen), x * place[0]


PAIRS = [pairs_in_lists_and_sets, pairs_in_views, parts_of_pairs, pairs_as_keys, pairs_written, walks]


@pytest.mark.parametrize("f", PAIRS, ids=lambda f: f.__name__)
def test_tuples_of_numbers_are_looked_for(f: Callable[[Any, Any], Any]):
    x, compiled = 1.25, pliant.jit(f)
    for kind in (int, np.array):  # an array of rank 0 is never known
        for n in (0, 1):
            expected, got = f(n, x), compiled(kind(n), x)
            assert got == expected
            assert kind is np.array or str(got) == str(expected)


def test_what_is_in_a_set_or_dict_outside_is_looked_for_again():
    compiled = pliant.jit(pairs_in_lists_and_sets), pliant.jit(pairs_in_views)
    n = np.array(3)
    assert [f(n, 1.0) for f in compiled] == [pairs_in_lists_and_sets(3, 1.0), pairs_in_views(3, 1.0)]
    WALLS.add((3, 1))
    PRICES[9, 9] = 5.5
    try:
        assert [f(n, 1.0) for f in compiled] == [pairs_in_lists_and_sets(3, 1.0), pairs_in_views(3, 1.0)]
    finally:
        WALLS.remove((3, 1))
        del PRICES[9, 9]
    assert [f(n, 1.0) for f in compiled] == [pairs_in_lists_and_sets(3, 1.0), pairs_in_views(3, 1.0)]


def test_the_gradient_of_what_tuples_choose():
    def price(x: Any) -> Any:
        k = int(x[0] > 0)
        return PRICES[k, 0] * x[1] + {(0, 1): x[0], (1, 1): x[1]}[k, 1]

    np.testing.assert_allclose(pliant.grad(price)(np.array([1.0, 2.0])), [0.0, 5.0])
    np.testing.assert_allclose(pliant.grad(price)(np.array([-1.0, 2.0])), [1.0, 1.5])


def test_a_tuple_that_is_no_key_raises():
    with pytest.raises(KeyError):
        pliant.jit(lambda n: PRICES[n[0], 1])(np.array([5]))


def filled_but_for_one(x: Any, y: Any) -> Any:
    table = {(0, 0): 0.5}
    for i in range(len(x) + 1):
        for j in range(len(y) + 1):
            if i == 0 and j == 0:
                continue
            table[i, j] = x[i - 1] * y[j - 1]
    return table[len(x), len(y)] + table[0, 1] * len(table)


def filled_under_a_condition(x: Any, y: Any) -> Any:
    table = {(0, 0): 0.5}
    for i in range(len(x)):
        for j in range(0, len(y), 2):
            if i + j > 0:
                table[i, j] = x[i] * y[j] + table[0, 0]
    return sum(table.values()) + table[len(x) - 1, 2]


def filled_beside_a_name(x: Any, y: Any) -> Any:
    table = {("a", 0): x[0], ("a", 1): x[1]}
    for i in range(len(x)):
        table["a", i] = x[i] * y[0]
    return [*table.values()]


def filled_from_neighbours(x: Any, y: Any) -> Any:
    table = {(i, 0): x[0] * i for i in range(len(x))} | {(0, j): y[0] * j for j in range(len(y))}
    for i in range(1, len(x)):
        for j in range(1, len(y)):
            table[i, j] = min(table[i - 1, j], table[i, j - 1]) + abs(x[i] - y[j])
    return table[len(x) - 1, len(y) - 1]


@pytest.mark.parametrize("f", [
    filled_but_for_one, filled_under_a_condition, filled_beside_a_name, filled_from_neighbours,
])  # fmt: skip
def test_a_dict_filled_at_pairs_of_indices(f: Callable[[Any, Any], Any]):
    x, y = np.linspace(-1.0, 2.0, 4), np.array([0.5, 2.0, -1.5])
    np.testing.assert_allclose(pliant.jit(f)(x, y), f(x, y), rtol=1e-14)
