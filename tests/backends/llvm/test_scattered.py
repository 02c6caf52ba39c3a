"""Loops that write elements far apart have no vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pliant
from pliant.backends.llvm.compiler import assembly, can
from pliant.kernel.verified import build_verified
from pliant.pipeline import optimise

X = np.random.default_rng(0).normal(size=(40, 40))


def column(x: Any) -> Any:
    x = x.copy()
    x[:, 3] += x[:, 4] * x[:, 5]
    return x


def row(x: Any) -> Any:
    x = x.copy()
    x[3] += x[4] * x[5]
    return x


def column_of_functions(x: Any) -> Any:
    x = x.copy()
    x[:, 3] += np.sin(x[:, 4])
    return x


@pytest.mark.parametrize(("f", "is_scattered"), [(column, True), (row, False), (column_of_functions, False)])
def test_columns_of_quick_elements_are_written_one_by_one(f: Any, is_scattered: bool) -> None:
    text = assembly(build_verified(optimise(pliant.trace(f, X)), can))[0]
    assert ('"llvm.loop.vectorize.enable", i1 false' in text) == is_scattered
    np.testing.assert_allclose(pliant.jit(f)(X), f(X), rtol=1e-14)
