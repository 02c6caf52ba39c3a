"""Sets that are unions of others."""

from typing import Any

import numpy as np
import pytest

from pliant.diff.pattern_graph import Unions

WIDTH = 7


def closed(width: int, edges: Any, count: int) -> Any:
    """Which numbers are in each set, by adding parts until nothing changes."""
    found = np.zeros((count, width), bool)
    found[1 : width + 1] = np.eye(width, dtype=bool)
    for _ in range(count):
        for whole, part in edges:
            found[whole] |= found[part]
    return found


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("has_circles", [False, True])
def test_sets_are_what_their_parts_are(seed: int, has_circles: bool):
    rng = np.random.default_rng(seed)
    graph = Unions(WIDTH)
    names = (graph.circle if has_circles else graph.fresh)((20,))
    edges = []
    for whole in names:
        for part in rng.integers(0, graph.count if has_circles else whole, rng.integers(0, 4)):
            graph.add(whole, part)
            edges.append((whole, part))
    asked = rng.integers(0, graph.count, 15)
    expected = closed(WIDTH, edges, graph.count)
    np.testing.assert_array_equal(graph.rows(asked).toarray(), expected[asked])
    np.testing.assert_array_equal(graph.rows(names[-1:]).toarray(), expected[names[-1:]])
    assert graph.rows(asked[:0]).shape == (0, WIDTH)


@pytest.mark.parametrize("seed", range(4))
def test_unions_and_groups_are_those_of_sets(seed: int):
    rng = np.random.default_rng(seed)
    graph = Unions(WIDTH)
    a, b = rng.integers(0, WIDTH + 1, (2, 3, 4))
    base = np.eye(WIDTH + 1, WIDTH, k=-1, dtype=bool)
    both = graph.union([a, b, a[0, 0]])
    expected = base[a] | base[b] | base[a[0, 0]]
    np.testing.assert_array_equal(graph.rows(both).toarray(), expected.reshape(12, WIDTH))
    target = rng.integers(0, 5, (3, 4))
    groups = np.array([expected[target == k].any(axis=0) for k in range(6)])
    np.testing.assert_array_equal(graph.rows(graph.grouped(target, both, 6)).toarray(), groups)
