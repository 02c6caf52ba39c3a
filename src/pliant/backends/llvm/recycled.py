"""Memory of large results, kept when they are gone: new memory has to be cleared by the system, which takes as long as
a kernel that writes it.

NumPy lets an array have a handler of its own that makes and frees its data (NEP 49). Ours keeps a few blocks that were
freed, for results of the same size; the system may take them back meanwhile when it runs out of memory. Smaller blocks
are kept by the C library already. Arrays are as any others: they own their data and can be resized.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any, Final, final

from pliant.backends.llvm.jit import Code, host_target
from pliant.backends.llvm.made_once import made_once

LARGE: Final = 1 << 25
"""Bytes from which on the C library always asks the system for new memory."""
SLOTS: Final = 4
"""Blocks that are kept at most."""
ROOM: Final = 1 << 29
"""Bytes that they have together at most."""
PAGE: Final = 1 << 21
"""Bytes of a large page."""
HUGE, FREE = 14, 8  # advice to Linux: large pages, please; this memory may be taken
VERSION: Final = 1  # of NumPy's struct: 127 bytes of a name, this, a context, and four functions
NAME: Final = b"pliant: recycled"
FUNCTIONS: Final = ("make", "make_zeros", "resize", "give")


@final
class Recycler:
    """The handler, which is never freed: arrays may outlive all modules."""

    def __init__(self) -> None:
        self.code = Code(
            TEXT.format(
                triple=host_target().triple, slots=SLOTS, room=ROOM, page=PAGE, last=PAGE - 1, huge=HUGE, free=FREE
            )
        )
        addresses = [self.code.address(f"recycled_{name}") for name in FUNCTIONS]
        self.struct = ctypes.create_string_buffer(128 + 8 * (1 + len(addresses)))
        self.struct[: len(NAME)] = NAME
        self.struct[127] = VERSION
        (ctypes.c_void_p * 5).from_buffer(self.struct, 128)[:] = [None, *addresses]
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self.capsule: Any = new(ctypes.addressof(self.struct), b"mem_handler", None)
        for thing in (self.code.engine, self.struct, self.capsule):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


@made_once
def recycler() -> Any:
    """The capsule that NumPy takes for a handler; None where the system clears memory in other ways."""
    return Recycler().capsule if sys.platform.startswith("linux") else None


TEXT: Final = """target triple = "{triple}"
@places = internal global [{slots} x ptr] zeroinitializer
@sizes = internal global [{slots} x i64] zeroinitializer
@next = internal global i64 0
@held = internal global i64 0
@busy = internal global i8 0
declare ptr @aligned_alloc(i64, i64)
declare ptr @calloc(i64, i64)
declare ptr @realloc(ptr, i64)
declare void @free(ptr)
declare i32 @madvise(ptr, i64, i32)
declare i32 @sched_yield()

define internal void @enter() {{
  br label %try
try:
  %pair = cmpxchg ptr @busy, i8 0, i8 1 acquire monotonic
  %mine = extractvalue {{ i8, i1 }} %pair, 1
  br i1 %mine, label %end, label %wait
wait:
  call i32 @sched_yield()
  br label %try
end:
  ret void
}}

define internal void @leave() {{
  store atomic i8 0, ptr @busy release, align 1
  ret void
}}

define internal ptr @taken(i64 %size) {{
  br label %loop
loop:
  %n = phi i64 [ 0, %0 ], [ %after, %other ]
  %place = getelementptr i64, ptr @sizes, i64 %n
  %found = load i64, ptr %place
  %same = icmp eq i64 %found, %size
  br i1 %same, label %take, label %other
other:
  %after = add i64 %n, 1
  %more = icmp ult i64 %after, {slots}
  br i1 %more, label %loop, label %none
none:
  ret ptr null
take:
  store i64 0, ptr %place
  %before = load i64, ptr @held
  %rest = sub i64 %before, %size
  store i64 %rest, ptr @held
  %where = getelementptr ptr, ptr @places, i64 %n
  %block = load ptr, ptr %where
  ret ptr %block
}}

define internal void @drop(i64 %n) {{
  %place = getelementptr i64, ptr @sizes, i64 %n
  %size = load i64, ptr %place
  %none = icmp eq i64 %size, 0
  br i1 %none, label %end, label %free
free:
  %where = getelementptr ptr, ptr @places, i64 %n
  %block = load ptr, ptr %where
  call void @free(ptr %block)
  store i64 0, ptr %place
  %before = load i64, ptr @held
  %rest = sub i64 %before, %size
  store i64 %rest, ptr @held
  br label %end
end:
  ret void
}}

define ptr @recycled_make(ptr %context, i64 %size) {{
  call void @enter()
  %old = call ptr @taken(i64 %size)
  call void @leave()
  %none = icmp eq ptr %old, null
  br i1 %none, label %make, label %end
make:
  %more = add i64 %size, {last}
  %pages = udiv i64 %more, {page}
  %whole = mul i64 %pages, {page}
  %new = call ptr @aligned_alloc(i64 {page}, i64 %whole)
  %failed = icmp eq ptr %new, null
  br i1 %failed, label %end, label %advise
advise:
  call i32 @madvise(ptr %new, i64 %whole, i32 {huge})
  br label %end
end:
  %block = phi ptr [ %old, %0 ], [ %new, %make ], [ %new, %advise ]
  ret ptr %block
}}

define ptr @recycled_make_zeros(ptr %context, i64 %count, i64 %size) {{
  %block = call ptr @calloc(i64 %count, i64 %size)
  ret ptr %block
}}

define ptr @recycled_resize(ptr %context, ptr %block, i64 %size) {{
  %moved = call ptr @realloc(ptr %block, i64 %size)
  ret ptr %moved
}}

define void @recycled_give(ptr %context, ptr %block, i64 %size) {{
  %address = ptrtoint ptr %block to i64
  %inside = urem i64 %address, {page}
  %ours = icmp eq i64 %inside, 0
  %large = icmp uge i64 %size, {page}
  %fits = icmp ule i64 %size, {room}
  %known = and i1 %ours, %large
  %kept = and i1 %known, %fits
  br i1 %kept, label %keep, label %free
free:
  call void @free(ptr %block)
  ret void
keep:
  %pages = udiv i64 %size, 4096
  %bytes = mul i64 %pages, 4096
  call i32 @madvise(ptr %block, i64 %bytes, i32 {free})
  call void @enter()
  %n = load i64, ptr @next
  call void @drop(i64 %n)
  %following = add i64 %n, 1
  %turn = urem i64 %following, {slots}
  store i64 %turn, ptr @next
  br label %look
look:
  %i = phi i64 [ 0, %keep ], [ %after, %again ]
  %held = load i64, ptr @held
  %all = add i64 %held, %size
  %much = icmp ugt i64 %all, {room}
  br i1 %much, label %again, label %store
again:
  call void @drop(i64 %i)
  %after = add i64 %i, 1
  br label %look
store:
  store i64 %all, ptr @held
  %place = getelementptr i64, ptr @sizes, i64 %n
  store i64 %size, ptr %place
  %where = getelementptr ptr, ptr @places, i64 %n
  store ptr %block, ptr %where
  call void @leave()
  ret void
}}
"""
