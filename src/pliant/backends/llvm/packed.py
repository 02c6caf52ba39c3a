"""Vectors whose wanted elements are moved to their beginning, as LLVM text: by a permutation that a table has for each
set of lanes.

Processors of x86 with vectors of 32 bytes have such permutations of 4 bytes each; with AVX-512 as well as without.
"""

from __future__ import annotations

from typing import Final

WIDTH: Final = 32
"""Bytes of a vector."""
PARTS: Final = 8
"""Parts of four bytes of a vector, which are what is moved."""
PERMUTE: Final = "@llvm.x86.avx2.permd"
DECLARED: Final = {PERMUTE[1:]: f"declare <8 x i32> {PERMUTE}(<8 x i32>, <8 x i32>)"}


def lanes_of(size: int) -> int:
    """How many elements of so many bytes, 4 or 8, a vector has."""
    return WIDTH // size


def table_of(size: int) -> str:
    """A constant: for each set of lanes where the parts of a vector come from that has these lanes first, then all
    others; each in their order."""
    lanes, parts = lanes_of(size), size // 4
    rows = list[str]()
    for wanted in range(1 << lanes):
        order = sorted(range(lanes), key=lambda lane: not wanted >> lane & 1)
        places = [lane * parts + part for lane in order for part in range(parts)]
        rows.append(f"[8 x i8] [{', '.join([f'i8 {place}' for place in places])}]")
    return f"[{1 << lanes} x [8 x i8]] [{', '.join(rows)}]"


def pack(name: str, table: str, vector: str, mask: str) -> str:
    """The instructions that make `%name`, the parts of a vector with the lanes of a mask first, and then the others.
    table: the address of the table; vector: the parts, eight numbers of four bytes; mask: the lanes as bits of an i64.
    """
    return f"""  %{name}.row = getelementptr [8 x i8], ptr {table}, i64 {mask}
  %{name}.bytes = load <8 x i8>, ptr %{name}.row, align 1
  %{name}.places = zext <8 x i8> %{name}.bytes to <8 x i32>
  %{name} = call <8 x i32> {PERMUTE}(<8 x i32> {vector}, <8 x i32> %{name}.places)"""
