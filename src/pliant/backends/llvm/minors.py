"""Determinants of small matrices and their derivatives, from the minors: right for singular matrices too.

A minor of the first k rows is made from those of the first k - 1 rows by expansion along its last row; one of the
last rows likewise. Each cofactor is a sum of products of a minor of the rows above and one of the rows below.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

from pliant.backends.llvm.values import float_text, llvm_type

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter

Elements: TypeAlias = Sequence[Sequence[str]]
"""A matrix of LLVM values."""
Columns: TypeAlias = tuple[int, ...]


def determinant(e: Emitter, dtype: str, x: Elements) -> str:
    """The determinant of a matrix."""
    n = len(x)
    return _minors(e, dtype, x, n)[tuple(range(n))]


def cofactors(e: Emitter, dtype: str, x: Elements) -> Elements:
    """The derivative of the determinant by every element."""
    n = len(x)
    above = _minors(e, dtype, x, n - 1)
    mirrored = _minors(e, dtype, [row[::-1] for row in reversed(x)], n - 1)
    below = {tuple(sorted(n - 1 - c for c in columns)): minor for columns, minor in mirrored.items()}

    def terms(i: int, j: int) -> Iterator[tuple[int, str, str]]:
        others = [c for c in range(n) if c != j]
        for places in combinations(range(n - 1), i):
            upper, lower = _divided(others, places)
            yield i + j + sum(places) - sum(range(i)), above[upper], below[lower]

    return [[_sum(e, dtype, terms(i, j)) for j in range(n)] for i in range(n)]


def _divided(columns: Sequence[int], places: Columns) -> tuple[Columns, Columns]:
    """The columns at some places, and the others."""
    return tuple([columns[p] for p in places]), tuple([c for p, c in enumerate(columns) if p not in places])


def _minors(e: Emitter, dtype: str, x: Elements, count: int) -> Mapping[Columns, str]:
    """The minors of up to `count` first rows, by their columns."""
    found: dict[Columns, str] = {(): float_text(1.0, dtype)}
    for k in range(1, count + 1):
        for columns in combinations(range(len(x)), k):
            terms = [(k - 1 + p, x[k - 1][c], found[columns[:p] + columns[p + 1 :]]) for p, c in enumerate(columns)]
            found[columns] = x[0][columns[0]] if k == 1 else _sum(e, dtype, iter(terms))
    return found


def _sum(e: Emitter, dtype: str, terms: Iterator[tuple[int, str, str]]) -> str:
    """The sum of products of two numbers, each negative where the first integer is odd."""
    t, total = llvm_type(dtype), ""
    for sign, x, y in terms:
        product = e.op(f"fmul {t} {x}, {y}")
        if total:
            total = e.op(f"{'fsub' if sign % 2 else 'fadd'} {t} {total}, {product}")
        else:
            total = e.op(f"fneg {t} {product}") if sign % 2 else product
    return total
