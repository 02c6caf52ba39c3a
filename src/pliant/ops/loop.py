"""The loop. Every operand and every result has a kind, and each kind is the transpose of another:

    operand  const   the same at every step   ↔  result  sum    added up over the steps
    operand  carry   the value before step 0  ↔  result  last   the value after the last step
    operand  each    row i at step i          ↔  result  stack  row i, made at step i

The k-th `carry` operand is what the k-th `last` result starts from. Results may also be other
folds over the steps: `prod max min any all`, and `total`, a sum as accurate as that of an array. An
operand of kind `count` is the number of steps, if that is known only at run time: as many are run,
but no more than `length`, and the rest of a stack is zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, cast, final

from pliant.core import ir
from pliant.core.build import abstract, hint_of, trace
from pliant.core.data import frozen
from pliant.core.inner import functions_of
from pliant.core.ir import Function, Tangents, Value, Values, const, nodes, substitute
from pliant.core.scope import scope
from pliant.core.types import Type
from pliant.ops.base import Movement
from pliant.ops.block import ReadBlock
from pliant.ops.compare import less, not_zero, not_zero_of_made
from pliant.ops.cond import Cond
from pliant.ops.custom import pick, spread
from pliant.ops.early_reads import with_early_reads
from pliant.ops.elementwise import Add
from pliant.ops.folds import FOLDS, SMOOTH, Fold
from pliant.ops.index import Indexed, ScatterAdd
from pliant.ops.loop_form import AS_IN, AS_OUT, In, LoopForm, Out
from pliant.ops.one_by_one import has_own_parts, has_parts, holds_problems
from pliant.ops.paired import Paired
from pliant.ops.reduce import reduce_max
from pliant.ops.region import of_parts, read_with, vmap_steps
from pliant.ops.select import Find, is_zero
from pliant.ops.shape import Permute, permute
from pliant.ops.step_cut import WIDE, step_cut
from pliant.ops.update import AddSlice
from pliant.transforms.jvp import instantiate, push
from pliant.transforms.transpose import linearize, pull
from pliant.transforms.vmap import vmap


@final
@frozen
class Loop(LoopForm):
    """Run `body` for i = 0, …, length-1, or from the last to the first if `reverse`.

    body: (i, x…) → (y…): one x per operand (a row of an `each`), one y per result (a row of a
    `stack`, one term of a fold).
    """

    def expand(self, *xs: Value) -> Values:
        """Folds as carries that start from their identities."""
        return self.carrying({k: FOLDS[k] for k in FOLDS if k in self.outs}, xs) if self.has_folds else self.apply(*xs)

    def carrying(self, folds: dict[str, Fold], xs: Values) -> Values:
        """The results, with some folds as carries."""
        folded = [k in folds for k in self.outs]
        terms, kinds = pick(self.body.results, folded), pick(self.outs, folded)
        with scope():
            sizes = [len(folds[k].starts(y.type)) for k, y in zip(kinds, terms, strict=True)]

        def step(i: Value, *args: Value) -> Values:
            ys = self.body(i, *args[: len(xs)])
            states = groups(args[len(xs) :], sizes)
            rows = zip(kinds, states, pick(ys, folded), strict=True)
            return *pick(ys, [not f for f in folded]), *(v for k, state, y in rows for v in folds[k].step(state, y))

        starts = [v for k, y in zip(kinds, terms, strict=True) for v in folds[k].starts(y.type)]
        types = [*(p.type for p in self.body.params), *(v.type for v in starts)]
        names = [hint_of(p) for p in self.body.params] + ["total"] * len(starts)
        plain = Loop(
            self.length,
            self.ins + ("carry",) * len(starts),
            (*pick(self.outs, [not f for f in folded]), *("last" for _ in starts)),
            trace(step, *types, names=names),
            self.reverse,
        )
        made = plain.apply(*xs, *starts)
        rest, ends = iter(made), iter(groups(made[len(made) - len(starts) :], sizes))
        return tuple([folds[k].finish(next(ends)) if k in folds else next(rest) for k in self.outs])

    # --- derivatives

    @property
    def is_linear(self) -> bool:
        """Whether no float result is a fold other than a sum."""
        pairs = zip(self.outs, self.body.results, strict=True)
        return not any([k in SMOOTH and y.type.is_float for k, y in pairs])

    def smooth(self) -> Function:
        """This loop with folds as carries whose derivatives are known."""
        pairs = zip(self.outs, self.body.results, strict=True)
        folds = {k: SMOOTH[k] for k, y in pairs if k in SMOOTH and y.type.is_float}
        return trace(lambda *xs: self.carrying(folds, xs), *map(self.operand_type, range(len(self.ins))))

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        if not self.is_linear:
            return push(self.smooth(), xs, dxs)
        active, moved = self.spreading([d is not None for d in dxs], floats=True)
        ys = self.pushed(active, moved).apply(*xs, *pick(instantiate(xs, dxs), active))
        return ys[: len(moved)], spread(ys[len(moved) :], moved)

    def pushed(self, active: Sequence[bool], moved: Sequence[bool]) -> Loop:
        """The loop that also takes tangents of the active operands, and makes those of the results that move."""
        params = self.body.params[1:]

        def step(i: Value, *args: Value) -> Values:
            tangents = spread(args[len(params) :], active)
            ys, dys = push(self.body, (i, *args[: len(params)]), (None, *tangents))
            return *ys, *pick(instantiate(ys, dys), moved)

        names = [hint_of(p) for p in self.body.params] + [f"d{hint_of(p)}" for p in pick(params, active)]
        body = trace(step, *(p.type for p in (*self.body.params, *pick(params, active))), names=names)
        return replace(self, ins=self.ins + pick(self.ins, active), outs=self.outs + pick(self.outs, moved), body=body)

    def linearize(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        """This loop, also stacking what its derivative reads, unless that is made of what it stacks anyway; and the
        derivative, a second loop, which is linear and can be transposed."""
        if not self.is_linear:
            return push(self.smooth(), xs, dxs, split=True)
        active, moved = self.spreading([d is not None for d in dxs], floats=True)
        with scope():
            ys, dps, pushed = linearize(self.body, self.body.params, (False, *active))
            free = {p for p, kind in zip(self.body.params, ("each", *self.ins), strict=True) if kind != "carry"}
            stacked = {y: k for k, (y, kind) in enumerate(zip(ys, self.outs, strict=True)) if kind == "stack"}
            dys = with_early_reads(pick(instantiate(ys, pushed), moved), dps, {*free, *stacked})
            # a loop of unknown length reads what it ran on, to run again, but mostly runs once: see `once`
            n, once = self.length, self.kept_once(ys)
            saved = step_cut(read_with(dys, dps, but=(Paired,)), {*free, *stacked}, once, n)
            saved += step_cut(read_with(dys, dps), {*free, *stacked, *saved}, once, n)
            found = {v for node in nodes(dys, stop=(*saved, *stacked)) for v in node.args}.union(dys)
            stacked = {y: k for y, k in stacked.items() if y in found and y not in free}
        saving = replace(self, outs=self.outs + ("stack",) * len(saved), body=replace(self.body, results=(*ys, *saved)))
        results = saving.apply(*xs)
        rows = (*results[len(ys) :], *(results[k] for k in stacked.values()))
        given = self.sources(dys, (*saved, *stacked), xs, rows)
        linear = Loop(
            self.length,
            (*(kind for kind, _ in given.values()), *pick(self.ins, active)),
            pick(self.outs, moved),
            abstract(dys, (self.body.params[0], *given, *dps), f"d{self.body.name}"),
            self.reverse,
        )
        made = linear.apply(*(x for _, x in given.values()), *pick(instantiate(xs, dxs), active))
        return results[: len(ys)], spread(made, moved)

    def kept_once(self, ys: Values) -> list[tuple[Value, Value]]:
        """Carries as a step finds and as it leaves them, of which one array holds both. ys: the results of the body."""
        if "count" in self.ins and self.reverse:  # no step is known to be the first
            return []
        return [(p, ys[k]) for c, k in self.carries if (p := self.body.params[c]).type.size >= WIDE]

    def sources(self, ys: Values, saved: Values, xs: Sequence[Any], stacks: Values) -> dict[Value, tuple[In, Value]]:
        """Where a second loop finds what `ys` read: this loop's operands that are no carries, and
        stacks of what was saved."""
        found = {node.values[0] for node in nodes(ys, stop=saved)}
        rows = zip(self.body.params[1:], self.ins, xs, strict=True)
        given = dict[Value, tuple[In, Value]]()
        for p, kind, x in rows:
            if (kind == "count" or (kind != "carry" and p in found)) and isinstance(x, Value):
                given[p] = kind, x
        given.update([(s, ("each", y)) for s, y in zip(saved, stacks, strict=True)])
        return given

    def transpose(self, ct: Tangents | Value, *xs: Value | Type) -> Tangents:
        wanted = [isinstance(x, Type) for x in xs]
        active, moved = self.spreading(wanted, floats=True)
        unknown = pick(self.body.params[1:], active)
        ys = pick(self.body.results, moved)
        given = self.known(ys, active, xs)
        cts = pick(ct if isinstance(ct, tuple) else (ct,), moved)
        kinds = pick(self.outs, moved)
        cts = tuple(
            [
                ir.operators.zeros(y.type) if c is None and k == "last" else c
                for c, k, y in zip(cts, kinds, ys, strict=True)
            ]
        )
        has = [c is not None for c in cts]
        parts = [k == "const" and is_read_in_part(p, ys) for k, p in zip(pick(self.ins, active), unknown, strict=True)]
        sums = pick(unknown, parts)  # their cotangents are carried, so that a step costs what it reads

        def step(i: Value, *args: Value) -> Values:
            known = dict(zip((self.body.params[0], *given), (i, *args), strict=False))
            rest = args[len(given) :]
            results = (*substitute(ys, known), *sums)
            pulled = pull(results, unknown, (*spread(rest[: sum(has)], has), *rest[sum(has) :]))
            back = instantiate(unknown, pulled)
            return *pick(back, [not p for p in parts]), *pick(back, parts)

        pairs: list[tuple[In, Value]] = [*given.values()]
        pairs.extend((AS_IN[k], c) for k, c in zip(kinds, cts, strict=True) if c is not None)
        pairs.extend(("carry", ir.operators.zeros(p.type)) for p in sums)
        body = trace(step, Type("i64"), *(x.type.row if kind == "each" else x.type for kind, x in pairs))
        outs = [AS_OUT[k] for k, p in zip(pick(self.ins, active), parts, strict=True) if not p] + ["last"] * len(sums)
        back = Loop(self.length, tuple([k for k, _ in pairs]), tuple(cast("list[Out]", outs)), body, not self.reverse)
        made = back.apply(*(x for _, x in pairs))
        plain, late = iter(made), iter(made[len(made) - len(sums) :])
        whole = iter(spread([next(late) if p else next(plain) for p in parts], active))
        return tuple([c if w else None for c, w in zip(whole, wanted, strict=True)])

    def known(self, ys: Values, active: Sequence[bool], xs: Sequence[Any]) -> dict[Value, tuple[In, Value]]:
        """What the linear part `ys` of the body reads. Carries that do not depend on linear operands
        are run in a loop of their own, which stacks what is read."""
        params = self.body.params[1:]
        ins: tuple[In, ...] = pick(self.ins, [not a for a in active])
        if "carry" not in ins:
            return self.sources(ys, (), xs, ())
        free = {p for p, kind in zip(self.body.params, ("each", *self.ins), strict=True) if kind != "carry"}
        own = [(p, y) for p, y in self.kept_once(self.body.results) if not active[params.index(p)]]
        saved = step_cut(read_with(ys, pick(params, active)), free - set(pick(params, active)), own, self.length)
        lasts = pick(self.body.results, [k == "last" for k in self.outs])
        kept = [not a for a, kind in zip(active, self.ins, strict=True) if kind == "carry"]
        results = (*pick(lasts, kept), *saved)
        outs: tuple[Out, ...] = ("last",) * (len(results) - len(saved)) + ("stack",) * len(saved)
        over = (self.body.params[0], *pick(params, [not a for a in active]))
        ahead = Loop(self.length, ins, outs, abstract(results, over, self.body.name), self.reverse)
        made = ahead.apply(*pick(xs, [not a for a in active]))
        return self.sources(ys, saved, xs, made[len(made) - len(saved) :])

    def support_of(self, value: Value, find: Find) -> Value | None:
        """Where a sum over the steps, or what they stack, is not zero, if some may add or stack nothing but zeros."""
        starts = dict(zip([k for _, k in self.carries], [value.args[c - 1] for c, _ in self.carries], strict=True))
        start, kind = starts.get(value.index), self.outs[value.index]
        if kind not in ("sum", "total", "stack") and (start is None or not is_zero(start)):
            return None
        if "count" in self.ins:  # there may be no step
            return not_zero(value)
        rows = zip(self.body.params[1:], value.args, self.ins, strict=True)
        given = [(p, x) for p, x, kind in rows if kind != "carry"]
        return not_zero_of_made(value, find, given, added(self.body.results[value.index]))

    def batch(self, n: int, batched: tuple[bool, ...], *xs: Value) -> Values:
        if any([b and kind == "count" for b, kind in zip(batched, self.ins, strict=True)]):
            return self.batch_of_counts(n, batched, xs)
        flags, _ = self.spreading(batched, floats=False)
        body, (_, *flags), moved = vmap_steps(self.body, n, (False, *flags), self.carries)
        if has_own_parts(body) or holds_problems(body, n):
            return one_by_one(self, n, batched, xs)
        operands = [
            ir.operators.lift(x, n) if f and not b else swap_first(x) if b and kind == "each" else x
            for x, b, f, kind in zip(xs, batched, flags, self.ins, strict=True)
        ]
        ys = replace(self, body=body).apply(*operands)
        rows = zip(ys, moved, self.outs, strict=True)
        return tuple([swap_first(y) if m and kind == "stack" else y for y, m, kind in rows])

    def batch_of_counts(self, n: int, batched: tuple[bool, ...], xs: Values) -> Values:
        """Problems of several numbers of steps: all run the most, and those that have ended stay as they are."""
        if has_parts(self.body):
            return one_by_one(self, n, batched, xs)
        if self.has_folds:
            types = [self.operand_type(k) for k in range(len(self.ins))]
            return vmap(trace(self.expand, *types), n, batched)(*xs)
        at = self.ins.index("count")
        most = reduce_max(xs[at], (0,)) if n else const(0, xs[at].dtype)
        operands = (*xs[:at], most, *xs[at + 1 :], xs[at])
        flags = (*batched[:at], False, *batched[at + 1 :], True)
        return self.masked(at).batch(n, flags, *operands)

    def masked(self, at: int) -> Loop:
        """This loop with one more operand, const: a count after which steps change nothing."""
        places = {k: c for c, k in self.carries}

        def idle(*given: Value) -> Values:
            rows = enumerate(self.body.results)
            return tuple([given[places[k]] if k in places else ir.operators.zeros(y.type) for k, y in rows])

        def step(i: Value, *args: Value) -> Values:
            given = (i, *args[:at], args[-1], *args[at + 1 : -1])
            return Cond(self.body, trace(idle, *[x.type for x in given])).apply(less(i, args[-1]), *given)

        types = [*(p.type for p in self.body.params), Type("i64")]
        return replace(self, ins=(*self.ins, "const"), body=trace(step, *types))


def one_by_one(op: ir.Op, n: int, batched: Sequence[bool], xs: Values) -> Values:
    """The results of `op` for n problems, the operands of which are stacked where they are `batched`."""
    types = [x.type.row if b else x.type for x, b in zip(xs, batched, strict=True)]

    def step(_: Value, *args: Value) -> Values:
        return op.apply(*args)

    body = trace(step, Type("i64"), *types)
    ins: tuple[In, ...] = tuple(["each" if b else "const" for b in batched])
    return Loop(n, ins, ("stack",) * len(body.results), body).apply(*xs)


def added(total: Value) -> Iterator[Value]:
    """What a value is a sum of: numbers that are added at places, and terms."""
    todo = [total]
    while todo:
        match todo.pop():
            case Value(op=Add(), args=terms):
                todo.extend(terms)
            case Value(op=ScatterAdd() | AddSlice(), args=(below, *_, u)):
                yield u
                todo.append(below)
            case term:
                yield term


def groups(values: Values, sizes: Sequence[int]) -> list[Values]:
    """The values in groups of these sizes."""
    rest = iter(values)
    return [tuple([next(rest) for _ in range(size)]) for size in sizes]


def swap_first(x: Value) -> Value:
    """The first two axes exchanged; of what is so exchanged already, the array itself."""
    order = (1, 0, *range(2, len(x.shape)))
    return x.args[0] if x.op == Permute(order) else permute(x, order)


def is_read_in_part(p: Value, ys: Values) -> bool:
    """Whether something reads a smaller part of an array, whose cotangent is then mostly zero."""
    same = {p}  # and what holds the same elements in another order
    parts = of_parts(ys)  # whose types are as large as they may get
    for node in nodes(ys):
        if same.isdisjoint(node.args):
            continue
        if isinstance(node.op, Movement | Indexed | ReadBlock) and node.args[0] in same:
            if node.types[0].size < p.type.size or node.values[0] in parts:
                return True
            same.update(node.values if node.types[0].size == p.type.size else ())
        held = [n for n, a in enumerate(node.args) if a in same]
        inside = list[tuple[Value, Values]]()
        match node.op:
            case Loop(ins=ins, body=body):
                inside = [(body.params[n + 1], body.results) for n in held if ins[n] == "const"]
            case Cond(then=then, otherwise=otherwise):
                inside = [(fn.params[n - 1], fn.results) for fn in (then, otherwise) for n in held if n]
            case op:  # loops of unknown length, and pairs of a function and its transpose
                functions = [fn for fn in functions_of(op).values() if len(fn.params) == len(node.args)]
                inside = [(fn.params[n], fn.results) for fn in functions for n in held]
        if any([is_read_in_part(q, results) for q, results in inside]):
            return True
    return False
