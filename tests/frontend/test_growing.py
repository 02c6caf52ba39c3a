"""Lists that functions append to at each call: as plain Python's, and compiled once."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import UnsupportedError
from tests.frontend.test_native_objects import Held, assert_like

X = np.array([1.0, -2.0, 0.5])


def appends(s: Any, x: Any) -> None:
    s.l.append(x.sum())


def extends(s: Any, x: Any) -> Any:
    s.l.extend([x, 2 * x])
    s.m = x
    return x


def adds(s: Any, x: Any) -> Any:
    s.l += [x[0], (x[1], {"a": x[2]}), "text", None, 3]
    return s.m + x


def in_a_loop(s: Any, x: Any) -> Any:
    for k in range(5):
        x = 0.5 * x
        s.l.append(x.sum() * k)
    return x


def now_and_then(s: Any, x: Any) -> Any:
    for k in range(50):
        x = x * 0.9
        if k % 10 == 0:
            s.l.append(x.sum())
    return x


def by_another_name(s: Any, x: Any) -> None:
    add = s.l.append
    add(x)
    other = s.l
    other.append(x + 1)


def the_same_twice(s: Any, x: Any) -> Any:
    y = x * 2
    s.l.append(y)
    s.l.append(y)
    s.m = y
    return y


def what_is_given(s: Any, x: Any) -> None:
    s.l.append(x)
    s.l.append(s.m)
    s.l.append(s.d)
    s.d["n"] += 1


def the_last(s: Any, x: Any) -> Any:
    s.l.append(x)
    return s.l[-1] * 2


def takes_the_last_away(s: Any, x: Any) -> Any:
    s.l.append(x)
    return s.l.pop() + 1


UNSEEN = [
    appends, extends, adds, in_a_loop, by_another_name, the_same_twice, the_last, now_and_then, what_is_given,
]  # fmt: skip


def counts(s: Any, x: Any) -> Any:
    s.l.append(x)
    return len(s.l) * x


def is_not_empty(s: Any, x: Any) -> Any:
    if s.l:
        x = x * 2
    s.l.append(x)
    return x


def reads(s: Any, x: Any) -> Any:
    s.l.append(x + (s.l[0] if len(s.l) else 0.0))
    return x


def reads_by_place(s: Any, x: Any) -> Any:
    s.l.append(x)
    return s.l[1] if s.k > 2 else x


def walks(s: Any, x: Any) -> Any:
    s.l.append(x)
    total = 0.0
    for y in s.l:
        total = total + y.sum()
    return total


def stacks(s: Any, x: Any) -> Any:
    s.l.append(x)
    return np.stack(s.l).sum(0)


def the_last_few(s: Any, x: Any) -> Any:
    s.l.append(x)
    return np.mean(s.l[-3:], axis=0)


def moves_on(s: Any, x: Any) -> Any:
    s.l.append(x)
    if len(s.l) > 3:
        s.l.pop(0)
    return x


def window(s: Any, x: Any) -> Any:
    s.l.append(x)
    s.l = s.l[-3:]
    return x


def returns_it(s: Any, x: Any) -> Any:
    s.l.append(x)
    return s.l


def leaves_it(s: Any, x: Any) -> Any:
    s.l.append(x)
    s.k = s.l[0]
    return x


def inserts(s: Any, x: Any) -> Any:
    s.l.append(x)
    s.l.insert(0, x * 2)
    return x


def shows(s: Any, x: Any) -> Any:
    s.l.append(x)
    s.text = str(s.l)[:3]
    return x


def replaces(s: Any, x: Any) -> Any:
    s.l = [*s.l, x]
    return x


SEEN = [
    counts, is_not_empty, reads, reads_by_place, walks, stacks, the_last_few, moves_on, window, returns_it, leaves_it,
    inserts, replaces, takes_the_last_away,
]  # fmt: skip


def made(n: int) -> Any:
    return Held(l=[X * k for k in range(n)], m=X * 1, k=1.0, d={"n": 0})


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("f", [*UNSEEN, *SEEN])
def test_lists_hold_what_pythons_do(f: Callable[..., Any], n: int) -> None:
    compiled, ours, pythons = pliant.jit(f), made(n), made(n)
    for step in range(7):
        ours.k = pythons.k = float(step)
        assert_like(compiled(ours, X + step), f(pythons, X + step))
        assert_like(ours, pythons)
        if f is what_is_given:
            assert ours.l[-1] is ours.d


@pytest.mark.parametrize("f", UNSEEN)
def test_lists_that_are_only_appended_to_are_compiled_once(f: Callable[..., Any]) -> None:
    compiled, s, t = pliant.jit(f), made(2), made(2)
    for _ in range(4):
        compiled(s, X)
        f(t, X)
    count = sum(map(len, compiled.entries.values()))
    for _ in range(20):
        compiled(s, X)
        f(t, X)
    assert sum(map(len, compiled.entries.values())) == count
    assert_like(s, t)
    if f not in (now_and_then, what_is_given):
        assert compiled.natives


@pytest.mark.parametrize("f", UNSEEN)
def test_lists_of_objects_from_outside(f: Callable[..., Any]) -> None:
    s, t = made(1), made(1)
    compiled = pliant.jit(lambda x: f(s, x))
    for step in range(8):
        before = s.l
        assert_like(compiled(X + step), f(t, X + step))
        assert s.l is before
        assert_like(s, t)


def test_a_list_from_outside() -> None:
    log: list[Any] = []

    def f(x: Any) -> Any:
        log.append(x.sum())
        return x * 2

    compiled = pliant.jit(f)
    for step in range(8):
        compiled(X + step)
    np.testing.assert_allclose(log, [(X + step).sum() for step in range(8)])
    assert compiled.natives


def test_a_list_from_outside_that_is_read_is_an_error() -> None:
    log: list[Any] = [1.0] * 13

    def f(x: Any) -> Any:
        log.append(x.sum())
        return x * len(log)

    compiled = pliant.jit(f)
    for n in (14, 15, 16):
        np.testing.assert_array_equal(compiled(X), n * X)
    with pytest.raises(UnsupportedError, match="a list from outside of the function gets longer at each call"):
        compiled(X)
    assert len(log) == 16


def test_a_list_from_outside_that_is_kept_short() -> None:
    s, t = made(0), made(0)
    compiled = pliant.jit(lambda x: moves_on(s, x))
    for k in range(9):
        assert_like(compiled(X + k), moves_on(t, X + k))
        assert_like(s, t)
    assert compiled.natives


def sometimes(s: Any, x: Any) -> Any:
    if x[0] > 2:
        s.best = x * 2
    return x


def sometimes_in_a_loop(s: Any, x: Any) -> Any:
    least = np.inf
    for v in x:
        if v < least:
            least, s.best = v, v
    s.pair = (s.best, 1)
    return s


def sometimes_in_a_list(s: Any, x: Any) -> Any:
    if x[0] > 2:
        s.list[0] = x
        s.dict["b"] = x[1]
    return x


@pytest.mark.parametrize("f", [sometimes, sometimes_in_a_loop, sometimes_in_a_list])
def test_none_until_a_condition_holds(f: Callable[..., Any]) -> None:
    def new() -> Any:
        return Held(best=None, list=[None, None], dict={"b": None}, pair=(None, 0))

    given, outside, pythons, others = new(), new(), new(), new()
    compiled, bound = pliant.jit(f), pliant.jit(lambda x: f(outside, x))
    for k in range(7):
        assert_like(compiled(given, X + k), f(pythons, X + k))
        assert_like(given, pythons)
        assert_like(bound(X + k), f(others, X + k))
        assert_like(outside, others)


def test_attributes_set_by_their_dict() -> None:
    s = Held(w=X * 0)

    def f(x: Any) -> Any:
        s.__dict__.update(w=s.w + x)
        return x

    compiled = pliant.jit(f)
    for k in range(1, 5):
        compiled(X)
        np.testing.assert_array_equal(s.w, k * X)


def test_elements_are_the_arrays_that_were_given() -> None:
    s = made(0)
    compiled = pliant.jit(lambda s, x: s.l.append(x))
    for _ in range(5):
        x = X * 1
        compiled(s, x)
        assert s.l[-1] is x


def test_one_list_under_two_names() -> None:
    def f(s: Any, x: Any) -> None:
        s.l.append(x)
        s.other.append(2 * x)

    compiled = pliant.jit(f)
    s = made(0)
    s.other = s.l
    t = copy.deepcopy(s)
    for step in range(6):
        compiled(s, X + step)
        f(t, X + step)
        assert s.other is s.l
        assert_like(s, t)
    s.other, t.other = [], []
    for step in range(4):
        compiled(s, X + step)
        f(t, X + step)
        assert_like(s, t)


def test_other_objects_and_new_lists() -> None:
    compiled = pliant.jit(appends)
    for n in (0, 3, 1):
        s = made(n)
        for _ in range(5):
            compiled(s, X)
        assert len(s.l) == n + 5
        s.l = []
        compiled(s, X)
        assert_like(s.l, [X.sum()])


def test_a_failing_call_appends_what_python_appends() -> None:
    def f(s: Any, x: Any) -> Any:
        s.l.append(x[0])
        if x.sum() < 0:
            raise ValueError("negative")
        return x

    compiled, s = pliant.jit(f), made(0)
    for _ in range(5):
        compiled(s, abs(X))
    with pytest.raises(ValueError, match="negative"):
        compiled(s, -abs(X))
    compiled(s, abs(X))
    assert len(s.l) >= 6


def test_gradients_beside_what_is_appended() -> None:
    class Fit:
        def __init__(self) -> None:
            self.w, self.losses = X * 0, list[Any]()

        def loss(self, w: Any, x: Any) -> Any:
            return ((w - x) ** 2).sum()

        def step(self, x: Any) -> Any:
            loss, g = pliant.value_and_grad(self.loss)(self.w, x)
            self.w = self.w - 0.1 * g
            self.losses.append(loss)
            return loss

    fit = Fit()
    step, w = pliant.jit(fit.step), X * 0
    for k in range(6):
        step(X)
        assert fit.losses[-1] == pytest.approx(((w - X) ** 2).sum())
        w = w - 0.2 * (w - X)
        np.testing.assert_allclose(fit.w, w)
        assert len(fit.losses) == k + 1
