"""Memory of tapes, kept when a call is done: new memory has to be cleared by the system, which takes longer than the
steps that write it.

A call knows of four addresses, its state: where memory is free, where it ends, the block this is in or null if it
is on the stack, and where that on the stack ends. `pliant_tape_more(state, width, least)` gives `width` bytes of a new
block, of `least` bytes or twice those of the block before; null if there is no more memory.
`pliant_tape_back(state, mark)` gives blocks back until `mark` is where memory is free. What the system needs meanwhile
it may take from what is kept.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from typing import Final, final

from pliant.backends.llvm.jit import Code, host_target, symbol
from pliant.backends.llvm.made_once import made_once
from pliant.kernel.site import OUT_OF_MEMORY, Site

STATE: Final = 6
"""Words before the memory of tapes on the stack."""
FIRST: Final = 4096
"""Bytes of tapes on the stack."""
SLOTS: Final = 2
"""Blocks that are kept at most."""
ROOM: Final = 1 << 28
"""Bytes of one at most."""
HEADER: Final = 64
"""Bytes before the memory of a block: how many it has, and the address of the block before."""
LARGE: Final = 1 << 21
"""Bytes from which on the system is told what the memory is for."""
PAGE: Final = 4096
HUGE, FREE = 14, 8  # advice to Linux: large pages, please; this memory may be taken


def words() -> int:
    """How many words a call notes errors and has tapes in: two of an error, four of where the memory of tapes is, and
    the first of that."""
    return STATE + FIRST // 8


def makes_tapes(sites: Sequence[Site]) -> bool:
    """Whether a program leaves something on tapes, given what may fail in it."""
    return any([site.axis == OUT_OF_MEMORY for site in sites])


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


@made_once
def tapes() -> Tapes:
    """The functions of this process."""
    return Tapes()


def tape_functions() -> tuple[str, str]:
    """The names under which code finds `pliant_tape_more` and `pliant_tape_back`."""
    names = "pliant_tape_more", "pliant_tape_back"
    more, back = (symbol(name, tapes().code.address(name)) for name in names)
    return more, back


def give_back(state: int) -> None:
    """Give all memory of a call's tapes back."""
    _BACK(tapes().code.address("pliant_tape_back"))(state, None)


_BACK: Final = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
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
declare i64 @llvm.umax.i64(i64, i64)

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

define internal i64 @wanted(ptr %block, i64 %width, i64 %least) {{
  %enough = call i64 @llvm.umax.i64(i64 %width, i64 %least)
  %none = icmp eq ptr %block, null
  br i1 %none, label %end, label %after
after:
  %size = load i64, ptr %block
  %twice = shl i64 %size, 1
  %more = call i64 @llvm.umax.i64(i64 %enough, i64 %twice)
  br label %end
end:
  %found = phi i64 [ %enough, %0 ], [ %more, %after ]
  ret i64 %found
}}

define ptr @pliant_tape_more(ptr %state, i64 %width, i64 %least) {{
  %at_end = getelementptr ptr, ptr %state, i64 1
  %at_block = getelementptr ptr, ptr %state, i64 2
  %before = load ptr, ptr %at_block
  %kept = call ptr @taken()
  %none = icmp eq ptr %kept, null
  br i1 %none, label %make, label %look
look:
  %size = load i64, ptr %kept
  %fits = icmp uge i64 %size, %width
  br i1 %fits, label %use, label %drop
drop:
  call void @free(ptr %kept)
  br label %make
make:
  %bytes = call i64 @wanted(ptr %before, i64 %width, i64 %least)
  %new = call ptr @longer(ptr null, i64 %bytes)
  %failed = icmp eq ptr %new, null
  br i1 %failed, label %fail, label %use
fail:
  ret ptr null
use:
  %block = phi ptr [ %kept, %look ], [ %new, %make ]
  %room = load i64, ptr %block
  %link = getelementptr ptr, ptr %block, i64 1
  store ptr %before, ptr %link
  store ptr %block, ptr %at_block
  %first = getelementptr i8, ptr %block, i64 {header}
  %end = getelementptr i8, ptr %first, i64 %room
  %after = getelementptr i8, ptr %first, i64 %width
  store ptr %after, ptr %state
  store ptr %end, ptr %at_end
  ret ptr %first
}}

define void @pliant_tape_back(ptr %state, ptr %mark) {{
  %at_end = getelementptr ptr, ptr %state, i64 1
  %at_block = getelementptr ptr, ptr %state, i64 2
  %at_own = getelementptr ptr, ptr %state, i64 3
  store ptr %mark, ptr %state
  br label %loop
loop:
  %block = load ptr, ptr %at_block
  %none = icmp eq ptr %block, null
  br i1 %none, label %own, label %look
look:
  %first = getelementptr i8, ptr %block, i64 {header}
  %size = load i64, ptr %block
  %end = getelementptr i8, ptr %first, i64 %size
  %above = icmp uge ptr %mark, %first
  %below = icmp ule ptr %mark, %end
  %inside = and i1 %above, %below
  br i1 %inside, label %stay, label %leave
stay:
  store ptr %end, ptr %at_end
  ret void
leave:
  %link = getelementptr ptr, ptr %block, i64 1
  %before = load ptr, ptr %link
  store ptr %before, ptr %at_block
  call void @give(ptr %block)
  br label %loop
own:
  %last = load ptr, ptr %at_own
  store ptr %last, ptr %at_end
  ret void
}}

define internal void @give(ptr %block) {{
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
