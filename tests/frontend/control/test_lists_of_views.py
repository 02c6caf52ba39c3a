"""Lists, and names, of views of arrays: what is written through them is written to the arrays, as in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant

UP = np.arange(10.0) + 1
DOWN = UP[::-1].copy()


def one_array_again_and_again(x: Any) -> Any:
    hist = []
    for i in range(10):
        x += i
        hist.append(x)
    return np.array(hist)


def views_of_one_array(x: Any) -> Any:
    hist = []
    for i in range(10):
        x += i
        hist.append(x[1:])
    return np.array(hist)


def last_of_the_history_is_written(x: Any) -> Any:
    hist = []
    for i in range(10):
        x = x + i
        hist.append(x)
    x[0] = 100.0
    return np.array(hist)


def two_lists_share_arrays(x: Any) -> Any:
    A = []
    B = []
    for i in range(10):
        r = x + i
        A.append(r)
        B.append(r[1:])
    for i in range(10):
        A[i][1] = 0
    return np.array(B)


def written_through_the_list(x: Any) -> Any:
    rows = [x[i : i + 2] for i in range(8)]
    rows[3][0] = 100.0
    return np.array(rows), x


def written_below_the_list(x: Any) -> Any:
    rows = [x[i : i + 2] for i in range(8)]
    x[3] = 100.0
    return np.array(rows), x


def written_while_it_grows(x: Any) -> Any:
    rows = []
    for i in range(8):
        rows.append(x[i : i + 2])
        x[i + 1] += 3
    return np.array(rows), x


def views_in_a_dict(x: Any) -> Any:
    d = {}
    for i in range(8):
        d[i] = x[i : i + 2]
    for i in range(8):
        d[i][0] = 5
    return x


def views_in_tuples(x: Any) -> Any:
    rows = [(x[i : i + 2], i) for i in range(8)]
    for r, i in rows:
        r[0] = i
    return x


def only_read(x: Any) -> Any:
    rows = [x[i : i + 2] for i in range(8)]
    s = 0
    for r in rows:
        s = s + (r**2).sum()
    return s


def each_is_multiplied(x: Any) -> Any:
    rows = [x[i : i + 2] for i in range(8)]
    for r in rows:
        r *= 2
    return x


def views_in_lists(x: Any) -> Any:
    rows = [[x[i : i + 2], x[i : i + 1]] for i in range(8)]
    for r, q in rows:  # noqa: B007
        q[0] = 2
    return np.array([r for r, q in rows])


def written_by_a_closure(x: Any) -> Any:
    rows = [r for r in x.reshape(10, -1)]

    def f(k):
        rows[k][0] = 7.0

    for k in range(8):
        f(k)
    return x


def made_by_a_generator(x: Any) -> Any:
    def rowsof(x):
        for i in range(8):
            yield x[i : i + 2]

    rows = list(rowsof(x))
    for k in range(8):
        rows[k][0] = 7.0
    return x


def made_by_map(x: Any) -> Any:
    it = map(lambda i: x[i : i + 2], range(8))  # noqa: C417
    rows = list(it)
    for k in range(8):
        rows[k][0] = 7.0
    return x


def put_into_places(x: Any) -> Any:
    rows = [None] * 8
    for i in range(8):
        rows[i] = x[i : i + 2]
    for k in range(8):
        rows[k][0] = 7.0
    return x


def put_into_places_and_written_below(x: Any) -> Any:
    rows = [0] * 8
    for i in range(8):
        rows[i] = x[i : i + 2]
    x[:] = 3.0
    return np.array(rows)


def some_in_two_lists(x: Any) -> Any:
    rows = []
    best = []
    for i in range(8):
        v = x[i : i + 2] * 2
        rows.append(v)
        if v.sum() > 3:
            best.append(v)
    for b in range(3):
        best[b][0] = 100.0
    return np.array(rows)


def the_last_has_a_name(x: Any) -> Any:
    last = None
    rows = []
    for i in range(8):
        v = x[i : i + 2] * 2
        rows.append(v)
        last = v
    last[0] = 100.0
    return np.array(rows)


def rows_while_they_change(x: Any) -> Any:
    rows = np.zeros((8, 2))
    L = []
    for i in range(8):
        L.append(rows[i])
        rows[i] += x[i]
    L[2][0] = 50.0
    return rows, np.array(L)


def an_array_that_has_a_name(x: Any) -> Any:
    a = x * 1
    L = [a, x * 2, x * 3, x * 4, x * 5]
    for k in range(6):
        L[1 + (k * 2) % 4] = L[k % 4] + 1
    L[0][0] = 100.0
    return a, L[0], L[2]


def replaced_at_traced_places(x: Any) -> Any:
    a = x * 1  # noqa: F841
    L = [x[:3], x[1:4], x[2:5], x[3:6], x[4:7]]
    for k in range(6):
        L[1 + (k * 2) % 4] = L[k % 4] + 1
    L[0][0] = 100.0
    return x, L[0], L[2]


def replaced_under_a_condition(x: Any) -> Any:
    L = [x[:3], x[1:4], x[2:5], x[3:6], x[4:7]]
    for k in range(6):
        if L[k % 5][0] > 2:
            L[1] = L[k % 4] + 1
    L[0][0] = 100.0
    return x, L[0], L[2]


def replaced_in_branches(x: Any) -> Any:
    L = [x[:3], x[1:4], x[2:5], x[3:6], x[4:7]]
    if x[0] > 0:
        L[1] = L[2] + 1
    else:
        L[2] = L[1] * 2
    L[0][0] = 100.0
    return x, L[0], L[2]


def replaced_where_data_say(x: Any) -> Any:
    L = [x[:3], x[1:4], x[2:5], x[3:6], x[4:7]]
    k = int(x[0]) % 5
    L[k] = L[2] + 1
    L[0][0] = 100.0
    return x, L[0], L[2]


def replaced_where_data_say_and_written_below(x: Any) -> Any:
    L = [x[:3], x[1:4], x[2:5], x[3:6], x[4:7]]
    k = int(x[1]) % 5
    L[k] = L[2] + 1
    x[:] = 7
    return L[0] + L[1] + L[4], x


def the_one_that_data_say(x: Any) -> Any:
    L = [x[:3], x[1:4], x[2:5], x[3:6], x[4:7]]
    k = int(x[1]) % 5
    v = L[k]
    v[0] = 33
    return L[0] + L[1] + L[4], x


def each_under_a_condition(x: Any) -> Any:
    L = [x[:3], x[1:4], x[2:5], x[3:6], x[4:7]]
    for k in range(5):
        v = L[k]
        if v[0] > 2:
            v[1] = 33
    return L[0] + L[1] + L[4], x


def the_best_has_a_name(x: Any) -> Any:
    L = [x[:3], x[1:4], x[2:5], x[3:6], x[4:7]]
    b = L[0]
    for k in range(5):
        if L[k][0] > b[0]:
            b = L[k]
    b[0] = -4
    return x


def in_order(x: Any) -> Any:
    L = sorted([x[:3], x[1:4], x[2:5], x[3:6], x[4:7]], key=lambda v: -v[0])
    L[0][0] = 5.0
    return x


def exchanged_where_data_say(x: Any) -> Any:
    L = [x[:3], x[1:4], x[2:5], x[3:6], x[4:7]]
    L[int(x[0]) % 5], L[int(x[1]) % 5] = L[int(x[1]) % 5], L[int(x[0]) % 5]
    L[0][0] = 5.0
    return x


def the_greatest(x: Any) -> Any:
    m = max([x[:3], x[1:4], x[2:5], x[3:6], x[4:7]], key=lambda v: v.sum())
    m[0] = 5.0
    return x


def popped(x: Any) -> Any:
    L = [x[:3], x[1:4], x[2:5], x[3:6], x[4:7]]
    while len(L) > 2 and L[-1][0] > 3:
        L.pop()
    L[-1][0] = 5.0
    return x


def filtered_and_written(x: Any) -> Any:
    L = []
    for i in range(6):
        if x[i] > 2:
            L.append(x[i : i + 2])  # noqa: PERF401
    for v in L:
        v[0] = 0
    return x


def first_of_the_filtered(x: Any) -> Any:
    L = []
    for i in range(6):
        if x[i] > 2:
            L.append(x[i : i + 2])  # noqa: PERF401
    L[0][0] = -1
    return x


def filtered_and_written_below(x: Any) -> Any:
    L = []
    for i in range(6):
        if x[i] > 2:
            L.append(x[i : i + 2])  # noqa: PERF401
    x[:] = 8
    return sum([v.sum() for v in L])


def last_in_a_dict(x: Any) -> Any:
    d = {}
    for i in range(6):
        if x[i] > 2:
            d["a"] = x[i : i + 2]
    d["a"][0] = -9
    return x


def last_in_an_object(x: Any) -> Any:
    class Held:
        pass

    o = Held()
    o.v = x[:2]
    for i in range(6):
        if x[i] > 2:
            o.v = x[i : i + 2]
    o.v[0] = -9
    return x


def last_two_in_a_tuple(x: Any) -> Any:
    t = (x[:2], x[2:4])
    for i in range(6):
        if x[i] > 2:
            t = (x[i : i + 2], t[0])
    t[0][0] = -9
    t[1][1] = -8
    return x


def comprehension_with_a_condition(x: Any) -> Any:
    L = [x[i : i + 2] for i in range(8) if x[i] > 3]
    for v in L:
        v *= 2
    return x


def a_queue(x: Any) -> Any:
    q = [x[:2]]
    for i in range(6):
        v = q.pop(0)
        q.append(x[i : i + 2])
        v[0] += 1
    q[0][0] = 55
    return x


def written_by_one_of_two_names(x: Any) -> Any:
    rows = [x * 1, x * 2, x * 3]
    kept = rows[0]
    for i in range(5):
        kept = rows[i % 3]
        rows[0] = kept * 2
    kept[0] = 1.0
    return np.array(rows)


def shortest_paths(g: Any) -> Any:
    d = [g[0], g[1], g[2], g[3], g[4], g[5]]
    for k in range(6):
        for i in range(6):
            for j in range(6):
                if d[i][k] < 90 and d[k][j] < 90:
                    d[i][j] = min(d[i][j], d[i][k] + d[k][j])
    return g


def rows_by_two_indices(g: Any) -> Any:
    d = [g[0], g[1], g[2], g[3], g[4], g[5]]
    for k in range(6):
        for i in range(2):
            if d[i][k] < 90 and d[k][0] < 90:
                d[i][0] = d[i][k] + d[k][0]
    return g


def a_row_and_a_column(g: Any) -> Any:
    d = [g[0], g[1], g[2], g[3], g[4], g[5]]
    for k in range(6):
        if d[0][k] < 90 and d[k][0] < 90:
            d[0][0] = d[k][0] + 1
    return g


def both_conditions_read_it(g: Any) -> Any:
    d = [g[0], g[1], g[2], g[3], g[4], g[5]]
    for k in range(6):
        if d[k][0] < 90 and d[k][1] < 90:
            d[0][0] = d[k][0] + 1
    return g


def one_condition_reads_it(g: Any) -> Any:
    d = [g[0], g[1], g[2], g[3], g[4], g[5]]
    for k in range(6):
        if d[k][0] < 90:
            d[0][0] = d[k][0] + 1
    return g


def added_up_in_place(g: Any) -> Any:
    d = [g[0], g[1], g[2], g[3], g[4], g[5]]
    for k in range(6):
        d[0][0] += d[k][0]
    return g


VECTORS = (
    one_array_again_and_again,
    views_of_one_array,
    last_of_the_history_is_written,
    two_lists_share_arrays,
    written_through_the_list,
    written_below_the_list,
    written_while_it_grows,
    views_in_a_dict,
    views_in_tuples,
    only_read,
    each_is_multiplied,
    views_in_lists,
    written_by_a_closure,
    made_by_a_generator,
    made_by_map,
    put_into_places,
    put_into_places_and_written_below,
    some_in_two_lists,
    the_last_has_a_name,
    rows_while_they_change,
    an_array_that_has_a_name,
    replaced_at_traced_places,
    replaced_under_a_condition,
    replaced_in_branches,
    replaced_where_data_say,
    replaced_where_data_say_and_written_below,
    the_one_that_data_say,
    each_under_a_condition,
    the_best_has_a_name,
    in_order,
    exchanged_where_data_say,
    the_greatest,
    popped,
    filtered_and_written,
    first_of_the_filtered,
    filtered_and_written_below,
    last_in_a_dict,
    last_in_an_object,
    last_two_in_a_tuple,
    comprehension_with_a_condition,
    a_queue,
    written_by_one_of_two_names,
)
MATRICES = (
    shortest_paths,
    rows_by_two_indices,
    a_row_and_a_column,
    both_conditions_read_it,
    one_condition_reads_it,
    added_up_in_place,
)


def results(f: Callable[..., Any], x: Any) -> list[Any]:
    made = f(x)
    return [np.array(y) for y in (made if isinstance(made, tuple) else (made,))] + [x]


@pytest.mark.parametrize("backend", ["llvm", "reference"])
@pytest.mark.parametrize("f", [*VECTORS, *MATRICES], ids=lambda f: f.__name__)
def test_writes_reach_the_array(f: Callable[..., Any], backend: str) -> None:
    compiled = pliant.jit(f, backend=backend)
    bases = (UP, DOWN) if f in VECTORS else tuple(np.random.default_rng(n).uniform(1, 99, (6, 6)) for n in range(2))
    for base in (*bases, *bases):
        for got, want in zip(results(compiled, base.copy()), results(f, base.copy()), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-12)


@pytest.mark.parametrize("f", VECTORS, ids=lambda f: f.__name__)
def test_gradients_are_those_of_differences(f: Callable[..., Any]) -> None:
    def loss(x: Any) -> Any:
        y = x * 1.0
        return sum([np.sum(np.cos(np.arange(r.size)) * np.ravel(r) ** 2) for r in results(f, y)])

    x = UP + 0.25
    differences = [(loss(x + d) - loss(x - d)) / 2e-6 for d in 1e-6 * np.eye(10)]
    np.testing.assert_allclose(pliant.grad(loss)(x), differences, rtol=1e-5, atol=1e-5)
