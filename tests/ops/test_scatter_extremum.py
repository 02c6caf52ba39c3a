"""The larger and the smaller at places chosen at run time: NumPy's values, and ties that share the derivative."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pliant import vjp
from pliant.core.types import Type
from pliant.kernel.interpret import interpret
from pliant.ops.scatter_extremum import ScatterMax, ScatterMin
from pliant.testing import check_primitive, sample

CASES = [  # shape of x, number of indices, their shape, leading axes shared
    ((5,), 1, (7,), 0),
    ((4, 2), 1, (3,), 0),
    ((3, 2, 2), 2, (2, 3), 0),
    ((2, 5), 1, (2, 4), 1),
]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("cls", [ScatterMax, ScatterMin])
def test_extrema_obey_the_laws(cls, case):
    shape, count, places, shared = case
    x, u = Type("f64", shape), Type("f64", (*places, *shape[shared + count :]))

    def draw(rng):
        indices = [rng.integers(0, n, places) for n in shape[shared : shared + count]]
        return [sample(rng, x), *indices, sample(rng, u)]

    check_primitive(cls(shared), x, *[Type("i64", places)] * count, u, draw=draw)


@pytest.mark.parametrize(("cls", "ufunc"), [(ScatterMax, np.maximum), (ScatterMin, np.minimum)])
def test_values_are_numpys_with_nan(cls, ufunc):
    x, i = np.array([1.0, np.nan, 3.0, -0.0]), np.array([0, 0, 1, 2, 3, 2])
    u = np.array([2.0, np.nan, 5.0, 4.0, 0.0, np.inf])
    wanted = x.copy()
    with np.errstate(invalid="ignore"):
        ufunc.at(wanted, i, u)
        assert_array_equal(interpret(cls(), x, i, u), wanted)
        assert_array_equal(cls().numpy(np, x, i, u), wanted)


def test_elements_that_tie_share_the_derivative():
    def f(x, y):
        x = x.copy()
        np.maximum.at(x, [1, 1], y)
        return x

    _, back = vjp(f, np.array([1.0, 2.0]), np.array([2.0, 2.0]))
    dx, dy = back(np.array([1.0, 12.0]))
    assert_array_equal(dx, [1, 4])
    assert_array_equal(dy, [4, 4])
