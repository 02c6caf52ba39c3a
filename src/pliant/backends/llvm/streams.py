"""Large results are written past the caches: a piece is computed in local memory, and moved from there by whole lines.

A processor reads a line of cache before it writes a part of it, unless it is told that all of it is written, and need
not stay at hand. LLVM tells so for vectors that are aligned, which those of a loop are not known to be.

    for each piece of the innermost loop, which ends where a line of the result ends:
        compute it in local memory
        move it: whole lines past the caches, what is left at both ends as usual

Only for results that do not fit into the caches, or not beside the other arrays of the program, and that the program
does not read: what is in a cache is written faster there, and what is read soon is better left there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from pliant.backends.llvm.values import llvm_type
from pliant.core.types import REAL_OF, itemsize
from pliant.kernel.ir import Affine, Buffer, Nest, Program, Root, Var, root_of

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter
    from pliant.backends.llvm.prefetch import Prefetch

LARGE: Final = 1 << 25
"""Bytes of a result from which on it is written past the caches."""
LEAST: Final = LARGE // 4
"""The same where all arguments and results together are larger than the last cache."""
LINE: Final = 64
"""Bytes of a line of cache."""
PIECE: Final = 8 * LINE
"""Bytes of a piece: some vectors, which stay in registers."""
ROW: Final = 2048
"""Bytes that an innermost loop writes at least: of less, too few lines are whole."""

Edges: TypeAlias = tuple[str, str]
"""The first step of a loop, and the one after the last."""
Held: TypeAlias = Mapping[Root, tuple[Buffer, Affine]]
"""Where roots wait."""


def past_caches(program: Program, features: set[str]) -> frozenset[Buffer]:
    """Large results that no step reads. features: of the processor, one of x86."""
    if "sse2" not in features:
        return frozenset()
    read = {root_of(b) for step in program.steps for b in step.reads}
    touched = sum([b.type.bytes for b in {*map(root_of, (*program.params, *program.results))}])
    least = LEAST if 0 < last_cache() < touched else LARGE
    return frozenset([root_of(b) for b in program.results if b.type.bytes >= least]) - read


def request(address: str, *, cache: int = 1, writes: bool = False) -> str:
    """The call that asks for the line of cache at an address. cache: the first that is to hold it, 1 or 2."""
    return f"void @llvm.prefetch.p0(ptr {address}, i32 {int(writes)}, i32 {4 - cache}, i32 1)"


@lru_cache
def last_cache() -> int:
    """The bytes of the third cache, which cores share; 0 if the system does not tell."""
    try:
        text = Path("/sys/devices/system/cpu/cpu0/cache/index3/size").read_text().strip()
    except OSError:
        return 0
    return int(text[:-1]) << 10 if text.endswith("K") and text[:-1].isdecimal() else 0


def streamed(e: Emitter, nest: Nest) -> list[Root]:
    """The roots of a nest that are written past the caches."""
    if not nest.vars or nest.is_swept or nest.limits or nest.delay or any([root.fold for root in nest.roots]):
        return []
    inner = nest.vars[-1]
    return [
        root
        for root in nest.roots
        if root.buffer
        and root_of(root.buffer) in e.module.past_caches
        and inner not in nest.backward
        and root.offset.factor(inner) == 1
        and inner.extent * itemsize(root.buffer.type.dtype) >= ROW
        and root.offset.is_of_loops
    ]


def emit_pieces(
    e: Emitter,
    loop: Var,
    roots: Sequence[Root],
    body: Callable[[Held], None],
    bounds: Edges | None,
    prefetch: Prefetch | None,
) -> None:
    """The steps of a loop, in pieces. body: what a step computes, given where roots wait. prefetch: what is asked
    for before it is read."""
    begin, end = bounds or e.part.get(loop, ("0", str(loop.extent)))
    size = PIECE // min([_item(root) for root in roots])
    first = aligned_step(e, loop, roots, begin, end)
    count = e.op(f"udiv i64 {e.op(f'sub nuw nsw i64 {end}, {first}')}, {size}")
    last = e.op(f"add nuw nsw i64 {first}, {e.op(f'mul nuw nsw i64 {count}, {size}')}")
    side, number, step = Var(2), Var(2), Var(size)

    def edge() -> None:
        is_left = e.op(f"icmp eq i64 {e.env[side]}, 0")
        start = e.op(f"select i1 {is_left}, i64 {begin}, i64 {last}")
        stop = e.op(f"select i1 {is_left}, i64 {first}, i64 {end}")
        e.unless(e.op(f"icmp uge i64 {start}, {stop}"), lambda: e.loop(loop, lambda: body({}), (start, stop)))

    def piece() -> None:
        at = e.op(f"add nuw nsw i64 {first}, {e.op(f'mul nuw nsw i64 {e.env[number]}, {size}')}")
        if prefetch:
            prefetch.ask(e, at, size)
        wish = e.module.in_lanes(e.lanes) if e.lanes else e.module.at_once(e.vectors if e.costly else PIECE // LINE)
        steps_from(e, loop, at, step, lambda: body(held), wish)
        for root, (buffer, _) in held.items():
            move(e, address_at(e, loop, root, at), buffer)

    e.loop(side, edge, ("0", "2"), wish=e.module.not_unrolled())
    held = {root: (e.local(root.value.dtype, size, LINE), Affine(0, ((step, 1),))) for root in roots}
    none = e.op(f"icmp eq i64 {count}, 0")
    e.unless(none, lambda: e.loop(number, piece, ("0", count), wish=e.module.not_unrolled()))
    e.is_past_caches = True


def steps_from(e: Emitter, loop: Var, first: str, step: Var, body: Callable[[], None], wish: str = "") -> None:
    """Some steps of a loop, as many as `step` has, from the first on. wish: metadata."""

    def one() -> None:
        e.env[loop] = e.op(f"add nuw nsw i64 {first}, {e.env[step]}")
        body()
        del e.env[loop]

    e.loop(step, one, wish=wish)


def aligned_step(e: Emitter, loop: Var, roots: Sequence[Root], begin: str, end: str) -> str:
    """The first step at which all roots write the beginning of a line of cache; the end if there is none."""
    item = _item(roots[0])
    addresses = [e.op(f"ptrtoint ptr {address_at(e, loop, root, begin)} to i64") for root in roots]
    left = e.op(f"and i64 {e.op(f'sub i64 0, {addresses[0]}')}, {LINE - 1}")
    steps = e.op(f"udiv i64 {left}, {item}")
    away = "0"
    for address, root in zip(addresses, roots, strict=True):
        moved = e.op(f"add i64 {address}, {e.op(f'mul i64 {steps}, {_item(root)}')}")
        away = e.op(f"or i64 {away}, {moved}")
    is_whole = e.op(f"icmp eq i64 {e.op(f'and i64 {away}, {LINE - 1}')}, 0")
    step = e.op(f"call i64 @llvm.umin.i64(i64 {e.op(f'add nuw nsw i64 {begin}, {steps}')}, i64 {end})")
    return e.op(f"select i1 {is_whole}, i64 {step}, i64 {end}")


def line_before(e: Emitter, loop: Var, roots: Sequence[Root], step: str) -> str:
    """The step, perhaps before this one, from which on the first of some roots writes a line of cache."""
    item = _item(roots[0])
    address = e.op(f"ptrtoint ptr {address_at(e, loop, roots[0], step)} to i64")
    before = e.op(f"and i64 {e.op(f'udiv i64 {address}, {item}')}, {LINE // item - 1}")
    return e.op(f"sub nsw i64 {step}, {before}")


def address_at(e: Emitter, loop: Var, root: Root, step: str) -> str:
    """Where a root lies at a step of a loop."""
    assert root.buffer
    e.env[loop] = step
    address = e.address(root.buffer, root.offset)
    del e.env[loop]
    return address


def move(e: Emitter, target: str, piece: Buffer) -> None:
    """Write a piece past the caches."""
    mark, dtype = e.module.tuple_of(["i32 1"]), piece.type.dtype
    kind = "i8" if dtype == "bool" else llvm_type(dtype)
    vector = f"<{LINE // itemsize(REAL_OF.get(dtype, dtype))} x {kind}>"
    for at in range(0, piece.type.bytes, LINE):
        source = e.op(f"getelementptr i8, ptr {e.base(piece)}, i64 {at}")
        line = e.op(f"load {vector}, ptr {source}, align {LINE}")
        place = e.op(f"getelementptr i8, ptr {target}, i64 {at}")
        e.line(f"store {vector} {line}, ptr {place}, align {LINE}, !nontemporal {mark}")


def settle(e: Emitter) -> None:
    """Let what was written past the caches be seen before what is written from now on."""
    if e.is_past_caches:
        e.call_for_effect("void @llvm.x86.sse.sfence()")
    e.is_past_caches = False


def _item(root: Root) -> int:
    assert root.buffer
    return itemsize(root.buffer.type.dtype)
