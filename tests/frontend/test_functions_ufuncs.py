"""Every ufunc, its reductions, accumulations and updates in place give what NumPy gives."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import pytest
import scipy.special

from pliant.frontend.functions import ACCUMULATIONS, AT, NAMED_UFUNCS, REDUCTIONS, UFUNCS
from tests.frontend.numpy_cases import ALL, filled
from tests.frontend.numpy_harness import compare

ELEMENTWISE = [u for u in UFUNCS if u.signature is None]
PRODUCTS = [u for u in UFUNCS if u.signature is not None]
SHIFTS = (np.left_shift, np.right_shift)


def name_of(ufunc: np.ufunc) -> str:
    return ufunc.__name__


def operand(ufunc: np.ufunc, position: int, dtype: str, shape: tuple[int, ...]) -> Any:
    """Numbers in the domain of a ufunc."""
    x = filled(shape, dtype)
    if ufunc in SHIFTS and position:
        return np.abs(x) % 3 if dtype != "bool" else x
    if ufunc in (np.power, np.float_power):
        return np.abs(x) if dtype != "bool" else x
    if ufunc in (np.arcsin, np.arccos, np.arctanh) and dtype[0] in "fc":
        return x / 8
    if (
        ufunc in (np.floor_divide, np.remainder, np.fmod, np.divmod, np.reciprocal)
        and (position or ufunc.nin == 1)
        and dtype != "bool"
    ):
        return np.where(x == 0, np.asarray(2, x.dtype), x)
    return x


@pytest.mark.parametrize("ufunc", ELEMENTWISE, ids=name_of)
def test_ufunc_agrees_with_numpy(ufunc: np.ufunc) -> None:
    for dtype in ALL:
        xs = [operand(ufunc, i, dtype, (3, 4) if not i else (4,)) for i in range(ufunc.nin)]
        compare(lambda *xs: ufunc(*xs), *xs, ulps=32)
        compare(lambda *xs: ufunc(*(x.ravel()[0] for x in xs)), *xs, ulps=32)


@pytest.mark.parametrize("ufunc", [u for u in ELEMENTWISE if u.nin == 2], ids=name_of)
def test_ufunc_promotes_as_numpy(ufunc: np.ufunc) -> None:
    for first, second in (("f4", "i4"), ("i1", "u1"), ("f2", "f4"), ("i8", "f4"), ("bool", "i1"), ("f4", "c16")):
        compare(ufunc, operand(ufunc, 0, first, (3,)), operand(ufunc, 1, second, (3,)), ulps=32)
    for dtype in ("f4", "i1", "u1", "c8", "f2"):
        compare(lambda x: ufunc(x, 2), operand(ufunc, 0, dtype, (3,)), ulps=32)
        compare(lambda x: ufunc(x, 2.0), operand(ufunc, 0, dtype, (3,)), ulps=32)
        compare(lambda x: ufunc.outer(x, x[:2]), operand(ufunc, 1, dtype, (3,)), ulps=32)


@pytest.mark.parametrize("ufunc", PRODUCTS, ids=name_of)
def test_product_agrees_with_numpy(ufunc: np.ufunc) -> None:
    for dtype in ("f8", "f4", "i4", "c16", "bool"):
        for first, second in (
            ((3,), (3,)),
            ((2, 3), (3,)),
            ((3,), (3, 4)),
            ((2, 3), (3, 4)),
            ((5, 1, 2, 3), (6, 3, 4)),
        ):
            compare(ufunc, filled(first, dtype), filled(second, dtype))


def is_in_order(ufunc: np.ufunc) -> bool:
    """Whether NumPy reduces a row in its order: some of its loops for AVX-512 do not."""
    row = np.array([-5.3, -4.3, -3.3, -2.3])
    return bool(np.isclose(ufunc.reduce(row), reduce(ufunc, row), equal_nan=True))


@pytest.mark.parametrize("ufunc", REDUCTIONS, ids=name_of)
def test_reduction_agrees_with_numpy(ufunc: np.ufunc) -> None:
    if ufunc in (np.arctan2, np.power) and not is_in_order(np.arctan2):
        pytest.skip("NumPy's own result is wrong")
    for dtype in ALL:
        x = filled((3, 5), dtype)
        if dtype[0] == "c" and ufunc in (np.maximum, np.minimum, np.fmax, np.fmin):
            continue  # complex numbers have no order here
        compare(lambda x: ufunc.reduce(x), x)
        if ufunc not in (np.hypot, np.logaddexp, np.logaddexp2):
            compare(lambda x: ufunc.reduce(x, axis=1, keepdims=True), x)


@pytest.mark.parametrize("ufunc", ACCUMULATIONS, ids=name_of)
def test_accumulation_agrees_with_numpy(ufunc: np.ufunc) -> None:
    for dtype in ("f8", "f4", "i4", "i1", "u1", "bool"):
        x = filled((3, 5), dtype)
        compare(lambda x: ufunc.accumulate(x), x)
        compare(lambda x: ufunc.accumulate(x, axis=1), x)


@pytest.mark.parametrize("ufunc", AT, ids=name_of)
def test_update_in_place_counts_repeated_places(ufunc: np.ufunc) -> None:
    def at(key: Any, y: Any) -> Any:
        def update(x: Any, i: Any) -> Any:
            x = x.copy()
            ufunc.at(x, i if key is None else key, y)
            return x

        return update

    for x in (filled((4, 3), "f8"), filled((4, 3), "i4"), filled((4, 3), "c16")):
        i = np.array([0, 2, 2, -1])
        for key, y in (
            (None, 1),
            (None, [1, 2, 3]),
            (([0, 1, 1], [2, 0, 0]), 5),
            (slice(1, 3), 2),
            ((slice(None), [1, 1]), 1),
        ):
            compare(at(key, y), x, i)


@pytest.mark.parametrize("name", NAMED_UFUNCS)
def test_ufunc_of_scipy_agrees_with_scipy(name: str) -> None:
    ufunc = getattr(scipy.special, name)
    for dtype in ("f8", "f4"):
        xs = [np.linspace(0.05, 0.95, 7).astype(dtype) for _ in range(ufunc.nin)]
        compare(lambda *xs: ufunc(*xs), *xs, ulps=32)


def test_out_receives_the_result_cast_to_its_dtype() -> None:
    def into(x: Any, y: Any) -> Any:
        y = y.copy()
        made = np.add(x, 1, out=y)
        made[0] = 7
        return y

    compare(into, filled((3, 4), "f4"), np.zeros((3, 4)))
    compare(into, filled((3, 4), "f8"), np.zeros((3, 4), int))
    compare(lambda x, y: np.sum(x, axis=0, out=y[0]), filled((3, 4), "f4"), np.zeros((3, 4)))
    compare(lambda x, y: np.max(x, axis=0, out=y), filled((3, 4), "f8"), np.zeros(3))


@pytest.mark.parametrize("to", ["f8", "f4", "i8", "i1"])
def test_reductions_cast_into_out_as_numpy_does(to: str) -> None:
    for x in (filled((3,), "f8") * 1.25, filled((3,), "f4"), filled((3,), "i1") * np.int8(10)):
        compare(lambda x, y: np.sum(x, out=y), x, np.zeros((), to))
        compare(lambda x, y: np.prod(x, out=y), x, np.zeros((), to))
        compare(lambda x, y: x.max(out=y), x, np.zeros((), to))
        compare(lambda x, y: np.mean(x, out=y), x, np.zeros((), to))
        compare(lambda x, y: np.cumsum(x, out=y), x, np.zeros(3, to))
        compare(lambda x, y: np.argmax(x, out=y), x, np.zeros((), to))
        compare(lambda x, y: np.clip(x, -1, 1, out=y), x, np.zeros((2, 3), to))
        compare(lambda x, y: np.round(x, out=y), x, np.zeros(3, to))
        compare(lambda x, y: np.take(x, [0, 2], out=y), x, np.zeros(2, to))
        compare(lambda x, y: np.sum(x, out=y), x, np.zeros(2, to))
