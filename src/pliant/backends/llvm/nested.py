"""LLVM code of loops and branches: the programs they hold become functions on tables of their own.

A table holds the addresses of a program's memory, parameters and results. Rows are addresses that
move; a carry is updated in place, or in local memory if it is small, or made in other memory, whose
address it has from then on. The functions are inlined, and LLVM keeps small carries in registers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias, final

from pliant.backends.llvm.emit import UNROLLED, Emitter
from pliant.backends.llvm.module import NARROW, WIDE, Module
from pliant.backends.llvm.several import STEPS, are_short
from pliant.backends.llvm.signals import Waiting, in_turns
from pliant.backends.llvm.tapes import tape_functions
from pliant.backends.llvm.values import llvm_type
from pliant.core.types import Type
from pliant.kernel.carries import is_in_place, is_small, lies_there
from pliant.kernel.ir import Buffer, Program, Roles, Run, Step, Var, root_of
from pliant.ops.cond import Cond
from pliant.ops.loop import Loop
from pliant.ops.tape import Record
from pliant.ops.while_loop import WhileLoop

EmitSegment: TypeAlias = Callable[[list[Step], Module, str], list[str]]

RunStep: TypeAlias = "Callable[[Part, Callable[[], None]], None]"

LONGEST_INLINE = 30_000  # characters of LLVM code
MOST_UNROLLED = 2_000  # lines that a loop of few steps may become; LLVM's time is far from linear in them
REGISTER = 8  # bytes
SMALL_ARENA = 4096  # bytes; such memory is a local variable, whose parts LLVM turns into registers
ANEW = "llvm.launder.invariant.group.p0"
NO_ERROR = "store i64 0, ptr %error"  # before loops: none was noted until here, which LLVM does not know
TAPES = 16  # bytes from where errors are noted to what is known of the memory of tapes: where it is free, where it ends


def emit_run(e: Emitter, step: Run, segment: EmitSegment) -> None:
    """A loop or a branch."""
    e.begin_step([])
    e.can_fail = False
    match step.node.op:
        case Loop() as op:
            if op.length:
                emit_loop(e, step, op, segment)
            else:
                for a, r in step.carries:
                    if root_of(step.outs[r]) is not root_of(step.args[a]):
                        move(e, e.base(step.outs[r]), e.base(step.args[a]), step.outs[r].type)
        case WhileLoop() as op:
            emit_while(e, step, op, segment)
        case Cond():
            emit_cond(e, step, segment)
        case _:
            raise AssertionError(f"no code for {step.node.op.name}")
    e.end_step()
    if e.can_fail:
        e.return_if_failed()


@final
class Part:
    """One program inside: its function, and its table."""

    def __init__(self, e: Emitter, program: Program, name: str, segment: EmitSegment, scratch: str) -> None:
        self.e, self.program, self.name = e, program, name
        before = e.module.repeated
        functions = segment(program.steps, e.module, name) if program.steps else []
        self.is_empty = not functions
        text = "\n".join(functions).replace(f"define void @{name}(", f"define internal void @{name}(")
        self.can_fail = ", ptr %error" in text.replace("ptr %table, ptr %error", "") or "%error, i64 1" in text
        e.can_fail = e.can_fail or self.can_fail
        self.is_inlined = len(text) < LONGEST_INLINE
        self.stays = self.can_fail and (
            not self.is_inlined or bool(e.module.calls_that_fail.intersection(called(text)))
        )
        e.module.calls_that_fail.update([name] if self.stays else [])
        self.lines = text.count("\n") + e.module.repeated - before if self.is_inlined else 1  # once loops are unrolled
        e.module.repeated = before
        if self.is_inlined:
            # the table's entries change from step to step of the function this is inlined into
            text = text.replace(", !invariant.load !0", "")
            for attributes in (WIDE, NARROW):
                text = text.replace(f" {attributes} {{", " alwaysinline nounwind {")
        e.module.helper(name, lambda _: text)
        size = 1 + len(program.params) + len(program.results)
        self.table = e.alloca(f"[{size} x ptr]")
        arena = scratch
        if self.is_inlined and program.arena <= SMALL_ARENA:
            arena = e.alloca(f"[{max(program.arena, 1)} x i8], align 64")
        self.put(0, arena)

    def slot(self, number: int) -> str:
        """The address of an entry of the table."""
        return self.e.op(f"getelementptr ptr, ptr {self.table}, i64 {number}")

    def put(self, number: int, address: str) -> None:
        """Set an entry of the table."""
        self.e.line(f"store ptr {address}, ptr {self.slot(number)}")

    def get(self, number: int) -> str:
        """An entry of the table."""
        return self.e.op(f"load ptr, ptr {self.slot(number)}")

    def param(self, n: int) -> int:
        """The number of a parameter's entry."""
        return 1 + n

    def result(self, n: int) -> int:
        """The number of a result's entry."""
        return 1 + len(self.program.params) + n

    def call(self) -> None:
        """Run it. Of tapes that it makes, those that nobody else can read are given back."""
        if self.is_empty:
            return
        mark = self.e.op(f"load ptr, ptr {tapes_at(self.e)}") if self.program.tapes == "own" else ""
        self.e.line(f"call void @{self.name}(ptr {self.table}, ptr %error)")
        self.e.module.repeated += self.lines
        if mark:
            back = tape_functions()[1]
            self.e.module.declared[back] = f"declare void @{back}(ptr, ptr) nounwind"
            self.e.line(f"call void @{back}(ptr {tapes_at(self.e)}, ptr {mark})")


