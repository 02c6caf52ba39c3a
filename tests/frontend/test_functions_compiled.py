"""Functions of the tables give what NumPy gives when they are compiled, and when they are batched."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pliant
from tests.frontend import numpy_cases, numpy_cases_shape
from tests.frontend.numpy_harness import assert_same, leaves

CASES = {**numpy_cases.CASES, **numpy_cases_shape.CASES}
COMPILED, BATCHED = 5, 3  # how many calls of each function, for a fast suite
ERRORS = (TypeError, ValueError, IndexError)


def copies(xs: tuple[Any, ...]) -> list[Any]:
    """The arguments, to be written."""
    return [x.copy() if isinstance(x, np.ndarray) else x for x in xs]


def results(f: Callable[..., Any], xs: Any) -> list[Any] | None:
    """What NumPy returns; None if it raises."""
    try:
        return leaves(f(*xs))
    except ERRORS:
        return None


def kind(x: Any) -> type:
    """The type of a result; NumPy has Python's bool where a compiled function has its own."""
    return np.bool if isinstance(x, bool) else type(x)


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_compiled_function_agrees_with_numpy(function: Callable[..., Any]) -> None:
    arguments, calls = CASES[function]
    for call in calls[:COMPILED]:
        mine, yours = copies(arguments[0]), copies(arguments[0])
        wanted = results(call, mine)
        if wanted is None:
            with pytest.raises((*ERRORS, NotImplementedError)):
                pliant.jit(call)(*yours)
            continue
        got = leaves(pliant.jit(call)(*yours))
        assert [kind(g) for g in got] == [kind(w) for w in wanted]
        for g, w in zip(got + yours, wanted + mine, strict=True):
            assert_same(g, np.asarray(w), 64)


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_batched_function_agrees_with_a_loop(function: Callable[..., Any]) -> None:
    arguments, calls = CASES[function]
    if not all(isinstance(x, np.ndarray) for x in arguments[0]):
        return
    stacks = [np.stack((x, x[::-1] if x.ndim else x)) for x in arguments[0]]
    rows = list(zip(*stacks, strict=True))
    for call in calls[:BATCHED]:
        wanted = [results(call, copies(row)) for row in rows]
        if not all(w and all(isinstance(v, np.ndarray | np.generic) for v in w) for w in wanted):
            continue
        got = leaves(pliant.vmap(call)(*copies(tuple(stacks))))
        for g, *each in zip(got, *wanted, strict=True):
            assert_same(g, np.stack(each), 64)
