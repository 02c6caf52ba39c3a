"""Small programs of generators whose conditions are known only at run time; x: f64[9]."""

from __future__ import annotations

from typing import Any

import numpy as np

# pyright: basic, reportPossiblyUnboundVariable=false, reportIndexIssue=false
# ruff: noqa: E741, PERF401


class Tree:
    def __init__(self, a: Any) -> None:
        self.a = a

    def items(self) -> Any:
        for i in range(9):
            if self.a[i] > 0:
                yield i, self.a[i]


def under_a_condition(x: Any, n: int) -> Any:
    def positives(a):
        for v in a:
            if v > 0:
                yield v

    t = 0.0
    for v in positives(x):
        t += v * v
    return t


def candidates(x: Any, n: int) -> Any:
    def cand(a):
        if a[0] > 0:
            yield a[0]
        yield a[1]
        if a[2] > a[1]:
            yield a[2] * 2

    t = 0.0
    for v in cand(x):
        t = t * 2 + v
    return t


def pairs(x: Any, n: int) -> Any:
    def cand(a):
        for i in range(9):
            if a[i] > 0:
                yield i, a[i]

    t = 0.0
    for i, v in cand(x):
        t += v * i
    return t


def summed(x: Any, n: int) -> Any:
    def pos(a):
        for v in a:
            if v > 0:
                yield v

    return sum(pos(x))


def greatest(x: Any, n: int) -> Any:
    def pos(a):
        yield 0.5
        for v in a:
            if v > 0:
                yield v

    return max(pos(x))


def listed(x: Any, n: int) -> Any:
    def pos(a):
        for v in a:
            if v > 0:
                yield v

    l = list(pos(x))
    s = 0.0
    for v in l:
        s += v
    return s + len(l)


def loop_that_breaks(x: Any, n: int) -> Any:
    def pos(a):
        for v in a:
            if v > 0:
                yield v

    t = 0.0
    for v in pos(x):
        if v > 1.5:
            break
        t += v
    return t


def nested(x: Any, n: int) -> Any:
    def pairs(a):
        for i in range(3):
            for j in range(i):
                if a[i] > a[j]:
                    yield a[i] - a[j]

    t = 1.0
    for d in pairs(x):
        t *= d
    return t


def of_two_generators(x: Any, n: int) -> Any:
    def pos(a):
        for v in a:
            if v > 0:
                yield v

    def both(a):
        yield from pos(a)
        yield from pos(-a)

    t = 0.0
    for v in both(x):
        t = 0.5 * t + v
    return t


def counted_by_a_condition(x: Any, n: int) -> Any:
    def halves(v):
        while v > 0.1:
            yield v
            v = v / 2

    t = 0.0
    for v in halves(x[0]):
        t += v
    return t


def generator_that_returns(x: Any, n: int) -> Any:
    def pos(a):
        for v in a:
            if v > 1.2:
                return
            yield v

    t = 0.0
    for v in pos(x):
        t += v
    return t


def continued(x: Any, n: int) -> Any:
    def pos(a):
        for v in a:
            if v < 0:
                continue
            yield v
            yield 2 * v

    t = 0.0
    for v in pos(x):
        t = 0.9 * t + v
    return t


def array(x: Any, n: int) -> Any:
    def cand(a):
        for i in range(4):
            if a[i] > 0:
                yield a * i

    t = np.zeros(9)
    for v in cand(x):
        t += v
    return t


def min_key(x: Any, n: int) -> Any:
    def cand(a):
        yield (a[0], 0)
        for i in range(1, 9):
            if a[i] > 0:
                yield (a[i], i)

    return min(cand(x), key=lambda t: (t[0] - 0.3) ** 2)[1] * 1.0


def return_in_loop(x: Any, n: int) -> Any:
    def pos(a):
        for v in a:
            if v > 0:
                yield v

    for v in pos(x):
        if v > 1:
            return v * 2
    return 0.0


def break_else(x: Any, n: int) -> Any:
    def pos(a):
        for i in range(9):
            if a[i] > 0:
                yield i, a[i]

    for i, v in pos(x):
        if v > 1:
            found = v * i
            break
    else:
        found = -1.0
    return found


def break_found(x: Any, n: int) -> Any:
    def pos(a):
        for i in range(9):
            if a[i] > 0:
                yield i, a[i]

    found = None
    for i, v in pos(x):
        if v > 1:
            found = v * i
            break
    return 0.0 if found is None else found


