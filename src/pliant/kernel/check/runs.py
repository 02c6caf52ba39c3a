"""Loops and branches: at the end of a step all is again where the next step expects it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import final

from pliant.core.data import frozen
from pliant.kernel.carries import is_small
from pliant.kernel.check.faults import fault, named, overlapping
from pliant.kernel.check.memory import region_of
from pliant.kernel.ir import Buffer, Program, Roles, Run
from pliant.ops.cond import Cond
from pliant.ops.loop import Loop
from pliant.ops.tape import Record, Rewind
from pliant.ops.while_loop import WhileLoop


@final
@frozen
class Effect:
    """What a program does to memory: the parameters whose content is lost, and for each result the
    parameter in whose memory it lies at the end, or None."""

    clobbered: frozenset[int]
    places: tuple[int | None, ...]


@final
@frozen
class Carry:
    """A parameter of a body, the result it becomes in the next step, the operand it starts from."""

    param: int
    result: int
    operand: int


def check_run(step: Run, effects: Sequence[Effect]) -> list[Buffer]:
    """The parts of a step do to memory what the step needs, given what each does by itself. Returns the operands that
    are lost: a step may write over the row that it is given."""
    lost = list[Buffer]()
    match step.node.op:
        case Loop() as op:
            carries = [Carry(p, r, p - 1) for p, r in op.carries]
            rows = [n for n, a in enumerate(step.args) if op.ins[n] == "each" and step.args.count(a) == 1]
            lost = [step.args[n] for n in rows if n + 1 in effects[0].clobbered]
            effect = replace(effects[0], clobbered=effects[0].clobbered - {n + 1 for n in rows})
            _check_loop(step, step.parts[0], effect, carries, None if "count" in op.ins else op.length)
        case WhileLoop() | Record() as op:
            test, body = effects
            if test.clobbered or test.places != (None,):
                raise fault(step.outs[0], "is carried by a loop whose condition writes to memory")
            _check_loop(step, step.parts[1], body, [Carry(p, r, p) for p, r in op.carries], None)
        case Cond():
            _check_branches(step, effects)
        case Rewind() as op:
            first = op.saved - 1  # the tape stands for what was saved
            _check_loop(step, step.parts[0], effects[0], [Carry(p, r, p - first) for p, r in op.carries], None)
        case _:
            raise fault(step.outs[0], f"is made by {step.node.op.name}, which the verifier does not know")
    if step.scratch.type.bytes < max([part.arena for part in step.parts]):
        raise fault(step.scratch, "is too small for what its parts keep")
    return lost


def _check_loop(step: Run, body: Program, effect: Effect, carries: list[Carry], length: int | None) -> None:
    small = [c for c in carries if is_small(body.params[c.param].type)]
    moving = [c for c in carries if step.roles and c.result in step.roles.results and c not in small]
    still = [c for c in carries if c not in small and c not in moving]
    # A small one lies in registers, and is moved to where the next step reads it.
    for c in small:
        if effect.places[c.result] not in (c.param, None):
            raise fault(step.outs[c.result], "is left in the memory of another number")
    for c in still:
        if effect.places[c.result] != c.param:
            raise fault(step.outs[c.result], "is not where the next step reads it")
    begins = {c.operand: c.result for c in (*small, *still)}
    if step.roles:
        order = [next(c for c in moving if c.result == r) for r in step.roles.results]
        _check_roles(step, body, effect, order, step.roles, length)
        for n, c in enumerate(order):
            at = step.roles.start[n]
            if step.roles.homes[at] is None:
                begins[c.operand] = step.roles.results[at]
    _check_spared(step, effect, {c.param for c in carries}, {c.result for c in carries})
    _check_apart(step, begins)


def _check_spared(step: Run, effect: Effect, carried: set[int], results: set[int]) -> None:
    """Of what the next step reads only what a loop carries is written over, and only by what is carried on."""
    for n in effect.clobbered - carried:
        raise fault(step.parts[-1].params[n], "is overwritten by a step of a loop, though the next one reads it")
    for r, place in enumerate(effect.places):
        if r not in results and place is not None:
            raise fault(step.outs[min(r, len(step.outs) - 1)], "is made in memory that the next step uses")


def _check_roles(
    step: Run, body: Program, effect: Effect, order: Sequence[Carry], roles: Roles, length: int | None
) -> None:
    """Addresses move so that each carry is found where the step before it left it. See Note [roles] of
    `carries`: role n has, after a step, the memory that role `before[n]` had."""
    count, before = len(order), roles.before
    out = step.outs[order[0].result]
    for permutation in (before, roles.start):
        if sorted(permutation) != list(range(len(roles.homes))):
            raise fault(out, "is in a loop whose memory does not change places one for one")
    for n, c in enumerate(order):
        place = effect.places[c.result]
        if place != (order[before[n]].param if before[n] < count else None):
            raise fault(step.outs[c.result], "is left in other memory than the next step reads")
    if any([n >= count for n in before[count:]]):
        raise fault(out, "is in a loop that passes spare memory on as spare memory")
    _check_homes(step, _sizes(body, order, roles, out), roles, length)


def _sizes(body: Program, order: Sequence[Carry], roles: Roles, out: Buffer) -> list[int]:
    """The bytes of each memory that changes roles: all that it is used for takes as many."""
    sizes = [body.params[c.param].type.bytes for c in order]
    sizes += [sizes[roles.before.index(n)] for n in range(len(order), len(roles.before))]
    for permutation in (roles.before, roles.start):
        if any([sizes[n] != sizes[m] for n, m in enumerate(permutation)]):
            raise fault(out, "is in a loop that exchanges memory of different sizes")
    return sizes


def _check_homes(step: Run, sizes: Sequence[int], roles: Roles, length: int | None) -> None:
    """Each memory is a result's own, or has bytes of the scratch memory; in the end each carry is in its result."""
    used = [(0, max([part.arena for part in step.parts]))]
    outs = [step.outs[r] for r in roles.results]
    for n, at in enumerate(roles.homes):
        if at is not None:
            used.append((at, at + sizes[n]))
        elif n >= len(outs) or length is None:
            raise fault(outs[0], "is in a loop that takes other memory for a result's")
    used.sort()
    is_disjoint = all([end <= low for (_, end), (low, _) in pairwise(used)])
    if not is_disjoint or used[-1][1] > step.scratch.type.bytes:
        raise fault(step.scratch, "is divided into parts that overlap or do not fit")
    for n, out in enumerate(outs if length is not None else []):
        if roles.homes[n] is not None or roles.start[_after(n, roles.before, length or 0)] != n:
            raise fault(out, "is not in its place after the last step")


