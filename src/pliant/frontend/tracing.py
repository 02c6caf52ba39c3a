"""What one trace of a user's function knows: its scope, the arrays it met, what it wrote."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from functools import cache
from typing import Any, ClassVar, Final, final

import numpy as np

from pliant.core.data import mutable
from pliant.core.ir import Value, const, param
from pliant.core.origin import Origin, here
from pliant.core.scope import Scope, scope
from pliant.core.types import SHORT, Type
from pliant.errors import DTypeError, TracedValueError, UnsupportedError
from pliant.frontend.memory import memory_of
from pliant.ops.shape import Iota, broadcast
from pliant.rewrite.explain import Log


@final
@mutable(eq=False)
class Storage:
    """One allocation of the user's program: what it holds now.

    `concrete` is its content as an array while that is known and unwritten: arrays made inside the
    function stay NumPy's until they meet a traced value. `index` numbers the argument it came in
    as; `source` is the caller's or a captured array it stands for. `strides`, in elements, are those
    of a caller's array that is not in row-major order. `touched` says where it was written last,
    also by writes that were taken back; for overlapping arrays `source` is an `alias.Shared`.
    """

    trace: Trace
    content: Value | None = None
    concrete: Any = None
    index: int | None = None
    source: Any = None
    writeable: bool = True
    is_callers_wish: bool = False  # that it is not writeable
    is_written: bool = False
    version: int = 0
    entered: Value | None = None  # the parameter a captured array came in as
    strides: Any = None  # of a caller's array that is not row-major, or what can find them out; see `order`
    touched: Origin | None = None
    is_effect: bool = False  # state that a derivative leaves as its function does: of generators, of printing
    twins: tuple[Any, ...] = ()  # weak: what NumPy might show as a view of this
    originals: tuple[Any, ...] = ()  # weak: of what this has copies; if they have other names, writes would be missed
    causes: tuple[Value, ...] = ()  # numbers that it depends on of what it is, or may be, a copy
    is_stack: bool = False  # the rows of a list of arrays
    is_copy: bool = False  # in place of an array, of which nobody can say which one it is
    is_head: bool = False  # what a step is given in place of what there is before it
    copies: Any = None  # what is written when this is; see `control.picked`
    copy_of: tuple[Any, ...] = ()  # what this is written with

    @classmethod
    def holding(cls, trace: Trace, value: Value) -> Storage:
        """A new allocation with known content: most are, so everything else is left at its default."""
        made = object.__new__(cls)
        made.trace, made.content = trace, value
        return made

    @property
    def is_touched(self) -> bool:
        """Whether it was ever written, also by writes that were taken back."""
        return self.touched is not None

    @property
    def may_be_written(self) -> bool:
        """Whether it may be, and nobody would miss it."""
        return self.writeable and not (self.originals and any([original() is not None for original in self.originals]))

    @property
    def value(self) -> Value:
        """The content as a value of the program."""
        if self.content is None:
            with scope(self.trace.scope):
                self.content = self.trace.constant(self.concrete)
        return self.content

    def write(self, value: Value, where: Origin | None = None) -> None:
        """Replace the content; the trace that writes remembers what to undo. where: it is written, if not here."""
        if self.twins and any(twin() is not None for twin in self.twins):
            raise (
                UnsupportedError(
                    "this array was reshaped, or made by reshaping: NumPy decides by its strides whether both are one",
                    hint="copy it before the reshape, or write x.reshape(...).copy()",
                )
                .at(("written here", here()))
                .needing(*self.causes)
            )
        self.hold(value, where)
        if self.copies is not None:
            self.copies.follow(self)

    def hold(self, value: Value, where: Origin | None = None) -> None:
        """Replace the content of nothing but this."""
        current().journal.append((self, self.content, self.concrete, self.is_written))
        self.content, self.concrete, self.is_written, self.touched = value, None, True, where or here()
        self.version += 1


ROOM: Final = 1 << 10  # elements of a list that nothing bounds, at first


@final
@mutable
class Lengths:
    """Those of lists that conditions extend: whether they have to be known, and whether some were not; see
    `control.fronts`. room: how many elements a list may have to which steps add whose number nothing bounds, 0 if none
    may. needed: loops, by their code, in which they have to be known."""

    are_needed: bool = False
    are_unknown: bool = False
    room: int = ROOM
    needed: frozenset[Any] = frozenset()
    loops: list[Any] = field(default_factory=list[Any])  # that are run, by their code, the innermost last
    made: dict[Value, frozenset[Any]] = field(default_factory=dict[Value, frozenset[Any]])  # lengths, and in which

    def known_for(self, values: Iterable[Value]) -> Lengths | None:
        """Those of another trace, which knows some of them: what the loops unrolled tell in which these are made. None
        if that is nothing new."""
        more = frozenset[Any]().union(*[self.made.get(value, ()) for value in values]) - self.needed
        return Lengths(room=self.room, needed=self.needed | more) if more else None

    @contextmanager
    def inside(self, code: Any) -> Generator[None]:
        """What is made inside is made in a loop."""
        self.loops.append(code)
        try:
            yield
        finally:
            self.loops.pop()


@final
@mutable
class Needs:
    """Which integer arguments are known, and what tells which others would have to be; see `needs`."""

    known: frozenset[int] = frozenset()  # numbers of leaves
    leaves: dict[Value, int] = field(default_factory=dict[Value, int])  # parameters of the others
    same: dict[Value, Value] = field(default_factory=dict[Value, Value])  # parameters that stand for what is outside
    made: set[Value] = field(default_factory=set[Value])  # parameters for arrays that the function makes
    left: dict[Any, tuple[Any, Any]] = field(default_factory=dict[Any, tuple[Any, Any]])  # of the last trace
    lines: list[str] = field(default_factory=list[str])  # what was printed until it ended
    asked: list[Value] = field(default_factory=list[Value])  # conditions, numbers of steps, extents
    extents: dict[Value, None] = field(default_factory=dict[Value, None])  # what extents are computed from
    guesses: bool = False  # whether integers that extents are computed from shall be known
    guessed: frozenset[int] = frozenset()  # leaves that are known for no other reason
    decides: bool = False  # whether the program may be for some data alone
    wanted: frozenset[int] = frozenset()  # names of numbers that data decide; see `decided`
    places: frozenset[Any] = frozenset()  # expressions that make such
    deciding: Any = None  # what the last trace found of them
    depth: int = 0  # of conditions known only at run time, at present; see `control.recursion`
    calls: int = 0  # such conditions in calls inside each other
    is_given_up: bool = False  # whether these were too many
    is_patient: bool = False  # whether there are never too many

    def patient(self) -> Needs:
        """Those of another trace, which takes as long as it takes."""
        return replace(self._again(), is_patient=True)

    def _again(self) -> Needs:
        return Needs(
            self.known, decides=self.decides, wanted=self.wanted, places=self.places, is_patient=self.is_patient,
            guesses=self.guesses, guessed=self.guessed,
        )  # fmt: skip

    def knowing_too(self, more: frozenset[int]) -> Needs:
        """Those of another trace, with more arguments known."""
        return replace(self._again(), known=self.known | more)

    def guessing(self, more: frozenset[int]) -> Needs:
        """Those of another trace, with more arguments known because that makes faster code."""
        return replace(self.knowing_too(more), guessed=self.guessed | more)

    def deciding_too(self, numbers: dict[int, Any]) -> Needs:
        """Those of another trace, with more numbers wanted: names, and places, None where there is none."""
        places = self.places | frozenset([place for place in numbers.values() if place is not None])
        return replace(self._again(), wanted=self.wanted | numbers.keys(), places=places)


@final
@mutable(eq=False)
class Trace:
    """A function being traced: arrays that became implicit arguments, and writes so far."""

    scope: Scope
    parent: Trace | None = None
    captured: dict[int, Storage] = field(default_factory=dict[int, Storage])
    constants: dict[int, tuple[Any, Value]] = field(default_factory=dict[int, tuple[Any, Value]])
    journal: list[tuple[Storage, Any, Any, bool]] = field(default_factory=list[tuple[Storage, Any, Any, bool]])
    instrumented: dict[int, Any] = field(default_factory=dict[int, Any])
    originals: dict[int, Any] = field(default_factory=dict[int, Any])  # of these, by the ids of what stands for them
    shared: dict[int, tuple[Storage, Any]] = field(default_factory=dict[int, tuple[Storage, Any]])
    met: dict[int, Any] = field(default_factory=dict[int, Any])
    roots: dict[tuple[int, Any], tuple[Any, Any, Any]] = field(
        default_factory=dict[tuple[int, Any], tuple[Any, Any, Any]]
    )
    sizes: dict[int, tuple[Any, Any]] = field(default_factory=dict[int, tuple[Any, Any]])
    sizes_before: dict[int, Any] = field(default_factory=dict[int, Any])  # of containers that the function changes
    texts: dict[int, Any] = field(default_factory=dict[int, Any])  # what was put into text, by its mark; see `text`
    lines: list[str] = field(default_factory=list[str])  # what `print` was given
    stdout: Any = field(default_factory=lambda: sys.stdout)  # before anything was traced
    filters: Any = field(default_factory=lambda: warnings.filters)  # the same of warnings
    is_apart: bool = False  # nothing is left of the function but its results
    before: dict[Any, tuple[Any, Any]] | None = None  # what was at places that it has changed, and where that was done
    is_filling: bool = False  # whether it has put constants to where nothing was; see `control.changing`
    readers: dict[str, Any] = field(default_factory=dict[str, Any])  # what reads objects, by name
    readers_of: ClassVar[Callable[[Trace], dict[str, Any]]]  # makes them; installed by `pliant.frontend`
    see: Any = None  # what makes a function of the user one that the trace sees; see `instrumented`
    narrowed: set[tuple[int, str]] = field(default_factory=set[tuple[int, str]])
    reports: dict[Any, Any] = field(default_factory=dict[Any, Any])  # what became of each loop; see `control.report`
    found: list[Log] = field(default_factory=list[Log])  # what `optimize` found for functions that were called
    heavy: set[Any] = field(default_factory=set[Any])  # bodies of loops that have many operations, by their code
    rows: dict[int, Any] = field(default_factory=dict[int, Any])  # lists read at traced places; see `control.grids`
    ones: dict[int, Any] = field(default_factory=dict[int, Any])  # the same of others; see `control.oneof`
    facts: dict[Value, Any] = field(default_factory=dict[Value, Any])  # see `sizes`
    ranges: dict[Any, Any] = field(default_factory=dict[Any, Any])  # see `sizes`
    left: dict[Any, tuple[Any, Any]] = field(default_factory=dict[Any, tuple[Any, Any]])  # see `control.outside`
    taken_back: dict[Any, None] = field(default_factory=dict[Any, None])  # places that derivatives and batches set
    behind: dict[int, tuple[Any, Any]] = field(default_factory=dict[int, tuple[Any, Any]])  # cells, and the places
    # that these stand for
    fronts: dict[int, Any] = field(default_factory=dict[int, Any])  # of cells from outside those that stand for them
    rebound: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])  # cells of global names
    arguments: Sequence[Any] = ()  # the leaves of the arguments, as they were given
    leaves: Sequence[Any] = ()  # what the function gets for them
    identities: dict[tuple[int, int], bool] = field(default_factory=dict[tuple[int, int], bool])  # which are one
    locked: dict[Any, Any] = field(default_factory=dict[Any, Any])  # what was to be written and is read-only
    lasting: dict[Any, Any] = field(default_factory=dict[Any, Any])  # in which each call leaves something else
    searches: list[Any] = field(default_factory=list[Any])  # for what loops carry, the innermost last
    sure: list[tuple[Value, bool]] = field(default_factory=list[tuple[Value, bool]])  # see `control.narrowed`
    implied: dict[tuple[Value, bool], list[tuple[Value, bool]]] = field(
        default_factory=dict[tuple[Value, bool], list[tuple[Value, bool]]]
    )
    has_nones: bool = False  # whether something may be an object or None; see `control.ornone`
    branched: set[Value] = field(default_factory=set[Value])  # conditions of branches, and of blocks inside them
    truths: dict[Value, int] = field(default_factory=dict[Value, int])  # see `control.partly`
    own: dict[int, Any] = field(default_factory=dict[int, Any])  # containers that the function has made, by id
    dicts: dict[int, Any] = field(default_factory=dict[int, Any])  # objects, by the ids of their `__dict__`
    given: list[Any] = field(default_factory=list[Any])  # objects that are arguments, or whose method is traced
    ends: Any = None  # the lists of which only the end is known; see `growing`
    blind: dict[int, int] = field(default_factory=dict[int, int])  # functions without source; see `control.outside`
    arrays: dict[int, Any] = field(default_factory=dict[int, Any])  # what these may write to, as it was
    grown: dict[int, Any] = field(default_factory=dict[int, Any])  # where containers from outside are changed that are
    taken: dict[int, int] = field(default_factory=dict[int, int])  # numbers of those from outside, by id
    asked: set[int] = field(default_factory=set[int])  # arguments too, and those whose length is asked for, by number
    passed: list[Any] = field(default_factory=list[Any])  # arguments of functions that are traced inside
    is_region: bool = False  # a part of the function of the trace around it; see `control.region`
    perhaps: dict[int, Any] = field(default_factory=dict[int, Any])  # dicts, by id; see `control.perhaps`
    orders: dict[int, Any] = field(default_factory=dict[int, Any])  # dicts, by id; see `control.perhaps`
    is_silent: bool = False  # nobody looks at whether it raises
    is_telling: bool = False  # what it raises is raised in the trace around it
    failed: Storage | None = None  # the number of the exception that is raised; see `failures`
    failures: list[tuple[Any, Any]] = field(default_factory=list[tuple[Any, Any]])  # each, and where
    catchers: list[Any] = field(default_factory=list[Any])  # of `try` statements that this is in; see `failures`
    tests: list[Any] = field(default_factory=list[Any])  # whether what fails now is raised: see `failures`
    kept: dict[int, Any] = field(default_factory=dict[int, Any])  # objects that cannot be changed, by id
    sealed: dict[int, Any] = field(default_factory=dict[int, Any])  # objects that lists have copies of, and these
    copies: dict[int, tuple[Any, list[Any]]] = field(default_factory=dict[int, tuple[Any, list[Any]]])
    heads: dict[int, Any] = field(default_factory=dict[int, Any])  # see `control.copies`
    deques: dict[int, list[Any]] = field(default_factory=dict[int, list[Any]])  # lists in place of them, by id
    read: dict[int, Any] = field(default_factory=dict[int, Any])  # all of these: of which lists, and at which place
    choices: dict[int, tuple[Any, tuple[Value, Any, Any]]] = field(default_factory=dict[int, Any])  # see `chosen`
    unsure: dict[int, Any] = field(default_factory=dict[int, Any])  # iterators, by id; see `control.walked`
    cells: dict[int, Any] = field(default_factory=dict[int, Any])  # of names bound outside of the function, by id
    lengths: Lengths = field(default_factory=Lengths)
    needs: Needs = field(default_factory=Needs)
    counts: dict[Value, Value] = field(default_factory=dict[Value, Value])  # of what masks select; see `listed`
    has_lent: bool = False  # whether lists have copies of arrays that others have too; see `control.tables.share`
    copied: list[tuple[Storage, bool]] = field(default_factory=list[tuple[Storage, bool]])  # see `control.tables.share`
    recalled: dict[Any, dict[Any, Any]] = field(default_factory=dict[Any, dict[Any, Any]])  # see `instrumented`
    recalls: dict[Any, dict[Any, int]] = field(default_factory=dict[Any, dict[Any, int]])  # how often each was made
    lies: bool = False  # arrays from outside are read where they lie
    twins: dict[int, int] = field(default_factory=dict[int, int])  # containers, by id; see `twins`
    packed: dict[Value, tuple[Value, ...]] = field(default_factory=dict[Value, tuple[Value, ...]])  # see `gradients`

    @property
    def outermost(self) -> Trace:
        """The trace that will become a program: implicit arguments are its parameters."""
        trace = self
        while trace.parent is not None:
            trace = trace.parent
        return trace

    def enter(self, array: Any) -> tuple[Storage, Any]:
        """The storage, and lenses into it, of a NumPy array that the function reads but was not given."""
        top = self.outermost
        check_plain(array)
        top.met[id(array)] = array
        return top.shared.get(id(array)) or (self.capture(array), ())

    def capture(self, array: Any, *, is_known: bool = False) -> Storage:
        """The storage of a NumPy array that the function reads but was not given. is_known: if it never changes."""
        top = self.outermost
        found = top.captured.get(id(array))
        if found is None:
            with scope(top.scope):
                memory = memory_of(array) if top.lies else None
                name, known = f"captured{len(top.captured)}", array if is_known else None
                value = param(memory.type if memory else type_of(array), name, known)
                content = memory.shown(value) if memory else value
            found = Storage(
                top,
                content,
                source=array,
                writeable=bool(array.flags.writeable),
                is_callers_wish=not array.flags.writeable,
                entered=value,
                strides=strides_of(array),
            )
            top.captured[id(array)] = found
        return found

    def constant(self, array: Any) -> Value:
        """An array made inside the function, as a value: a literal where it is regular, else a
        parameter that is bound to a copy."""
        type = type_of(array)
        if array.size and (array.ndim == 0 or is_uniform(array)):
            return broadcast(const(array.reshape(-1)[0].item(), type.dtype), type.shape, ())
        if array.ndim == 1 and type.dtype == "i64" and array.size > 1 and bool(np.all(array == np.arange(len(array)))):
            return Iota(array.size)()
        top = self.outermost
        if id(array) not in top.constants:
            frozen = array.copy()
            top.constants[id(array)] = (array, self.capture(frozen, is_known=True).value)
            top.needs.made.add(top.constants[id(array)][1])
        return top.constants[id(array)][1]

    def undo(self) -> None:
        """Take back every write to storages that this trace did not make."""
        for storage, content, concrete, is_written in reversed(self.journal):
            if storage.trace is self:
                continue
            storage.content, storage.concrete, storage.is_written = content, concrete, is_written
            storage.version += 1


def strides_of(array: Any) -> tuple[Any, ...] | None:
    """Strides in elements of an array that is not in row-major order, on which it depends whether
    NumPy reshapes it without a copy; else None."""
    if not isinstance(array, np.ndarray) or array.flags.c_contiguous:
        return None
    return tuple(s // array.itemsize if s % array.itemsize == 0 else s / array.itemsize for s in array.strides)


def is_uniform(array: Any) -> bool:
    """Whether all elements are the same, signs of zeros and NaNs included."""
    first = array.reshape(-1)[0]
    is_signed_zero = first == 0 and array.dtype.kind in "fc" and np.any(np.signbit(array.real))
    return bool(np.all(array == first)) and not is_signed_zero


def type_of(array: Any) -> Type:
    """The IR type of a NumPy array or scalar; DTypeError where Pliant has no such dtype."""
    short = short_of(array.dtype)
    if short is None:
        raise unknown_dtype(array.dtype)
    return Type(short, tuple(array.shape))


def unknown_dtype(dtype: np.dtype[Any], what: str = "") -> DTypeError:
    """The error of a dtype that Pliant does not have."""
    hint = "convert it with .astype(...) before the call"
    if dtype.names:
        hint = f"make an array for each field: {', '.join(dtype.names)}"
    return DTypeError(f"{what}expected an array of bool, int, float or complex, got dtype {dtype}", hint=hint)


def check_plain(array: Any) -> None:
    """Refuse arrays of a class whose products are not those of plain ones: of matrices, of masked arrays."""
    kind: type = array.__class__
    if kind is not np.ndarray and any([getattr(kind, name) is not getattr(np.ndarray, name) for name in _MEANINGS]):
        raise not_plain(kind)


_MEANINGS: Final = ("__mul__", "__array_ufunc__")
_OTHERS: Final = {
    "numpy.matrix": ("np.matrix", "use arrays, and A @ B for products; np.asarray(M) makes one of a matrix"),
    "numpy.ma.MaskedArray": ("np.ma.MaskedArray", "use an array and its mask: np.where(mask, 0, x), x[~mask]"),
}


def is_other(kind: type) -> bool:
    """Whether it is one of NumPy's classes of arrays that are no plain ones; asks without importing np.ma."""
    return _full_name(kind) in _OTHERS