def infinite(x: Any, n: int) -> Any:
    def halves(v):
        while True:
            yield v
            v = v / 2

    t = 0.0
    for v in halves(np.abs(x[0]) + 1):
        if v < 0.01:
            break
        t += v
    return t


def pipeline(x: Any, n: int) -> Any:
    def pos(a):
        for v in a:
            if v > 0:
                yield v

    def sq(g):
        for v in g:
            yield v * v

    t = 0.0
    for v in sq(pos(x)):
        t = 0.9 * t + v
    return t


def interleaved(x: Any, n: int) -> Any:
    a = x.copy()

    def active():
        for i in range(8):
            if a[i] > 0:
                yield i

    for i in active():
        a[i + 1] -= a[i]
    return a


def state(x: Any, n: int) -> Any:
    def acc(a):
        s = 0.0
        for v in a:
            s += v
            if s > 1:
                yield s
                s = 0.0

    t = 0.0
    for v in acc(x):
        t += v * v
    return t


def after_loop_name(x: Any, n: int) -> Any:
    def pos(a):
        for v in a:
            if v > 0:
                yield v

    t = 0.0
    for v in pos(x):
        t += v
    return t + v


def in_outer_loop(x: Any, n: int) -> Any:
    def near(i):
        for j in range(9):
            if np.abs(x[j] - x[i]) < 0.9 and j != i:
                yield j

    t = np.zeros(9)
    for i in range(9):
        for j in near(i):
            t[i] += x[j]
    return t


def param_changed(x: Any, n: int) -> Any:
    def digits(v):
        while v >= 1:
            yield v
            v = v - 1

    s = 0.0
    for d in digits(x[-1] * 3):
        s += d * d
    return s


def dict_consumer(x: Any, n: int) -> Any:
    def pos(a):
        for v in a:
            if v > 0:
                yield v

    d = {"s": 0.0, "n": 0}
    for v in pos(x):
        d["s"] += v
        d["n"] += 1
    return d["s"] / max(d["n"], 1)


def append_consumer(x: Any, n: int) -> Any:
    def pos(a):
        for v in a:
            if v > 0:
                yield v

    l = []
    for v in pos(x):
        l.append(v * 2)
    return sum(l)


def continue_consumer(x: Any, n: int) -> Any:
    def pos(a):
        for v in a:
            if v > 0:
                yield v

    t = 0.0
    for v in pos(x):
        if v > 1:
            continue
        t += v
    return t


def method(x: Any, n: int) -> Any:
    t = 0.0
    for i, v in Tree(x).items():
        t += i * v
    return t


def place_of_the_first(x: Any, n: int) -> Any:
    k = next((i for i in range(9) if x[i] > 1), None)
    return 0.0 if k is None else x[k] * k


def first_or_a_number(x: Any, n: int) -> Any:
    return next((v for v in x if v > 1), -1.0)


def first_that_there_is(x: Any, n: int) -> Any:
    return next(v for v in x if v > 1)


def enumerated(x: Any, n: int) -> Any:
    def pos(a):
        for v in a:
            if v > 0:
                yield v

    t = 0.0
    for k, v in enumerate(pos(x)):
        t += k * v
    return t


def enumerated_from_one_and_left(x: Any, n: int) -> Any:
    def pos(a):
        for v in a:
            if v > 0:
                yield v

    t = 0.0
    for k, v in enumerate(pos(x), 1):
        if k > 3:
            break
        t += k * v
    return t


def over_an_expression(x: Any, n: int) -> Any:
    t = 0.0
    for w in (v * v for v in x if v > 0):
        t = t * 0.5 + w
    return t


def over_an_expression_and_left(x: Any, n: int) -> Any:
    t = 0.0
    for w in (v * v for v in x if v > 0):
        if w > 2:
            break
        t = t * 0.5 + w
    return t


PUSHED = (
    under_a_condition,
    candidates,
    pairs,
    summed,
    greatest,
    listed,
    loop_that_breaks,
    nested,
    of_two_generators,
    counted_by_a_condition,
    generator_that_returns,
    continued,
    array,
    min_key,
    return_in_loop,
    break_else,
    break_found,
    infinite,
    pipeline,
    interleaved,
    state,
    after_loop_name,
    in_outer_loop,
    param_changed,
    dict_consumer,
    append_consumer,
    continue_consumer,
    method,
    place_of_the_first,
    first_or_a_number,
    first_that_there_is,
    enumerated,
    enumerated_from_one_and_left,
    over_an_expression,
    over_an_expression_and_left,
)
