# ruff: noqa: PLW0603
"""Names from outside that a function binds to what it computes: after each call they hold what Python leaves there."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import pliant
from pliant import compiled
from pliant.errors import UnsupportedError

X = np.array([1.0, -2.0, 0.5])
w: Any = None
v: Any = None
count: Any = 0
rate: Any = 1.0


@pytest.fixture(autouse=True)
def names_as_at_first() -> None:
    globals().update(w=np.array([1.0, 2.0, 3.0]), v=np.array([0.5, -1.0, 2.0]), count=0, rate=1.0)


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """One element for each time that a function is traced."""
    made, found = compiled.trace_program, list[Any]()

    def traced(f: Any, *args: Any, **options: Any) -> Any:
        found.append(f)
        return made(f, *args, **options)

    monkeypatch.setattr(compiled, "trace_program", traced)
    return found


def state() -> Any:
    return copy.deepcopy((w, v, count))


def by_a_number(x: Any) -> Any:
    global w
    w = w - 0.5 * x
    return (w * w).sum()


def to_each_other(x: Any) -> Any:
    global w, v
    w, v = v, w + x


def written_after(x: Any) -> Any:
    global w
    before = w
    w = w + x
    w[0] = 7.0
    before[1] = 5.0
    return before


def under_a_condition(x: Any) -> Any:
    global w, v
    if x.sum() > 0:
        w = w * x
    elif v[0] > 0.4:
        v = x
    return w + v


def in_a_loop(x: Any) -> Any:
    global w, count
    for i in range(3):
        w = np.sin(w) + x[i]
        count += 1
    return count * x


def the_argument(x: Any) -> Any:
    global w
    w = x
    w[2] += 1.0


def to_none(x: Any) -> Any:
    global v
    v = None if v is not None else x * 2


def as_long_as_the_calls(x: Any) -> Any:
    global v
    v = np.concatenate([v, x])
    return v.sum()


def read() -> Any:
    return w * 0.5


def changed_by(x: Any) -> None:
    global v
    v = v + x


def by_others(x: Any) -> Any:
    global w
    before = read()
    changed_by(x)
    w = w + v
    return before, read()


def a_view_to_both(x: Any) -> Any:
    global w, v
    w = x[::-1]
    v = w
    assert v is w
    return x * 2


def as_many_times(x: Any) -> Any:
    global count, w
    count = count + (x > 0).sum()
    w = {"sum": w["sum"] + x, "n": w["n"] + 1} if isinstance(w, dict) else {"sum": x, "n": 1}
    return count


class Mean(NamedTuple):
    """A tuple with names."""

    n: int
    total: Any


def to_a_tuple(x: Any) -> Any:
    global w
    n, total = w if isinstance(w, tuple) else (0, w)
    w = (n + 1, total + x)
    return total


def to_a_tuple_with_names(x: Any) -> Any:
    global v
    v = Mean(v.n + 1, v.total + x) if isinstance(v, Mean) else Mean(0, x * 2)
    return v.total / 2


def to_the_last_two(x: Any) -> Any:
    global v
    v = (v[1], x * 2) if isinstance(v, tuple) else (v, x)
    return v[0] + 1


def to_a_longer_tuple(x: Any) -> Any:
    global v
    v = (*v, x.sum()) if isinstance(v, tuple) else ()
    return x


def to_a_tuple_under_a_condition(x: Any) -> Any:
    global count
    loss = (x + 1).sum()
    best = count if isinstance(count, tuple) else (None, np.inf)
    if loss < best[1]:
        count = (x * 2, loss)
    return loss


PROGRAMS = [
    by_a_number, to_each_other, written_after, under_a_condition, in_a_loop, the_argument, to_none, as_long_as_the_calls,
    by_others, as_many_times, to_a_tuple, to_a_tuple_with_names, to_the_last_two, to_a_longer_tuple,
    to_a_tuple_under_a_condition, a_view_to_both,
]  # fmt: skip


def run(f: Callable[..., Any]) -> Any:
    """What calls return, leave in their arguments and leave in the names."""
    names_as_at_first.__wrapped__()  # type: ignore[attr-defined]
    made = list[Any]()
    for sign in (1.0, -1.0, 1.0, -1.0):
        x = sign * X
        y = f(x)
        shared = [[np.shares_memory(a, b) for a in (w, v) if isinstance(a, np.ndarray)] for b in (x, w, v) if isinstance(b, np.ndarray)]  # fmt: skip
        made.append((copy.deepcopy(y), x, state(), shared, w is v))
    return made


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_names_hold_what_python_leaves(f: Any) -> None:
    wanted, got = run(f), run(pliant.jit(f))
    assert repr(got) == repr(wanted)
    again = run(pliant.jit(f))
    assert repr(again) == repr(wanted)


@pytest.mark.parametrize("first", [0.0, np.zeros(3)], ids=["number", "array"])
def test_a_name_of_the_function_around_is_shared_by_functions_inside(first: Any) -> None:
    total = first

    def add(x: Any) -> Any:
        nonlocal total
        total = total + x
        return total

    def half() -> Any:
        return total * 0.5

    def both(x: Any) -> Any:
        nonlocal total
        add(x)
        total = total * 2
        return half()

    step = pliant.jit(both)
    for wanted in (X, 3 * X, 7 * X):
        np.testing.assert_array_equal(step(X), wanted)
        np.testing.assert_array_equal(total, 2 * wanted)
    np.testing.assert_array_equal(pliant.jit(half)(), 7 * X)


def test_arrays_that_are_exchanged_are_one_to_functions_that_read_them() -> None:
    """Where nothing is computed, too: the names hold arrays from outside then."""

    def made() -> Any:
        a, b = np.array([1.0, 2.0]), np.array([3.0, 4.0])

        def look() -> Any:
            return a * 0.5

        def exchange() -> None:
            nonlocal a, b
            a, b = b, a
            b += look()

        return exchange, lambda: (a, b)

    (plain, of_plain), (f, of_f) = made(), made()
    plain()
    pliant.jit(f)()
    assert repr(of_f()) == repr(of_plain())


def test_a_name_is_an_argument_and_nothing_is_compiled_anew(traces: list[Any]) -> None:
    step = pliant.jit(by_a_number)
    for _ in range(6):
        step(X)
    assert len(traces) == 2  # once to see that it is bound to what is computed
    assert list(w) == [-2.0, 8.0, 1.5]


def test_a_name_that_was_not_bound_is_there_afterwards() -> None:
    del globals()["v"]

    def first(x: Any) -> None:
        global v
        v = x * 2

    step = pliant.jit(first)
    for k in (1.0, 2.0, 3.0):
        step(k * X)
        np.testing.assert_array_equal(v, 2 * k * X)


def test_a_counter_that_each_call_raises_is_an_argument(traces: list[Any]) -> None:
    ring = np.zeros(4)

    def step(x: Any) -> Any:
        global count
        ring[count % 4] += x[0]
        count += 1
        return ring.sum() * count

    compiled_step = pliant.jit(step)
    assert [compiled_step(X) for _ in range(6)] == [1.0, 4.0, 9.0, 16.0, 25.0, 36.0]
    assert (count, type(count), len(traces)) == (6, int, 2)
    assert list(ring) == [2.0, 2.0, 1.0, 1.0]


@pytest.mark.parametrize("values", [[1.0, 0.5, 0.25, 0.125], [X, 2 * X, 3 * X, 4 * X]], ids=["numbers", "arrays"])
def test_a_name_that_the_caller_binds_anew_is_an_argument(traces: list[Any], values: list[Any]) -> None:
    def loss(x: Any) -> Any:
        return (rate * x * x).sum()

    slope = pliant.grad(loss)
    for value in values:
        globals()["rate"] = value
        np.testing.assert_array_equal(slope(X), 2 * value * X)
    assert len(traces) == 2


def test_a_number_that_has_to_be_known_is_a_static_value() -> None:
    def table(x: Any) -> Any:
        return (x, x) if count > 2 else x

    f = pliant.jit(table)
    for n in range(5):
        globals()["count"] = n
        assert isinstance(f(1.0), tuple) == (n > 2)


def test_an_array_that_a_name_picks_is_that_array_at_each_call() -> None:
    arrays = [np.zeros(2), np.ones(2), np.full(2, 2.0)]

    def pick() -> Any:
        global w
        w = arrays[count]
        return arrays[count]

    f = pliant.jit(pick)
    for n in (0, 1, 2, 0, 1):
        globals()["count"] = n
        found = f()
        assert found is arrays[n]
        assert w is arrays[n]
        found += 10.0
    assert [x[0] for x in arrays] == [20.0, 21.0, 12.0]


def test_derivatives_and_batches_take_a_name_back() -> None:
    def loss(x: Any) -> Any:
        global w
        w = w * x
        return (w**2).sum()

    before = w
    np.testing.assert_array_equal(pliant.grad(loss)(X), 2 * w**2 * X)
    np.testing.assert_array_equal(pliant.grad(pliant.jit(loss))(X), 2 * w**2 * X)
    np.testing.assert_array_equal(
        pliant.vmap(loss)(np.stack([X, 2 * X])), [((w * X) ** 2).sum(), 4 * ((w * X) ** 2).sum()]
    )
    assert w is before


def test_a_call_that_raises_leaves_a_name_as_it_is() -> None:
    def step(x: Any) -> Any:
        global w
        w = w + x
        if x[0] < 0:
            raise ValueError("below")
        return w

    f = pliant.jit(step)
    f(X)
    before, content = w, w.copy()
    for _ in range(3):
        with pytest.raises(ValueError, match="below"):
            f(-X)
    assert w is before
    np.testing.assert_array_equal(w, content)


def test_what_can_be_no_argument_is_an_error_that_names_it_and_nothing_is_left() -> None:
    holds_itself: list[Any] = []
    holds_itself.append(holds_itself)
    globals()["v"] = holds_itself

    def step(x: Any) -> None:
        global v
        v = [x * 2]

    with pytest.raises(UnsupportedError, match="the global name 'v' outlives the call") as error:
        pliant.jit(step)(X)
    assert "v = [x * 2]" in str(error.value)
    assert "or keep it in an attribute or item, as in self.state = x" in str(error.value)
    assert v is holds_itself


def test_a_traced_program_has_the_name_as_a_parameter() -> None:
    text = str(pliant.trace(by_a_number, X))
    assert text.startswith("func @by_a_number(%w: f64[3], %x: f64[3]) -> (f64[], f64[3])")


def test_nothing_that_looks_at_a_function_changes_what_is_outside() -> None:
    rows: list[Any] = []

    def step(x: Any) -> Any:
        global w, count
        w = w + x
        count += 1
        rows.append(count)
        return w * count

    before = w
    compiled = pliant.jit(step)
    for look in (pliant.trace, pliant.explain):
        for f in (step, compiled):
            assert str(look(f, X))
            assert (w is before, count, rows) == (True, 0, [])
    assert list(compiled(X)) == [2.0, 0.0, 3.5]
    assert (count, rows) == (1, [1])
    assert str(pliant.explain(compiled, X))
    assert (count, rows, list(w)) == (1, [1], [2.0, 0.0, 3.5])


def test_a_list_of_an_annotated_class_is_the_functions_own() -> None:
    def step(x: Any) -> Any:
        global count
        count += 1
        out = list[Any]()
        while x < 5:
            out.append(x)
            x = x + 1.0
        return len(out)

    f = pliant.jit(step)
    assert [f(0.0), f(2.0), f(1.0), f(4.5)] == [5, 3, 4, 1]
    assert count == 4


def same(x: Any) -> Any:
    return x


def doubled(x: Any) -> Any:
    return x * 2


def test_a_name_holds_the_users_function_and_not_what_stands_for_it() -> None:
    globals()["v"] = same

    def step(x: Any) -> Any:
        global v
        made = v(x)
        v = doubled if v is same else same
        return made

    f = pliant.jit(step)
    for n in range(6):
        assert v is (doubled if n % 2 else same)
        np.testing.assert_array_equal(f(X), X * 2 if n % 2 else X)


def test_a_function_that_is_returned_is_the_users() -> None:
    assert pliant.jit(lambda x: (x, doubled))(X)[1] is doubled


@pytest.mark.parametrize("first", [[1.0, 2.0], {"a": 1.0, "b": 2.0}, (1.0, 2.0)], ids=["list", "dict", "tuple"])
def test_a_container_that_each_call_makes_anew_is_compiled_once(traces: list[Any], first: Any) -> None:
    globals()["v"] = first

    def step(x: Any) -> None:
        global v
        if isinstance(v, dict):
            v = {key: part + x.sum() for key, part in v.items()}
        else:
            v = type(v)([v[1], x.sum()])

    f = pliant.jit(step)
    for _ in range(10):
        f(X)
    assert len(traces) <= 4
    assert type(v) is type(first)


def test_a_call_with_a_mistake_changes_nothing_for_later_ones() -> None:
    f = pliant.jit(by_a_number)
    for mistake, right in [(np.ones(4), X), (np.ones(5), np.ones((2, 3))), (np.ones(7), np.ones((2, 3)))]:
        before = w
        with pytest.raises(pliant.PliantError, match="could not be broadcast"):
            f(mistake)
        assert w is before
        wanted = w - 0.5 * right
        f(right)
        np.testing.assert_array_equal(w, wanted)


def test_integers_that_get_large_are_computed_by_python() -> None:
    globals().update(v=1, rate=1)

    def step(x: Any) -> Any:
        global v, rate, count
        v = (v * 6364136223846793005 + 1) % (2**61 - 1)
        rate = rate * 3
        count += 1
        return x * (v % 1000)

    f, seed = pliant.jit(step), 1
    for n in range(50):
        seed = (seed * 6364136223846793005 + 1) % (2**61 - 1)
        assert f(1.0) == seed % 1000
        assert (v, rate, count) == (seed, 3 ** (n + 1), n + 1)
