"""Calls of Python from a native entry: primitives that NumPy computes, between the native code before and after.

What Python sees are arrays that the entry makes around memory of its program, for as long as the call takes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np

from pliant.backends import layout
from pliant.backends.llvm.frame import Segment
from pliant.backends.llvm.lines import constant
from pliant.backends.llvm.returned import NEW
from pliant.backends.llvm.tapes import makes_tapes
from pliant.core.inner import functions_of
from pliant.core.types import Type

if TYPE_CHECKING:
    from pliant.backends.llvm.abi import Executable
    from pliant.backends.llvm.lines import Lines
    from pliant.kernel.ir import Buffer, Host

Rule: TypeAlias = Callable[[Sequence[Any], Sequence[Any | None]], None]


def is_ready(executable: Executable) -> bool:
    """Whether an entry may call the Python of a program: rules of Pliant's own, which keep none of their operands; and
    no tapes, of which it would not know where it raises."""
    hosts = [step for step in executable.order if not isinstance(step, Segment)]
    if hosts and makes_tapes(executable.frame.sites):
        return False
    return all([type(h.node.op).__module__.startswith("pliant.ops.") and not functions_of(h.node.op) for h in hosts])


@final
class Hosted:
    """Writes these calls; holds what the text has by address."""

    def __init__(self, w: Lines, executable: Executable, dtypes: dict[str, Any]) -> None:
        self.w, self.executable, self.dtypes = w, executable, dtypes
        self.functions = list[Callable[..., Any]]()

    def call(self, step: Host, table: str) -> None:
        """One primitive, on memory that a table of addresses names.

        Where it raises, the call is refused, and whoever is asked then raises; if something may have been written, the
        call raises at once.
        """
        w, rule = self.w, self.executable.rules[step]
        function = _direct(rule, len(step.args)) if self.executable.pinned else _guarded(rule, len(step.args))
        self.functions.append(function)
        made = w.require_made(w.call_python(function, [self.array(b, table) for b in (*step.args, *step.outs)]))
        w.own(made)
        w.require_equal("ptr", made, constant(None))

    def array(self, buffer: Buffer | None, table: str) -> str:
        """A new array around a buffer; None for none."""
        if buffer is None:
            return constant(None)
        w, type = self.w, buffer.type
        data = w.at(w.load("ptr", table, 8 * buffer.slot), 0 if buffer.slot else buffer.offset)
        shape, strides = (w.table([str(n) for n in row], "i64") for row in (type.shape, strides_of(type)))
        descr = w.another(constant(self.dtypes[type.dtype]))
        given = f"ptr {constant(np.ndarray)}, ptr {descr}, i32 {type.rank}, ptr {shape}, ptr {strides}, ptr {data}"
        array = w.require_made(w.call_numpy("ptr", NEW, f"{given}, i32 {layout.WRITEABLE}, ptr null"))
        w.own(array)
        return array


def strides_of(type: Type) -> tuple[int, ...]:
    """The strides of a row-major array, in bytes."""
    inner = [math.prod(type.shape[n + 1 :]) for n in range(type.rank)]
    return tuple([n * type.bytes // max(type.size, 1) for n in inner])


def _direct(rule: Rule, count: int) -> Callable[..., None]:
    return lambda *arrays: rule(arrays[:count], arrays[count:])


def _guarded(rule: Rule, count: int) -> Callable[..., bool | None]:
    """The rule; it returns something else than None where that raises. An interrupt is raised."""

    def call(*arrays: Any) -> bool | None:
        try:
            rule(arrays[:count], arrays[count:])
        except Exception:
            return False
        return None

    return call
