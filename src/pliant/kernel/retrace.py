"""Where the parts of a row of a tape lie."""

from __future__ import annotations

from typing import Final

from pliant.kernel.ir import Buffer

WORD: Final = 8  # bytes; what is saved begins at a multiple of them


def row_of(saved: tuple[Buffer, ...]) -> tuple[list[int], int]:
    """Where in a row of the tape each saved value begins, after the address of the row before; and the bytes of a
    row, none if nothing is saved."""
    starts, end = list[int](), WORD
    for buffer in saved:
        starts.append(end)
        end += -(-buffer.type.bytes // WORD) * WORD
    return starts, end if end > WORD else 0
