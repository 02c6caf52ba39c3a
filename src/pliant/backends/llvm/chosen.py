"""Where masks hold, as LLVM text: each place is written, and the next one over it unless the mask holds there.

Where there is an instruction for it, eight places go at a time: those where the mask holds are moved to the beginning
of a vector, which is written whole. There are never more of them than places before, so that a vector ends where it was
read at the latest. AVX-512 moves the places themselves; `pext`, which takes the bits of one number where those of
another are set, moves their numbers in the eight, a byte each.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from pliant.backends.llvm.jit import host_target
from pliant.core.ir import Op
from pliant.core.types import Type
from pliant.kernel.ir import Affine, Routine, Var
from pliant.ops.positions import Positions

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter

FEWEST: Final = 32
"""Places of a row of fewer are found among other steps."""
WIDTH: Final = 64
"""Bytes of the vectors that have an instruction for this."""
SLOW: Final = ("znver1", "znver2", "bdver4")
"""Processors whose `pext` takes hundreds of cycles."""
PACK: Final = "llvm.experimental.vector.compress.v8i64"
TAKE: Final = "llvm.x86.bmi.pext.64"


def has(op: Op, types: tuple[Type, ...]) -> bool:
    """Whether a primitive finds where masks hold in rows that are long enough."""
    return isinstance(op, Positions) and types[0].shape[-1] >= FEWEST


def emit_positions(e: Emitter, step: Routine) -> None:
    """One call for each row."""
    (mask,), (out,) = step.args, step.outs
    length, row = mask.type.shape[-1], Var(math.prod(mask.type.shape[:-1]))
    loop, declared = first_loop(is_wide=WIDTH in e.module.widths)
    e.begin_step([out])
    name = e.module.helper("positions", lambda name: TEXT.format(name=name, vectors=loop))
    e.module.declared |= declared
    place = Affine(0, ((row, length),))

    def call() -> None:
        e.call_for_effect(f"void {name}(ptr {e.address(mask, place)}, ptr {e.address(out, place)}, i64 {length})")

    e.nested((row,), call)
    e.end_step()


def first_loop(*, is_wide: bool) -> tuple[str, dict[str, str]]:
    """The loop over several places at a time, and what it calls. is_wide: whether vectors have 64 bytes."""
    if is_wide:
        declared = f"declare <8 x i64> @{PACK}(<8 x i64>, <8 x i1>, <8 x i64>)"
        return VECTORS.format(packed=MOVED), {PACK: declared}
    target = host_target()
    if target.has >= {"bmi2", "avx2"} and target.cpu not in SLOW:
        return VECTORS.format(packed=TAKEN), {TAKE: f"declare i64 @{TAKE}(i64, i64)"}
    return ONE_BY_ONE, {}


TEXT: Final = """define internal void @{name}(ptr noalias %mask, ptr noalias %out, i64 %n) #0 {{
start:
{vectors}
rest:
  %i = phi i64 [ %first, %begin ], [ %i.next, %place ]
  %k = phi i64 [ %found, %begin ], [ %k.next, %place ]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %place, label %end

place:
  %to = getelementptr i64, ptr %out, i64 %k
  store i64 %i, ptr %to
  %from = getelementptr i8, ptr %mask, i64 %i
  %flag = load i8, ptr %from
  %holds = icmp ne i8 %flag, 0
  %one = zext i1 %holds to i64
  %k.next = add i64 %k, %one
  %i.next = add i64 %i, 1
  br label %rest

end:
  %behind = getelementptr i64, ptr %out, i64 %k
  %left = sub i64 %n, %k
  %bytes = shl i64 %left, 3
  call void @llvm.memset.p0.i64(ptr %behind, i8 0, i64 %bytes, i1 false)
  ret void
}}
"""
FIRST, STEPS = (f"<{', '.join([f'i64 {n}' for n in row])}>" for row in (range(8), [8] * 8))
ONE_BY_ONE: Final = """  br label %begin

begin:
  %first = phi i64 [ 0, %start ]
  %found = phi i64 [ 0, %start ]
  br label %rest
"""
MOVED: Final = f"""  %packed = call <8 x i64> @{PACK}(<8 x i64> %places, <8 x i1> %are, <8 x i64> poison)"""
TAKEN: Final = f"""  %whole = sext <8 x i1> %are to <8 x i8>
  %wanted = bitcast <8 x i8> %whole to i64
  %taken = call i64 @{TAKE}(i64 {int.from_bytes(range(8), "little")}, i64 %wanted)
  %numbers = bitcast i64 %taken to <8 x i8>
  %wide = zext <8 x i8> %numbers to <8 x i64>
  %here = insertelement <8 x i64> poison, i64 %v, i64 0
  %everywhere = shufflevector <8 x i64> %here, <8 x i64> poison, <8 x i32> zeroinitializer
  %packed = add <8 x i64> %wide, %everywhere"""
VECTORS: Final = f"""  %full = and i64 %n, -8
  br label %vectors

vectors:
  %v = phi i64 [ 0, %start ], [ %v.next, %vector ]
  %c = phi i64 [ 0, %start ], [ %c.next, %vector ]
  %places = phi <8 x i64> [ {FIRST}, %start ], [ %places.next, %vector ]
  %v.more = icmp ult i64 %v, %full
  br i1 %v.more, label %vector, label %begin

vector:
  %v.from = getelementptr i8, ptr %mask, i64 %v
  %flags = load <8 x i8>, ptr %v.from, align 1
  %are = icmp ne <8 x i8> %flags, zeroinitializer
{{packed}}
  %v.to = getelementptr i64, ptr %out, i64 %c
  store <8 x i64> %packed, ptr %v.to, align 8
  %bits = bitcast <8 x i1> %are to i8
  %ones = call i8 @llvm.ctpop.i8(i8 %bits)
  %some = zext i8 %ones to i64
  %c.next = add i64 %c, %some
  %places.next = add <8 x i64> %places, {STEPS}
  %v.next = add i64 %v, 8
  br label %vectors

begin:
  %first = phi i64 [ %v, %vectors ]
  %found = phi i64 [ %c, %vectors ]
  br label %rest
"""
