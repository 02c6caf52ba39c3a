"""Steps that run for a block of rows at a time: no row touches what another one writes, and blocks keep to their room.

So every row might as well take all steps by itself, and what one step of a block leaves for the next can be looked at
as if there were one block.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import final

from pliant.core.data import frozen
from pliant.kernel.check.faults import fault, named
from pliant.kernel.check.fills import statements
from pliant.kernel.check.memory import region_of
from pliant.kernel.check.nests import running
from pliant.kernel.check.order import Access, Level, access, comes_before, limit_of
from pliant.kernel.ir import (
    Affine,
    Blocks,
    Buffer,
    Fill,
    Matrix,
    Product,
    Routine,
    RowStep,
    Store,
    Var,
    strides_of,
    writes,
)


@final
@frozen
class Touch:
    """A load or a store of a buffer; of the loops that it is in, `row` runs over rows."""

    buffer: Buffer
    offset: Affine
    row: Var
    loops: frozenset[Var]
    is_store: bool


def check_blocks(step: Blocks) -> None:
    """Rows are apart, but for what is private to a block, in whose room each row has its place."""
    found = dict[object, tuple[Touch, Access]]()  # what many steps touch alike is looked at once
    for touch in [touch for inner in step.steps for touch in _touches(inner, step)]:
        if touch.buffer in step.private:
            _check_private(touch, step)
        elif touch.offset.factor(step.first):
            raise fault(touch.buffer, "is looked for in the room of a block, but does not lie there")
        else:
            x = _by_row(touch, step)
            place = (x.start, x.width, x.factors[step.rows], x.others, x.is_known, x.fixed)
            found.setdefault((region_of(touch.buffer), touch.is_store, *place), (touch, x))
    shared = merged(found.values(), step.rows)
    rows = [Level(step.rows, step.rows)]
    for one, first in shared:
        for other, second in shared if one.is_store else ():
            if not region_of(one.buffer).overlaps(region_of(other.buffer)):
                continue
            if comes_before(first, second, rows, same=False) or comes_before(second, first, rows, same=False):
                what = "written" if other.is_store else "read"
                raise fault(one.buffer, f"is written in one row where {named(other.buffer)} is {what} in another")


def merged(found: Iterable[tuple[Touch, Access]], rows: Var) -> list[tuple[Touch, Access]]:
    """The same accesses, with those as one that lie side by side: what a row touches at known places. Two of these are
    apart in all rows if, and only if, all that they are made of are."""
    whole, parts = list[tuple[Touch, Access]](), dict[object, list[tuple[Touch, Access]]]()
    for touch, x in found:
        if x.others or x.fixed or x.ends or not x.is_known:
            whole.append((touch, x))
        else:
            key = region_of(touch.buffer), touch.is_store, x.factors[rows]
            parts.setdefault(key, []).append((touch, x))
    for group in parts.values():
        last = len(whole)
        for touch, x in sorted(group, key=lambda pair: pair[1].start):
            before = whole[-1][1] if len(whole) > last else None
            if before and x.start <= before.start + before.width:
                end = max(before.start + before.width, x.start + x.width)
                whole[-1] = whole[-1][0], replace(before, width=end - before.start)
            else:
                whole.append((touch, x))
    return whole


def _touches(step: RowStep, blocks: Blocks) -> Iterator[Touch]:
    """All loads and stores of a step."""
    if isinstance(step, Product):
        yield from _of_products(step, blocks)
        return
    if isinstance(step, Routine):
        yield from _of_routine(step, blocks)
        return
    if isinstance(step, Fill):
        for s in statements(step.body):
            yield Touch(
                s.scalar.buffer,
                s.scalar.offset,
                _row_of(s.path, step.out, blocks),
                frozenset(s.loops),
                isinstance(s.scalar, Store),
            )
        return
    if step.is_swept or step.delay or step.limits:
        raise fault(writes(step)[0], "is made in blocks, but the loops of its nest have an order")
    row = _row_of(step.vars, writes(step)[0], blocks)
    for x in running([step]):
        yield from [Touch(b, load.offset, row, x.loops, False) for b, loads in x.loads.items() for load in loads]
        for root in step.roots:
            if root.buffer is None or row in root.folded:
                raise fault(writes(step)[0], "is made in blocks of rows, but is a fold over them")
            yield Touch(root.buffer, root.offset, row, x.loops, True)


def _of_products(step: Product, blocks: Blocks) -> Iterator[Touch]:
    """What a stack of products touches: its first axis are the rows."""
    if step.batch[:1] != (blocks.rows.extent,):
        raise fault(step.out, "is made in blocks of rows, but is another number of products")
    inner = [Var(b) for b in step.batch[1:]]
    m, n, k = [Var(size) for size in step.sizes]
    product = Matrix(step.out, 0, tuple([s * m.extent * n.extent for s in strides_of(step.batch)]), n.extent, 1)
    for matrix, row, column in ((step.left, m, k), (step.right, k, n), (product, m, n)):
        terms = [*zip((blocks.rows, *inner), matrix.batch, strict=True), (row, matrix.row), (column, matrix.column)]
        if matrix.buffer in blocks.private:
            terms.append((blocks.first, -matrix.batch[0]))
        loops = frozenset([blocks.rows, *inner, row, column])
        yield Touch(matrix.buffer, Affine(matrix.offset, tuple(terms)), blocks.rows, loops, matrix is product)


def _of_routine(step: Routine, blocks: Blocks) -> Iterator[Touch]:
    """What is computed matrix by matrix touches: all of a row of each array."""
    for buffer in (*step.args, *step.outs):
        count = blocks.size if buffer in blocks.private else blocks.rows.extent
        length, rest = divmod(buffer.type.size, count)
        if rest or step.stack[:1] != (blocks.rows.extent,):
            raise fault(buffer, "is made in blocks of rows, but has another number of rows")
        inner = Var(length)
        terms = [(blocks.rows, length), (inner, 1)]
        if buffer in blocks.private:
            terms.append((blocks.first, -length))
        loops = frozenset([blocks.rows, inner])
        yield Touch(buffer, Affine(0, tuple(terms)), blocks.rows, loops, buffer in step.outs)


def _row_of(loops: Iterable[Var], made: Buffer, blocks: Blocks) -> Var:
    """The one of some loops that runs over rows, each of them so many times."""
    found = [v for v in loops if v in blocks.loops and v.extent % blocks.rows.extent == 0]
    if len(found) != 1:
        raise fault(made, "is made in blocks of rows, but not by a loop over them")
    return found[0]


def _by_row(touch: Touch, step: Blocks) -> Access:
    """What is touched in terms of rows."""
    x = access(touch.buffer.offset, touch.buffer.type.dtype, touch.offset, touch.loops)
    factor, times = x.factors.get(touch.row, 0), touch.row.extent // step.rows.extent
    inner = [(f, v.extent - 1) for v, f in x.factors.items() if v is not touch.row]
    others = [(f, n) for f, n in (*x.others, *inner, (factor, times - 1)) if f and n]
    return replace(x, factors={step.rows: factor * times}, others=(*sorted(others),))


def _check_private(touch: Touch, step: Blocks) -> None:
    """What is private to a block is touched in the room, at the place of the row."""
    buffer, offset, times = touch.buffer, touch.offset, touch.row.extent // step.rows.extent
    length, rest = divmod(buffer.type.size, step.size)
    factor, room, own = offset.factor(touch.row), region_of(step.room), region_of(buffer)
    terms = [(a, f) for a, f in offset.terms if a is not touch.row and (not isinstance(a, Var) or a in touch.loops)]
    limits = {a: limit_of(a) for a, _ in terms if not isinstance(a, Var)}
    span = Affine(offset.start, tuple(terms)).range({a: (0, limit) for a, limit in limits.items() if limit is not None})
    is_there = own.slot == room.slot and room.low <= own.low and own.high <= room.high
    is_row = not rest and factor * times == length == -offset.factor(step.first)
    if not (is_there and is_row and span and span[0] >= 0 and span[1] + factor * (times - 1) < length):
        raise fault(buffer, "is private to a block of rows, but is not touched at the place of a row in its room")
