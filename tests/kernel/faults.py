"""Planted faults: planners that forget something, and programs on which that does harm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import pliant
from pliant.core.types import Type
from pliant.kernel import blocks, build, carries, nested, overlap, place, share, verified
from pliant.kernel.ir import Blocks, Buffer, Nest, Product, Program, root_of, writes
from pliant.kernel.overlap import FREE, Sweep

Patch = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True)
class Fault:
    """What is wrong with a planner: functions of it that are replaced, and what it does to a program in the end."""

    patch: Patch = lambda _: None
    change: Callable[[Program], None] = lambda _: None

    def plant(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let plans that share memory be made with the fault."""

        def built(*args: Any, sharing: bool, **options: Any) -> Program:
            if not sharing:
                return build.build(*args, sharing=False, **options)
            with pytest.MonkeyPatch.context() as inside:
                self.patch(inside)
                program = build.build(*args, sharing=True, **options)
            self.change(program)
            return program

        monkeypatch.setattr(verified, "build", built)


def replaced(module: Any, name: str, value: Any) -> Fault:
    """A function of the planner is replaced."""
    return Fault(lambda monkeypatch: monkeypatch.setattr(module, name, value))


def swept(change: Callable[[Sweep], Sweep]) -> Fault:
    """Sweeps are changed after they have been found."""

    def found(*args: Any) -> Sweep | str:
        sweep = overlap.sweep_of(*args)
        return change(sweep) if isinstance(sweep, Sweep) and sweep.loops else sweep

    return replaced(share, "sweep_of", found)


def roles(change: Callable[[Any], Any]) -> Fault:
    """The memory of a loop's carries changes places in another way."""

    def found(*args: Any) -> Any:
        made, used = carries.roles_of(*args)
        return change(made) if made else None, used

    return replaced(nested, "roles_of", found)


def born(steps: Any) -> dict[Buffer, int]:
    """The first step that touches each piece of memory, where the last is wanted."""
    first: dict[Buffer, int] = {}
    for number, step in enumerate(steps):
        for buffer in (*step.reads, *writes(step)):
            first.setdefault(root_of(buffer), number)
    return first


def exchange_steps(program: Program) -> None:
    """Each second step comes before the one before it."""
    for n in range(0, len(program.steps) - 1, 2):
        program.steps[n : n + 2] = program.steps[n : n + 2][::-1]


def forget_start(program: Program) -> None:
    """Products are not added to anything."""
    for step in program.steps:
        if isinstance(step, Product):
            step.start = None


def add_start(program: Program) -> None:
    """Products are added to what lies in their place, which is nothing."""
    for step in program.steps:
        if isinstance(step, Product):
            step.start = step.start or step.left.buffer


def forget_base(program: Program) -> None:
    """Windows are the whole."""
    for step in program.steps:
        for root in step.roots if isinstance(step, Nest) else ():
            root.base = None


