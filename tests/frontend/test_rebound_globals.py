# ruff: noqa: PLW0603
"""Functions that bind global names: these hold after a call what Python leaves there, and what else they name is seen
as in any other function."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import UnsupportedError

MODULE = sys.modules[__name__]
X = np.array([1.0, 2.0, -0.5])
n: Any = 0
ring = np.zeros(4)
seen = False
table: Any = None


@pytest.fixture(autouse=True)
def names_as_at_first() -> None:
    globals().update(n=0, ring=np.zeros(4), seen=False, table=None)


def state() -> Any:
    return copy.deepcopy((n, ring, seen, table))


def at_a_global_place(x: Any) -> Any:
    global n
    ring[n % 4] = x[1]
    n += 1
    return ring.sum()


def by_another_name(x: Any) -> Any:
    global n
    y = ring
    y[n] = x[1]
    n = (n + 1) % 4
    return y.sum()


def in_a_loop(x: Any) -> Any:
    global n
    n += 1
    for _ in range(30):
        ring[0] += x[0]
    return x


def under_a_condition(x: Any) -> Any:
    global n
    n += 1
    if x[0] > 1e3:
        ring[0] = 5.0
    return x * n


def in_a_method_of_numpy(x: Any) -> Any:
    global n
    n += 1
    ring.fill(x.sum())
    ring[1:3] = x[:2] * n
    return x


def once(x: Any) -> Any:
    global seen
    if not seen:
        seen = True
        return x * 0
    ring[0] += 1.0
    return x * ring[0] + sum(v for v in ring)


def made_once(x: Any) -> Any:
    global table
    if table is None:
        table = np.arange(3.0)
    return (table * x).sum()


def written_in_place(x: Any) -> Any:
    global ring
    ring += x[0]
    return ring.sum()


def one_of_outside(x: Any) -> Any:
    global table
    table = ring
    table[1] += x[1]
    return table.sum()


def bump() -> None:
    global n
    n += 1


def by_helpers(x: Any) -> Any:
    bump()
    ring[n % 4] += x[0]
    bump()
    return x * n


def by_its_module(x: Any) -> Any:
    global n
    MODULE.n = n + 2
    n += 1
    MODULE.n += 1
    return x * n * MODULE.n


def by_all_names(x: Any) -> Any:
    global n
    n += 1
    names = globals()
    names["n"] = n + 1
    names["table"] = [n]
    return x * eval("n") * names["n"] * table[0] + ("n" in names)


def in_a_function_inside(x: Any) -> Any:
    def step() -> None:
        global n
        n += 1
        ring[1] = x[0] * n

    step()
    step()
    return x * n


def beside_a_local_name(x: Any) -> Any:
    n = 5

    def step() -> None:
        global n
        n += 1

    step()
    return x * n


def deleted(x: Any) -> Any:
    global lost
    lost = 3
    del lost
    try:
        return x * lost  # type: ignore[name-defined]
    except NameError:
        return -x


class Counter:
    """A class whose method counts for all."""

    def step(self, x: Any) -> Any:
        global n
        n += 1
        ring[0] = x[0] * n
        return x * n


def of_a_method(x: Any) -> Any:
    return Counter().step(x)


@pytest.mark.parametrize(
    "f",
    [
        at_a_global_place, by_another_name, in_a_loop, under_a_condition, in_a_method_of_numpy, once, made_once,
        written_in_place, one_of_outside, by_helpers, by_its_module, by_all_names, in_a_function_inside,
        beside_a_local_name, deleted, of_a_method,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_calls_leave_what_python_leaves(f: Callable[..., Any]) -> None:
    def calls(g: Callable[..., Any]) -> list[Any]:
        names_as_at_first.__wrapped__()
        return [(copy.deepcopy(g(X * k)), state()) for k in (1.0, 2.0, 3.0, 0.5)]

    expected = calls(f)
    for (made, left), (result, after) in zip(calls(pliant.jit(f)), expected, strict=True):
        np.testing.assert_allclose(made, result, rtol=1e-13)
        assert [left[0], left[2]] == [after[0], after[2]]
        np.testing.assert_array_equal(left[1], after[1])
        np.testing.assert_array_equal(np.array(left[3], float), np.array(after[3], float))


def loss(x: Any) -> Any:
    global n
    n += 1
    ring[0] = 7.0
    return np.sum(x * x) * n


def test_derivatives_and_batches_take_back_a_global_name_and_what_is_written() -> None:
    slope, rows = pliant.grad(loss), pliant.vmap(loss)
    for _ in range(3):
        np.testing.assert_array_equal(slope(X), 2 * X)
        np.testing.assert_array_equal(rows(np.ones((2, 2))), [2.0, 2.0])
    assert n == 0
    pliant.trace(loss, X)
    assert not ring.any()


def test_derivatives_take_back_a_name_of_the_function_around() -> None:
    count = 0

    def counted(x: Any) -> Any:
        nonlocal count
        count += 1
        return np.sum(x * x) * count

    slope = pliant.grad(counted)
    assert [list(slope(X)), list(slope(X)), count] == [list(2 * X), list(2 * X), 0]


def test_a_derivative_inside_a_program_takes_back_what_a_helper_bound_before() -> None:
    def f(x: Any) -> Any:
        bump()
        return pliant.grad(lambda y: (bump(), np.sum(y * y) * n)[1])(x) + n

    np.testing.assert_array_equal(pliant.jit(f)(X), 4 * X + 1)
    assert n == 1


def failing(x: Any) -> Any:
    global n
    n += 1
    ring[0] = 7.0
    if x[0] < 0:
        raise ValueError("negative")
    return x


def test_a_call_that_raises_leaves_names_and_arrays_as_they_were() -> None:
    with pytest.raises(ValueError, match="negative"):
        pliant.jit(failing)(-X)
    assert n == 0
    assert not ring.any()


def test_a_name_that_is_bound_to_a_function_has_that_one() -> None:
    def f(x: Any) -> Any:
        global table
        table = bump
        table()
        return x

    pliant.jit(f)(X)
    assert (table, n) == (bump, 1)


def test_a_function_that_outlives_its_call_sees_arrays_as_they_are() -> None:
    def f(x: Any) -> Any:
        global table

        def table(y: Any) -> Any:
            return y + ring

        return table(x)

    assert pliant.jit(f)(1.0).tolist() == [1.0] * 4
    ring[:] = 1
    assert type(table(1.0)) is np.ndarray
    assert table(1.0).tolist() == [2.0] * 4


SOURCELESS = """
def bump_unseen():
    global n
    n += 1
    return n

