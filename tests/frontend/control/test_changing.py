"""What a step may change outside, and how the error of what it may not reads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import UnsupportedError
from pliant.testing import check_gradient

count = 0
same = 3.0
TABLE: dict[Any, Any] = {}


def counting(_: Any, x: Any) -> Any:
    global count  # noqa: PLW0603
    count += 1
    return x + count


def test_a_policy_of_what_is_kept_does_not_go_with_changes_outside() -> None:
    with pytest.raises(UnsupportedError) as found:
        pliant.jit(lambda x: pliant.fori_loop(0, 4, counting, x, save="sqrt"))(1.0)
    text = str(found.value)
    assert "counting changes count, which is outside of it: it is traced once, and would do so once" in text
    assert "in counting: changed here\n      count += 1" in text
    assert "hint: pass it in, and return it, as a part of the state; or write a for, while or if statement" in text
    assert count == 0


def test_a_scan_of_no_steps_does_not_go_with_changes_outside() -> None:
    with pytest.raises(UnsupportedError, match="changes count, which is outside of it"):
        pliant.jit(lambda x: pliant.scan(lambda c, r: (counting(0, c), r), 0.0, x))(np.zeros(0))
    assert count == 0


def test_a_name_may_be_bound_to_what_it_was_bound_to() -> None:
    def step(_: Any, x: Any) -> Any:
        global same  # noqa: PLW0603
        same = 1.5 * 2
        return x + same

    assert pliant.jit(lambda x: pliant.fori_loop(0, 4, step, x, save="sqrt"))(1.0) == 13.0


def by_item(x: Any) -> Any:
    if "k" not in TABLE:
        TABLE["k"] = np.arange(3.0)
    return x * TABLE["k"].sum()


def by_default(x: Any) -> Any:
    return x * TABLE.setdefault("k", np.arange(3.0)).sum()


def by_adoption(x: Any) -> Any:
    if "k" not in TABLE:
        TABLE["k"] = np.ones(3) * 3.0 - np.array([3.0, 2.0, 1.0])
    return x * TABLE["k"].sum()


@pytest.mark.parametrize("body", [by_item, by_default, by_adoption], ids=lambda f: f.__name__)
def test_tables_of_constants_are_filled_by_the_first_step(body: Any) -> None:
    loops = [
        lambda x: pliant.fori_loop(0, 3, lambda _, y: body(y), x, save="sqrt"),
        lambda x: pliant.while_loop(lambda y: y < 20.0, body, x),
        lambda x: pliant.scan(lambda c, _: (body(c), c), x, np.ones(3))[0],
        lambda x: pliant.cond(x > 0, body, lambda y: y, x) * 9,
    ]
    for loop in loops:
        TABLE.clear()
        assert pliant.jit(loop)(1.0) == 27.0
        assert np.array_equal(TABLE["k"], np.arange(3.0))


@pytest.mark.parametrize("make", [np.ones, np.zeros, lambda n: np.ones(n) * 2, lambda n: np.full(n, 3.0)])
def test_constants_that_are_made_on_first_use_are_those_of_all_steps(make: Any) -> None:
    def step(x: Any) -> Any:
        if "w" not in TABLE:
            TABLE["w"] = make(2)
        return x + TABLE["w"]

    def loop(x: Any) -> Any:
        y = pliant.fori_loop(0, 2, lambda _, y: pliant.fori_loop(0, 2, lambda _, z: step(z), y), x)
        return pliant.cond(y.sum() > 0, step, lambda y: y, y) * TABLE["w"]

    made = list[Any]()
    for f in (loop, pliant.jit(loop)):
        TABLE.clear()
        made += [f(np.ones(2)), f(np.ones(2)), TABLE["w"]]
    assert np.array_equal(made[:3], made[3:])
    TABLE.clear()
    assert np.array_equal(pliant.grad(lambda x: loop(x).sum())(np.ones(2)), make(2))


def test_a_table_that_each_step_fills_is_filled_at_each() -> None:
    def step(_: Any, x: Any) -> Any:
        TABLE[len(TABLE)] = np.ones(2)
        return x + len(TABLE)

    TABLE.clear()
    assert pliant.jit(lambda x: pliant.fori_loop(0, 3, step, x))(0.0) == 6.0
    assert list(TABLE) == [0, 1, 2]


def test_containers_of_the_state_are_the_steps_own() -> None:
    def step(_: Any, state: Any) -> Any:
        state["n"] = state["n"] + 1
        state["x"] *= 2.0
        return state

    made = pliant.jit(lambda x: pliant.fori_loop(0, 3, step, {"n": 0, "x": x}, save="sqrt"))(np.ones(2))
    assert made["n"] == 3
    assert np.array_equal(made["x"], [8.0, 8.0])


SCRATCH = np.zeros(4)


def by_count(x: Any, y: Any) -> Any:
    def body(i: Any, c: Any) -> Any:
        y[i % 4] += c
        return c * 2

    return pliant.fori_loop(0, 6, body, x[0])


def by_unknown_count(x: Any, y: Any) -> Any:
    def body(i: Any, c: Any) -> Any:
        y[i % 4] = y[i - 1] + c
        return c * 2

    return pliant.fori_loop(0, int(x[2]), body, x[0]) + pliant.fori_loop(0, int(x[3]), body, x[0], max_steps=3)


def by_a_global_array(x: Any, y: Any) -> Any:
    def body(i: Any, c: Any) -> Any:
        SCRATCH[i] = c + SCRATCH[0]
        return c * 2

    return pliant.fori_loop(0, 4, body, x[0]) + y[0]


def by_condition(x: Any, y: Any) -> Any:
    def test(c: Any) -> Any:
        y[0] += 1
        return c < y[0]

    def body(c: Any) -> Any:
        y[1:3] += c
        return c * 2

    return pliant.while_loop(test, body, x[0]) + pliant.while_loop(test, body, x[0] * 0.5, max_steps=2)


def by_rows(x: Any, y: Any) -> Any:
    def body(c: Any, row: Any) -> Any:
        y[1] += row
        return c + y[0], c * y[1]

    total, rows = pliant.scan(body, x[0], x, reverse=True)
    return total * rows


def by_each_row(x: Any, y: Any) -> Any:
    def body(row: Any) -> Any:
        y[0] *= 3
        return row + y[0]

    return pliant.map(body, x) + pliant.reduce(lambda total, row: total + body(row), 0.0, x)


def by_branch(x: Any, y: Any) -> Any:
    def first(z: Any) -> Any:
        y[0] = 7
        return z * 2

    def second(z: Any) -> Any:
        y[1:] += z[0]
        return z + 1

    made = [pliant.switch((x[k] - 1).astype(int), [first, np.negative, second], x) for k in range(4)]
    return pliant.cond(x[0] < x[1], first, second, x) + sum(made) + pliant.cond(x[0] > x[1], first, second, x)


def by_loops_in_loops(x: Any, y: Any) -> Any:
    view = y[1:]

    def outer(i: Any, c: Any) -> Any:
        def inner(j: Any, d: Any) -> Any:
            view[j] += d * i
            return d + y[1]

        return pliant.cond(c > 2, lambda d: pliant.fori_loop(0, 3, inner, d), lambda d: d + 1, c)

    return pliant.fori_loop(0, 3, outer, x[0])


@pytest.mark.parametrize(
    "f",
    [
        by_count, by_unknown_count, by_a_global_array, by_condition, by_rows, by_each_row, by_branch,
        by_loops_in_loops,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_an_array_from_outside_is_written_at_each_step_and_where_a_branch_is_run(f: Any) -> None:
    def run(called: Any) -> Any:
        SCRATCH[:] = 1
        y = np.arange(4.0)
        return [called(np.arange(1.0, 5.0), y), called(np.arange(2.0, 6.0), y), y, SCRATCH.copy()]

    def local(x: Any) -> Any:
        y = x.copy()
        return f(x, y) * y

    for made, wanted in zip(run(pliant.jit(f)), run(f), strict=True):
        np.testing.assert_allclose(made, wanted, rtol=1e-12)
    np.testing.assert_allclose(pliant.jit(local)(np.arange(1.0, 5.0)), local(np.arange(1.0, 5.0)), rtol=1e-12)


def test_writes_of_steps_to_arrays_from_outside_are_differentiated_and_batched() -> None:
    def f(x: Any) -> Any:
        y = x.copy()
        return by_count(x, y) * y + by_branch(x, y)

    rows = np.array([[1.5, 2.5, 3.5, 4.5], [2.5, 1.5, 1.2, 0.5]])
    check_gradient(lambda x: np.sum(f(x) * np.arange(4.0)), rows[0])
    np.testing.assert_allclose(pliant.vmap(f)(rows), [f(row) for row in rows])


def keeping_less(x: Any, y: Any) -> Any:
    def tripling(_: Any, c: Any) -> Any:
        y[0] *= 3
        return c * 2

    return pliant.fori_loop(0, 6, tripling, x, save="sqrt")


def in_a_branch(x: Any, y: Any) -> Any:
    def tripled(c: Any) -> Any:
        y[0] *= 3
        return c * 2

    def tripling(i: Any, c: Any) -> Any:
        return pliant.switch(i, [np.negative, tripled, np.negative], c)

    return pliant.fori_loop(0, 6, tripling, x, save="carry")


def by_no_rows(x: Any, y: Any) -> Any:
    def tripling(row: Any) -> Any:
        y[0] *= 3
        return row * x

    return pliant.map(tripling, y[:0])


@pytest.mark.parametrize("f", [keeping_less, in_a_branch, by_no_rows], ids=lambda f: f.__name__)
def test_the_error_of_a_write_outside_names_the_function_and_shows_the_line(f: Any) -> None:
    y = np.arange(4.0)
    message = (
        r"^tripling writes to an array from outside: it is traced once.*\n.*in tripl.*: written here\n +y\[0\] \*= 3\n"
    )
    with pytest.raises(UnsupportedError, match=message):
        pliant.jit(f)(1.0, y)
    np.testing.assert_array_equal(y, np.arange(4.0))


def test_a_branch_that_writes_to_the_memory_of_an_operand_from_outside_is_refused() -> None:
    def f(y: Any) -> Any:
        def first(z: Any) -> Any:
            y[0] = 7
            return z * 2

        return pliant.cond(y[1] > 0, first, np.negative, y[:2])

    for called in (f, pliant.jit(f)):
        with pytest.raises(UnsupportedError, match="an operand whose memory it also has by another name"):
            called(np.ones(3))
