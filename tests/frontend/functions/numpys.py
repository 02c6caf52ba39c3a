"""Comparing traced NumPy functions with NumPy: values, dtypes, shapes, and what is a scalar."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.testing import assert_allclose

import pliant

KINDS = ["f8", "f4", "c16", "i8"]


def drawn(kind: str, *shapes: tuple[int, ...], seed: int = 0) -> list[Any]:
    """Random arrays of a dtype."""
    rng = np.random.default_rng(seed)
    if kind == "i8":
        return [np.asarray(rng.integers(-3, 4, s)) for s in shapes]
    arrays = [rng.standard_normal(s) for s in shapes]
    return [np.asarray(x + 1j * rng.standard_normal(x.shape) if kind == "c16" else x).astype(kind) for x in arrays]


def regular(kind: str, *shape: int) -> Any:
    """Square matrices far from singular."""
    (x,) = drawn(kind, shape)
    return x + x.dtype.type(6) * np.eye(shape[-1]).astype(x.dtype)


def assert_as_numpy(f: Callable[..., Any], *xs: Any, atol: float = 1e-8) -> None:
    """`f` traced gives what `f` gives, in value and in type."""
    wanted, got = f(*xs), pliant.jit(f, backend="reference")(*xs)
    several = isinstance(wanted, tuple | list)
    for g, w in zip(got if several else (got,), wanted if several else (wanted,), strict=True):
        assert (np.asarray(g).dtype, np.shape(g)) == (np.asarray(w).dtype, np.shape(w))
        assert isinstance(g, np.ndarray) == isinstance(w, np.ndarray)
        loose = np.asarray(w).dtype in (np.float32, np.complex64)
        assert_allclose(g, w, rtol=1e-4 if loose else 1e-8, atol=1e-4 if loose else atol)
