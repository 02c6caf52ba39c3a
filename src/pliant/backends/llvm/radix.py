"""The order of a row by the digits of its elements, the last digit first, as LLVM text: stable, and quicker than by
comparing where rows are long.

Numbers become whole ones of the same order. What is moved is a number and its place. A digit that is the same for all
is left out, so that of small whole numbers few are looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from pliant.backends.llvm.values import llvm_type
from pliant.core.types import itemsize

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter

DTYPES: Final = ("f32", "i8", "i16", "i32", "u8", "u16", "u32", "f64", "i64", "u64")
FEWEST: Final = 768
"""Elements from which on this is quicker."""
FEWEST_ANYHOW: Final = 2048
FEWEST_WIDE: Final = 16384
"""The same where equal ones may come in any order, which NumPy has in vectors; and if they have eight bytes."""
WIDE: Final = 64
"""Bytes of the vectors with which NumPy orders `f64` anyhow more quickly: their digits are seldom all the same."""
MOST: Final = 1 << 31
"""Elements from which on places do not lie beside numbers of four bytes."""
BITS: Final = 11
"""Bits of a digit."""
MEMORY: Final = {
    "malloc": "declare noalias ptr @malloc(i64)",
    "free": "declare void @free(ptr)",
}


def has(dtype: str, length: int, *, is_stable: bool, widest: int) -> bool:
    """Whether rows of so many elements of a dtype are ordered here. is_stable: whether equal ones keep their order;
    widest: bytes of the processor's vectors."""
    if dtype not in DTYPES or (dtype == "f64" and widest >= WIDE and not is_stable):
        return False
    fewest = FEWEST if is_stable else FEWEST_ANYHOW if itemsize(dtype) < 8 else FEWEST_WIDE
    return fewest <= length < MOST


def emit_order(e: Emitter, dtype: str, order: str, places: Sequence[str], length: int) -> None:
    """The order of a row. order: the function that does it where there is no memory; places: of the row, and of its
    order."""
    e.module.declared |= MEMORY
    name = e.module.helper(f"digits{order[1:].removeprefix('pliant')}", lambda name: text_of(name, dtype, order))
    e.call_for_effect(f"void {name}({', '.join([f'ptr {place}' for place in places])}, i64 {length})")


def text_of(name: str, dtype: str, order: str) -> str:
    """The function: (row, order, count). order: the function that does it where there is no memory."""
    size = itemsize(dtype)
    wide = max(size, 4)
    return TEXT.format(
        name=name, t=llvm_type(dtype), k=f"i{8 * wide}", v=f"<2 x i{8 * wide}>", both=2 * wide, wide=wide, size=size,
        key=key_of(dtype, 8 * size, 8 * wide), all=8 * size, bits=BITS, most=(1 << BITS) - 1, digits=1 << BITS,
        room=8 << BITS, order=order,
    )  # fmt: skip


def key_of(dtype: str, bits: int, wide: int) -> str:
    """The instructions that make `%key`, a number without a sign, of `%value`: NaN is the greatest, and zeros equal."""
    t, sign, lines = f"i{bits}", 1 << bits - 1, list[str]()
    if dtype[0] == "f":
        lines = [
            f"%plain = fadd {llvm_type(dtype)} %value, 0.0",
            f"%raw = bitcast {llvm_type(dtype)} %plain to {t}",
            f"%signs = ashr {t} %raw, {bits - 1}",
            f"%turned = or {t} %signs, {sign}",
            f"%number = xor {t} %raw, %turned",
            f"%is.nan = fcmp uno {llvm_type(dtype)} %value, 0.0",
            f"%narrow = select i1 %is.nan, {t} -1, {t} %number",
        ]
    else:
        lines = [f"%narrow = xor {t} %value, {sign if dtype[0] == 'i' else 0}"]
    lines.append(f"%key = zext {t} %narrow to i{wide}" if bits < wide else f"%key = or {t} %narrow, 0")
    return "\n".join([f"  {line}" for line in lines])