def _full_name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def not_plain(kind: type) -> UnsupportedError:
    """The error of a class of arrays that means other things by operators than plain ones."""
    name, hint = _OTHERS.get(_full_name(kind), (kind.__name__, "np.asarray(x) makes a plain array"))
    return UnsupportedError(f"{name} is not supported in a traced function", hint=hint).at(("here", here()))


@cache
def short_of(dtype: np.dtype[Any]) -> str | None:
    """IR name of a NumPy dtype, whatever its byte order; None where Pliant has none."""
    return SHORT.get(dtype.name)


special: Final = np.zeros(1, np.int64)
"""How many threads trace, or have compilation disabled. While it is 0, native code answers calls by itself."""

_lock: Final = threading.Lock()


class Current(threading.local):
    """What this thread is doing. `is_special` is set while it traces or has compilation disabled."""

    trace: Trace | None = None
    is_jit_disabled: bool = False
    is_special: bool = False
    deciding: Any = None  # tells what is known of numbers that data decide, if some are wanted

    def update(self, trace: Trace | None, is_jit_disabled: bool) -> None:
        """Set both, and what calls of compiled functions look at."""
        self.trace, self.is_jit_disabled = trace, is_jit_disabled
        is_special = trace is not None or is_jit_disabled
        if is_special != self.is_special:
            self.is_special = is_special
            with _lock:
                special[0] += 1 if is_special else -1


