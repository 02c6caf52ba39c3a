"""Square matrices as products of triangular ones, their rows in another order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pliant.core.origin import here
from pliant.errors import MatrixError
from pliant.frontend.array import fresh
from pliant.frontend.functions.common import known
from pliant.frontend.functions.linalg import matrices
from pliant.frontend.functions.scipys.common import chosen, floats, xp
from pliant.frontend.functions.scipys.linalg import solve_triangular
from pliant.ops.solve import Lu


def factors(a: Any, name: str) -> tuple[Any, Any]:
    """Both triangles in one matrix, and the order of the rows of `a` for which they are its factors."""
    a = floats(a)
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        which = "has more than two axes" if a.ndim > 2 else "is not square"
        raise MatrixError(
            f"scipy.linalg.{name}: {a.type} {which}: only one square matrix is supported in a traced function"
        ).at(("here", here()))
    lu, order = Lu().apply(matrices(name, a, square=True))
    return fresh(lu, is_array=True), fresh(order, is_array=True)


_TRANSPOSED: Final = {0: 0, 1: "T", 2: "C"}


def solved(lu: Any, order: Any, b: Any, trans: Any) -> Any:
    """x with a·x = b, or with a's transpose or conjugate transpose, by the factors of `a`."""
    kind, b = chosen(_TRANSPOSED, trans, "trans"), floats(b)
    if not kind:
        return solve_triangular(lu, solve_triangular(lu, b[order], 0, True, True))
    made = solve_triangular(lu, solve_triangular(lu, b, kind), kind, True, True)
    back = xp.zeros_like(made)
    back[order] = made
    return back


def lu(a: Any, permute_l: Any = False) -> Any:
    """scipy.linalg.lu, of one square matrix."""
    both, order = factors(a, "lu")
    n = both.shape[-1]
    lower, upper = xp.tril(both, -1) + np.eye(n, dtype=both.dtype), xp.triu(both)
    rows = xp.zeros((n, n), xp.real(both).dtype)
    rows[order, np.arange(n)] = 1
    return (rows @ lower, upper) if known(permute_l, "permute_l=") else (rows, lower, upper)


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {"lu": lu}
