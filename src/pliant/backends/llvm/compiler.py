"""From a function to native code: what happens when no process has kept it before."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from pliant.backends.base import Pairs
from pliant.backends.llvm import chosen, fourier, lapack, math, sorting
from pliant.backends.llvm.abi import Executable
from pliant.backends.llvm.clock import about_machine, lanes_of, least_seconds, notes, seconds_of
from pliant.backends.llvm.entry import entry_of_arrays
from pliant.backends.llvm.frame import Frame, Segment
from pliant.backends.llvm.jit import Code, host_target, optimised
from pliant.backends.llvm.module import Module
from pliant.backends.llvm.own import served
from pliant.backends.llvm.steps import emit_program
from pliant.backends.llvm.streams import past_caches
from pliant.core.ir import Function, Op, param
from pliant.core.scope import scope
from pliant.core.types import Type
from pliant.errors import MissingRuleError
from pliant.kernel.describe import describe
from pliant.kernel.ir import Affine, Apply, Buffer, Fold, Host, Index, Program, Region, Var, root_of
from pliant.kernel.picture import picture_of
from pliant.kernel.plan import plan_of
from pliant.kernel.record import EMPTY, Recorder, fill_of
from pliant.kernel.report import memory_report
from pliant.kernel.schedule import scalars
from pliant.kernel.verified import build_verified
from pliant.ops.base import Elementwise, Movement
from pliant.ops.loop import Loop

LONG_PROGRAM: Final = 20_000  # scalars; from here on LLVM optimises less


def compiled(fn: Function, pinned: Pairs, free: Sequence[int], *, sharing: bool) -> tuple[Executable, str]:
    """Machine code for `fn`, and the LLVM IR that it was made from."""
    program = build_verified(fn, can, routine_of, owned=pinned, free=free, sharing=sharing)
    text, order = assembly(program)
    size = text.count("\n")
    code = Code(text, 0 if size > 8 * LONG_PROGRAM else 1 if size > LONG_PROGRAM else 2) if text else None
    return executable(program, code, order), text


def executable(program: Program, code: Code | None, order: list[Segment | Host]) -> Executable:
    """A program and its code, to be called."""
    frame = Frame(
        params=tuple([b.type for b in program.params]),
        results=tuple([b.type for b in program.results]),
        pinned=pinned_of(program),
        arena=program.arena,
        sites=tuple(program.sites),
    )
    return Executable(frame, code, order, entry_of_arrays, lambda: program)


def described(fn: Function, pinned: Pairs, arrays: Sequence[Any] | None) -> str:
    """The steps that `fn` becomes, their work, and what they write. arrays: arguments to time the steps with."""
    program = build_verified(fn, can, routine_of, owned=pinned)
    text, order = assembly(program, apart=True)
    lanes = lanes_of(optimised(text)) if text else {}
    seconds = None
    if arrays is not None:
        seconds = seconds_of(executable(program, Code(text) if text else None, order), arrays)
    return "\n".join([*([about_machine()] if seconds else []), describe(program, notes(program, lanes, seconds))])


def memory(fn: Function, pinned: Pairs) -> tuple[str, str]:
    """The memory that `fn` takes, in words and as a picture, an SVG."""
    program = build_verified(fn, can, routine_of, owned=pinned)
    return memory_report(program), picture_of(plan_of(program), len(program.steps))


def estimated(fn: Function) -> tuple[float, int]:
    """How many seconds `fn` takes by the model of the machine, and the bytes of its temporary arrays."""
    program = build_verified(fn, can, routine_of)
    return sum([least_seconds(step) for step in program.steps]), program.arena


def pinned_of(program: Program) -> dict[int, int]:
    """The results that lie in the memory of a parameter: result number -> parameter number."""
    places = {b: n for n, b in enumerate(program.params)}
    roots = [root_of(b) for b in program.results]
    return {n: places[root] for n, root in enumerate(roots) if root in places}


def assembly(program: Program, *, apart: bool = False) -> tuple[str, list[Segment | Host]]:
    """LLVM IR of a program, and the order to run its functions in. apart: one function for each step."""
    target = host_target()
    own = served(target.has, vectors=bool(target.vectors))
    module = Module(target.vectors, own, target.widths, past_caches(program, target.has))
    functions, order = emit_program(program, module, apart=apart)
    if not any([isinstance(step, Segment) for step in order]):
        return "", order
    return module.text(functions, target.triple, (target.cpu, target.features)), order


def routine_of(op: Op, types: tuple[Type, ...]) -> str:
    """Who computes a primitive on operands of these types matrix by matrix, or row by row; empty if nobody does."""
    if chosen.has(op, types):
        return "loop"
    return lapack.who_has(op, types) or ("NumPy" if sorting.has(op, types) or fourier.has(op, types) else "")


@lru_cache(maxsize=8192)
def can(op: Op, types: tuple[Type, ...]) -> bool:
    """Whether a primitive on operands of these types has native code."""
    if any([t.dtype == "f16" for t in types]) and "f16c" not in host_target().has:
        return False
    if isinstance(op, Loop):
        return not op.has_folds  # folds are expanded to carries
    if type(op).kernel is Elementwise.kernel and isinstance(op, Elementwise):
        return math.has(op, types)
    if isinstance(op, Movement) and not fill_of(op):
        return True
    if not (op.has("kernel") or fill_of(op)):
        return False
    return _rule_has_code(op, types)


def _rule_has_code(op: Op, types: tuple[Type, ...]) -> bool:
    """Record a rule once, and look at the primitives and folds it uses."""
    with scope():
        args = [param(t) for t in types]
        node = op.apply(*args)[0].node
    if len(node.types) != 1:
        return False
    body = Region(None)
    recorder = Recorder({a: Buffer(a.type, a) for a in args}, [], body)
    recorder.node = node
    try:
        fill = fill_of(op)
        if fill:
            fill(recorder, Buffer(node.types[0], node.values[0]), *recorder.sources(node))
        else:
            at = Index([Affine(0, ((Var(n), 1),)) for n in node.types[0].shape]) if node.types[0].shape else EMPTY
            recorder.run(node, at)
    except MissingRuleError:
        return False
    for s in scalars(body):
        if isinstance(s, Apply) and not math.has(s.op, tuple([Type(a.dtype) for a in s.args])):
            return False
        if isinstance(s, Fold) and s.element.dtype[0] not in math.FOLDS[s.kind]:
            return False
    return True
