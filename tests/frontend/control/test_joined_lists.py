"""Lists that are put together or read as a whole in loops, and arrays whose extents loops tell: as in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant

rng = np.random.default_rng(1)
X, BIG = np.array([0.5, 1.0, 2.0]), np.int64(2**60 + 1)


def of_two_dtypes(x: Any, k: Any) -> Any:
    floats, integers = [], []
    for n in range(6):
        floats.append(x.mean())
        integers.append((x < 1).sum() + n)
    total = 0.0
    for v in floats + integers:
        total += v / 2 if isinstance(v, float) else v // 2
    return total, [v + 0 for v in floats + [k + i for i in integers]], [v for part in (integers, floats) for v in part]


def reversed_parts(x: Any, pairs: Any) -> Any:
    tour = list(range(len(x)))
    for i, j in pairs:
        new = tour[:i] + tour[i : j + 1][::-1] + tour[j + 1 :]
        if x[new[0]] < x[tour[0]]:
            tour = new
    return np.array(tour)


def annealed(x: Any, generator: Any) -> Any:
    tour, heat = list(range(len(x))), 1.0
    while heat > 0.3:
        i, j = sorted(generator.choice(len(x), 2, replace=False))
        tour = tour[:i] + tour[i : j + 1][::-1] + tour[j + 1 :]
        heat *= 0.9
    return tour


def children(x: Any) -> Any:
    child = [[-1, -1]]
    node = 0
    for k in range(len(x)):
        node, depth = 0, 0
        while True:
            if depth == 3:
                break
            side = int(x[k] > 0.5)
            if child[node][side] < 0:
                child.append([-1, -1])
                child[node][side] = len(child) - 1
            node = child[node][side]
            depth += 1
    return node, len(child), child


def restarted(x: Any, b: Any) -> Any:
    for outer in range(20):
        if b.sum() < outer:
            break
        for k in range(4):
            if abs(b[k]) < 0.1:
                break
        y = np.zeros(k + 1)
        for i in range(k, -1, -1):
            y[i] = b[i]
        x = x + y.sum()
    return x


def best_of(x: Any, y: Any) -> Any:
    best: Any = (np.inf, None)
    for k in range(1, len(x)):
        if y[k] < best[0]:
            best = (y[k], x[k])
    return np.where(x <= 0.5, best[1], 0.0), np.maximum(x, best[1])


def generator() -> Any:
    return np.random.default_rng(3)


PAIRS = [np.sort(rng.integers(0, 8, (20, 2)), 1) for _ in range(2)]
PROGRAMS: list[tuple[Callable[..., Any], list[Callable[[], tuple[Any, ...]]]]] = [
    (of_two_dtypes, [lambda: (X, BIG), lambda: (X[::-1] * 3, BIG)]),
    (reversed_parts, [lambda: (rng.random(8), PAIRS[0]), lambda: (rng.random(8), PAIRS[1])]),
    (annealed, [lambda: (np.zeros(8), generator())]),
    (children, [lambda: (rng.random(12),), lambda: (rng.random(12),)]),
    (
        restarted,
        [lambda: (np.zeros(6), rng.integers(1, 4, 6) / 1.0), lambda: (np.ones(6), np.array([1.0, 0.0, 2, 3, 4, 5]))],
    ),
    (best_of, [lambda: (rng.random(8), rng.normal(size=8))]),
]


@pytest.mark.parametrize(("f", "arguments"), PROGRAMS, ids=[p[0].__name__ for p in PROGRAMS])
def test_programs_give_what_python_does(f: Callable[..., Any], arguments: list[Callable[[], tuple[Any, ...]]]) -> None:
    compiled = pliant.jit(f)
    for make in arguments:
        args = make()
        again = tuple(np.random.default_rng(3) if isinstance(a, np.random.Generator) else a for a in args)
        got, wanted = compiled(*args), f(*again)
        assert _told(got) == _told(wanted)


def _told(x: Any) -> Any:
    """Content and types, for comparison."""
    if isinstance(x, list | tuple):
        return type(x), [_told(part) for part in x]
    return (type(x), x.dtype, x.shape, x.tobytes()) if isinstance(x, np.ndarray) else (type(x), x)


def test_lists_that_get_a_little_longer_are_for_all_data() -> None:
    def grown(x: Any) -> Any:
        found: list[Any] = []
        for v in x:
            if v > 0:
                found = found + [v]  # noqa: RUF005
        for v in x:
            if v < 0:
                found = found + [v]  # noqa: RUF005
        low = [v for v in x if v < 0.5]
        return sum(k * v for k, v in enumerate(found + low + low + found + low + low + found + low))

    compiled = pliant.jit(grown)
    for x in rng.normal(size=(5, 8)):
        np.testing.assert_allclose(compiled(x), grown(x), rtol=1e-13)
    (entries,) = compiled.entries.values()
    assert [entry.program.decided for entry in entries] == [None]


def test_whether_two_arguments_are_one_array() -> None:
    def kernel(x: Any, y: Any = None) -> Any:
        y = x if y is None else y
        made = np.exp(-((x[:, None] - y) ** 2))
        return made + np.eye(len(x)) if x is y else made

    compiled, z = pliant.jit(kernel), X.copy()
    for args in ((X,), (X, X), (X, z), (z, z), (X, X), (X, z), (X, z)):
        np.testing.assert_allclose(compiled(*args), kernel(*args), rtol=1e-15)
    assert pliant.jit(lambda d: (d["a"] is d["b"], d["a"] is not d["c"]))({"a": X, "b": X, "c": z}) == (True, True)
