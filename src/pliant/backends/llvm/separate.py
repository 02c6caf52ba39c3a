"""Whether arrays that a call is given have no byte in common, by loops: lines for each pair of many are too many."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Final

from pliant.backends.llvm.jit import Code, host_target
from pliant.backends.llvm.made_once import made_once

FEW: Final = 256  # pairs that are looked at one by one


def in_order(pairs: Collection[tuple[int, int]]) -> tuple[Sequence[int], int] | None:
    """All numbers in pairs, those first that are in a pair with every other one, and how many they are.

    None if there are few pairs, or some without one of these.
    """
    if len(pairs) <= FEW:
        return None
    numbers = dict.fromkeys([n for pair in pairs for n in pair], 0)
    for pair in pairs:
        for n in pair:
            numbers[n] += 1
    first = [n for n, count in numbers.items() if count == len(numbers) - 1]
    others = [n for n, count in numbers.items() if count != len(numbers) - 1]
    expected = len(first) * (len(first) - 1) // 2 + len(first) * len(others)
    return ([*first, *others], len(first)) if expected == len(pairs) else None


@lru_cache
def separate() -> int:
    """The address of `i32 separate(ptr first, ptr behind, i64 watched, i64 count)`.

    It is given where `count` arrays begin and end, and returns whether the first `watched` ones lie apart from all.
    """
    return _code().address("separate")


@made_once
def _code() -> Code:
    return Code(TEXT.format(triple=host_target().triple))


TEXT: Final = """target triple = "{triple}"
define i32 @separate(ptr readonly %first, ptr readonly %behind, i64 %watched, i64 %count) {{
  br label %each
each:
  %i = phi i64 [ 0, %0 ], [ %after, %next ]
  %is_last = icmp uge i64 %i, %watched
  br i1 %is_last, label %end, label %one
one:
  %after = add nuw i64 %i, 1
  %p = getelementptr i64, ptr %first, i64 %i
  %low = load i64, ptr %p
  %q = getelementptr i64, ptr %behind, i64 %i
  %high = load i64, ptr %q
  %has_others = icmp ult i64 %after, %count
  br i1 %has_others, label %other, label %end
other:
  %j = phi i64 [ %after, %one ], [ %following, %other ]
  %met = phi i64 [ 0, %one ], [ %more, %other ]
  %r = getelementptr i64, ptr %first, i64 %j
  %begin = load i64, ptr %r
  %s = getelementptr i64, ptr %behind, i64 %j
  %stop = load i64, ptr %s
  %is_before = icmp ult i64 %low, %stop
  %is_after = icmp ult i64 %begin, %high
  %is_shared = and i1 %is_before, %is_after
  %shared = zext i1 %is_shared to i64
  %more = or i64 %met, %shared
  %following = add nuw i64 %j, 1
  %again = icmp ult i64 %following, %count
  br i1 %again, label %other, label %next
next:
  %bad = icmp ne i64 %more, 0
  br i1 %bad, label %shares, label %each
shares:
  ret i32 0
end:
  ret i32 1
}}
"""
