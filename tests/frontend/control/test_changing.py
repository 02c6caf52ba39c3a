"""What a step may change outside, and how the error of what it may not reads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import UnsupportedError

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
