"""Lists of objects and of arrays of which it is known only at run time how many elements they have: what is changed of
an element, or of what was put into the list, is changed wherever Python has the same object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pliant

# ruff: noqa: PERF401  (how the list is made is what is tested)


@dataclass
class S:
    """A number that changes."""

    t: Any

    def add(self, v: Any) -> None:
        """Change it."""
        self.t += v


@dataclass(slots=True)
class Slotted:
    """The same without a dict."""

    t: Any


@dataclass
class Outer:
    """What holds another one."""

    s: S


@dataclass
class Row:
    """What holds an array."""

    v: Any


class Plain:
    """An object of a class that is no dataclass."""

    def __init__(self, t: Any) -> None:
        self.t = t


class Holder:
    """What holds a list."""

    def __init__(self) -> None:
        self.out: list[Any] = []


def changed_of_a_comprehension(x: Any) -> Any:
    out = [S(a) for a in x if a > 0]
    for s in out:
        s.t *= 3
    return sum((s.t for s in out), start=0.0)


def changed_of_appended(x: Any) -> Any:
    out: list[Any] = []
    for a in x:
        if a > 0:
            out.append(S(a))
    for s in out:
        s.t *= 3
    return sum((s.t for s in out), start=0.0)


def last_by_a_name(x: Any) -> Any:
    out = [S(x[0])]
    if x[1] > 0:
        out.append(S(x[1]))
    last = out[-1]
    last.t = 50.0
    return sum((s.t for s in out), start=0.0)


def nested(x: Any) -> Any:
    out = [Outer(S(x[0]))]
    if x[1] > 0:
        out.append(Outer(S(x[1])))
    out[0].s.t += 2 * x[1]
    return sum((s.s.t for s in out), start=0.0)


def by_a_method(x: Any) -> Any:
    out = [S(x[0])]
    if x[1] > 0:
        out.append(S(x[1]))
    out[-1].add(x[2])
    return sum((s.t for s in out), start=0.0)


def with_slots(x: Any) -> Any:
    out = [Slotted(x[0])]
    if x[1] > 0:
        out.append(Slotted(x[1]))
    out[-1].t += x[2]
    return sum((s.t for s in out), start=0.0)


def array_written(x: Any) -> Any:
    out = [Row(x * 2)]
    if x[1] > 0:
        out.append(Row(x * 3))
    out[-1].v[1] += 10
    return sum((q.v.sum() for q in out), start=0.0)


def array_set(x: Any) -> Any:
    out = [Row(x * 2)]
    if x[1] > 0:
        out.append(Row(x * 3))
    out[-1].v = x * 5
    return sum((q.v.sum() for q in out), start=0.0)


def greatest(x: Any) -> Any:
    out = [S(a) for a in x if a > -10]
    best = max(out, key=lambda s: s.t)
    best.t += 100
    return sum((s.t * i for i, s in enumerate(out)), start=0.0)


def greatest_of_joined(x: Any) -> Any:
    out = [S(a) for a in x if a > 0] + [S(0.5)]
    best = max(out, key=lambda s: s.t)
    best.t += 100
    return sum((s.t * i for i, s in enumerate(out)), start=0.0)


def list_of_an_object(x: Any) -> Any:
    h = Holder()
    for a in x:
        if a > 0:
            h.out.append(S(a))
    for s in h.out:
        s.t += 1
    return sum((s.t for s in h.out), start=0.0)


def read_as_an_array(x: Any) -> Any:
    out = [S(a) for a in x if a > 0]
    for s in out:
        s.t *= 3
    return np.array([s.t for s in out]).sum()


def last_of_growing(x: Any) -> Any:
    out = [S(x[0])]
    for a in x:
        out[-1].t += a
        out.append(S(2 * a))
    return sum((s.t * i for i, s in enumerate(out)), start=0.0)


def last_of_filling(x: Any) -> Any:
    out = [S(x[0])]
    for a in x:
        out[-1].t += a
        if a > 0:
            out.append(S(2 * a))
    return sum((s.t * i for i, s in enumerate(out)), start=0.0)


def in_order(x: Any) -> Any:
    out = [S(a) for a in x if a > 0]
    out.sort(key=lambda s: -s.t)
    for s in out[:1]:
        s.t = 0.0
    return sum((s.t * (i + 1) for i, s in enumerate(out)), start=0.0)


def of_a_slice(x: Any) -> Any:
    out = [S(a) for a in x if a > -2.9]
    for s in out[1:]:
        s.t *= 2
    return sum((s.t * (i + 1) for i, s in enumerate(out)), start=0.0)


def of_zip(x: Any) -> Any:
    out = [S(a) for a in x if a > -2.9]
    for i, (s, v) in enumerate(zip(out, x, strict=False)):
        s.t += v * i
    return sum((s.t * (i + 1) for i, s in enumerate(out)), start=0.0)


def in_tuples(x: Any) -> Any:
    out = [(S(a), a) for a in x if a > -0.9]
    for s, v in out:
        s.t += v
    return sum((s.t * (i + 1) for i, (s, _) in enumerate(out)), start=0.0)


def of_a_copied_list(x: Any) -> Any:
    out = [S(a) for a in x if a > -0.9]
    two = list(out)
    for s in two:
        s.t += 1
    return sum((s.t * (i + 1) for i, s in enumerate(out)), start=0.0)


def stack(x: Any) -> Any:
    st = [S(x[0] ** 2), S(x[1] ** 2)]
    tot = 0.0
    k = 0
    while st and k < 12:
        k += 1
        n = st[-1]
        n.t -= 1.0
        if n.t < 0:
            tot += st.pop().t
        elif n.t > 2.5:
            st.append(S(n.t / 2))
    return tot + sum(s.t for s in st)


ELEMENTS = [
    changed_of_a_comprehension,
    changed_of_appended,
    last_by_a_name,
    nested,
    by_a_method,
    with_slots,
    array_written,
    array_set,
    greatest,
    greatest_of_joined,
    list_of_an_object,
    read_as_an_array,
    last_of_growing,
    last_of_filling,
    in_order,
    of_a_slice,
    of_zip,
    in_tuples,
    of_a_copied_list,
    stack,
]


def bound_and_appended(x: Any) -> Any:
    out: list[Any] = []
    cur = S(0.0)
    for a in x:
        if a > 0:
            cur = S(a)
            out.append(cur)
        cur.t += 1.0
    return sum((q.t for q in out), start=0.0)


def changed_and_bound(x: Any) -> Any:
    out: list[Any] = []
    cur = S(0.0)
    for a in x:
        cur.t += 1.0
        if a > 0:
            cur = S(a)
            out.append(cur)
    return sum((q.t for q in out), start=0.0)


def appended_while_it_changes(x: Any) -> Any:
    s = S(0.0)
    out: list[Any] = []
    for a in x:
        s.t += a
        if a > 0:
            out.append(s)
    return sum((q.t for q in out), start=0.0)


def taken_from_a_pool(x: Any) -> Any:
    pool = [S(a) for a in x]
    out: list[Any] = []
    for p in pool:
        if p.t > 0:
            out.append(p)
    for q in out:
        q.t = 1.0
    return sum(q.t for q in out) * 100.0 + sum(p.t for p in pool)


def pool_changed(x: Any) -> Any:
    pool = [S(a) for a in x]
    out: list[Any] = []
    for p in pool:
        if p.t > 0:
            out.append(p)
    for p in pool:
        p.t = p.t * 2
    return sum(q.t for q in out) * 100.0 + sum(p.t for p in pool)


def array_that_changes(x: Any) -> Any:
    u = x.copy()
    traj: list[Any] = []
    for i in range(9):
        u[1:] += 0.1 * (u[:-1] - u[1:])
        if i % 2 == 0:
            traj.append(u)
    return np.array(traj).sum()


def array_that_changes_by_elements(x: Any) -> Any:
    acc = np.zeros(2)
    out: list[Any] = []
    for a in x:
        acc[0] += a
        if a > 0:
            out.append(acc)
    return sum((q[0] for q in out), start=0.0)


def changed_before_it_is_appended(x: Any) -> Any:
    cur = S(0.0)
    out: list[Any] = []
    for a in x:
        cur.t += a
        if a > 0:
            out.append(cur)
        cur = S(a * 0.5)
    return sum((s.t * i for i, s in enumerate(out)), start=0.0)


def made_and_appended(x: Any) -> Any:
    out: list[Any] = []
    for a in x:
        if a > 0:
            s = S(a)
            s.t *= 2
            out.append(s)
    return sum((s.t * i for i, s in enumerate(out)), start=0.0)


def handed_on(x: Any) -> Any:
    out = [S(x[0])]
    b = S(x[1])
    a_ = b
    for v in x:
        a_.t += v
        a_ = b
        b = S(v)
        if v > 0:
            out.append(b)
    return sum((s.t * i for i, s in enumerate(out)), start=0.0)


def changed_outside(x: Any) -> Any:
    first = S(x[0])
    out = [first]
    for v in x:
        if v > 1:
            out.append(S(v))
    first.t = 7 * x[1]
    return sum((s.t for s in out), start=0.0)


def one_many_times(x: Any) -> Any:
    s = S(x[0])
    out: list[Any] = []
    for v in x:
        if v > 0:
            out.append(s)
    for q in out:
        q.t += 1
    return s.t


SHARED = [
    bound_and_appended,
    changed_and_bound,
    appended_while_it_changes,
    taken_from_a_pool,
    pool_changed,
    array_that_changes,
    array_that_changes_by_elements,
    changed_before_it_is_appended,
    made_and_appended,
    handed_on,
    changed_outside,
    one_many_times,
]


def plain_from_before(x: Any) -> Any:
    s = Plain(x[0])
    out: list[Any] = []
    for _ in x:
        out.append(s)
    return sum(q.t for q in out) + x.sum()


def tuples_from_before(x: Any) -> Any:
    s = Plain(x[0])
    out: list[Any] = []
    for a in x:
        out.append((s, a))
    return sum(q.t * b for q, b in out) + x.sum()


def from_before(x: Any) -> Any:
    s = S(x[0])
    out: list[Any] = []
    for _ in x:
        out.append(s)
    return sum(q.t for q in out) + x.sum()


def from_before_that_changes(x: Any) -> Any:
    s = S(x[0])
    out: list[Any] = []
    for a in x:
        s.t += a
        out.append(s)
    return sum(q.t for q in out) + x.sum()


def from_before_changed_later(x: Any) -> Any:
    s = S(x[0])
    out: list[Any] = []
    for _ in x:
        out.append(s)
    s.t = x[1]
    return sum(q.t for q in out) + x.sum()


BEFORE = [plain_from_before, tuples_from_before, from_before, from_before_that_changes, from_before_changed_later]


def left_in_a_name(x: Any) -> Any:
    out: list[Any] = []
    for a in x:
        p = S(a)
        out.append(p)
    p.t = 50.0 * x[1]
    return out[-1].t + p.t


def left_in_another_name(x: Any) -> Any:
    out: list[Any] = []
    for i in range(6):
        p = S(x[i])
        out.append((p, i))
        q = p
    q.t *= 3
    return sum([k * o.t for o, k in out]) + p.t


def left_if_appended(x: Any) -> Any:
    out: list[Any] = []
    for a in x:
        p = S(a)
        if a > 2:
            out.append(p)
    p.t = 50.0 * x[0]
    return sum(q.t for q in out) + x.sum()


def left_and_carried(x: Any) -> Any:
    out: list[Any] = []
    p = S(x[0])
    for a in x:
        p = S(a + p.t)
        out.append(p)
    p.add(50.0 * x[2])
    return sum(q.t for q in out)


def left_with_an_array(x: Any) -> Any:
    out: list[Any] = []
    for i in range(6):
        p = Row(x * i)
        out.append(p)
    p.v = x * 3
    return sum(q.v.sum() for q in out)


def left_by_break(x: Any) -> Any:
    out: list[Any] = []
    for a in x:
        p = S(a)
        out.append(p)
        if a > 4:
            break
    p.t *= 7
    return sum(q.t for q in out)


LEFT = [
    left_in_a_name, left_in_another_name, left_if_appended, left_and_carried, left_with_an_array, left_by_break,
]  # fmt: skip

DATA = [
    np.array([1.1, -2.2, 3.3, -4.1, 2.6, 1.57]),
    np.array([1.13, 2.2, 3.1, 4.2, 5.3, 6.4]),
    np.array([-1.15, -2.2, -3.3, -4.1, -0.5, -7.3]),
    np.array([-1.5, 2.3, -3.6, 4.4, 1.7, 0.1]),
]


def differences(f: Any, x: Any) -> Any:
    """The gradient of a function, by differences."""
    return np.array([(f(x + e) - f(x - e)) / 2e-6 for e in 1e-6 * np.eye(len(x))])


@pytest.mark.parametrize("f", [*ELEMENTS, *SHARED, *BEFORE, *LEFT])
def test_it_is_what_python_gives_on_all_data(f: Any) -> None:
    value, gradient = pliant.jit(f), pliant.grad(f)
    for x in DATA:
        expected = [f(x.copy()), differences(f, x)]
        np.testing.assert_allclose(value(x.copy()), expected[0])
        np.testing.assert_allclose(gradient(x.copy()), expected[1], rtol=1e-5, atol=1e-6)
