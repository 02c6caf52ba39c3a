"""Lists of numbers, arrays, or tuples of them, that are written at places known only at run time: their elements
become those of an array, or of one for each part.

h = [0] * 5                  h = [rows[0], …, rows[4]] of an array that is made anew by each write,
h[k] += x                    and that a loop carries

Arrays are copied then, while Python has one array under several names: from then on they are read-only.
"""

from __future__ import annotations

import weakref
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import field
from itertools import chain
from typing import Any, Final, final

from pliant.core.data import mutable
from pliant.core.ir import Value, param
from pliant.core.origin import here
from pliant.errors import UnsupportedError
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.bounded import Bounded
from pliant.frontend.control.either import arrays as arrays_of
from pliant.frontend.control.growth import Element, element_of, unlike
from pliant.frontend.control.objects import LEAF, Opened, flatten, has_objects, is_value, seal, unflatten
from pliant.frontend.control.picked import roots
from pliant.frontend.control.region import Place, is_of_step, note
from pliant.frontend.convert import as_traced, value_of
from pliant.frontend.number import Kind, with_kind
from pliant.frontend.rows import rows_of, runs
from pliant.frontend.tracing import Storage, current
from pliant.frontend.view import ReshapeLens, SliceLens


def number_kind(elements: list[Any]) -> Kind | None:
    """What the elements of a list are, if they are numbers that one array can hold."""
    element = element_of(elements)
    if element is None or not element.structure.is_leaf() or element.kinds[0].type.shape:
        return None
    return element.kinds[0] if element.kinds[0].is_scalar or element.kinds[0].is_weak else None


def like(elements: list[Any], opened: Opened | None = None) -> Element | None:
    """What the elements of a list have in common, if arrays can hold them. opened: see `flatten`."""
    some = unlike(elements)
    made = element_of(some, opened) if all(map(is_value, some)) else None
    if made is None or not current().outermost.lengths.are_needed:
        return made
    return None if made.has_arrays or has_objects(some) else made


FEW: Final = 3  # elements from before a loop, and what a loop left, up and down


def nested_kind(*lists: list[Any]) -> Kind | None:
    """What the numbers of several lists of lists are."""
    some = [x for rows in lists for x in ([rows[0][0]] if stored(rows) is not None else chain.from_iterable(rows))]
    return number_kind(some)


def nested(*lists: list[Any]) -> Element | None:
    """What the numbers of several lists of lists have in common."""
    kind = nested_kind(*lists)
    return None if kind is None else Element(LEAF, (kind,))


def numbers(array: TracedArray, kind: Kind) -> list[Any]:
    """The elements of an array, of a kind, as a list; where they have two more axes in front, as a list of lists."""
    shape = kind.type.shape
    tail, ones, rest = ReshapeLens(shape), (1,) * array.ndim, (0,) * len(shape)

    def number(*place: int) -> TracedArray:
        lenses = SliceLens((*place, *rest), ones, (*(1 for _ in place), *shape)), tail
        return TracedArray(array.storage, lenses, is_scalar=kind.is_scalar, is_weak=kind.is_weak)

    if array.ndim == 1 + len(shape):
        return [number(i) for i in range(array.shape[0])]
    return [[number(i, j) for j in range(array.shape[1])] for i in range(array.shape[0])]


def stored(rows: list[Any]) -> TracedArray | None:
    """The array whose elements are the numbers of a list of lists, if `numbers` made them."""
    first = rows[0][0]
    if type(first) is not TracedArray or not first.lenses or first.concrete is not None:
        return None
    storage = first.storage
    if storage.value.shape != (len(rows), len(rows[0])):
        return None
    places = [(x, i, j) for i, row in enumerate(rows) for j, x in enumerate(row)]
    return TracedArray(storage) if all([_is_at(x, storage, i, j) for x, i, j in places]) else None


