"""A while loop is run once for its value and its derivative: the run that makes the value leaves the tape.

    y = loop {…; while w}                       y, tapes = loop {…; record w}
    … loop {…; retrace w} …                     … loop {…; rewind over the tape} …

A `Retrace` runs a loop that was run before, from the same operands. If these are what a step of an outer loop, or an
arm of a branch, has at hand or saved, the tape of each such run is handed on with what is saved; so in any nest of
loops and branches. A checkpoint, which runs steps again, has tapes of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeAlias, cast, final

from pliant.core.build import hint_of
from pliant.core.data import frozen
from pliant.core.inner import answered, functions_of
from pliant.core.ir import Const, Function, Node, Op, Param, Value, Values, const, nodes, param, rebuild, substitute
from pliant.core.origin import at
from pliant.core.scope import scope
from pliant.ops.branch_part import Unset
from pliant.ops.cond import Cond, cond_without_idle_operands
from pliant.ops.custom import pick
from pliant.ops.loop import Loop
from pliant.ops.loop_form import In, Out
from pliant.ops.loop_rules import loop_without_idle_operands
from pliant.ops.region import read_by
from pliant.ops.retrace import Retrace
from pliant.ops.tape import TAPE, Kind, Record
from pliant.ops.while_loop import WhileLoop
from pliant.rewrite.engine import simplify
from pliant.transforms.dead import eliminate_dead
from pliant.transforms.replace import Env, changed_inside, copied, replaced

IDLE: Final = (loop_without_idle_operands, cond_without_idle_operands)

Place: TypeAlias = "tuple[str, int] | None"  # where a function finds a parameter of another: its result, its parameter


@final
@frozen
class Link:
    """A node that is to leave some more values, tapes, and a later one that is to take them."""

    first: Node
    leaving: Op
    given: Values  # its operands
    kept: tuple[bool, ...]  # which of its results are those of the node; after these all are tapes
    later: Node
    taking: Op
    count: int

    def left(self, env: Env) -> tuple[Values, Values]:
        """The results of the first node, and the tapes."""
        made = self.leaving.apply(*(env[a] for a in self.given))
        first = len(made) - self.count
        return pick(made[:first], self.kept), made[first:]

    def taken(self, args: Values, tapes: Values) -> Values:
        """The results of the later node, given what the operands and the tapes have become."""
        op = self.later.op
        return self.taking.apply(*(op.operands(tapes[0], args) if isinstance(op, Retrace) else (*args, *tapes)))


def run_once(fn: Function) -> Function:
    """`fn` with while loops that are run for their value and again for a tape run once, also in what it holds."""
    return _opened(_linked_inside(fn)) if _holds_retrace(fn) else fn


@answered
def _holds_retrace(fn: Function) -> bool:
    return any([isinstance(node.op, Retrace) or any(map(_holds_retrace, _held(node))) for node in fn.nodes])


def _held(node: Node) -> list[Function]:
    return [*functions_of(node.op).values()]


def _opened(fn: Function) -> Function:
    """`fn` with what is left of both ways in one apart: such a loop was not run before."""
    fn = replaced(fn, lambda node, args: changed_inside(node, args, _opened) if functions_of(node.op) else None)
    return replaced(fn, lambda node, args: node.op.expand(*args) if isinstance(node.op, Retrace) else None)


def _linked_inside(fn: Function) -> Function:
    """`fn` with loops and their ways back linked, those inside others last: so these are linked in what has become of
    the others."""
    while _holds_retrace(fn):
        order = fn.nodes
        link = next(_links(order, order, {v: v for node in order for v in node.values}), None)
        if link is None:
            return replaced(fn, _inside)
        fn = _joined(fn, link)
    return fn


def _inside(node: Node, args: Values) -> Values | None:
    """A node with loops and their ways back linked in the functions it holds; None if there are none."""
    if not any(map(_holds_retrace, _held(node))):
        return None
    if isinstance(node.op, Retrace):
        return cast("Values", _linked_ways(node.op).prune((True,) * len(node.values), args))
    return changed_inside(node, args, _linked_inside)


def _linked_ways(op: Retrace) -> Retrace:
    """A loop and its way back with the loops in their steps linked."""
    if not _holds_retrace(op.ahead) and not _holds_retrace(op.back):
        return op
    first, width = len(op.carries), op.saved + len(op.reads)
    places: list[Place] = [("result", first + n) for n in range(op.saved)]
    places.extend([("param", n) for n in op.reads])
    places.extend([None] * (len(op.back.params) - width))
    ahead, back, count = _linked(op.ahead, op.back, places) or (op.ahead, op.back, 0)
    back = simplify(eliminate_dead(_linked_inside(back)), IDLE)
    old, new = back.params[: len(back.params) - count], back.params[len(back.params) - count :]
    order = (*old[: op.saved], *new, *old[op.saved :])
    # what only loops inside read again need not be on the tape
    read = [*read_by(back.results, old[: op.saved]), *[True] * (len(order) - op.saved)]
    results = pick(ahead.results, [*[True] * first, *read[: op.saved + count]])
    ahead = _linked_inside(replace(ahead, results=results))
    return replace(op, ahead=ahead, back=replace(back, params=pick(order, read)))


# --- where a loop was run before


def _links(order: Sequence[Node], later: Sequence[Node], known: Env) -> Iterator[Link]:
    """Nodes of some that can leave tapes for later ones; known: what values of the later ones are among the others."""
    for node in later:
        op, args = node.op, tuple([known.get(a) for a in node.args])
        if not (isinstance(op, Retrace) or any(map(_holds_retrace, _held(node)))):
            continue
        for first in order:
            common = [a for a in (*first.args, *first.values) if a in args and not isinstance(a.op, Const)]
            if first is node or not common:
                continue
            link = _link(first, node, args)
            if link is not None and node not in nodes(first.args):
                yield link


def _link(first: Node, later: Node, args: Sequence[Value | None]) -> Link | None:
    """How the first of two nodes can leave tapes for the other, if it can."""
    match first.op, later.op:
        case WhileLoop(), Retrace() as op:
            return _link_of_ways(first, later, op, args[: len(op.ins)])
        case Loop() as one, Loop() as other if (one.length, "count" in one.ins) == (other.length, "count" in other.ins):
            return _link_of_loops(first, one, later, other, args)
        case Cond(), Cond() if first.args[0] is args[0]:
            return _link_of_branches(first, later, args)
        case _:
            return None


def _link_of_ways(first: Node, later: Node, op: Retrace, args: Sequence[Value | None]) -> Link | None:
    """A loop and both ways of it; what only the way back needs, or only the value, the other may be rid of."""
    loop, given = first.op, [a for a in args if a is not None]
    assert isinstance(loop, WhileLoop)
    if len(given) < len(args) or first in nodes(given):
        return None
    places = _same_places(list(zip(first.args, loop.ins, strict=True)), list(zip(args, op.ins, strict=True)))
    has, had = [n is not None for n in places], [n in places for n in range(len(loop.ins))]
    ran = _restricted(op.test, op.ahead, op.ins, has), _restricted(loop.test, loop.body, loop.ins, had)
    if ran[0] is None or ran[0] != ran[1]:
        return None
    more = pick(op.ahead.params, [not h for h in has])
    with scope():
        params = (*loop.body.params, *(param(p.type, hint_of(p)) for p in more))
        own = dict(zip(more, params[len(loop.ins) :], strict=True))
        own.update((p, params[n]) for p, n in zip(op.ahead.params, places, strict=True) if n is not None)
        made = substitute(op.ahead.results, own)
        both = {places[n]: made[k] for n, k in op.carries}  # which leave the tapes of loops inside
        carried = [both.get(n, loop.body.results[k]) for n, k in loop.carries]
        is_new = [not has[n] for n, _ in op.carries]
        results = (*carried, *pick(made[: len(is_new)], is_new), *made[len(is_new) :])
        test = substitute(loop.test.results, dict(zip(loop.test.params, params, strict=False)))
    ins = (*loop.ins, *pick(op.ins, [not h for h in has]))
    numbers = {n: len(loop.ins) + k for k, n in enumerate([n for n, h in enumerate(has) if not h])}
    reads = tuple([numbers.get(n, places[n] or 0) for n in op.reads])
    ahead = Function(loop.body.name, params, results)
    both_ways = _linked_ways(Retrace(Function(loop.test.name, params, test), ahead, op.back, ins, reads))
    record = Record(both_ways.test, both_ways.ahead, ins)
    kept = (*[True] * len(loop.carries), *[False] * sum(is_new))
    operands = (*first.args, *pick(given, [not h for h in has]))
    return Link(first, record, operands, kept, later, both_ways.rewind, 1)


def _same_places(pairs: Sequence[tuple[Value, Kind]], others: Sequence[tuple[Value | None, Kind]]) -> list[int | None]:
    """Where others of these operands are among some, in the same order; None for those that are not."""
    places, at = list[int | None](), 0
    for pair in others:
        found = next((n for n in range(at, len(pairs)) if pairs[n] == pair), None)
        places.append(found)
        at = at if found is None else found + 1
    return places


def _restricted(test: Function, body: Function, ins: Sequence[Kind], has: Sequence[bool]) -> list[Function] | None:
    """The condition and the step of a loop of some of its operands; None if these depend on others."""
    carried = [h for h, kind in zip(has, ins, strict=True) if kind == "carry"]
    kept = pick(body.results[: len(carried)], carried)
    parts = Function("test", pick(test.params, has), test.results), Function("step", pick(body.params, has), kept)
    for fn in parts:
        if any([isinstance(n.op, Param) and n.values[0] not in fn.params for n in fn.nodes]):
            return None
    return list(map(_without_tapes, parts))


def _without_tapes(fn: Function) -> Function:
    """A function with loops that leave no tapes."""

    def plain(node: Node, args: Values) -> Values | None:
        if not isinstance(node.op, Record):
            return changed_inside(node, args, _without_tapes)
        op = node.op
        body = _without_tapes(replace(op.ahead, results=op.ahead.results[: len(op.carries)]))
        return *WhileLoop(op.test, body, op.ins).apply(*args), const(0, TAPE.dtype)

    return eliminate_dead(replaced(eliminate_dead(fn), plain))


def _link_of_loops(first: Node, one: Loop, later: Node, other: Loop, args: Sequence[Value | None]) -> Link | None:
    """Two loops of as many steps: row i of what the one stacks is read in step i of the other."""
    if "count" in one.ins and first.args[one.ins.index("count")] is not args[other.ins.index("count")]:
        return None
    places: list[Place] = [("param", 0)]
    for x, kind in zip(args, other.ins, strict=True):
        place = _place(x, first, "stack" if kind == "each" else None)
        if place and place[0] == "param":
            place = ("param", place[1] + 1) if one.ins[place[1]] == kind else None
        places.append(place)
    found = _linked(one.body, other.body, places)
    if found is None:
        return None
    ahead, back, count = found
    leaving = replace(one, outs=one.outs + (cast("Out", "stack"),) * count, body=ahead)
    kept = (True,) * len(one.outs)
    return Link(
        first,
        leaving,
        first.args,
        kept,
        later,
        replace(other, ins=other.ins + (cast("In", "each"),) * count, body=back),
        count,
    )


def _place(x: Value | None, first: Node, kind: str | None) -> Place:
    """Where a loop has what another one reads: among its results of a kind, or its operands."""
    if x is not None and x.node is first and isinstance(first.op, Loop) and first.op.outs[x.index] == kind:
        return "result", x.index
    return ("param", first.args.index(x)) if x is not None and x in first.args else None


def _link_of_branches(first: Node, later: Node, args: Sequence[Value | None]) -> Link | None:
    """Two branches on one condition: an arm reads what the same arm of the other made."""
    arms, count = list[tuple[Function, Function, int]](), 0
    for one, other in zip(_held(first), _held(later), strict=True):
        places = [_place_in_arm(x, first) for x in args[1:]]
        arms.append(_linked(one, other, places) or (one, other, 0))
    count = sum([n for _, _, n in arms])
    if not count:
        return None
    ahead, back = list[Function](), list[Function]()
    for k, (one, other, n) in enumerate(arms):
        left, _, m = arms[1 - k]
        types = [v.type for v in left.results[len(left.results) - m :]]  # of the tapes of the other arm
        with scope():
            none = [Unset(t.dtype, t.shape, len(one.results) + n)() for n, t in enumerate(types)]
            more = [param(t, "tape") for t in types]
        own, old = one.results[len(one.results) - n :], one.results[: len(one.results) - n]
        ahead.append(replace(one, results=(*old, *none, *own) if k else (*old, *own, *none)))
        taken, kept = other.params[len(other.params) - n :], other.params[: len(other.params) - n]
        back.append(replace(other, params=(*kept, *more, *taken) if k else (*kept, *taken, *more)))
    return Link(first, Cond(*ahead), first.args, (True,) * len(first.values), later, Cond(*back), count)


def _place_in_arm(x: Value | None, first: Node) -> Place:
    """The same of an arm of a branch, which does not have the condition."""
    if x is not None and x.node is first:
        return "result", x.index
    return ("param", first.args.index(x, 1) - 1) if x is not None and x in first.args[1:] else None


def _linked(one: Function, other: Function, places: Sequence[Place]) -> tuple[Function, Function, int] | None:
    """A function that leaves tapes as its last results, one that takes them as its last parameters, and how many;
    None if there are none. places: where the first one has the parameters of the other."""
    count = 0
    while True:
        with scope():
            one = Function(one.name, one.params, copied(one.results, {p: p for p in one.params}))
            order, later = one.nodes, other.nodes
            known = _known(one, other, later, places)
            link = next(_links(order, later, known), None)
            if link is None:
                return (one, other, count) if count else None
            one, other = _apart(one, other, link)
        places, count = [*places, *[None] * link.count], count + link.count


def _known(one: Function, other: Function, later: Sequence[Node], places: Sequence[Place]) -> Env:
    """What of the values of a function another one has too."""
    known: Env = {}
    for p, place in zip(other.params, places, strict=True):
        if place is not None:
            known[p] = one.results[place[1]] if place[0] == "result" else one.params[place[1]]
    for node in later:
        if isinstance(node.op, Const):
            known[node.values[0]] = const(node.op.value, node.op.dtype)
        elif not functions_of(node.op) and not isinstance(node.op, Param) and all([a in known for a in node.args]):
            known.update(zip(node.values, rebuild(node, tuple([known[a] for a in node.args])), strict=True))
    return known


# --- the tapes handed on


def _taken(link: Link, env: Env, tapes: Values) -> Values:
    with at(link.later.origin):
        return link.taken(tuple([env[a] for a in link.later.args]), tapes)


def _joined(fn: Function, link: Link) -> Function:
    """A function with tapes handed on inside it."""
    tapes = list[Value]()

    def rule(node: Node, env: Env) -> Values | None:
        if node is link.first:
            return _left(link, env, tapes)
        return _taken(link, env, tuple(tapes)) if node is link.later else None

    with scope():
        early = [*link.given, link.first.values[0]]
        return Function(fn.name, fn.params, copied(fn.results, {p: p for p in fn.params}, early, rule))


def _left(link: Link, env: Env, tapes: list[Value]) -> Values:
    with at(link.first.origin):
        made, found = link.left(env)
    tapes.extend(found)
    return made


def _apart(one: Function, other: Function, link: Link) -> tuple[Function, Function]:
    """A function that leaves tapes, and one that takes them."""
    tapes = list[Value]()

    def leave(node: Node, env: Env) -> Values | None:
        return _left(link, env, tapes) if node is link.first else None

    results = copied(one.results, {p: p for p in one.params}, link.given, leave)
    taken = tuple([param(t.type, "tape") for t in tapes])

    def take(node: Node, env: Env) -> Values | None:
        return _taken(link, env, taken) if node is link.later else None

    back = copied(other.results, {p: p for p in other.params}, (), take)
    return Function(one.name, one.params, (*results, *tapes)), Function(other.name, (*other.params, *taken), back)