def twice_unseen(x):
    global n
    n = n + 1
    return x * bump_unseen()
"""
exec(SOURCELESS)


def by_one_without_source(x: Any) -> Any:
    return x * bump_unseen()  # type: ignore[name-defined] # noqa: F821


def by_one_without_source_and_itself(x: Any) -> Any:
    global n
    n += 1
    return x * bump_unseen()  # type: ignore[name-defined] # noqa: F821


def test_functions_without_source_bind_names_of_the_module() -> None:
    compiled = pliant.jit(by_one_without_source)
    assert [(float(compiled(2.0)), n) for _ in range(3)] == [(2.0, 1), (4.0, 2), (6.0, 3)]
    assert (float(pliant.jit(twice_unseen)(2.0)), n) == (10.0, 5)  # type: ignore[name-defined] # noqa: F821


def at_each_step_without_source(x: Any) -> Any:
    for _ in range(30):
        x = x + bump_unseen()  # type: ignore[name-defined] # noqa: F821
    return x


def under_a_condition_without_source(x: Any) -> Any:
    return x * bump_unseen() if x > 0 else x  # type: ignore[name-defined] # noqa: F821


def test_functions_without_source_bind_names_at_each_step_and_where_they_are_called() -> None:
    assert (float(pliant.jit(at_each_step_without_source)(0.0)), n) == (465.0, 30)
    compiled = pliant.jit(under_a_condition_without_source)
    assert [(float(compiled(x)), n) for x in (-2.0, 2.0, 2.0)] == [(-2.0, 30), (62.0, 31), (64.0, 32)]


def test_a_name_that_functions_with_and_without_source_bind_is_refused() -> None:
    with pytest.raises(
        UnsupportedError, match="bump_unseen, which has no source, binds the global name 'n', and so do"
    ):
        pliant.jit(by_one_without_source_and_itself)(2.0)
    assert n == 0
