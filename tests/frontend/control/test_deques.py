"""`collections.deque` in loops and under conditions does what Python's does."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import UnsupportedError


def distances(x: Any) -> Any:
    n = len(x)
    far, queue, order = np.full(n, -1), deque([0]), deque[Any]()
    far[0] = 0
    while queue:
        u = queue.popleft()
        order.append(u)
        for v in range(n):
            if far[v] < 0 and abs(x[u] - x[v]) < 0.9:
                far[v] = far[u] + 1
                queue.append(v)
    return far, len(order), sum(order) * x[0]


def at_both_ends(x: Any) -> Any:
    d, total = deque[Any](), 0.0
    for v in x:
        if v > 0:
            d.append(v)
        else:
            d.appendleft(v)
        if len(d) > 3:
            total += d.popleft() if x[0] > 0 else d.pop()
    return total, len(d), d[0], d[-1], max(d)


def rotated(x: Any) -> Any:
    d = deque(x[:4])
    for v in x:
        d.rotate(1)
        d[0] = d[0] * v
    d.extendleft([x[0], x[1]])
    d.rotate(-2)
    return d[0] - d[3] * d[-1]


def put_in_front(x: Any) -> Any:
    d = deque([x[0]])
    for v in x:
        d.appendleft(v * d[0])
    return np.array(d).sum()


def asked_for_its_class(x: Any) -> Any:
    d: Any = deque([x[0]])
    if x[0] > 0:
        d.append(x[1])
    return (isinstance(d, deque) + 2 * isinstance(d, list) + 4 * (type(d) is deque)) * d[-1]


def discounted(x: Any) -> Any:
    made, total = deque[Any](maxlen=len(x) - 2), 0.0
    for v in x[::-1]:
        total = v + 0.9 * total
        made.appendleft(total)
    return np.array(made)


def averages(x: Any) -> Any:
    window, made = deque[Any](maxlen=3), list[Any]()
    for v in x:
        window.append(v)
        made.append(np.mean(window) + np.sum(a=window))
    return np.array(made), np.average(window, weights=deque([1.0, x[1] ** 2, 3.0], 3))


def operands(x: Any) -> Any:
    window, places = deque(x, maxlen=4), deque([0, 2, 3], maxlen=3)
    last = np.zeros(4)
    last[:] = window
    return x[:4] @ window, x[1:5] * window, np.exp(window), np.array([window, deque(x[:4], 4)]), x[places], last


def parts(x: Any) -> Any:
    return [*x] if isinstance(x, tuple) else [x]


XS = [s * np.random.default_rng(3).normal(size=14) for s in (1.0, -1.0)]


@pytest.mark.parametrize(
    "f",
    [distances, at_both_ends, rotated, put_in_front, asked_for_its_class, discounted, averages, operands],
)
@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_values_are_those_of_python(f: Callable[[Any], Any], backend: str) -> None:
    compiled = pliant.jit(f, backend=backend)
    for x in XS:
        for a, b in zip(*map(parts, (compiled(x), f(x))), strict=True):
            np.testing.assert_allclose(a, b)


@pytest.mark.parametrize("f", [at_both_ends, rotated, put_in_front, lambda x: sum(map(np.sum, averages(x)))])
def test_derivatives_are_those_of_differences(f: Callable[[Any], Any]) -> None:
    def g(x: Any) -> Any:
        y = parts(f(x))
        return y[0] + y[-1]

    x, d, h = XS[0], np.random.default_rng(4).normal(size=14), 1e-6
    np.testing.assert_allclose(pliant.grad(g)(x) @ d, (g(x + h * d) - g(x - h * d)) / (2 * h), rtol=1e-6)


def test_a_queue_stays_a_loop() -> None:
    assert "unrolled" not in str(pliant.explain(distances, XS[0]))


def test_one_that_is_returned_is_one() -> None:
    def f(x: Any) -> Any:
        d = deque([x[0]])
        d.appendleft(x[1])
        return d, {"a": [d, 1]}

    d, held = pliant.jit(f)(XS[0])
    assert type(d) is deque
    assert [*d] == [XS[0][1], XS[0][0]]
    assert type(held["a"][0]) is deque


@dataclass
class Window:
    """Keeps the latest of what it has seen."""

    seen: Any
    total: Any = 0.0


def test_one_that_an_object_holds_is_one() -> None:
    def filled(x: Any) -> Any:
        made = Window(deque())
        for v in x:
            made.seen.append(v)
            made.total += v
        return [made], Window((deque([x[0]]), 1))

    def replaced(window: Any, v: Any) -> Any:
        window.seen = deque([v, v + 1.0])
        return v

    (got,), other = pliant.jit(filled)(XS[0])
    assert type(got.seen) is type(other.seen[0]) is deque
    assert [*got.seen] == [*XS[0]]
    window = Window(deque([1.0]))
    for v in (3.0, 4.0, 5.0):
        pliant.jit(replaced)(window, v)
        assert window == Window(deque([v, v + 1.0]))


def test_how_far_it_is_rotated_has_to_be_known() -> None:
    def f(x: Any) -> Any:
        d = deque([x[0], x[1]])
        d.rotate(int(x[2]))
        return d[0]

    with pytest.raises(UnsupportedError, match="a deque is rotated, and how many elements"):
        pliant.jit(f)(XS[0])


def appended_to(x: Any) -> Any:
    a, b = [x[0]], [x[1]]
    d = deque([a], maxlen=1)
    if x[0] > 0:
        d.append(b)
    b[0] += 1
    return d[0][0], a[0], d[0] is b


def turned_by_one(x: Any) -> Any:
    a, b = [x[0]], [x[1]]
    d = deque([a, b], maxlen=2)
    if x[0] > 0:
        d.rotate(1)
    else:
        d.append([7.0])
    a[0] += 1
    return d[1][0], d[0][0], b[0]


def put_before(x: Any) -> Any:
    a, b = [x[0]], [x[1]]
    d = deque([a, b, a], maxlen=3)
    if x[0] > 0:
        d.rotate(1)
    else:
        d.appendleft(b)
    d[1][0] += 1
    d[0][0] *= 2
    return d[1][0], d[0][0], a[0], b[0], d[0] is a, d[1] is a, d[2] is d[0], d[2] is b


def held_by_a_dict(x: Any) -> Any:
    a, b = {"v": x[0]}, {"v": x[1]}
    d = deque([a], maxlen=2)
    held = {"d": d}
    d.append(b if x[0] > 0 else a)
    if x[0] > 0:
        d.append(a)
    b["v"] += 1
    for k in d:
        k["v"] *= 3
    return held["d"][0]["v"], d[-1]["v"], a["v"], b["v"]


def one_of_two(x: Any) -> Any:
    c, d = deque([x[0], x[1]], maxlen=2), deque([x[2], x[2]], maxlen=2)
    e = c if x[0] > 0 else d
    e[0] = 5.0
    e.append(6.0)
    return c[0], c[1], d[0], e[1], e is d


@pytest.mark.parametrize("f", [appended_to, turned_by_one, put_before, held_by_a_dict, one_of_two])
def test_what_one_of_a_greatest_length_holds_is_what_it_was(f: Callable[..., Any]) -> None:
    for x in (np.array([1.1, 2.0, 3.0]), np.array([-1.1, -2.0, 3.0])):
        np.testing.assert_allclose(pliant.jit(f)(x.copy()), f(x.copy()))
