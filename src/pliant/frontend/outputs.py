"""How what a function returns, and leaves in its arguments' containers, is made of a program's results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, cast, final

import numpy as np

from pliant.core.ir import Value
from pliant.core.origin import Origin
from pliant.core.types import Type
from pliant.errors import IndexRangeError
from pliant.frontend.alias import Shared
from pliant.frontend.array import TracedArray
from pliant.frontend.bounded import Bounded
from pliant.frontend.control.unbound import Unbound
from pliant.frontend.convert import as_traced
from pliant.frontend.order import UNSURE, settle
from pliant.frontend.selection import Selection
from pliant.frontend.signature import flatten
from pliant.frontend.tracing import Storage
from pliant.frontend.view import DynamicLens, Lens, PermuteLens, SliceLens, is_static, look
from pliant.ops.shape import permute


@final
@dataclass(frozen=True)
class Output:
    """One leaf of what a function returns.

    kind: "array", "scalar" (NumPy's) or "python" for a result of the program; "source" for a view
    of the caller's array; "leaf" for an argument as it is; "static" for what is no number. `place`
    is a result's number, a leaf's number (those of arrays met outside follow), or the object itself.
    """

    kind: str
    place: Any
    lenses: tuple[Lens | Window, ...] = ()
    type: Type | None = None  # of an array or number

    @property
    def is_result(self) -> bool:
        """Whether it is made of a result of the program."""
        return self.kind in ("array", "scalar", "python")

    def made(self, leaves: Sequence[Any], met: Sequence[Any], results: Sequence[Any]) -> Any:
        """The leaf, of a call's arguments, the arrays it met outside, and the program's results."""
        place = self.place
        if self.kind == "leaf":
            return leaves[place]
        if self.kind == "array":
            return look(results[place], cast("tuple[Lens, ...]", self.lenses))
        if self.kind == "scalar":
            return results[place][()]
        if self.kind == "python":
            return results[place].item()
        if self.kind == "source":
            array = place
            if isinstance(place, int):
                array = leaves[place] if place < len(leaves) else met[place - len(leaves)]
            for lens in self.lenses:
                array = look(array, (lens.known(array, results) if isinstance(lens, Window) else lens,))
            return array
        return place


@final
@dataclass(frozen=True)
class Changed:
    """What the containers among the arguments hold after the call. Output kind "leaf": what was leaf `place`."""

    outputs: tuple[Output, ...]
    structure: Any


@final
@dataclass(frozen=True)
class Window:
    """A part of the caller's array whose starts are results of the program, by number: a `DynamicLens` of the trace."""

    starts: tuple[int, ...]
    length: tuple[int, ...]
    origins: tuple[Origin, ...]

    def known(self, array: Any, results: Sequence[Any]) -> SliceLens:
        """The window of a call; IndexRangeError if it does not lie in the array."""
        starts = tuple(int(results[n]) for n in self.starts)
        for axis, (start, length) in enumerate(zip(starts, self.length, strict=True)):
            if not 0 <= start <= array.shape[axis] - length:
                message = f"index {start} is out of range for axis {axis} of extent {array.shape[axis]}"
                raise IndexRangeError(message).at(("here", self.origins[axis]))
        return SliceLens(starts, (1,) * len(starts), self.length)


def _window(lens: DynamicLens, results: list[Value]) -> Window:
    """The lens for the caller's array; adds its starts to the results."""
    first = len(results)
    results += lens.starts
    return Window(tuple(range(first, len(results))), lens.length, tuple(s.origin for s in lens.starts))


def outputs_of(made: Sequence[Any]) -> tuple[list[Value], list[Output]]:
    """The program's results, and how the returned leaves are made of them."""
    made = [as_traced(m) if isinstance(m, np.ndarray) else m for m in made]
    shared = [id(m.storage) for m in made if type(m) is TracedArray]
    results: list[Value] = []
    bases: dict[int, int] = {}
    outputs: list[Output] = []
    for m in made:
        if isinstance(m, Selection):
            raise m.refused("returning them")
        if isinstance(m, Unbound):
            raise m.refused(is_returned=True)
        if isinstance(m, Bounded):
            raise m.returned()
        if type(m) is not TracedArray:
            outputs.append(Output("static", m))
            continue
        storage, kind = m.storage, "python" if m.is_weak else "scalar" if m.is_scalar else "array"
        source = storage.index if storage.index is not None else storage.source
        if kind == "array" and source is not None:
            lenses = m.lenses
            if isinstance(source, Shared):
                source, lenses = source.seen_through(lenses)
            shown = tuple(_window(x, results) if isinstance(x, DynamicLens) else x for x in lenses)
            outputs.append(Output("source", source, shown, m.type))
        elif kind == "array" and shared.count(id(storage)) > 1 and is_static(m.lenses):
            order = axes_by_stride(storage)
            if id(storage) not in bases:
                bases[id(storage)] = len(results)
                results.append(storage.value if order is None else permute(storage.value, order))
            laid_out = () if order is None else (PermuteLens(tuple(np.argsort(order).tolist())),)
            outputs.append(Output(kind, bases[id(storage)], (*laid_out, *m.lenses), m.type))
        else:
            outputs.append(Output(kind, len(results), (), m.type))
            results.append(m.value)
    return results, outputs


def axes_by_stride(storage: Storage) -> tuple[int, ...] | None:
    """The axes from the longest stride to the shortest, of a storage that is not row-major; else None."""
    settle(storage)
    if storage.strides is None or storage.strides is UNSURE:
        return None
    return tuple(sorted(range(len(storage.strides)), key=lambda axis: -abs(storage.strides[axis])))


@final
@dataclass(frozen=True)
class After:
    """The arguments after the trace: for each leaf its number among those given, or None if it is new."""

    places: tuple[int | None, ...]
    new: tuple[Any, ...]
    structure: Any
    is_same: bool

    def changed(self, outputs: Sequence[Output]) -> Changed | None:
        """How to make the new leaves, if containers hold others than before."""
        rest = iter(outputs)
        made = tuple(next(rest) if place is None else Output("leaf", place) for place in self.places)
        return None if self.is_same else Changed(made, self.structure)


def after_of(tree: Any, structure: Any, given: Sequence[Any]) -> After:
    """What the function made of the containers it was given."""
    leaves, found = flatten(tree)
    known = {id(x): i for i, x in enumerate(given)}
    is_same = found == structure and all(a is b for a, b in zip(leaves, given, strict=True))
    places = tuple(known.get(id(x)) for x in leaves)
    return After(places, tuple(x for x in leaves if id(x) not in known), found, is_same)


def replace_items(tree: Any, after: Any) -> None:
    """Make dicts and lists hold what others of the same nesting hold."""
    kind = cast("Any", type(tree) if type(tree) is type(after) else None)
    if _is_a(kind, dict):
        table: dict[Any, Any] = tree
        for key in [k for k in table if k not in after]:
            del table[key]
        for key, x in cast("dict[Any, Any]", after).items():
            table[key] = _kept(table[key], x) if key in table else x
    elif _is_a(kind, list):
        rows: list[Any] = tree
        rows[:] = [_kept(x, y) for x, y in zip_longest(rows[: len(after)], cast("list[Any]", after))]
    elif _is_a(kind, tuple):
        for x, y in zip(cast("tuple[Any, ...]", tree), cast("tuple[Any, ...]", after), strict=False):
            replace_items(x, y)


def _kept(x: Any, y: Any) -> Any:
    """The caller's container, made equal to y; y itself for anything else."""
    if type(x) is not type(y) or not any(_is_a(type(x), kind) for kind in (dict, list, tuple)):
        return y
    replace_items(x, y)
    return x


def _is_a(kind: Any, base: type) -> bool:
    return kind is not None and issubclass(kind, base)
