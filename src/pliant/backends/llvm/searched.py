"""Where an extremum first is: rows in blocks, of which the first that holds it is searched.

    best, at = least, 0
    for first in 0, BLOCK, …:                the extremum of a block has vectors, and no place to remember
        one = max of x[first : first + BLOCK]
        if one > best, or one is the first NaN: best, at = one, first
    at + least n with x[at + n] = best, or x[at + n] NaN

All blocks have one length, of which LLVM makes better code: the last begins in the one before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from pliant.backends.llvm.accumulator import Accumulator
from pliant.backends.llvm.streams import steps_from
from pliant.backends.llvm.values import llvm_type
from pliant.core.types import itemsize
from pliant.kernel.ir import Fold, Var

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter

BLOCK: Final = 128  # elements
LONG_BLOCK: Final = 512  # elements of a block of a long row: of so many blocks the search in the last one costs little
LONG: Final = 4096  # elements of a row from which on blocks are so
AT_ONCE: Final = 4  # vectors whose extrema are found side by side: each waits for the one before
WIDTH: Final = 32  # bytes of a vector
PLACE: Final = "i32"  # dtype of a place in a block


def emit_search(e: Emitter, s: Fold) -> str:
    """The first place along the loop of a fold where its extremum is, or the first NaN; an i64."""
    (loop,), kind, dtype = s.vars, s.kind.removeprefix("arg"), s.element.dtype
    size = size_of_block(loop.extent, dtype)
    one, block = Accumulator(e, kind, dtype, long=False), Var(size)
    if loop.extent <= size:
        find_extremum(e, s, one, block, "0")
        return least_place(e, s, str(one.load()), block, "0")
    best, at, blocks = Accumulator(e, kind, dtype, long=False), e.alloca("i64"), Var(-(-loop.extent // size))
    best.start()
    e.line(f"store i64 0, ptr {at}")

    def step() -> None:
        first = e.op(f"mul nuw nsw i64 {e.env[blocks]}, {size}")
        first = e.op(f"call i64 @llvm.umin.i64(i64 {first}, i64 {loop.extent - size})")
        find_extremum(e, s, one, block, first)
        new, old, place, t = str(one.load()), str(best.load()), e.op(f"load i64, ptr {at}"), llvm_type(one.wide)
        is_better = is_beyond(e, kind, one.wide, new, old)
        e.line(f"store {t} {e.op(f'select i1 {is_better}, {t} {new}, {t} {old}')}, ptr {best.slots[0]}")
        e.line(f"store i64 {e.op(f'select i1 {is_better}, i64 {first}, i64 {place}')}, ptr {at}")

    e.loop(blocks, step, wish=e.module.not_unrolled())
    return least_place(e, s, str(best.load()), block, e.op(f"load i64, ptr {at}"))


def size_of_block(extent: int, dtype: str) -> int:
    """Elements of a block: as many blocks as must be, which overlap little, and of whole vectors."""
    if extent >= LONG or extent <= BLOCK:
        return LONG_BLOCK if extent >= LONG else extent
    return whole_vectors(-(-extent // -(-extent // BLOCK)), dtype)


def whole_vectors(n: int, dtype: str) -> int:
    """At least so many elements, in vectors that are taken side by side."""
    some = min(AT_ONCE * WIDTH // itemsize(dtype), BLOCK)
    return -(-n // some) * some


def find_extremum(e: Emitter, s: Fold, total: Accumulator, block: Var, first: str) -> None:
    """Let `total` be the extremum of a block."""
    total.start()
    wish = e.module.at_once(AT_ONCE) if whole_vectors(block.extent, s.element.dtype) == block.extent else ""
    run(e, s, block, first, lambda: total.add(e.folded(s.element, total.kind)), wish)


def is_beyond(e: Emitter, kind: str, dtype: str, new: str, old: str) -> str:
    """Whether the extremum of a block is beyond that of the blocks before; NaN is beyond all but NaN."""
    t, beyond = llvm_type(dtype), "gt" if kind == "max" else "lt"
    if dtype[0] != "f":
        sign = "s" if dtype[0] == "i" else "u"
        return e.op(f"icmp {sign}{beyond} {t} {new}, {old}")
    is_number = e.op(f"fcmp ord {t} {old}, {old}")
    return e.op(f"and i1 {is_number}, {e.op(f'fcmp u{beyond} {t} {new}, {old}')}")


def least_place(e: Emitter, s: Fold, best: str, block: Var, first: str) -> str:
    """The least place in a block where the extremum is, or the first NaN."""
    least, dtype = Accumulator(e, "min", PLACE, long=False), s.element.dtype
    least.start()
    t = llvm_type("f32" if dtype == "f16" else dtype)

    def step() -> None:
        x = e.values[s.element]
        if dtype[0] == "f":
            x = e.op(f"fpext half {x} to float") if dtype == "f16" else x
            is_nan = e.op(f"fcmp uno {t} {x}, {x}")
            found = e.op(f"or i1 {is_nan}, {e.op(f'fcmp oeq {t} {x}, {best}')}")
        else:
            found = e.op(f"icmp eq {t} {x}, {best}")
        place = e.op(f"trunc i64 {e.env[block]} to i32") if block in e.env else "0"
        least.add(e.op(f"select i1 {found}, i32 {place}, i32 {block.extent}"))

    run(e, s, block, first, step)
    return e.op(f"add nuw nsw i64 {first}, {e.op(f'zext i32 {least.load()} to i64')}")


def run(e: Emitter, s: Fold, block: Var, first: str, step: Callable[[], None], wish: str = "") -> None:
    """Run a step for each element of a block."""

    def body() -> None:
        e.region(s.body)
        step()

    steps_from(e, s.vars[0], first, block, body, wish)
