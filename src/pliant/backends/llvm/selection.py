"""Selection: rows of which some places are as in a sorted row, smaller elements before them and greater ones after.

Two elements of a sorted sample bracket the wanted places. Each element goes, without a branch, to the left, to the
right, or to a room for those between, among which the same is done until they are few, and sorted, or all are equal.
Where a sample misleads, what is left is sorted. NaN goes to the right. Source: Floyd and Rivest 1975, Algorithm 489.

Of values that a processor can move in vectors, several go at a time: a vector is written to each of the three places,
with the elements that belong there first, or last if it is the right one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from pliant.backends.llvm.packed import DECLARED, WIDTH, lanes_of, pack, table_of
from pliant.backends.llvm.radix import MEMORY
from pliant.backends.llvm.values import literal, llvm_type
from pliant.core.ir import Op
from pliant.core.types import Type, itemsize
from pliant.kernel.identities import limits_of
from pliant.kernel.ir import Affine, Routine, Var
from pliant.ops.sort import Argpartition, Partition

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter

DTYPES: Final = ("f32", "f64", "i32", "i64", "u32", "u64")
COMPARISONS: Final = {
    "f": ("fcmp olt", "fcmp ole"), "i": ("icmp slt", "icmp sle"), "u": ("icmp ult", "icmp ule")
}  # fmt: skip
EQUAL: Final = {"f": "fcmp oeq", "i": "icmp eq", "u": "icmp eq"}
FEWEST: Final = 512
"""Elements that are sorted as quickly."""
WIDEST: Final = 8
"""Rows with more wanted places than this share of them are sorted as quickly."""


def has(op: Op, types: tuple[Type, ...]) -> bool:
    """Whether a primitive selects in rows that are long enough."""
    if not isinstance(op, Partition | Argpartition) or op.axis != types[0].rank - 1 or types[0].dtype not in DTYPES:
        return False
    n = types[0].shape[-1]
    return n >= FEWEST and (op.last - op.first) * WIDEST < n


def emit_selection(e: Emitter, step: Routine, sort: str, order: str) -> None:
    """One call for each row. sort, order: the functions that sort and that order."""
    (x,), (out,), op = step.args, step.outs, step.node.op
    assert isinstance(op, Partition | Argpartition)
    e.begin_step([out])
    dtype, length = x.type.dtype, x.type.shape[-1]
    row = Var(math.prod(x.type.shape[:-1]))
    place = Affine(0, ((row, length),))
    if isinstance(op, Partition):
        table = e.module.constant(table_of(itemsize(dtype))) if WIDTH in e.module.widths else ""
        e.module.declared |= DECLARED if table else {}
        name = e.module.helper(f"select_{dtype}", lambda name: text_of(name, dtype, sort, table=table))
    else:
        name = e.module.helper(f"select_order_{dtype}", lambda name: text_of(name, dtype, sort, order))
    e.module.declared |= MEMORY

    def call() -> None:
        places = [f"ptr {e.address(b, place)}" for b in (x, out)]
        e.call_for_effect(f"void {name}({', '.join(places)}, i64 {length}, i64 {op.first}, i64 {op.last})")

    e.nested((row,), call)
    e.end_step()


def text_of(name: str, dtype: str, sort: str, order: str = "", table: str = "") -> str:
    """The function that selects in a row of a dtype, or, with one that orders, of the indices of its elements. table:
    the one that packs vectors of the dtype, if there are any."""
    is_order = bool(order)
    less, most = COMPARISONS[dtype[0]]
    lowest, highest = [literal(end, dtype) for end in limits_of(dtype)]
    t, size, moved = llvm_type(dtype), itemsize(dtype), 8 if is_order else itemsize(dtype)
    fields = {
        "name": name,
        "t": t,
        "m": "i64" if is_order else t,
        "size": size,
        "both": moved + size,
        "moved": moved,
        "equal": EQUAL[dtype[0]],
        "sort": sort,
        "order": order,
    }
    begin, ends = (BEGIN_ORDER, ENDS_ORDER) if is_order else (BEGIN, ENDS)
    text = TEXT.format(
        **fields, less=less, most=most, lowest=lowest, highest=highest, fewest=FEWEST,
        begin=begin.format(**fields), ends=ends.format(**fields),
        source="%between" if is_order else "%x", seen=value_of("%seen", "%drawn.item", t, is_order=is_order),
        v=value_of("%v", "%item", t, is_order=is_order),
        vectors=vectors_of(dtype, table) if table else "  br label %part\n", before="vectors" if table else "bracket",
        i="%vector.next" if table else "0", left="%vector.left.next" if table else "0",
        right="%vector.right.next" if table else "0",
    )  # fmt: skip
    return text + COUNT.format(**fields) if is_order else text


def value_of(made: str, item: str, t: str, *, is_order: bool) -> str:
    """The value of what moves: itself, or where it says."""
    if not is_order:
        return f"{made} = select i1 true, {t} {item}, {t} {item}"
    return f"{made}.at = getelementptr {t}, ptr %x, i64 {item}\n  {made} = load {t}, ptr {made}.at"


def vectors_of(dtype: str, table: str) -> str:
    """The loop over vectors. What is left is at least one of them, whose elements are taken one by one: as many again
    must be free between the left and the right, for neither to be written over."""
    (less, most), t, size = COMPARISONS[dtype[0]], llvm_type(dtype), itemsize(dtype)
    lanes, address = lanes_of(size), table.removeprefix("ptr ")
    sides = {"left": "%less.mask", "right": "%most.mask", "kept": "%kept.mask"}
    packed = [pack(f"packed.{name}", address, "%parts", mask) for name, mask in sides.items()]
    return VECTORS.format(
        t=t, v=f"<{lanes} x {t}>", flags=f"<{lanes} x i1>", bits=f"i{lanes}", lanes=lanes, size=size, less=less,
        most=most, both=2 * lanes, packed="\n".join(packed), places=f"<{lanes} x i32> zeroinitializer",
    )  # fmt: skip


VECTORS: Final = """  %low.one = insertelement {v} poison, {t} %low, i64 0
  %lows = shufflevector {v} %low.one, {v} poison, {places}
  %high.one = insertelement {v} poison, {t} %high, i64 0
  %highs = shufflevector {v} %high.one, {v} poison, {places}
  br label %vectors

