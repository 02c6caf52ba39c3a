"""Powers of Python's integers: floats where the exponent is negative, which has to be known then.

10**-n     a float if n > 0: known, if n is an argument, computed from such, or the index of a loop, which is unrolled
           then; else NumPy's power, of integers
2**n       an integer: an exponent without a minus is taken to be none that is negative, as NumPy does
"""

from __future__ import annotations

from typing import Any

from pliant.core.ir import Param, Value
from pliant.core.origin import here
from pliant.errors import UnsupportedError
from pliant.frontend.array import TracedArray
from pliant.frontend.needs import can_be_known
from pliant.frontend.sizes import range_of, size_of


def check_power(base: Any, exponent: Any) -> None:
    """Ask for an exponent that may be negative by how it is written."""
    if not (_is_weak(exponent) and exponent.concrete is None and (type(base) is int or _is_weak(base))):
        return
    size = size_of(exponent)
    if size.is_at_least(0) or not any([factor < 0 for _, factor in size.terms]):
        return
    if can_be_known(exponent.value) or all(map(_is_index, size.atoms)):
        message = "an integer to a negative power is a float, and the exponent is known only at run time"
        raise UnsupportedError(message, hint="write 10.0**-n").at(("here", here())).needing(exponent.value)


def _is_index(atom: Value) -> bool:
    """Whether a number is the index of a loop, whose range is known."""
    return isinstance(atom.op, Param) and None not in range_of(atom)


def _is_weak(x: Any) -> bool:
    """Whether it stands for an integer of Python."""
    return type(x) is TracedArray and x.is_weak and x.type.kind == "i"
