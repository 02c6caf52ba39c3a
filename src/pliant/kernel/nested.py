"""Loops and branches: programs inside programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from pliant.core.inner import functions_of
from pliant.core.ir import Function, Node, Value
from pliant.core.types import Type
from pliant.kernel.carries import Pairs, beginnings, is_in_place, origin_of, owners, roles_of
from pliant.kernel.ir import OUT_OF_MEMORY, Buffer, Copy, Fill, Host, Program, Run, Site, Step
from pliant.kernel.site import INTERRUPTED
from pliant.ops.cond import Cond
from pliant.ops.loop import Loop
from pliant.ops.tape import Record, Rewind
from pliant.ops.while_loop import WhileLoop

Build: TypeAlias = Callable[[Function, Pairs], Program]

GUESS = 16  # steps of a loop whose end is not known
TURN = 1 << 25  # scalar operations, some hundredths of a second, after which a loop asks whether a signal has come
LONG = 8 * TURN  # those of a loop whose end is known that asks at all
COMPARISONS = frozenset("less less_equal greater greater_equal equal not_equal".split())
INSIDE = 64  # what a loop whose end is not known may take of the steps that it is taken to take


def run_of(node: Node, args: tuple[Buffer, ...], outs: tuple[Buffer, ...], build: Build) -> Run | None:
    """The step of a loop or a branch; None if it holds one that has no native code."""
    match node.op:
        case Loop() as op if not op.has_folds:
            parts = (build(op.body, owners(op.body, op.carries)),)
            length = None if "count" in op.ins else op.length
            carries, first = op.carries, 1  # the body also takes the index
        case WhileLoop() as op:
            parts = (build(op.test, ()), build(op.body, owners(op.body, op.carries)))
            carries, length, first = op.carries, None, 0
        case Cond() as op:
            parts, pairs = branches_of(op, build)
            carries, length, first = pairs, 1, -1
        case Record() as op:
            parts = (build(op.test, ()), build(op.ahead, owners(op.ahead, op.carries)))
            carries, length, first = op.carries, None, 0
        case Rewind() as op:
            parts = (build(op.back, owners(op.back, op.carries)),)
            carries, length, first = op.carries, None, op.saved - 1  # the tape stands for what was saved
        case _:
            return None
    called = [step.node.op for part in parts for step in part.steps if isinstance(step, Host)]
    if any([functions_of(op) for op in called]):
        return None
    size = max([part.arena for part in parts])
    roles, size = (None, size) if isinstance(node.op, Cond) else roles_of(parts[-1], carries, length, size)
    starts = beginnings(roles, [(p - first, r) for p, r in carries])
    work = (GUESS if length is None else length) * sum([step.work for part in parts for step in part.steps])
    scratch = Buffer(Type("u8", (max(size, 1),)), None)
    run = Run(node, parts, args, outs, scratch, roles, starts, work)
    if isinstance(node.op, Record):
        run.site = len(parts[-1].sites)
        parts[-1].sites.append(Site(OUT_OF_MEMORY, 0, node.origin, node.op.name))
    run.pause = pause_of(run)
    if run.pause:
        run.signal = len(parts[-1].sites)
        parts[-1].sites.append(Site(INTERRUPTED, 0, node.origin, node.op.name))
    return run


def pause_of(run: Run) -> int:
    """How many steps a loop runs before it asks whether a signal has come; 0 if it is done before that, or if there is
    memory for all of its steps, which a tape has rows of."""
    step = max(sum([least(inner) * slack(inner) for part in run.parts for inner in part.steps]), 1)
    match run.node.op:
        case Loop() as op if op.length * step < LONG:
            return 0
        case WhileLoop() as op if not may_go_on(op):
            return 0
        case Loop() | WhileLoop() | Record():
            return max(TURN // step, 1)
        case _:
            return 0


def may_go_on(op: WhileLoop) -> bool:
    """Whether a loop looks as if it might never end: it computes floats, and no comparison of integers is in its
    condition. To count the steps of others, which are mostly short, would take as long again."""
    going, params, carried = op.test.results[0], op.test.params, dict(op.carries)
    if going in params and params.index(going) in carried:  # the step before has found out
        going = op.body.results[carried[params.index(going)]]
    return any([op.body.results[r].dtype[0] in "fc" for r in carried.values()]) and not compares_integers(going)


def compares_integers(condition: Value) -> bool:
    """Whether a condition, or one that it is made of, is a comparison of integers."""
    if condition.op.name in COMPARISONS:
        return condition.args[0].dtype[0] in "iu"
    branches = condition.op.branches if isinstance(condition.op, Cond) else ()
    made = [*[a for a in condition.args if a.dtype == "bool"], *[fn.results[condition.index] for fn in branches]]
    return any(map(compares_integers, made))


def least(step: Step) -> int:
    """The scalar operations that a step takes if it writes in place."""
    match step:
        case Copy() | Fill(copied=Buffer()):
            return 1
        case Run():
            op = step.node.op
            times = op.length if isinstance(op, Loop) else 1 if isinstance(op, Cond) else GUESS
            return times * sum([least(inner) for part in step.parts for inner in part.steps])
        case _:
            return step.work


def slack(step: Step) -> int:
    """How many times the work that a step is taken for it may take before it asks by itself."""
    if not isinstance(step, Run):
        return 1
    inside = [slack(inner) for part in step.parts for inner in part.steps]
    return INSIDE if isinstance(step.node.op, WhileLoop | Record) else max(inside, default=1)


def branches_of(op: Cond, build: Build) -> tuple[tuple[Program, ...], Pairs]:
    """The programs of both branches, and the (parameter, result) pairs that both update in place. So are small arrays:
    an element written at a place known only at run time lies in memory, and a copy of the whole array waits for it."""
    pairs = updated_by_both(op)
    parts = tuple([build(fn, pairs) for fn in op.branches])
    while moved := {(p, r) for part in parts for p, r in pairs if not is_in_place(part, p, r)}:
        pairs = [pair for pair in pairs if pair not in moved]
        parts = tuple([build(fn, pairs) for fn in op.branches])
    return parts, pairs


def updated_by_both(op: Cond) -> Pairs:
    """The (parameter, result) pairs of a parameter and its updated version, the only one, in both branches."""
    origins = [[origin_of(r) for r in fn.results] for fn in op.branches]
    places = [[fn.params.index(v) if v else -1 for v in found] for fn, found in zip(op.branches, origins, strict=True)]
    same = [(p, r) for r, (p, q) in enumerate(zip(*places, strict=True)) if p == q >= 0]
    same = [(p, r) for p, r in same if op.branches[0].params[p].type == op.branches[0].results[r].type]
    return [(p, r) for p, r in same if [q for q, _ in same].count(p) == 1]
