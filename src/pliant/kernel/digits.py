"""Where an element of an array lies in another shape of it: the digits of its row-major offset."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from pliant.kernel.ir import Affine, Index, offset_of, strides_of

Digit: TypeAlias = Callable[[Affine, int, int], Affine]
"""(i // divisor) % modulus, of an index, a divisor and a modulus; of modulus 0 only the quotient."""


def digits(at: Index, before: tuple[int, ...], after: tuple[int, ...], digit: Digit) -> list[Affine]:
    """The parts of a reshaped index; groups of axes with equal products are split apart."""
    parts: list[Affine] = []
    a = b = 0
    while b < len(after):
        first_a, first_b = a, b
        left, right = (before[a] if a < len(before) else 1), after[b]
        a, b = a + 1, b + 1
        while left != right:
            if left < right and a < len(before):
                left, a = left * before[a], a + 1
            elif b < len(after):
                right, b = right * after[b], b + 1
            else:
                break
        group_a, group_b = before[first_a:a], after[first_b:b]
        # an index that a reshape made knows its offset: a reshape back finds the index it began with
        group = at if len(group_a) == len(before) else Index(at[first_a:a])
        parts += _split(offset_of(group, group_a), group_b, digit)
    return parts


def _split(flat: Affine, shape: tuple[int, ...], digit: Digit) -> list[Affine]:
    """The digits of a row-major offset."""
    parts = list[Affine]()
    wide = [axis for axis, n in enumerate(shape) if n != 1]
    for axis, (n, stride) in enumerate(zip(shape, strides_of(shape), strict=True)):
        if n == 1:
            parts.append(Affine())
        elif len(wide) == 1:
            parts.append(flat)
        else:
            modulus = 0 if axis == wide[0] else n
            parts.append(digit(flat, stride, modulus))
    return parts