@final
class Carries:
    """The carries of a loop: where they lie, and what happens to them after a step."""

    def __init__(self, e: Emitter, step: Run, pairs: Sequence[tuple[int, int, int | None]]) -> None:
        self.e, self.step, self.pairs = e, step, pairs  # (parameter, result, operand or None)
        self.body = step.parts[-1]
        self.local: dict[int, tuple[str, str]] = {}
        moving = step.roles.results if step.roles else ()
        self.moving = [(p, r, a) for n in moving for p, r, a in pairs if r == n]

    def part(self, segment: EmitSegment) -> Part:
        """The program of a step, after which memory may change roles.

        What one step writes the next one reads then, though nothing that a step touches overlaps. LLVM takes metadata
        that say so to hold between steps, too, unless it is told where they begin, and finds the memory at a new
        address.
        """
        e, step = self.e, self.step
        before = e.module.alternating
        e.module.alternating = before or step.roles is not None
        made = Part(e, self.body, name_of(e), segment, e.base(step.scratch))
        e.module.alternating = before
        return made

    def begin(self, part: Part) -> None:
        """Bring the first values to where the first step expects them, if they are operands."""
        e, step = self.e, self.step
        for p, r, a in self.pairs:
            type = step.outs[r].type
            if is_small(type) and not lies_there(step, p, r, a):
                held = e.alloca(f"[{max(type.bytes, 1)} x i8], align 16")
                made = held if is_in_place(self.body, p, r) else e.alloca(f"[{max(type.bytes, 1)} x i8], align 16")
                self.local[r] = held, made
                if a is not None:
                    move(e, held, e.base(step.args[a]), type)
                part.put(part.param(p), held)
                part.put(part.result(r), made)
            elif (p, r, a) not in self.moving:
                out = e.base(step.outs[r])
                if a is not None and root_of(step.outs[r]) is not root_of(step.args[a]):
                    move(e, out, e.base(step.args[a]), type)
                part.put(part.param(p), out)
                part.put(part.result(r), out)
        if step.roles:
            self.take_roles(part, step.roles)

    def take_roles(self, part: Part, roles: Roles) -> None:
        """Bring those that move to where they begin, and what they are made in too."""
        e, step = self.e, self.step
        places = [self.home(roles, n) for n in range(len(roles.homes))]
        for n, (p, _, a) in enumerate(self.moving):
            at = roles.start[n]
            home = step.outs[roles.results[at]] if roles.homes[at] is None else None
            if a is not None and (home is None or root_of(home) is not root_of(step.args[a])):
                move(e, places[at], e.base(step.args[a]), step.args[a].type)
            part.put(part.param(p), anew(e, places[at]))
        for n, (_, r, _) in enumerate(self.moving):
            part.put(part.result(r), anew(e, places[roles.start[roles.before[n]]]))

    def home(self, roles: Roles, n: int) -> str:
        """The address of the n-th memory that changes roles."""
        at = roles.homes[n]
        if at is None:
            return self.e.base(self.step.outs[roles.results[n]])
        return self.e.op(f"getelementptr inbounds i8, ptr {self.e.base(self.step.scratch)}, i64 {at}")

    def after(self, part: Part) -> None:
        """The end of a step."""
        for r, (held, made) in self.local.items():
            if held != made:
                move(self.e, held, made, self.step.outs[r].type)
        if not self.step.roles:
            return
        params = [anew(self.e, part.get(part.param(p))) for p, _, _ in self.moving]
        results = [anew(self.e, part.get(part.result(r))) for _, r, _ in self.moving]
        before, count = self.step.roles.before, len(self.moving)
        for n, (p, r, _) in enumerate(self.moving):
            part.put(part.param(p), results[n])
            # a carry's memory is now where its result was, that of spare memory where a carry was
            part.put(part.result(r), results[before[n]] if before[n] < count else params[before[before[n]]])

    def end(self, part: Part, *, known: bool) -> None:
        """Bring the last values to the results; what moves is there if the number of steps was known."""
        e = self.e
        for r, (held, _) in self.local.items():
            move(e, e.base(self.step.outs[r]), held, self.step.outs[r].type)
        for p, r, _ in [] if known else self.moving:
            move(e, e.base(self.step.outs[r]), part.get(part.param(p)), self.step.outs[r].type)


