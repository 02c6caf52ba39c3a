"""LLVM code of loops that ask now and then whether a signal has come, so that they end where its handler raises.

Python notes a signal, and runs its handler when the main thread asks; `pliant_signals()` does, with the GIL, which
native code need not hold; if it does, it lets other threads have it. Where the handler raises, it keeps the error, of
which `interrupts` knows, and the loop is left as after an index that is out of range.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, final

from pliant.backends.interrupts import RAISED
from pliant.backends.llvm.capi import python_function
from pliant.backends.llvm.jit import Code, host_target, symbol
from pliant.backends.llvm.lines import address_of
from pliant.backends.llvm.made_once import made_once

if TYPE_CHECKING:
    from pliant.backends.llvm.emit import Emitter
    from pliant.kernel.ir import Run, Var

NAME: Final = "pliant_signals"
DECLARED: Final = f"declare i32 @{NAME}() cold nounwind memory(inaccessiblemem: readwrite)"
"""What is asked for keeps nothing of a loop in memory; a handler that writes to arrays may do so before or after."""

FUNCTIONS: Final = (
    "PyGILState_Check", "PyEval_SaveThread", "PyEval_RestoreThread", "PyThread_get_thread_ident", "PyGILState_Ensure",
    "PyErr_CheckSignals", "PyErr_Fetch", "PyGILState_Release",
)  # fmt: skip


@made_once
def _code() -> Code:
    """The function of this process."""
    main = threading.main_thread().ident
    places = {f"place{n}": address_of(ctypes.addressof(RAISED) + 8 * n) for n in range(3)}
    text = TEXT.format(main=main, **places, **{name: address_of(python_function(name)) for name in FUNCTIONS})
    return Code(f'target triple = "{host_target().triple}"\n{text}', 0, keep=False, level=0)


def signals() -> str:
    """The name under which code finds `pliant_signals`."""
    return symbol(NAME, _code().address(NAME))


@final
class Waiting:
    """Counts the steps of a loop, and asks after so many. is_left: whether the loop is left at once where a handler
    raises; else that is noted as other errors of a step are, and the loop ends before its next step."""

    def __init__(self, e: Emitter, step: Run, *, is_left: bool) -> None:
        self.e, self.pause, self.site, self.is_left = e, step.pause, step.signal, is_left
        if self.pause:
            self.left = e.alloca("i64")
            e.line(f"store i64 {self.pause}, ptr {self.left}")
            e.can_fail = e.can_fail or not is_left

    def step(self) -> None:
        """The end of a step."""
        if not self.pause:
            return
        e = self.e
        left = e.op(f"sub nuw nsw i64 {e.op(f'load i64, ptr {self.left}')}, 1")
        e.line(f"store i64 {left}, ptr {self.left}")
        e.unless(e.op(f"icmp ne i64 {left}, 0"), self.ask)

    def ask(self) -> None:
        """Ask, and count again."""
        e = self.e
        e.line(f"store i64 {self.pause}, ptr {self.left}")
        raised = asked(e)
        if self.is_left:
            e.return_if(raised, self.site, "0")
            return
        before = e.op("load i64, ptr %error")
        e.line(f"store i64 {e.op(f'select i1 {raised}, i64 {self.site + 1}, i64 {before}')}, ptr %error")


def in_turns(e: Emitter, var: Var, body: Callable[[], None], end: str, step: Run) -> None:
    """A counted loop of at least one step that asks between turns of many steps."""
    begun = e.alloca("i64")
    e.line(f"store i64 0, ptr {begun}")

    def turn() -> str:
        first = e.op(f"load i64, ptr {begun}")
        last = e.op(f"call i64 @llvm.umin.i64(i64 {e.op(f'add nuw i64 {first}, {step.pause}')}, i64 {end})")
        e.loop(var, body, (first, last))
        e.line(f"store i64 {last}, ptr {begun}")
        e.return_if(asked(e), step.signal, "0")
        return e.op(f"icmp ult i64 {last}, {end}")

    e.repeat(turn)


def asked(e: Emitter) -> str:
    """Whether a signal has come whose handler raises."""
    e.module.declared[signals()] = DECLARED
    return e.op(f"icmp ne i32 {e.op(f'call i32 @{NAME}()')}, 0")


TEXT: Final = """
define i32 @pliant_signals() {{
  %is_held = call i32 {PyGILState_Check}()
  %is_free = icmp eq i32 %is_held, 0
  br i1 %is_free, label %begin, label %share
share:
  %thread = call ptr {PyEval_SaveThread}()
  call void {PyEval_RestoreThread}(ptr %thread)
  br label %begin
begin:
  %self = call i64 {PyThread_get_thread_ident}()
  %is_main = icmp eq i64 %self, {main}
  br i1 %is_main, label %look, label %none
look:
  %kept = load ptr, ptr {place0}
  %is_kept = icmp ne ptr %kept, null
  br i1 %is_kept, label %raised, label %ask
ask:
  %state = call i32 {PyGILState_Ensure}()
  %found = call i32 {PyErr_CheckSignals}()
  %is_fine = icmp eq i32 %found, 0
  br i1 %is_fine, label %leave, label %keep
keep:
  call void {PyErr_Fetch}(ptr {place0}, ptr {place1}, ptr {place2})
  br label %leave
leave:
  call void {PyGILState_Release}(i32 %state)
  br i1 %is_fine, label %none, label %raised
none:
  ret i32 0
raised:
  ret i32 1
}}
"""
