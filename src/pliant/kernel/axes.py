"""An axis of a nest along which arrays of more axes are read is several loops.

    w + outer(x, y).ravel()        for i < n·m:  w[i] + x[i // m]·y[i % m]
                                →  for i < n:  for j < m:  w[i·m + j] + x[i]·y[j]

So the innermost loop walks memory, which vectors can. Where all that a nest reads walks as one, its loops become one
again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from pliant.kernel.ir import Affine, Digit, Index, Nest, Var, strides_of
from pliant.kernel.schedule import scalars

Parts: TypeAlias = tuple[tuple[int, ...], ...]
"""For each axis of a nest the extents of its loops."""


def whole(space: Sequence[int]) -> Parts:
    """One loop for each axis."""
    return tuple([(n,) for n in space])


def parts(nest: Nest) -> Parts:
    """Loops in which places are sums of loops, of a nest that has been recorded with one for each axis."""
    loop = next((v for v in reversed(nest.vars) if v.extent > 1), None)
    if loop is None or nest.lengths:
        return whole(nest.space)
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


def point(loops: Sequence[Var], split: Parts) -> Index:
    """The index of the point that loops are at, in the axes that they are parts of."""
    rest, index = iter(loops), list[Affine]()
    for extents in split:
        pairs = zip(extents, strides_of(extents), strict=True)
        index.append(sum([Affine(0, ((next(rest), stride),)) for _, stride in pairs], Affine()))
    return Index(index)
