"""NumPy, one primitive at a time: slow, simple, and the oracle of every test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from pliant.backends.base import Executable, Pairs
from pliant.core.data import frozen
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
            return fresh(ys, arrays)

        return call


def fresh(ys: Sequence[Any], held: Sequence[Any]) -> list[Any]:
    """`ys` as arrays in order "C" that share memory with nobody: copies, but for those that nobody else can hold.

    Those are the arrays that own their memory, are none of `held`, which were given, and are no result twice.
    """
    seen, made = {id(x) for x in held}, list[Any]()
    for y in ys:
        flags = getattr(y, "flags", None)
        is_free = flags is not None and flags.owndata and flags.writeable and flags.c_contiguous and id(y) not in seen
        seen.add(id(y))
        made.append(y if is_free and isinstance(y, np.ndarray) else np.array(y, order="C"))
    return made


reference = ReferenceBackend()
BACKEND = reference
