"""Powers with a known exponent that is a small multiple of a quarter, or whole, as products and roots: within two units
of the last place, as a power is, in a fraction of the time.

    x⁻ᵖ = tᵖ·(1 + p·e),  t the reciprocal of x, e = 1 - t·x

So the error of the reciprocal is not multiplied by p; that of its root is taken off with it. Of three quarters, √x·√√x,
what both roots and their product have lost is put back. No product is larger or
smaller than x and the power both are: powers overflow, and lose digits, where they should.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from pliant.backends.llvm.conversion import convert_real
from pliant.backends.llvm.quotient import has_fused
from pliant.backends.llvm.reals import Real, real
from pliant.backends.llvm.whole_power import is_whole
from pliant.backends.llvm.whole_power import whole_power as whole_power_of
from pliant.core.ir import Number

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter

ROOTS: Final = (0.25, 0.5)
SUITED: Final = (*ROOTS, 1.25, 1.5, 2.5)
"""Exponents of powers that are rounded so seldom. Third and fourth ones are products before."""
INVERSE: Final = (1.5, 2.0, 2.5, 3.0)
"""The same of powers of a reciprocal that is made better."""

MENDED: Final = 0.75


def is_known(exponent: Number, dtype: str) -> bool:
    """Whether powers are products and roots."""
    if dtype == "f16":
        return is_known(exponent, "f32")
    if dtype not in ("f32", "f64"):
        return False
    p = float(exponent.real)
    return p in SUITED or -p in ROOTS or is_mended(p) or is_whole(p, dtype)


def is_mended(p: float) -> bool:
    """Whether what its parts have lost is put back."""
    return (-p in INVERSE or abs(p) == MENDED) and has_fused()


def powered(e: Emitter, dtype: str, base: str, exponent: Number) -> str:
    """A power that is known."""
    if dtype == "f16":
        return convert_real(e, "f32", "f16", powered(e, "f32", convert_real(e, "f16", "f32", base), exponent))
    x, p = real(e, dtype, base), float(exponent.real)
    if is_whole(p, dtype) and not is_mended(p):
        return whole_power_of(e, dtype, base, int(p))
    x = x if p.is_integer() else of_size(x)
    if abs(p) == MENDED:
        return three_quarters(x, is_inverse=p < 0).text
    if p > 0:
        return product(x, p).text
    return (x.like(1.0) / product(x, -p)).text if -p in ROOTS else of_inverse(x, -p).text


def of_inverse(x: Real, exponent: float) -> Real:
    """A power of 1/x."""
    one = x.like(1.0)
    inverse = one / x
    made, lost = product(inverse, exponent), one.plus(-inverse, x) * exponent
    if not exponent.is_integer():
        root = inverse.sqrt()
        lost = lost.plus(inverse.plus(-root, root), x * 0.5)
    better = made.plus(made, lost)
    return better.is_("one", 0.0).where(better, made)  # NaN, or 0, where x or the power is 0 or infinite


def three_quarters(x: Real, *, is_inverse: bool) -> Real:
    """x to the power of ¾, or its reciprocal."""
    half, one = x.sqrt(), x.like(1.0)
    fourth = half.sqrt()
    made = half * fourth
    inverse = one / made
    # x = half² + …, half = fourth² + …; 1/half = inverse·fourth, 1/x = inverse²·half
    lost = (x.plus(-half, half) * inverse) * (inverse * half) * 0.75
    lost = lost.plus(half.plus(-fourth, fourth) * 0.5, inverse * fourth)
    low = (-made).plus(half, fourth).plus(made, lost)
    if is_inverse:
        made, low = inverse, inverse * (one.plus(-inverse, made).plus(-inverse, low))
    better = made + low
    return better.is_("one", 0.0).where(better, made)  # NaN where x is 0 or infinite


def of_size(x: Real) -> Real:
    """x, but 0 for -0 and ∞ for -∞: of these fractional powers are positive, and of all other negative numbers NaN."""
    return x.is_("oeq", -math.inf).where(-x, x) + x.like(0.0)


def product(x: Real, exponent: float) -> Real:
    """A power with a positive exponent."""
    whole = int(exponent)
    if whole == exponent:
        return whole_power(x, whole)
    root = x.sqrt()
    part = root if exponent - whole == 0.5 else root.sqrt()
    return whole_power(x, whole) * part if whole else part


def whole_power(x: Real, exponent: int) -> Real:
    """A power with a whole exponent, at least 1."""
    if exponent == 1:
        return x
    half = whole_power(x, exponent // 2)
    return half * half * x if exponent % 2 else half * half
