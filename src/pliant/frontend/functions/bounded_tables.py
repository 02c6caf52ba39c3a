"""Matrices whose extents are known only at run time: made of lines, their parts and diagonals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pliant.frontend.bounded import Bounded, bounded, elementwise, extents_of, filled, whole_of
from pliant.frontend.convert import as_traced
from pliant.frontend.functions.bounded_folds import sum_
from pliant.frontend.functions.common import unsupported, xp
from pliant.frontend.sizes import size_of


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> list[Any]:
    """np.meshgrid, of copies."""
    if sparse or not copy:
        raise unsupported("np.meshgrid with sparse= or copy=, some extents known only at run time", "write x[:, None]")
    rank = len(xi)
    axes = [1 - n if indexing == "xy" and n < 2 <= rank else n for n in range(rank)]
    lines = [x if isinstance(x, Bounded) else as_traced(x) for x in xi]
    keys = [tuple([slice(None) if a == at else None for a in range(rank)]) for at in axes]

    def grid(*wholes: Any) -> Any:
        return tuple([np.copy(x) for x in np.broadcast_arrays(*wholes)])

    return list(elementwise(grid, [x[key] for x, key in zip(lines, keys, strict=True)], {}))


def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    """np.vander of a known number of columns."""
    if N is None:
        raise x.refused("np.vander without N=")
    extents = (*extents_of(x), N)
    made = bounded(xp.vander(filled(x, 0), N, increasing), extents)
    return bounded(filled(made, 0), extents)


def _triangle(name: str) -> Callable[..., Any]:
    def call(m: Any, k: int = 0) -> Any:
        if m.ndim < 2:
            raise m.refused(f"np.{name} of one axis")
        return Bounded(getattr(xp, name)(whole_of(m), k), m.extents)

    return call


def diag(v: Any, k: int = 0) -> Any:
    """np.diag."""
    if len(extents_of(v)) != 1:
        return diagonal(v, k)
    size = size_of(extents_of(v)[0]) + abs(k)
    return bounded(xp.diag(filled(v, 0), k), (size, size))


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """np.diagonal of the main diagonal of a square matrix."""
    if offset or (axis1, axis2) != (0, 1) or a.ndim != 2 or a.extents[0] != a.extents[1]:
        raise a.refused("another diagonal than the main one of a square matrix")
    return bounded(xp.diagonal(whole_of(a)), a.extents[:1])


def trace(a: Any, offset: int = 0, *args: Any, **options: Any) -> Any:
    """np.trace of the main diagonal of a square matrix."""
    return sum_(diagonal(a, offset), *args, **options)


FUNCTIONS: Final[dict[Any, Callable[..., Any]]] = {
    np.meshgrid: meshgrid, np.vander: vander, np.tril: _triangle("tril"), np.triu: _triangle("triu"),
    np.diag: diag, np.diagonal: diagonal, np.trace: trace,
}  # fmt: skip
METHODS: Final[dict[str, Callable[..., Any]]] = {f.__name__: f for f in (diagonal, trace)}
