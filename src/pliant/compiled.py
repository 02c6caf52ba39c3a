"""Calls of compiled functions: find the program for these arguments, or make it, and run it."""

from __future__ import annotations

import copy
import functools
import gc
import operator
import sys
import threading
import types
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final, cast, final

from pliant.backends import backend_named
from pliant.backends.callable import callable_natively, connect
from pliant.backends.interrupts import raise_dropped
from pliant.callables import has_parameter, parameter_names
from pliant.errors import ArgumentError, PliantError
from pliant.frontend.alias import Group
from pliant.frontend.control.outside import put_back, take_back, unless_it_raises
from pliant.frontend.decided import Decided
from pliant.frontend.donation import Donation
from pliant.frontend.failures import Full
from pliant.frontend.instrumented import callee
from pliant.frontend.kinds import is_array
from pliant.frontend.known import Known
from pliant.frontend.memory import memories_of
from pliant.frontend.muted import muted
from pliant.frontend.opened import Objects, Opened
from pliant.frontend.out import run_into
from pliant.frontend.printing import left_over
from pliant.frontend.program import Program
from pliant.frontend.retrace import ENDED, trace_program
from pliant.frontend.sharing import sharing
from pliant.frontend.signature import (
    Layouts,
    Order,
    Static,
    argument_of,
    as_arrays,
    flatten,
    in_rows,
    key_orders,
    leaf_names,
    signature,
    static,
    unflatten,
)
from pliant.frontend.tracing import ROOM, Needs, current, special, strides_of, thread
from pliant.rewrite.explain import Log
from pliant.runnable import Entry

if TYPE_CHECKING:
    from pliant.core.ir import Function
    from pliant.entries import Sample

DEFAULT_BACKEND: Final = "llvm"
WAYS: Final = 8  # native answers kept per function
PROGRAMS: Final = 8  # of one form, kept: what they read outside, or how arrays overlap, differs
NUMBERS: Final = 64  # the same if the numbers differ that they are made for
FORMS: Final = 16  # of calls of one program that are told apart
WIDER: Final = 32  # times as much room as before for lists that nothing bounds


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