def _is_at(x: Any, storage: Storage, i: int, j: int) -> bool:
    if type(x) is not TracedArray or x.storage is not storage or not x.lenses:
        return False
    window = x.lenses[0]
    return type(window) is SliceLens and window.start == (i, j)


def held(elements: list[Any], kind: Kind) -> Value:
    """The elements as one value."""
    known = stored(elements) if type(elements[0]) is list else None
    return value_of(as_traced([*elements]) if known is None else known, kind.type.dtype)


def columns(elements: list[Any], element: Element) -> list[Value]:
    """For each part of an element, those of all elements as one value."""
    rows = [element.leaves(x) for x in elements]
    return [_column([row[n] for row in rows], kind) for n, kind in enumerate(element.kinds)]


def _column(parts: list[Any], kind: Kind) -> Value:
    whole = rows_of(parts) if kind.type.shape else None
    return value_of(as_traced(parts) if whole is None else whole, kind.type.dtype)


def rows(columns: Sequence[Value], element: Element, *, copied: Sequence[Any] = (), is_left: bool = True) -> list[Any]:
    """The elements of a list whose parts are the rows of values. copied: what it, or some of it, holds copies of, so
    that writes to them are errors if Python's would be seen elsewhere. is_left: whether the list had these before."""
    stores = [TracedArray(Storage.holding(current(), column)) for column in columns]
    for x in stores:
        x.storage.is_stack = True
    if element.has_arrays and copied:
        _note_originals([x.storage for x in stores], copied, is_left=is_left)
    if element.structure.is_leaf():
        return numbers(stores[0], element.kinds[0])
    parts = zip(*[numbers(x, kind) for x, kind in zip(stores, element.kinds, strict=True)], strict=True)
    return [unflatten(element.structure, row) for row in parts]


def _note_originals(stores: Sequence[Storage], copied: Sequence[Any], *, is_left: bool) -> None:
    """Note of what allocations are copies: of arrays of the caller, of views, and of what may have other names."""
    arrays = [x for x in arrays_in(copied) if not x.storage.is_stack]
    are_seen = any([x.lenses or x.storage.index is not None or x.storage.source is not None for x in arrays])
    originals = tuple([weakref.ref(x.storage) for x in arrays]) if is_left else ()
    if are_seen or originals:
        current().outermost.lengths.are_unknown = True  # who writes to them is traced again, without such lists
    for storage in stores:
        storage.writeable, storage.originals = not are_seen, originals


def written(holder: list[Any], key: TracedArray, value: Any) -> list[Any] | None:
    """The elements of a list after `holder[key] = value`; None if arrays cannot hold them."""
    element = like([*holder, value])
    if element is None or not holder:
        return None
    made: list[Value] = []
    for column, x, kind in zip(columns(holder, element), element.leaves(value), element.kinds, strict=True):
        array = fresh(column, is_array=True)
        array[key] = with_kind(value_of(as_traced(x), kind.type.dtype), kind)
        made.append(array.value)
    copied = [*holder, value]
    share(copied)
    return rows(made, element, copied=copied)


def are_rows(elements: list[Any]) -> bool:
    """Whether the elements of a list, or the first parts of them, lie in one array."""
    return rows_of([flatten(x)[0][0] for x in elements]) is not None


def are_mostly_rows(elements: list[Any]) -> bool:
    """Whether all but a few elements of a list, or the first parts of them, lie in few arrays."""
    return len(runs([flatten(x)[0][0] for x in elements])) <= min(FEW, len(elements) - 1)


