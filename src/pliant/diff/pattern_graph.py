"""Sets of numbers as a graph: each is a union of others, and which numbers are in it is found at the end, for all
that are asked for.

Arrays of sets are arrays of their names: 0 is the empty set, 1 to `width` are the sets of one number, and all that
NumPy does to move elements moves sets. A union of two takes two edges, however large they are.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast, final

import numpy as np
import scipy.sparse
import scipy.sparse.csgraph

sp: Any = scipy.sparse
csgraph: Any = scipy.sparse.csgraph


@final
@dataclass
class Unions:
    """The sets of numbers below `width` that were named so far, and what each is the union of."""

    width: int
    count: int = 0
    edges: list[tuple[Any, Any]] = field(default_factory=list[tuple[Any, Any]])
    has_circles: bool = False

    def __post_init__(self) -> None:
        self.count = self.width + 1

    def fresh(self, shape: tuple[int, ...]) -> Any:
        """Names of sets that are empty so far."""
        made: Any = np.arange(self.count, self.count + math.prod(shape)).reshape(shape)
        self.count += made.size
        return made

    def circle(self, shape: tuple[int, ...]) -> Any:
        """Names of sets that may become parts of what they are made of."""
        self.has_circles = True
        return self.fresh(shape)

    def add(self, wholes: Any, parts: Any) -> None:
        """Each whole has that part."""
        self.edges.append((wholes.reshape(-1), parts.reshape(-1)))

    def union(self, arrays: Sequence[Any]) -> Any:
        """The union, element by element; scalars meet all."""
        total: Any = arrays[0]
        for other in arrays[1:]:
            total = self._both(total, other)
        return total

    def _both(self, a: Any, b: Any) -> Any:
        if a.ndim == b.ndim == 0:
            if a == b or not a or not b:
                return a if a else b
            names = self.fresh(())
            self.add(names, a)
            self.add(names, b)
            return names
        made = cast("Any", np.where(a == 0, b, a))
        differ = (a != b) & (a != 0) & (b != 0)
        if differ.any():
            names = self.fresh((int(np.count_nonzero(differ)),))
            for part in (a, b):
                self.add(names, np.broadcast_to(part, made.shape)[differ])
            made[differ] = names
        return made

    def grouped(self, target: Any, parts: Any, count: int) -> Any:
        """[count]: the union of all parts that have this target."""
        target, parts = target.reshape(-1), parts.reshape(-1)
        some = parts != 0
        target, parts = target[some], parts[some]
        made, sizes = np.zeros(count, np.int64), np.bincount(target, minlength=count)
        made[target] = parts  # the only one, or to be written over
        several = sizes > 1
        made[several] = self.fresh((int(np.count_nonzero(several)),))
        within = several[target]
        self.add(made[target[within]], parts[within])
        return made

    def rows(self, names: Any) -> Any:
        """A boolean csr_array: which numbers are in each of these sets."""
        names = np.asarray(names).reshape(-1)
        wholes, parts = (np.concatenate([np.zeros(0, np.int64), *[e[k] for e in self.edges]]) for k in (0, 1))
        graph = _graph(wholes, parts, self.count)
        if self.has_circles:
            _, label = csgraph.connected_components(graph, connection="strong")
            _, first, of = np.unique(label, return_index=True, return_inverse=True)
            one = first[of]  # of those that are parts of each other
            wholes, parts, names = one[wholes], one[parts], one[names]
            differ = wholes != parts
            graph = _graph(wholes[differ], parts[differ], self.count)
        wholes, parts = self._few(graph, names)
        return _Levels(self.width, self.count, wholes, parts).rows(names)

    def _few(self, graph: Any, names: Any) -> tuple[Any, Any]:
        """Edges of what is asked for, without sets that only one other is made of."""
        asked = np.unique(names)
        roots = _graph(np.zeros(asked.size, np.int64), asked, self.count)
        start = sp.hstack([sp.csr_array((1, 1), dtype=bool), roots[:1]])
        rest = sp.hstack([sp.csr_array((self.count, 1), dtype=bool), graph])
        order = csgraph.breadth_first_order(sp.vstack([start, rest], format="csr"), 0, return_predecessors=False) - 1
        is_needed = np.zeros(self.count, bool)
        is_needed[order[1:]] = True
        wholes, parts = _ends(graph)
        wholes, parts = wholes[is_needed[wholes]], parts[is_needed[wholes]]
        single = np.bincount(parts, minlength=self.count) == 1
        single[asked] = single[: self.width + 1] = False
        user: Any = np.arange(self.count)
        inside = single[parts]
        user[parts[inside]] = wholes[inside]
        while not np.array_equal(further := user[user], user):
            user = further
        return _ends(_graph(user[wholes[~inside]], parts[~inside], self.count))


def _graph(wholes: Any, parts: Any, count: int) -> Any:
    """Edges from wholes to parts that are not empty, each once."""
    some = parts != 0
    made = sp.csr_array((np.ones(np.count_nonzero(some), bool), (wholes[some], parts[some])), shape=(count, count))
    made.sum_duplicates()
    return made


def _ends(graph: Any) -> tuple[Any, Any]:
    counts = np.diff(graph.indptr)
    return cast("Any", np.arange(graph.shape[0])).repeat(counts), graph.indices.astype(np.int64)


@final
@dataclass
class _Levels:
    """Sets by the longest way from them to a single number: all of a level are found at once, from those below."""

    width: int
    count: int
    wholes: Any
    parts: Any

    def rows(self, names: Any) -> Any:
        """Which numbers are in these sets."""
        level, place = self.levels()
        top = int(level.max(initial=0))
        asked = {0, *np.unique(level[names]).tolist()}
        order = np.lexsort((level[self.parts], level[self.wholes]))
        wholes, parts = self.wholes[order], self.parts[order]
        above, below = level[wholes], level[parts]
        sizes = np.bincount(level, minlength=top + 1)
        cuts = np.flatnonzero((np.diff(above, prepend=-1) != 0) | (np.diff(below, prepend=-1) != 0))
        last = {int(b): int(a) for a, b in zip(above[cuts], below[cuts], strict=True)}
        bases = sp.eye_array(self.width + 1, self.width, k=-1, dtype=bool, format="csr")
        others = sp.csr_array((sizes[0] - self.width - 1, self.width), dtype=bool)  # what nobody asks for
        made = {0: sp.vstack([bases, others], format="csr")}
        for start, end in itertools.pairwise([*cuts, len(wholes)]):
            a, b = int(above[start]), int(below[start])
            index = place[wholes[start:end]], place[parts[start:end]]
            moves = sp.csr_array((np.ones(end - start, bool), index), shape=(sizes[a], sizes[b]))
            found = moves @ made[b]
            made[a] = made[a] + found if a in made else found
            if last[b] == a and b not in asked:
                del made[b]
        shift, kept = np.zeros(top + 1, np.int64), sorted(asked)
        shift[kept] = np.cumsum([0, *sizes[kept]])[:-1]
        return sp.vstack([made[a] for a in kept], format="csr")[place[names] + shift[level[names]]]

    def levels(self) -> tuple[Any, Any]:
        """The level of each set, and its number there."""
        level, waiting = np.zeros(self.count, np.int64), np.bincount(self.wholes, minlength=self.count)
        order = np.argsort(self.parts, kind="stable")
        users, ends = self.wholes[order], np.cumsum(np.bincount(self.parts, minlength=self.count))
        starts = np.concatenate([[0], ends[:-1]])
        now, depth = np.flatnonzero(waiting == 0), 0
        while now.size:
            level[now] = depth
            counts = ends[now] - starts[now]
            offsets = cast("Any", np.arange(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
            reached, times = np.unique(users[np.repeat(starts[now], counts) + offsets], return_counts=True)
            waiting[reached] -= times
            now, depth = reached[waiting[reached] == 0], depth + 1
        place = np.zeros(self.count, np.int64)
        order = np.argsort(level, kind="stable")
        sizes = np.bincount(level)
        place[order] = np.arange(self.count) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return level, place
