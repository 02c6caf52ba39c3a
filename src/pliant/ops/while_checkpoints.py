"""What a loop of unknown length keeps for its derivative: policies, as for loops in `checkpoints`.

Blocks grow by a step each, so that of n steps about √2n states are kept and as many steps are run again at a time,
whatever n is. A number of states to keep would have to know n before: it is taken as a wish for such blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from pliant.core.build import hint_of, trace
from pliant.core.ir import Function, Node, Value, Values, const
from pliant.ops.bits import bitwise_and
from pliant.ops.checkpoints import INDEX, Policy, Treeverse, again, apply_of
from pliant.ops.compare import less
from pliant.ops.cond import Cond
from pliant.ops.loop import Loop
from pliant.ops.tape import Kind
from pliant.ops.while_loop import WhileLoop
from pliant.transforms.replace import changed_inside, replaced

Apply: TypeAlias = Callable[[WhileLoop, Values], Values]


def saving_less(fn: Function, policy: Policy) -> Function:
    """`fn` with its outermost loops, also those in its branches, applied under a policy."""
    of_loop, of_while = apply_of(policy), apply_of_while(policy)

    def rule(node: Node, args: Values) -> Values | None:
        match node.op:
            case Loop() as loop:
                return of_loop(loop, args)
            case WhileLoop() as loop:
                return of_while(loop, args)
            case Cond():
                return changed_inside(node, args, lambda arm: saving_less(arm, policy))
            case _:
                return None

    return replaced(fn, rule)


def apply_of_while(policy: Policy) -> Apply:
    """How a loop of unknown length is applied under a policy; ArgumentError if there is no such policy."""
    match policy:
        case "carry":
            return again
        case "sqrt" | Treeverse():
            return in_growing_blocks
        case _:
            apply_of(policy)
            return lambda loop, xs: loop.apply(*xs)


def in_growing_blocks(loop: WhileLoop, xs: Values) -> Values:
    """The loop in blocks of 1, 2, 3, … steps, each run again in reverse mode."""
    width, types, names = len(xs), loop.operand_types, [hint_of(p) for p in loop.body.params]

    def loop_of(test: Callable[..., Value], step: Callable[..., Values], more: dict[str, Kind]) -> WhileLoop:
        every, hints = (*types, *(INDEX for _ in more)), [*names, *more]
        going, once = (trace(f, *every, names=hints) for f in (test, step))
        return WhileLoop(going, once, (*loop.ins, *more.values()))

    def going(*args: Value) -> Value:
        return loop.test(*args[:width])[0]

    def in_block(*args: Value) -> Value:
        return bitwise_and(less(args[width], args[width + 1]), going(*args))

    def step(*args: Value) -> Values:
        return *loop.body(*args[:width]), args[width] + 1

    inner = loop_of(in_block, step, {"j": "carry", "size": "const"})

    def block(*args: Value) -> Values:
        *given, size = args
        return *inner.apply(*given, const(0, INDEX.dtype), size)[:-1], size + 1

    return again(loop_of(going, block, {"size": "carry"}), (*xs, const(1, INDEX.dtype)))[:-1]
