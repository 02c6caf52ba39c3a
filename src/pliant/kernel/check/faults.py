"""What the verifier says, and which arrays of one step lie in each other's memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pliant.core.ir import Param
from pliant.errors import VerifyError
from pliant.kernel.check.memory import Region, region_of
from pliant.kernel.ir import Buffer


def fault(buffer: Buffer, text: str) -> VerifyError:
    """A fault of the plan about an array, with the line that makes it."""
    found = VerifyError(f"memory plan: {named(buffer)} {text}")
    return found.at(("made here", buffer.value.origin)) if buffer.value else found


def named(buffer: Buffer) -> str:
    """An array in words."""
    if buffer.value is None:
        return f"scratch memory of {buffer.type.bytes} bytes"
    op = buffer.value.op
    return f"{getattr(op, 'hint', '') if isinstance(op, Param) else op.name}: {buffer.type}"


def overlapping(written: Iterable[Buffer], read: Iterable[Buffer]) -> Iterator[tuple[Buffer, Buffer]]:
    """(written, read) buffers with bytes in common. Two that are written must have none."""
    places = [(region_of(b), b, True) for b in dict.fromkeys(written)]
    places += [(region_of(b), b, False) for b in dict.fromkeys(read)]
    places.sort(key=lambda place: (place[0].slot, place[0].low))
    open_ones = list[tuple[Region, Buffer, bool]]()
    for region, buffer, is_written in places:
        open_ones = [other for other in open_ones if other[0].overlaps(region)]
        for _, other, other_is_written in open_ones:
            if other is buffer or not (is_written or other_is_written) or not region.high - region.low:
                continue
            if is_written and other_is_written:
                raise fault(buffer, f"and {named(other)} are written to the same memory by one step")
            yield (buffer, other) if is_written else (other, buffer)
        open_ones.append((region, buffer, is_written))


def apart(written: Iterable[Buffer], read: Iterable[Buffer], why: str) -> None:
    """Nothing that is written lies where something is read."""
    for out, source in overlapping(written, read):
        raise fault(out, f"lies in the memory of {named(source)}, {why}")