def emit_loop(e: Emitter, step: Run, op: Loop, segment: EmitSegment) -> None:
    """A counted loop."""
    carries = Carries(e, step, [(c, r, c - 1) for c, r in op.carries])
    part = carries.part(segment)
    index = e.alloca("i64")
    part.put(part.param(0), index)
    for n, (kind, a) in enumerate(zip(op.ins, step.args, strict=True), start=1):
        if kind in ("const", "count"):
            part.put(part.param(n), at_hand(e, a))
    carries.begin(part)
    rows = [
        (part.param(n + 1), e.base(a), a.type)
        for n, (kind, a) in enumerate(zip(op.ins, step.args, strict=True))
        if kind == "each"
    ]
    rows += [
        (part.result(n), e.base(b), b.type)
        for n, (kind, b) in enumerate(zip(op.outs, step.outs, strict=True))
        if kind == "stack"
    ]
    var, count = Var(op.length), count_of(e, step, op)
    last = str(op.length - 1) if count is None else e.op(f"sub i64 {count}, 1")

    def once() -> None:
        i = e.op(f"sub i64 {last}, {e.env[var]}") if op.reverse else e.env[var]
        e.line(f"store i64 {i}, ptr {index}")
        for entry, base, type in rows:
            start = e.op(f"mul nuw nsw i64 {i}, {type.row.bytes}")
            part.put(entry, e.op(f"getelementptr inbounds i8, ptr {base}, i64 {start}"))
        part.call()
        carries.after(part)
        if part.can_fail:
            e.return_if_failed()

    def every() -> None:
        # a loop between given bounds is not unrolled
        is_short = part.lines * op.length < MOST_UNROLLED
        bounds = None if count is None and is_short else ("0", count or str(op.length))
        # LLVM unrolls no calls after which the loop may end, and would warn of that
        stays = has_branch(step.parts[0]) or part.stays
        wish = e.module.not_unrolled() if stays else ""
        if count is None and op.length > UNROLLED and are_short(step.parts[0], part.lines):
            wish = e.module.several(STEPS)
        if part.can_fail:
            e.line(NO_ERROR)
        if step.pause:
            in_turns(e, var, once, count or str(op.length), step)
        else:
            e.loop(var, once, bounds, wish)

    if count is None:
        every()
    else:
        e.unless(e.op(f"icmp eq i64 {count}, 0"), every)
        clear_rest(e, step, op, count)
    carries.end(part, known=count is None)


