"""What a loop is: its kinds, its types, its meaning on arrays, its text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, Literal, TypeAlias, cast

from pliant.core.build import hint_of
from pliant.core.data import frozen
from pliant.core.ir import Function, Namespace, Node, Op, Tangents, Value, Values
from pliant.core.parse import Parser
from pliant.core.print import Printer
from pliant.core.scope import scope
from pliant.core.types import DTYPES, Type
from pliant.errors import DTypeError, ShapeError
from pliant.ops import loop_in_jax
from pliant.ops.custom import pick, spread
from pliant.ops.folds import UFUNCS, start_of
from pliant.ops.region import needed, settle, smaller
from pliant.transforms.evaluate import stepper

In: TypeAlias = Literal["const", "carry", "each", "count"]
Out: TypeAlias = Literal["last", "stack", "sum", "total", "prod", "max", "min", "any", "all"]

AS_OUT: Final[dict[In, Out]] = {"const": "sum", "carry": "last", "each": "stack"}
AS_IN: Final[dict[Out, In]] = {"sum": "const", "total": "const", "last": "carry", "stack": "each"}
KINDS: Final = (*AS_OUT, "count")


@frozen
class LoopForm(Op):
    """The fields of a loop, and the rules that have nothing to do with derivatives."""

    length: int
    ins: tuple[In, ...]
    outs: tuple[Out, ...]
    body: Function
    reverse: bool = False

    def infer(self, *xs: Type) -> tuple[Type, ...]:
        index, *params = self.body.params
        if index.type != Type("i64") or len(params) != len(xs) or len(xs) != len(self.ins):
            raise ShapeError(f"loop: the body takes {len(params)} operands after the index, got {len(xs)}")
        counts = [x for x, kind in zip(xs, self.ins, strict=True) if kind == "count"]
        if counts not in ([], [Type("i64")]):
            raise ShapeError(f"loop: expected one count of steps, {Type('i64')}, got {', '.join(map(str, counts))}")
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
        if kind in UFUNCS and (made.kind == "b") != (kind in ("any", "all")):
            raise DTypeError(f"loop: no fold {kind!r} of {made}")
        if kind in ("max", "min") and not self.length:
            raise ShapeError(f"loop: {kind} over no steps has no value")
        return made.stacked(self.length) if kind == "stack" else made

    def array(self, xp: Namespace, *xs: Any) -> tuple[Any, ...]:
        step, count = stepper(self.body, xp), self.steps(xs)
        made: list[Any] = [[] if k in ("stack", "total") else None for k in self.outs]
        state = list(xs)
        for i in range(count)[:: -1 if self.reverse else 1]:
            row = [x[i] if kind == "each" else x for x, kind in zip(state, self.ins, strict=True)]
            ys = step((xp.asarray(i), *row))
            lasts = iter(pick(ys, [k == "last" for k in self.outs]))
            state = [next(lasts) if kind == "carry" else x for x, kind in zip(state, self.ins, strict=True)]
            for n, (y, kind) in enumerate(zip(ys, self.outs, strict=True)):
                if kind in ("stack", "total"):
                    made[n].append(y)
                elif kind != "last":
                    made[n] = y if made[n] is None else getattr(xp, UFUNCS[kind])(made[n], y)
        carries = iter(pick(state, [kind == "carry" for kind in self.ins]))
        return tuple([next(carries) if k == "last" else self._column(xp, n, made[n]) for n, k in enumerate(self.outs)])

    def jax(self, jnp: Namespace, *xs: Any) -> tuple[Any, ...]:
        return loop_in_jax.loop(self, jnp, xs)

    def steps(self, xs: Sequence[Any]) -> int:
        """How many steps are run, given the operands."""
        counts = pick(xs, [kind == "count" for kind in self.ins])
        return min(max(int(counts[0]), 0), self.length) if counts else self.length

    def _column(self, xp: Namespace, n: int, made: Any) -> Any:
        """A stack from its rows, zeros where no step was run; a fold, or what it starts from."""
        kind, type = self.outs[n], self.body.results[n].type
        dtype = getattr(xp, DTYPES[type.dtype])
        if kind == "total" and made:
            return xp.sum(xp.stack(made), axis=0, dtype=dtype)
        if kind != "stack":
            is_made = made is not None and not isinstance(made, list)
            return cast("Any", made) if is_made else xp.full(type.shape, start_of(kind, type.dtype), dtype=dtype)
        rest = xp.zeros((self.length - len(made), *type.shape), dtype=dtype)
        rows = made[:: -1 if self.reverse else 1]
        return (
            xp.concat([xp.stack(rows), rest]) if made and len(made) < self.length else xp.stack(rows) if made else rest
        )

    # --- what depends on what

    @property
    def has_folds(self) -> bool:
        """Whether some results are folds, which `expand` makes carries of."""
        return any([k in UFUNCS for k in self.outs])

    @property
    def carries(self) -> list[tuple[int, int]]:
        """(parameter of the body, result) of each carry."""
        ins = [n for n, kind in enumerate(self.ins, start=1) if kind == "carry"]
        return list(zip(ins, [k for k, kind in enumerate(self.outs) if kind == "last"], strict=True))

    def operand_type(self, n: int) -> Type:
        """The type of the n-th operand."""
        type = self.body.params[n + 1].type
        return type.stacked(self.length) if self.ins[n] == "each" else type

    def spreading(self, marked: Sequence[bool], *, floats: bool) -> tuple[tuple[bool, ...], tuple[bool, ...]]:
        """Operands and results that depend on the marked operands, by way of carries too."""
        flags, found = settle(self.body, (False, *marked), self.carries, floats=floats)
        return flags[1:], found

    def reached(self, marked: Sequence[bool]) -> tuple[bool, ...]:
        """Results that depend on the marked operands; all of them on a number of steps."""
        counts = [m and kind == "count" for m, kind in zip(marked, self.ins, strict=True)]
        return (True,) * len(self.outs) if any(counts) else self.spreading(marked, floats=False)[1]

    def needs(self, used: tuple[bool, ...]) -> tuple[bool, ...]:
        """The operands that the used results need."""
        (_, *read), _ = needed(self.body, used, self.carries)
        return tuple([r or kind == "count" for r, kind in zip(read, self.ins, strict=True)])

    def prune(self, used: tuple[bool, ...], xs: Values) -> Tangents:
        """The used results, of a loop that carries and reads no more than they need."""
        _, keep = needed(self.body, used, self.carries)
        stay = self.needs(used)
        body = smaller(self.body, (True, *stay), keep)
        small = replace(self, ins=pick(self.ins, stay), outs=pick(self.outs, keep), body=body)
        return spread(small.apply(*pick(xs, stay)), keep)

    # --- text

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
        while text.ahead in KINDS:
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
