"""scipy.linalg: matrices made of vectors and of other matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pliant.core.origin import here
from pliant.errors import ShapeError
from pliant.frontend.functions.scipys.common import xp


def block_diag(*arrs: Any) -> Any:
    """scipy.linalg.block_diag, of matrices, vectors and numbers."""
    parts = [xp.atleast_2d(a) for a in arrs]
    wrong = next((p for p in parts if p.ndim > 2), None)
    if wrong is not None:
        raise ShapeError(f"scipy.linalg.block_diag: {wrong.type} is no matrix").at(("here", here()))
    rows, columns = (sum([p.shape[axis] for p in parts]) for axis in (0, 1))
    made, row, column = xp.zeros((rows, columns), xp.result_type(*parts)), 0, 0
    for part in parts:
        m, n = part.shape
        made[row : row + m, column : column + n] = part
        row, column = row + m, column + n
    return made


def toeplitz(c: Any, r: Any = None) -> Any:
    """scipy.linalg.toeplitz: the first column is c, the first row r, or c's conjugate."""
    column = _vector(c)
    row = xp.conj(column) if r is None else _vector(r)
    m, n = column.shape[-1], row.shape[-1]
    diagonals = xp.concatenate([column[..., ::-1], row[..., 1:]], -1)
    return diagonals[..., m - 1 - np.arange(m)[:, None] + np.arange(n)]


def hankel(c: Any, r: Any = None) -> Any:
    """scipy.linalg.hankel: the first column is c, the last row r, or zeros."""
    column = _vector(c)
    row = xp.zeros_like(column) if r is None else _vector(r)
    antidiagonals = xp.concatenate([column, row[..., 1:]], -1)
    return antidiagonals[..., np.arange(column.shape[-1])[:, None] + np.arange(row.shape[-1])]


def circulant(c: Any) -> Any:
    """scipy.linalg.circulant: the first column is c."""
    column = _vector(c)
    steps = xp.arange(column.shape[-1])
    return column[..., steps[:, None] - steps]


def companion(a: Any) -> Any:
    """scipy.linalg.companion: the matrix whose eigenvalues are the roots of a polynomial."""
    a = _vector(a)
    row = -a[1:] / a[0]
    made = xp.zeros((len(a) - 1, len(a) - 1), row.dtype)
    made[0] = row
    made[np.arange(1, len(a) - 1), np.arange(len(a) - 2)] = 1
    return made


def khatri_rao(a: Any, b: Any) -> Any:
    """scipy.linalg.khatri_rao: the Kronecker products of columns."""
    a, b = xp.asarray(a), xp.asarray(b)
    return (a[..., :, None, :] * b[..., None, :, :]).reshape(*a.shape[:-2], -1, b.shape[-1])


def _vector(x: Any) -> Any:
    return xp.atleast_1d(xp.asarray(x))


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    f.__name__: f for f in (block_diag, toeplitz, hankel, circulant, companion, khatri_rao)
}
