"""What is made of a loop's rows, as something equal to it that steps can make.

    reduce_sum(f(concatenate(a, b), c))   =   reduce_sum(f(a, c[:n])) + reduce_sum(f(b, c[n:]))
    ys[places]                            =   rows[order[places]],  where rows[order[t]] += ys[t] at every t
    dot(permute(x), y)                    =   dot(x, y), of other axes

So reductions of rows that are rolled, padded or differenced are those of their parts, each of which is some rows in
their order; and rows at places known before the loop are added to those of a small array.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from itertools import pairwise
from typing import Final, cast, final

from pliant.core.data import mutable
from pliant.core.ir import Function, Node, Value, Values
from pliant.core.types import Type
from pliant.ops.contract import Dot
from pliant.ops.folds import combined, filled
from pliant.ops.index import Gather, ScatterAdd, ScatterSet
from pliant.ops.reduce import ReduceMax, ReduceMin, Reduction
from pliant.ops.shape import Concatenate, Permute, Slice, iota, permute
from pliant.passes.fewer_rows import sources_of, takes_fewer, with_rows
from pliant.passes.row_folds import KINDS
from pliant.passes.row_wise import row_of, taken
from pliant.transforms.replace import Env, replaced_in

PARTS: Final = 6  # that a reduction is divided into, at most
FEW: Final = 3  # rows of a part that are taken one by one


def as_parts(fn: Function, node: Node, *, is_derived: bool) -> tuple[Function, Node] | None:
    """`fn` with such operations on what a loop makes written otherwise; and the loop. None if there are none."""
    if not _has_candidates(fn, node):
        return None
    plan = _Plan(node, is_derived)
    made = list[Node]()

    def rule(other: Node, env: Env) -> Values | Value | None:
        if other is node:
            results = other.op.apply(*[env[a] for a in other.args])
            made.append(results[0].node)
            return results
        return plan.other(other, env)

    new = replaced_in(fn, rule, keeps=True)
    return (new, made[0]) if plan.changed else None


def _has_candidates(fn: Function, node: Node) -> bool:
    """Whether there may be such operations."""
    after = set[Value](node.values)
    for later in fn.nodes:
        if not after.isdisjoint(later.args):
            few = isinstance(later.op, Reduction) and later.args[0].shape[:1] <= (FEW,)
            if few or isinstance(later.op, Concatenate | Gather | Dot):
                return True
            after.update(later.values)
    return False


@final
@mutable
class _Plan:
    """What to write otherwise of what depends on the results of a node."""

    node: Node
    is_derived: bool
    after: set[Value] = field(default_factory=set[Value])
    cuts: dict[Value, tuple[int, ...]] = field(default_factory=dict[Value, "tuple[int, ...]"])  # where parts begin
    parts: dict[tuple[Value, int, int], Value] = field(default_factory=dict[tuple[Value, int, int], Value])
    changed: bool = False

    def __post_init__(self) -> None:
        self.after.update(self.node.values)

    def other(self, node: Node, env: Env) -> Value | None:
        """What a node's value is, written otherwise; None if it is left as it is."""
        if self.after.isdisjoint(node.args):
            return None
        self.after.update(node.values)
        self.cuts[node.values[0]] = self.cuts_of(node)
        made = self.made(node, env)
        self.changed |= made is not None
        return made

    def made(self, node: Node, env: Env) -> Value | None:
        """The same, where it depends on the loop."""
        match node.op:
            case Reduction() as op if 0 in op.axes and type(op) in KINDS and self.cuts.get(node.args[0]):
                is_shared = isinstance(op, ReduceMax | ReduceMin) and node.types[0].is_float  # by those that tie
                return None if is_shared and not self.is_derived else self.of_parts(op, node.args[0], env)
            case Gather() if takes_fewer(node) and node.args[1] not in self.after and node.types[0].dtype != "bool":
                return _in_order(node.op, env[node.args[0]], env[node.args[1]])
            case Dot() as op if not op.batch_axes[0]:
                return _unpermuted(op, [env[a] for a in node.args])
            case _:
                return None

    # --- reductions of parts

    def cuts_of(self, node: Node) -> tuple[int, ...]:
        """The rows of a value at which another part of it begins."""
        count = node.types[0].shape[0] if node.types[0].shape else 0
        match node.op:
            case Concatenate(0):
                starts, found = _starts(node.args), set[int]()
                for a, start in zip(node.args, starts, strict=True):
                    found.update([start, *[start + cut for cut in self.cuts.get(a, ())]])
            case Slice(start, step) if start and step[0] == 1:
                found = {cut - start[0] for cut in self.cuts.get(node.args[0], ())}
            case _:
                sources = sources_of(node, 0) if count and len(node.types) == 1 else None
                pairs = zip(node.args, sources, strict=True) if sources and set(sources) <= {0, None} else ()
                found = {cut for a, axis in pairs if axis == 0 for cut in self.cuts.get(a, ())}
        found = range(count) if 0 < count <= FEW else found
        return tuple(sorted([cut for cut in found if 0 < cut < count]))

    def of_parts(self, op: Reduction, x: Value, env: Env) -> Value | None:
        """A reduction, of each part alone."""
        ends = [0, *self.cuts[x], x.shape[0]]
        if len(ends) > PARTS + 1:
            return None
        total = None
        for first, last in pairwise(ends):
            few = range(first, last) if last - first <= FEW else ()
            for rows in [range(n, n + 1) for n in few] or [range(first, last)]:
                total = combined(KINDS[type(op)], total, op(self.part(x, rows, env)))
        return total

    def part(self, x: Value, rows: range, env: Env) -> Value:
        """Some rows of a value, none of them of different parts; the same value for the same rows."""
        key = (x, rows.start, rows.stop)
        if key not in self.parts:
            self.parts[key] = self.new_part(x, rows, env)
        return self.parts[key]

    def new_part(self, x: Value, rows: range, env: Env) -> Value:
        """The same, made."""
        node = x.node
        match node.op:
            case Concatenate(0) if self.cuts.get(x):
                starts = _starts(node.args)
                n = max([n for n, start in enumerate(starts) if start <= rows.start and node.args[n].shape[0]])
                return self.part(node.args[n], range(rows.start - starts[n], rows.stop - starts[n]), env)
            case Slice(start, step, length) if step[0] == 1 or len(rows) == 1:
                first = start[0] + step[0] * rows.start
                inner = self.part(node.args[0], range(first, first + len(rows)), env)
                return row_of(Slice((0, *start[1:]), (1, *step[1:]), (len(rows), *length[1:])), (inner,))
            case _ if not self.cuts.get(x):
                return taken(env[x], rows)
            case _:
                sources = sources_of(node, 0)
                if sources is None or not set(sources) <= {0, None}:
                    return taken(env[x], rows)
                pairs = zip(node.args, sources, strict=True)
                args = [self.part(a, rows, env) if axis == 0 else env[a] for a, axis in pairs]
                return with_rows(node, 0, len(rows)).apply(*args)[0]


