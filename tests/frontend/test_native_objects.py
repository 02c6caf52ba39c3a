"""Calls that change objects and containers, answered by native code: as plain Python changes them."""

from __future__ import annotations

import copy
import gc
import sys
import threading
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pliant

X = np.array([1.0, -2.0, 0.5])
Pair = namedtuple("Pair", "first second")


class Held:
    """Attributes, and nothing else."""

    def __init__(self, **held: Any) -> None:
        self.__dict__.update(held)


@dataclass
class Moments:
    """Of all that was seen."""

    mean: Any
    count: int


def one_object(s: Any, x: Any) -> Any:
    s.m = 0.9 * s.m + x
    s.n = s.n + 1
    return s.m.sum()


def objects_in_a_list(s: Any, x: Any) -> Any:
    for layer in s.layers:
        layer.x = x
        x = np.tanh(layer.w * x)
        layer.last = s.layers[0].x
    s.out = x
    return x


def moved(s: Any, x: Any) -> Any:
    s.a, s.b = s.b, s.a + x
    s.text, s.other = s.other, s.text
    return s.a


def in_tuples(s: Any, x: Any) -> Any:
    s.pair = Pair(s.pair.first + x, s.pair.second)
    s.both = (s.both[0], (s.both[1][0] * x, s.both[1][1]))
    s.lists[0][1] = x * 2
    return s.pair.first.sum()


def a_dict_by_tuples(d: Any, x: Any) -> Any:
    for k in range(2):
        d[k, "w"] = d[k, "w"] * 0.5 + x
    d["n"] += 1
    return d[0, "w"] + d[1, "w"]


def a_dataclass(m: Any, x: Any) -> Any:
    m.count += 1
    m.mean = m.mean + (x - m.mean) / m.count
    return m.mean


def what_is_returned(s: Any, x: Any) -> Any:
    s.m = x * 2
    s.view = s.m[1:]
    return s.m, s.view


def written_in_place(s: Any, x: Any) -> Any:
    s.m[1:] += x[1:]
    s.m, s.old = s.m * 1.0, s.m
    return s.m


def beside_objects_without_attributes(s: Any, x: Any) -> Any:
    s.seen.append(x)
    s.kept["x"].append(x * 2)
    s.x = x
    return s.x


CASES: list[tuple[Callable[..., Any], Callable[[], Any]]] = [
    (one_object, lambda: Held(m=np.zeros(3), n=0)),
    (
        objects_in_a_list,
        lambda: Held(layers=[Held(w=X + k, x=X, last=X) for k in range(12)], out=X),
    ),
    (moved, lambda: Held(a=X * 1, b=X * 2, text="one", other="two")),
    (in_tuples, lambda: Held(pair=Pair(X * 1, 2.0), both=(1, (X * 1, "text")), lists=([1.0, X * 1], [2.0]))),
    (a_dict_by_tuples, lambda: {(0, "w"): X * 1, (1, "w"): X * 2, "n": 0}),
    (a_dataclass, lambda: Moments(X * 0, 0)),
    (what_is_returned, lambda: Held(m=X * 1, view=X[1:] * 1)),
    (written_in_place, lambda: Held(m=X * 1, old=X * 1)),
    (
        beside_objects_without_attributes,
        lambda: Held(seen=[], plain=Held(), kept={"x": []}, none={}, some=[Held(), {}], x=X * 1),
    ),
]