def _after(n: int, permutation: Sequence[int], steps: int) -> int:
    """Where a permutation brings n in some steps."""
    orbit = [n]
    while permutation[orbit[-1]] != n:
        orbit.append(permutation[orbit[-1]])
    return orbit[steps % len(orbit)]


def _check_branches(step: Run, effects: Sequence[Effect]) -> None:
    """Both branches leave each result in its place, or update the operand that lies there."""
    held = {r: a for a, r in step.carries}
    for effect in effects:
        if lost := effect.clobbered - {a - 1 for a in held.values()}:
            raise fault(step.args[min(lost) + 1], "is overwritten by a branch")
        for r, place in enumerate(effect.places):
            if place != (held[r] - 1 if r in held else None):
                raise fault(step.outs[r], "is made in other memory than it is read from")
    _check_apart(step, {a: r for r, a in held.items()})


def _check_apart(step: Run, begins: Mapping[int, int]) -> None:
    """Nothing lies in an operand's memory but the result that begins as that operand, read for nothing else."""
    for out, arg in overlapping([*step.outs, step.scratch], step.args):
        at = step.args.index(arg)
        is_beginning = at in begins and step.outs[begins[at]] is out and step.args.count(arg) == 1
        if not is_beginning or region_of(out) != region_of(arg):
            raise fault(out, f"lies in the memory of {named(arg)}, which the loop or branch reads")
