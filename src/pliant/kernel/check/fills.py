"""Fills that write where they read: the same question, about statements in loops of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import final

from pliant.core.data import frozen
from pliant.kernel.check.faults import fault, named, overlapping
from pliant.kernel.check.order import Level, access, comes_before
from pliant.kernel.ir import Buffer, Fill, Fold, Load, Loop, Region, Store, Var, root_of
from pliant.kernel.schedule import regions


@final
@frozen
class Statement:
    """A load or a store: its number in the text, the loops around it, and all loops it is in."""

    number: int
    scalar: Load | Store
    path: tuple[Var, ...]
    loops: tuple[Var, ...]


def check_fill(step: Fill) -> None:
    """Stores of a fill spare what it loads from its operands."""
    found = list(statements(step.body))
    stores = [s for s in found if isinstance(s.scalar, Store)]
    loads = dict[Buffer, list[Statement]]()
    for s in found:
        if isinstance(s.scalar, Load) and s.scalar.buffer is not step.out:
            loads.setdefault(s.scalar.buffer, []).append(s)
    for out, source in overlapping([step.out], loads):
        if root_of(out) is not root_of(source):
            raise fault(out, f"shares memory with {named(source)}, and LLVM is told that it does not")
        if any([_is_lost(store, load) for store in stores for load in loads[source]]):
            raise fault(out, f"overwrites elements of {named(source)} before they are read")


def loaded(step: Fill) -> set[Buffer]:
    """The operands that a fill loads."""
    found = {s.scalar.buffer for s in statements(step.body) if isinstance(s.scalar, Load)}
    return found - {step.out}


def _is_lost(store: Statement, load: Statement) -> bool:
    """Whether a store may come before a load of the same element."""
    common = list[Level]()
    for v, w in zip(store.path, load.path, strict=False):
        if v is not w:
            break
        common.append(Level(v, w))
    first, second = (
        access(s.scalar.buffer.offset, s.scalar.buffer.type.dtype, s.scalar.offset, s.loops) for s in (store, load)
    )
    return comes_before(first, second, common, same=store.number < load.number)


def statements(body: Region) -> Iterator[Statement]:
    """All loads and stores, numbered in the order of the text."""
    number = 0
    todo: list[tuple[Region, int, tuple[Var, ...], tuple[Var, ...]]] = [(body, 0, (), ())]
    while todo:
        region, at, path, loops = todo.pop()
        for place in range(at, len(region.body)):
            s = region.body[place]
            number += 1
            if isinstance(s, Load | Store):
                yield Statement(number, s, path, loops)
            inner = regions(s)
            if inner:
                todo.append((region, place + 1, path, loops))
                more = s.vars if isinstance(s, Loop | Fold) else ()
                deeper = (*path, *more) if isinstance(s, Loop) else path
                todo.extend([(part, 0, deeper, (*loops, *more)) for part in reversed(inner)])
                break
