"""Every function of the tables gives what NumPy gives: dtype, shape, numbers, views and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pliant.errors import UnsupportedError
from pliant.frontend.functions import (
    FUNCTIONS,
    UNSUPPORTED,
    distinct,
    fft,
    found,
    linalg,
    norms,
    packed,
    polynomials,
    products,
    windows,
)
from tests.frontend import numpy_cases, numpy_cases_shape
from tests.frontend.numpy_harness import compare, traced

CASES = {**numpy_cases.CASES, **numpy_cases_shape.CASES}
ELSEWHERE = {
    f
    for module in (distinct, found, packed, products, polynomials, linalg, norms, fft, windows)
    for f in module.FUNCTIONS
}


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_function_agrees_with_numpy(function: Callable[..., Any]) -> None:
    arguments, calls = CASES[function]
    for call in calls:
        for xs in arguments:
            compare(call, *xs)


def test_every_function_has_cases() -> None:
    assert {f.__name__ for f in FUNCTIONS if f not in CASES and f not in UNSUPPORTED and f not in ELSEWHERE} == set()


@pytest.mark.parametrize("function", UNSUPPORTED, ids=lambda f: f.__name__)
def test_unsupported_function_says_what_to_do_instead(function: Callable[..., Any]) -> None:
    with pytest.raises(UnsupportedError, match=rf"(?s){function.__name__} is not supported.*hint: "):
        traced(lambda x: FUNCTIONS[function](x), np.ones(3))


def test_tables_cover_numpy() -> None:
    dispatched = {f for n in dir(np) if type(f := getattr(np, n)) is type(np.concatenate)}
    without = {"busday_count", "busday_offset", "datetime_as_string", "is_busday"}
    assert {f.__name__ for f in dispatched - set(FUNCTIONS)} == without
