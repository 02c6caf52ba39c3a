"""Whether one access of memory can touch what another one touches, at points of loops in a given order.

The distance of the two addresses is a sum of multiples of loop variables. It can be zero only if zero
lies between its least and its greatest value, also when both are taken modulo a stride: the tests of
Banerjee and of the greatest common divisor, and those between them. "No" is certain, "yes" is not.
See Note [time].
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias, final

from pliant.core.data import frozen
from pliant.core.types import itemsize
from pliant.kernel.ir import Affine, Checked, Digit, FromIndex, Scalar, Var
from pliant.kernel.schedule import varies

Term: TypeAlias = tuple[int, int]
"""(factor, greatest value) of something that counts from 0."""


@final
@frozen
class Access:
    """Bytes that a load or a store touches: `width` of them, at `start` plus the loops' parts."""

    start: int
    width: int
    factors: dict[Var, int]
    others: tuple[Term, ...] = ()  # parts that are no loop variable, but in known bounds
    is_known: bool = True  # whether there is nothing else
    fixed: tuple[tuple[Scalar, int], ...] = ()  # parts that are the same at all points
    ends: tuple[tuple[Var, Scalar], ...] = ()  # where loops end, if that is known only at run time


def access(
    base: int, dtype: str, offset: Affine, loops: Iterable[Var], ends: Iterable[tuple[Var, Scalar]] = ()
) -> Access:
    """An access of a buffer that lies at `base`. Loops that were merged into others count as 0."""
    width, running = itemsize(dtype), set(loops)
    start, factors = base + offset.start * width, dict[Var, int]()
    others, fixed, is_known = list[Term](), list[tuple[Scalar, int]](), True
    for atom, factor in offset.terms:
        if isinstance(atom, Var):
            if atom in running:
                factors[atom] = factor * width
            continue
        if not varies(atom, running):
            fixed.append((atom, factor * width))
            continue
        limit = limit_of(atom)
        if limit is None:
            is_known = False
        else:
            others.append((factor * width, limit))
    return Access(start, width, factors, tuple(others), is_known, tuple(fixed), tuple(ends))


def _without(x: Access, common: set[tuple[Scalar, int]]) -> Access:
    """An access without parts that another one has too."""
    rest = [(atom, factor) for atom, factor in x.fixed if (atom, factor) not in common]
    terms = [(factor, limit_of(atom)) for atom, factor in rest]
    bounded = tuple([(factor, limit) for factor, limit in terms if limit is not None])
    return replace(x, others=x.others + bounded, is_known=x.is_known and len(bounded) == len(terms), fixed=())


def limit_of(atom: Scalar) -> int | None:
    """The greatest value of an index that is not below 0, if it has one."""
    match atom:
        case Checked():
            return max(atom.extent - 1, 0)
        case Digit() if atom.modulus:
            return atom.modulus - 1
        case FromIndex():
            span = atom.index.range()
            return span[1] if span and span[0] >= 0 else None
        case _:
            return None


@final
@frozen
class Level:
    """A loop that two accesses have in common, under the names it has for each of them."""

    first: Var
    second: Var
    is_backward: bool = False


def comes_before(
    first: Access, second: Access, levels: Sequence[Level], *, same: bool, gaps: Sequence[int] = ()
) -> bool:
    """Whether `first`, at some point, touches what `second` touches at a later point of the common loops.

    Or at the `same` point. gaps: for the outermost loops, how many steps later counts as later, if not one.
    """
    if are_in_different_rows(first, second):
        return False
    common = {*first.fixed} & {*second.fixed}
    first, second = _without(first, common), _without(second, common)
    distances = [d for n, gap in _counted(levels, gaps) if (d := _later(first, second, levels, n, gap))]
    if same:
        distances.append(_at_same_point(first, second, levels))
    if not first.is_known or not second.is_known:
        return bool(distances)  # of one point none is later
    return any([d.reaches_zero(first.width, second.width) for d in distances])


def are_in_different_rows(first: Access, second: Access) -> bool:
    """Whether no byte is touched by both, as one is in row i and the other in rows of a loop that ends at i."""
    if first.others or second.others or not first.is_known or not second.is_known:
        return False
    parts = [*first.factors.values(), *second.factors.values(), *[f for _, f in (*first.fixed, *second.fixed)]]
    return min(parts, default=-1) >= 0 and any(
        [_is_before(*pair, length) for length in {*parts} for pair in ((first, second), (second, first)) if length]
    )


