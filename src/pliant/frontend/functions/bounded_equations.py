"""Linear equations whose number is known only at run time: those beyond it are 0 = 0, or x = 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pliant.core.origin import here
from pliant.errors import ShapeError
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.bounded import (
    Bounded,
    bounded,
    common_extents,
    extents_of,
    filled,
    inside,
    operand,
    refused,
    whole_of,
)
from pliant.frontend.functions.bounded_folds import at_least
from pliant.frontend.functions.bounded_tables import vander
from pliant.frontend.functions.common import xp
from pliant.frontend.sizes import size_of, traced


def _check_rows(name: str, a: Any, b: Any) -> None:
    """Refuse equations whose left and right sides are not known to be as many."""
    rows = extents_of(b)[0] if len(extents_of(b)) == 1 else extents_of(b)[-2]
    if extents_of(a)[-2] != rows:
        raise ShapeError(
            f"{name}: {extents_of(a)[-2]} equations and {rows} right sides are not known to be as many",
            hint="slice both with the same bounds",
        ).at(("here", here()))


def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """np.linalg.lstsq; `rcond` is by default that of the greatest number of equations."""
    _check_rows("np.linalg.lstsq", a, b)
    if type(rcond) is TracedArray and rcond.concrete is None:
        raise refused("np.linalg.lstsq with rcond= of a number of equations", a, b)
    x, residuals, rank, values = xp.linalg.lstsq(filled(a, 0), filled(b, 0), rcond)
    rows, columns = [traced(size_of(n)) for n in extents_of(a)]
    is_full = xp.greater(rows, columns) & xp.equal(rank, columns)
    return (
        bounded(x, (extents_of(a)[1], *extents_of(b)[1:])),
        residuals[: xp.where(is_full, residuals.shape[0], 0)],
        rank,
        values[: xp.minimum(rows, columns)],
    )


def polyfit(x: Any, y: Any, deg: int, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False) -> Any:
    """np.polyfit: the coefficients alone; `rcond` is by default that of the greatest number of points."""
    if full or cov:
        raise refused("np.polyfit with full= or cov=", x, y)
    x, y = operand(x), operand(y)
    at_least(extents_of(x)[0], 1, TypeError("expected non-empty vector for x"))
    is_line = len(extents_of(y)) == 1
    columns, values = vander(x + 0.0, deg + 1), y[:, None] if is_line else y
    if w is not None:
        columns, values = columns * w[:, None], values * w[:, None]
    points = common_extents("np.polyfit", (columns[:, 0], values[:, 0]))
    whole = filled(bounded(whole_of(columns), (*points, deg + 1)), 0)
    rows = filled(bounded(whole_of(values), (*points, *extents_of(values)[1:])), 0)
    scale = xp.sqrt(xp.sum(whole * whole, axis=0))
    rcond = whole.shape[0] * float(np.finfo(whole.dtype).eps) if rcond is None else rcond
    made = xp.linalg.lstsq(whole / scale, rows, rcond)[0] / scale[:, None]
    return made[:, 0] if is_line else bounded(made, (deg + 1, *extents_of(values)[1:]))


def _square(name: str, *, is_array: bool) -> Callable[..., Any]:
    """A function of np.linalg of a square matrix, beyond whose extents stands the identity. is_array: its result has
    the extents of its last argument; else it is a number, or several."""

    def call(a: Any, b: Any = None) -> Any:
        others = () if b is None else (b,)
        extents = extents_of(a)
        if len(extents) != 2 or extents[0] != extents[1]:
            raise refused(f"np.linalg.{name} of what is not known to be square, as", a, b)
        for right in others:
            _check_rows(f"np.linalg.{name}", a, right)
        mask, whole = inside(extents, whole_of(a).shape), whole_of(a)
        if mask is not None:
            whole = xp.where(fresh(mask, is_array=True), whole, xp.eye(whole.shape[0]).astype(whole.dtype))
        made = getattr(xp.linalg, name)(whole, *[filled(right, 0) for right in others])
        return bounded(made, extents_of(a if b is None else b)) if is_array else made

    return call


def polyval(p: Any, x: Any) -> Any:
    """np.polyval at points of unknown number; the polynomial is of a known degree."""
    given = operand(p)
    if isinstance(given, Bounded):
        raise refused("np.polyval of coefficients of unknown number, as", p)
    made = xp.zeros_like(x)
    for coefficient in given:
        made = made * x + coefficient
    return made


FUNCTIONS: Final[dict[Any, Callable[..., Any]]] = {
    np.polyfit: polyfit, np.polyval: polyval, np.linalg.lstsq: lstsq,
    np.linalg.solve: _square("solve", is_array=True), np.linalg.inv: _square("inv", is_array=True),
    np.linalg.cholesky: _square("cholesky", is_array=True),
    np.linalg.det: _square("det", is_array=False), np.linalg.slogdet: _square("slogdet", is_array=False),
}  # fmt: skip
