"""Norms of vectors and matrices, and condition numbers."""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np

from pliant.core.ir import Value, const
from pliant.core.origin import here
from pliant.errors import ShapeError
from pliant.frontend.array import fresh
from pliant.frontend.convert import as_traced, axes_of
from pliant.frontend.functions.common import inexact, known
from pliant.frontend.functions.linalg import matrices
from pliant.ops import reduce as folds
from pliant.ops.compare import equal, not_equal
from pliant.ops.complex import conj
from pliant.ops.elementwise import absolute, convert, div, mul
from pliant.ops.length import length
from pliant.ops.matrix import real_part
from pliant.ops.power import power
from pliant.ops.select import select
from pliant.ops.shape import permute, reshape, slice_axis
from pliant.ops.solve import inv
from pliant.ops.spectral import SingularValues

Axes = tuple[int, ...]


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """np.linalg.norm; the gradient of a norm of zeros is 0."""
    value = inexact(as_traced(x))
    rank = value.type.rank
    ord = known(ord, "ord= of np.linalg.norm")
    if axis is None and (ord is None or (rank == 2 and ord in ("f", "fro")) or (rank == 1 and ord == 2)):
        return fresh(_kept(_euclidean(value, tuple(range(rank))), value, tuple(range(rank)), keepdims))
    axes = axes_of(axis, rank)
    return fresh(_kept(_norm(value, ord, axes), value, axes, keepdims))


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """np.linalg.vector_norm."""
    value = inexact(as_traced(x))
    axes = axes_of(axis, value.type.rank)
    if len(axes) == 1:
        return fresh(_kept(_vector_norm(value, known(ord, "ord="), axes), value, axes, keepdims))
    rest = tuple(a for a in range(value.type.rank) if a not in axes)
    flat = reshape(
        permute(value, (*rest, *axes)), (*(value.shape[a] for a in rest), prod(value.shape[a] for a in axes))
    )
    y = _vector_norm(flat, known(ord, "ord="), (len(rest),))
    return fresh(_kept(y, value, axes, keepdims))


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """np.linalg.matrix_norm."""
    value = inexact(as_traced(x))
    axes = (value.type.rank - 2, value.type.rank - 1)
    return fresh(_kept(_matrix_norm(value, known(ord, "ord="), axes), value, axes, keepdims))


def cond(x: Any, p: Any = None) -> Any:
    """np.linalg.cond; inf where a matrix is singular only for the norms by singular values."""
    a = matrices("cond", x, square=p not in (None, 2, -2))
    axes = (a.type.rank - 2, a.type.rank - 1)
    if p not in (None, 2, -2):
        return fresh(mul(_matrix_norm(a, p, axes), _matrix_norm(inv(a), p, axes)))
    s = SingularValues()(a)
    last, k = s.type.rank - 1, s.shape[-1]
    largest, smallest = (reshape(slice_axis(s, last, i, 1), s.shape[:-1]) for i in (0, k - 1))
    return fresh(div(smallest, largest) if p == -2 else div(largest, smallest))


def _kept(y: Value, x: Value, axes: Axes, keepdims: Any) -> Value:
    """The result, with axes of extent 1 if they are kept."""
    return reshape(y, tuple(1 if a in axes else n for a, n in enumerate(x.shape))) if keepdims else y


def _norm(x: Value, ord: Any, axes: Axes) -> Value:
    if len(axes) == 1:
        return _vector_norm(x, ord, axes)
    if len(axes) == 2:
        return _matrix_norm(x, ord, axes)
    raise ShapeError(f"np.linalg.norm: a norm is of 1 or 2 axes, not of the {len(axes)} of {x.type}").at(
        ("here", here())
    )


def _euclidean(x: Value, axes: Axes) -> Value:
    """√Σ|x|², with gradient 0 at 0."""
    return length(folds.reduce_sum(real_part(mul(x, conj(x))), axes))


def _largest(x: Value, axes: Axes) -> Value:
    """The largest along axes; 0 of none, as sizes go."""
    return folds.reduce_max(x, axes) if all(x.shape[a] for a in axes) else folds.reduce_sum(x, axes)


def _vector_norm(x: Value, ord: Any, axes: Axes) -> Value:
    """The norm of vectors along one axis."""
    if ord is None or ord == 2:
        return _euclidean(x, axes)
    if isinstance(ord, str):
        raise ShapeError(f"np.linalg.norm: {ord!r} is no norm of vectors").at(("here", here()))
    if ord == 0:
        return folds.reduce_sum(convert(not_equal(x, const(0, x.dtype)), real_part(x).dtype), axes)
    size = absolute(x)
    if ord in (np.inf, -np.inf):
        return (_largest if ord > 0 else folds.reduce_min)(size, axes)
    if ord == 1:
        return folds.reduce_sum(size, axes)
    total = folds.reduce_sum(power(size, const(float(ord), size.dtype)), axes)
    root = const(1 / float(ord), size.dtype)
    if ord < 0:
        return power(total, root)
    zero = equal(total, const(0, total.dtype))  # the root is infinitely steep there
    return select(zero, total, power(select(zero, const(1, total.dtype), total), root))


def _matrix_norm(x: Value, ord: Any, axes: Axes) -> Value:
    """The norm of matrices in two axes, rows first."""
    if ord in (None, "fro", "f"):
        return _euclidean(x, axes)
    if ord in ("nuc", 2, -2):
        rest = tuple(a for a in range(x.type.rank) if a not in axes)
        s = SingularValues()(permute(x, (*rest, *axes)))
        fold = {"nuc": folds.reduce_sum, 2: _largest, -2: folds.reduce_min}[ord]
        return fold(s, (len(rest),))
    if ord not in (1, -1, np.inf, -np.inf):
        raise ShapeError(f"np.linalg.norm: {ord!r} is no norm of matrices").at(("here", here()))
    inner, outer = axes if abs(ord) == 1 else axes[::-1]
    sums = folds.reduce_sum(absolute(x), (inner,))
    return (_largest if ord > 0 else folds.reduce_min)(sums, (outer - (inner < outer),))


FUNCTIONS: Final[dict[Any, Any]] = {
    np.linalg.norm: norm,
    np.linalg.vector_norm: vector_norm,
    np.linalg.matrix_norm: matrix_norm,
    np.linalg.cond: cond,
}
