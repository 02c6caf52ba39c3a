"""`np.eye`, `np.identity`, `np.tri` of extents, or of a diagonal, known only at run time: numbers of rows and columns
are compared."""

from __future__ import annotations

from typing import Any

from pliant.frontend.ranges import arange, extents_of


def eye(N: Any, M: Any = None, k: Any = 0, dtype: Any = float, order: Any = "C", **options: Any) -> Any:
    """np.eye."""
    return (_right_of("np.eye", N, M) == k).astype(dtype, order=order)


def identity(n: Any, dtype: Any = None, **options: Any) -> Any:
    """np.identity."""
    return (_right_of("np.identity", n, None) == 0).astype(float if dtype is None else dtype)


def tri(N: Any, M: Any = None, k: Any = 0, dtype: Any = float, **options: Any) -> Any:
    """np.tri."""
    return (_right_of("np.tri", N, M) <= k).astype(dtype)


def _right_of(name: str, rows: Any, columns: Any) -> Any:
    """How far each element lies right of the main diagonal."""
    shape = rows, rows if columns is None else columns
    extents_of(shape, name)  # raises for what is none
    down, across = [arange(n) for n in shape]
    return across[None, :] - down[:, None]
