"""The other half of a matrix times its own transpose, of which BLAS makes one, as NumPy copies it."""

from __future__ import annotations

from typing import Final

from pliant.backends.llvm.values import llvm_type

TILE: Final = 16  # rows and columns that are copied at a time


def mirror_text(name: str, dtype: str) -> str:
    """LLVM code that copies what lies above the diagonal of a matrix of n rows to below it, tile by tile."""
    t = f"[2 x {llvm_type(dtype)}]" if dtype[0] == "c" else llvm_type(dtype)
    return f"""define internal void @{name}(ptr noalias %x, i64 %n) #0 {{
begin:
  br label %rows
rows:
  %i0 = phi i64 [ 0, %begin ], [ %i1, %rows.next ]
  %i1 = add nuw nsw i64 %i0, {TILE}
  %last = call i64 @llvm.umin.i64(i64 %i1, i64 %n)
  br label %columns
columns:
  %j0 = phi i64 [ 0, %rows ], [ %j1, %columns.next ]
  %j1 = add nuw nsw i64 %j0, {TILE}
  br label %row
row:
  %i = phi i64 [ %i0, %columns ], [ %i.next, %row.next ]
  %stop = call i64 @llvm.umin.i64(i64 %i, i64 %j1)
  %from = mul nuw nsw i64 %i, %n
  %some = icmp ult i64 %j0, %stop
  br i1 %some, label %one, label %row.next
one:
  %j = phi i64 [ %j0, %row ], [ %j.next, %one ]
  %low = add nuw nsw i64 %from, %j
  %there = getelementptr {t}, ptr %x, i64 %low
  %to = mul nuw nsw i64 %j, %n
  %high = add nuw nsw i64 %to, %i
  %here = getelementptr {t}, ptr %x, i64 %high
  %value = load {t}, ptr %here
  store {t} %value, ptr %there
  %j.next = add nuw nsw i64 %j, 1
  %more = icmp ult i64 %j.next, %stop
  br i1 %more, label %one, label %row.next
row.next:
  %i.next = add nuw nsw i64 %i, 1
  %more.rows = icmp ult i64 %i.next, %last
  br i1 %more.rows, label %row, label %columns.next
columns.next:
  %on = icmp ult i64 %j1, %last
  br i1 %on, label %columns, label %rows.next
rows.next:
  %again = icmp ult i64 %i1, %n
  br i1 %again, label %rows, label %end
end:
  ret void
}}
"""