def share(elements: Sequence[Any], *, are_told: bool = False, are_put: bool = True) -> None:
    """Note that arrays and objects were copied which Python would have under two names from now on. are_told: whether
    it is known of the objects what else they may be; see `copies`. are_put: whether they are put into
    lists here; else names are bound to the copies, or they were put there before."""
    top = current().outermost
    arrays, shared = arrays_in(elements), top.copied
    objects = () if are_told or not has_objects(elements) else [*elements]
    if (arrays or objects) and top.lengths.are_needed:
        what = "an array" if arrays else "an object"
        raise UnsupportedError(
            f"a loop or a branch would copy {what} here, which Python would have under two names",
            hint="bind a copy, v = M[i].copy(), or write by one name only, M[i] = ...",
        ).at(("here", here()))
    seal(objects)
    top.lengths.are_unknown |= bool(arrays)  # who writes to them is traced again, without copies
    if are_put:
        is_twice = len({id(x.storage) for x in arrays}) < len(arrays)
        top.has_lent |= is_twice or not all([_is_new(x.storage) for x in arrays])
    for storage in [s for x in arrays for s in (x.storage, *roots(x.storage))]:
        shared.append((storage, storage.writeable))
        storage.writeable = False


def _is_new(storage: Any) -> bool:
    """Whether an allocation is none of the caller's, and was made in the step that it is put into a list in."""
    is_plain = type(storage) is Storage and not (storage.copy_of or storage.is_head)
    return is_plain and storage.index is None and storage.source is None and is_of_step(storage.trace)


@final
class Shared:
    """What is noted of arrays and of objects from now on."""

    def __init__(self) -> None:
        self.top = top = current().outermost
        self.counts = len(top.copied), len(top.kept), len(top.sealed)

    @property
    def storages(self) -> list[Storage]:
        """The allocations that were copied."""
        return [storage for storage, _ in self.top.copied[self.counts[0] :]]

    @property
    def objects(self) -> list[Any]:
        """The objects that were copied, and copies."""
        return [*self.top.sealed.values()][self.counts[2] :]

    def take_back(self) -> None:
        """Forget it."""
        count, *counts = self.counts
        for storage, writeable in reversed(self.top.copied[count:]):
            storage.writeable = writeable
        del self.top.copied[count:]
        for found, before in zip((self.top.kept, self.top.sealed), counts, strict=True):
            for key in [*found][before:]:
                del found[key]


@contextmanager
def sharing() -> Generator[Shared]:
    """What is noted inside, which is forgotten after an error."""
    shared = Shared()
    try:
        yield shared
    except BaseException:
        shared.take_back()
        raise


def arrays_in(elements: Sequence[Any]) -> list[TracedArray]:
    """The arrays among elements and their parts that could be written, each of one allocation."""
    leaves = [leaf.whole if type(leaf) is Bounded else leaf for x in elements for leaf in flatten(x)[0]]
    arrays = [x for x in leaves if type(x) is TracedArray and not (x.is_scalar or x.is_weak)]
    return [y for x in arrays for y in arrays_of(x)]


@final
@mutable(eq=False)
class Table:
    """A list that the steps of a loop change, or a list of lists of numbers, and what it holds before them."""

    place: Place
    before: list[Any]
    element: Element
    params: list[Value] = field(default_factory=list[Value])

    @property
    def is_grid(self) -> bool:
        """Whether it is a list of lists."""
        return self.place.kind == "rows"

    def enter(self, index: Value) -> None:
        """Put the elements of parameters into the list, whatever the number of the step is."""
        types = [kind.type for kind in self.element.kinds]
        if self.is_grid:
            types = [types[0].stacked(len(self.before[0]))]
        self.params = [param(type.stacked(len(self.before)), "elements") for type in types]
        note(self.place)
        self.place.set(self.after(self.params, is_left=False))

    def start(self, n: int) -> Value:
        """What the n-th part of its elements is before the loop."""
        return self.parts(self.before)[n]

    def parts(self, elements: list[Any]) -> list[Value]:
        """What it holds, one value for each part of an element."""
        return [held(elements, self.element.kinds[0])] if self.is_grid else columns(elements, self.element)

    def after(self, values: Sequence[Value], *, is_left: bool = True) -> list[Any]:
        """What it holds, of these values. is_left: whether what it held before is no more in it."""
        if not self.is_grid:
            return rows(values, self.element, copied=self.before, is_left=is_left)
        return numbers(TracedArray(Storage.holding(current(), values[0])), self.element.kinds[0])