def _starts(parts: Sequence[Value]) -> list[int]:
    """Where each of some arrays begins, one after the other."""
    return [sum([a.shape[0] for a in parts[:n]]) for n in range(len(parts))]


def _in_order(op: Gather, x: Value, places: Value) -> Value:
    """Rows at some places: `order` says for each row of x which of those that are wanted it is, if any."""
    count, most = places.shape[0], x.shape[0]
    spare = filled(count, Type("i64", (most,)))
    order = ScatterSet(0, op.unique)(spare, places, iota(count))
    nothing = filled(-0.0 if x.type.is_float else 0, Type(x.dtype, (count + 1, *x.shape[1:])))
    rows = ScatterAdd(0)(nothing, order, x)
    return Gather(0, op.unique)(rows, Gather(0, op.unique)(order, places))


def _unpermuted(op: Dot, args: Sequence[Value]) -> Value | None:
    """A product of what is permuted, as one of that itself."""
    orders = [a.op.order if isinstance(a.op, Permute) else tuple(range(a.type.rank)) for a in args]
    given = [a.args[0] if isinstance(a.op, Permute) else a for a in args]
    contract = [tuple([order[k] for k in axes]) for order, axes in zip(orders, op.contract, strict=True)]
    if 0 not in contract[0] or 0 not in contract[1] or not any([isinstance(a.op, Permute) for a in args]):
        return None
    place = contract[0].index(0)
    if contract[1][place] != 0:
        return None
    contract = [(axes[place], *axes[:place], *axes[place + 1 :]) for axes in contract]
    new = Dot(cast("tuple[tuple[int, ...], tuple[int, ...]]", tuple(contract)), ((), ()))
    made = new(*given)
    axes, shift = list[int](), 0
    for order, old, now in zip(orders, op.free(*args), new.free(*given), strict=True):
        axes.extend([shift + now.index(order[k]) for k in old])
        shift += len(now)
    return permute(made, axes)
