"""What a C-level entry can do of a call by itself: return its results, and see that what is written lies apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from pliant.frontend.kinds import as_tuple
from pliant.frontend.outputs import Output
from pliant.frontend.program import Program
from pliant.frontend.signature import unflatten

Tree: TypeAlias = "int | tuple[Any, ...] | None"


@final
@dataclass(frozen=True)
class Returns:
    """What an entry returns.

    tree: nested tuples of result numbers, of arguments, the first as -1, and of None. structure: what
    is made of a flat tuple of them in Python, if it is something else. has_scalars: whether results of
    rank 0 are NumPy scalars.
    """

    tree: Tree
    structure: Any
    has_scalars: bool


def returns_of(program: Program) -> Returns | None:
    """What an entry returns, if all leaves are new arrays, or arguments, and all that is written is computed
    in place; else None."""
    results = program.fn.results
    places = [_place(program, output) for output in program.outputs]
    made = [p for p in places if p is not None and p >= 0]
    in_place = {number for _, number in program.pinned}
    is_whole = {*made} | in_place == {*range(len(results))} and len({*made}) == len(made)
    is_written = all([number in in_place for _, number in program.written])
    ranks = {o.kind for o in program.outputs if o.is_result and not results[int(o.place)].type.rank}
    if None in places or not is_whole or not is_written or len(ranks) > 1 or program.changed or program.groups:
        return None
    tree = unflatten(program.structure, places)
    has_scalars = any([o.kind == "scalar" for o in program.outputs])
    return Returns(tree, None, has_scalars) if _is_tuples(tree) else Returns((*places,), program.structure, has_scalars)


def _place(program: Program, output: Output) -> int | None:
    """The number of a result that is new, or that of an argument, from -1 down; None for anything else."""
    if output.lenses:
        return None
    if output.kind in ("array", "scalar"):
        return output.place
    is_argument = output.kind == "source" and isinstance(output.place, int) and output.place < len(program.leaves)
    return ~output.place if is_argument else None


def _is_tuples(tree: Any) -> bool:
    return tree is None or type(tree) is int or (type(tree) is tuple and all(map(_is_tuples, as_tuple(tree))))


def apart(program: Program) -> tuple[tuple[int, int], ...]:
    """Pairs of an entry's arguments that may not overlap: what is written, and all others. Captured arrays follow
    the leaves."""
    count = len(program.leaves) + len(program.captured)
    return tuple({(min(w, other), max(w, other)) for w in _watched(program) for other in range(count) if other != w})


def _watched(program: Program) -> Iterator[int]:
    """Arguments of an entry that are written, if only locally."""
    number = len(program.leaves)
    for place in program.watched:
        if place < number:
            yield place
        else:
            yield from [number + n for n, a in enumerate(program.captured) if a is program.met[place - number]]
