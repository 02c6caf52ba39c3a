"""Sums of products of half floats, which are made in single precision and rounded once, as NumPy's are.

A product of two half floats is exact in single precision, and a sum of thousands is far better there than they are;
and BLAS has such sums.
"""

from __future__ import annotations

from pliant.core.ir import Value
from pliant.ops.contract import Dot
from pliant.ops.convolve import Pairing
from pliant.ops.elementwise import convert
from pliant.rewrite.rule import rewrite


@rewrite(Dot, level="stable")
def dot_of_halves(value: Value) -> Value | None:
    """dot(x, y) → that of x and y in single precision, if they are half floats and there is something to add."""
    op, args = value.op, value.args
    assert isinstance(op, Dot)
    return in_single(value) if value.dtype == "f16" and op.sizes(*args)[-1] > 1 else None


@rewrite(Pairing, level="stable")
def pairing_of_halves(value: Value) -> Value | None:
    """convolve(x, y) and correlate(x, y) → those of x and y in single precision, of half floats likewise."""
    return in_single(value) if value.dtype == "f16" and min([a.shape[-1] for a in value.args]) > 1 else None


def in_single(value: Value) -> Value:
    """What a primitive makes of its operands in single precision, rounded."""
    (made,) = value.op.apply(*[convert(a, "f32") for a in value.args])
    return convert(made, "f16")


RULES = (dot_of_halves, pairing_of_halves)
