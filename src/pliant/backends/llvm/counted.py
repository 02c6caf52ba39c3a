"""Rows of elements of one byte are sorted by counting how many there are of each, as LLVM text.

Elements that follow each other are counted in different tables: of equal ones no count waits for the one before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter

LEAST: Final = {"u8": 0, "bool": 0, "i8": -128}
"""The least element of each dtype of one byte."""
FEWEST: Final = 256
"""Elements from which on this is quicker."""
MOST: Final = 1 << 32
"""Elements from which on a count has no room."""
TABLES: Final = 4


def has(dtype: str, length: int) -> bool:
    """Whether rows of so many elements of a dtype are sorted here."""
    return dtype in LEAST and FEWEST <= length < MOST


def emit_counted(e: Emitter, dtype: str, places: Sequence[str], length: int) -> None:
    """Sort a row. places: of the row, and of the result, which may be the same."""
    name = e.module.helper(f"counted_{dtype}", lambda name: text_of(name, LEAST[dtype]))
    e.call_for_effect(f"void {name}(ptr {places[0]}, ptr {places[-1]}, i64 {length})")


def text_of(name: str, least: int) -> str:
    """The function: (row, result, count)."""
    steps = [STEP.format(table=table, room=1024 * table) for table in range(TABLES)]
    totals = [TOTAL.format(table=table, room=1024 * table, before=table - 1) for table in range(1, TABLES)]
    return TEXT.format(
        name=name, least=least, room=1024 * TABLES, tables=TABLES, mask=-TABLES, steps="".join(steps),
        totals="".join(totals), last=TABLES - 1,
    )  # fmt: skip


STEP: Final = """  %at.{table} = getelementptr i8, ptr %group, i64 {table}
  %byte.{table} = load i8, ptr %at.{table}
  %value.{table} = zext i8 %byte.{table} to i64
  %table.{table} = getelementptr i8, ptr %counts, i64 {room}
  %count.{table} = getelementptr i32, ptr %table.{table}, i64 %value.{table}
  %old.{table} = load i32, ptr %count.{table}
  %new.{table} = add i32 %old.{table}, 1
  store i32 %new.{table}, ptr %count.{table}
"""
TOTAL: Final = """  %part.{table} = getelementptr i8, ptr %total.place, i64 {room}
  %more.{table} = load i32, ptr %part.{table}
  %total.{table} = add i32 %total.{before}, %more.{table}
"""
TEXT: Final = """define internal void @{name}(ptr %x, ptr %y, i64 %n) #0 {{
start:
  %counts = alloca [{room} x i8], align 64
  call void @llvm.memset.p0.i64(ptr align 64 %counts, i8 0, i64 {room}, i1 false)
  %even = and i64 %n, {mask}
  br label %groups

groups:
  %i = phi i64 [ 0, %start ], [ %i.next, %count ]
  %i.more = icmp ult i64 %i, %even
  br i1 %i.more, label %count, label %rest

count:
  %group = getelementptr i8, ptr %x, i64 %i
{steps}  %i.next = add i64 %i, {tables}
  br label %groups

rest:
  %r = phi i64 [ %even, %groups ], [ %r.next, %one ]
  %r.more = icmp ult i64 %r, %n
  br i1 %r.more, label %one, label %values

one:
  %r.place = getelementptr i8, ptr %x, i64 %r
  %r.byte = load i8, ptr %r.place
  %r.value = zext i8 %r.byte to i64
  %r.count = getelementptr i32, ptr %counts, i64 %r.value
  %r.old = load i32, ptr %r.count
  %r.new = add i32 %r.old, 1
  store i32 %r.new, ptr %r.count
  %r.next = add i64 %r, 1
  br label %rest

values:
  %v = phi i64 [ 0, %rest ], [ %v.next, %next ]
  %to = phi i64 [ 0, %rest ], [ %to.next, %next ]
  %number = add i64 %v, {least}
  %byte = trunc i64 %number to i8
  %value = zext i8 %byte to i64
  %total.place = getelementptr i32, ptr %counts, i64 %value
  %total.0 = load i32, ptr %total.place
{totals}  %some = icmp ne i32 %total.{last}, 0
  %wide = zext i32 %total.{last} to i64
  br i1 %some, label %write, label %next

write:
  %y.place = getelementptr i8, ptr %y, i64 %to
  call void @llvm.memset.p0.i64(ptr %y.place, i8 %byte, i64 %wide, i1 false)
  br label %next

next:
  %to.next = add i64 %to, %wide
  %v.next = add i64 %v, 1
  %v.more = icmp ult i64 %v.next, 256
  br i1 %v.more, label %values, label %end

end:
  ret void
}}
"""
