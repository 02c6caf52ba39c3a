"""Colourings of sparsity patterns: which columns, or rows, one directional derivative can serve.

Greedy, in the natural order or the largest degree first. Gebremedhin, Manne, Pothen, "What color is
your Jacobian?", SIAM Review 47 (2005); Gebremedhin, Tarafdar, Manne, Pothen, "New acyclic and star
coloring algorithms with application to computing Hessians", SIAM J. Sci. Comput. 29 (2007).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import Any, Literal, cast

import numpy as np

Order = Literal["natural", "largest"]


def column_colors(pattern: Any, order: Order = "natural") -> Any:
    """A colour per column; columns that meet in a row differ. pattern: boolean csr_array.

    Colour 0 is a column's where nothing forbids it, so columns without entries have it too.
    """
    if _longest(pattern) == pattern.shape[1]:
        return _all_differ(pattern)  # all of them meet
    columns = _lists(pattern.tocsc())
    height = int(pattern.shape[0])
    used: list[set[int]] = [set() for _ in range(height)]  # colours in each row
    lowest = [0] * height  # the least colour not in a row: no column of it can have less
    colors = [0] * len(columns)
    for j in _ordered([len(rows) for rows in columns], order):
        rows = columns[j]
        color = max([lowest[i] for i in rows], default=0)
        while any([color in used[i] for i in rows]):
            color += 1
        colors[j] = color
        for i in rows:
            used[i].add(color)
            while lowest[i] in used[i]:
                lowest[i] += 1
    return np.array(colors, int)


def row_colors(pattern: Any, order: Order = "natural") -> Any:
    """A colour per row; rows that meet in a column differ."""
    return column_colors(pattern.T.tocsr(), order)


def bidirectional_rows(pattern: Any, order: Order = "natural") -> Any:
    """Which rows to read from row colours, the others being read from column colours, so that both
    together are few: the densest rows, as many as pay. One mask entry per row.

    A dense row makes all its columns differ, a dense column costs one colour: an arrowhead needs
    three colours this way, and as many as it has rows in one direction.
    """
    degrees = np.diff(pattern.indptr)
    best, chosen = len(np.unique(column_colors(pattern, order))), np.zeros(len(degrees), bool)
    for limit in np.unique(degrees)[::-1][1:MOST_CUTS]:
        peeled = degrees > limit
        if limit + _longest(pattern[peeled].T.tocsr()) >= best:
            continue  # a line needs as many colours as it has entries
        count = ncolors(row_colors(pattern[peeled], order)) + ncolors(column_colors(pattern[~peeled], order))
        if count < best:
            best, chosen = count, peeled
    return chosen


MOST_CUTS = 16  # how many row lengths are tried as the limit between dense and sparse


def ncolors(colors: Any) -> int:
    """How many colours there are."""
    return int(colors.max(initial=-1)) + 1


def star_colors(pattern: Any, order: Order = "natural") -> Any:
    """A colour per column of a symmetric pattern: neighbours differ, and every path of four
    vertices has three colours. Then each entry can be read directly from H·(sum of a colour)."""
    graph = (pattern + pattern.T).tocsr()
    if graph.nnz == math.prod(graph.shape):
        return _all_differ(graph)
    near = [[w for w in row if w != v] for v, row in enumerate(_lists(graph))]
    colors = [-1] * len(near)
    # see Note [stars]
    seen: list[dict[int, list[int]]] = [{} for _ in near]  # by colour: the neighbours that have it
    around: list[set[int]] = [set() for _ in near]  # colours of hubs of which the vertex is a spoke
    for v in _ordered([len(row) for row in near], order):
        taken: set[int] = set()
        for color, twins in seen[v].items():
            taken.add(color)
            for w in twins:
                taken.update(seen[w] if len(twins) > 1 else around[w])
        colors[v] = color = _first_free(taken)
        for twins in seen[v].values():
            if len(twins) > 1:
                for w in twins:
                    around[w].add(color)
        for w in near[v]:
            spokes = seen[w].setdefault(color, [])
            spokes.append(v)
            if colors[w] >= 0 and len(spokes) > 1:
                for u in spokes if len(spokes) == 2 else (v,):
                    around[u].add(colors[w])
    return np.array(colors, int)


def _longest(pattern: Any) -> int:
    """Entries of the row that has the most."""
    return int(np.diff(pattern.indptr).max(initial=0))


def _all_differ(pattern: Any) -> Any:
    return cast("Any", np.arange(pattern.shape[1]))


def _lists(matrix: Any) -> list[list[int]]:
    """Column numbers of each row of a csr matrix, or row numbers of each column of a csc matrix."""
    indices, ends = matrix.indices.tolist(), matrix.indptr.tolist()
    return [indices[a:b] for a, b in itertools.pairwise(ends)]


def _ordered(degrees: list[int], order: Order) -> Iterable[int]:
    """Vertex numbers in the order of colouring."""
    if order == "largest":
        return cast("Any", np.argsort(-np.array(degrees, int), kind="stable")).tolist()
    return range(len(degrees))


def _first_free(taken: set[int]) -> int:
    color = 0
    while color in taken:
        color += 1
    return color


# Note [stars]: a path of two colours, as the last vertex of it sees it
#
# A path of four vertices must not have two colours. The last of its vertices to be coloured, v, sees
# one of two things. As an inner vertex, x-w-v-w' with w and w' of one colour: no neighbour of either
# may have v's colour. As an end, v-w-x-y with y coloured like w: x is the hub of a star whose spokes,
# among them w, have one colour, and v may not have x's colour. `seen` answers the first, `around` the
# second, each in as many steps as there are colours; walking over the neighbours of neighbours would
# take n² steps for a vertex that all others meet.
