"""An axis of a nest along which arrays of more axes are read is several loops.

    w + outer(x, y).ravel()        for i < n·m:  w[i] + x[i // m]·y[i % m]
                                →  for i < n:  for j < m:  w[i·m + j] + x[i]·y[j]

So the innermost loop walks memory, which vectors can. Where all that a nest reads walks as one, its loops become one
again.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TypeAlias

from pliant.kernel.ir import Affine, Digit, Index, Nest, Var, number_of_point
from pliant.kernel.schedule import scalars

Extents: TypeAlias = tuple[tuple[int, ...], ...]
"""For each axis of a nest the extents of its loops."""


def loop_per_axis(space: Sequence[int]) -> Extents:
    """One loop for each axis."""
    return tuple([(n,) for n in space])


def loops_by_digits(nest: Nest) -> Extents:
    """Loops in which places are sums of loops, of a nest that has been recorded with one for each axis."""
    loop = next((v for v in reversed(nest.vars) if v.extent > 1), None)
    if loop is None or nest.lengths:
        return loop_per_axis(nest.space)
    found = [n for s in scalars(nest.body) if isinstance(s, Digit) and s.index.is_of_loops for n in _divisors(s, loop)]
    inner = 1
    extents = list[int]()
    for n in sorted({n for n in found if 1 < n < loop.extent and loop.extent % n == 0}):
        if n % inner == 0:
            extents, inner = [n // inner, *extents], n
    split = (loop.extent // inner, *extents)
    return tuple([split if v is loop else (v.extent,) for v in nest.vars])


def _divisors(digit: Digit, loop: Var) -> list[int]:
    """After how many steps of a loop a digit changes, and after how many it begins anew."""
    factor = digit.index.factor(loop)
    rest = digit.index - Affine(min(factor, 0), ((loop, factor),))
    ends = (digit.divisor, digit.divisor * digit.modulus)
    return [n // abs(factor) for n in ends if factor and n % factor == 0 and _is_multiple(rest, n)]


def _is_multiple(index: Affine, n: int) -> bool:
    """Whether an index is a multiple of n, n > 0, wherever it is."""
    return n > 0 and all([x % n == 0 for x in (index.start, *[factor for _, factor in index.terms])])


def index_in_axes(loops: Sequence[Var], extents: Extents) -> Index:
    """The index of the point that loops are at, in the axes that they are parts of."""
    rest = iter(loops)
    return Index([number_of_point(tuple(islice(rest, len(own)))) for own in extents])
