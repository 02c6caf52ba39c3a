"""Where loops end: `sum(select(i < n, x, 0))` need not look at the elements from n on, and from there on
`select(i < n, x, 0)` is the same everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeAlias, TypeVar, final

import numpy as np

from pliant.core.ir import Const, Node, Number, Op, Value
from pliant.core.types import DTYPES
from pliant.kernel.identities import identity_of
from pliant.kernel.ir import FoldShape
from pliant.ops.base import Elementwise
from pliant.ops.bits import BitwiseAnd
from pliant.ops.block import ReadBlock
from pliant.ops.compare import Less
from pliant.ops.reduce import Reduction
from pliant.ops.select import Select
from pliant.ops.shape import Broadcast, Iota, Permute, Reshape
from pliant.transforms.evaluate import run

Lengths: TypeAlias = "tuple[Value | None, ...]"
"""Where each loop over a space ends, if that is before its extent."""
Ends: TypeAlias = "tuple[dict[int, Value], Number]"
"""Where an array ends, by axis, and what its elements are from there on."""

NOWHERE: Final[Ends] = ({}, 0)
MOST: Final = 3
"""Operands of an elementwise primitive that is asked about."""
T = TypeVar("T")


@final
class Found(Generic[T]):
    """What a rule finds out about values, each of which it is asked about once, after what it depends on."""

    def __init__(self, rule: Callable[[Value, dict[Value, T]], T], through: tuple[type[Op], ...]) -> None:
        """rule: what it says about a value, given what it said about the operands of those of the classes `through`."""
        self.rule, self.through, self.known = rule, through, dict[Value, T]()

    def of(self, value: Value) -> T:
        """What the rule says about a value."""
        todo = [value]
        while todo:
            x = todo[-1]
            behind = [a for a in x.args if a not in self.known] if isinstance(x.op, self.through) else []
            if x not in self.known and not behind:
                self.known[x] = self.rule(x, self.known)
            todo.extend(behind) if behind and x not in self.known else todo.pop()
        return self.known[value]


@final
class Limits:
    """Where the loops that make the values of a program end."""

    def __init__(self) -> None:
        self.masks = Found(_bounds, (BitwiseAnd, Broadcast, Permute))
        self.ends = Found(self._ends, (Elementwise, Reshape, Permute))

    def of_fold(self, node: Node, fold: FoldShape) -> Lengths:
        """Where the loops of a fold end; nothing if all run over their extents.

        Where a loop that is not folded ends early, the rest of the result is what the fold of nothing is.
        """
        op = node.op
        if not isinstance(op, Reduction):
            return ()
        ends, rest = self.ends.of(node.args[0])
        if rest != identity_of(fold.kind, fold.dtype):
            return ()
        kept = [axis for axis in range(len(node.args[0].shape)) if axis not in op.axes]
        found = tuple([ends.get(op.axes[~axis] if axis < 0 else kept[axis]) for axis in fold.order])
        return found if any(found) else ()

    def of(self, value: Value) -> tuple[Lengths, Number] | None:
        """Where the loops that make an array end, and what its elements are from there on; None if they run
        over their extents."""
        ends, rest = self.ends.of(value)
        found = tuple([ends.get(a) for a in range(len(value.shape))])
        return (found, rest) if any(found) else None

    def _ends(self, value: Value, known: dict[Value, Ends]) -> Ends:
        match value.op:
            case ReadBlock(shape, _, 0) as op:
                lengths = value.args[1 + len(op.step) :]
                return {a: n for a, n in enumerate(lengths) if not is_number(n, shape[a])}, 0
            case Select():
                mask, _, other = value.args
                rest, bounds = _number(other), self.masks.of(mask)
                return (bounds, rest) if bounds and rest is not None else _combined(value, known)
            case BitwiseAnd() | Less() if bounds := self.masks.of(value):
                return bounds, False
            case Reshape():
                (x,) = value.args
                old, new = ([a for a, n in enumerate(v.shape) if n != 1] for v in (x, value))
                ends, rest = known[x]
                is_same = [x.shape[a] for a in old] == [value.shape[a] for a in new] and all([a in old for a in ends])
                return {new[old.index(a)]: n for a, n in ends.items()} if is_same else {}, rest
            case Permute(order):
                ends, rest = known[value.args[0]]
                return {order.index(a): n for a, n in ends.items()}, rest
            case Elementwise() as op if len(value.args) <= MOST and not hasattr(op, "failure"):
                return _combined(value, known)
            case _:
                return NOWHERE


def _combined(value: Value, known: dict[Value, Ends]) -> Ends:
    """Where the result of an elementwise primitive ends: where all of its operands do that are no numbers."""
    numbers = [_number(a) for a in value.args]
    parts = [known[a] for a, number in zip(value.args, numbers, strict=True) if number is None]
    if not parts or not parts[0][0]:
        return NOWHERE
    same = {a: n for a, n in parts[0][0].items() if all([ends.get(a) is n for ends, _ in parts])}
    if not same:
        return NOWHERE
    rests = iter([rest for _, rest in parts])
    given = [
        np.asarray(next(rests) if number is None else number, DTYPES[a.dtype])
        for a, number in zip(value.args, numbers, strict=True)
    ]
    with np.errstate(all="ignore"):
        (made,) = run(value.op, np, given)
    return same, made.item()


def _number(value: Value) -> Number | None:
    """The number that all elements of a value are, if it is known."""
    if isinstance(value.op, Broadcast):
        (value,) = value.args
    return value.op.value if isinstance(value.op, Const) else None


def is_number(value: Value, number: int) -> bool:
    """Whether a value is a literal, and that number."""
    return isinstance(value.op, Const) and value.op.value == number


def _bounds(mask: Value, known: dict[Value, dict[int, Value]]) -> dict[int, Value]:
    """For axes of a mask, where it ends: it holds nowhere from there on."""
    match mask.op:
        case BitwiseAnd():
            first, second = [known[a] for a in mask.args]
            return second | first
        case Broadcast() as op:
            return {op.axes[a]: n for a, n in known[mask.args[0]].items()}
        case Permute(order):
            return {order.index(a): n for a, n in known[mask.args[0]].items()}
        case Less():
            place, end = mask.args
            axis = _counted(place)
            if isinstance(end.op, Broadcast) and not end.args[0].shape:
                (end,) = end.args
            return {axis: end} if axis is not None and not end.shape else {}
        case _:
            return {}


def _counted(value: Value) -> int | None:
    """The axis along which an array is 0, 1, 2, …, if it is that."""
    if isinstance(value.op, Iota):
        return 0
    is_spread = isinstance(value.op, Broadcast) and isinstance(value.args[0].op, Iota)
    return value.op.axes[0] if is_spread and isinstance(value.op, Broadcast) else None
