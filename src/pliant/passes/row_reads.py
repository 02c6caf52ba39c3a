"""What a step of a loop reads to make something of its rows: rows, late rows, what all rows so far have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, final

from pliant.core.data import frozen
from pliant.core.ir import Node, Value
from pliant.ops.base import Movement
from pliant.ops.elementwise import Div, Mul, Neg
from pliant.ops.folds import filled
from pliant.ops.reduce import ReduceSum
from pliant.ops.select import Select, is_zero
from pliant.ops.shape import reshape
from pliant.ops.transcendental import Exp
from pliant.passes.row_wise import among, row_at, taken


@final
@frozen
class Late:
    """The rows of some steps before."""

    value: Value
    by: int


@final
@frozen
class Shift:
    """What an extremum is by this step; or, if is_change, what that does to exponentials of the rows before."""

    of: Value
    is_change: bool = False


@final
@frozen
class Thin:
    """Some of the rows, as an array."""

    value: Value


@final
@frozen
class Tag:
    """How rows depend on what all rows have in common, `of`: `shifted`, x − of; `scaled`, a multiple of exp(−of);
    `centred`, x − of for their mean; `squares` of these."""

    kind: str
    of: Value


Key: TypeAlias = "Value | Late | Shift | Thin"  # what a step makes


@final
@frozen
class Read:
    """What a step reads: the row that it made (`row`); of an array of before the loop a row (`each`) or all (`whole`).

    span: which rows of the loop the array's rows belong to. block: how many a step reads, if these lie along axis 0.
    """

    key: Key
    kind: str
    span: range = range(0)
    block: int = 0

    @property
    def value(self) -> Value:
        """What it reads that no step makes."""
        assert isinstance(self.key, Value)
        return self.key

    def given(self, env: dict[Value, Value], steps: range, count: int) -> Value:
        """The operand, for what is read, of a loop whose steps make these of `count` rows."""
        x = env[self.value]
        if self.kind == "whole":
            return x
        x, rows = self.rows(x, count)
        low, high = max(rows.start, steps.start), min(rows.stop, steps.stop)
        part = taken(x, range(low - rows.start, high - rows.start))
        return among(part, range(low - steps.start, high - steps.start), len(steps))

    def row(self, env: dict[Value, Value], number: int, count: int) -> Value:
        """What is read of it for one of `count` rows; zeros if it has none for that."""
        x = env[self.value]
        if self.kind == "whole":
            return x
        x, rows = self.rows(x, count)
        return row_at(x, number - rows.start) if number in rows else filled(0, x.type.row)

    def rows(self, x: Value, count: int) -> tuple[Value, range]:
        """The rows of an array, in order, and which of `count` they are."""
        x = reshape(x, (count, self.block, *x.shape[1:])) if self.block else x
        return (x, self.span) if self.span.step > 0 else (taken(x, range(len(self.span))[::-1]), self.span[::-1])


Reads: TypeAlias = "tuple[Read, ...]"


def next_kind(node: Node, tagged: Sequence[bool], tag: Tag) -> str | None:
    """How what a node makes of rows depends on what they have in common; None if that is not known."""
    op, args, is_number = node.op, node.args, not tag.of.shape
    match tag.kind:
        case "shifted":
            return "scaled" if isinstance(op, Exp) else tag.kind if isinstance(op, Movement) and is_number else None
        case "scaled":
            is_linear = isinstance(op, Neg) or (isinstance(op, Mul) and sum(tagged) == 1)
            is_linear |= isinstance(op, Div) and tagged == [True, False]
            is_linear |= isinstance(op, Select) and tagged == [False, True, False] and is_zero(args[2])
            is_linear |= isinstance(op, Movement | ReduceSum) and is_number
            return tag.kind if is_linear else None
        case "centred":
            return "squares" if isinstance(op, Mul) and args[0] is args[1] else None
        case _:
            return None
