"""Calls of compiled functions: find the program for these arguments, or make it, and run it."""

from __future__ import annotations

import functools
import gc
import inspect
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, final

import numpy as np

from pliant.backends import backend_named
from pliant.core.build import abstract
from pliant.core.ir import Function
from pliant.errors import ArgumentError
from pliant.frontend.array import TracedArray
from pliant.frontend.capture import Guards, instrument
from pliant.frontend.program import Program, trace_program
from pliant.frontend.signature import WEAK, flatten, leaf_names, signature
from pliant.frontend.tracing import current, thread
from pliant.pipeline import optimise

DEFAULT_BACKEND: Final = "llvm"


@contextmanager
def disable_jit() -> Generator[None]:
    """Inside, `jit(f)` runs f itself with NumPy, and derivatives run on the reference backend, one
    primitive at a time: for debuggers and print.

    >>> import pliant
    >>> with pliant.disable_jit():
    ...     pliant.jit(lambda x: type(x).__name__)(1.0)
    'float'
    """
    before = thread.is_jit_disabled
    thread.update(thread.trace, True)
    try:
        yield
    finally:
        thread.update(thread.trace, before)


@contextmanager
def uncollected() -> Generator[None]:
    """No cyclic garbage collection inside: a trace makes many objects and drops few, and each
    collection would walk all of them."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@final
@dataclass(frozen=True)
class Entry:
    """A program and the code made from it."""

    program: Program
    run: Callable[[Sequence[Any]], list[Any]]
    uses: Iterator[int] = field(default_factory=count)


@final
@dataclass(frozen=True)
class Fast:
    """The C-level way into an entry, for flat positional arguments."""

    run: Callable[..., Any]
    number: int  # of arguments; captured arrays follow them, so a call with more or fewer goes elsewhere
    captured: tuple[Any, ...]
    guards: Guards | None


@final
class Compiled:
    """A function that is traced and compiled once per signature of its arguments.

    A signature is the structure of the arguments, each array's dtype and shape, each number's
    type, and the value of anything else. Safe to call from many threads.
    """

    def __init__(
        self, f: Callable[..., Any], *, original: Callable[..., Any] | None = None, backend: str = "",
        static: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        functools.update_wrapper(self, original or f)
        self.f = f
        self.is_plain = original is None  # f is the user's own: it may run without Pliant
        self.backend = backend
        self.static = static
        self.entries: dict[Any, list[Entry]] = {}
        self.fast: Fast | None = None
        self.lock = threading.RLock()
        self.names = _parameter_names(original or f)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        fast = self.fast
        if (
            fast is not None and len(args) == fast.number and not kwargs and not thread.is_special
            and (fast.guards is None or fast.guards.hold())
        ):  # fmt: skip
            return fast.run(*args, *fast.captured)
        return self.general(args, kwargs)

    def general(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call with any arguments, in any state of the thread."""
        if thread.trace is not None:
            return instrument(self.f, current())(*args, **kwargs)
        if thread.is_jit_disabled and self.is_plain:
            return self.f(*args, **kwargs)
        leaves, structure = flatten((args, kwargs) if not self.static else self._freeze(args, kwargs))
        entry = self.entry(leaves, structure, (args, kwargs))
        program = entry.program
        program.check_writes(leaves)
        made = program.finish(leaves, entry.run(program.arguments(leaves)))
        if next(entry.uses) == 1 and not kwargs and not self.static:  # the second call: more will follow
            self.fast = self._fast(entry, args)
        return made

    def _fast(self, entry: Entry, args: tuple[Any, ...]) -> Fast | None:
        """A C-level entry, if arguments and results are simple enough and the backend makes one."""
        program = entry.program
        make = getattr(backend_named(self.backend or DEFAULT_BACKEND), "entry", None)
        tree = program.result_tree()
        kinds = [type(a).__name__ if type(a) in WEAK else "array" if type(a) is np.ndarray else "" for a in args]
        if make is None or tree is None or "" in kinds or program.leaves != tuple(range(len(args))):
            return None
        number = len(args)
        kinds += ["array"] * len(program.captured)
        run = make(
            entry.run, kinds, tree, lambda *given: self.general(given[:number], {}), scalars=program.has_scalars
        )
        guards = program.guards if program.guards.entries else None
        return Fast(run, number, program.captured, guards) if run is not None else None

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def _freeze(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The arguments with those named in `static` hidden from tracing."""
        named = [_Frozen(a) if n < len(self.names) and self.names[n] in self.static else a for n, a in enumerate(args)]
        return tuple(named), {k: _Frozen(v) if k in self.static else v for k, v in kwargs.items()}

    def entry(self, leaves: list[Any], structure: Any, tree: Any) -> Entry:
        """The compiled program for arguments like these, made if there is none."""
        backend = "reference" if thread.is_jit_disabled else self.backend or DEFAULT_BACKEND
        key = (backend, structure, *[signature(leaf) for leaf in leaves])
        for entry in self.entries.get(key, ()):
            if entry.program.guards.hold():
                return entry
        with self.lock, uncollected():
            program = trace_program(self._thawed, leaves, structure, leaf_names(self.names, tree))
            entry = Entry(program, backend_named(backend).compile(optimise(program.fn)))
            self.entries[key] = [entry, *[e for e in self.entries.get(key, ()) if e.program.guards.hold()]][:8]
        return entry

    @property
    def _thawed(self) -> Callable[..., Any]:
        if not self.static:
            return self.f
        f = self.f

        @functools.wraps(f)
        def thawed(*args: Any, **kwargs: Any) -> Any:
            return instrument(f, current())(*map(_thaw, args), **{k: _thaw(v) for k, v in kwargs.items()})

        return thawed

    def program(self, *args: Any, **kwargs: Any) -> Program:
        """The traced program for these arguments, not optimised."""
        tree = (args, kwargs) if not self.static else self._freeze(args, kwargs)
        leaves, structure = flatten(tree)
        for leaf in leaves:
            signature(leaf)
        with uncollected():
            return trace_program(self._thawed, leaves, structure, leaf_names(self.names, (args, kwargs)))


@final
@dataclass(frozen=True)
class _Frozen:
    """A static argument: a leaf of the signature, whatever it holds."""

    value: Any


def _thaw(x: Any) -> Any:
    return x.value if isinstance(x, _Frozen) else x


def _parameter_names(f: Callable[..., Any]) -> list[str]:
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):  # a C function without a signature
        return []
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


@final
class CompiledFunction:
    """An IR function as a Python callable on flat arrays, compiled on first use."""

    def __init__(self, fn: Function) -> None:
        self.fn = fn

    @functools.cached_property
    def run(self) -> Callable[[Sequence[Any]], list[Any]]:
        """The compiled code."""
        return backend_named(DEFAULT_BACKEND).compile(optimise(self.fn))


def function_of(f: Any) -> Callable[..., Any]:
    """`f` itself, or ArgumentError if it cannot be called."""
    if not callable(f):
        raise ArgumentError(f"expected a function, got {type(f).__name__}")
    return f


__all__ = ["Compiled", "CompiledFunction", "TracedArray", "abstract", "disable_jit", "function_of"]
