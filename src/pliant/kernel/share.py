"""Which values lie in the memory of others: decided on the loops as they will run.

Results come first. One that is to lie in a parameter's memory does so if nobody reads the parameter
later, and if its step may write where it reads; so does the value that it was made from, and so on
back. Then each other value takes over the memory of an operand that nobody reads later. What cannot
lie where it should is copied, by a step of its own that says why.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Final, final

from pliant.core.data import frozen
from pliant.core.ir import Param
from pliant.kernel.ir import (
    Buffer,
    Copy,
    Fill,
    Host,
    Load,
    Nest,
    Product,
    Program,
    Root,
    Routine,
    Rows,
    Run,
    Step,
    root_of,
    takes_over,
    writes,
)
from pliant.kernel.overlap import FREE, Sweep, sweep_of
from pliant.kernel.rows import reads_by_row, stored_by_row
from pliant.kernel.schedule import scalars
from pliant.kernel.spill import delayed, is_same, may_fail_halfway, spilled

SMALL: Final = 64  # bytes; less is not worth the search


@final
@frozen
class Homes:
    """Memory that a program may use besides its own.

    of: results and the parameters where they are to lie, or must, if `must`. free: parameters whose content nobody
    needs after the call.
    """

    of: dict[Buffer, Buffer] = field(default_factory=dict[Buffer, Buffer])
    must: bool = False
    free: frozenset[Buffer] = frozenset()


def share(program: Program, homes: Homes, *, sharing: bool = True) -> None:
    """Decide what shares memory, and add the copies that remain. Without `sharing`, everything is copied."""
    made = _Sharing(program, homes)
    if sharing:
        made.results()
        made.others()
    made.copies(sharing)


@final
class _Sharing:
    def __init__(self, program: Program, homes: Homes) -> None:
        self.program, self.homes, self.steps = program, homes, program.steps
        self.fixed = {*program.params, *program.results}
        self.maker: dict[Buffer, int] = {}
        self.last: dict[Buffer, int] = {}
        self.taken: set[Buffer] = set()
        self.after: dict[int, list[Step]] = {}
        for number, step in enumerate(self.steps):
            for buffer in writes(step):
                self.maker.setdefault(buffer, number)
            for buffer in step.reads:
                self.last[buffer] = number

    # Results

    def results(self) -> None:
        """Place the results, and what they are made from."""
        for out in self.program.results:
            if out.shared is None:
                self.settle(out, self.homes.of.get(out) or self.donor(out) or out)

    def donor(self, out: Buffer) -> Buffer | None:
        """A parameter that nobody needs after the call, in whose memory a result may lie."""
        if not self.homes.must:
            return None  # a loop has its rows, which it may write over, where it reads them
        fitting = [p for p in self.program.params if p in self.homes.free and p.type == out.type]
        for home in fitting:
            if home not in self.taken and out in self.maker and not self.enter(out, home):
                self.taken.add(home)
                return home
        return None

    def settle(self, out: Buffer, home: Buffer) -> None:
        """Let a result lie in its home, or by itself, and what it is made from in the same place."""
        buffer: Buffer | None = out
        while buffer is not None:
            why = self.enter(buffer, home) if home is not out else ""
            if why:
                if buffer is out:
                    self.settle(out, out)
                buffer.reason = why
                return
            if buffer is not home:
                buffer.shared = home
            buffer = self.before(buffer, home)

    def enter(self, buffer: Buffer, home: Buffer) -> str:
        """Let what is made lie in a parameter's memory; why not."""
        number, last = self.maker[buffer], self.last.get(home, -1)
        begins = [source for source, is_base in self.operands(number, buffer) if is_base]
        if last > number or (last == number and begins and begins != [home]):
            return f"{name_of(home)} is read after it is written"
        if home not in self.homes.free and self.homes.must and may_fail_halfway(self.steps[number]):
            return self.late(number, buffer)
        return self.write_over(number, buffer, home) if last == number else ""

    def before(self, buffer: Buffer, home: Buffer) -> Buffer | None:
        """The operand in whose memory a buffer is made, which may lie where that is to lie; if there is one."""
        number = self.maker[buffer]
        for source, is_base in self.operands(number, buffer):
            if (
                source not in self.fixed
                and source.shared is None
                and self.is_free(source, number)
                and self.last.get(home, -1) <= self.maker[source]
                and (is_base or self.is_direct(number, buffer, source))
                and not self.write_over(number, buffer, source)
            ):
                self.taken.add(source)
                return source
        return None

    # All other values

    def others(self) -> None:
        """Let each value that stays inside take over the memory of an operand."""
        for number, step in enumerate(self.steps):
            for buffer in writes(step):
                if buffer.value and buffer.shared is None and buffer not in self.fixed:
                    self.take_over(number, buffer)

    def take_over(self, number: int, buffer: Buffer) -> None:
        """Let a value take over the memory of an operand."""
        for source, is_base in self.operands(number, buffer):
            if not self.is_free(source, number) or not self.is_ours(source):
                continue
            if not is_base and not self.is_direct(number, buffer, source):
                continue
            why = self.write_over(number, buffer, source)
            if not why:
                buffer.shared = source
                self.taken.add(source)
                return
            buffer.reason = why

    def is_ours(self, source: Buffer) -> bool:
        """Whether a buffer lies in the workspace, or where the content is not needed."""
        root = root_of(source)
        return root in self.homes.free or root not in self.fixed

    def is_free(self, source: Buffer, number: int) -> bool:
        """Whether nobody needs an operand of a step after it."""
        is_known = self.maker.get(source, -1) < number and source not in self.taken
        return is_known and self.last.get(source, -1) <= number and source not in self.program.results

    def operands(self, number: int, buffer: Buffer) -> Iterator[tuple[Buffer, bool]]:
        """Operands of the step that makes a buffer which could give it their memory, and whether the
        buffer begins as that operand."""
        step = self.steps[number]
        parts = (step, *self.after.get(number, ()))
        bases = [source for part in parts for source, out in takes_over(part) if out is buffer]
        for source in bases:
            yield source, True
        if isinstance(step, Nest | Rows) and buffer.type.bytes > SMALL and not bases:
            for source in sorted(step.reads, key=lambda b: b.number):
                if source.type.bytes == buffer.type.bytes:
                    yield source, False

    # Writing where others are read

    def is_direct(self, number: int, buffer: Buffer, source: Buffer) -> bool:
        """Whether a nest writes a buffer where it reads the same element of an operand, in any order."""
        step = self.steps[number]
        if isinstance(step, Rows):
            return not over_rows(step, buffer, source)
        root = root_for(step, buffer) if isinstance(step, Nest) else None
        return isinstance(step, Nest) and root is not None and sweep_of(step, root, lambda b: b is source) == FREE

    def write_over(self, number: int, buffer: Buffer, source: Buffer) -> str:
        """Make a step fit to write a buffer where a dead operand lies; why that cannot be."""
        step = self.steps[number]
        match step:
            case Nest():
                root = root_for(step, buffer)
                return self.sweep(number, step, root, source) if root else ""  # else it is written afterwards
            case Rows():
                return over_rows(step, buffer, source)
            case Fill() if step.copied is source:
                loads = [s for s in scalars(step.body) if isinstance(s, Load) and s.buffer is source]
                return (
                    f"{name_of(source)} is read in another order than it is written in" if loads and step.begins else ""
                )
            case Product() if step.start is source and source not in (step.left.buffer, step.right.buffer):
                return ""
            case Run() | Routine() if (source, buffer) in takes_over(step):
                return ""
            case Product() | Routine() | Host():
                return f"{name_of(source)} is an operand of the library call that makes it"
            case _:
                return f"{name_of(source)} is read in another order than it is written in"

    def late(self, number: int, buffer: Buffer) -> str:
        """Write what the caller sees only when nothing can fail any more: a window afterwards; else why not."""
        step, reason = self.steps[number], "an index may be out of range in the same loops"
        root = root_for(step, buffer) if isinstance(step, Nest) else None
        if not isinstance(step, Nest) or root is None or root.base is None:
            return reason
        self.after.setdefault(number, []).append(spilled(step, root, reason))
        return ""

    def sweep(self, number: int, nest: Nest, root: Root, source: Buffer) -> str:
        """Order the loops of a nest so that it can write a root where it reads an operand; why that
        cannot be. A window that cannot is written after all of it has been computed."""
        found = sweep_of(nest, root, lambda b: b is source)
        if found == FREE:
            return ""
        if isinstance(found, Sweep):
            if not nest.is_swept:
                delayed(nest, root, found)
            if is_same(nest, root, found):
                return ""
            found = "other results of the same loops fix their order"
        if root.base is None:
            return f"{name_of(source)}: {found}"
        assert root.buffer
        root.buffer.reason = found
        self.after.setdefault(number, []).append(spilled(nest, root, found))
        return ""

    # What remains

    def copies(self, sharing: bool) -> None:
        """Insert the copies that remain."""
        steps, end = list[Step](), list[Step]()
        for number, first in enumerate(self.steps):
            for step in (first, *self.after.get(number, ())):
                found = [(source, out) for source, out in begun(step) if root_of(source) is not root_of(out)]
                steps += [Copy(source, out, self.why(source, number, sharing)) for source, out in found]
                steps.append(step)
        for number, out in enumerate(self.program.results):
            home = self.homes.of.get(out)
            if home and self.homes.must and root_of(out) is not home:
                end.append(self.copied_home(number, out, home, sharing))
        self.program.steps = [*steps, *end]

    def copied_home(self, number: int, out: Buffer, home: Buffer, sharing: bool) -> Copy:
        """The copy of a result to where it has to lie; the result is a value of the inside from now on."""
        there = Buffer(out.type, out.value)
        there.shared = home
        results = list(self.program.results)
        results[number] = there
        self.program.results = tuple(results)
        return Copy(out, there, out.reason if sharing else "nothing shares memory")

    def why(self, source: Buffer, number: int, sharing: bool) -> str:
        """Why a step could not work in the memory of what it begins as."""
        if not sharing:
            return "nothing shares memory"
        if source in self.program.params and source not in self.homes.of.values():
            return f"{name_of(source)} keeps its content"
        if source in self.program.results:
            return f"{name_of(source)} is a result itself"
        return f"{name_of(source)} is {'read later' if self.last[source] > number else 'kept elsewhere'}"


