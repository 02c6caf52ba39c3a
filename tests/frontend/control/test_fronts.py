"""Lists that conditions extend do what Python's do, whatever is done with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pliant

CONDITIONS = ("positive", "longer", "last is less", "any", "empty")
ACTIONS = ("append", "two", "pop", "clear", "first", "last", "break", "continue", "sum", "loop")


def holds(condition: str, v: Any, out: Any) -> Any:
    if condition == "positive":
        return v > 0
    if condition == "longer":
        return len(out) > 2
    if condition == "last is less":
        return len(out) > 0 and out[-1] < v
    return True if condition == "any" else not out


def act(action: str, v: Any, out: Any) -> None:
    if action == "append":
        out.append(v)
    elif action == "two":
        out.extend([v * 2, v + 1])
    elif action == "pop":
        if len(out) > 1:
            out.append(out.pop() + out.pop())
    elif action == "clear":
        out.clear()
    elif action == "first" and out:
        out[0] = v
    elif action == "last" and out:
        out[-1] += v
    elif action == "sum":
        out.append(sum(out) * 0.5)


def run(x: Any, steps: Any, start: int) -> Any:
    out = [1.0, 2.0][:start]
    for v in x:
        for condition, action in steps:
            if holds(condition, v, out):
                if action == "break":
                    break
                if action == "loop":
                    for k in range(2):
                        if v > k:
                            out.append(v * k)
                else:
                    act(action, v, out)
        if len(out) > 12:
            break
    total = 0.0
    for k, w in enumerate(out):
        total += w * (k + 1)
    return len(out), sum(out), total, (out[-1] if out else -1.0)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(CONDITIONS), st.sampled_from(ACTIONS)), min_size=1, max_size=3),
    st.lists(st.integers(-3, 3), min_size=6, max_size=6),
    st.integers(0, 2),
)
def test_random_steps_do_what_python_does(steps: Any, numbers: list[int], start: int) -> None:
    x = np.array(numbers) * 0.75 + 0.1
    expected = [float(y) for y in run(x, tuple(steps), start)]
    f = pliant.jit(run, static=("steps", "start"))
    np.testing.assert_allclose([float(y) for y in f(x, tuple(steps), start)], expected, rtol=1e-12)


def test_a_list_that_is_read_in_steps_that_may_end_the_loop_has_as_many_elements_as_these_added() -> None:
    def sums(x: Any) -> Any:
        out = []
        for v in x:
            out.append(v)
            out.append(sum(out))
            if len(out) > 7:
                break
        return len(out), sum(out), out[-1]

    x = np.arange(6.0) + 0.1
    np.testing.assert_allclose(pliant.jit(sums)(x), sums(x), rtol=1e-12)
    np.testing.assert_allclose(pliant.jit(sums)(x[:2]), sums(x[:2]), rtol=1e-12)


def test_a_place_that_a_list_does_not_have_is_an_error() -> None:
    @pliant.jit
    def at(x: Any, k: int) -> Any:
        return [v for v in x if v > 0][k]

    x = np.array([1.0, -1.0, 2.0, 3.0, -5.0])
    assert [at(x, k) for k in (0, 2, -1, -3)] == [1.0, 3.0, 3.0, 1.0]
    for k in (3, -4):
        with pytest.raises(IndexError):
            at(x, k)


def test_pop_and_max_of_an_empty_list_are_errors() -> None:
    def popped(x: Any) -> Any:
        return [v for v in x if v > 0].pop()

    def greatest(x: Any) -> Any:
        out = [v for v in x if v > 0]
        return max(out)

    x = np.array([1.0, -1.0, 2.0, 3.0, -5.0])
    for f, kind in ((popped, IndexError), (greatest, ValueError)):
        assert pliant.jit(f)(x) == 3.0
        with pytest.raises(kind):
            pliant.jit(f)(-abs(x))


SOURCES: dict[str, Any] = {
    "a mask": lambda x: list(x[x > 0]),
    "a comprehension": lambda x: [v for v in x if v > 0],
    "sorted": lambda x: sorted(x[x > 0]),
    "reversed": lambda x: list(x[x > 0])[::-1],
    "places": lambda x: list(np.flatnonzero(x > 0) * 1.5),
}


def _changed(out: Any, change: str) -> Any:
    """A list after one more change."""
    if change == "pop":
        out.append(out.pop() + 0.5)
    elif change == "pop first":
        out.append(out.pop(0) * 0.5)
    elif change == "only pop":
        out.pop()
    elif change == "only pop first":
        out.pop(0)
    elif change == "only pop second":
        out.pop(1)
    elif change == "del":
        del out[0]
    elif change == "del last":
        del out[-1]
    elif change == "insert":
        out.insert(1, 7.5)
    elif change == "turn":
        out.insert(0, out.pop())
    elif change == "sort":
        out.sort()
    elif change == "reverse":
        out.reverse()
    elif change == "remove":
        out.remove(out[len(out) // 2])
    elif change == "tail":
        out = out[1:]
    elif change == "put a tail":
        out[1:] = [2.5, 3.5]
    elif change == "anew":
        out = [q * 2 for q in out]
    elif change == "more":
        out = [*out, 3.25]
    else:
        out.extend(out[:1])
    return out


CHANGES = (
    "pop", "pop first", "only pop", "only pop first", "only pop second", "del", "del last", "insert", "turn", "sort",
    "reverse", "remove", "tail", "put a tail", "anew", "more", "its first",
)  # fmt: skip


def changed(x: Any, source: str, changes: Any, times: int) -> Any:
    out = SOURCES[source](x)
    for _ in range(times):
        for change in changes:
            out = _changed(out, change)
    total = 0.0
    for k, w in enumerate(out):
        total += w * (k + 1)
    return len(out), total


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(SOURCES)),
    st.lists(st.sampled_from(CHANGES), min_size=1, max_size=4),
    st.lists(st.integers(-3, 3), min_size=5, max_size=5),
    st.integers(1, 2),
)
def test_random_changes_of_a_list_do_what_python_does(
    source: str, changes: list[str], numbers: list[int], times: int
) -> None:
    x = np.array(numbers) * 0.75 + 0.1
    f = pliant.jit(changed, static=("source", "changes", "times"))
    try:
        expected = changed(x, source, tuple(changes), times)
    except (IndexError, ValueError) as error:
        with pytest.raises(type(error)):
            f(x, source, tuple(changes), times)
        return
    np.testing.assert_allclose(f(x, source, tuple(changes), times), expected, rtol=1e-12)


def test_the_sum_of_arrays_of_which_there_is_one_is_an_array() -> None:
    def f(x: Any) -> Any:
        parts = [x[0]]
        for row in x[1:]:
            if row[0] > 1:
                parts.append(row * 2)  # noqa: PERF401
        return sum(parts) * sum(parts, np.ones(2)) + sum([row for row in x if row[1] > 2], np.zeros(2))

    for x in (np.arange(8.0).reshape(4, 2), -np.arange(8.0).reshape(4, 2)):
        np.testing.assert_allclose(pliant.jit(f)(x), f(x), rtol=1e-14)
        np.testing.assert_allclose(pliant.vmap(f)(x[None])[0], f(x), rtol=1e-14)
        way, step = np.sin(np.arange(8.0) + 1).reshape(4, 2), 1e-6
        expected = (f(x + step * way) - f(x - step * way)).sum() / (2 * step)
        assert (pliant.grad(lambda x: f(x).sum())(x) * way).sum() == pytest.approx(expected, rel=1e-6)