@pytest.mark.parametrize(("f", "made"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_native_calls_change_what_python_changes(f: Callable[..., Any], made: Callable[[], Any]) -> None:
    compiled, ours, pythons = pliant.jit(f), made(), made()
    for step in range(6):
        x = X + step
        got, expected = compiled(ours, x), f(pythons, x)
        assert_like(got, expected)
        assert_like(ours, pythons)
    assert compiled.natives


def assert_like(ours: Any, pythons: Any) -> None:
    """The same containers, classes and keys; numbers up to their rounding."""
    assert type(ours) is type(pythons)
    if isinstance(ours, dict):
        assert [*ours] == [*pythons]
        for key in ours:
            assert_like(ours[key], pythons[key])
    elif isinstance(ours, list | tuple):
        assert len(ours) == len(pythons)
        for a, b in zip(ours, pythons, strict=True):
            assert_like(a, b)
    elif hasattr(ours, "__dict__"):
        assert_like(vars(ours), vars(pythons))
    elif isinstance(ours, str | None):
        assert ours == pythons
    else:
        np.testing.assert_allclose(ours, pythons, rtol=1e-13)


@pytest.mark.parametrize(("f", "made"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_as_a_method_of_an_object_from_outside(f: Callable[..., Any], made: Callable[[], Any]) -> None:
    ours, pythons = made(), made()

    def outside(x: Any) -> Any:
        return f(ours, x)

    compiled = pliant.jit(outside)
    for step in range(8):
        assert_like(compiled(X + step), f(pythons, X + step))
        assert_like(ours, pythons)
    assert compiled.natives


def test_what_is_left_and_returned_is_one_array() -> None:
    compiled, s = pliant.jit(what_is_returned), Held(m=X * 1, view=X[1:] * 1)
    for _ in range(5):
        m, view = compiled(s, X)
        assert m is s.m
        assert np.shares_memory(view, m)


def test_an_array_that_moves_stays_itself() -> None:
    compiled, s = pliant.jit(moved), Held(a=X * 1, b=X * 2, text="one", other="two")
    for _ in range(5):
        before = s.b
        compiled(s, X)
        assert s.a is before


def two_objects(s: Any, t: Any, x: Any) -> Any:
    s.m = s.m + x
    t.m = t.m * 2
    return s.m - t.m


def test_objects_that_are_the_same_are_told_from_others() -> None:
    compiled = pliant.jit(two_objects)
    s, t = Held(m=X * 1), Held(m=X * 1)
    for _ in range(4):
        compiled(s, t, X)
    assert compiled.natives
    for ours, pythons in ((Held(m=X * 1), Held(m=X * 1)), (s, copy.deepcopy(s))):
        np.testing.assert_array_equal(compiled(ours, ours, X), two_objects(pythons, pythons, X))
        np.testing.assert_array_equal(ours.m, pythons.m)


def all_of_many(parts: Any, x: Any) -> Any:
    for p in parts:
        p["w"] = p["w"] + x
    return parts[0]["w"]


def test_one_of_many_that_is_there_twice() -> None:
    compiled = pliant.jit(all_of_many)
    many = [{"w": X * k} for k in range(30)]
    for _ in range(4):
        compiled(many, X)
    assert compiled.natives
    many[7] = many[29]
    pythons = copy.deepcopy(many)
    compiled(many, X)
    all_of_many(pythons, X)
    for p, q in zip(many, pythons, strict=True):
        np.testing.assert_array_equal(p["w"], q["w"])


def fails(s: Any, x: Any) -> Any:
    s.n = s.n + 1
    if x.sum() < 0:
        raise ValueError("negative")
    s.m = s.m + x
    return s.m


def test_an_exception_leaves_what_python_leaves() -> None:
    compiled, s = pliant.jit(fails), Held(n=0, m=X * 0)
    for _ in range(4):
        compiled(s, abs(X))
    assert compiled.natives
    before = s.m
    with pytest.raises(ValueError, match="negative"):
        compiled(s, -abs(X))
    assert s.m is before
    np.testing.assert_array_equal(compiled(s, abs(X)), 5 * abs(X))


def test_other_shapes_keys_and_classes_are_served_too() -> None:
    compiled, s, t = pliant.jit(one_object), Held(m=X * 0, n=0), Held(m=X * 0, n=0)
    for step in range(12):
        if step == 4:
            s.m, t.m = np.zeros((2, 3)), np.zeros((2, 3))
        if step == 6:
            s.more, t.more = X, X
        if step == 8:
            s.n, t.n = 0.5, 0.5
        assert compiled(s, X) == pytest.approx(one_object(t, X), rel=1e-13)
        assert_like(s, t)


def test_no_reference_is_lost_or_kept() -> None:
    compiled, s = pliant.jit(moved), Held(a=X * 1, b=X * 2, text="one", other="two")
    for _ in range(4):
        compiled(s, X)
    assert compiled.natives
    texts = s.text, s.other
    gc.collect()
    counts = [*map(sys.getrefcount, (*texts, X, s))]
    blocks = sys.getallocatedblocks()
    for _ in range(2000):
        compiled(s, X)
    gc.collect()
    assert [*map(sys.getrefcount, (*texts, X, s))] == counts
    assert sys.getallocatedblocks() - blocks < 200
    held = [sys.getrefcount(s.a), sys.getrefcount(s.b)]
    assert held == [2, 2]


def test_threads_that_change_their_own() -> None:
    compiled = pliant.jit(one_object)
    states = [Held(m=np.zeros(3), n=0) for _ in range(4)]

    def run(s: Any) -> None:
        for _ in range(500):
            compiled(s, X)

    threads = [threading.Thread(target=run, args=(s,)) for s in states]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for s in states:
        assert s.n == 500
        np.testing.assert_array_equal(s.m, states[0].m)


@dataclass(eq=False)
class Counter:
    """Has a hash, and numbers only."""

    total: float
    count: int


def test_dataclasses_that_have_a_hash() -> None:
    def f(c: Any, x: Any) -> Any:
        c.total = 0.5 * c.total + x.sum()
        c.count += 1
        return c.total

    given, outside, expected = Counter(0.0, 0), Counter(0.0, 0), Counter(0.0, 0)
    compiled, bound = pliant.jit(f), pliant.jit(lambda x: f(outside, x))
    for _ in range(5):
        assert compiled(given, X) == bound(X) == f(expected, X)
        assert_like(given, expected)
        assert_like(outside, expected)


def test_functions_without_source_change_objects_too() -> None:
    names: dict[str, Any] = {}
    exec("def f(s, x):\n    s.m = 0.5 * s.m + x\n    s.d['k'] = s.m\n    return s.m.sum()", names)
    compiled, s, t = pliant.jit(names["f"]), Held(m=X * 0, d={"k": 0.0}), Held(m=X * 0, d={"k": 0.0})
    for _ in range(5):
        assert compiled(s, X) == names["f"](t, X)
        assert_like(s, t)
    exec("def g(x):\n    s.m = s.m + x\n    return s.m.sum()", names | {"s": s}, names)
    outside = pliant.jit(names["g"])
    for _ in range(5):
        t.m = t.m + X
        assert outside(X) == t.m.sum()
        assert_like(s, t)


def test_objects_that_hold_others_from_outside() -> None:
    inner = Held(n=0, m=X * 0)
    outer = Held(inner=inner, total=0.0)

    def f(x: Any) -> Any:
        inner.m = inner.m + x
        inner.n += 1
        outer.total = outer.total + inner.m.sum()
        return outer.total

    compiled = pliant.jit(f)
    total = 0.0
    for step in range(1, 8):
        total += (step * X).sum()
        assert compiled(X) == pytest.approx(total)
        assert inner.n == step
        np.testing.assert_array_equal(outer.inner.m, step * X)
    assert compiled.natives
