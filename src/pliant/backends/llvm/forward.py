"""Native code that passes a call of an object on to the C-level callables that it holds."""

from __future__ import annotations

from pliant.backends import layout
from pliant.backends.calls import MISSED
from pliant.backends.llvm.jit import Code, host_target
from pliant.backends.llvm.lines import constant
from pliant.backends.llvm.made_once import made_once


@made_once
def forwarding(offset: int, gate: int) -> Code:
    """A vectorcall function `forward`: it asks the callables of a tuple, at an offset in the object's struct, in
    turn, until one does not answer `MISSED`, which the last never does.

    gate: the address of a count. While it is not 0, only the last one is asked.
    """
    text = f"""
target triple = "{host_target().triple}"
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)

define ptr @forward(ptr %self, ptr %args, i64 %count, ptr %names) {{
start:
  %place = getelementptr i8, ptr %self, i64 {offset}
  %ways = load ptr, ptr %place
  call void @Py_IncRef(ptr %ways)
  %sizes = getelementptr i8, ptr %ways, i64 {layout.SIZE}
  %size = load i64, ptr %sizes
  %last = sub i64 %size, 1
  %special = load i64, ptr inttoptr (i64 {gate} to ptr)
  %closed = icmp ne i64 %special, 0
  %first = select i1 %closed, i64 %last, i64 0
  %items = getelementptr i8, ptr %ways, i64 {layout.TUPLE}
  br label %next
next:
  %n = phi i64 [%first, %start], [%after, %missed]
  %item = getelementptr ptr, ptr %items, i64 %n
  %way = load ptr, ptr %item
  %made = call ptr @PyObject_Vectorcall(ptr %way, ptr %args, i64 %count, ptr %names)
  %is_missed = icmp eq ptr %made, {constant(MISSED)}
  br i1 %is_missed, label %missed, label %done
missed:
  call void @Py_DecRef(ptr %made)
  %after = add i64 %n, 1
  br label %next
done:
  call void @Py_DecRef(ptr %ways)
  ret ptr %made
}}
"""
    return Code(text, 0, keep=False)
