"""Loops that update places chosen at run time, `x[i] = f(x[i])`, and may name the same place many times in a row.

Processors take five times as long to read a float that they have just written as to add to it. So where places are
often named again, as if they are sorted, what a step leaves also stays in a register for the next one:

    if nearly all of some pairs of steps name one place:
        for each step:
            at = if the place is the one of the step before: memory that nobody writes; else the place in x
            old = if it is: what that step has left; else what lies there
            x[place] = left = f(old)
    else:
        the loop as usual, of which a processor works on several steps at a time

The numbers are the same. No step takes a branch, as a processor might foresee the wrong one.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING, Final

from pliant.backends.llvm.values import Val
from pliant.core.data import frozen
from pliant.core.types import Type
from pliant.kernel.ir import Affine, Load, Loop, Scalar, Store, Var, root_of
from pliant.kernel.schedule import depth_of, regions

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter

ROW: Final = 3
"""Numbers from the first to the last one of a row at a place: of a longer row, the first has been written long before
the next step reads it."""
PAIRS: Final = 16
"""Steps that are looked at, spread over the loop, each with the one after it."""
OTHERS: Final = 1
"""Of them, those at most that name another place than the one after: if more do, both ways take about as long."""
LEAST: Final = 32 * PAIRS
"""Steps of a loop that is worth a look."""


@frozen
class Update:
    """Steps, each of which updates a row of elements at a place, by this load and this store."""

    steps: tuple[Var, ...]
    row: tuple[Var, ...]
    load: Load
    store: Store

    @property
    def place(self) -> Affine:
        """Where the row begins."""
        offset = self.store.offset
        return Affine(offset.start, tuple([(atom, f) for atom, f in offset.terms if atom not in self.row]))

    @property
    def within(self) -> Affine:
        """How far from there an element lies."""
        return Affine(0, tuple([(atom, f) for atom, f in self.store.offset.terms if atom in self.row]))


def update_of(loop: Loop) -> Update | None:
    """How a loop updates places, if it is one that does; it has all its steps, as some of them are looked at."""
    body = loop.body.body
    stores = [s for s in body if isinstance(s, Store)]
    loads = [s for s in body if isinstance(s, Load) and s.ordered]
    if len(stores) != 1 or len(loads) != 1 or any(loop.limits) or any([regions(s) for s in body]):
        return None
    (load,), (store,) = loads, stores
    if load.buffer is not store.buffer or load.offset != store.offset or load.dtype[0] not in "fc":
        return None
    depths, places = dict[Scalar, int](), {v: n + 1 for n, v in enumerate(loop.vars)}
    for s in body:
        depths[s] = depth_of(s, depths, places, ())
    depth = max([depths[atom] for atom, _ in store.offset.terms if atom in depths], default=0)
    found = Update(loop.vars[:depth], loop.vars[depth:], load, store)
    strides = [(store.offset.factor(v), v.extent - 1) for v in found.row if v.extent > 1]
    length = (1 + sum([f * last for f, last in strides])) * (2 if load.dtype[0] == "c" else 1)
    is_short = all([f > 0 for f, _ in strides]) and length <= ROW
    return found if depth and is_short and found.steps[-1].extent >= LEAST else None


def emit_update(e: Emitter, loop: Loop, update: Update) -> None:
    """Such a loop."""
    is_often = names_again(e, loop, update)
    e.unless(is_often, lambda: e.nested(loop.vars, lambda: e.region(loop.body)))
    e.unless(e.op(f"xor i1 {is_often}, true"), lambda: emit_kept(e, loop, update))


def names_again(e: Emitter, loop: Loop, update: Update) -> str:
    """Whether nearly all of some steps name the place of the one after, in the first row of the loops around."""
    needed = set[Scalar]([atom for atom, _ in update.place.terms if not isinstance(atom, Var)])
    for s in reversed(loop.body.body):
        if s in needed:
            needed |= {*s.operands(), *[a for i in s.indices() for a, _ in i.terms if not isinstance(a, Var)]}
    inner, pair, count = update.steps[-1], Var(PAIRS), e.alloca("i64")

    def place(step: str) -> str:
        e.env[inner] = step
        for s in loop.body.body:
            if s in needed:
                e.scalar(s)
        found = e.affine(update.place)
        del e.env[inner]
        return found

    def look() -> None:
        step = e.op(f"mul nuw nsw i64 {e.env[pair]}, {(inner.extent - 2) // (PAIRS - 1)}")
        is_same = e.op(f"icmp eq i64 {place(step)}, {place(e.op(f'add nuw nsw i64 {step}, 1'))}")
        so_far = e.op(f"load i64, ptr {count}")
        one = e.op(f"zext i1 {is_same} to i64")
        e.line(f"store i64 {e.op(f'add i64 {so_far}, {one}')}, ptr {count}")

    e.line(f"store i64 0, ptr {count}")
    e.loop(pair, look)  # the loops around have no step yet, which counts as the first
    return e.op(f"icmp uge i64 {e.op(f'load i64, ptr {count}')}, {PAIRS - OTHERS}")


def emit_kept(e: Emitter, loop: Loop, update: Update) -> None:
    """The loop, where what a step leaves stays at hand."""
    x, dtype, row = update.store.buffer, update.load.dtype, [v for v in update.row if v.extent > 1]
    last, left, elsewhere = e.alloca("i64"), e.local(dtype, ROW), e.local(dtype, ROW)
    at = e.memory_at(Type(dtype, (ROW,)), "")  # at each step either `elsewhere` or a place in x
    e.written[at] = e.written.get(root_of(x), "")
    e.line(f"store i64 -1, ptr {last}")
    e.line(f"store [{elsewhere.type.bytes} x i8] zeroinitializer, ptr {e.base(elsewhere)}")

    def read() -> Val:
        is_same = e.op(f"icmp eq i64 {e.affine(update.place)}, {e.op(f'load i64, ptr {last}')}")
        there = e.address(x, update.place)
        e.bases[at.slot, at.offset] = e.op(f"select i1 {is_same}, ptr {e.base(elsewhere)}, ptr {there}")
        return e.select(is_same, dtype, e.load(left, update.within), e.load(at, update.within))

    def step() -> None:
        for places in product(*[range(v.extent) for v in row]):
            e.env.update({v: str(n) for v, n in zip(row, places, strict=True)})
            element(e, loop, update, read)
            e.store(left, update.within, e.value(update.store.scalar))
        e.line(f"store i64 {e.affine(update.place)}, ptr {last}")
        for v in row:
            del e.env[v]

    e.nested(update.steps, step)


def element(e: Emitter, loop: Loop, update: Update, read: Callable[[], Val]) -> None:
    """The body of a loop, for one element."""
    for s in loop.body.body:
        if s is update.load:
            e.values[s] = read()
        else:
            e.scalar(s)
