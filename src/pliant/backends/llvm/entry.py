"""The lean entry: a C-level callable that looks at its arguments' structs, runs, returns.

`make_entry` writes one LLVM function with the signature of a fast-call Python builtin. It takes calls of
one form; any other it answers with `MISSED`, so that someone else can be asked.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, cast, final

from pliant.backends import layout
from pliant.backends.calls import MISSED, Array, Call, Container, Given, Result
from pliant.backends.llvm.abi import LONG, Executable, numpy_dtype
from pliant.backends.llvm.arguments import Arguments
from pliant.backends.llvm.capi import builtin, method
from pliant.backends.llvm.frame import Segment
from pliant.backends.llvm.guards import Guards
from pliant.backends.llvm.hosted import Hosted, is_ready
from pliant.backends.llvm.jit import Code
from pliant.backends.llvm.lines import Lines, address_of, constant
from pliant.backends.llvm.returned import Returned
from pliant.backends.llvm.strided import copy
from pliant.backends.llvm.tapes import STATE, makes_tapes, tapes, words

if TYPE_CHECKING:
    from pliant.kernel.ir import Host

FEW: Final = 4096  # bytes of arrays that are copied: up to here nobody sees how


def make_entry(executable: Executable, call: Call) -> Callable[..., Any] | None:
    """A builtin that runs `executable` for calls of one form; None if that is not possible.

    It answers all others with `MISSED`, also those that raise or whose index is out of range, unless something was
    written then: in that case it raises.
    """
    if not layout.is_known() or not is_ready(executable):
        return None
    if call.decided is not None and not is_ready(call.decided[0]):
        return None
    return _Holder(executable, call).builtin()


def entry_of_arrays(executable: Executable) -> Callable[..., Any] | None:
    """An entry for row-major arrays that returns a tuple of arrays."""
    pinned = executable.pinned
    made = [Given(pinned[n]) if n in pinned else Result(n, "array") for n in range(len(executable.results))]
    arguments = tuple([Array(n) for n in range(len(executable.params))])
    written = tuple([(p, r) for r, p in pinned.items()])
    return make_entry(executable, Call(arguments, Container(tuple, tuple(made)), written=written))


@final
class _Holder:
    """Keeps alive what the builtin needs: it is the builtin's `self`."""

    def __init__(self, executable: Executable, call: Call) -> None:
        self.executable, self.call = executable, call
        self.arena = ctypes.c_void_p(None)
        writer = _EntryWriter(executable, call)
        self.named = writer.fail, writer.guards.tables, writer.dtypes, writer.hosted  # by address, in the text
        text = writer.text(ctypes.addressof(self.arena))
        self.code = Code(text, 0, keep=False, level=2 if writer.copied > FEW else 0)
        self.method = method(b"pliant_entry", self.code.address("entry"))

    def builtin(self) -> Callable[..., Any]:
        """The callable."""
        return builtin(self.method, self)

    def __del__(self) -> None:
        arena = getattr(self, "arena", None)
        if arena is not None and arena.value:
            ctypes.CDLL(None).free(arena)


