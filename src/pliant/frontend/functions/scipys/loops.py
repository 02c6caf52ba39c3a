"""Functions of SciPy that go on step by step: a trace looks into these as into the user's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy

from pliant.frontend.functions.scipys.factors import factors, solved

np: Any = numpy

_PADE: Final = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
    10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip


def expm(A: Any) -> Any:
    """The exponential of matrices, scaled until 13 terms of Padé's are exact, and squared as often (Higham 2005)."""
    size = np.max(np.sum(np.abs(A), axis=-2))
    size = np.where(np.isfinite(size), size, 0.0)
    count = int(np.ceil(np.log2(np.maximum(size / 5.371920351148152, 1.0))))
    x = A / 2.0**count
    b, one = _PADE, np.eye(A.shape[-1], dtype=x.dtype)
    x2 = x @ x
    x4 = x2 @ x2
    x6 = x4 @ x2
    odd = x @ (x6 @ (b[13] * x6 + b[11] * x4 + b[9] * x2) + b[7] * x6 + b[5] * x4 + b[3] * x2 + b[1] * one)
    even = x6 @ (b[12] * x6 + b[10] * x4 + b[8] * x2) + b[6] * x6 + b[4] * x4 + b[2] * x2 + b[0] * one
    y = np.linalg.solve(even - odd, even + odd)
    for _ in range(count):
        y = y @ y
    return y


def lu_factor(a: Any) -> Any:
    """scipy.linalg.lu_factor, of one square matrix."""
    lu, order = factors(a, "lu_factor")
    n = lu.shape[0]
    left, pivots = np.arange(n, dtype=np.int32), np.zeros(n, np.int32)
    for i in range(n):
        j = np.argmax(left == order[i])
        pivots[i] = j
        left[j] = left[i]
        left[i] = order[i]
    return lu, pivots


def lu_solve(lu_and_piv: Any, b: Any, trans: Any = 0) -> Any:
    """scipy.linalg.lu_solve, of one square matrix."""
    lu, pivots = lu_and_piv
    order = np.arange(lu.shape[0])
    for i in range(lu.shape[0]):
        j = pivots[i]
        kept = order[i]
        order[i] = order[j]
        order[j] = kept
    return solved(lu, order, b, trans)


def lfilter(b: Any, a: Any, x: Any, axis: Any = -1) -> Any:
    """scipy.signal.lfilter, from zeros on: what came in before by b, and what came out before by a."""
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    lines = np.moveaxis(x, axis, 0)
    count = lines.shape[0]
    y = np.zeros(lines.shape, np.result_type(a, b, x, np.float32))
    for k in range(b.shape[0]):
        if k < count:
            y[k:] += b[k] / a[0] * lines[: count - k]
    kept = a.shape[0] - 1
    if kept:
        back = a[1:] / a[0]
        for i in range(count):
            for k in range(kept):
                if k < i:
                    y[i] -= back[k] * y[i - 1 - k]
    return np.moveaxis(y, 0, axis)


LINALG: Final[dict[str, Callable[..., Any]]] = {f.__name__: f for f in (expm, lu_factor, lu_solve)}
SIGNAL: Final[dict[str, Callable[..., Any]]] = {"lfilter": lfilter}
