"""Colourings of sparsity patterns: which columns, or rows, one directional derivative can serve.

Greedy, in the natural order or the largest degree first. Gebremedhin, Manne, Pothen, "What color is
your Jacobian?", SIAM Review 47 (2005).
"""

from __future__ import annotations

from typing import Any, Literal, cast

import numpy as np

Order = Literal["natural", "largest"]


def column_colors(pattern: Any, order: Order = "natural") -> Any:
    """A colour per column; columns that meet in a row differ. pattern: boolean csr_array."""
    by_row, by_column = pattern.tocsr(), pattern.tocsc()
    colors = np.full(pattern.shape[1], -1)
    for j in _ordered(np.diff(by_column.indptr), order):
        taken = set[int]()
        for i in _entries(by_column, j):
            taken.update(colors[_entries(by_row, i)].tolist())
        colors[j] = _first_free(taken)
    return colors


def row_colors(pattern: Any, order: Order = "natural") -> Any:
    """A colour per row; rows that meet in a column differ."""
    return column_colors(pattern.T.tocsr(), order)


def star_colors(pattern: Any, order: Order = "natural") -> Any:
    """A colour per column of a symmetric pattern: neighbours differ, and every path of four
    vertices has three colours. Then each entry can be read directly from H·(sum of a colour)."""
    graph = (pattern + pattern.T).tocsr()
    colors = np.full(graph.shape[0], -1)
    for v in _ordered(np.diff(graph.indptr), order):
        near = [w for w in _entries(graph, v).tolist() if w != v]
        taken = {int(colors[w]) for w in near}
        seen: dict[int, int] = {}
        for w in near:
            seen[int(colors[w])] = seen.get(int(colors[w]), 0) + 1
        for w in near:
            around = [u for u in _entries(graph, w).tolist() if u != v and u != w]
            # v-w-u: with w not coloured yet, or coloured like another neighbour of v, u's colour is out
            if colors[w] < 0 or seen[int(colors[w])] > 1:
                taken.update(int(colors[u]) for u in around)
                continue
            for u in around:
                twins = sum(colors[t] == colors[w] for t in _entries(graph, u).tolist() if t not in (u, v))
                if twins > 1:
                    taken.add(int(colors[u]))
        colors[v] = _first_free(taken)
    return colors


def _ordered(degrees: Any, order: Order) -> Any:
    """Vertex numbers in the order of colouring."""
    if order == "largest":
        return cast("Any", np.argsort(-degrees, kind="stable"))
    return range(len(degrees))


def _entries(matrix: Any, n: Any) -> Any:
    """Column numbers of row n of a csr matrix, or row numbers of column n of a csc matrix."""
    return matrix.indices[matrix.indptr[n] : matrix.indptr[n + 1]]


def _first_free(taken: set[int]) -> int:
    color = 0
    while color in taken:
        color += 1
    return color