def anew(e: Emitter, address: str) -> str:
    """An address of memory that changes roles, for the step at hand: see `Carries.part`."""
    e.module.declared[ANEW] = f"declare ptr @{ANEW}(ptr)"
    return e.op(f"call ptr @{ANEW}(ptr {address})")


def at_hand(e: Emitter, buffer: Buffer) -> str:
    """The address of what a loop reads; of a number, that of a copy, which LLVM keeps in a register. It cannot tell
    that what the steps write is not this number, and would load it again after each write."""
    if buffer.type.rank or buffer.type.bytes > REGISTER:
        return e.base(buffer)
    held = e.alloca(f"[{buffer.type.bytes} x i8], align {REGISTER}")
    move(e, held, e.base(buffer), buffer.type)
    return held


def called(text: str) -> list[str]:
    """The functions of a program inside that a text calls."""
    return re.findall(r"call void @(\w+)\(", text)


def has_branch(program: Program) -> bool:
    """Whether it holds a branch. LLVM may lead some steps of a loop around it, then no longer knows how many steps
    there are, cannot unroll them as it is told to, and warns."""
    runs = [step for step in program.steps if isinstance(step, Run)]
    return any(isinstance(run.node.op, Cond) or any(map(has_branch, run.parts)) for run in runs)


def count_of(e: Emitter, step: Run, op: Loop) -> str | None:
    """How many steps are run, if that is known only now."""
    if "count" not in op.ins:
        return None
    raw = e.op(f"load i64, ptr {e.base(step.args[op.ins.index('count')])}")
    low = e.op(f"call i64 @llvm.smax.i64(i64 {raw}, i64 0)")
    return e.op(f"call i64 @llvm.umin.i64(i64 {low}, i64 {op.length})")


def clear_rest(e: Emitter, step: Run, op: Loop, count: str) -> None:
    """Fill the rows of stacks that no step made with zeros, if somebody looks at them."""
    for n, (out, kind) in enumerate(zip(step.outs, op.outs, strict=True)):
        size = out.type.row.bytes if kind == "stack" and n not in step.unread else 0
        if size:
            start = e.op(f"mul nuw nsw i64 {count}, {size}")
            rest = e.op(f"sub nuw nsw i64 {out.type.bytes}, {start}")
            at = e.op(f"getelementptr inbounds i8, ptr {e.base(out)}, i64 {start}")
            e.line(f"call void @llvm.memset.p0.i64(ptr {at}, i8 0, i64 {rest}, i1 false)")


def tapes_at(e: Emitter) -> str:
    """The address of what is known of the memory of tapes."""
    return e.op(f"getelementptr i8, ptr %error, i64 {TAPES}")


