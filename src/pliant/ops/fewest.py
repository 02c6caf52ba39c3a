"""The least that must be kept so that some values can be made again: a minimum cut.

    keep 1 - y·y and y - t          keep y

Each value may be kept, for its bytes, or made again of what it is made of, by simple operations. The values kept are
those that a maximum flow fills, from what cannot be made again to what is wanted; of several sets as small, the one
nearest to what is wanted, which leaves least to be made again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import pairwise
from typing import Final, TypeAlias

from pliant.core.ir import Const, Value, Values

Place: TypeAlias = "tuple[Value, int]"  # 0: where the flow enters a value; 1: where it leaves it

LARGEST: Final = 400  # values to look at; with more, finding the cut takes longer than it saves


def fewest(wanted: Sequence[Value], free: Collection[Value], again: Callable[[Value], bool], longest: int) -> Values:
    """Values, fewest in bytes, of which, with free ones, those wanted can be made: each by about `longest` operations
    at most, on values that may be made `again`. The wanted ones themselves if nothing smaller is found."""
    below = _region(wanted, free, again, longest)
    if len(wanted) < 2 or len(below) > LARGEST:
        return tuple(wanted)
    least = _Flow(below, wanted).cut()
    return least if bytes_of(least) < bytes_of(wanted) else tuple(wanted)


def bytes_of(values: Iterable[Value]) -> int:
    """What values take together."""
    return sum([v.type.bytes for v in values])


def _region(
    wanted: Sequence[Value], free: Collection[Value], again: Callable[[Value], bool], longest: int
) -> dict[Value, Values | None]:
    """What the wanted values can be made of, each with what it is made of; None if it is not made again."""
    found: dict[Value, Values | None] = {}
    for one in wanted:
        todo, count, seen = [one], 0, {one}
        while todo:
            v = todo.pop(0)
            count += 1
            args = tuple([a for a in v.args if a not in free and not isinstance(a.op, Const)])
            is_made = again(v) and count <= longest
            if v in found and (found[v] is None or is_made):
                continue
            found[v] = args if is_made else None
            new = [a for a in args if a not in seen] if is_made else []
            seen.update(new)
            todo.extend(new)
    return found


class _Flow:
    """A flow of bytes from values that cannot be made again to wanted ones, through no value more than its size."""

    def __init__(self, below: dict[Value, Values | None], wanted: Sequence[Value]) -> None:
        self.below, self.wanted = below, wanted
        self.above: dict[Value, list[Value]] = {v: [] for v in below}
        for v, args in below.items():
            for a in dict.fromkeys(args or ()):
                self.above[a].append(v)
        self.size = {v: v.type.bytes for v in below}
        self.through = dict.fromkeys(below, 0)
        self.along = dict[tuple[Value, Value], int]()

    def cut(self) -> Values:
        """The values that are full, seen from the wanted ones."""
        while True:
            reached, path = self.search()
            if path is None:
                return tuple([v for v in self.below if (v, 1) in reached and (v, 0) not in reached])
            self.push(path)

    def search(self) -> tuple[dict[Place, Place | None], list[Place] | None]:
        """What can be reached from the wanted values against the flow; and a way to one that cannot be made again."""
        came: dict[Place, Place | None] = {(v, 1): None for v in self.wanted}
        todo = list(came)
        for place in todo:
            v, is_out = place
            if not is_out and self.below[v] is None:
                path: list[Place] = [place]
                while (before := came[path[-1]]) is not None:
                    path.append(before)
                return came, path
            for new in self.nexts(v, is_out=bool(is_out)):
                if new not in came:
                    came[new] = place
                    todo.append(new)
        return came, None

    def nexts(self, v: Value, *, is_out: bool) -> list[Place]:
        """Where more can come from, or what comes can be sent back to."""
        if is_out:
            back: list[Place] = [(u, 0) for u in self.above[v] if self.along.get((v, u), 0) > 0] if self.along else []
            return [(v, 0), *back] if self.through[v] < self.size[v] else back
        found: list[Place] = [(a, 1) for a in self.below[v] or ()]
        return [*found, (v, 1)] if self.through[v] > 0 else found

    def push(self, path: list[Place]) -> None:
        """As much more as the way, from its source on, lets through."""
        room = list[int]()
        steps = list(pairwise(path))
        for (v, is_out), (u, _) in steps:
            if v is u:
                room.append(self.through[v] if is_out else self.size[v] - self.through[v])
            elif not is_out:
                room.append(self.along[u, v])
        more = min(room)
        for (v, is_out), (u, _) in steps:
            if v is u:
                self.through[v] += -more if is_out else more
            elif is_out:
                self.along[v, u] = self.along.get((v, u), 0) + more
            else:
                self.along[u, v] -= more
