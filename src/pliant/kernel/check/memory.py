"""What lies in memory: for every byte of every piece, the array that it holds a byte of."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, final

from pliant.kernel.ir import Buffer


@final
@dataclass(frozen=True, slots=True)
class Region:
    """Bytes `low` to `high` of the memory that an entry of the pointer table leads to."""

    slot: int
    low: int
    high: int

    def overlaps(self, other: Region) -> bool:
        """Whether they have a byte in common; different entries lead to different memory."""
        return self.slot == other.slot and self.low < other.high and other.low < self.high


def region_of(buffer: Buffer) -> Region:
    """Where a buffer lies."""
    return Region(buffer.slot, buffer.offset, buffer.offset + buffer.type.bytes)


class Held(NamedTuple):
    """Bytes from `low` to `high`, of an array that begins at `start`."""

    low: int
    high: int
    content: Buffer
    start: int


Pieces: TypeAlias = dict[int, list[Held]]


@final
class Memory:
    """The state of all memory at one point of a program. What no array has been written to is unknown."""

    def __init__(self) -> None:
        self.pieces: Pieces = {}

    def write(self, region: Region, content: Buffer | None) -> None:
        """Put a whole array there; None: nothing that anybody may read."""
        if region.low == region.high:
            return
        held = self.pieces.setdefault(region.slot, [])
        first, end = _touched(held, region)
        kept = list[Held]()
        for part in held[first:end]:
            if part.low < region.low:
                kept.append(part._replace(high=region.low))
            if part.high > region.high:
                kept.append(part._replace(low=region.high))
        if content:
            kept.append(Held(region.low, region.high, content, region.low))
            kept.sort()
        held[first:end] = kept

    def content(self, region: Region) -> Buffer | None:
        """The array that begins where a region does and reaches to its end; None if that is not one array."""
        held = self.pieces.get(region.slot, [])
        first, end = _touched(held, region)
        parts = held[first:end]
        if not parts or parts[0].low > region.low or parts[-1].high < region.high:
            return None
        content = parts[0].content
        at = parts[0].low
        for part in parts:
            if part.content is not content or part.start != region.low or part.low != at:
                return None
            at = part.high
        return content


def _touched(held: list[Held], region: Region) -> tuple[int, int]:
    """The range of sorted, disjoint parts that a region overlaps."""
    first = bisect_right(held, region.low, key=_low)
    if first and held[first - 1].high > region.low:
        first -= 1
    end = first
    while end < len(held) and held[end].low < region.high:
        end += 1
    return first, end


def _low(part: Held) -> int:
    return part.low
