"""Native code by LLVM: one compiled program per function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, ClassVar, final

from pliant.backends.base import Pairs
from pliant.backends.calls import Call
from pliant.backends.llvm.abi import Executable
from pliant.backends.llvm.kept import keep, kept_program, key_of_program
from pliant.core.ir import Function

__all__ = ["BACKEND", "LLVM", "Executable"]


@final
class LLVM:
    """The native backend. What makes code is loaded when some has to be made."""

    name: ClassVar[str] = "llvm"

    def compile(
        self, fn: Function, *, pinned: Pairs = (), free: Sequence[int] = (), sharing: bool = True
    ) -> Executable:
        """Machine code for `fn`. pinned: (parameter, result) pairs; the result is made in the parameter's
        memory. free: parameters that may be overwritten. Without `sharing` no two values share memory."""

        def compiled() -> tuple[Executable, str]:
            return import_module("pliant.backends.llvm.compiler").compiled(fn, pinned, free, sharing=sharing)

        key = key_of_program(fn, pinned, free) if sharing else ""
        found = kept_program(key, fn, lambda: compiled()[0].program) if key else None
        if found is None:
            found, text = compiled()
            if key:
                keep(key, fn, found, text)
        return found

    def entry(self, executable: Executable, call: Call) -> Callable[..., Any] | None:
        """A C-level callable for calls of one form; see `make_entry`."""
        return import_module("pliant.backends.llvm.entry").make_entry(executable, call)

    def forwarding(self, offset: int, gate: int) -> int:
        """The address of a function that passes calls on to entries; see `forward`."""
        return import_module("pliant.backends.llvm.forward").forwarding(offset, gate).address("forward")

    def guarded(self, otherwise: Callable[..., Any]) -> Any:
        """A callable that goes straight to a function while conditions hold, else to `otherwise`; see `Guarded`."""
        return import_module("pliant.backends.llvm.guarded").Guarded(otherwise)

    def describe(self, fn: Function, *, pinned: Pairs = (), arrays: Sequence[Any] | None = None) -> str:
        """The steps that `fn` becomes, their work, and what they write. arrays: arguments to time the steps with."""
        return import_module("pliant.backends.llvm.compiler").described(fn, pinned, arrays)

    def estimate(self, fn: Function) -> tuple[float, int]:
        """How many seconds `fn` takes by the model of the machine, and the bytes of its temporary arrays."""
        return import_module("pliant.backends.llvm.compiler").estimated(fn)

    def memory(self, fn: Function, *, pinned: Pairs = ()) -> tuple[str, str]:
        """The memory that `fn` takes, in words and as a picture, an SVG."""
        return import_module("pliant.backends.llvm.compiler").memory(fn, pinned)


BACKEND = LLVM()
