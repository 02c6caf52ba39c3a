"""A user's function traced inside another trace: closed over what it reads from outside."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, final

from pliant.core.build import abstract, free_values, hint_of
from pliant.core.data import frozen
from pliant.core.ir import Function, Value, Values, param
from pliant.core.origin import ParameterOrigin, at, here
from pliant.core.scope import scope
from pliant.errors import UnsupportedError
from pliant.frontend.array import TracedArray, fresh, view
from pliant.frontend.bounded import Bounded
from pliant.frontend.control.copies import scopes_of
from pliant.frontend.control.deques import as_deques
from pliant.frontend.control.fronts import Front
from pliant.frontend.control.perhaps import returned
from pliant.frontend.convert import as_traced
from pliant.frontend.failures import failed_in, inside
from pliant.frontend.instrumented import callee
from pliant.frontend.kinds import is_array
from pliant.frontend.members import with_plain_members
from pliant.frontend.number import is_number
from pliant.frontend.order import Later
from pliant.frontend.reading import is_shown
from pliant.frontend.selection import all_listed
from pliant.frontend.signature import flatten, unflatten
from pliant.frontend.strides import has_strides, order_of, settled
from pliant.frontend.tracing import Storage, Trace, current, tracing
from pliant.frontend.twins import NO_TWINS, IsOne, Twins
from pliant.frontend.view import is_static


@final
@frozen
class Written:
    """An argument that a function has written to."""

    leaf: TracedArray

    def write(self, value: Value) -> None:
        """Write to it as the function did: all of it, for those that see its memory too."""
        self.leaf[...] = fresh(value, is_array=True)


@final
@frozen
class Closed:
    """A function traced inside another trace, closed over what it reads from outside."""

    fn: Function  # parameters: the active leaves, then one per free value
    free: Values
    leaves: tuple[Any, ...]  # of what it returned: traced arrays (for their kind), or static
    structure: Any
    failing: Function | None = None  # of the same parameters: the number of the exception that it raises, or 0
    drawn: tuple[Storage, ...] = ()  # states of generators from outside, and what else is an effect
    drawing: Function | None = None  # of the same parameters: what these, and what is written, hold after it
    written: tuple[Written, ...] = ()
    given: tuple[tuple[TracedArray, Storage], ...] = ()  # the active leaves, and what stood for their memory
    is_filling: bool = False  # whether it puts constants to where nothing was outside: see `control.changing`

    @property
    def is_writing(self) -> bool:
        """Whether it writes to arguments."""
        return any([storage.is_touched for _, storage in self.given])

    @property
    def telling(self) -> Function:
        """The same, and after its results the number of what it raises, if it may."""
        if self.failing is None:
            return self.fn
        with scope():
            ps = tuple([param(p.type, hint_of(p)) for p in self.fn.params])
            return Function(self.fn.name, ps, (*self.fn(*ps), *self.failing(*ps)))

    def rebuild(self, values: Sequence[Value]) -> Any:
        """The returned tree, with `values` for its traced leaves, in the current trace."""
        return self._made(values, _like)

    def shown(self, values: Sequence[Value]) -> Any:
        """The same, but views of arguments, and arrays from outside, are what they are."""
        return self._made(values, self._shown)

    def _made(self, values: Sequence[Value], make: Callable[[TracedArray, Value], TracedArray]) -> Any:
        rest = iter(values)
        made = [make(leaf, next(rest)) if type(leaf) is TracedArray else leaf for leaf in self.leaves]
        return unflatten(self.structure, made)

    def _shown(self, leaf: TracedArray, value: Value) -> TracedArray:
        if leaf.is_scalar or not is_static(leaf.lenses):
            return _like(leaf, value)
        of = next((given for given, storage in self.given if storage is leaf.storage), None)
        if of is None:
            return leaf if leaf.storage.trace.scope.number in scopes_of(current()) else _like(leaf, value)
        return view(of, *leaf.lenses) if leaf.lenses else of

    def drawn_by(self, operands: Sequence[Value]) -> None:
        """Leave the states of generators from outside, and what is written, as the function of these operands does."""
        if self.drawing is not None:
            for storage, state in zip((*self.drawn, *self.written), self.drawing(*operands, *self.free), strict=True):
                storage.write(state)


def _like(leaf: TracedArray, value: Value) -> TracedArray:
    made = fresh(value, is_array=not (leaf.is_scalar or leaf.is_weak))
    made.storage.strides = order_of(leaf)
    return TracedArray(made.storage, is_scalar=made.is_scalar, is_weak=leaf.is_weak and not value.shape)


def trace_closed(
    f: Callable[..., Any],
    leaves: Sequence[Any],
    structure: Any,
    active: Sequence[bool],
    types: Sequence[Any] | None = None,
    parts: Sequence[Callable[[Any], Any]] | None = None,
    *,
    twins: Twins = NO_TWINS,
    marks: Sequence[Any] | None = None,
    may_raise: bool = False,
    may_draw: bool = False,
    may_set: bool = False,
    may_write: bool = False,
    may_tell: bool = False,
    role: str = "a function inside a derivative or a batch",
) -> Closed:
    """Trace `f` inside the current trace. Active leaves become parameters (of `types`, where they differ from the
    leaves', of which they are `parts`). Writes stay inside, unless may_write: then they are effects. may_raise: whether
    the caller looks at whether it raises; may_tell: whether that is an effect. may_draw: whether at generators.
    may_set: whether attributes and items that it sets outside are taken back. role: f's, in errors. twins: of the
    arguments. marks: for each leaf what it has in common with those that are one with it, if they are of one container
    that is given twice; else parameters are all different."""
    with tracing() as trace:
        trace.is_apart, trace.before, trace.is_telling = not may_draw, {} if may_set else None, may_tell
        trace.is_silent = not (may_raise or may_tell)
        params, given, copies = _entered(trace, f, leaves, active, types, parts)
        args, kwargs = twins.entered(unflatten(structure, given), _are_one(given, active, marks))
        trace.outermost.passed.append((args, kwargs))
        before = [(leaf.storage.version, leaf.storage.value) for leaf, _ in copies]
        with _taking_back(trace):
            made, tree = flatten(with_plain_members(as_deques(returned(callee(f, trace)(*args, **kwargs)))))
            made = [as_traced(m) if is_number(m) else _sized(all_listed(m), role) for m in made]
        _check_copies(copies, [x.storage for x in leaves if type(x) is TracedArray], before)
        results = tuple(m.value for m in made if type(m) is TracedArray)
        number = failed_in(trace)
        if number is not None and not may_raise:
            raise inside(*trace.outermost.failures[-1])
        drawn = _drawn(trace, may_draw=may_draw, may_write=may_write)
        touched = [copy for copy in copies if copy[1].is_touched] if may_write else []
        states = tuple([s.value for s in (*drawn, *[storage for _, storage in touched])])
        fn = Function(getattr(f, "__name__", "fn"), tuple(params), results)
        numbers = () if number is None else (number,)
        free = free_values(Function(fn.name, fn.params, (*results, *numbers, *states)), trace.scope.number)
        _check_free(copies, free)
    closed = abstract(fn.results, (*fn.params, *free), fn.name)
    failing = abstract(numbers, (*fn.params, *free), fn.name) if numbers else None
    drawing = abstract(states, (*fn.params, *free), fn.name) if states else None
    written = tuple([Written(leaf) for leaf, _ in touched])
    return Closed(closed, free, tuple(made), tree, failing, drawn, drawing, written, tuple(copies), trace.is_filling)


def close(
    f: Callable[..., Any], args: Any, kwargs: Any, *, may_draw: bool = False, may_write: bool = False,
    may_raise: bool = False, may_set: bool = False, is_apart: bool = False,
) -> tuple[list[TracedArray], Closed]:  # fmt: skip
    """The traced leaves of the arguments, and f as a function of them, traced inside the current trace.
    is_apart: whether each leaf has a derivative of its own, also of a container that is given twice."""
    leaves, structure = flatten((args, kwargs))
    leaves = [as_traced(x) if is_array(x) else x for x in leaves]
    active = [type(x) is TracedArray for x in leaves]
    closed = trace_closed(
        f, leaves, structure, active, twins=Twins.of((args, kwargs)), marks=None if is_apart else active,
        may_raise=may_raise, may_draw=may_draw, may_set=may_set, may_write=may_write,
    )  # fmt: skip
    return [x for x in leaves if type(x) is TracedArray], closed


def _entered(
    trace: Trace, f: Callable[..., Any], leaves: Sequence[Any], active: Sequence[bool], types: Sequence[Any] | None,
    parts: Sequence[Callable[[Any], Any]] | None,
) -> tuple[list[Value], list[Any], list[tuple[TracedArray, Storage]]]:  # fmt: skip
    """The parameters of a function, its leaves with these in place of the active ones, and what stands for the memory
    of each of these."""
    params, given, copies = list[Value](), list[Any](), list[tuple[TracedArray, Storage]]()
    for i, (leaf, is_active) in enumerate(zip(leaves, active, strict=True)):
        if not is_active:
            given.append(leaf)
            continue
        with at(ParameterOrigin.of(_hint(leaf, i), f)):
            value = param(types[i] if types and types[i] else leaf.type, _hint(leaf, i))
        scalar = (leaf.is_scalar or leaf.is_weak or bool(types)) and not value.shape
        order = Later(settled, parts[i] if parts else _itself, (leaf,)) if has_strides(leaf) else None
        storage = Storage(trace, value, strides=order)
        given.append(TracedArray(storage, is_scalar=scalar, is_weak=leaf.is_weak and not value.shape))
        copies.append((leaf, given[-1].storage))
        params.append(value)
        if not (types and types[i]):
            trace.outermost.needs.same[value] = leaf.value
    return params, given, copies


def _are_one(given: Sequence[Any], active: Sequence[bool], marks: Sequence[Any] | None) -> IsOne:
    """Whether two leaves of a function's arguments are one."""
    known = {id(x): mark for x, mark, a in zip(given, marks or (), active, strict=False) if a}
    return lambda x, y: x is y or (id(x) in known and known[id(x)] == known.get(id(y)))


@contextmanager
def _taking_back(trace: Trace) -> Generator[None]:
    """What a function sets inside of what is outside of all that is traced is taken back, if that is to be."""
    try:
        yield
    finally:
        top = trace.outermost
        for place, (content, _) in reversed((trace.before or {}).items()):
            is_theirs = place.number in top.cells if place.kind == "name" else place.number not in top.own
            if is_theirs:
                place.set(content)
                top.taken_back[place] = None


def _drawn(trace: Trace, *, may_draw: bool, may_write: bool) -> tuple[Storage, ...]:
    """The states from outside of generators that a function draws from, what else is an effect, and arrays that it
    writes to if it may."""
    drawn = {id(s): s for s, *_ in trace.journal if s.trace is not trace and (s.is_effect or may_write)}
    if any([s.is_effect for s in drawn.values()]) and not may_draw:
        raise UnsupportedError(
            "random numbers are drawn, from a generator that is made outside, inside a function with a derivative "
            "of its own or a part of a program that is run as it is",
            hint="draw before it, and pass the numbers as an argument",
        ).at(("here", here()))
    return tuple(drawn.values())


def _sized(x: Any, role: str) -> Any:
    """What a function of some role returns: anything but an array of unknown extents."""
    if isinstance(x, Bounded | Front):
        raise x.returned(f"the result of {role}")
    return x


def _itself(x: Any) -> Any:
    return x


def _check_copies(
    copies: Sequence[tuple[TracedArray, Storage]], storages: Sequence[Storage], before: Sequence[tuple[int, Value]]
) -> None:
    """UnsupportedError if a parameter was written that stands for the same memory as another leaf, or if what it stands
    for was. before: the version of that memory, and what it held."""
    for (leaf, storage), (version, old) in zip(copies, before, strict=True):
        new = leaf.storage.value  # the old one, if a derivative inside has taken back what it wrote
        if leaf.storage.version != version and (new is old or is_shown(leaf.lenses, old, new)):
            raise _local_write("an array that shares memory with an argument", leaf.storage)
        if not storage.is_touched:
            continue
        leaf.storage.touched = storage.touched
        if sum(leaf.storage is other for other in storages) > 1:
            raise _local_write("an argument that shares memory with another one", storage)


def _check_free(copies: Sequence[tuple[TracedArray, Storage]], free: Values) -> None:
    """UnsupportedError if a parameter was written whose memory is also read from the enclosing scope."""
    for leaf, storage in copies:
        if storage.is_touched and leaf.storage.value in free:
            raise _local_write("an argument that is also read from the enclosing scope", storage)


def _local_write(what: str, storage: Storage) -> UnsupportedError:
    return UnsupportedError(
        f"a write, inside a derivative or a batch, to {what}",
        hint="such writes are local, and would miss the other one: pass a copy",
    ).at(("written here", storage.touched or here()))


def _hint(leaf: TracedArray, i: int) -> str:
    return str(getattr(leaf.value.op, "hint", "")) or f"x{i}"
