"""What every test of elementwise primitives needs: which dtypes, which domain, NumPy's own version."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant import ops
from pliant.core.build import trace
from pliant.core.types import DTYPES, Type
from pliant.ops.base import Elementwise
from pliant.testing import run

# Where a function is smooth and defined, for the tests by differences.
DOMAINS = {
    "arcsin": (-0.9, 0.9),
    "arccos": (-0.9, 0.9),
    "arctanh": (-0.9, 0.9),
    "arccosh": (1.2, 3.0),
    "log": (0.3, 3.0),
    "log2": (0.3, 3.0),
    "log10": (0.3, 3.0),
    "log1p": (-0.5, 3.0),
    "sqrt": (0.3, 3.0),
    "cbrt": (0.3, 3.0),
    "pow": (0.3, 3.0),
}

NUMPY: dict[str, Any] = {
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "pow": np.power,
    "select": np.where,
    "mantissa": lambda x: np.frexp(x)[0],
    "exponent": lambda x: np.frexp(x)[1],
    "real": np.real,
    "imag": np.imag,
}

PRIMITIVES = {
    name: cls()
    for name, cls in ops.ALL.items()
    if issubclass(cls, Elementwise) and (name in NUMPY or isinstance(getattr(np, name, None), np.ufunc))
}
DTYPES_OF_KIND = {
    "b": ("bool",),
    "i": ("i8", "i16", "i32", "i64"),
    "u": ("u8", "u16", "u32", "u64"),
    "f": ("f16", "f32", "f64"),
    "c": ("c64", "c128"),
}


def oracle(name: str) -> Any:
    """NumPy's version of a primitive."""
    return NUMPY.get(name) or getattr(np, name)


def dtypes(op: Elementwise) -> list[str]:
    """The dtypes a primitive takes."""
    return [d for kind in op.domain for d in DTYPES_OF_KIND[kind]]


def types(op: Elementwise, dtype: str, *shapes: tuple[int, ...]) -> tuple[Type, ...]:
    """Operand types of one dtype, but for the primitives that take others."""
    found = [Type(dtype, shape) for shape in shapes]
    if op.name == "select":
        found[0] = found[0].with_dtype("bool")
    if op.name == "ldexp":
        found[1] = found[1].with_dtype("i32")
    return tuple(found)


def value(f: Any, *xs: Any, dtype: str = "f64") -> Any:
    """`f` of IR values, evaluated on arrays."""
    arrays = [np.asarray(x, DTYPES[dtype]) if isinstance(x, float | int | complex | list) else x for x in xs]
    names = {np.dtype(long): short for short, long in DTYPES.items()}
    (y, *_) = run(trace(f, *(Type(names[a.dtype], a.shape) for a in arrays)), arrays)
    return y
