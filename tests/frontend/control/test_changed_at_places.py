"""Objects of a list that is an argument, global, or an object's own, changed at a place known only at run time: what is
left in them, returned and differentiated is Python's, at each call."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pliant

COUNT = 6
INPUTS = [np.random.default_rng(seed).normal(size=COUNT) * 3 for seed in range(3)]


class Plain:
    def __init__(self, x: Any) -> None:
        self.x = x

    def move(self, by: Any) -> None:
        self.x += by


@dataclass
class Data:
    x: Any


class Slotted:
    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x


class Lists:
    def __init__(self, x: Any) -> None:
        self.p = [x, 2 * x]


class Nested:
    def __init__(self, x: Any) -> None:
        self.inner, self.x = Plain(x), x


class Pair(NamedTuple):
    one: Any
    weight: Any


class Model:
    def __init__(self, ps: Any) -> None:
        self.ps = ps

    def run(self, d: Any) -> Any:
        return added(self.ps, d)


OUTSIDE: list[Any] = []


class Known:
    items: list[Any] = []  # noqa: RUF012


def many(kind: Callable[[float], Any]) -> Any:
    return [kind(float(n)) for n in range(COUNT)]


def twice() -> Any:
    ps = many(Plain)
    return [ps[1], *ps[1:]]


def total(ps: Any) -> Any:
    return sum([(n + 1.0) * p.x for n, p in enumerate(ps)])


def added(ps: Any, d: Any) -> Any:
    for i in range(len(ps)):
        ps[i].x = ps[i].x + d[i] * ps[0].x
    return total(ps)


def augmented(ps: Any, d: Any) -> Any:
    for i in range(len(ps)):
        ps[i].x += d[i]
    return total(ps)


def replaced(ps: Any, d: Any) -> Any:
    for i in range(len(ps)):
        ps[i].x = d[i]
    return total(ps)


def neighbours(ps: Any, d: Any) -> Any:
    for i in range(len(ps) - 1):
        ps[i].x = ps[i].x + d[i]
        ps[i + 1].x = ps[-i].x - 2 * d[i]
    return total(ps)


def pairwise(ps: Any, d: Any) -> Any:
    for i in range(len(ps)):
        for j in range(len(ps)):
            if i != j:
                ps[i].x = ps[i].x + 0.1 * (ps[j].x - ps[i].x) * d[0]
    return total(ps)


def by_condition(ps: Any, d: Any) -> Any:
    i = 0
    while i < len(ps) and d[i] < 3:
        if d[i] > 0:
            ps[i].x = ps[i].x * d[i]
        i += 1
    return total(ps)


def by_method(ps: Any, d: Any) -> Any:
    for i in range(len(ps)):
        ps[i].move(d[i])
    return total(ps)


def by_name(ps: Any, d: Any) -> Any:
    for i in range(len(ps)):
        vars(ps[i])["x"] = ps[i].x + d[i]
        setattr(ps[i], "x", ps[i].x * 2)  # noqa: B010
    return total(ps)


def of_greatest(ps: Any, d: Any) -> Any:
    k = int(np.argmax(d))
    ps[k].x = d[0] + 7
    return ps[k].x + ps[0].x


def two_names(ps: Any, d: Any) -> Any:
    p, q, r = ps[int(np.argmax(d))], ps[int(np.argmin(d))], ps[int(np.argmax(d))]
    p.x, q.x = q.x + 1, p.x
    r.x = r.x * 2
    ps[1].x = ps[1].x + 3
    return p.x + 2 * q.x


def left_in_a_name(ps: Any, d: Any) -> Any:
    last = ps[0]
    for i in range(len(ps)):
        last = ps[i]
        last.x = last.x + d[i]
    last.x = last.x + 1
    return total(ps)


def left_in_a_list(ps: Any, d: Any) -> Any:
    for p, w in [(ps[i], 2.0 * i) for i in range(len(ps))]:
        p.x = p.x + w * d[0]
    return total(ps)


def in_some_order(ps: Any, d: Any) -> Any:
    for n, k in enumerate(np.argsort(d)):
        ps[k].x = ps[k].x + n * d[0]
    return total(ps)


def exchanged(ps: Any, d: Any) -> Any:
    k = int(np.argmax(d))
    ps[0], ps[k] = ps[k], ps[0]
    ps[0].x = ps[0].x + d[1]
    return total(ps)


def of_lists(ps: Any, d: Any) -> Any:
    for i in range(len(ps)):
        ps[i].p[0] += d[i]
        ps[i].p[1] = ps[i].p[0] * 2
    return sum([p.p[1] for p in ps])


def of_parts(ps: Any, d: Any) -> Any:
    for i in range(len(ps)):
        for k in range(2):
            ps[i].p[k] += ps[i].p[1 - k] * d[i]
    return sum([p.p[1] for p in ps])


def with_no_name(ps: Any, d: Any) -> Any:
    p = ps[int(np.argmax(d))]
    ps = None
    p.p[0] = d[0]
    return p.p[0]


def by_one_condition(ps: Any, d: Any) -> Any:
    p = ps[0] if d[0] > 0 else ps[1]
    ps = None
    p.p[0] = d[1]
    return p.p[0]


def of_nested(ps: Any, d: Any) -> Any:
    for i in range(len(ps)):
        ps[i].inner.x = ps[i].inner.x + d[i] * ps[i].x
    return sum([p.inner.x for p in ps])


def of_pairs(ts: Any, d: Any) -> Any:
    for i in range(len(ts)):
        ts[i][0].x += d[i] * ts[i][1]
    return total([t[0] for t in ts])


def of_a_dict(t: Any, d: Any) -> Any:
    return augmented(t["ps"], d)


def of_an_object(m: Any, d: Any) -> Any:
    for i in range(len(m.ps)):
        m.ps[i].x = m.ps[i].x + d[i]
    return total(m.ps)


def of_a_method(m: Any, d: Any) -> Any:
    return m.run(d)


PLAIN = [
    added, augmented, replaced, neighbours, pairwise, by_condition, by_method, by_name, of_greatest, two_names,
    left_in_a_name, left_in_a_list, in_some_order, exchanged,
]  # fmt: skip
KINDS: list[Callable[[], Any]] = [
    lambda: many(Data), lambda: many(lambda x: SimpleNamespace(x=x)), lambda: many(Slotted), twice,
    lambda: [Plain(n) for n in range(COUNT)],
    lambda: [Plain(np.array(float(n))) for n in range(COUNT)],
    lambda: [(Plain, Data)[n % 2](float(n)) for n in range(COUNT)],
    lambda: tuple(many(Plain)), lambda: deque(many(Plain)), lambda: dict(enumerate(many(Plain))),
]  # fmt: skip
OTHERS: list[tuple[Any, Callable[[], Any]]] = [
    *[(f, lambda: many(Lists)) for f in (of_lists, of_parts, with_no_name, by_one_condition)],
    (of_nested, lambda: many(Nested)),
    (of_pairs, lambda: [(Plain(float(n)), 2.0) for n in range(COUNT)]),
    (of_pairs, lambda: [Pair(Plain(float(n)), 2.0) for n in range(COUNT)]),
    (of_pairs, lambda: [[Plain(float(n)), 2.0] for n in range(COUNT)]),
    (of_a_dict, lambda: {"ps": many(Plain)}),
    (of_an_object, lambda: Model(many(Data))),
    (of_a_method, lambda: Model(many(Plain))),
]
CASES = [
    *[(f, lambda: many(Plain)) for f in PLAIN],
    *[(f, kind) for kind in KINDS[:7] for f in (augmented, of_greatest)],
    *[(of_greatest, kind) for kind in KINDS[7:]],
    *OTHERS,
]


def held(x: Any) -> Any:
    """The numbers that a tree of objects holds, in order."""
    if isinstance(x, list | tuple | deque):
        return [held(part) for part in x]
    if isinstance(x, dict):
        return [held(part) for part in x.values()]
    if hasattr(x, "__slots__"):
        return [held(getattr(x, name)) for name in x.__slots__]
    return held(vars(x)) if hasattr(x, "__dict__") else float(x)


@pytest.mark.parametrize(("f", "make"), CASES)
def test_each_call_leaves_and_returns_what_pythons_does(f: Any, make: Callable[[], Any]) -> None:
    compiled = pliant.jit(f)
    for d in INPUTS:
        given, expected = make(), make()
        assert_allclose(compiled(given, d), f(expected, d), rtol=1e-12)
        assert_allclose(flat(held(given)), flat(held(expected)), rtol=1e-12)


@pytest.mark.parametrize(("f", "make"), [case for case in CASES if case[1] is not twice])
def test_gradients_are_differences(f: Any, make: Callable[[], Any]) -> None:
    for d in INPUTS[:2]:
        steps = 1e-6 * np.eye(COUNT)
        expected = [(f(make(), d + step) - f(make(), d - step)) / 2e-6 for step in steps]
        found = pliant.value_and_grad(lambda d, given: f(given, d))(d, make())
        assert_allclose(found[0], f(make(), d), rtol=1e-12)
        assert_allclose(found[1], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("f", [added, neighbours, by_condition, two_names, left_in_a_list])
def test_a_batch_is_a_loop(f: Any) -> None:
    found = pliant.vmap(lambda d, given: f(given, d), in_axes=(0, None))(np.stack(INPUTS), many(Plain))
    assert_allclose(found, [f(many(Plain), d) for d in INPUTS], rtol=1e-12)


def of_global_objects(d: Any) -> Any:
    return augmented(OUTSIDE, d)


def of_global_lists(d: Any) -> Any:
    return of_lists(OUTSIDE, d)


def of_one_of_global_lists(d: Any) -> Any:
    chosen = OUTSIDE[0].p if d[0] > 0 else OUTSIDE[1].p
    chosen[0] = d[1]
    return OUTSIDE[0].p[0]


def of_a_class(d: Any) -> Any:
    Known.items[int(np.argmax(d))].p[0] = d[1]
    return Known.items[0].p[0]


@pytest.mark.parametrize(
    ("f", "kind", "outside"),
    [
        (of_global_objects, Plain, OUTSIDE), (of_global_lists, Lists, OUTSIDE),
        (of_one_of_global_lists, Lists, OUTSIDE), (of_a_class, Lists, Known.items),
    ],
)  # fmt: skip
def test_what_only_names_outside_hold_is_changed(f: Any, kind: Any, outside: list[Any]) -> None:
    compiled = pliant.jit(f)
    for d in INPUTS:
        outside[:] = many(kind)
        expected = f(d), held(outside)
        outside[:] = many(kind)
        assert_allclose(compiled(d), expected[0], rtol=1e-12)
        assert_allclose(flat(held(outside)), flat(expected[1]), rtol=1e-12)


def test_what_a_bound_method_changes_is_left_in_its_object() -> None:
    for d in INPUTS:
        given, expected = Model(many(Plain)), Model(many(Plain))
        assert_allclose(pliant.jit(given.run)(d), expected.run(d), rtol=1e-12)
        assert_allclose(flat(held(given)), flat(held(expected)), rtol=1e-12)


def flat(tree: Any) -> list[float]:
    return [x for part in tree for x in flat(part)] if isinstance(tree, list) else [tree]
