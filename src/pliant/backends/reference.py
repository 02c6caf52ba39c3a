"""NumPy, one primitive at a time: slow, simple, and the oracle of every test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from pliant.backends.base import Executable, Pairs
from pliant.core.frozen import frozen
from pliant.core.ir import Function
from pliant.core.types import DTYPES
from pliant.errors import VerifyError
from pliant.transforms.evaluate import evaluate


@final
@frozen
class ReferenceBackend:
    """Runs each primitive's `array` rule, or its `expand`, on NumPy arrays."""

    name: str = "reference"

    def compile(self, fn: Function, *, pinned: Pairs = (), free: Sequence[int] = ()) -> Executable:
        """The function as a callable from arrays to fresh arrays of exactly the inferred types."""

        dtypes = [np.dtype(DTYPES[p.type.dtype]) for p in fn.params]

        def call(arrays: Sequence[Any]) -> list[Any]:
            with np.errstate(all="ignore"):
                ys = evaluate(fn, tuple(np.asarray(x, dtype) for x, dtype in zip(arrays, dtypes, strict=True)), np)
            for y, r in zip(ys, fn.results, strict=True):
                if (y.dtype, y.shape) != (np.dtype(DTYPES[r.dtype]), r.shape):
                    raise VerifyError(f"{r.op.name}: `array` made {y.dtype}{list(y.shape)}, `infer` says {r.type}")
            return [np.array(y, order="C") for y in ys]

        return call


reference = ReferenceBackend()
BACKEND = reference
