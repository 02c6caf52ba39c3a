"""Functions of the tables have the derivatives that differences show, forwards and backwards."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pliant.core.ir import Function, param
from pliant.frontend.array import TracedArray
from pliant.frontend.tracing import Storage, tracing, type_of
from pliant.testing import differences, inner, reverse, run
from tests.frontend import numpy_cases, numpy_cases_shape
from tests.frontend.numpy_harness import leaves

CASES = {**numpy_cases.CASES, **numpy_cases_shape.CASES}
STEPS = {np.round, np.around, np.fix}  # flat but where they jump: differences see the jumps


def differentiable(xs: tuple[Any, ...]) -> bool:
    """Arguments of double precision that have elements."""
    return all(isinstance(x, np.ndarray) and x.dtype.name in ("float64", "complex128") and x.size for x in xs)


def distinct(x: Any, seed: int) -> Any:
    """Numbers of the same type, no two equal, none near 0."""
    rng = np.random.default_rng(seed)
    y = (rng.permutation(np.arange(1, x.size + 1)).reshape(x.shape) * 0.37 + 0.11 * seed) * np.where(
        rng.random(x.shape) < 0.5, -1, 1
    )
    return y + 1j * y[::-1] * 0.5 if x.dtype.kind == "c" else y


def total(f: Callable[..., Any], *xs: Any) -> Any:
    """A weighted sum of all real and imaginary parts that `f` returns; None if it returns no floats."""
    made: Any = None
    for leaf in leaves(f(*xs)):
        if not hasattr(leaf, "dtype") or leaf.dtype.name not in ("float64", "complex128") or not leaf.size:
            continue
        for part in [leaf.real, leaf.imag] if leaf.dtype.kind == "c" else [leaf]:
            weights = np.cos(np.arange(leaf.size)).reshape(leaf.shape)
            term = np.sum(part * (weights + 0.01 * part))
            made = term if made is None else made + term
    return made


def check(f: Callable[..., Any], *xs: Any) -> None:
    """Compare the gradient of `total(f)` with differences along a direction."""
    try:
        plain = total(f, *xs)
    except (TypeError, ValueError, IndexError):
        return
    if plain is None or np.isnan(plain):  # of which differences say nothing
        return
    with tracing() as trace:
        params = [param(type_of(x), f"x{i}") for i, x in enumerate(xs)]
        result = total(f, *(TracedArray(Storage(trace, p)) for p in params))
        if not isinstance(result, TracedArray):  # it does not depend on the arguments
            return
        captured = list(trace.captured.values())
        fn = Function("f", (*params, *(s.value for s in captured)), (result.value,))
    rest = tuple(s.source for s in captured)
    active = (True,) * len(xs) + (False,) * len(rest)
    back = run(reverse(fn, active), (*xs, *rest, np.float64(1)))
    rng = np.random.default_rng(3)
    dxs = [rng.normal(size=x.shape) + (1j * rng.normal(size=x.shape) if x.dtype.kind == "c" else 0) for x in xs]
    (wanted,) = differences(lambda *xs: (np.asarray(total(f, *xs)),), xs, dxs, (True,) * len(xs))
    np.testing.assert_allclose(inner(back, dxs), wanted, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("function", [f for f in CASES if f not in STEPS], ids=lambda f: f.__name__)
def test_gradient_agrees_with_differences(function: Callable[..., Any]) -> None:
    arguments, calls = CASES[function]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for call in calls:
            for xs in filter(differentiable, arguments):
                check(call, *(distinct(x, i) for i, x in enumerate(xs)))