vectors:
  %vector.i = phi i64 [ 0, %bracket ], [ %vector.next, %vectors ]
  %vector.left = phi i64 [ 0, %bracket ], [ %vector.left.next, %vectors ]
  %vector.right = phi i64 [ 0, %bracket ], [ %vector.right.next, %vectors ]
  %vector.place = getelementptr {t}, ptr %from, i64 %vector.i
  %vector = load {v}, ptr %vector.place, align {size}
  %parts = bitcast {v} %vector to <8 x i32>
  %are.low = {less} {v} %vector, %lows
  %are.most = {most} {v} %vector, %highs
  %are.less = and {flags} %are.low, %are.most
  %less.bits = bitcast {flags} %are.less to {bits}
  %most.bits = bitcast {flags} %are.most to {bits}
  %less.mask = zext {bits} %less.bits to i64
  %most.mask = zext {bits} %most.bits to i64
  %kept.mask = xor i64 %less.mask, %most.mask
{packed}
  %vector.outside = add i64 %vector.left, %vector.right
  %vector.inside = sub i64 %vector.i, %vector.outside
  %vector.free = sub i64 %count, %vector.right
  %vector.up = sub i64 %vector.free, {lanes}
  %vector.kept.place = getelementptr {t}, ptr %between, i64 %vector.inside
  %vector.left.place = getelementptr {t}, ptr %to, i64 %vector.left
  %vector.right.place = getelementptr {t}, ptr %to, i64 %vector.up
  store <8 x i32> %packed.left, ptr %vector.left.place, align {size}
  store <8 x i32> %packed.right, ptr %vector.right.place, align {size}
  store <8 x i32> %packed.kept, ptr %vector.kept.place, align {size}
  %less.count = call i64 @llvm.ctpop.i64(i64 %less.mask)
  %most.count = call i64 @llvm.ctpop.i64(i64 %most.mask)
  %more.count = sub i64 {lanes}, %most.count
  %vector.left.next = add i64 %vector.left, %less.count
  %vector.right.next = add i64 %vector.right, %more.count
  %vector.next = add i64 %vector.i, {lanes}
  %vector.rest = sub i64 %count, %vector.next
  %vector.more = icmp uge i64 %vector.rest, {both}
  br i1 %vector.more, label %vectors, label %part