def emit_while(e: Emitter, step: Run, op: WhileLoop | Record, segment: EmitSegment, run: RunStep | None = None) -> None:
    """A loop that ends by its condition. run: what is done about a step; a loop
    that this belongs to ends first if one fails, any other at once."""
    carries = Carries(e, step, [(c, r, c) for c, r in op.carries])
    test = Part(e, step.parts[0], name_of(e), segment, e.base(step.scratch))
    e.module.around += 1
    body = carries.part(segment)
    e.module.around -= 1
    flag = e.alloca("i8")
    test.put(test.result(0), flag)
    for n, (kind, a) in enumerate(zip(op.ins, step.args, strict=True)):
        if kind == "const":
            held = at_hand(e, a)
            test.put(test.param(n), held)
            body.put(body.param(n), held)
    carries.begin(body)
    waiting = Waiting(e, step, is_left=not run)

    def going() -> str:
        for c, _ in op.carries:
            test.put(test.param(c), body.get(body.param(c)))
        test.call()
        if test.can_fail and not run:
            e.return_if_failed()
        holds = e.op(f"icmp ne i8 {e.op(f'load i8, ptr {flag}')}, 0")
        return and_fine(e, holds) if run and e.can_fail else holds

    def once() -> None:
        body.call()
        carries.after(body)
        if body.can_fail and not run:
            e.return_if_failed()
        waiting.step()

    if e.can_fail and not run:
        e.line(NO_ERROR)
    repeat(e, going, (lambda: run(body, once)) if run else once)
    carries.end(body, known=False)


def emit_cond(e: Emitter, step: Run, segment: EmitSegment) -> None:
    """One of two programs."""
    raw = e.op(f"load i8, ptr {e.base(step.args[0])}")
    held = {a: step.outs[r] for a, r in step.carries}  # operands that are updated where they lie
    for a, out in held.items():
        if root_of(out) is not root_of(step.args[a]):
            move(e, e.base(out), e.base(step.args[a]), out.type)
    yes, no, end = (e.fresh(n)[1:] for n in ("then", "otherwise", "end"))
    e.line(f"br i1 {e.op(f'icmp ne i8 {raw}, 0')}, label %{yes}, label %{no}")
    for label, program in zip((yes, no), step.parts, strict=True):
        e.label(label)
        part = Part(e, program, name_of(e), segment, e.base(step.scratch))
        for n, a in enumerate(step.args[1:]):
            part.put(part.param(n), e.base(held.get(n + 1, a)))
        for n, out in enumerate(step.outs):
            part.put(part.result(n), e.base(out))
        part.call()
        e.line(f"br label %{end}")
    e.label(end)


def repeat(e: Emitter, going: Callable[[], str], body: Callable[[], None]) -> None:
    """Run a body as long as a condition, computed anew each time, holds."""
    head, run, done = (e.fresh(n)[1:] for n in ("head", "run", "done"))
    e.line(f"br label %{head}")
    e.label(head)
    e.line(f"br i1 {going()}, label %{run}, label %{done}")
    e.label(run)
    body()
    e.line(f"br label %{head}, !llvm.loop {e.module.not_unrolled()}")
    e.label(done)


def and_fine(e: Emitter, condition: str) -> str:
    """A condition, and that no index was out of range so far."""
    return e.op(f"and i1 {condition}, {e.op(f'icmp eq i64 {e.op(load_error())}, 0')}")


def unless_failed(e: Emitter, body: Callable[[], None]) -> None:
    """Run a body if no index was out of range before."""
    e.unless(e.op(f"icmp ne i64 {e.op(load_error())}, 0"), body)


def load_error() -> str:
    """The instruction that tells whether something failed."""
    return "load i64, ptr %error"


def name_of(e: Emitter) -> str:
    """A new name for a function."""
    return f"{e.name}_{e.fresh('part')[1:]}"


def move(e: Emitter, to: str, source: str, type: Type) -> None:
    """Copy an array: a number in a register of its kind, so that what a loop carries stays in one."""
    if type.dtype in ("f32", "f64") and type.size == 1:
        t = llvm_type(type.dtype)
    elif type.bytes in (1, 2, 4, 8):
        t = f"i{8 * type.bytes}"
    else:
        if type.bytes:
            e.line(f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {source}, i64 {type.bytes}, i1 false)")
        return
    e.line(f"store {t} {e.op(f'load {t}, ptr {source}')}, ptr {to}")
