"""Native code by LLVM: one compiled program per function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, ClassVar, final

from pliant.backends.base import Pairs
from pliant.backends.calls import Call
from pliant.backends.llvm import lapack, math, sorting
from pliant.backends.llvm.abi import Executable
from pliant.backends.llvm.clock import about_machine, lanes_of, notes, seconds_of
from pliant.backends.llvm.entry import entry_of_arrays, make_entry
from pliant.backends.llvm.forward import forwarding
from pliant.backends.llvm.jit import Code, host_target, optimised
from pliant.backends.llvm.module import Module
from pliant.backends.llvm.own import served
from pliant.backends.llvm.steps import Segment, emit_program
from pliant.core.ir import Function, Op, param, scope
from pliant.core.types import Type
from pliant.errors import MissingRuleError
from pliant.kernel.describe import describe
from pliant.kernel.ir import Affine, Apply, Buffer, Fold, Host, Index, Program, Region, Var
from pliant.kernel.picture import picture_of
from pliant.kernel.plan import plan_of
from pliant.kernel.record import EMPTY, Recorder, fill_of
from pliant.kernel.report import memory_report
from pliant.kernel.schedule import scalars
from pliant.kernel.verified import build_verified
from pliant.ops.base import Elementwise, Movement
from pliant.ops.loop import Loop

__all__ = ["BACKEND", "LLVM", "Executable", "can", "make_entry"]

LONG_PROGRAM = 20_000  # scalars; from here on LLVM optimises less


@final
class LLVM:
    """The native backend."""

    name: ClassVar[str] = "llvm"

    def compile(
        self, fn: Function, *, pinned: Pairs = (), free: Sequence[int] = (), sharing: bool = True
    ) -> Executable:
        """Machine code for `fn`. pinned: (parameter, result) pairs; the result is made in the parameter's
        memory. free: parameters that may be overwritten. Without `sharing` no two values share memory."""
        program = build_verified(fn, can, has_routine, owned=pinned, free=free, sharing=sharing)
        text, order = assembly(program)
        size = text.count("\n")
        code = Code(text, 0 if size > 8 * LONG_PROGRAM else 1 if size > LONG_PROGRAM else 2) if text else None
        return Executable(program, code, order, entry_of_arrays)

    def entry(self, executable: Executable, call: Call) -> Callable[..., Any] | None:
        """A C-level callable for calls of one form; see `make_entry`."""
        return make_entry(executable, call)

    def forwarding(self, offset: int, gate: int) -> int:
        """The address of a function that passes calls on to entries; see `forward`."""
        return forwarding(offset, gate).address("forward")

    def describe(self, fn: Function, *, pinned: Pairs = (), arrays: Sequence[Any] | None = None) -> str:
        """The steps that `fn` becomes, their work, and what they write. arrays: arguments to time the steps with."""
        program = build_verified(fn, can, has_routine, owned=pinned)
        text, order = assembly(program, apart=True)
        lanes = lanes_of(optimised(text)) if text else {}
        seconds = None
        if arrays is not None:
            seconds = seconds_of(Executable(program, Code(text) if text else None, order, entry_of_arrays), arrays)
        return "\n".join([*([about_machine()] if seconds else []), describe(program, notes(program, lanes, seconds))])

    def memory(self, fn: Function, *, pinned: Pairs = ()) -> tuple[str, str]:
        """The memory that `fn` takes, in words and as a picture, an SVG."""
        program = build_verified(fn, can, has_routine, owned=pinned)
        return memory_report(program), picture_of(plan_of(program), len(program.steps))


def assembly(program: Program, *, apart: bool = False) -> tuple[str, list[Segment | Host]]:
    """LLVM IR of a program, and the order to run its functions in. apart: one function for each step."""
    target = host_target()
    module = Module(target.vectors, served(target.has, vectors=bool(target.vectors)), target.widths)
    functions, order = emit_program(program, module, apart=apart)
    if not any([isinstance(step, Segment) for step in order]):
        return "", order
    return module.text(functions, target.triple, (target.cpu, target.features)), order


def has_routine(op: Op, types: tuple[Type, ...]) -> bool:
    """Whether a library computes a primitive on operands of these types."""
    return lapack.has(op, types) or sorting.has(op, types)


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
        if isinstance(s, Fold) and s.dtype[0] not in math.FOLDS[s.kind]:
            return False
    return True


BACKEND = LLVM()