def halve_rings(program: Program) -> None:
    """What waits has half of the room it needs."""
    for step in program.steps:
        if isinstance(step, Nest) and step.delay:
            ring = step.delay.ring
            ring.type = ring.type.with_shape((ring.type.size // 2,))


def move_offsets(program: Program) -> None:
    """The workspace is one element short: what begins later begins earlier."""
    for buffer in {b for step in program.steps for b in writes(step)}:
        if buffer.slot == 0 and buffer.offset:
            buffer.offset -= 8


def exchange_results(program: Program) -> None:
    """Results are taken for each other."""
    program.results = program.results[::-1]


def exchange_in_blocks(program: Program) -> None:
    """In blocks, each second step comes before the one before it."""
    for step in program.steps:
        if isinstance(step, Blocks):
            for n in range(0, len(step.steps) - 1, 2):
                step.steps[n : n + 2] = step.steps[n : n + 2][::-1]


def halve_rooms(program: Program) -> None:
    """The room of a block is half as large as it has to be."""
    for step in program.steps:
        if isinstance(step, Blocks) and step.private:
            step.room.type = Type("u8", (step.room.type.size // 2 - 64,))


def all_private(self: Any, uses: dict[Buffer, int], fixed: set[Buffer], given: set[Buffer]) -> list[Any]:
    """Nobody outside a group reads what it makes."""
    own = dict.fromkeys(uses, 0)
    for found in self.members:
        for root in blocks.touched(found.step):
            own[root] += 1
    return FINISHED(self, own, fixed, given)


def all_free(program: Program, homes: Any, *, sharing: bool = True) -> None:
    """Nobody needs the arguments any more."""
    share.share(program, replace(homes, free=frozenset(program.params)) if homes.must else homes, sharing=sharing)


FINISHED = blocks.Group.finished

FAULTS: dict[str, Fault] = {
    "overlap is ignored": replaced(share, "sweep_of", lambda *_: FREE),
    "loops always run upward": swept(lambda s: Sweep(s.loops, frozenset(), s.delay)),
    "loops run the other way": swept(lambda s: Sweep(s.loops, frozenset(s.loops) - s.backward, s.delay)),
    "loops are turned inside out": swept(lambda s: Sweep(s.loops[::-1], s.backward, s.delay)),
    "nothing waits": swept(lambda s: Sweep(s.loops, s.backward)),
    "what waits is written too early": swept(lambda s: Sweep(s.loops, s.backward, min(s.delay, 1))),
    "rings are too small": Fault(change=halve_rings),
    "rows are taken to be apart": replaced(share, "over_rows", lambda *_: ""),
    "everything may be written over": replaced(share._Sharing, "write_over", lambda *_: ""),
    "later readers are ignored": replaced(share._Sharing, "is_free", lambda self, b, n: self.maker.get(b, n) < n),
    "results may lie where parameters are read": replaced(share._Sharing, "enter", lambda *_: ""),
    "copies are forgotten": replaced(share, "begun", lambda _: []),
    "arguments are free": replaced(build, "share", all_free),
    "bytes are free at birth": replaced(place, "last_uses", born),
    "everything takes 64 bytes": replaced(place, "size_of", lambda _: 64),
    "workspace is too small": Fault(change=lambda program: setattr(program, "arena", max(program.arena // 2 - 64, 0))),
    "offsets are wrong": Fault(change=move_offsets),
    "steps are exchanged": Fault(change=exchange_steps),
    "results are exchanged": Fault(change=exchange_results),
    "blocks touch the rows of others": replaced(blocks, "in_row", lambda buffer, *_: buffer.type.size > 0),
    "blocks look at the first rows": replaced(blocks, "in_block", lambda offset, *_: offset),
    "what blocks make is needed by nobody": replaced(blocks.Group, "finished", all_private),
    "steps in blocks are exchanged": Fault(change=exchange_in_blocks),
    "rooms of blocks are too small": Fault(change=halve_rooms),
    "products are not added": Fault(change=forget_start),
    "products are added": Fault(change=add_start),
    "windows are the whole": Fault(change=forget_base),
    "carries do not change places": roles(lambda r: replace(r, before=tuple(range(len(r.before))))),
    "carries change places the other way": roles(lambda r: replace(r, before=tuple(map(r.before.index, range(len(r.before)))))),
    "carries begin elsewhere": roles(lambda r: replace(r, start=r.start[::-1])),
    "carries have no roles": roles(lambda r: None),
    "loops begin in any memory": replaced(nested, "beginnings", lambda _, operands: [(a, r) for a, _ in operands for _, r in operands]),
}  # fmt: skip


def shifts(x: Any) -> None:
    x[1:] = x[:-1]
    x[:-2] += x[2:]


def reverses(x: Any) -> None:
    x += x[::-1]


def smooths(x: Any) -> None:
    x[3:-3] += x[:-6] + x[6:]


def smooths_rows(x: Any) -> None:
    x[1:-1, 1:-1] = x[:-2, 1:-1] + x[2:, 1:-1] - x[1:-1, 2:]


def transposes(x: Any) -> None:
    x[...] = x.T + x


def keeps_old(x: Any) -> Any:
    y = x + 1
    z = np.sort(y)
    y[1:3] = z[:2]
    y += np.sort(z)[::-1]
    return z, y + np.cumsum(z)


def accumulates(g: Any, a: Any) -> Any:
    g += a.T @ a
    return g @ a


def multiplies(a: Any) -> Any:
    return a @ a, a @ a.T


def moves_aslant(x: Any) -> None:
    x[1:, :-1] = x[:-1, 1:]


def reads_rows_twice(x: Any) -> None:
    e = x - x.max(1, keepdims=True)
    x[...] = e / e.sum(1, keepdims=True) + x[::-1]


def needs_both(x: Any) -> Any:
    y = np.cumsum(x)
    z = np.cumsum(y)
    return np.cumsum(z) + y[::-1]


def changes_a_copy(x: Any) -> Any:
    y = np.cumsum(x)
    z = y.copy()
    z[1:300] = 0
    return np.cumsum(z) + y[::-1]


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(1, keepdims=True))
    x[...] = e / e.sum(1, keepdims=True)
    return x.max(0)


def rotates(rows: Any) -> Any:
    def step(_: Any, state: Any) -> Any:
        a, b, c = state
        a = a.copy()
        a[1:-1] = b[2:] + c[:-2]
        return b, c, a

    return pliant.fori_loop(0, 4, step, (rows[0], rows[1], rows[2]))


def renews(rows: Any) -> Any:
    def step(_: Any, state: Any) -> Any:
        a, b = state
        return b, a[::-1] + b

    return pliant.fori_loop(0, 5, step, (rows[0], rows[1]))


def counts(x: Any) -> Any:
    for i in range(1, 20):
        x[i] += x[i - 1]
    return x.sum()


def normalises(x: Any) -> Any:
    y = x / np.sqrt((x * x).sum(1))[:, None]
    z = np.zeros_like(x)
    z[:, 1:] = y[:, :2] * y[:, 1:]
    length = np.sqrt((z * z).sum(1))
    return (y * z / length[:, None]).sum(1), length - length[::-1]


RAMP, SQUARE = np.arange(3000.0), np.arange(1600.0).reshape(40, 40) % 7
PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (shifts, (RAMP,)), (reverses, (RAMP,)), (smooths, (RAMP,)), (smooths_rows, (SQUARE,)), (transposes, (SQUARE,)),
    (keeps_old, (RAMP,)), (accumulates, (SQUARE, SQUARE[:, :])), (multiplies, (SQUARE,)), (softmax, (np.tile(SQUARE, (5, 5)),)),
    (rotates, (SQUARE,)), (renews, (SQUARE,)), (counts, (RAMP,)), (moves_aslant, (SQUARE,)), (needs_both, (RAMP,)),
    (changes_a_copy, (RAMP,)), (normalises, (np.arange(1.0, 150001).reshape(50000, 3) % 11 + 1,)), (reads_rows_twice, (np.tile(SQUARE, (5, 5)) % 5 + 1,)),
]  # fmt: skip


def outcome(f: Callable[..., Any], given: tuple[Any, ...]) -> list[Any]:
    """Results, and what the arguments hold afterwards."""
    arrays = [a.copy() for a in given]
    made = f(*arrays)
    return [*(made if isinstance(made, tuple) else [] if made is None else [made]), *arrays]


def compiled(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` compiled anew."""
    return pliant.jit(f)
