"""Lists, tuples and dicts that are one of two by a condition, gone over as they are: an object that is in one of them twice is
changed once for each place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pliant

X = np.array([1.1, 2.0, 3.0])


class Node:
    def __init__(self, v: Any) -> None:
        self.v: Any = v


def lists(x: Any) -> Any:
    a, b = [x[0]], [x[1]]
    for k in [a, b] if x[0] > 0 else [b, b]:
        k[0] += 1
    return b[0], a[0]


def objects(x: Any) -> Any:
    a, b = Node(x[0]), Node(x[1])
    for k in [a, b] if x[0] > 0 else [b, b]:
        k.v += 1
    return b.v, a.v


def numbered(x: Any) -> Any:
    a, b = [x[0]], [x[1]]
    for i, k in enumerate([a, b] if x[0] > 0 else [b, b]):
        k[0] += 1 + i
    return b[0], a[0]


def from_the_end(x: Any) -> Any:
    a, b = [x[0]], [x[1]]
    for k in reversed([a, b] if x[0] > 0 else [b, b]):
        k[0] = k[0] * 2 + 1
    return b[0], a[0]


def beside_numbers(x: Any) -> Any:
    a, b = [x[0]], [x[1]]
    for k, v in zip([a, b] if x[0] > 0 else [b, b], x, strict=False):
        k[0] = k[0] * 2 + v
    return b[0], a[0]


def mapped(x: Any) -> Any:
    a, b = [x[0]], [x[1]]

    def g(k: Any) -> Any:
        k[0] = k[0] * 2 + 1
        return k

    for k in map(g, [a, b] if x[0] > 0 else [b, b]):
        k[0] += 3
    return b[0], a[0]


def one_by_one(x: Any) -> Any:
    a, b = [x[0]], [x[1]]
    it = iter([a, b] if x[0] > 0 else [b, b])
    next(it)[0] += 1
    next(it)[0] *= 2
    return b[0], a[0]


def pick(x: Any, a: Any, b: Any) -> Any:
    if x[0] > 0:
        return [a, b]
    return [b, b]


def of_a_helper(x: Any) -> Any:
    a, b = [x[0]], [x[1]]
    for k in pick(x, a, b):
        k[0] = k[0] * 2 + 1
    return b[0], a[0]


def parts_of_tuples(x: Any) -> Any:
    d, b = {"l": [x[0]]}, [x[1]]
    for k in (d, d) if x[0] > 0 else (d, {"l": b}):
        k["l"][0] += 1
    return d["l"][0], b[0]


def attributes(x: Any) -> Any:
    a, b = Node(x[0]), Node(x[1])
    s, t = Node((a, b)), Node((b, b))
    for k in (s if x[0] > 0 else t).v:
        k.v = k.v * 2 + 1
    return b.v, a.v


def comprehended(x: Any) -> Any:
    a, b = [x[0]], [x[1]]

    def ch(k: Any) -> Any:
        k[0] = k[0] * 2 + 1
        return k[0]

    s = [ch(k) for k in ([a, b] if x[0] > 0 else [b, b])]
    return b[0], a[0], s


def given_to_pythons_functions(x: Any) -> Any:
    a, b = [x[0]], [x[1]]

    def ch(k: Any) -> Any:
        k[0] = k[0] * 2 + 1
        return k[0]

    s = sum(ch(k) for k in ([a, b] if x[0] > 0 else [b, b]))
    t = sum(map(ch, ([a, b] if x[0] > 0 else [b, b])))
    u = list(map(ch, ([a, b] if x[0] > 0 else [b, b])))
    m = max(([a, b] if x[0] > 0 else [b, b]), key=ch)[0]
    return b[0], a[0], s, t, u, m


def of_a_generator(x: Any) -> Any:
    a, b = [x[0]], [x[1]]

    def gen(some: Any) -> Any:
        for k in some:
            k[0] += 1
            yield k

    for k in gen([a, b] if x[0] > 0 else [b, b]):
        k[0] = k[0] * 2 + 1
    return b[0], a[0]


def many(x: Any) -> Any:
    a, b = [x[0]], [x[1]]
    for k in [a, b] * 4 if x[0] > 0 else [b, b] * 4:
        k[0] = k[0] * 2 + 1
    return b[0], a[0]


def views_of_dicts(x: Any) -> Any:
    a, b = [x[0]], [x[1]]
    for k in [*pick(x, a, b), a]:
        k[0] = k[0] * 2 + 1
    for k in ({"x": a, "y": b} if x[0] > 0 else {"x": b, "y": b}).values():
        k[0] = k[0] * 2 + 1
    for name, k in ({"x": a, "y": b} if x[0] > 0 else {"x": b, "y": b}).items():
        k[0] = k[0] * len(name) + 1
    return b[0], a[0]


PROGRAMS = [
    lists,
    objects,
    numbered,
    from_the_end,
    beside_numbers,
    mapped,
    one_by_one,
    of_a_helper,
    parts_of_tuples,
    attributes,
    comprehended,
    given_to_pythons_functions,
    of_a_generator,
    many,
    views_of_dicts,
]


def numbers(tree: Any) -> Any:
    return np.hstack([np.ravel(x) for x in tree])


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_what_is_gone_over_is_pythons(f: Any) -> None:
    compiled = pliant.jit(f)
    for x in (X, -X):
        assert_allclose(numbers(compiled(x.copy())), numbers(f(x.copy())))


@pytest.mark.parametrize("f", [lists, objects, of_a_helper, parts_of_tuples], ids=lambda f: f.__name__)
def test_derivatives_of_what_is_gone_over_are_differences(f: Any) -> None:
    def total(x: Any) -> Any:
        return sum(f(x))

    way, step = np.array([1.0, -2.0, 0.5]), 1e-6
    for x in (X, -X):
        wanted = (sum(f(x + step * way)) - sum(f(x - step * way))) / (2 * step)
        assert_allclose(pliant.grad(total)(x) @ way, wanted, rtol=1e-6)