"""

# The sample is drawn at the multiples of the golden ratio, modulo 1: as even as one in steps, and of no period. Its
# margin is four standard deviations of a rank. An element is written to all three places that may come next, and one of
# them is counted: the room is written behind where it is read.
TEXT: Final = """define internal void @{name}(
  ptr noalias %x, ptr noalias %y, i64 %n, i64 %first, i64 %last
) #0 {{
start:
  %lowest = alloca {t}
  %highest = alloca {t}
  store {t} {lowest}, ptr %lowest
  store {t} {highest}, ptr %highest
  %bytes = mul i64 %n, {both}
  %between = call ptr @malloc(i64 %bytes)
  %sample = getelementptr {m}, ptr %between, i64 %n
  %none = icmp eq ptr %between, null
  br i1 %none, label %whole, label %begin
{begin}
level:
  %from = phi ptr [ {source}, %ready ], [ %between, %again ]
  %to = phi ptr [ %y, %ready ], [ %inner, %again ]
  %count = phi i64 [ %n, %ready ], [ %middle, %again ]
  %a = phi i64 [ %first, %ready ], [ %next.a, %again ]
  %b = phi i64 [ %last, %ready ], [ %next.b, %again ]
  %zeros = call i64 @llvm.ctlz.i64(i64 %count, i1 true)
  %log = sub i64 63, %zeros
  %double = shl i64 %log, 1
  %third = udiv i64 %double, 3
  %drawn = shl i64 2, %third
  %wide.count = zext i64 %count to i128
  br label %draw

draw:
  %d = phi i64 [ 0, %level ], [ %d.next, %draw ]
  %turn = mul i64 %d, -7046029254386353131
  %wide.turn = zext i64 %turn to i128
  %product = mul i128 %wide.turn, %wide.count
  %top = lshr i128 %product, 64
  %at = trunc i128 %top to i64
  %drawn.place = getelementptr {m}, ptr %from, i64 %at
  %drawn.item = load {m}, ptr %drawn.place
  {seen}
  %sample.place = getelementptr {t}, ptr %sample, i64 %d
  store {t} %seen, ptr %sample.place
  %d.next = add i64 %d, 1
  %d.more = icmp ult i64 %d.next, %drawn
  br i1 %d.more, label %draw, label %bracket

bracket:
  call i32 {sort}(ptr %sample, i64 %drawn, ptr null)
  %drawn.real = uitofp i64 %drawn to double
  %root = call double @llvm.sqrt.f64(double %drawn.real)
  %four.sigma = fmul double %root, 2.0
  %margin = fptoui double %four.sigma to i64
  %a.scaled = mul i64 %a, %drawn
  %b.scaled = mul i64 %b, %drawn
  %a.rank = udiv i64 %a.scaled, %count
  %b.rank = udiv i64 %b.scaled, %count
  %low.rank = sub i64 %a.rank, %margin
  %high.up = add i64 %b.rank, %margin
  %high.rank = add i64 %high.up, 1
  %has.low = icmp sge i64 %low.rank, 0
  %has.high = icmp slt i64 %high.rank, %drawn
  %low.seen = getelementptr {t}, ptr %sample, i64 %low.rank
  %high.seen = getelementptr {t}, ptr %sample, i64 %high.rank
  %low.place = select i1 %has.low, ptr %low.seen, ptr %lowest
  %high.place = select i1 %has.high, ptr %high.seen, ptr %highest
  %low = load {t}, ptr %low.place
  %high = load {t}, ptr %high.place
  %end = sub i64 %count, 1
{vectors}
part:
  %i = phi i64 [ {i}, %{before} ], [ %i.next, %part ]
  %left = phi i64 [ {left}, %{before} ], [ %left.next, %part ]
  %right = phi i64 [ {right}, %{before} ], [ %right.next, %part ]
  %item.place = getelementptr {m}, ptr %from, i64 %i
  %item = load {m}, ptr %item.place
  {v}
  %outside = add i64 %left, %right
  %inside = sub i64 %i, %outside
  %up = sub i64 %end, %right
  %kept.place = getelementptr {m}, ptr %between, i64 %inside
  %left.place = getelementptr {m}, ptr %to, i64 %left
  %right.place = getelementptr {m}, ptr %to, i64 %up
  store {m} %item, ptr %left.place
  store {m} %item, ptr %right.place
  store {m} %item, ptr %kept.place
  %is.low = {less} {t} %v, %low
  %is.most = {most} {t} %v, %high
  %is.less = and i1 %is.low, %is.most
  %is.more = xor i1 %is.most, true
  %less.one = zext i1 %is.less to i64
  %more.one = zext i1 %is.more to i64
  %left.next = add i64 %left, %less.one
  %right.next = add i64 %right, %more.one
  %i.next = add i64 %i, 1
  %i.more = icmp ult i64 %i.next, %count
  br i1 %i.more, label %part, label %parted

