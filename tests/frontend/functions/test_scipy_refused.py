"""What of SciPy is not traced: known arrays are given to it as they are, others are refused at the user's line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import interpolate, sparse
from scipy.sparse import linalg as spla

import pliant
from pliant.errors import TracedValueError

X = np.arange(16.0).reshape(4, 4)

REFUSED: dict[str, Callable[[Any], Any]] = {
    "csr_matrix": lambda x: sparse.csr_matrix(x) @ x[0],
    "csr_array": lambda x: sparse.csr_array(x) @ x[0],
    "parts of one": lambda x: sparse.coo_array((x[0], ([0, 1, 2, 3], [0, 1, 2, 3]))),
    "by name": lambda x: sparse.csc_matrix(arg1=x, shape=(4, 4)),
    "diags": lambda x: sparse.diags(x[0]) @ x[1],
    "kron": lambda x: sparse.kron(x, np.eye(2)),
    "lil_matrix": lambda x: sparse.lil_matrix(x),
    "cg": lambda x: spla.cg(x, x[0])[0],
    "spline": lambda x: interpolate.CubicSpline(np.arange(4.0), x[0])(1.5),
}  # fmt: skip


@pytest.mark.parametrize("f", REFUSED.values(), ids=REFUSED)
def test_unknown_numbers_are_refused_at_the_users_line(f: Callable[[Any], Any]) -> None:
    with pytest.raises(TracedValueError, match="SciPy, whose functions are not traced, needs ") as caught:
        pliant.jit(f)(X)
    assert "test_scipy_refused.py" in str(caught.value)
    assert "hint: say it with NumPy" in str(caught.value)


def test_known_arrays_are_given_to_scipy() -> None:
    def spread(x: Any) -> Any:
        band = sparse.diags([np.ones(3), 2 * np.ones(4)], [1, 0])
        dense = (
            sparse.csr_matrix(np.eye(4) * 2).toarray() + sparse.csr_array((np.ones(4), (range(4), range(4)))).toarray()
        )
        return (dense + band.toarray()) @ x

    np.testing.assert_allclose(pliant.jit(spread)(X), spread(X))


def test_errors_of_scipy_about_what_is_known_are_its_own() -> None:
    with pytest.raises(ValueError, match="Different number of diagonals and offsets"):
        pliant.jit(lambda x: x * sparse.diags([[1.0], [2.0]], [0]).sum())(1.0)
