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
from pliant.errors import ArgumentError
from pliant.frontend.capture import Guards, callee
from pliant.frontend.donation import Donation
from pliant.frontend.out import run_into
from pliant.frontend.placing import Pairs, filled, packed, targets, written_over
from pliant.frontend.program import Program, trace_program
from pliant.frontend.returns import apart, returns_of
from pliant.frontend.signature import WEAK, flatten, leaf_names, signature, unflatten
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
    compile: Callable[[Pairs], Any]  # with these results made in these parameters
    uses: Iterator[int] = field(default_factory=count)
    scratch: list[dict[int, Any]] = field(default_factory=list[dict[int, Any]])  # free ones; pop and append are atomic
    codes: dict[Pairs, Any] = field(default_factory=dict[Pairs, Any])
    donation: Donation | None = None

    @property
    def run(self) -> Any:
        """The code for a call without `out=`."""
        return self.code(())

    def code(self, more: Pairs) -> Any:
        """The code that makes more results in parameters than those that the function writes."""
        if more not in self.codes:
            self.codes[more] = self.compile((*self.program.pinned, *more))
        return self.codes[more]

    def call(self, tree: Any, leaves: list[Any], outs: list[Any] | None = None) -> Any:
        """Run, write what the function writes, and make what it returns; the results are also left in `outs`."""
        program, donation = self.program, self.donation
        arguments = program.arguments(leaves)
        if donation:
            donation.check(leaves)
            arguments = donation.arguments(arguments)
        results = self.run(arguments) if outs is None and not program.packs else self.into(arguments, outs)
        if donation:
            results = donation.results(leaves, arguments, results)
        made = program.finish(leaves, results, arguments, outs)
        program.update(tree, leaves, results)
        return made

    def into(self, arguments: list[Any], outs: list[Any] | None) -> list[Any]:
        """Results in the memory of `outs`, as far as that can be, else to be copied there; then packed vectors."""
        program, is_sure = self.program, getattr(self.run, "is_sure", False)
        vectors, parts = packed(program)
        code = self.code(written_over(program, arguments, outs)) if is_sure and outs is not None else self.run
        if not hasattr(code, "into"):
            results = code(arguments)
            return [*results, *filled(vectors, parts, results)]
        try:
            scratch = self.scratch.pop()
        except IndexError:
            scratch = {}
        given = [None] * len(program.fn.results) if outs is None else targets(
            program, arguments, outs, scratch, is_sure=is_sure
        )  # fmt: skip
        results = code.into(arguments, [parts.get(n, out) for n, out in enumerate(given)])
        self.scratch.append(scratch)
        return [*results, *filled(vectors, parts, results)]


