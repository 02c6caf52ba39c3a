"""Memory of tapes, kept when a loop is done: new memory has to be cleared by the system, which takes longer than the
steps that write it.

`pliant_tape_more(memory, first, used, wanted)` gives a tape at least `wanted` bytes with the `used` first ones of
`memory`, which is that of the call before, or `first`, which lies on the stack; null if there is no more memory.
`pliant_tape_give(memory, first)` takes it back. What the system needs meanwhile it may take from what is kept.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Final, final

from pliant.backends.llvm.jit import Code, host_target, symbol

SLOTS: Final = 2
"""Tapes that are kept at most."""
ROOM: Final = 1 << 28
"""Bytes of one at most."""
HEADER: Final = 64
"""Bytes before the memory of a tape; the first eight say how many there are in all."""
LARGE: Final = 1 << 21
"""Bytes from which on the system is told what the memory is for."""
PAGE: Final = 4096
HUGE, FREE = 14, 8  # advice to Linux: large pages, please; this memory may be taken


@final
class Tapes:
    """The functions, which are there as long as the process."""

    def __init__(self) -> None:
        advice = ADVISED if sys.platform.startswith("linux") else UNADVISED
        self.code = Code(
            f'target triple = "{host_target().triple}"\n'
            + advice.format(large=LARGE, page=PAGE, last=PAGE - 1)
            + TEXT.format(slots=SLOTS, room=ROOM, header=HEADER, huge=HUGE, free=FREE)
        )


@lru_cache
def tapes() -> Tapes:
    """The functions of this process."""
    return Tapes()


def tape_functions() -> tuple[str, str]:
    """The names under which code finds `pliant_tape_more` and `pliant_tape_give`."""
    names = "pliant_tape_more", "pliant_tape_give"
    more, give = (symbol(name, tapes().code.address(name)) for name in names)
    return more, give


UNADVISED: Final = """
define internal void @advise(ptr %block, i64 %size, i32 %what) {{
  ret void
}}
"""
ADVISED: Final = """
declare i32 @madvise(ptr, i64, i32)
define internal void @advise(ptr %block, i64 %size, i32 %what) {{
  %is_large = icmp uge i64 %size, {large}
  br i1 %is_large, label %tell, label %end
tell:
  %address = ptrtoint ptr %block to i64
  %above = add i64 %address, {last}
  %begin = and i64 %above, -{page}
  %skipped = sub i64 %begin, %address
  %left = sub i64 %size, %skipped
  %bytes = and i64 %left, -{page}
  %place = getelementptr i8, ptr %block, i64 %skipped
  call i32 @madvise(ptr %place, i64 %bytes, i32 %what)
  br label %end
end:
  ret void
}}
"""
TEXT: Final = """
@places = internal global [{slots} x ptr] zeroinitializer
declare ptr @realloc(ptr, i64)
declare void @free(ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define internal ptr @taken() {{
  br label %loop
loop:
  %n = phi i64 [ 0, %0 ], [ %after, %other ]
  %place = getelementptr ptr, ptr @places, i64 %n
  %block = atomicrmw xchg ptr %place, ptr null acquire
  %none = icmp eq ptr %block, null
  br i1 %none, label %other, label %end
other:
  %after = add i64 %n, 1
  %more = icmp ult i64 %after, {slots}
  br i1 %more, label %loop, label %end
end:
  ret ptr %block
}}

define internal ptr @longer(ptr %block, i64 %size) {{
  %whole = add i64 %size, {header}
  %new = call ptr @realloc(ptr %block, i64 %whole)
  %failed = icmp eq ptr %new, null
  br i1 %failed, label %end, label %fine
fine:
  store i64 %size, ptr %new
  call void @advise(ptr %new, i64 %whole, i32 {huge})
  br label %end
end:
  ret ptr %new
}}

define ptr @pliant_tape_more(ptr %memory, ptr %first, i64 %used, i64 %wanted) {{
  %is_first = icmp eq ptr %memory, %first
  br i1 %is_first, label %begin, label %grow
grow:
  %old = getelementptr i8, ptr %memory, i64 -{header}
  %grown = call ptr @longer(ptr %old, i64 %wanted)
  br label %check
begin:
  %kept = call ptr @taken()
  %none = icmp eq ptr %kept, null
  br i1 %none, label %make, label %look
look:
  %size = load i64, ptr %kept
  %fits = icmp uge i64 %size, %wanted
  br i1 %fits, label %move, label %widen
widen:
  call void @free(ptr %kept)
  br label %make
make:
  %new = call ptr @longer(ptr null, i64 %wanted)
  %bad = icmp eq ptr %new, null
  br i1 %bad, label %check, label %move
move:
  %block = phi ptr [ %kept, %look ], [ %new, %make ]
  %data = getelementptr i8, ptr %block, i64 {header}
  call void @llvm.memcpy.p0.p0.i64(ptr %data, ptr %first, i64 %used, i1 false)
  br label %check
check:
  %found = phi ptr [ %grown, %grow ], [ null, %make ], [ %block, %move ]
  %failed = icmp eq ptr %found, null
  br i1 %failed, label %fail, label %end
fail:
  ret ptr null
end:
  %at = getelementptr i8, ptr %found, i64 {header}
  ret ptr %at
}}

define void @pliant_tape_give(ptr %memory, ptr %first) {{
  %is_first = icmp eq ptr %memory, %first
  br i1 %is_first, label %end, label %give
give:
  %block = getelementptr i8, ptr %memory, i64 -{header}
  %size = load i64, ptr %block
  %much = icmp ugt i64 %size, {room}
  br i1 %much, label %free, label %keep
keep:
  %inside = sub i64 %size, 4096
  %past = getelementptr i8, ptr %block, i64 4096
  call void @advise(ptr %past, i64 %inside, i32 {free})
  br label %loop
loop:
  %n = phi i64 [ 0, %keep ], [ %after, %other ]
  %place = getelementptr ptr, ptr @places, i64 %n
  %pair = cmpxchg ptr %place, ptr null, ptr %block release monotonic
  %done = extractvalue {{ ptr, i1 }} %pair, 1
  br i1 %done, label %end, label %other
other:
  %after = add i64 %n, 1
  %more = icmp ult i64 %after, {slots}
  br i1 %more, label %loop, label %free
free:
  call void @free(ptr %block)
  br label %end
end:
  ret void
}}
"""
