"""Every call of NumPy's functions, of arrays that a mask selects: what NumPy gives, or an error that says so."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.errors import PliantError
from tests.frontend import numpy_cases, numpy_cases_shape
from tests.frontend.numpy_harness import assert_same, leaves

CASES = {**numpy_cases.CASES, **numpy_cases_shape.CASES}
NUMBERS, INTEGERS = np.array([7.0, np.nan, 3, -4, 100]), np.array([7, 3, -4, 100])  # of those not selected


def hidden(x: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """An array of which the mask selects x."""
    whole = np.empty((len(mask), *x.shape[1:]), x.dtype)
    whole[mask] = x
    rest = whole[~mask].shape
    others = NUMBERS if x.dtype.kind in "fc" else INTEGERS
    whole[~mask] = np.resize(others.astype(x.dtype) if x.dtype != bool else others > 3, rest)
    return whole


def selecting(call: Callable[..., Any], axes: list[int]) -> Callable[..., Any]:
    """A call whose arguments at some places are selected from larger arrays."""

    def f(mask: Any, *xs: Any) -> Any:
        return call(*[x[mask] if n in axes else x for n, x in enumerate(xs)])

    return f


def outcome(f: Callable[..., Any], xs: list[Any]) -> list[Any] | Exception:
    try:
        return leaves(f(*[x.copy() if isinstance(x, np.ndarray) else x for x in xs]))
    except Exception as error:
        return error


def choices(xs: tuple[Any, ...]) -> list[list[int]]:
    """Which arguments are selected: the first array alone, and all that are as long."""
    lines = [n for n, x in enumerate(xs) if isinstance(x, np.ndarray) and x.ndim]
    alike = [n for n in lines if len(xs[n]) == len(xs[lines[0]])]
    return [lines[:1], alike] if len(alike) > 1 else [lines[:1]] if lines else []


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_a_call_of_what_a_mask_selects_is_numpys_or_refused(function: Callable[..., Any]) -> None:
    arguments, calls = CASES[function]
    pool = [xs for n, xs in enumerate(arguments) if n < 2 or (n % 3 == 0 and n < 12)]
    for call in calls:
        for xs in pool:
            for which in choices(xs):
                n = len(xs[which[0]])
                mask = np.array([k not in (1, 3, n + 2) for k in range(n + 3)]) if n > 1 else np.arange(n + 3) >= 3
                given = [mask, *[hidden(x, mask) if k in which else x for k, x in enumerate(xs)]]
                f = selecting(call, which)
                with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
                    wanted, made = outcome(f, given), outcome(pliant.jit(f), given)
                if isinstance(made, PliantError):
                    continue
                if isinstance(wanted, Exception):
                    assert type(made) is type(wanted), (wanted, made)
                    continue
                assert not isinstance(made, Exception), made
                for m, w in zip(made, wanted, strict=True):
                    assert_same(m, np.asarray(w), 64)
