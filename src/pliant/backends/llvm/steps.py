"""LLVM code of whole steps, and how steps are gathered into functions."""

from __future__ import annotations

from collections.abc import Mapping

from pliant.backends.llvm.alike import Alike, alike
from pliant.backends.llvm.blas import emit_product
from pliant.backends.llvm.blocks import emit_blocks
from pliant.backends.llvm.cached_matrices import is_in_vectors
from pliant.backends.llvm.called import emit_call
from pliant.backends.llvm.chosen import emit_positions
from pliant.backends.llvm.emit import Emitter
from pliant.backends.llvm.fourier import emit_transform
from pliant.backends.llvm.frame import Segment
from pliant.backends.llvm.lapack import emit_routine
from pliant.backends.llvm.module import Module
from pliant.backends.llvm.nested import emit_run, move
from pliant.backends.llvm.nests import emit_nests
from pliant.backends.llvm.parts import emit_parts
from pliant.backends.llvm.sorting import emit_sort
from pliant.backends.llvm.tape import emit_record, emit_rewind
from pliant.kernel.ir import Blocks, Copy, Fill, Host, Nest, Product, Program, Routine, Rows, Run, Step
from pliant.ops.fft import Fft
from pliant.ops.positions import Positions
from pliant.ops.tape import Record, Rewind

LONGEST_FUNCTION = 200  # scalars; of longer ones LLVM looks through too many blocks before each loop
STEP = 10  # scalars that a step counts for, beside those in it


def emit_program(program: Program, module: Module, *, apart: bool) -> tuple[list[str], list[Segment | Host]]:
    """The text of all functions, and the order in which to call them. apart: a segment for each step."""
    functions = list[str]()
    order: list[Segment | Host] = []
    for run in runs_of(program.steps, apart=apart):
        if isinstance(run, Host):
            order.append(run)
            continue
        name = f"segment{len(order)}"
        functions += emit_segment(run, module, name)
        order.append(Segment(name, sum([s.work for s in run])))
    return functions, order


def runs_of(steps: list[Step], *, apart: bool) -> list[list[Step] | Host]:
    """Host calls, and the native steps between them; each alone if they are to be apart."""
    found: list[list[Step] | Host] = []
    for step in steps:
        last = found[-1] if found else None
        if isinstance(step, Host):
            found.append(step)
        elif isinstance(last, list) and not apart:
            last.append(step)
        else:
            found.append([step])
    return found


def emit_segment(steps: list[Step], module: Module, name: str) -> list[str]:
    """Functions of bounded length, and one that calls them in turn."""
    is_long = sum([length_of(step) + STEP for step in steps]) > LONGEST_FUNCTION
    shared = alike(steps, module, name) if is_long else {}
    groups, length = list[list[Step]](), 0
    for step in steps:
        size = 0 if step in shared else length_of(step)
        if not groups or length + size > LONGEST_FUNCTION:
            groups.append([])
            length = 0
        length += size + STEP
        groups[-1].append(step)
    parts = [emitted(group, shared, module, f"{name}_{n}") for n, group in enumerate(groups)]
    return [*[part.text() for part in parts], called_in_turn(parts, name)]


def emitted(steps: list[Step], shared: Mapping[Step, Alike], module: Module, name: str) -> Emitter:
    """One function for some steps, of which some are `shared`: functions of their own, for all that are alike."""
    e = Emitter(module, name, is_narrow=module.is_narrow([step for step in steps if step not in shared]))
    for step in steps:
        if step in shared:
            shared[step].emit_call(e, lambda e, step=step: emit_step(e, step))
        else:
            emit_step(e, step)
    return e


def called_in_turn(parts: list[Emitter], name: str) -> str:
    """A function that calls others in turn, until one reports an error."""
    lines = list[str]()
    for n, part in enumerate(parts):
        lines.append(f"  call void @{part.name}(ptr %table, ptr %error)")
        if part.reports and part is not parts[-1]:
            lines += [f"  %e{n} = load i64, ptr %error", f"  %f{n} = icmp eq i64 %e{n}, 0"]
            lines += [f"  br i1 %f{n}, label %go{n}, label %end", f"go{n}:"]
    body = "\n".join([*lines, "  br label %end", "end:", "  ret void"])
    return f"define void @{name}(ptr noalias %table, ptr noalias %error) #0 {{\n{body}\n}}\n"


def length_of(step: Step) -> int:
    """About how many instructions a step takes."""
    match step:
        case Nest() | Fill():
            return len(step.body.body)
        case Rows():
            return sum([len(nest.body.body) for nest in step.nests])
        case Run():
            return sum([length_of(inner) + STEP for program in step.parts for inner in program.steps])
        case _:
            return STEP


def emit_step(e: Emitter, step: Step) -> None:
    """One step."""
    match step:
        case Nest() if step.split:
            emit_parts(e, [step], None, step.split)
        case Nest():
            emit_nests(e, [step], None)
        case Rows() if step.split:
            emit_parts(e, step.nests, step.nests[0].vars[0], step.split)
        case Rows():
            emit_nests(e, step.nests, step.nests[0].vars[0])
        case Blocks():
            emit_blocks(e, step, LONGEST_FUNCTION, length_of)
        case Fill():
            e.begin_step([step.out])
            e.region(step.body)
            e.end_step()
        case Product():
            emit_product(e, step)
        case Routine():
            if isinstance(step.node.op, Fft):
                emit_transform(e, step)
            elif isinstance(step.node.op, Positions):
                emit_positions(e, step)
            elif step.is_of_rows:
                emit_sort(e, step)
            elif is_in_vectors(step.node.op, [a.type for a in step.args]):
                emit_in_vectors(e, step)
            else:
                emit_routine(e, step)
        case Run() if isinstance(step.node.op, Record):
            emit_record(e, step, step.node.op, emit_segment)
        case Run() if isinstance(step.node.op, Rewind):
            emit_rewind(e, step, step.node.op, emit_segment)
        case Run():
            emit_run(e, step, emit_segment)
        case Copy():
            move(e, e.base(step.out), e.base(step.source), step.out.type)
        case Host():
            emit_call(e, step)


def emit_in_vectors(e: Emitter, step: Routine) -> None:
    """A call of a function of its own for a routine that is written in vectors."""
    inner = Emitter(e.module, f"{e.name}_{e.fresh('routine')[1:]}", is_narrow=e.module.is_narrow([step]))
    emit_routine(inner, step)
    name = e.module.in_vectors(inner.name, "declare void {0}(ptr, ptr) nounwind", lambda _: inner.text())
    e.call_for_effect(f"void {name}(ptr %table, ptr %error)")
    if inner.reports:
        e.return_if_failed()
