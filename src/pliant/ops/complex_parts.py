"""Writes to the real or the imaginary part of an array are writes to the array: they cost what they write.

complex(update(real z, u), imag z)  →  update(z, complex(u, imag(what z holds there)))
complex(add(real z, u), imag z)     →  add(z, complex(u, 0))
"""

from __future__ import annotations

from typing import Final

from pliant.core import ir
from pliant.core.ir import Value, const
from pliant.ops.base import fit
from pliant.ops.block import AddBlock, ReadBlock, UpdateBlock
from pliant.ops.complex import Complex, Imag, Real, complex
from pliant.ops.elementwise import Add
from pliant.ops.index import Gather, ScatterAdd, ScatterSet
from pliant.ops.select import is_zero
from pliant.ops.update import AddSlice, UpdateSlice
from pliant.rewrite.rule import rewrite

SETS: Final = (UpdateSlice, UpdateBlock, ScatterSet)
WRITES: Final = (*SETS, AddSlice, AddBlock, ScatterAdd)
DEPTH: Final = 8  # how many writes may lie between a part and the array


@rewrite(Complex, level="stable", reads=WRITES)
def complex_of_written_parts(value: Value) -> Value | None:
    """Parts of one array that were written to are that array written to (but for the sign of -0.0)."""
    re, im = value.args
    is_real = isinstance(re.op, WRITES)
    write, other = (re, im) if is_real else (im, re)
    if not _are_parts(_unwritten(re), _unwritten(im)):
        return None
    before = complex(write.args[0], im) if is_real else complex(re, write.args[0])
    if is_zero(write.args[0]) and is_zero(other):
        before = ir.operators.zeros(value.type)
    number = len(write.args) - 1 if isinstance(write.op, ScatterSet | ScatterAdd) else 1
    u = write.args[number]
    beside = const(0, u.dtype)
    if isinstance(write.op, SETS):
        beside = (Imag() if is_real else Real())(_there(write, before, u.shape))
    new = complex(u, beside) if is_real else complex(beside, u)
    return write.op(before, *write.args[1:number], new, *write.args[number + 1 :])


def _unwritten(part: Value) -> Value:
    """What a value was before it was written to."""
    for _ in range(DEPTH):
        if not isinstance(part.op, WRITES):
            break
        part = part.args[0]
    return part


def _are_parts(re: Value, im: Value) -> bool:
    """Whether two values are the parts of one array, or of zeros."""
    is_of_one = isinstance(re.op, Real) and isinstance(im.op, Imag) and re.args == im.args
    return is_of_one or (is_zero(re) and is_zero(im))


def _there(write: Value, whole: Value, shape: tuple[int, ...]) -> Value:
    """What an array of the same shape holds where `write` writes elements of a shape."""
    match write.op:
        case UpdateSlice() as op:
            return op.window(shape)(whole)
        case UpdateBlock(step, shared):
            return ReadBlock(shape[shared:], step, shared)(whole, *write.args[2:])
        case ScatterSet(shared, unique):
            return Gather(shared, unique)(whole, *write.args[1:-1])
        case op:
            raise AssertionError(f"{op.name} does not replace elements")


@rewrite(Add, level="stable", reads=(Complex,))
def sum_of_parts(value: Value) -> Value | None:
    """`(x + i·0) + (0 + i·y)` is `x + i·y` (but for the sign of -0.0)."""
    one, other = value.args
    if not isinstance(one.op, Complex) or not isinstance(other.op, Complex):
        return None
    pairs = list(zip(one.args, other.args, strict=True))
    if not all([is_zero(x) or is_zero(y) for x, y in pairs]):
        return None
    return fit(complex(*[y if is_zero(x) else x for x, y in pairs]), value.type)


@rewrite(Gather, reads=(Real, Imag))
def gather_of_part(value: Value) -> Value | None:
    """What is read of a part is the part of what is read."""
    return _part_of_read(value)


@rewrite(ReadBlock, reads=(Real, Imag))
def block_of_part(value: Value) -> Value | None:
    """A block of a part is the part of a block."""
    return _part_of_read(value)


def _part_of_read(value: Value) -> Value | None:
    part, *places = value.args
    return part.op(value.op(part.args[0], *places)) if isinstance(part.op, Real | Imag) else None


RULES = (complex_of_written_parts, sum_of_parts, gather_of_part, block_of_part)
