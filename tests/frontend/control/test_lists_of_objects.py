"""Lists of objects that grow in loops, read at places that are found at run time: what Python gives, by one program."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant


class Node:
    def __init__(self, x: Any, parent: Any = None) -> None:
        self.x = x
        self.parent = parent
        self.seen = 0

    def far(self, p: Any) -> Any:
        return (self.x - p) ** 2


def nearest(x: float, ps: Any) -> Any:
    nodes = [Node(x)]
    for p in ps:
        d = [q.far(p) for q in nodes]
        k = d.index(min(d))
        new = Node(nodes[k].x + 0.5 * np.cos(p))
        new.parent = k
        nodes.append(new)
    return nodes[-1].x + sum([q.x for q in nodes])


def drawn(x: float, ps: Any) -> Any:
    nodes = [Node(x)]
    for _ in range(8):
        p = np.random.uniform(-2, 9)
        d = [q.far(p) for q in nodes]
        k = int(np.argmin(d))
        nodes.append(Node(nodes[k].x + 0.5 * np.cos(p), k))
    return nodes[-1].x + ps[0]


def skipping(x: float, ps: Any) -> Any:
    nodes = [Node(x)]
    for p in ps:
        d = [q.far(p) for q in nodes]
        k = min(range(len(d)), key=lambda i: d[i])
        if d[k] > 9:
            continue
        nodes.append(Node(nodes[k].x + 0.5 * np.cos(p), k))
    return nodes[-1].x + len(nodes)


def path(x: float, ps: Any) -> Any:
    nodes = [Node(x)]
    for p in ps:
        d = [q.far(p) for q in nodes]
        k = d.index(min(d))
        nodes.append(Node(nodes[k].x + 0.5 * np.cos(p), k))
    node, length = nodes[-1], 0.0
    while node.parent is not None:
        before = nodes[node.parent]
        length += abs(node.x - before.x)
        node = before
    return length


def counted(x: float, ps: Any) -> Any:
    nodes, n = [Node(x)], 0
    for p in ps:
        d = [q.far(p) for q in nodes]
        n += d.count(min(d)) + (p in d)
        nodes.append(Node(nodes[0].x + 0.5 * np.cos(p), n))
    return nodes[-1].x + n


def tuples(x: float, ps: Any) -> Any:
    nodes: list[Any] = [(x, None)]
    for p in ps:
        d = [(q[0] - p) ** 2 for q in nodes]
        k = d.index(min(d))
        nodes.append((nodes[k][0] + 0.5 * np.cos(p), k))
    return nodes[-1][0] + nodes[-1][1]


def one_of_few(x: float, ps: Any) -> Any:
    nodes = [Node(x), Node(x + 1, 3), Node(x + 2, ps[0])]
    node = nodes[int(np.argmax(ps[:3]))]
    return node.x if node.parent is None else node.x + node.parent


def earlier(x: float, ps: Any) -> Any:
    nodes = [Node(x)]
    for p in ps:
        nodes.append(Node(nodes[-1].x + p, 1))
    return nodes[-1].x + sum([q.x for q in nodes if q.parent is not None])


ONCE = (nearest, drawn, skipping, path, counted, tuples, one_of_few, earlier)


def changed_in_list(x: float, ps: Any) -> Any:
    nodes = [Node(x)]
    for p in ps:
        d = [q.far(p) for q in nodes]
        k = d.index(min(d))
        nodes[k].seen += 1
        nodes.append(Node(nodes[k].x + nodes[k].seen * np.cos(p), k))
    return nodes[-1].x + nodes[0].seen


def changed_by_name(x: float, ps: Any) -> Any:
    first = Node(x)
    nodes = [first]
    for p in ps:
        if p > 3:
            nodes.append(Node(nodes[-1].x + p))
        first.x = first.x + 1
    return nodes[0].x + nodes[-1].x


def changed_later(x: float, ps: Any) -> Any:
    nodes = [Node(x)]
    for p in ps:
        new = Node(nodes[-1].x + p)
        nodes.append(new)
        new.parent = 3
        new.x = new.x * 0.5
    last = new
    last.x = last.x + 1
    return nodes[-1].x + nodes[-1].parent


def changed_after(x: float, ps: Any) -> Any:
    nodes = [Node(x)]
    for p in ps:
        if p > 3:
            nodes.append(Node(p + len(nodes)))
    nodes[-1].x = nodes[-1].x + 1
    return nodes[0].x + nodes[-1].x


def which(x: float, ps: Any) -> Any:
    nodes, n = [Node(x)], 0
    for p in ps:
        d = [q.far(p) for q in nodes]
        k = d.index(min(d))
        n += nodes[k] is nodes[0]
        nodes.append(Node(nodes[k].x + 0.5 * np.cos(p), k))
    return n


def places(x: float, ps: Any) -> Any:
    twin = Node(1.0, 0)
    nodes = [Node(1.0, 0), twin]
    for p in ps:
        if p > 3:
            nodes.append(Node(nodes[-1].x, 0))
    return nodes.index(twin) + nodes.count(twin) + (Node(1.0, 0) in nodes) + x


def twice(x: float, ps: Any) -> Any:
    nodes = [Node(x)]
    for p in ps:
        new = Node(p)
        nodes.append(new)
        nodes.append(new)
    nodes[1].x = 7.0
    return nodes[2].x + nodes[-1].x


def graph(x: float, ps: Any) -> Any:
    nodes = [Node(x)]
    for p in ps:
        d = [q.far(p) for q in nodes]
        k = d.index(min(d))
        nodes.append(Node(nodes[k].x + 0.5 * np.cos(p), nodes[k]))
    node, length = nodes[-1], 0
    while node is not None:
        node = node.parent
        length += 1
    return length


CHANGING = (changed_in_list, changed_by_name, changed_later, changed_after, which, places, twice, graph)


@pytest.mark.parametrize("f", ONCE, ids=lambda f: f.__name__)
def test_one_program(f: Callable[..., Any]) -> None:
    compiled = pliant.jit(f)
    for seed in range(4):
        ps = np.random.default_rng(seed).uniform(-2, 9, 6)
        np.random.seed(seed)
        expected = f(0.5, ps)
        np.random.seed(seed)
        np.testing.assert_allclose(compiled(0.5, ps), expected, rtol=1e-12)
    assert "made for numbers" not in str(pliant.explain(compiled, 0.5, np.ones(6)))


@pytest.mark.parametrize("f", CHANGING, ids=lambda f: f.__name__)
def test_changes_and_identity(f: Callable[..., Any]) -> None:
    compiled = pliant.jit(f)
    for seed in range(3):
        ps = np.random.default_rng(seed).uniform(-2, 9, 6)
        np.testing.assert_allclose(compiled(0.5, ps), f(0.5, ps), rtol=1e-12)


def test_an_element_that_is_not_there() -> None:
    def f(x: float, ps: Any) -> Any:
        nodes = [Node(x)]
        for p in ps:
            d = [q.far(p) for q in nodes]
            nodes.append(Node(nodes[d.index(p)].x + 1))
        return nodes[-1].x

    with pytest.raises(ValueError, match="not in list"):
        pliant.jit(f)(0.5, np.array([3.0, 4.0]))


def test_none_used_as_a_number() -> None:
    def f(x: float, ps: Any) -> Any:
        nodes = [Node(x), Node(x, 1), Node(x, 2)]
        return nodes[int(np.argmax(ps))].parent + 1

    compiled = pliant.jit(f)
    assert compiled(0.5, np.array([0.0, 2.0, 1.0])) == 2
    with pytest.raises(TypeError, match="NoneType"):
        compiled(0.5, np.array([3.0, 2.0, 1.0]))


def test_the_gradient() -> None:
    ps = np.array([0.1, 0.7, 2.1, 3.0])
    slope = pliant.grad(nearest)(0.5, ps)
    expected = (nearest(0.5 + 1e-6, ps) - nearest(0.5 - 1e-6, ps)) / 2e-6
    np.testing.assert_allclose(slope, expected, rtol=1e-6)