thread: Final = Current()


def current() -> Trace:
    """The innermost trace of this thread."""
    if thread.trace is None:
        raise TracedValueError(
            "a traced array is used here after the call that made it: it was kept when that call ended",
            hint="return arrays rather than storing them in objects, lists or global names",
        ).at(("here", here()))
    return thread.trace


def is_tracing() -> bool:
    """Whether a user's function is being traced in this thread."""
    return thread.trace is not None


@contextmanager
def tracing() -> Generator[Trace]:
    """Trace inside: a new scope; its writes to outer storages are undone at the end."""
    before = thread.trace
    with scope() as new:
        trace = Trace(new, before)
        thread.update(trace, thread.is_jit_disabled)
        try:
            yield trace
        finally:
            thread.update(before, thread.is_jit_disabled)
            if before is not None:
                trace.undo()


@contextmanager
def back_in(trace: Trace) -> Generator[None]:
    """What is made inside belongs to a trace around the current one."""
    before = thread.trace
    with scope(trace.scope):
        thread.update(trace, thread.is_jit_disabled)
        try:
            yield
        finally:
            thread.update(before, thread.is_jit_disabled)


@contextmanager
def untraced() -> Generator[None]:
    """What runs inside is no part of the trace that is going on."""
    before = thread.trace
    with scope():
        thread.update(None, thread.is_jit_disabled)
        try:
            yield
        finally:
            thread.update(before, thread.is_jit_disabled)
