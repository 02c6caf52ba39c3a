"""A user's function as a program: parameters, results, what it writes, what its results view."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from pliant.core.build import abstract, free_values
from pliant.core.ir import Function, Value, Values, param
from pliant.core.origin import ParameterOrigin, at
from pliant.errors import ReadOnlyError, UnsupportedError
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.capture import Guards, guards_of, instrument
from pliant.frontend.convert import as_traced
from pliant.frontend.signature import WEAK, flatten, leaf_type, unflatten
from pliant.frontend.tracing import Storage, Trace, strides_of, tracing
from pliant.frontend.view import Lens, is_static, look


@final
@dataclass(frozen=True)
class Output:
    """One leaf of what a function returns.

    kind: "array", "scalar" (NumPy's) or "python" for a result of the program; "source" for a view
    of the caller's array; "static" for what is no number. `place` is a result's number, a leaf's
    number, or the object itself.
    """

    kind: str
    place: Any
    lenses: tuple[Lens, ...] = ()


@final
@dataclass(frozen=True)
class Program:
    """What `trace_program` returns: the IR, and how arguments and results map to it."""

    fn: Function
    leaves: tuple[int, ...]  # the argument leaves that are parameters, in order
    captured: tuple[Any, ...]  # the arrays of the remaining parameters
    outputs: tuple[Output, ...]
    structure: Any
    written: tuple[tuple[Any, int], ...]  # (leaf number or captured array, result number)
    guards: Guards = field(repr=False)

    def arguments(self, leaves: Sequence[Any]) -> list[Any]:
        """Arrays for the program's parameters."""
        given = [np.asarray(leaves[i], _dtype(leaves[i])) for i in self.leaves]
        return [*given, *self.captured]

    @property
    def has_scalars(self) -> bool:
        """Whether results of rank 0 are NumPy scalars."""
        return any(o.kind == "scalar" for o in self.outputs)

    @property
    def is_simple(self) -> bool:
        """Whether every returned leaf is a fresh array, or every one of rank 0 a NumPy scalar."""
        kinds = {o.kind for o in self.outputs}
        ranks = {o.kind for o in self.outputs if o.kind != "static" and isinstance(o.place, int) and self._rank(o) == 0}
        is_new = kinds <= {"array", "scalar"} and not any(o.lenses for o in self.outputs)
        is_alone = bool(self.outputs) and len(self.outputs) == len(self.fn.results)
        return is_new and is_alone and not self.written and len(ranks) <= 1

    def _rank(self, output: Output) -> int:
        return len(self.fn.results[output.place].shape) if output.kind in ("array", "scalar") else -1

    def result_tree(self) -> Any:
        """Nested tuples of result numbers, if that is all a simple program returns; else None."""
        if not self.outputs:
            return None
        tree = unflatten(self.structure, [o.place for o in self.outputs])
        return tree if _is_tuples(tree) else None

    def check_writes(self, leaves: Sequence[Any]) -> None:
        """Refuse, before anything runs, what could not be written as NumPy would."""
        if not self.written:
            return
        arrays = [a for a in leaves if isinstance(a, np.ndarray)] + list(self.captured)
        for place, _ in self.written:
            target = leaves[place] if isinstance(place, int) else place
            if not target.flags.writeable:
                raise ReadOnlyError(f"{self.fn.name}: assignment destination is read-only")
            if sum(a is target for a in arrays) > 1 or any(
                a is not target and np.may_share_memory(a, target) and np.shares_memory(a, target) for a in arrays
            ):
                raise UnsupportedError(
                    f"{self.fn.name} writes to an argument that overlaps another argument in memory",
                    hint="pass copies: overlapping written arguments are not compiled yet",
                )

    def finish(self, leaves: Sequence[Any], results: Sequence[Any]) -> Any:
        """Write back what the function wrote, and rebuild what it returns."""
        for place, number in self.written:
            np.copyto(leaves[place] if isinstance(place, int) else place, results[number])
        return unflatten(self.structure, [self._output(o, leaves, results) for o in self.outputs])

    def _output(self, output: Output, leaves: Sequence[Any], results: Sequence[Any]) -> Any:
        place = output.place
        if output.kind == "array":
            return look(results[place], output.lenses)
        if output.kind == "scalar":
            return results[place][()]
        if output.kind == "python":
            return results[place].item()
        if output.kind == "source":
            return look(leaves[place] if isinstance(place, int) else place, output.lenses)
        return place


def _is_tuples(tree: Any) -> bool:
    return type(tree) is int or (type(tree) is tuple and all(_is_tuples(t) for t in tree))


def _dtype(leaf: Any) -> Any:
    name = WEAK.get(type(leaf))
    return {"bool": np.bool_, "i64": np.int64, "f64": np.float64, "c128": np.complex128}[name] if name else None


def trace_program(f: Callable[..., Any], leaves: Sequence[Any], structure: Any, names: Sequence[str]) -> Program:
    """Trace `f(*args, **kwargs)` for arguments like `leaves`."""
    with tracing() as trace:
        given: list[Any] = []
        params: list[Value] = []
        numbers: list[int] = []
        for i, (leaf, name) in enumerate(zip(leaves, names, strict=True)):
            type_ = leaf_type(leaf, name)
            if type_ is None:
                given.append(leaf)
                continue
            with at(ParameterOrigin((name,), getattr(f, "__code__", None))):
                value = param(type_, name if name.isidentifier() else f"x{i}")
            is_array = isinstance(leaf, np.ndarray)
            is_writeable = not is_array or leaf.flags.writeable
            storage = Storage(trace, value, index=i, writeable=is_writeable, strides=strides_of(leaf))
            given.append(
                TracedArray(storage, is_scalar=not is_array, is_weak=type(leaf) in WEAK and type(leaf) is not bool)
            )
            params.append(value)
            numbers.append(i)
        args, kwargs = unflatten(structure, given)
        made, made_structure = flatten(instrument(f, trace)(*args, **kwargs))
        results, outputs = _outputs(made)
        written = _written(given, trace, results)
        sources = [s for s in trace.captured.values()]
    entered = tuple(s.entered for s in sources if s.entered is not None)
    fn = Function(getattr(f, "__name__", "fn"), (*params, *entered), tuple(results))
    captured = tuple(s.source for s in sources)
    return Program(fn, tuple(numbers), captured, tuple(outputs), made_structure, written, guards_of(trace))


def _outputs(made: Sequence[Any]) -> tuple[list[Value], list[Output]]:
    """The program's results, and how the returned leaves are made of them."""
    made = [as_traced(m) if isinstance(m, np.ndarray) else m for m in made]
    shared = [id(m.storage) for m in made if type(m) is TracedArray]
    results: list[Value] = []
    bases: dict[int, int] = {}
    outputs: list[Output] = []
    for m in made:
        if type(m) is not TracedArray:
            outputs.append(Output("static", m))
            continue
        storage, kind = m.storage, "python" if m.is_weak else "scalar" if m.is_scalar else "array"
        source = storage.index if storage.index is not None else storage.source
        if kind == "array" and source is not None and is_static(m.lenses):
            outputs.append(Output("source", source, m.lenses))
        elif kind == "array" and shared.count(id(storage)) > 1 and is_static(m.lenses):
            if id(storage) not in bases:
                bases[id(storage)] = len(results)
                results.append(storage.value)
            outputs.append(Output(kind, bases[id(storage)], m.lenses))
        else:
            outputs.append(Output(kind, len(results)))
            results.append(m.value)
    return results, outputs


def _written(given: Sequence[Any], trace: Trace, results: list[Value]) -> tuple[tuple[Any, int], ...]:
    """(place, result number) of every argument and captured array that was written; adds results."""
    storages = [g.storage for g in given if type(g) is TracedArray] + list(trace.captured.values())
    written: list[tuple[Any, int]] = []
    for storage in storages:
        if storage.is_written:
            written.append((storage.index if storage.index is not None else storage.source, len(results)))
            results.append(storage.value)
    return tuple(written)


@final
@dataclass(frozen=True)
class Closed:
    """A function traced inside another trace, closed over what it reads from outside."""

    fn: Function  # parameters: the active leaves, then one per free value
    free: Values
    leaves: tuple[Any, ...]  # of what it returned: traced arrays (for their kind), or static
    structure: Any

    def rebuild(self, values: Sequence[Value]) -> Any:
        """The returned tree, with `values` for its traced leaves, in the current trace."""
        rest = iter(values)
        made = [_like(leaf, next(rest)) if type(leaf) is TracedArray else leaf for leaf in self.leaves]
        return unflatten(self.structure, made)


def _like(leaf: TracedArray, value: Value) -> TracedArray:
    made = fresh(value, is_array=not (leaf.is_scalar or leaf.is_weak))
    return TracedArray(made.storage, is_scalar=made.is_scalar, is_weak=leaf.is_weak and not value.shape)


def trace_closed(
    f: Callable[..., Any], leaves: Sequence[Any], structure: Any, active: Sequence[bool], types: Sequence[Any] | None = None
) -> Closed:  # fmt: skip
    """Trace `f` inside the current trace. Active leaves become parameters (of `types`, where they
    differ from the leaves'); the others are what they are. Writes stay inside."""
    with tracing() as trace:
        params: list[Value] = []
        given: list[Any] = []
        for i, (leaf, is_active) in enumerate(zip(leaves, active, strict=True)):
            if not is_active:
                given.append(leaf)
                continue
            with at(ParameterOrigin((_hint(leaf, i),), getattr(f, "__code__", None))):
                value = param(types[i] if types and types[i] else leaf.type, _hint(leaf, i))
            scalar = (leaf.is_scalar or leaf.is_weak or bool(types)) and not value.shape
            given.append(TracedArray(Storage(trace, value), is_scalar=scalar, is_weak=leaf.is_weak and not value.shape))
            params.append(value)
        args, kwargs = unflatten(structure, given)
        made, made_structure = flatten(instrument(f, trace)(*args, **kwargs))
        made = [as_traced(m) if _is_numeric(m) else m for m in made]
        results = tuple(m.value for m in made if type(m) is TracedArray)
        fn = Function(getattr(f, "__name__", "fn"), tuple(params), results)
        free = free_values(fn, trace.scope.number)
    closed = abstract(fn.results, (*fn.params, *free), fn.name)
    return Closed(closed, free, tuple(made), made_structure)


def _is_numeric(x: Any) -> bool:
    return isinstance(x, np.ndarray | np.generic | int | float | complex) and type(x) is not TracedArray


def _hint(leaf: TracedArray, i: int) -> str:
    return str(getattr(leaf.value.op, "hint", "")) or f"x{i}"