parted:
  %around = add i64 %left.next, %right.next
  %middle = sub i64 %count, %around
  %inner = getelementptr {m}, ptr %to, i64 %left.next
  %next.a = sub i64 %a, %left.next
  %next.b = sub i64 %b, %left.next
  %half = lshr i64 %count, 1
  %is.small = icmp ule i64 %middle, %half
  %a.in = icmp sge i64 %next.a, 0
  %b.in = icmp slt i64 %next.b, %middle
  %both.in = and i1 %a.in, %b.in
  br i1 %both.in, label %bracketed, label %misled

bracketed:
  %are.equal = {equal} {t} %low, %high
  br i1 %are.equal, label %alike, label %unlike

alike:
  %alike.bytes = mul i64 %middle, {moved}
  call void @llvm.memcpy.p0.p0.i64(ptr %inner, ptr %between, i64 %alike.bytes, i1 false)
  br label %done

unlike:
  br i1 %is.small, label %again, label %misled

again:
  %many = icmp ugt i64 %middle, {fewest}
  br i1 %many, label %level, label %finish

{ends}
done:
  call void @free(ptr %between)
  ret void
}}
"""

# Of values: the room and its sample, and the ends that sort.
BEGIN: Final = """
begin:
  br label %ready

ready:
  br label %level
"""
ENDS: Final = """finish:
  %few.bytes = mul i64 %middle, {size}
  call void @llvm.memcpy.p0.p0.i64(ptr %inner, ptr %between, i64 %few.bytes, i1 false)
  call i32 {sort}(ptr %inner, i64 %middle, ptr null)
  br label %done

misled:
  %back.bytes = mul i64 %middle, {size}
  call void @llvm.memcpy.p0.p0.i64(ptr %inner, ptr %between, i64 %back.bytes, i1 false)
  call i32 {sort}(ptr %to, i64 %count, ptr null)
  br label %done

whole:
  %all.bytes = mul i64 %n, {size}
  call void @llvm.memcpy.p0.p0.i64(ptr %y, ptr %x, i64 %all.bytes, i1 false)
  call i32 {sort}(ptr %y, i64 %n, ptr null)
  br label %done
"""

# Of indices, that is of an order: these move, and say where the values are. `between` begins as all of them.
BEGIN_ORDER: Final = """
begin:
  call void @{name}_count(ptr %between, i64 %n)
  br label %ready

ready:
  br label %level
"""
ENDS_ORDER: Final = """finish:
  %few = phi i64 [ %middle, %again ], [ %count, %rest ]
  %place = phi ptr [ %inner, %again ], [ %to, %rest ]
  %order = getelementptr i64, ptr %between, i64 %few
  call void @{name}_count(ptr %order, i64 %few)
  br label %gather

gather:
  %g = phi i64 [ 0, %finish ], [ %g.next, %gather ]
  %g.place = getelementptr i64, ptr %between, i64 %g
  %g.item = load i64, ptr %g.place
  %g.value.place = getelementptr {t}, ptr %x, i64 %g.item
  %g.value = load {t}, ptr %g.value.place
  %g.sample = getelementptr {t}, ptr %sample, i64 %g
  store {t} %g.value, ptr %g.sample
  %g.next = add i64 %g, 1
  %g.more = icmp ult i64 %g.next, %few
  br i1 %g.more, label %gather, label %arrange

arrange:
  call i32 {order}(ptr %sample, ptr %order, i64 %few, ptr null)
  br label %put

put:
  %p = phi i64 [ 0, %arrange ], [ %p.next, %put ]
  %p.order = getelementptr i64, ptr %order, i64 %p
  %p.at = load i64, ptr %p.order
  %p.from = getelementptr i64, ptr %between, i64 %p.at
  %p.item = load i64, ptr %p.from
  %p.to = getelementptr i64, ptr %place, i64 %p
  store i64 %p.item, ptr %p.to
  %p.next = add i64 %p, 1
  %p.more = icmp ult i64 %p.next, %few
  br i1 %p.more, label %put, label %done

misled:
  %twice = shl i64 %count, 1
  %fits = icmp ule i64 %twice, %n
  br i1 %fits, label %rest, label %whole

rest:
  %back.bytes = shl i64 %middle, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %inner, ptr %between, i64 %back.bytes, i1 false)
  %rest.bytes = shl i64 %count, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %between, ptr %to, i64 %rest.bytes, i1 false)
  br label %finish

whole:
  call void @{name}_count(ptr %y, i64 %n)
  call i32 {order}(ptr %x, ptr %y, i64 %n, ptr null)
  br label %done
"""
COUNT: Final = """define internal void @{name}_count(ptr noalias %y, i64 %n) #0 {{
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %place = getelementptr i64, ptr %y, i64 %i
  store i64 %i, ptr %place
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}}
"""