TEXT: Final = """define internal void @{name}(ptr noalias %x, ptr noalias %y, i64 %n) #0 {{
start:
  %counts = alloca [{digits} x i64], align 64
  %half = mul i64 %n, {both}
  %bytes = shl i64 %half, 1
  %first = call ptr @malloc(i64 %bytes)
  %second = getelementptr i8, ptr %first, i64 %half
  %none = icmp eq ptr %first, null
  br i1 %none, label %whole, label %make

make:
  %i = phi i64 [ 0, %start ], [ %i.next, %make ]
  %varying = phi {k} [ 0, %start ], [ %varying.next, %make ]
  %last = phi {k} [ 0, %start ], [ %key, %make ]
  %value.place = getelementptr {t}, ptr %x, i64 %i
  %value = load {t}, ptr %value.place, align {size}
{key}
  %place.wide = zext i64 %i to i128
  %place = trunc i128 %place.wide to {k}
  %one = insertelement {v} poison, {k} %key, i64 0
  %pair = insertelement {v} %one, {k} %place, i64 1
  %pair.place = getelementptr {v}, ptr %first, i64 %i
  store {v} %pair, ptr %pair.place, align {wide}
  %differs = xor {k} %key, %last
  %is.first = icmp eq i64 %i, 0
  %change = select i1 %is.first, {k} 0, {k} %differs
  %varying.next = or {k} %varying, %change
  %i.next = add i64 %i, 1
  %i.more = icmp ult i64 %i.next, %n
  br i1 %i.more, label %make, label %digit

digit:
  %shift = phi {k} [ 0, %make ], [ %shift.next, %next ]
  %from = phi ptr [ %first, %make ], [ %from.next, %next ]
  %to = phi ptr [ %second, %make ], [ %to.next, %next ]
  %all.shifted = lshr {k} %varying.next, %shift
  %here = and {k} %all.shifted, {most}
  %is.same = icmp eq {k} %here, 0
  br i1 %is.same, label %next, label %clear

clear:
  call void @llvm.memset.p0.i64(ptr align 64 %counts, i8 0, i64 {room}, i1 false)
  br label %count

count:
  %c = phi i64 [ 0, %clear ], [ %c.next, %count ]
  %c.place = getelementptr {v}, ptr %from, i64 %c
  %c.key = load {k}, ptr %c.place, align {wide}
  %c.shifted = lshr {k} %c.key, %shift
  %c.digit = and {k} %c.shifted, {most}
  %c.at = zext {k} %c.digit to i128
  %c.index = trunc i128 %c.at to i64
  %c.count = getelementptr i64, ptr %counts, i64 %c.index
  %c.old = load i64, ptr %c.count
  %c.new = add i64 %c.old, 1
  store i64 %c.new, ptr %c.count
  %c.next = add i64 %c, 1
  %c.more = icmp ult i64 %c.next, %n
  br i1 %c.more, label %count, label %begin

begin:
  %d = phi i64 [ 0, %count ], [ %d.next, %begin ]
  %before = phi i64 [ 0, %count ], [ %before.next, %begin ]
  %d.count = getelementptr i64, ptr %counts, i64 %d
  %d.old = load i64, ptr %d.count
  store i64 %before, ptr %d.count
  %before.next = add i64 %before, %d.old
  %d.next = add i64 %d, 1
  %d.more = icmp ult i64 %d.next, {digits}
  br i1 %d.more, label %begin, label %move

move:
  %m = phi i64 [ 0, %begin ], [ %m.next, %move ]
  %m.place = getelementptr {v}, ptr %from, i64 %m
  %m.pair = load {v}, ptr %m.place, align {wide}
  %m.key = extractelement {v} %m.pair, i64 0
  %m.shifted = lshr {k} %m.key, %shift
  %m.digit = and {k} %m.shifted, {most}
  %m.at = zext {k} %m.digit to i128
  %m.index = trunc i128 %m.at to i64
  %m.count = getelementptr i64, ptr %counts, i64 %m.index
  %m.old = load i64, ptr %m.count
  %m.new = add i64 %m.old, 1
  store i64 %m.new, ptr %m.count
  %m.to = getelementptr {v}, ptr %to, i64 %m.old
  store {v} %m.pair, ptr %m.to, align {wide}
  %m.next = add i64 %m, 1
  %m.more = icmp ult i64 %m.next, %n
  br i1 %m.more, label %move, label %next

next:
  %from.next = phi ptr [ %from, %digit ], [ %to, %move ]
  %to.next = phi ptr [ %to, %digit ], [ %from, %move ]
  %shift.next = add {k} %shift, {bits}
  %shift.more = icmp ult {k} %shift.next, {all}
  br i1 %shift.more, label %digit, label %write

write:
  %w = phi i64 [ 0, %next ], [ %w.next, %write ]
  %w.place = getelementptr {v}, ptr %from.next, i64 %w
  %w.pair = load {v}, ptr %w.place, align {wide}
  %w.index = extractelement {v} %w.pair, i64 1
  %w.wide = zext {k} %w.index to i128
  %w.order = trunc i128 %w.wide to i64
  %w.to = getelementptr i64, ptr %y, i64 %w
  store i64 %w.order, ptr %w.to
  %w.next = add i64 %w, 1
  %w.more = icmp ult i64 %w.next, %n
  br i1 %w.more, label %write, label %free

free:
  call void @free(ptr %first)
  br label %done

whole:
  %u = phi i64 [ 0, %start ], [ %u.next, %whole ]
  %u.place = getelementptr i64, ptr %y, i64 %u
  store i64 %u, ptr %u.place
  %u.next = add i64 %u, 1
  %u.more = icmp ult i64 %u.next, %n
  br i1 %u.more, label %whole, label %compare

compare:
  call i32 {order}(ptr %x, ptr %y, i64 %n, ptr null)
  br label %done

done:
  ret void
}}
"""
