"""Random matrices, and factorisations of them by loops in the program."""

from __future__ import annotations

import numpy as np

from pliant.backends.llvm import BACKEND
from pliant.core.build import trace
from pliant.core.types import DTYPES, Type
from pliant.kernel.ir import Host

RNG = np.random.default_rng(0)
NAMES = {np.dtype(v): k for k, v in DTYPES.items()}
FLOATS = ["float64", "float32", "complex128", "complex64"]


def numbers(dtype, *shape):
    """Normal numbers."""
    x = RNG.standard_normal(shape)
    return (x + 1j * RNG.standard_normal(shape) if dtype[0] == "c" else x).astype(dtype)


def native(op, a):
    """The results of an operation, which must not call the host."""
    compiled = BACKEND.compile(trace(lambda v: op.apply(v), Type(NAMES[a.dtype], a.shape)))
    assert not [step for step in compiled.program.steps if isinstance(step, Host)]
    return compiled([a])
