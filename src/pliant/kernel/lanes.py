"""A reduction that keeps a short last axis, as one reduction for each place on that axis.

`w[:, None] * x` of shape [n, 3], summed over n, is three sums of n products. They share the loop over n with
each other and with whatever else is summed over it, add up in registers, and compute once what does not
depend on the short axis. As one sum it would be an inner loop of three steps that adds to memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, final

from pliant.core.ir import Function, Node, Value, Values
from pliant.kernel.cost import price_of
from pliant.ops.base import Elementwise
from pliant.ops.reduce import Reduction
from pliant.ops.shape import Broadcast, broadcast, concatenate, reshape, slice_axis
from pliant.transforms.replace import replaced_in

SHORT: Final = 7  # places on an axis that get a reduction each
LONG: Final = 64  # elements that become one
CHEAP: Final = 4  # simple operations that cost less than bringing their result to memory


def by_lanes(fn: Function) -> Function:
    """`fn` with such reductions taken apart."""
    if not any([keeps_short_axis(node) for node in fn.nodes]):
        return fn
    lanes = _Lanes(frozenset([a for a, count in fn.use_counts().items() if count == 1 or price_of(a.op) <= CHEAP]))

    def rule(node: Node, env: Mapping[Value, Value]) -> Value | None:
        return lanes.apart(node, env) if keeps_short_axis(node) else None

    return replaced_in(fn, rule, keeps=True)


def keeps_short_axis(node: Node) -> bool:
    """Whether a node is a reduction of many elements each that leaves a short last axis."""
    op = node.op
    if not isinstance(op, Reduction):
        return False
    (x,) = node.args
    last = x.type.rank - 1
    if not op.axes or last in op.axes or not 1 < x.shape[last] <= SHORT:
        return False
    return x.type.size >= LONG * node.types[0].size > 0


@final
class _Lanes:
    """What values are at one place of their last axes. `free`: values that are computed anew for that, and
    not taken from where all of them lie."""

    def __init__(self, free: frozenset[Value]) -> None:
        self.free = free
        self.known: dict[tuple[Value, int], Value] = {}

    def apart(self, node: Node, env: Mapping[Value, Value]) -> Value:
        """The reductions of the places of the last axis, side by side; `env`: what values have become."""
        (x,) = node.args
        places = [node.op.apply(self.lane(x, n, env))[0] for n in range(x.shape[-1])]
        return concatenate(tuple([reshape(p, (*p.shape, 1)) for p in places]), places[0].type.rank)

    def lane(self, value: Value, place: int, env: Mapping[Value, Value]) -> Value:
        """The elements of a value at one place."""
        todo = [value]
        while todo:
            top = todo[-1]
            needed = [a for a in self.crossed(top) if (a, place) not in self.known]
            if not needed:
                self.known[top, place] = self.made(top, place, env)
                todo.pop()
            todo += needed
        return self.known[value, place]

    def crossed(self, value: Value) -> Values:
        """The operands whose own lanes a lane is made from."""
        op = value.op
        if value not in self.free:
            return ()
        if isinstance(op, Elementwise):
            return tuple([a for a in value.args if a.shape])
        return value.args if isinstance(op, Broadcast) and op.axes[-1:] == (value.type.rank - 1,) else ()

    def made(self, value: Value, place: int, env: Mapping[Value, Value]) -> Value:
        """A lane from those of the operands that are crossed."""
        op, shape = value.op, value.shape[:-1]
        if isinstance(op, Elementwise) and value in self.free:
            return op.apply(*[self.known[a, place] if a.shape else env[a] for a in value.args])[value.index]
        if isinstance(op, Broadcast) and value in self.free:
            (x,) = value.args
            is_along = op.axes[-1:] == (value.type.rank - 1,)
            return (
                broadcast(self.known[x, place], shape, op.axes[:-1]) if is_along else broadcast(env[x], shape, op.axes)
            )
        return reshape(slice_axis(env[value], value.type.rank - 1, place, 1), shape)
