"""Where the arrays that a loop carries lie: updated in place, or in memory that changes roles.

A step finds each carry somewhere and leaves the next one where it was, where another carry was (as
`a, b = b, a` does), or in spare memory. So after each step addresses move, in the same way every
time, and no array does. See Note [roles].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from pliant.core.ir import Function, Param, Value
from pliant.core.types import Type
from pliant.kernel.ir import Buffer, Fill, Program, Roles, Run, root_of
from pliant.ops.block import BlockWrite
from pliant.ops.cond import Cond
from pliant.ops.index import Scatter
from pliant.ops.loop import Loop
from pliant.ops.shape import Reshape
from pliant.ops.tape import Record, Rewind
from pliant.ops.update import Window
from pliant.ops.while_loop import WhileLoop

Pairs: TypeAlias = Sequence[tuple[int, int]]

SMALL: Final = 64  # bytes of a carry that may live in registers
ALIGNMENT: Final = 64


def owners(fn: Function, carries: Pairs) -> Pairs:
    """(parameter, result) pairs, of a function that a loop runs: a result that is another large carry,
    or an update of one, is made in that one's memory; any other in its own, if that is free."""
    places = {fn.params[p]: p for p, _ in carries if not is_small(fn.params[p].type)}
    taken = dict[int, int]()
    for p, r in carries:
        origin = origin_of(fn.results[r])
        at = places.get(origin) if origin else None
        if at is not None and at not in taken and fn.params[at].type == fn.params[p].type:
            taken[at] = r
    for p, r in carries:
        if p not in taken and r not in taken.values():
            taken[p] = r
    return list(taken.items())


def origin_of(value: Value) -> Value | None:
    """The parameter that a value is an updated version of, perhaps in another shape, if it is one."""
    while not isinstance(value.op, Param):
        match value.op:
            case Scatter() | Window() | BlockWrite() | Reshape():
                value = value.args[0]
            case Cond() as op:
                found = [origin_of(fn.results[value.index]) for fn in op.branches]
                places = [fn.params.index(v) if v else -1 for fn, v in zip(op.branches, found, strict=True)]
                if places[0] != places[1] or places[0] < 0:
                    return None
                value = value.args[1 + places[0]]
            case Loop() as op if op.outs[value.index] == "last":
                value = value.args[next(p for p, r in op.carries if r == value.index) - 1]
            case WhileLoop() | Record() | Rewind() as op:
                place = next((p for p, r in op.carries if r == value.index), None)
                if place is None:  # the tape
                    return None
                value = value.args[place - (op.saved - 1 if isinstance(op, Rewind) else 0)]
            case _:
                return None
    return value


def is_small(type: Type) -> bool:
    """Whether a carry of this type may be kept in registers."""
    return type.bytes <= SMALL


def is_in_place(body: Program, param: int, result: int) -> bool:
    """Whether a step leaves a result in the memory of a parameter."""
    return root_of(body.results[result]) is body.params[param]


def lies_there(step: Run, param: int, result: int, operand: int | None) -> bool:
    """Whether a carry is where its result is to be from the start, stays there, and cannot live in registers: each copy
    to local memory and back would wait for the elements that were just written."""
    if operand is None or root_of(step.outs[result]) is not root_of(step.args[operand]):
        return False
    body = step.parts[-1]
    return is_in_place(body, param, result) and is_filled(body, body.params[param])


def is_filled(program: Program, home: Buffer) -> bool:
    """Whether what a program makes in some memory is written in an order of its own, as at places known only at run
    time: then it cannot live in registers."""
    for step in program.steps:
        match step:
            case Fill() if root_of(step.out) is home:
                return True
            case Run():
                # what tests the end of a loop writes nothing
                inside = step.parts if isinstance(step.node.op, Cond) else step.parts[-1:]
                made = [n for n, out in enumerate(step.outs) if root_of(out) is home]
                if any([is_filled(part, root_of(part.results[n])) for part in inside for n in made]):
                    return True
            case _:
                pass
    return False


def roles_of(body: Program, carries: Pairs, length: int | None, used: int) -> tuple[Roles | None, int]:
    """The roles of carries that do not stay where they are, and the bytes of scratch memory that they
    and the `used` bytes before take. length: the number of steps, None if it is not known."""
    params = {body.params[p]: n for n, (p, _) in enumerate(carries)}
    sources = [params.get(root_of(body.results[r])) for _, r in carries]
    moving = [n for n, (p, _) in enumerate(carries) if sources[n] != n and not is_small(body.params[p].type)]
    if not moving:
        return None, used
    left = [n for n in moving if n not in sources]  # whose memory becomes spare
    spared = dict[int, int]()  # carry made in spare memory -> carry whose memory is spare then
    for n in moving:
        if sources[n] is None:
            fitting = [m for m in left if _bytes(body, carries[m]) == _bytes(body, carries[n])]
            spared[n] = n if n in fitting else fitting[0]
            left.remove(spared[n])
    index = {n: k for k, n in enumerate(moving)}
    spares = {n: len(moving) + k for k, n in enumerate(spared)}
    before = [spares[n] if n in spares else index[sources[n] or 0] for n in moving]
    before += [index[n] for n in spared.values()]
    homes = list[int | None]()
    for k, n in enumerate([*moving, *spared]):
        if k < len(moving) and length is not None:
            homes.append(None)
            continue
        used = -(-used // ALIGNMENT) * ALIGNMENT
        homes.append(used)
        used += _bytes(body, carries[n])
    results = tuple([carries[n][1] for n in moving])
    return Roles(results, tuple(before), first_places(before, length or 0), tuple(homes)), used


def _bytes(body: Program, carry: tuple[int, int]) -> int:
    return body.params[carry[0]].type.bytes


def first_places(before: Sequence[int], steps: int) -> tuple[int, ...]:
    """The memory that each role must begin in, so that after all steps each is in its own.

    >>> first_places([1, 0], 3)
    (1, 0)
    """
    reached, jump = list(range(len(before))), list(before)
    while steps:
        if steps & 1:
            reached = [jump[n] for n in reached]
        jump = [jump[n] for n in jump]
        steps >>= 1
    start = [0] * len(before)
    for home, role in enumerate(reached):
        start[role] = home
    return tuple(start)


def beginnings(roles: Roles | None, operands: Pairs) -> list[tuple[int, int]]:
    """(operand, result) pairs such that a loop starts in the result's memory from that operand.

    operands: (operand, result) of each carry.
    """
    if roles is None:
        return list(operands)
    moving = set(roles.results)
    start = {r: roles.start[k] for k, r in enumerate(roles.results)}
    found = [(a, r) for a, r in operands if r not in moving]
    found += [(a, roles.results[at]) for a, r in operands if r in start and roles.homes[at := start[r]] is None]
    return found


# Note [roles]:
# Take `a, b = f(b, a), a` with f an update of its first operand: the new a lies where b was, the new b
# where a was, so the two addresses are exchanged after each step. A carry that is made anew, as in
# `u = g(u)`, is made in spare memory, and the memory it had is spare then. In both cases the
# addresses of all carries and of all spare memory are permuted, always in the same way. If the
# number of steps is known, each carry begins where it has to for it to end in its result's memory;
# otherwise all begin in scratch memory, and are copied from where they end.
