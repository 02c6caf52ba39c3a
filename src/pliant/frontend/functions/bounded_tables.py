"""NumPy's functions of matrices whose extents are known only at run time, and what makes them of lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pliant.core.origin import here
from pliant.errors import ShapeError
from pliant.frontend.array import fresh
from pliant.frontend.bounded import Bounded, bounded, elementwise, extents_of, filled, inside, whole_of
from pliant.frontend.convert import as_traced
from pliant.frontend.functions.bounded import concatenate, sum_
from pliant.frontend.functions.bounded_lines import at_least
from pliant.frontend.functions.common import unsupported, xp
from pliant.frontend.sizes import size_of, traced


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


def _check_rows(name: str, a: Any, b: Any) -> None:
    """Refuse equations whose left and right sides are not known to be as many."""
    rows = extents_of(b)[0] if len(extents_of(b)) == 1 else extents_of(b)[-2]
    if extents_of(a)[-2] != rows:
        raise ShapeError(
            f"{name}: {extents_of(a)[-2]} equations and {rows} right sides are not known to be as many",
            hint="slice both with the same bounds",
        ).at(("here", here()))


def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """np.linalg.lstsq: equations 0 = 0 beyond those that there are."""
    _check_rows("np.linalg.lstsq", a, b)
    x, residuals, rank, values = xp.linalg.lstsq(filled(a, 0), filled(b, 0), rcond)
    rows, columns = [traced(size_of(n)) for n in extents_of(a)]
    return x, residuals[: xp.where(rows > columns, residuals.shape[0], 0)], rank, values


def column_stack(tup: Any) -> Any:
    """np.column_stack."""
    return concatenate([x[:, None] if len(extents_of(x)) == 1 else x for x in tup], 1)


def vstack(tup: Any, **options: Any) -> Any:
    """np.vstack."""
    return concatenate([x[None, :] if len(extents_of(x)) == 1 else x for x in tup], 0, **options)


def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    """np.vander of a known number of columns."""
    if N is None:
        raise x.refused("np.vander without N=")
    made = bounded(xp.vander(filled(x, 0), N, increasing), (*extents_of(x), N))
    return Bounded(filled(made, 0), made.extents)


def polyfit(x: Any, y: Any, deg: int, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False) -> Any:
    """np.polyfit: the coefficients alone."""
    if full or cov:
        raise x.refused("np.polyfit with full= or cov=")
    at_least(x, 1, TypeError("expected non-empty vector for x"))
    columns, values = vander(x + 0.0, deg + 1), y if w is None else y * w
    whole = filled(columns if w is None else columns * w[:, None], 0)
    scale = xp.sqrt(xp.sum(whole * whole, axis=0))
    rows = filled(bounded(whole_of(values), extents_of(columns * values[:, None])[:1]), 0)
    rcond = whole.shape[0] * float(np.finfo(whole.dtype).eps) if rcond is None else rcond
    return xp.linalg.lstsq(whole / scale, rows, rcond)[0] / scale


def _triangle(name: str) -> Callable[..., Any]:
    def call(m: Any, k: int = 0) -> Any:
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


# --- matrices


def _square(name: str, *, is_array: bool) -> Callable[..., Any]:
    """A function of np.linalg of a square matrix, beyond whose extents stands the identity. is_array: its result has
    the extents of its last argument; else it is a number, or several."""

    def call(*args: Any) -> Any:
        a, *others = args
        extents = extents_of(a)
        if len(extents) != 2 or extents[0] != extents[1]:
            raise a.refused(f"np.linalg.{name} of what is not known to be square, as")
        for b in others:
            _check_rows(f"np.linalg.{name}", a, b)
        mask, whole = inside(extents, whole_of(a).shape), whole_of(a)
        if mask is not None:
            whole = xp.where(fresh(mask, is_array=True), whole, xp.eye(whole.shape[0]).astype(whole.dtype))
        made = getattr(xp.linalg, name)(whole, *[filled(b, 0) for b in others])
        return bounded(made, extents_of(args[-1])) if is_array else made

    return call


FUNCTIONS: Final[dict[Any, Callable[..., Any]]] = {
    np.column_stack: column_stack, np.vstack: vstack, np.meshgrid: meshgrid, np.vander: vander, np.polyfit: polyfit,
    np.tril: _triangle("tril"), np.triu: _triangle("triu"), np.diag: diag, np.diagonal: diagonal, np.trace: trace,
    np.linalg.solve: _square("solve", is_array=True), np.linalg.inv: _square("inv", is_array=True),
    np.linalg.cholesky: _square("cholesky", is_array=True), np.linalg.lstsq: lstsq,
    np.linalg.det: _square("det", is_array=False), np.linalg.slogdet: _square("slogdet", is_array=False),
}  # fmt: skip
METHODS: Final[dict[str, Callable[..., Any]]] = {f.__name__: f for f in (diagonal, trace)}
