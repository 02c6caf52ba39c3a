"""Powers of Python's integers: floats where the exponent is negative, which has to be known then.

10**-n     a float if n > 0: known, if n is an argument, computed from such, or the index of a loop, which is unrolled
           then; else a float if n is never negative, and NumPy's power, of integers, if that is not known
1 << n     an error if n < 0
2**n       an integer: an exponent without a minus is taken to be none that is negative, as NumPy does
"""

from __future__ import annotations

from typing import Any

from pliant.core.ir import Param, Value, const
from pliant.core.origin import here
from pliant.errors import UnsupportedError
from pliant.frontend.array import TracedArray
from pliant.frontend.convert import value_of
from pliant.frontend.failures import fail_if, may_fail
from pliant.frontend.needs import can_be_known
from pliant.frontend.sizes import range_of, size_of
from pliant.ops.compare import equal, less


def of_power(base: Any, exponent: Any) -> tuple[Any, Any]:
    """The operands of a power: Python's integers are floats for an exponent below 0."""
    is_int = type(base) is TracedArray and base.is_weak and base.type.kind in "ib"
    if is_int and type(exponent) is int and exponent < 0:
        none = ZeroDivisionError("0.0 cannot be raised to a negative power")
        fail_if(equal(value_of(base, "f64"), const(0.0, "f64")), none)
        return base * 1.0, exponent
    return (base * 1.0 if _is_float(base, exponent) else base), exponent


def of_shift(x: Any, by: Any) -> None:
    """What Python raises where one of its integers is shifted by a number below 0."""
    if not (_is_weak(by) and by.concrete is None and (type(x) is int or _is_weak(x)) and may_fail(ValueError)):
        return
    if not size_of(by).is_at_least(0):
        fail_if(less(by.value, const(0, by.type.dtype)), ValueError("negative shift count"))


def _is_float(base: Any, exponent: Any) -> bool:
    """Whether a power of Python's integers is a float; asks for an exponent that may be negative as it is written."""
    if not (_is_weak(exponent) and exponent.concrete is None and (type(base) is int or _is_weak(base))):
        return False
    size = size_of(exponent)
    if size.is_at_least(0) or not any([factor < 0 for _, factor in size.terms]):
        return False
    if can_be_known(exponent.value) or all(map(_is_index, size.atoms)):
        message = "an integer to a negative power is a float, and the exponent is known only at run time"
        raise UnsupportedError(message, hint="write 10.0**-n").at(("here", here())).needing(exponent.value)
    return (size * -1).is_at_least(0)


def _is_index(atom: Value) -> bool:
    """Whether a number is the index of a loop, whose range is known."""
    return isinstance(atom.op, Param) and None not in range_of(atom)


def _is_weak(x: Any) -> bool:
    """Whether it stands for an integer of Python."""
    return type(x) is TracedArray and x.is_weak and x.type.kind == "i"
