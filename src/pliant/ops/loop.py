"""The loop. Every operand and every result has a kind, and each kind is the transpose of another:

    operand  const   the same at every step   ↔  result  sum    added up over the steps
    operand  carry   the value before step 0  ↔  result  last   the value after the last step
    operand  each    row i at step i          ↔  result  stack  row i, made at step i

The k-th `carry` operand is what the k-th `last` result starts from. Results may also be other
folds over the steps: `prod max min any all`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias, cast, final

from pliant.core import ir
from pliant.core.build import abstract, hint_of, trace
from pliant.core.ir import Function, Namespace, Node, Op, Tangents, Value, Values, const, nodes, scope, substitute
from pliant.core.parse import Parser
from pliant.core.print import Printer
from pliant.core.types import DTYPES, Type
from pliant.errors import DTypeError, ShapeError
from pliant.ops.base import Movement
from pliant.ops.bits import logical_and, logical_or
from pliant.ops.compare import maximum, minimum
from pliant.ops.custom import pick, spread
from pliant.ops.elementwise import add, mul
from pliant.ops.index import Indexed
from pliant.ops.reduce import reduce_max, reduce_min, reduce_prod
from pliant.ops.region import cut, needed, read_with, settle
from pliant.ops.shape import broadcast, permute
from pliant.transforms.evaluate import stepper
from pliant.transforms.jvp import instantiate, push
from pliant.transforms.transpose import linearize, pull
from pliant.transforms.vmap import vmap

In: TypeAlias = Literal["const", "carry", "each"]
Out: TypeAlias = Literal["last", "stack", "sum", "prod", "max", "min", "any", "all"]

AS_OUT: Final[dict[In, Out]] = {"const": "sum", "carry": "last", "each": "stack"}
AS_IN: Final[dict[Out, In]] = {"sum": "const", "last": "carry", "stack": "each"}
FOLDS: Final = {
    "sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum", "any": "logical_or", "all": "logical_and"
}  # fmt: skip
COMBINE: Final[dict[str, Any]] = {
    "sum": add, "prod": mul, "max": maximum, "min": minimum, "any": logical_or, "all": logical_and
}  # fmt: skip
STARTS: Final = {"sum": 0, "prod": 1, "any": 0, "all": 1}
REDUCTIONS: Final = {"prod": reduce_prod, "max": reduce_max, "min": reduce_min}


@final
@dataclass(frozen=True)
class Loop(Op):
    """Run `body` for i = 0, …, length-1, or from the last to the first if `reverse`.

    body: (i, x…) → (y…): one x per operand (a row of an `each`), one y per result (a row of a
    `stack`, one term of a fold).
    """

    length: int
    ins: tuple[In, ...]
    outs: tuple[Out, ...]
    body: Function
    reverse: bool = False

    def infer(self, *xs: Type) -> tuple[Type, ...]:
        index, *params = self.body.params
        if index.type != Type("i64") or len(params) != len(xs) or len(xs) != len(self.ins):
            raise ShapeError(f"loop: the body takes {len(params)} operands after the index, got {len(xs)}")
        made = [y.type for y in self.body.results]
        lasts = iter(pick(made, [k == "last" for k in self.outs]))
        for p, x, kind in zip(params, xs, self.ins, strict=True):
            if kind == "each" and x.shape[:1] != (self.length,):
                raise ShapeError(f"loop: {x} has no {self.length} rows to loop over")
            if (x.row if kind == "each" else x) != p.type:
                raise ShapeError(f"loop: {kind} {hint_of(p)!r} is {x}, the body takes {p.type}")
            after = next(lasts, None) if kind == "carry" else x
            if kind == "carry" and after != x:
                raise ShapeError(f"loop: carry {hint_of(p)!r} enters as {x} but leaves as {after}")
        if next(lasts, None) is not None or len(made) != len(self.outs):
            raise ShapeError("loop: expected as many results of kind last as operands of kind carry")
        return tuple([self.result(k, t) for k, t in zip(self.outs, made, strict=True)])

    def result(self, kind: Out, made: Type) -> Type:
        """The type of a result whose steps make `made`."""
        if kind in FOLDS and (made.kind == "b") != (kind in ("any", "all")):
            raise DTypeError(f"loop: no fold {kind!r} of {made}")
        if kind in ("max", "min") and not self.length:
            raise ShapeError(f"loop: {kind} over no steps has no value")
        return made.stacked(self.length) if kind == "stack" else made

    def array(self, xp: Namespace, *xs: Any) -> tuple[Any, ...]:
        step = stepper(self.body, xp)
        made: list[Any] = [[] if k == "stack" else None for k in self.outs]
        state = list(xs)
        for i in range(self.length)[:: -1 if self.reverse else 1]:
            row = [x[i] if kind == "each" else x for x, kind in zip(state, self.ins, strict=True)]
            ys = step((xp.asarray(i), *row))
            lasts = iter(pick(ys, [k == "last" for k in self.outs]))
            state = [next(lasts) if kind == "carry" else x for x, kind in zip(state, self.ins, strict=True)]
            for n, (y, kind) in enumerate(zip(ys, self.outs, strict=True)):
                if kind == "stack":
                    made[n].append(y)
                elif kind != "last":
                    made[n] = y if made[n] is None else getattr(xp, FOLDS[kind])(made[n], y)
        carries = iter(pick(state, [kind == "carry" for kind in self.ins]))
        return tuple([next(carries) if k == "last" else self._column(xp, n, made[n]) for n, k in enumerate(self.outs)])

    def _column(self, xp: Namespace, n: int, made: Any) -> Any:
        """A stack from its rows; a fold, or what it starts from where there are no steps."""
        kind, type = self.outs[n], self.body.results[n].type
        if kind == "stack" and made:
            return xp.stack(made[:: -1 if self.reverse else 1])
        if kind != "stack" and made is not None:
            return made
        shape = (0, *type.shape) if kind == "stack" else type.shape
        return xp.full(shape, STARTS.get(kind, 0), dtype=getattr(xp, DTYPES[type.dtype]))

    @property
    def has_folds(self) -> bool:
        """Whether some results are folds, which `expand` makes carries of."""
        return any([k in FOLDS for k in self.outs])

    def expand(self, *xs: Value) -> Values:
        """Folds as carries that start from their identities."""
        if not self.has_folds:
            return self.apply(*xs)
        folded = [k in FOLDS for k in self.outs]
        terms = pick(self.body.results, folded)
        kinds = pick(self.outs, folded)
        count = len(xs)

        def step(i: Value, *args: Value) -> Values:
            ys = self.body(i, *args[:count])
            rows = zip(kinds, args[count:], pick(ys, folded), strict=True)
            return *pick(ys, [not f for f in folded]), *(COMBINE[k](total, y) for k, total, y in rows)

        types = [p.type for p in (*self.body.params, *terms)]
        names = [hint_of(p) for p in self.body.params] + ["total"] * len(terms)
        plain = Loop(
            self.length,
            self.ins + ("carry",) * len(terms),
            (*pick(self.outs, [not f for f in folded]), *("last" for _ in terms)),
            trace(step, *types, names=names),
            self.reverse,
        )
        starts = [
            broadcast(const(start_of(k, y.dtype), y.dtype), y.shape, ()) for k, y in zip(kinds, terms, strict=True)
        ]
        made = plain.apply(*xs, *starts)
        same, totals = iter(made), iter(made[len(made) - len(terms) :])
        return tuple([next(totals) if f else next(same) for f in folded])

    # --- derivatives

    @property
    def is_linear(self) -> bool:
        """Whether no float result is a fold other than a sum."""
        pairs = zip(self.outs, self.body.results, strict=True)
        return not any([k in REDUCTIONS and y.type.is_float for k, y in pairs])

    def unfolded(self) -> Function:
        """This loop with products and extrema taken over stacked terms, whose derivatives are known."""
        plain = replace(self, outs=tuple(["stack" if k in REDUCTIONS else k for k in self.outs]))

        def unfold(*xs: Value) -> Values:
            pairs = zip(plain.apply(*xs), self.outs, strict=True)
            return tuple([REDUCTIONS[k](y, (0,)) if k in REDUCTIONS else y for y, k in pairs])

        return trace(unfold, *(self.operand_type(n) for n in range(len(self.ins))))

    def operand_type(self, n: int) -> Type:
        """The type of the n-th operand."""
        type = self.body.params[n + 1].type
        return type.stacked(self.length) if self.ins[n] == "each" else type

    def spreading(self, marked: Sequence[bool], *, floats: bool) -> tuple[tuple[bool, ...], tuple[bool, ...]]:
        """Operands and results that depend on the marked operands, by way of carries too."""
        flags, found = settle(self.body, (False, *marked), self.carries, floats=floats)
        return flags[1:], found

    @property
    def carries(self) -> list[tuple[int, int]]:
        """(parameter of the body, result) of each carry."""
        ins = [n for n, kind in enumerate(self.ins, start=1) if kind == "carry"]
        return list(zip(ins, [k for k, kind in enumerate(self.outs) if kind == "last"], strict=True))

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        if not self.is_linear:
            return push(self.unfolded(), xs, dxs)
        active, moved = self.spreading([d is not None for d in dxs], floats=True)
        params = self.body.params[1:]

        def step(i: Value, *args: Value) -> Values:
            tangents = spread(args[len(params) :], active)
            ys, dys = push(self.body, (i, *args[: len(params)]), (None, *tangents))
            return *ys, *pick(instantiate(ys, dys), moved)

        names = [hint_of(p) for p in self.body.params] + [f"d{hint_of(p)}" for p in pick(params, active)]
        body = trace(step, *(p.type for p in (*self.body.params, *pick(params, active))), names=names)
        both = replace(self, ins=self.ins + pick(self.ins, active), outs=self.outs + pick(self.outs, moved), body=body)
        ys = both.apply(*xs, *pick(instantiate(xs, dxs), active))
        return ys[: len(moved)], spread(ys[len(moved) :], moved)

    def linearize(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        """This loop, also stacking what its derivative reads; and the derivative, a second loop,
        which is linear and can be transposed."""
        if not self.is_linear:
            return push(self.unfolded(), xs, dxs, split=True)
        active, moved = self.spreading([d is not None for d in dxs], floats=True)
        with scope():
            ys, dps, pushed = linearize(self.body, self.body.params, (False, *active))
            dys = pick(instantiate(ys, pushed), moved)
            free = {p for p, kind in zip(self.body.params, ("each", *self.ins), strict=True) if kind != "carry"}
            saved = cut(read_with(dys, dps), free)
        saving = replace(self.body, results=(*ys, *saved))
        more: tuple[Out, ...] = ("stack",) * len(saved)
        results = replace(self, outs=self.outs + more, body=saving).apply(*xs)
        given = self.sources(dys, saved, xs, results[len(ys) :])
        linear = Loop(
            self.length,
            (*(kind for kind, _ in given.values()), *pick(self.ins, active)),
            pick(self.outs, moved),
            abstract(dys, (self.body.params[0], *given, *dps), f"d{self.body.name}"),
            self.reverse,
        )
        made = linear.apply(*(x for _, x in given.values()), *pick(instantiate(xs, dxs), active))
        return results[: len(ys)], spread(made, moved)

    def sources(self, ys: Values, saved: Values, xs: Sequence[Any], stacks: Values) -> dict[Value, tuple[In, Value]]:
        """Where a second loop finds what `ys` read: this loop's operands that are no carries, and
        stacks of what was saved."""
        found = {node.values[0] for node in nodes(ys, stop=saved)}
        rows = zip(self.body.params[1:], self.ins, xs, strict=True)
        given = dict[Value, tuple[In, Value]]()
        for p, kind, x in rows:
            if kind != "carry" and p in found and isinstance(x, Value):
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
        saved = cut(read_with(ys, pick(params, active)), free - set(pick(params, active)))
        lasts = pick(self.body.results, [k == "last" for k in self.outs])
        kept = [not a for a, kind in zip(active, self.ins, strict=True) if kind == "carry"]
        results = (*pick(lasts, kept), *saved)
        outs: tuple[Out, ...] = ("last",) * (len(results) - len(saved)) + ("stack",) * len(saved)
        over = (self.body.params[0], *pick(params, [not a for a in active]))
        ahead = Loop(self.length, ins, outs, abstract(results, over, self.body.name), self.reverse)
        made = ahead.apply(*pick(xs, [not a for a in active]))
        return self.sources(ys, saved, xs, made[len(made) - len(saved) :])

    def batch(self, n: int, batched: tuple[bool, ...], *xs: Value) -> Values:
        flags, moved = self.spreading(batched, floats=False)
        fixed = [not m for m in moved]
        body = self.body
        mapped = vmap(replace(body, results=pick(body.results, moved)), n, (False, *flags))

        def step(*args: Value) -> Values:
            same = iter(replace(body, results=pick(body.results, fixed))(*args))
            new = iter(mapped(*args))
            return tuple([next(new) if m else next(same) for m in moved])

        types = [p.type.stacked(n) if f else p.type for p, f in zip(body.params, (False, *flags), strict=True)]
        made = trace(step, *types, names=[hint_of(p) for p in body.params])
        operands = [
            ir.operators.lift(x, n) if f and not b else swap_first(x) if b and kind == "each" else x
            for x, b, f, kind in zip(xs, batched, flags, self.ins, strict=True)
        ]
        ys = replace(self, body=made).apply(*operands)
        return tuple(
            [
                ir.operators.lift(y, n) if not m else swap_first(y) if kind == "stack" else y
                for y, m, kind in zip(ys, moved, self.outs, strict=True)
            ]
        )

    # --- form

    def prune(self, used: tuple[bool, ...], xs: Values) -> Tangents:
        """The used results, of a loop that carries and reads no more than they need."""
        (_, *stay), keep = needed(self.body, used, self.carries)
        params = self.body.params[1:]
        body = Function(self.body.name, (self.body.params[0], *pick(params, stay)), pick(self.body.results, keep))
        small = replace(self, ins=pick(self.ins, stay), outs=pick(self.outs, keep), body=body)
        return spread(small.apply(*pick(xs, stay)), keep)

    def write(self, node: Node, names: Sequence[str], to: Printer) -> None:
        """`%y: type = loop(length=n) {`, operands by kind, the body, results by kind, `}`."""
        left = ", ".join(map(to.bind, node.values, names))
        with to.block(f"{left} = loop(length={self.length}{', reverse=True' * self.reverse})"):
            index, *params = self.body.params
            operands = [to.use(x) for x in node.args]
            to.line(f"index {to.bind(index, hint_of(index) or 'i')}")
            for kind, p, x in zip(self.ins, params, operands, strict=True):
                to.line(f"{kind:<5} {to.bind(p, hint_of(p))} = {x}")
            to.body(self.body.results)
            for kind, y in zip(self.outs, self.body.results, strict=True):
                to.line(f"{kind:<5} {to.use(y)}")

    @classmethod
    def read(cls, text: Parser) -> Values:
        """Parse what `write` wrote, from after the primitive's name."""
        _, settings = text.call()
        text.take(text="{")
        text.take(text="index")
        outer, inner = text.scope, dict[str, Value]()
        text.scope = inner
        params, ins, xs = [text.binder()], list[In](), list[Value]()
        while text.ahead in AS_OUT:
            ins.append(cast("In", text.take()))
            text.scope = inner
            params.append(text.binder())
            text.take(text="=")
            text.scope = outer
            xs.append(text.operand())
        outs, ys = list[Out](), list[Value]()
        text.scope = inner
        with scope():
            while text.ahead.startswith("%"):
                text.statement()
            while not text.accept("}"):
                outs.append(cast("Out", text.take(kind="word")))
                ys.append(text.operand())
        text.scope = outer
        body = Function("body", tuple(params), tuple(ys))
        return cls(ins=tuple(ins), outs=tuple(outs), body=body, **settings).apply(*xs)


def start_of(kind: str, dtype: str) -> float:
    """What a fold starts from."""
    if kind in STARTS:
        return STARTS[kind]
    if dtype[0] == "f":
        return -math.inf if kind == "max" else math.inf
    bits = int(dtype[1:]) - (dtype[0] == "i")
    lowest = -(2**bits) if dtype[0] == "i" else 0
    return lowest if kind == "max" else 2**bits - 1


def swap_first(x: Value) -> Value:
    """The first two axes exchanged."""
    return permute(x, (1, 0, *range(2, len(x.shape))))


def is_read_in_part(p: Value, ys: Values) -> bool:
    """Whether something reads a smaller part of an array, whose cotangent is then mostly zero."""
    for node in nodes(ys):
        if p not in node.args:
            continue
        if isinstance(node.op, Movement | Indexed) and node.types[0].size < p.type.size:
            return True
        if isinstance(node.op, Loop):
            inner = node.op
            held = [n for n, a in enumerate(node.args) if a is p and inner.ins[n] == "const"]
            if any([is_read_in_part(inner.body.params[n + 1], inner.body.results) for n in held]):
                return True
    return False