@final
@dataclass(frozen=True)
class Fast:
    """The C-level way into an entry.

    `structure` is None if all arguments are positional arrays and numbers, `made` if the result is
    nested tuples of arrays: then nothing is flattened, or rebuilt.
    """

    run: Callable[..., Any]
    number: int  # of leaves; captured arrays follow them, so a call with more or fewer goes elsewhere
    captured: tuple[Any, ...]
    guards: Guards | None
    structure: Any
    made: Any
    program: Program | None = None  # one that writes: what to do with its results

    def writing(self, compiled: Compiled, program: Program, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of a program that writes what its code did not compute in place, or that returns views."""
        leaves, structure = (list(args), None) if self.structure is None else flatten((args, kwargs))
        is_same = structure == self.structure and len(leaves) == self.number and not (kwargs and structure is None)
        results: Any = self.run(*leaves, *self.captured) if is_same else _MISSED
        if results is _MISSED:
            return compiled.general(args, kwargs)
        program.check_writes(leaves)
        return program.finish(leaves, results, [*leaves, *self.captured])

    def tree(self, compiled: Compiled, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call whose arguments or results are containers, or of a program that writes."""
        if self.program is not None:
            return self.writing(compiled, self.program, args, kwargs)
        leaves, structure = flatten((args, kwargs))
        made: Any = _MISSED
        if self.structure is None:
            made = self.run(*args, *self.captured) if not kwargs and len(args) == self.number else _MISSED
        elif structure == self.structure:
            made = self.run(*leaves, *self.captured)
        if made is _MISSED:
            return compiled.general(args, kwargs)
        return made if self.made is None else unflatten(self.made, made)


_MISSED: Final = object()  # what a C-level entry of a tree returns where it does not fit


@final
class Compiled:
    """A function that is traced and compiled once per signature of its arguments.

    A signature is the structure of the arguments, each array's dtype and shape, each number's
    type, and the value of anything else. Safe to call from many threads.
    """

    def __init__(
        self, f: Callable[..., Any], *, original: Callable[..., Any] | None = None, backend: str = "",
        static: tuple[str, ...] = (), donate: tuple[str, ...] = (),
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
        is_numpys = str(getattr(self, "__module__", "")).partition(".")[0] == "numpy"  # its out= is no other than ours
        self.has_out = not is_numpys and _has_parameter(original or f, "out")
        self.donate = donate
        unknown = [name for name in donate if name not in self.names or name in static]
        if unknown:
            named = ", ".join(self.names)
            raise ArgumentError(f"donate= names {', '.join(unknown)}; expected traced parameters: {named}")
        missing = [name for name in static if name not in self.names and not _has_parameter(original or f, name)]
        if missing and self.names:
            raise ArgumentError(f"static= names {', '.join(missing)}; expected parameters: {', '.join(self.names)}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        fast = self.fast
        if fast is None or thread.is_special or not (fast.guards is None or fast.guards.hold()):
            return self.general(args, kwargs)
        if fast.structure is not None or fast.made is not None:
            return fast.tree(self, args, kwargs)
        if kwargs or len(args) != fast.number:
            return self.general(args, kwargs)
        return fast.run(*args, *fast.captured)

    def general(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call with any arguments, in any state of the thread."""
        if "out" in kwargs and not self.has_out:
            kwargs = dict(kwargs)
            return self.into(kwargs.pop("out"), args, kwargs)
        if thread.trace is not None:
            return callee(self.f, current())(*args, **kwargs)
        if thread.is_jit_disabled and self.is_plain:
            return self.f(*args, **kwargs)
        leaves, structure = flatten((args, kwargs) if not self.static else self._freeze(args, kwargs))
        entry = self.entry(leaves, structure, (args, kwargs))
        program = entry.program
        program.check_writes(leaves)
        made = entry.call((args, kwargs), leaves)
        if next(entry.uses) == 1 and not self.static and not self.donate:  # the second call: more will follow
            self.fast = self._fast(entry, args, leaves, structure)
        return made

    def into(self, out: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call that leaves its results in `out`, which has their structure."""
        if out is None:
            return self(*args, **kwargs)
        if thread.trace is not None or (thread.is_jit_disabled and self.is_plain):
            return run_into(out, lambda: self.general(args, kwargs), is_traced=thread.trace is not None)
        leaves, structure = flatten((args, kwargs) if not self.static else self._freeze(args, kwargs))
        entry = self.entry(leaves, structure, (args, kwargs))
        program = entry.program
        outs = program.check_out(out)
        program.check_writes(leaves)
        entry.call((args, kwargs), leaves, outs)
        return out

    def _fast(self, entry: Entry, args: tuple[Any, ...], leaves: list[Any], structure: Any) -> Fast | None:
        """A C-level entry, if arguments and results are simple enough and the backend makes one."""
        program = entry.program
        make = getattr(backend_named(self.backend or DEFAULT_BACKEND), "entry", None)
        kinds = [type(x).__name__ if type(x) in WEAK else "array" if type(x) is np.ndarray else "" for x in leaves]
        if (
            make is None
            or "" in kinds
            or program.narrowed
            or program.packs
            or program.leaves != tuple(range(len(leaves)))
        ):
            return None
        # other strides would make other reshapes views
        is_plain = all(x.flags.c_contiguous for x in leaves if isinstance(x, np.ndarray))
        if program.watched and (program.groups or program.changed or not is_plain):
            return None
        number, returns = len(leaves), returns_of(program)
        is_flat = len(args) == number and all(a is x for a, x in zip(args, leaves, strict=True))
        is_direct = is_flat and returns is not None and returns.structure is None
        kinds += ["array"] * len(program.captured)

        def fallback(*given: Any) -> Any:
            return self.general(given[:number], {}) if is_direct else _MISSED

        tree, scalars = ("tuple", False) if returns is None else (returns.tree, returns.has_scalars)
        if returns is None and not program.written:
            return None
        run = make(entry.run, kinds, tree, fallback, scalars=scalars, apart=apart(program))
        if run is None:
            return None
        guards = program.guards if program.guards.entries else None
        known = None if is_flat else structure
        if returns is None:
            return Fast(run, number, program.captured, guards, known, program, program)
        return Fast(run, number, program.captured, guards, known, returns.structure)

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
            if entry.program.fits(leaves):
                return entry
        with self.lock, uncollected():
            for entry in self.entries.get(key, ()):  # another thread may have been faster
                if entry.program.fits(leaves):
                    return entry
            program = trace_program(self._thawed, leaves, structure, leaf_names(self.names, tree))
            entry = self._made(program, backend, leaf_names(self.names, tree) if self.donate else [])
            self.entries[key] = [entry, *[e for e in self.entries.get(key, ()) if e.program.guards.hold()]][:8]
        return entry

    def _made(self, program: Program, backend: str, names: Sequence[str]) -> Entry:
        """A program with its code; `names` of the leaves, if some may be donated."""
        fn, compiler = optimise(program.fn), backend_named(backend)
        given = {n: name for n, name in enumerate(names) if name.partition("[")[0] in self.donate}
        donation = Donation(program, given) if given else None
        free = tuple(donation.params.values()) if donation else ()
        entry = Entry(program, lambda pairs: compiler.compile(fn, pinned=pairs, free=free), donation=donation)
        entry.code(())
        return entry

    @property
    def _thawed(self) -> Callable[..., Any]:
        if not self.static:
            return self.f
        f = self.f

        @functools.wraps(f)
        def thawed(*args: Any, **kwargs: Any) -> Any:
            return callee(f, current())(*map(_thaw, args), **{k: _thaw(v) for k, v in kwargs.items()})

        return thawed

    def program(self, *args: Any, **kwargs: Any) -> Program:
        """The traced program for these arguments, not optimised."""
        return self.program_and_arrays(args, kwargs)[0]

    def program_and_arrays(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Program, list[Any]]:
        """The traced program for these arguments, not optimised, and the arrays for its parameters."""
        tree = (args, kwargs) if not self.static else self._freeze(args, kwargs)
        leaves, structure = flatten(tree)
        for leaf in leaves:
            signature(leaf)
        with uncollected():
            program = trace_program(self._thawed, leaves, structure, leaf_names(self.names, (args, kwargs)))
        return program, program.arguments(leaves)


@final
@dataclass(frozen=True)
class _Frozen:
    """A static argument: a leaf of the signature, whatever it holds."""

    value: Any

    def __post_init__(self) -> None:
        try:
            hash(self.value)
        except TypeError:
            raise ArgumentError(
                f"static arguments must be hashable, got {type(self.value).__name__}",
                hint="a tuple, a number or a string",
            ) from None


def _thaw(x: Any) -> Any:
    return x.value if isinstance(x, _Frozen) else x


def _parameter_names(f: Callable[..., Any]) -> list[str]:
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):  # a C function without a signature
        return []
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def _has_parameter(f: Callable[..., Any], name: str) -> bool:
    """Whether a function takes a keyword of this name."""
    try:
        parameters = inspect.signature(f).parameters
    except (TypeError, ValueError):
        return False
    return name in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def function_of(f: Any) -> Callable[..., Any]:
    """`f` itself, or ArgumentError if it cannot be called."""
    if not callable(f):
        raise ArgumentError(f"expected a function, got {type(f).__name__}")
    return f
