"""Walk the steps of a placed program and keep what each byte of memory holds.

Nothing that the planner noted is trusted but addresses, loops, and which array a load or store
names. Every step finds what it reads, unharmed; results are where they belong at the end; and
parameters that the caller still needs are as they were. See Note [what is trusted].
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import final

from pliant.core.ir import Value
from pliant.kernel.check.blocks import check_blocks
from pliant.kernel.check.faults import apart, fault, named
from pliant.kernel.check.fills import check_fill, loaded
from pliant.kernel.check.memory import Memory, Region, region_of
from pliant.kernel.check.nests import check_nests, running
from pliant.kernel.check.parts import check_parts
from pliant.kernel.check.runs import Effect, check_run
from pliant.kernel.ir import (
    Blocks,
    Buffer,
    Copy,
    Fill,
    Host,
    Nest,
    Product,
    Program,
    Routine,
    Rows,
    Run,
    Split,
    Step,
    writes,
)
from pliant.ops.contract import Dot
from pliant.ops.shape import Permute


def check(program: Program, *, owned: Iterable[tuple[int, int]] = (), free: Iterable[int] = ()) -> None:
    """Nothing, or VerifyError if some load does not find its array.

    owned: (parameter, result) pairs, such that the result has to lie in the parameter's memory. free:
    parameters whose content the caller does not need afterwards.
    """
    effect = effect_of(program)
    pairs = [*owned]
    for p, r in pairs:
        if effect.places[r] != p:
            raise fault(program.results[r], f"does not lie in the memory of {named(program.params[p])}")
    for n in effect.clobbered - {*free, *[p for p, _ in pairs]}:
        raise fault(program.params[n], "is overwritten, though the caller needs it")


def effect_of(program: Program) -> Effect:
    """What a program does to its parameters' memory, all of which it may write over."""
    walk = _Walk(program)
    for step in program.steps:
        walk.step(step)
    return walk.effect()