def _is_before(upper: Access, lower: Access, length: int) -> bool:
    """Whether a row of `upper` always ends before the one of `lower` begins; rows being of this length."""
    ends, rows, columns = dict(upper.ends), dict[Scalar, int](), dict[Scalar, int]()
    gap = upper.start // length - lower.start // length  # from row to row, at most
    reach = upper.start % length - lower.start % length  # and inside them
    for x, sign in ((upper, 1), (lower, -1)):
        for atom, factor in x.fixed:
            rows[atom] = rows.get(atom, 0) + sign * (factor // length)
            columns[atom] = columns.get(atom, 0) + sign * (factor % length)
    for var, factor in upper.factors.items():
        end = ends.get(var)
        if end is not None:
            rows[end] = rows.get(end, 0) + factor // length
        gap += factor // length * (var.extent - 1 if end is None else -1)
        reach += factor % length * (var.extent - 1)
    return gap < 0 and reach + upper.width <= length and not any((*rows.values(), *columns.values()))


def _counted(levels: Sequence[Level], gaps: Sequence[int]) -> Iterator[tuple[int, int]]:
    if gaps:
        yield from enumerate(gaps)
    else:
        yield from [(n, 1) for n in range(len(levels))]


@final
@frozen
class _Distance:
    """start + Σ of parts; each part is one of several counters, or the sum of two with a common bound."""

    start: int
    terms: tuple[Term, ...]
    pair: tuple[int, int, int] = (0, 0, 0)  # a·t + b·u for t, u ≥ 0 and t + u ≤ the third

    def reaches_zero(self, first: int, second: int) -> bool:
        """Whether accesses of these widths may have a byte in common."""
        strides = {abs(f) for f, _ in self.terms if f} | {abs(f) for f in self.pair[:2] if f}
        return all([self._reaches(first, second, stride) for stride in (0, *strides)])

    def _reaches(self, first: int, second: int, modulus: int) -> bool:
        """Whether that may be, modulo a stride, or exactly for 0."""

        def rest(factor: int) -> int:
            return factor if not modulus or factor % modulus else 0

        a, b, bound = self.pair
        corners = (0, rest(a) * bound, rest(b) * bound)
        low = self.start + min(corners) + sum([min(rest(f) * n, 0) for f, n in self.terms])
        high = self.start + max(corners) + sum([max(rest(f) * n, 0) for f, n in self.terms])
        if not modulus:
            return low < second and high > -first
        return (second - 1 - low) // modulus * modulus > -first - high


def _later(first: Access, second: Access, levels: Sequence[Level], at: int, gap: int) -> _Distance | None:
    """The distance where the loops around the one `at` agree, and that one is `gap` steps further for `second`."""
    level = levels[at]
    bound = level.first.extent - 1 - gap
    if bound < 0:
        return None
    a, b = first.factors.get(level.first, 0), second.factors.get(level.second, 0)
    terms = _agreeing(first, second, levels[:at])
    terms += _free(first, {lv.first for lv in levels[: at + 1]}, 1)
    terms += _free(second, {lv.second for lv in levels[: at + 1]}, -1)
    start = first.start - second.start
    if level.is_backward:  # the variable falls: first has it `gap` and more above second's
        return _Distance(start + a * gap, tuple(terms), (a - b, a, bound))
    return _Distance(start - b * gap, tuple(terms), (a - b, -b, bound))


def _at_same_point(first: Access, second: Access, levels: Sequence[Level]) -> _Distance:
    terms = _agreeing(first, second, levels)
    terms += _free(first, {lv.first for lv in levels}, 1) + _free(second, {lv.second for lv in levels}, -1)
    return _Distance(first.start - second.start, tuple(terms))


def _agreeing(first: Access, second: Access, levels: Sequence[Level]) -> list[Term]:
    return [(first.factors.get(lv.first, 0) - second.factors.get(lv.second, 0), lv.first.extent - 1) for lv in levels]


def _free(x: Access, bound: set[Var], sign: int) -> list[Term]:
    """The parts of an access that do not depend on where the other one is."""
    loops = [(sign * f, v.extent - 1) for v, f in x.factors.items() if v not in bound]
    return loops + [(sign * f, n) for f, n in x.others]


# Note [time]:
# Points of a nest are run in the order of its loops. Point p comes before q if for some loop, the
# n-th, all loops around it have the same value at p and q and its own comes earlier at p; what the
# loops inside it have is free. So "some p before some q touch the same byte" is one question for
# each n. With w·p the address at p and r·q that at q, and q_n = p_n + 1 + u, the distance is linear
# in independent counters but for p_n and u, whose sum is bounded: its extremes are at the corners.
