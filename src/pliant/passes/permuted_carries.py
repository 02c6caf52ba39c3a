"""Arrays that the steps of a loop take in another order of axes are carried in that order.

Of all loops: those of known length, those whose end is found on the way, and their ways forward and back.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, TypeAlias, cast

from pliant.core.build import hint_of, trace
from pliant.core.inner import functions_of
from pliant.core.ir import Function, Op, Users, Value, Values, substitute
from pliant.ops.block import Block
from pliant.ops.cond import Cond
from pliant.ops.custom import Holder
from pliant.ops.index import LinearScatter
from pliant.ops.loop import Loop
from pliant.ops.shape import Permute, permute
from pliant.ops.shape_rules import movement_of_nothing, permute_of_permute
from pliant.ops.tape import Record, Rewind
from pliant.ops.update import Window
from pliant.ops.while_loop import WhileLoop
from pliant.rewrite.rule import Replacement, rewrite

AnyLoop: TypeAlias = Loop | WhileLoop | Record | Rewind

STEPS: Final[dict[type[Op], tuple[str, ...]]] = {  # the function that carries, and another of the same parameters
    Loop: ("body",),
    WhileLoop: ("body", "test"),
    Record: ("ahead", "test"),
    Rewind: ("back",),
}


@rewrite(Loop, is_of_node=True)
def loop_with_permuted_carries(value: Value) -> Replacement:
    """Arrays that a step takes in another order of axes, and leaves in the usual one, are carried in that order."""
    return _permuted(value)


@rewrite(Holder)
def while_with_permuted_carries(value: Value) -> Replacement:
    """The same of loops whose end is found on the way, and of their ways forward and back."""
    return _permuted(value)


def _permuted(value: Value) -> Replacement:
    loop, xs = cast("AnyLoop", value.node.op), value.node.args
    names = STEPS.get(type(loop))
    if names is None:
        return None
    step = functions_of(loop)[names[0]]
    params, results, users = step.params, step.results, step.users()
    taken: dict[int, Permute] = {}  # how a step takes an array, by the number of its parameter
    left: dict[int, Permute] = {}  # how results are brought back to the usual order
    for n, k in loop.carries:
        op = results[k].op
        if isinstance(op, Permute):
            back = Permute(op.inverse())
            if _takes(params[n], back, users) and not _in_blocks(params[n], users):
                taken[n], left[k] = back, op
    usual = {n: left[k].order for n, k in loop.carries if n in taken}
    skipped = len(params) - len(xs)  # parameters of a step that no operand is given for, or the other way round
    for n, x in enumerate(xs, start=skipped):
        if isinstance(op := x.op, Permute) and _is_const(loop, n):
            back = Permute(op.inverse())
            if _takes(params[n], back, users):
                taken[n], usual[n] = back, op.order
    if not taken:
        return None
    types = [taken[n].infer(p.type) if n in taken else p.type for n, p in enumerate(params)]
    found = {u.values[0]: n for n, op in taken.items() for u in users.get(params[n], ()) if u and u.op == op}

    def turned(fn: Function) -> Function:
        """It, of parameters in the other order, and with results in it if it is the step."""
        ends = [r.args[0] if fn is step and k in left else r for k, r in enumerate(fn.results)]

        def run(*new: Value) -> Values:
            pairs = enumerate(zip(fn.params, new, strict=True))
            known = {p: permute(x, usual[n]) if n in taken else x for n, (p, x) in pairs}
            known.update({u: new[n] for u, n in found.items() if fn is step})
            return substitute(ends, known)

        return trace(run, *types, names=[hint_of(p) for p in fn.params])

    given = [permute(x, taken[n].order) if (n := k + skipped) in taken else x for k, x in enumerate(xs)]
    made = replace(loop, **{name: turned(functions_of(loop)[name]) for name in names}).apply(*given)  # type: ignore[arg-type]
    return {
        v: permute(y, left[k].order) if k in left else y
        for k, (v, y) in enumerate(zip(value.node.values, made, strict=True))
    }


def _takes(p: Value, op: Permute, users: Users) -> bool:
    """Whether a parameter of a function is taken in another order of axes there, or in a branch, or after writes."""
    for u in users.get(p, ()):
        if u is None:
            continue
        if u.op == op:
            return True
        if isinstance(u.op, Window) and u.args[0] is p and _takes(u.values[0], op, users):
            return True
        if isinstance(u.op, Cond):
            held = [(fn, fn.params[n]) for fn in u.op.branches for n, a in enumerate(u.args[1:]) if a is p]
            if any([_takes(q, op, fn.users()) for fn, q in held]):
                return True
    return False


def _in_blocks(p: Value, users: Users) -> bool:
    """Whether blocks of a parameter are read or written, also after writes to it: other arrays whose blocks they meet
    lie in the usual order."""
    found, left = {p}, [p]
    while left:
        x = left.pop()
        for u in users.get(x, ()):
            if u is None or u.values[0] in found:
                continue
            if isinstance(u.op, Block):
                return True
            if isinstance(u.op, Permute | Window | LinearScatter) and u.args[0] is x:
                found.add(u.values[0])
                left.append(u.values[0])
    return False


def _is_const(loop: AnyLoop, n: int) -> bool:
    """Whether the n-th parameter of a step is the same at each."""
    match loop:
        case Loop():
            return loop.ins[n - 1] == "const"
        case Rewind():
            return loop.saved <= n < len(loop.back.params) - len(loop.back.results)
        case _:
            return loop.ins[n] == "const"


RULES = (permute_of_permute, movement_of_nothing, loop_with_permuted_carries, while_with_permuted_carries)
