"""The order of the loops of a nest, and which of them become one."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from pliant.kernel.ir import Affine, Buffer, Choose, Fold, Load, Loop, Nest, Region, Scalar, Var

SHORT: Final = 64  # steps; a sum over more loops than one of fewer steps had better be one of many at a time


def schedule(nest: Nest, keep: int = 0) -> None:
    """Sort a nest's loops, innermost last, and merge those that walk memory as one.

    The first `keep` loops stay where and what they are.
    """
    loops = [v for v in nest.vars if v.extent != 1 or v in nest.limits]
    if len(loops) > 1:
        uses = list(affines(nest.body)) + [root.offset for root in nest.roots if root.buffer]
        loops = loops[:keep] + ordered(loops[keep:], nest)
        at = len(loops) - 2
        while at >= keep:
            if mergeable(loops[at], loops[at + 1], nest, uses):
                loops[at + 1].extent *= loops[at].extent
                del loops[at]
            at -= 1
    nest.vars = tuple(loops)


def ordered(loops: list[Var], nest: Nest) -> list[Var]:
    """The loops in their given order, but the one that walks memory best innermost, and around it the one that walks
    best what it walks across: tiles of these two have whole lines of cache of both."""
    stores = [root.offset for root in nest.roots if root.buffer]
    loads = [load.offset for load in scalars(nest.body) if isinstance(load, Load)]
    folded = {v for root in nest.roots for v in root.folded}
    sums = [root.folded for root in nest.roots if root.fold and root.fold.kind == "add"]
    summed = {v for several in sums if len(several) > 1 for v in several}

    def penalty(loop: Var) -> int:
        strided = sum([2 for s in stores if abs(s.factor(loop)) > 1]) + sum([abs(x.factor(loop)) > 1 for x in loads])
        return strided * 16 + (8 if loop.extent < 8 else 4 if loop in summed and loop.extent < SHORT else 0)

    best = min(reversed(loops), key=penalty)
    rest = [v for v in loops if v is not best]
    across = [x for x in loads if abs(x.factor(best)) > 1]
    second = [v for v in rest if any([abs(x.factor(v)) == 1 for x in across])][:1]
    if folded:
        second = []  # sums are made in the given order
    return [v for v in rest if v not in second] + second + [best]


def mergeable(outer: Var, inner: Var, nest: Nest, uses: list[Affine]) -> bool:
    """Whether every index moves in `outer` as it does in the whole of `inner`."""
    if any([(outer in root.folded) != (inner in root.folded) for root in nest.roots]):
        return False
    if outer in nest.limits or inner in nest.limits:
        return False
    return all([use.factor(outer) == use.factor(inner) * inner.extent for use in uses])


def regions(scalar: Scalar) -> tuple[Region, ...]:
    """The regions inside a scalar."""
    match scalar:
        case Choose():
            return scalar.sides
        case Fold() | Loop():
            return (scalar.body,)
        case _:
            return ()


def scalars(region: Region) -> Iterator[Scalar]:
    """All scalars of a region, inner ones too."""
    todo = [region]
    while todo:
        for scalar in todo.pop().body:
            yield scalar
            todo.extend(regions(scalar))


def affines(region: Region) -> Iterator[Affine]:
    """All indices and offsets of a region."""
    for scalar in scalars(region):
        yield from scalar.indices()


def varies(scalar: Scalar, loops: Collection[Var]) -> bool:
    """Whether a scalar may differ from point to point of some loops."""
    todo, seen_before = [scalar], set[Scalar]()
    while todo:
        s = todo.pop()
        if s in seen_before:
            continue
        seen_before.add(s)
        atoms = [a for i in s.indices() for a, _ in i.terms]
        if isinstance(s, Fold | Choose) or (isinstance(s, Load) and s.ordered) or any([a in loops for a in atoms]):
            return True
        todo += [*s.operands(), *[a for a in atoms if isinstance(a, Scalar)]]
    return False


def depth_of(s: Scalar, depths: dict[Scalar, int], places: dict[Var, int], made: Collection[Buffer]) -> int:
    """The number of loops that a scalar lies in; `depths` has those of the scalars before it.

    What is `made` in a common outer loop is read inside that loop.
    """
    depth = int(isinstance(s, Load) and s.buffer in made)
    for index in s.indices():
        for atom, _ in index.terms:
            found = places.get(atom, 0) if isinstance(atom, Var) else depths.get(atom, 0)
            depth = max(depth, found)
    for region in regions(s):
        for inner in region.body:
            depths[inner] = deeper = depth_of(inner, depths, places, made)
            depth = max(depth, deeper)
    return max([depth, *[depths.get(a, 0) for a in s.operands()]])