@callable_natively
@final
class Compiled:
    """A function that is traced and compiled once per signature of its arguments.

    A signature is the structure of the arguments, each array's dtype and shape, each number's
    type, and the value of anything else, and of integers that tracing has to know. Safe to call from
    many threads. Calls of a form that was seen before are answered by native code; `__call__` serves
    all others.
    """

    def __init__(
        self, f: Callable[..., Any], *, original: Callable[..., Any] | None = None, backend: str = "",
        static: tuple[str, ...] = (), donate: tuple[str, ...] = (), more: int = 0,
        again: Callable[[], Any] | None = None, plain: Callable[..., Any] | None = None,
        improve: Callable[[Function, Log], Function] | None = None, inside: Callable[..., Any] | None = None,
    ) -> None:  # fmt: skip
        """original: the function that f is made from; what is static for it is for f, which takes `more` arguments
        after the first. again: makes it anew where it was pickled. plain: takes the arguments of f, and raises, in
        Python, what the original raises. improve: of its programs, before the passes. inside: what is called for it
        where another function is traced, if that is not f."""
        functools.update_wrapper(self, original or f)
        if original not in (None, f):
            f.__wrapped__ = original  # type: ignore[attr-defined]
        self.f, self.again, self.improve, self.inside = f, again, improve, inside or f
        self.is_plain = original is None  # f is the user's own: it may run without Pliant
        self.plain = f if self.is_plain else plain
        self.backend = backend
        self.static = static or getattr(original, "static", ())
        self.entries: dict[Any, list[Entry]] = {}
        self.natives: list[tuple[Entry, Callable[..., Any]]] = []  # the latest first
        self.lock = threading.RLock()
        self.known, self.objects = Known(), Objects()
        self.room = 0 if donate else ROOM  # for lists that nothing bounds: a call that needs more is begun again
        names = parameter_names(original or f)
        self.names = [*names[:1], *[""] * more, *names[1:]]
        is_numpys = str(getattr(self, "__module__", "")).partition(".")[0] == "numpy"  # its out= is no other than ours
        self.has_out = not is_numpys and has_parameter(original or f, "out")
        self.donate = donate
        unknown = [name for name in donate if name not in self.names or name in static]
        if unknown:
            named = ", ".join(self.names)
            raise ArgumentError(f"donate= names {', '.join(unknown)}; expected traced parameters: {named}")
        missing = [name for name in static if name not in self.names and not has_parameter(original or f, name)]
        if missing and self.names:
            raise ArgumentError(f"static= names {', '.join(missing)}; expected parameters: {', '.join(self.names)}")

    def __repr__(self) -> str:
        of = getattr(self.again, "args", ())
        name = repr(of[0])[1:-1] if of and isinstance(of[0], Compiled) else getattr(self, "__qualname__", repr(self.f))
        return f"<pliant.{self.again.func.__name__}({name})>" if of else f"<compiled {name}>"  # type: ignore[union-attr]

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        names = tuple(kwargs)
        out = kwargs.pop("out", None) if not self.has_out else None
        if thread.trace is not None:
            made = functools.partial(callee(self.inside, current()), *args, **kwargs)
            return made() if out is None else run_into(out, made, is_traced=True)
        if thread.is_jit_disabled and self.is_plain:
            made = functools.partial(self.f, *args, **kwargs)
            return made() if out is None else run_into(out, made, is_traced=False)
        if not self.objects.are_taken:
            return self._call(args, kwargs, names, out)
        with self.lock:  # while it is traced, objects from outside hold what stands for their content
            return self._call(args, kwargs, names, out)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any], names: tuple[str, ...], out: Any) -> Any:
        """A call that native code does not answer; kwargs without `out`."""
        raise_dropped()
        self.objects.leave_large()
        tree = self._tree(args, kwargs)
        outside = tree[0][: len(tree[0]) - len(args)]
        given, structure = self.objects.flatten(tree)
        arrays = as_arrays(given)
        leaves, orders = in_rows(arrays)
        try:
            found = self.entry(leaves, structure, tree, orders, outside)
        except Opened:
            found = None
        if found is None:
            return self(*args, **kwargs, **({} if out is None else {"out": out}))
        longer = self.objects.longer(found.program, tree)
        entry = found
        try:
            with unless_it_raises(found.program.left):
                entry = found if out is None else found.row_major
                outs, made = self._run(entry, (args, kwargs), outside, given, arrays, leaves, out)
        except Full as error:
            self._forget(found, entry.program, *error.args)
            return self(*args, **kwargs, **({} if out is None else {"out": out}))
        self.objects.grow(longer)
        from pliant.entries import Sample

        sample = Sample(entry.program, outside, args, kwargs, names, structure, given, leaves, [], [])
        self._expect(entry, sample, given, out, outs)
        return made if out is None else out

    def _run(
        self, entry: Entry, tree: Any, outside: tuple[Any, ...], given: list[Any], arrays: list[Any],
        leaves: list[Any], out: Any,
    ) -> tuple[list[Any] | None, Any]:  # fmt: skip
        """The arrays of `out`, and what code makes of arguments."""
        (args, kwargs), program = tree, entry.program
        outs = None if out is None else program.check_out(out)
        program.check_writes(leaves)
        try:
            return outs, entry.call(((*outside, *args), kwargs), given, arrays, leaves, outs)
        except Full:
            raise
        except Exception:
            if program.failed is not None and self.plain is not None:
                self._raise_plainly(program, args, kwargs, len(leaves))
            raise

    def _raise_plainly(self, program: Program, args: tuple[Any, ...], kwargs: dict[str, Any], count: int) -> None:
        """Raise what plain Python raises for copies of the arguments, with its text and place, if the program may raise
        that; nothing if it would leave something elsewhere that cannot be taken back: what is written to arrays is, and
        what a derivative or a batch sets; and nothing if arguments were donated, which hold other numbers by now.
        count: of the leaves."""
        if self.donate or program.lasting or any([isinstance(place, Group) for place, _ in program.written]):
            return
        try:
            again, options = _copied(args, kwargs, is_deep=program.changed is not None)
        except Exception:
            return
        f = cast("Any", self.plain)
        while type(f) is Compiled and f.plain is not None:
            f = cast("Any", f.plain)
        places, arrays = () if f is self.f else program.taken_back, program.touched(count)
        objects = self.objects.taken
        lock = self.lock if places or arrays or objects else nullcontext()
        quiet = muted() if program.prints else nullcontext()
        with lock, quiet, put_back(places, arrays, objects):
            try:
                f(*again, **options)
            except Exception as error:
                if any([isinstance(error, type(e)) or isinstance(e, type(error)) for e, _ in program.failures]):
                    raise

    def _forget(self, entry: Entry, program: Program, room: int) -> None:
        """Drop a program that has room for so many elements of a list, and needs more; others will have it."""
        with self.lock:
            self.room = max(self.room, room * WIDER)
            self.natives = [(e, way) for e, way in self.natives if e.program is not program]
            for key, entries in self.entries.items():
                self.entries[key] = [e for e in entries if e is not entry]

    def _expect(self, entry: Entry, sample: Sample, given: list[Any], out: Any, outs: list[Any] | None) -> None:
        """Have native code answer calls like this one, if it is the second of its form: more will follow."""
        decided = entry.program.decided
        if entry.native is None or (decided is not None and not decided.is_native):
            return
        if entry.program.prints and entry.program.failed is not None:  # it would run again
            return
        pairs = () if outs is None else entry.lies_in(sample.program.arguments(sample.leaves), outs)
        crooked = tuple([n for n, x in enumerate(sample.leaves) if is_array(x) and not x.flags.aligned])
        form = (len(sample.args), *sample.names, *map(type, given), *map(strides_of, outs or ()), pairs, crooked)
        if form not in entry.forms and len(entry.forms) >= FORMS:
            return
        from pliant.entries import call_like

        uses = entry.forms[form] = entry.forms.get(form, 0) + 1
        call = call_like(sample, out, outs or (), pairs) if uses == 2 else None
        native = entry.native.entry(entry.code(pairs), call) if call else None
        if native is None:
            return
        with self.lock:
            kept = [(e, way) for e, way in self.natives if e.program.guards.hold()]
            kept = sorted([(entry, native), *kept], key=lambda pair: not pair[0].program.guessed)
            self.natives = kept[:WAYS]
            ways = (*[way for _, way in self.natives], self.__call__)
            connect(self, ways, lambda offset: entry.native.forwarding(offset, special.ctypes.data))

    def __reduce__(self) -> Any:
        """As of any function, pickled by name; if that is another one's, by how it is made."""
        name = str(getattr(self, "__qualname__", repr(self)))
        if self.again is None or _named(getattr(self, "__module__", None), name) is self:
            return name
        return operator.call, (self.again,)

    def __copy__(self) -> Compiled:
        return self

    def __deepcopy__(self, memo: Any) -> Compiled:
        """The same function; of a method, that of a copy of its object."""
        again = cast("Any", self.again)
        f: Any = again.args[0] if hasattr(again, "args") else None
        copied: Any = copy.deepcopy(f, memo) if isinstance(f, types.MethodType | Compiled) else f
        if id(self) in memo:  # its object holds it
            return memo[id(self)]
        return self if copied is f else again.func(copied, *again.args[1:], **again.keywords)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def _tree(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The arguments, and before them the objects from outside that are such too."""
        args, kwargs = self._freeze(args, kwargs) if self.static else (args, kwargs)
        return (*self.objects.taken, *args), kwargs

    def _freeze(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The arguments with those named in `static` hidden from tracing."""
        named = [static(a) if n < len(self.names) and self.names[n] in self.static else a for n, a in enumerate(args)]
        return tuple(named), {k: static(v) if k in self.static else v for k, v in kwargs.items()}

    def entry(
        self, leaves: list[Any], structure: Any, tree: Any, orders: tuple[Order, ...] = (),
        outside: tuple[Any, ...] = (),
    ) -> Entry:  # fmt: skip
        """The compiled program for arguments like these, made if there is none. orders: of the axes that the function
        gets in another one than the leaves have them. outside: the first arguments, which are from outside."""
        backend = "reference" if thread.is_jit_disabled else self.backend or DEFAULT_BACKEND
        closed = self.objects.closed
        firsts = sharing(tree, closed)
        form = (backend, structure, key_orders(tree, closed), firsts, orders, *map(signature, leaves))
        known = self.known.of(structure, form, leaves)
        key = (*form, *[leaves[i] for i in known])
        for entry in self.entries.get(key, ()):
            if entry.program.fits(leaves):
                return entry
        with self.lock:
            made = [entry.program for entry in self.entries.get(key, ())]
            every = [entry.program for entries in self.entries.values() for entry in entries]
            if self.objects.are_new(form, made, leaves, self.f) or self.objects.are_moved(every, self.f):
                raise Opened
        with self.lock, uncollected():
            for entry in self.entries.get(key, ()):  # another thread may have been faster
                if entry.program.fits(leaves):
                    return entry
            if not self.objects.are_as_before(outside, tree, structure):
                raise Opened
            names = self._leaf_names(tree)
            lies = backend == DEFAULT_BACKEND and not self.donate
            layouts = Layouts(orders, memories_of(leaves) if lies else (), firsts, lies)
            needs = self.known.needs(structure, form, leaves)
            program = self._traced(tree, leaves, structure, names, needs, layouts)
            with unless_it_raises(program.left):
                if self.objects.are_left_again(program, made, self.f):
                    raise Opened
                if program.known or program.decided is not None:
                    known = self.known.learn(structure, form, program, leaves, names)
                    key = (*form, *[leaves[i] for i in known])
                entry = self._made(program, backend, names if self.donate else [])
            before = self.entries.get(key, ())
            kept = [entry, *[e for e in before if e.program.lasting or e.program.guards.hold()]]
            self.entries[key] = kept[: PROGRAMS if program.decided is None else NUMBERS]
        return entry

    def _traced(
        self, tree: Any, leaves: list[Any], structure: Any, names: list[str], needs: Needs, layouts: Layouts
    ) -> Program:
        """The program of the function; Opened if objects among the arguments have to be taken otherwise."""
        try:
            f = self.objects.holding(self._thawed)
            program = trace_program(f, leaves, structure, names, needs, layouts, self.room)
            with unless_it_raises(program.left):
                self.objects.check_grown(program)
                if self.objects.are_read_outside(tree, program):
                    raise Opened
        except Exception as error:
            needs = error.__dict__.pop(ENDED, None) or Needs()  # it may have ended outside of a trace
            failed = self.objects.failed
            if isinstance(error, PliantError) and self.objects.are_other(tree, leaves, error):
                raise Opened from None
            left_over(needs.lines)
            raise failed or error from None
        self.objects.is_trial, self.objects.failed = False, None
        return program

    def _leaf_names(self, tree: Any) -> list[str]:
        return leaf_names([*self.objects.names, *self.names], tree, self.objects.is_leaf)

    def _made(self, program: Program, backend: str, names: Sequence[str]) -> Entry:
        """A program with its code; `names` of the leaves, if some may be donated."""
        compiler = backend_named(backend)
        fn = self.optimised(program.fn, Log(), backend)
        given = {n: name for n, name in enumerate(names) if argument_of(name) in self.donate}
        donation = Donation(program, given) if given else None
        free = tuple(donation.params.values()) if donation else ()
        native = compiler if hasattr(compiler, "entry") and not donation else None
        entry = Entry(
            program,
            lambda pairs: compiler.compile(fn, pinned=pairs, free=free),
            donation=donation,
            native=native,
            another=lambda program: self._made(program, backend, names),
        )
        entry.code(())
        return entry

    def optimised(self, fn: Function, log: Log, backend: str = DEFAULT_BACKEND) -> Function:
        """A program as it becomes code."""
        from pliant.pipeline import for_backend

        return for_backend(self.improve(fn, log) if self.improve else fn, backend, log)

    @property
    def _thawed(self) -> Callable[..., Any]:
        if not self.static:
            return self.f
        f = self.f

        @functools.wraps(f)
        def thawed(*args: Any, **kwargs: Any) -> Any:
            return callee(f, current())(*map(_thaw, args), **{k: _thaw(v) for k, v in kwargs.items()})

        return thawed

    def known_in(self, program: Program, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
        """The integers among arguments that a program is made for, as text."""
        names = self._leaf_names(self._tree(args, kwargs))
        return [f"{names[i]} = {x}" for i, x in zip(program.known, program.values, strict=True)]

    def flattened(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], Any]:
        """The leaves of arguments, as programs number them, and their structure."""
        return self.objects.flatten(self._tree(args, kwargs))

    def program(self, /, *args: Any, **kwargs: Any) -> Program:
        """The traced program for arrays of these types, not optimised, whose results are what is returned."""
        return self.program_and_arrays(args, kwargs, is_for_all=True, are_results=True)[0]

    def program_and_arrays(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], *, is_for_all: bool = False, are_results: bool = False
    ) -> tuple[Program, list[Any]]:
        """The traced program for these arguments, not optimised, and the arrays for its parameters; nothing is left
        outside. is_for_all: whether it is for all data of their types, row-major; a call gets one that may be for some
        data alone, and for the memory in which arguments lie. are_results: whether what is returned is the results, and
        arguments are as they come."""
        tree = self._tree(args, kwargs)
        given, structure = self.objects.flatten(tree)
        leaves = as_arrays(given)
        leaves, orders = (leaves, ()) if are_results else in_rows(leaves)
        for leaf in leaves:
            signature(leaf)
        lies = not is_for_all
        memories = memories_of(leaves) if lies else ()
        layouts = Layouts(orders, memories, sharing(tree, self.objects.closed), lies, are_results)
        needs = Needs() if is_for_all else Needs(decides=True, guesses=Known.may_guess)
        try:
            with self.lock, uncollected():
                names = self._leaf_names(tree)
                program = self._traced(tree, leaves, structure, names, needs, layouts)
                take_back(program.left)
        except Opened:
            return self.program_and_arrays(args, kwargs, is_for_all=is_for_all, are_results=are_results)
        return program, program.arguments(leaves)


def _code_for_numbers(fn: Function) -> Callable[[Any], Any]:
    """Code for the numbers that programs are made for."""
    from pliant.pipeline import for_backend

    return backend_named(DEFAULT_BACKEND).compile(for_backend(fn, DEFAULT_BACKEND, Log()))


Decided.compiled = staticmethod(_code_for_numbers)


def _copied(args: tuple[Any, ...], kwargs: dict[str, Any], *, is_deep: bool) -> Any:
    """Arguments whose arrays are copies. is_deep: so is all that holds them, and generators."""
    if is_deep:
        return copy.deepcopy((args, kwargs))
    leaves, structure = flatten((args, kwargs))
    return unflatten(structure, [x.copy() if is_array(x) else x for x in leaves])


def _named(module: Any, name: str) -> Any:
    """What a module has by a qualified name; None if nothing."""
    return functools.reduce(lambda holder, part: getattr(holder, part, None), name.split("."), sys.modules.get(module))


def _thaw(x: Any) -> Any:
    return x.value if isinstance(x, Static) else x
