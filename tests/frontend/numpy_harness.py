"""Run a function on NumPy's arrays and on traced ones, and compare everything that NumPy promises."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import pliant.frontend  # noqa: F401  (installs the tables)
from pliant.core.ir import Function, param
from pliant.frontend.array import TracedArray
from pliant.frontend.tracing import Storage, tracing, type_of
from pliant.transforms.evaluate import evaluate

EPS = {"float16": 1e-3, "float32": 1.2e-7, "float64": 2.3e-16, "complex64": 1.2e-7, "complex128": 2.3e-16}


def leaves(out: Any) -> list[Any]:
    """The arrays and numbers in nested tuples and lists, in order."""
    if isinstance(out, tuple | list):
        return [leaf for part in out for leaf in leaves(part)]
    return [out]


def traced(f: Callable[..., Any], *xs: Any) -> tuple[list[Any], list[Any]]:
    """Results of `f` traced on the types of `xs` and run on `xs`; and what is left in its arguments."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        with tracing() as trace:
            arrays = [isinstance(x, np.ndarray) for x in xs]
            params = [param(type_of(np.asarray(x)), f"x{i}") for i, x in enumerate(xs)]
            given = [TracedArray(Storage(trace, p), is_scalar=not a) for p, a in zip(params, arrays, strict=True)]
            out = leaves(f(*given))
            made = [o.value for o in out if isinstance(o, TracedArray)] + [g.storage.value for g in given]
            captured = list(trace.captured.values())
            fn = Function("f", (*params, *(s.value for s in captured)), tuple(made))
            values = list(evaluate(fn, (*map(np.asarray, xs), *(s.source for s in captured)), np))
        got = [(values.pop(0), o.is_scalar) if isinstance(o, TracedArray) else (o, None) for o in out]
    return got, values


def compare(f: Callable[..., Any], *xs: Any, ulps: float = 16, exact_scalars: bool = True) -> None:
    """Assert that `f` gives the same dtype, shape, numbers and writes, traced or not; or raises in both."""
    mine = [x.copy() if isinstance(x, np.ndarray) else x for x in xs]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            wanted = leaves(f(*mine))
        except (TypeError, ValueError, IndexError) as error:
            wanted_error: Exception | None = error
            wanted = []
        else:
            wanted_error = None
    if wanted_error is not None:
        try:
            traced(f, *xs)
        except (TypeError, ValueError, IndexError, NotImplementedError):
            return
        raise AssertionError(f"NumPy raises {wanted_error!r}, traced does not")
    got, left = traced(f, *xs)
    assert len(got) == len(wanted)
    for (value, is_scalar), want in zip(got, wanted, strict=True):
        if is_scalar is None:
            assert type(value) is type(want), (value, want)
            assert value == want
            continue
        assert_same(value, np.asarray(want), ulps)
        if exact_scalars:
            assert is_scalar == (not isinstance(want, np.ndarray)), f"scalar: {is_scalar}, NumPy: {type(want)}"
    for value, want in zip(left, mine, strict=True):
        assert_same(value, np.asarray(want), ulps)


def assert_same(got: Any, want: Any, ulps: float) -> None:
    """Dtype, shape and numbers agree, floats to a few units in the last place of the largest."""
    got = np.asarray(got)
    assert got.dtype == want.dtype, f"dtype {got.dtype}, NumPy has {want.dtype}"
    assert got.shape == want.shape, f"shape {got.shape}, NumPy has {want.shape}"
    if want.dtype.kind in "fc":
        eps = EPS[want.dtype.name] * ulps
        finite = np.abs(want[np.isfinite(want)])
        scale = float(finite.max()) if finite.size else 0.0
        np.testing.assert_allclose(got, want, rtol=eps, atol=eps * min(scale, 1e30))
    else:
        np.testing.assert_array_equal(got, want)