@final
class _EntryWriter:
    """The LLVM text of one entry."""

    def __init__(self, executable: Executable, call: Call) -> None:
        self.executable, self.call, self.fail = executable, call, executable.fail  # kept: a new object each time
        self.params = list(executable.frame.params)
        self.results = list(executable.frame.results)
        programs = [executable] if call.decided is None else [executable, call.decided[0]]
        hosts = [step for each in programs for step in each.order if not isinstance(step, Segment)]
        types = (*self.params, *self.results, *[b.type for step in hosts for b in (*step.args, *step.outs) if b])
        self.dtypes = {t.dtype: numpy_dtype(t) for t in types}
        self.w = w = Lines(lambda w: w.another(constant(MISSED)))
        self.guards = Guards(w, call.conditions)
        self.arguments = Arguments(w, call, self.params, self.results, self.dtypes)
        self.returned = Returned(w, self.arguments, self.results, self.dtypes)
        self.hosted = [Hosted(w, each, self.dtypes) for each in programs]
        self.work = w.local("ptr", "null")
        self.room = executable.frame.arena
        self.shelves: dict[tuple[str, int], int] = {}  # where temporary arrays lie in the arena

    def text(self, arena: int) -> str:
        """The module; `arena` is the address of the place for a free one."""
        w = self.w
        self.guards.check()
        self.arguments.read()
        for made in (self.call.returned, *[put.content for put in self.call.puts]):
            self.returned.prepare(made)
        self.reserve()
        if self.room:
            self.take_arena(address_of(arena))
        params = [self.param(n) for n in range(len(self.params))]
        if self.call.decided is not None:
            self.ask(*self.call.decided, params)
        results = [self.result(n, params) for n in range(len(self.results))]
        self.run(self.executable, self.hosted[0], w.table([w.load("ptr", self.work), *params, *results]))
        if self.call.failed is not None:
            w.require_equal("i64", w.load("i64", results[self.call.failed]), "0")
        self.leave_results(results)
        self.returned.note(results)
        w.finish(self.answer())
        return w.text()

    def reserve(self) -> None:
        """Room behind the program's own for arrays that are copied on the way in, or out."""
        strided = [("param", n) for n in range(len(self.params)) if self.arguments.is_copied(n)]
        loose = [("result", n) for n in range(len(self.results)) if self.is_loose(n)]
        for kind, n in strided + loose:
            self.shelves[kind, n] = self.room
            self.room += -(-(self.params if kind == "param" else self.results)[n].bytes // 64) * 64
        if self.call.decided is not None:
            code = self.call.decided[0]
            for n, number in enumerate(code.frame.results):
                self.shelves["number", n] = self.room
                self.room += -(-number.bytes // 64) * 64
            self.shelves["work", 0] = self.room
            self.room += code.frame.arena

    def ask(self, code: Executable, contents: Sequence[Any], params: Sequence[str]) -> None:
        """Go on only if the numbers that code computes are these."""
        w = self.w
        places = [self.shelf("number", n) for n in range(len(contents))]
        self.run(code, self.hosted[1], w.table([self.shelf("work", 0), *params, *places]))
        for place, content in zip(places, contents, strict=True):
            size = f"i64 {content.nbytes}"
            found = w.op(f"call i32 @memcmp(ptr {place}, ptr {address_of(content.ctypes.data)}, {size})")
            w.require_equal("i32", found, "0")

    @property
    def copied(self) -> int:
        """The bytes of temporary arrays."""
        return self.room - self.executable.frame.arena

    def is_loose(self, number: int) -> bool:
        """Whether a result is computed in memory of nobody."""
        target = self.arguments.targets.get(number)
        is_sure = self.executable.is_sure and self.call.failed is None
        is_direct = target is not None and not target[0].strides and is_sure
        is_new = number in self.returned.arrays or number in self.returned.scalars
        return not (is_direct or is_new or number in self.executable.pinned)

    def shelf(self, kind: str, number: int) -> str:
        return self.w.at(self.w.load("ptr", self.work), self.shelves[kind, number])

    def param(self, number: int) -> str:
        """Where the program finds a parameter: in the argument itself, or in a copy."""
        if not self.arguments.is_copied(number):
            return self.arguments.in_place(number)
        place = self.shelf("param", number)
        self.arguments.copy(number, place)
        return place

    def result(self, number: int, params: Sequence[str]) -> str:
        """Where the program leaves a result."""
        if number in self.executable.pinned:
            return params[self.executable.pinned[number]]
        if ("result", number) in self.shelves:
            return self.shelf("result", number)
        if number in self.arguments.targets:
            return self.arguments.targets[number][2]
        return self.returned.place(number)

    def leave_results(self, results: Sequence[str]) -> None:
        """Copy what was not computed where it belongs."""
        arguments = self.arguments
        for p, r in self.call.written:
            if self.executable.pinned.get(r) != p or arguments.is_copied(p):
                arguments.write(p, results[r])
        for r, (target, _, data) in arguments.targets.items():
            if ("result", r) in self.shelves:
                copy(self.w, self.results[r], (data, target.strides), (results[r], None))

    def take_arena(self, slot: str) -> None:
        """The free arena, or a new one: another thread may be using it. The GIL orders both."""
        w = self.w
        w.line(f"store ptr {w.load('ptr', slot)}, ptr {self.work}")
        w.line(f"store ptr null, ptr {slot}")
        fresh, ready = w.label("fresh"), w.label("ready")
        found = w.load("ptr", self.work)
        w.line(f"br i1 {w.op(f'icmp eq ptr {found}, null')}, label %{fresh}, label %{ready}")
        w.begin(fresh)
        w.op(f"call i32 @posix_memalign(ptr {self.work}, i64 64, i64 {self.room})")
        w.begin(ready)
        w.require(w.op(f"icmp ne ptr {w.load('ptr', self.work)}, null"))
        w.last.append(lambda: self.give_arena(slot))

    def give_arena(self, slot: str) -> None:
        """Leave the arena for the next call, in place of another thread's."""
        w = self.w
        mine = w.load("ptr", self.work)
        some, none = w.label("some"), w.label("none")
        w.line(f"br i1 {w.op(f'icmp eq ptr {mine}, null')}, label %{none}, label %{some}")
        w.begin(some)
        w.line(f"call void @free(ptr {w.load('ptr', slot)})")
        w.line(f"store ptr {mine}, ptr {slot}")
        w.begin(none)

    def run(self, executable: Executable, hosted: Hosted, table: str) -> None:
        """Run a program: native code, and Python for what NumPy computes."""
        error = self.room_for_errors(executable)
        for is_native, steps in itertools.groupby(executable.order, lambda step: isinstance(step, Segment)):
            if is_native:
                self.run_segments(executable, [s for s in steps if isinstance(s, Segment)], table, error)
            else:
                for step in steps:
                    hosted.call(cast("Host", step), table)

    def room_for_errors(self, executable: Executable) -> str:
        """Where native code says what is wrong, and where its tapes lie."""
        w, has_tapes = self.w, makes_tapes(executable.frame.sites)
        error = w.local(f"[{words() if has_tapes else 2} x i64]")
        w.line(f"store i64 0, ptr {error}")
        if has_tapes:
            first, end = (w.op(f"getelementptr i64, ptr {error}, i64 {n}") for n in (STATE, words()))
            for n, value in enumerate((first, end, "null", end)):
                w.line(f"store ptr {value}, ptr {w.op(f'getelementptr i64, ptr {error}, i64 {2 + n}')}")
        return error

    def run_segments(self, executable: Executable, segments: Sequence[Segment], table: str, error: str) -> None:
        """Native code, without the GIL if it takes long."""
        w, code = self.w, executable.code
        assert code
        is_long = sum([s.work for s in segments]) > LONG
        state = w.call("ptr", "PyEval_SaveThread", "") if is_long else ""
        for segment in segments:
            w.line(f"call void {address_of(code.address(segment.name))}(ptr {table}, ptr {error})")
        if makes_tapes(executable.frame.sites):  # in programs that call no Python: all of it has run
            back = address_of(tapes().code.address("pliant_tape_back"))
            w.line(f"call void {back}(ptr {w.op(f'getelementptr i64, ptr {error}, i64 2')}, ptr null)")
        if is_long:
            w.call("void", "PyEval_RestoreThread", f"ptr {state}")
        if executable.frame.sites:
            self.look_at(executable, error)

    def look_at(self, executable: Executable, error: str) -> None:
        """Go on only if no index was out of range. What was written is not written again: then it raises."""
        w = self.w
        code = w.load("i64", error)
        if not executable.pinned:
            w.require_equal("i64", code, "0")
            return
        bad, good = w.label("bad"), w.label("good")
        w.line(f"br i1 {w.op(f'icmp eq i64 {code}, 0')}, label %{good}, label %{bad}")
        w.begin(bad)
        numbers = [w.call("ptr", "PyLong_FromLongLong", f"i64 {n}") for n in (code, w.load("i64", error, 8))]
        w.call_python(self.fail, numbers)
        for number in numbers:
            w.call("void", "Py_DecRef", f"ptr {number}")
        w.line("br label %leave")
        w.begin(good)

    def answer(self) -> str:
        """What the call returns, after containers have what they are given."""
        w, call = self.w, self.call
        made = self.returned.build(call.returned)
        if call.rebuild is not None:
            w.own(made)
            made = w.require_made(w.call_python(call.rebuild, [made]))
        if not call.puts:
            return made
        w.own(made)
        contents = [w.own(self.returned.build(put.content)) for put in call.puts]
        for put, content in zip(call.puts, contents, strict=True):
            self.returned.put(put, w.load("ptr", content))
        return w.another(made)
