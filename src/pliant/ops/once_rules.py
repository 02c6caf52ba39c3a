"""What a loop carries twice, or a loop or a branch is given or makes twice, it has once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from pliant.core.ir import Function, Node, Param, Value, Values, substitute
from pliant.core.scope import scope
from pliant.ops.block import Agree
from pliant.ops.cond import Cond
from pliant.ops.custom import pick
from pliant.ops.loop import Loop
from pliant.ops.while_loop import WhileLoop
from pliant.rewrite.rule import Replacement, rewrite

Numbers: TypeAlias = "Callable[[Hashable], int]"
"""The number of what a key describes: one for equal keys."""

ALIKE: Final = {"count": "const"}  # kinds of operands that are the same at each step


def _numbers() -> Numbers:
    known: dict[Hashable, int] = {}
    return lambda key: known.setdefault(key, len(known))


def _numbered(fn: Function, given: Sequence[int], number: Numbers) -> list[int]:
    """Numbers of a function's results: results of one number are equal if parameters of one number are."""
    env = dict(zip(fn.params, given, strict=True))
    for node in fn.nodes:
        if not isinstance(node.op, Param):
            made = _made(node, [env[a] for a in node.args], number)
            env.update(zip(node.values, made, strict=True))
    return [env[y] for y in fn.results]


def _made(node: Node, args: list[int], number: Numbers) -> list[int]:
    op = node.op
    if isinstance(op, Cond):
        ways = zip(*(_numbered(fn, args[1:], number) for fn in op.branches), strict=True)
        return [then if then == otherwise else number((args[0], then, otherwise)) for then, otherwise in ways]
    if isinstance(op, Agree) and args[0] == args[1]:
        return args[:1]
    return [number((op, *args, k)) for k in range(len(node.values))]


def _groups(loop: Loop | WhileLoop, xs: Values) -> list[int]:
    """The group of each operand: those of one group have equal parameters at every step.

    Carries that start alike stay alike if every step leaves them so where it finds them so: groups are divided until
    no step divides one.
    """
    number = _numbers()
    lead = [number("index")] if isinstance(loop, Loop) else []
    groups = [number((ALIKE.get(kind, kind), x)) for kind, x in zip(loop.ins, xs, strict=True)]
    while len(set(groups)) < len(groups):
        made = _numbered(loop.body, [*lead, *groups], number)
        new = list(groups)
        for c, k in loop.carries:
            new[c - len(lead)] = number((groups[c - len(lead)], "left as", made[k]))
        if len(set(new)) == len(set(groups)):
            break
        groups = new
    return groups


@rewrite(Loop, is_of_node=True)
def loop_without_repeated_operands(value: Value) -> Replacement:
    """What a loop is given twice, or carries twice, it is given or carries once."""
    return _once(value)


@rewrite(WhileLoop, is_of_node=True)
def while_without_repeated_operands(value: Value) -> Replacement:
    """What a loop is given twice, or carries twice, it is given or carries once."""
    return _once(value)


def _once(value: Value) -> Replacement:
    loop, xs = value.op, value.args
    assert isinstance(loop, Loop | WhileLoop)
    groups = _groups(loop, xs)
    first: dict[int, int] = {}
    for n in sorted(range(len(xs)), key=lambda n: loop.ins[n] != "count"):  # the count has to stay
        first.setdefault(groups[n], n)
    if len(first) == len(xs):
        return None
    keep = [first[g] == n for n, g in enumerate(groups)]
    lead = int(isinstance(loop, Loop))
    ends = {c - lead: k for c, k in loop.carries}
    gone = {k for n, k in ends.items() if not keep[n]}
    stays = [k not in gone for k in range(len(value.node.values))]

    def small(fn: Function, stays: Sequence[bool]) -> Function:
        params = fn.params[lead:]
        same = {p: params[first[g]] for p, g in zip(params, groups, strict=True)}
        with scope():
            results = substitute(pick(fn.results, stays), same)
            return Function(fn.name, (*fn.params[:lead], *pick(params, keep)), results)

    ins, body = pick(loop.ins, keep), small(loop.body, stays)
    if isinstance(loop, Loop):
        made = replace(loop, ins=ins, outs=pick(loop.outs, stays), body=body).apply(*pick(xs, keep))
    else:
        made = replace(loop, ins=ins, test=small(loop.test, (True,)), body=body).apply(*pick(xs, keep))
    left = iter(made)
    found = {k: next(left) for k, is_kept in enumerate(stays) if is_kept}
    found |= {k: found[ends[first[groups[n]]]] for n, k in ends.items() if not keep[n]}
    return {v: found[k] for k, v in enumerate(value.node.values)}


@rewrite(Cond, is_of_node=True)
def cond_without_repeated_operands(value: Value) -> Replacement:
    """What a branch is given twice it is given once."""
    op, (condition, *xs) = value.op, value.args
    assert isinstance(op, Cond)
    first = {x: n for n, x in reversed(list(enumerate(xs)))}
    if len(first) == len(xs):
        return None
    keep = [first[x] == n for n, x in enumerate(xs)]

    def small(fn: Function) -> Function:
        same = {p: fn.params[first[x]] for p, x in zip(fn.params, xs, strict=True)}
        with scope():
            return Function(fn.name, pick(fn.params, keep), substitute(fn.results, same))

    made = Cond(small(op.then), small(op.otherwise)).apply(condition, *pick(xs, keep))
    return dict(zip(value.node.values, made, strict=True))


@rewrite(Cond, is_of_node=True)
def cond_without_repeated_results(value: Value) -> Replacement:
    """What both branches make twice they make once."""
    op = value.op
    assert isinstance(op, Cond)
    ways = list(zip(op.then.results, op.otherwise.results, strict=True))
    first = {pair: n for n, pair in reversed(list(enumerate(ways)))}
    if len(first) == len(ways):
        return None
    keep = [first[pair] == n for n, pair in enumerate(ways)]
    small = [replace(fn, results=pick(fn.results, keep)) for fn in op.branches]
    left = iter(Cond(*small).apply(*value.args))
    found = {n: next(left) for n, is_kept in enumerate(keep) if is_kept}
    return {v: found[first[pair]] for v, pair in zip(value.node.values, ways, strict=True)}


RULES = (
    loop_without_repeated_operands,
    while_without_repeated_operands,
    cond_without_repeated_operands,
    cond_without_repeated_results,
)