@final
class _Walk:
    def __init__(self, program: Program) -> None:
        self.program, self.memory = program, Memory()
        fixed = (*program.params, *program.results)
        self.rooms = {0: program.arena} | {n: b.type.bytes for n, b in enumerate(fixed, start=1)}
        self.regions: dict[Buffer, Region] = {}
        for buffer in program.params:
            self.memory.write(region_of(buffer), buffer)

    def region(self, buffer: Buffer) -> Region:
        """Where a buffer lies, inside the memory there is."""
        if buffer in self.regions:
            return self.regions[buffer]
        self.regions[buffer] = region = region_of(buffer)
        if region.low < 0 or region.high > self.rooms.get(region.slot, -1):
            raise fault(buffer, f"reaches beyond the {self.rooms.get(region.slot, 0)} bytes it lies in")
        return region

    def need(self, buffer: Buffer, there: Buffer | None = None) -> None:
        """Let an array be found in its place, or in that of another."""
        region = self.region(there or buffer)
        if region.low < region.high:
            found = self.memory.content(region)
            if found is not buffer:
                instead = f"{named(found)} is there" if found else "parts of it are overwritten, or were never written"
                raise fault(buffer, f"is read where it is not: {instead}")

    def put(self, *buffers: Buffer) -> None:
        """Arrays have been written to their places."""
        for buffer in buffers:
            self.memory.write(self.region(buffer), buffer)

    def put_nothing(self, buffers: Iterable[Buffer]) -> None:
        """What is in the place of arrays is of no use any more."""
        for buffer in buffers:
            self.memory.write(self.region(buffer), None)

    def step(self, step: Step) -> None:
        """What one step needs, and what it leaves."""
        match step:
            case Nest():
                self.nests([step], step.split)
            case Rows():
                self.nests(step.nests, step.split)
            case Blocks():
                self.blocks(step)
            case Fill():
                self.fill(step)
            case Product():
                self.product(step)
            case Routine() if step.is_update:
                self.need(step.args[0], step.outs[0])
                self.whole(step, step.args[1:], step.outs)
            case Routine():
                self.whole(step, step.args, step.outs)
            case Host():
                self.whole(step, step.args, [out for out in step.outs if out])
            case Run():
                self.run(step)
            case Copy():
                self.copy(step)

    def blocks(self, step: Blocks) -> None:
        """Steps for a block of rows at a time: rows are apart, and no block finds what another one has left."""
        check_blocks(step)
        rooms = [step.room] if step.private else []
        self.put_nothing(rooms)
        for inner in step.steps:
            if isinstance(inner, Nest):
                self.nests([inner], None, step)
            else:
                self.step(inner)
        self.put_nothing(rooms)

    def nests(self, nests: list[Nest], split: Split | None, blocks: Blocks | None = None) -> None:
        """Nests: of one that is empty only windows are of interest, which are what they were."""
        alive = running(nests)
        made = {b for x in alive for b in writes(x.nest)}
        for x in alive:
            for buffer in x.loads:
                if buffer not in made:
                    self.need(buffer)
        for root in [root for nest in nests for root in nest.roots]:
            if root.base and root.buffer:
                self.need(root.base, root.buffer)
        check_nests(alive, blocks)
        if split:
            check_parts(alive, split)
        for root in [root for nest in nests for root in nest.roots]:
            if root.buffer:
                is_row = len(nests) > 1 and root.buffer.type != root.value.type
                self.memory.write(self.region(root.buffer), None if is_row else root.buffer)
        self.put_nothing([nest.delay.ring for nest in nests if nest.delay])

    def fill(self, step: Fill) -> None:
        """Statements."""
        for buffer in loaded(step):
            self.need(buffer)
        if step.begins and step.copied:
            self.need(step.copied, step.out)
        check_fill(step)
        self.put(step.out)

    def product(self, step: Product) -> None:
        """A product, which is added to what is there if, and only if, the program says so."""
        operands = (step.left.buffer, step.right.buffer)
        for buffer in operands:
            self.need(buffer)
        apart([step.out], operands, "which is an operand of the product that makes it")
        if step.start:
            self.need(step.start, step.out)
        if step.out.value and not _is_meant(step.out.value, step.start):
            raise fault(step.out, "is not the sum of a product and what it is added to")
        self.put(step.out)

    def whole(self, step: Routine | Host, args: Iterable[Buffer], outs: Iterable[Buffer]) -> None:
        """A call that reads arrays and writes others."""
        for buffer in args:
            self.need(buffer)
        apart(outs, args, f"which is an operand of {step.node.op.name}")
        self.put(*outs)

    def copy(self, step: Copy) -> None:
        """From then on an array is in two places, or one that nothing else is in."""
        self.need(step.source)
        there = self.region(step.out)
        if there.overlaps(self.region(step.source)) and there != self.region(step.source):
            raise fault(step.out, f"is a copy that overlaps {named(step.source)}")
        if step.out.type.bytes != step.source.type.bytes:
            raise fault(step.out, f"is a copy of another size than {named(step.source)}")
        self.memory.write(there, step.source)

    def run(self, step: Run) -> None:
        """A loop or a branch: what it holds is checked by itself, then how its parts are given memory."""
        for buffer in step.args:
            self.need(buffer)
        self.put_nothing(check_run(step, [effect_of(part) for part in step.parts]))
        self.put(*step.outs)
        self.put_nothing([step.scratch])

    def effect(self) -> Effect:
        """What is where at the end."""
        program, memory = self.program, self.memory
        places = list[int | None]()
        for number, buffer in enumerate(program.results):
            found = memory.content(self.region(buffer))
            is_it = found is buffer or (found and found.value is buffer.value and found.type == buffer.type)
            if buffer.type.bytes and not is_it:
                raise fault(buffer, "is not in its place at the end")
            own = 1 + len(program.params) + number
            if not 1 <= buffer.slot <= len(program.params) and buffer.slot != own:
                raise fault(buffer, "is a result, but lies elsewhere")
            places.append(None if buffer.slot == own else buffer.slot - 1)
        lost = [n for n, b in enumerate(program.params) if b.type.bytes and memory.content(region_of(b)) is not b]
        return Effect(frozenset(lost), tuple(places))


def _is_meant(made: Value, start: Buffer | None) -> bool:
    """Whether a value is a product, or one added to what another array holds."""
    if isinstance(made.op, Dot):
        return start is None
    others = [a for a in made.args if not (start and a is start.value)]
    if start is None or made.op.name != "add" or len(others) != 1:
        return False
    (other,) = others
    return isinstance((other.args[0] if isinstance(other.op, Permute) else other).op, Dot)


# Note [what is trusted]:
# Each buffer stands for one array, written once. A program is right if every load finds, at the
# address of its buffer, the array that its buffer stands for: then it computes what it computes
# with memory of its own for each buffer. Which address a buffer has, the order of steps and loops,
# copies, and what of a program is left as it was (`base`, `start`, `begins`) are the planner's work,
# and checked. That a nest computes what its roots stand for is not; that is tested elsewhere.
