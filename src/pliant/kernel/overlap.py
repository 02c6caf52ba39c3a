"""How a nest may write where it reads, decided from the offsets of its loads and its store.

Where a point of the nest reads only the element that it writes, any order will do. Where it reads
elements further on, it must walk that way, so that nothing is overwritten before it is read. Where
it reads both ways, results wait until nobody needs what lies in their place. See Note [sweeps].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final, final

from pliant.core.data import frozen
from pliant.core.types import itemsize
from pliant.kernel.ir import Affine, Buffer, Fold, Load, Nest, Root, Scalar, Var
from pliant.kernel.schedule import scalars, varies

PART: Final = 512  # elements that are kept back at least: they stay in the nearest cache


@final
@frozen
class Sweep:
    """Loops from the outermost in; those that run backward; steps of the outermost that results wait
    for, or 0. No loops: the order is free."""

    loops: tuple[Var, ...] = ()
    backward: frozenset[Var] = frozenset()
    delay: int = 0


FREE: Final = Sweep()


def sweep_of(nest: Nest, root: Root, lies_there: Callable[[Buffer], bool]) -> Sweep | str:
    """How the nest can write `root` to memory that it reads: to what `lies_there`. If it cannot, why."""
    assert root.buffer
    loads = [s for s in scalars(nest.body) if isinstance(s, Load) and lies_there(s.buffer)]
    if not loads or not nest.vars:
        return FREE
    loops = loops_of(nest)
    store = seen(root.offset, loops)
    if any([itemsize(load.dtype) != itemsize(root.buffer.type.dtype) for load in loads]):
        return "its elements have another size"
    if not is_once(store, nest, root):
        return "its elements are written more than once"
    distances = set[int]()
    for load in loads:
        offset = seen(load.offset, loops)
        away = offset - store  # what does not vary from point to point cancels
        if are_apart(offset, store) and is_fixed(store, loops):
            continue
        if rows_are_apart(offset, store, nest.limits, loops):
            continue
        if not away.terms:
            distances.add(away.start)
        else:
            return "it is read in another order than it is written in"
    return sweep_for(distances, nest, store)


def is_fixed(offset: Affine, loops: Collection[Var]) -> bool:
    """Whether only loops make an offset differ from point to point."""
    return not any([varies(a, loops) for a, _ in offset.terms if isinstance(a, Scalar)])


def sweep_for(distances: Iterable[int], nest: Nest, store: Affine) -> Sweep | str:
    """How to walk where each point reads at these distances from where it writes."""
    ahead, behind = max([*distances, 0]), max([*[-d for d in distances], 0])
    if not ahead and not behind:
        return FREE
    if any([root.fold for root in nest.roots]):
        return "a reduction in the same loops fixes their order"
    if ahead and behind and nest.limits:
        return "it is read on both sides of where it is written"
    loops = tuple(sorted(nest.vars, key=lambda v: -abs(store.factor(v))))
    upward = frozenset([v for v in loops if store.factor(v) < 0])
    if not behind:
        return Sweep(loops, upward)
    if not ahead:
        return Sweep(loops, frozenset(loops) - upward)
    row = math.prod([v.extent for v in loops[1:]])
    steps = max(-(-behind // abs(store.factor(loops[0]))), -(-PART // row))
    if 2 * steps >= loops[0].extent:
        return "it is read on both sides of where it is written"
    return Sweep(loops, upward, steps)


def loops_of(nest: Nest) -> set[Var]:
    """The loops of a nest, those inside its scalars included."""
    return {*nest.vars, *[v for s in scalars(nest.body) if isinstance(s, Fold) for v in s.vars]}


def seen(offset: Affine, loops: set[Var]) -> Affine:
    """An offset without the loops that were merged into others."""
    return Affine(offset.start, tuple([(a, f) for a, f in offset.terms if not isinstance(a, Var) or a in loops]))


def is_once(store: Affine, nest: Nest, root: Root) -> bool:
    """Whether no two points write one element, as far as strides tell, and each row ends before the next."""
    if any([not isinstance(a, Var) and varies(a, nest.vars) for a, _ in store.terms]):
        return False
    kept = [v for v in nest.vars if v not in root.folded]
    if root.folded and nest.vars[: len(kept)] != tuple(kept):
        return False  # a fold over an outer loop comes back to each element
    span = 0
    for v in sorted(kept, key=lambda v: abs(store.factor(v))):
        stride = abs(store.factor(v))
        if stride <= span:
            return False
        span += stride * (v.extent - 1)
    return True


def are_apart(a: Affine, b: Affine) -> bool:
    """Whether two offsets are never equal, as far as bounds and strides tell: their ranges are apart, or
    those of their remainders by some stride, like two columns of a matrix. What they have in common is the
    same at all points: only loops vary."""
    common = {atom: f for atom, f in a.terms if not isinstance(atom, Var) and b.factor(atom) == f}
    a, b = (Affine(x.start, tuple([(atom, f) for atom, f in x.terms if atom not in common])) for x in (a, b))
    first, second = a.range(), b.range()
    if first is None or second is None:
        return False
    if first[1] < second[0] or second[1] < first[0]:
        return True
    strides = {abs(f) for _, f in (*a.terms, *b.terms)}
    return any([_apart_modulo(a, b, stride) for stride in {*strides, math.gcd(*strides)} if stride > 1])


def _apart_modulo(a: Affine, b: Affine, stride: int) -> bool:
    first, second = _remainders(a, stride), _remainders(b, stride)
    is_known = all([low >= 0 and high < stride for low, high in (first, second)])
    return is_known and (first[1] < second[0] or second[1] < first[0])


def _remainders(offset: Affine, stride: int) -> tuple[int, int]:
    rest = Affine(offset.start % stride, tuple([(a, f) for a, f in offset.terms if f % stride]))
    return rest.range() or (0, 0)


def rows_are_apart(a: Affine, b: Affine, ends: Mapping[Var, Scalar], loops: Collection[Var]) -> bool:
    """Whether two offsets are never equal since they lie in different rows, as far as it is known where loops end: row
    i is no row below i."""
    if not is_fixed(a, loops) or not is_fixed(b, loops):
        return False
    if any([f < 0 for _, f in (*a.terms, *b.terms)]):
        return False
    strides = {f for _, f in (*a.terms, *b.terms) if f > 1}
    return any([_is_above(x, y, stride, ends) for stride in strides for x, y in ((a, b), (b, a))])


def _is_above(a: Affine, b: Affine, stride: int, ends: Mapping[Var, Scalar]) -> bool:
    """Whether the row of `a`, with the reach of its place in it, always ends before that of `b`."""
    (row, place), (other, there) = _divided(a, stride), _divided(b, stride)
    gap, reach = _most(row, ends) - _least(other), _most(place, {}) - _least(there)
    return not gap.terms and not reach.terms and gap.start < 0 and reach.start < stride


def _divided(x: Affine, stride: int) -> tuple[Affine, Affine]:
    """q and r with x = stride·q + r, term by term."""
    parts = [(atom, divmod(f, stride)) for atom, f in x.terms]
    start = divmod(x.start, stride)
    row, place = ([(atom, f[n]) for atom, f in parts if f[n]] for n in (0, 1))
    return Affine(start[0], tuple(row)), Affine(start[1], tuple(place))


def _most(x: Affine, ends: Mapping[Var, Scalar]) -> Affine:
    """No less than x, whose factors are positive, can be, without the loops."""
    found = Affine(x.start)
    for atom, factor in x.terms:
        if not isinstance(atom, Var):
            found += Affine(0, ((atom, factor),))
        elif atom in ends:
            found += Affine(-factor, ((ends[atom], factor),))
        else:
            found += factor * (max(atom.extent, 1) - 1)
    return found


def _least(x: Affine) -> Affine:
    """No more than x, whose factors are positive, can be."""
    return Affine(x.start, tuple([(atom, f) for atom, f in x.terms if not isinstance(atom, Var)]))


# Note [sweeps]:
# Let a nest write element w(i) at point i, and read w(i) + d. If strides are sorted, the longest
# outermost, and no row overlaps the next, then w grows from point to point (loops of a negative
# stride run backward), and the element at w(i) + d, if the nest writes it at all, is written later
# for d > 0 and earlier for d < 0. So d ≥ 0 asks for growing w, d ≤ 0 for falling w. For both signs w
# grows, results go to a ring of two parts of `delay` steps of the outermost loop each, and a part
# is written where it belongs when the part after it has been computed: w(i) + d is not further back
# than one part. All scalars of a point are loaded before anything is stored, and LLVM makes vectors
# only where that keeps the order of loads and stores.
