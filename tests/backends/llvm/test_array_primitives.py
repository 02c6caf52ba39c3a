"""Array primitives in native code give what they give by NumPy, for every dtype they take."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pliant.backends.llvm import BACKEND
from pliant.core.build import trace
from pliant.core.types import DTYPES, SHORT, Type
from pliant.errors import DTypeError, IndexRangeError
from pliant.ops.index import Gather, ScatterAdd, ScatterSet, gather, scatter_add, scatter_set
from pliant.ops.reduce import Argmax, Argmin, ReduceAnd, ReduceMax, ReduceMin, ReduceOr, ReduceProd, ReduceSum
from pliant.ops.scan import Cummax, Cummin, Cumprod, Cumsum, Recur
from pliant.ops.shape import Broadcast, Concatenate, Iota, Permute, Reshape, Slice
from pliant.ops.sort import Argsort, Searchsorted, Sort
from pliant.ops.update import AddSlice, UpdateSlice
from pliant.testing import run, sample

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 4))
NAN = np.array([[1.0, 3, 3, 2], [np.nan, 1, np.nan, 5], [0, 0, 1, -1]])


def f(*shape):
    return RNG.normal(size=shape)


def i(n, *shape):
    return RNG.integers(0, n, shape)


CASES = [
    (Broadcast((2, 3, 5, 4), (1, 3)), X),
    (Reshape((2, 3, 2)), X),
    (Permute((1, 0)), X),
    (Slice((2, 0), (-1, 2), (3, 2)), X),
    (Concatenate(1), X, f(3, 2), f(3, 0), f(3, 1)),
    (Iota(4),),
    (UpdateSlice((4, 3), (-2, -1)), f(5, 4), f(3, 2)),
    (AddSlice((4, 3), (-2, -1)), f(5, 4), f(3, 2)),
    (Gather(), f(5, 2), i(5, 3)),
    (Gather(), f(5, 2), i(5)),
    (Gather(), f(3, 4, 2), i(3, 2, 2), i(4, 2, 2)),
    (Gather(1), f(2, 5, 3), i(5, 2, 4)),
    *((cls(), f(5, 2), i(5, 8), f(8, 2)) for cls in (ScatterSet, ScatterAdd)),
    *((cls(1), f(2, 5, 3), i(5, 2, 4), f(2, 4, 3)) for cls in (ScatterSet, ScatterAdd)),
    *((cls(), f(3, 4), i(3, 7), i(4, 7), f(7)) for cls in (ScatterSet, ScatterAdd)),
    *((cls(), f(3, 4), i(3), f(4)) for cls in (ScatterSet, ScatterAdd)),
    *((cls((0, 2)), f(2, 3, 4)) for cls in (ReduceSum, ReduceProd, ReduceMax, ReduceMin)),
    *((cls((0,)), NAN) for cls in (ReduceMax, ReduceMin)),
    *((cls((1,)), X > 0) for cls in (ReduceAnd, ReduceOr)),
    *((cls((0,)), np.zeros((0, 3))) for cls in (ReduceSum, ReduceProd)),
    *((cls(axis, back), X) for cls in (Cumsum, Cumprod, Cummax, Cummin) for axis in (0, 1) for back in (False, True)),
    *((cls(1), NAN) for cls in (Cummax, Cummin)),
    (Recur(1, True), X, f(3, 4)),
    (Recur(0), X, f(3, 4)),
    *((cls(axis), NAN) for cls in (Argmax, Argmin, Sort, Argsort) for axis in (0, 1)),
    *((Searchsorted(side), np.array([1.0, 2, 2, np.nan, np.nan]), NAN) for side in ("left", "right")),
    *((Searchsorted(side, 1), np.sort(f(3, 5), 1), f(3, 2)) for side in ("left", "right")),
    (Searchsorted(), f(0), f(3)),
]


def check(op, *xs):
    """Native results against NumPy's."""
    fn = trace(op, *(Type(SHORT[str(x.dtype)], x.shape) for x in xs))
    (got,), (wanted,) = BACKEND.compile(fn)(xs), run(fn, xs)
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    rtol = {"f": 1e-5, "e": 1e-2, "F": 1e-5}.get(wanted.dtype.char, 1e-12)
    assert_allclose(got, wanted, rtol=rtol)


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case[0]))
def test_native_code_agrees_with_numpy(case):
    check(*case)


@pytest.mark.parametrize("dtype", list(DTYPES))
def test_native_code_agrees_for_every_dtype(dtype):
    x = sample(np.random.default_rng(1), Type(dtype, (3, 4)))
    u, at = x[:1].repeat(5, 0), np.array([0, 2, 2, 1, 0])
    check(Gather(), x, at)
    check(ScatterSet(), x, at, u)
    check(ScatterAdd(), x, at, u)
    check(UpdateSlice((1, 0), (1, 1)), x, x[:2])
    check(AddSlice((1, 0), (1, 1)), x, x[:2])


REDUCING = [cls((1,)) for cls in (ReduceSum, ReduceProd, ReduceMax, ReduceMin)]
SCANNING = [cls(1) for cls in (Cumsum, Cumprod, Cummax, Cummin, Argmax, Argmin, Sort, Argsort)]
TAKEN = [(op, dtype) for op in (*REDUCING, *SCANNING) for dtype in DTYPES]


def takes(op, dtype):
    try:
        op.infer(Type(dtype, (3, 4)))
    except DTypeError:
        return False
    return True


@pytest.mark.parametrize(("op", "dtype"), [case for case in TAKEN if takes(*case)])
def test_native_reductions_and_scans_agree_for_every_dtype_they_take(op, dtype):
    check(op, sample(np.random.default_rng(2), Type(dtype, (3, 4))))


@pytest.mark.parametrize(("bad", "given"), [(-1, -6), (5, 5)])  # negative ones were counted from the end
@pytest.mark.parametrize("make", [lambda x, i, u: gather(x, i), lambda x, i, u: scatter_set(x, (i,), u)])
def test_native_code_checks_indices(make, bad, given):
    fn = trace(make, Type("f64", (5,)), Type("i64", (2,)), Type("f64", (2,)))
    with pytest.raises(IndexRangeError, match=f"index {given} is out of range for axis 0 of extent 5"):
        BACKEND.compile(fn)((np.zeros(5), np.array([0, bad]), np.zeros(2)))


def test_operands_of_a_scatter_stay_as_they_are():
    x, at, u = np.zeros(4), np.array([1, 1]), np.ones(2)
    fn = trace(lambda x, i, u: scatter_add(x, (i,), u), Type("f64", (4,)), Type("i64", (2,)), Type("f64", (2,)))
    (y,) = BACKEND.compile(fn)((x, at, u))
    assert_allclose(y, [0, 2, 0, 0])
    assert_allclose(x, 0)