def begun(step: Step) -> list[tuple[Buffer, Buffer]]:
    """(operand, result) where the step expects to find the operand's content in the result."""
    if isinstance(step, Run) or (isinstance(step, Fill) and not step.begins):
        return []  # these do it themselves
    return takes_over(step)


def root_for(nest: Nest, buffer: Buffer) -> Root | None:
    """What a nest writes to a buffer."""
    return next((root for root in nest.roots if root.buffer is buffer), None)


def over_rows(step: Rows, buffer: Buffer, source: Buffer) -> str:
    """Why nests that share their rows cannot write a buffer where an operand lies; empty if they can."""
    maker = next(n for n, nest in enumerate(step.nests) if root_for(nest, buffer))
    nest = step.nests[maker]
    root = root_for(nest, buffer)
    assert root
    if any([source in later.reads for later in step.nests[maker + 1 :]]):
        return f"{name_of(source)} is read again for the same row"
    if not all([reads_by_row(other, source) for other in step.nests[: maker + 1]]) or not stored_by_row(nest, buffer):
        return f"{name_of(source)} is read by other rows"
    if sweep_of(nest, root, lambda b: b is source) != FREE:
        return f"{name_of(source)} is read in another order than it is written in"
    return ""


def name_of(buffer: Buffer) -> str:
    """What a buffer holds, in words."""
    value = buffer.value
    if value is None:
        return "a temporary"
    if isinstance(value.op, Param):
        return value.op.hint or "an argument"
    return f"{value.op.name} ({value.origin.short})"
