"""Lists of which it is known only at run time how many elements they have, but not more than a known number.

out = []                        after the branch the list holds one object in place of its elements, a `Front`: for each
for v in xs:                    part of an element an array with room for as many as there may be, and how many there
    if v > 0:                   are; what is appended to the list comes after it
        out.append(v)

Arrays that are elements are copied then, as in `tables`.

What `pop(0)` takes from such a list leaves the other elements where they are: its arrays are rings from then on, whose
first element may lie in any row.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Sequence
from dataclasses import field, replace
from typing import Any, cast, final

from pliant.core import ir
from pliant.core.data import frozen
from pliant.core.ir import Value, const
from pliant.core.origin import here
from pliant.core.types import Type
from pliant.errors import UnsupportedError
from pliant.frontend.array import fresh
from pliant.frontend.bounded import Bounded, bounded
from pliant.frontend.control.copies import scopes_of
from pliant.frontend.control.growth import Element, merged, read_element
from pliant.frontend.control.objects import LEAF, flatten, has_objects, is_own
from pliant.frontend.control.tables import columns, like, rows, share
from pliant.frontend.control.unbound import refusing
from pliant.frontend.convert import as_traced, cast_value, value_of
from pliant.frontend.failures import fail_if
from pliant.frontend.number import Kind
from pliant.frontend.selection import all_listed
from pliant.frontend.sharing import containers
from pliant.frontend.sizes import Size, note_range, size_of, taken_apart, wrapped
from pliant.frontend.tracing import current, is_tracing
from pliant.ops.bits import logical_or
from pliant.ops.compare import less
from pliant.ops.elementwise import add, sub
from pliant.ops.index import gather, scatter_set
from pliant.ops.select import select
from pliant.ops.shape import concatenate, iota, reshape


@final
@refusing
class Front:
    """The first elements of a list, at least `low` and at most `high` of them; any use but as part of its list is an
    error."""

    __slots__ = ("columns", "count", "first", "form")

    def __init__(self, form: Form, columns: Sequence[Value], count: Value, first: Value | None) -> None:
        self.form, self.columns, self.count, self.first = form, tuple(columns), count, first

    @property
    def length(self) -> Size:
        """How many elements there are."""
        return taken_apart(self.count)

    def read(self, i: Size) -> Any:
        """The i-th element, which there is."""
        element = self.form.element
        place, pairs = self.place(i.value), zip(self.columns, element.kinds, strict=True)
        return element.made([read_element(gather(a, place), kind) for a, kind in pairs])

    def place(self, i: Value) -> Value:
        """The row of the i-th element, or of the one after the last; or of each of several."""
        if self.first is None:
            return i
        at, room = add(self.first, i), const(self.columns[0].shape[0], "i64")
        return select(less(at, room), at, sub(at, room))

    def in_order(self) -> Front:
        """The same with the first element in the first row."""
        if self.first is None:
            return self
        at = self.place(iota(self.columns[0].shape[0]))
        made = [gather(column, at, unique=True) for column in self.columns]
        return replace(self.form, is_ring=False).front([*made, self.count])

    def arrays(self) -> list[Any]:
        """The parts of all elements, one array for each part."""
        shapes = [kind.type.shape for kind in self.form.element.kinds]
        pairs = zip(self.in_order().columns, shapes, strict=True)
        return [bounded(fresh(column, is_array=True), (self.length, *shape)) for column, shape in pairs]

    def array(self) -> Any:
        """`np.array` of the list, whose elements may be tuples."""
        element = self.form.element
        if element.structure.is_leaf():
            return self.arrays()[0]
        shapes = {kind.type.shape for kind in element.kinds}
        if len(shapes) > 1 or element.structure != flatten((0,) * len(element.kinds))[1]:
            raise self.refused()
        (shape,) = shapes
        dtype = as_traced([kind.template("part") for kind in element.kinds]).type.dtype
        columns = self.in_order().columns
        rows = tuple([reshape(cast_value(c, dtype), (c.shape[0], 1, *shape)) for c in columns])
        return bounded(fresh(concatenate(rows, 1), is_array=True), (self.length, len(rows), *shape))

    def item(self, key: Any) -> Any:
        """`front[key]`; a place that it does not have is an error at run time."""
        if isinstance(key, slice):
            raise self.refused()
        if self.first is not None:
            return self.read(checked_place(key, self.length, IndexError("list index out of range")))
        rows = [array[key] for array in self.arrays()]
        element = self.form.element
        pairs = zip(rows, element.kinds, strict=True)
        return element.made([read_element(value_of(row), kind) for row, kind in pairs])

    def put(self, key: Any, x: Any) -> Front:
        """The elements after `front[key] = x`."""
        own = like([x], is_own)
        element = None if own is None else merged(self.form.element, own)
        if isinstance(key, slice) or element is None:
            raise self.refused()
        form = replace(self.form, element=element, is_ring=False)
        arrays = form.front(form.values([self])).arrays()
        for array, leaf in zip(arrays, element.leaves(x), strict=True):
            array[key] = leaf
        share([x])
        return form.front([*[array.whole.value for array in arrays], self.count])

    def without_last(self) -> Front:
        """All elements but the last one, which there must be."""
        count, first = add(self.count, const(-1, "i64")), () if self.first is None else (self.first,)
        return self.form.with_one_less().front([*self.columns, count, *first])

    def without_first(self) -> Front:
        """All elements but the first one, which there must be. The others stay where they are."""
        form, count = replace(self.form.with_one_less(), is_ring=True), add(self.count, const(-1, "i64"))
        start = const(0, "i64") if self.first is None else self.first
        return form.front([*self.columns, count, Front(self.form, self.columns, count, start).place(const(1, "i64"))])

    def returned(self, what: str = "left in an argument") -> UnsupportedError:
        """The error of what cannot be such a result."""
        error = UnsupportedError(
            f"a list that is {what} needs a known number of elements, which a condition decides that is known only at "
            "run time",
            hint="write it into an array of known size and return that, and the count: y[:len(out)] = np.array(out)",
        )
        return error.at(("made here", self.count.origin)).needing(self.count)

    def refused(self, what: str = "") -> UnsupportedError:
        """The error of a use that needs to know how many elements there are."""
        error = UnsupportedError(
            f"{what or 'this use'} of a list needs to know how many elements it has, which a condition decides that is "
            "known only at run time",
            hint="np.array(out), len(out), sum(out), sorted(out), out[k], for x in out and out.append(x) work; or "
            "allocate an array before, write out[k] = x, and count",
        )
        return error.at(("here", here())).needing(self.count)


setattr(Front, "__hash__", Front.__eq__)  # noqa: B010  (a set of it would have one element)


@final
@frozen
class Form:
    """What fronts of one list have in common: what an element is, the room of their arrays, how many elements there are
    at least and at most, and whether it is known only at run time where the first one lies."""

    element: Element
    room: int
    low: Size
    high: Size
    is_ring: bool = False
    joins: int = field(default=0, compare=False)  # how often lists were put together of which one is a part
    loops: frozenset[Any] = field(default=frozenset(), compare=False)  # that made it so, by their code

    @classmethod
    def of(cls, *lists: Sequence[Any]) -> Form | None:
        """The form that holds each of several lists; None if there is none."""
        lengths = current().outermost.lengths
        loops = frozenset(lengths.loops[-1:])
        if lengths.are_needed or (loops & lengths.needed and not any(map(has_front, lists))):
            return None
        parts = [_parts(elements) for elements in lists]
        fronts = [front for front, _ in parts if front is not None]
        elements = [front.form.element for front in fronts]
        for _, rest in parts:
            own = like(rest, is_own) if rest else None
            if rest and own is None:
                return None
            elements += [] if own is None else [own]
        element = _common(elements)
        lows, highs = zip(*[extent_of(elements) for elements in lists], strict=True)
        if element is None or any([high.range[1] is None for high in highs]):
            return None
        room = max([*[high.range[1] or 0 for high in highs], *[front.form.room for front in fronts]])
        joins = max([front.form.joins for front in fronts], default=0)
        is_ring = any([front.first is not None for front in fronts])
        low, high = functools.reduce(_lesser, lows), functools.reduce(_greater, highs)
        return cls(element, room, low, high, is_ring, joins, loops.union(*[front.form.loops for front in fronts]))

    def joined(self, elements: Sequence[Any]) -> Form | None:
        """The form that holds another list too, but for how many elements there are. A ring has as much room as it has
        within a step: it need not be put in order then."""
        other = Form.of(elements)
        element = self.element if other is None else merged(self.element, other.element)
        is_void = other is None and bool(elements)
        if is_void or element is None:
            return None
        is_ring = self.is_ring or (other is not None and other.is_ring)
        room = max(self.room, other.room) if other is not None and is_ring else self.room
        loops = self.loops if other is None else self.loops | other.loops
        return replace(self, element=element, is_ring=is_ring, room=room, loops=loops)

    def with_one_less(self) -> Form:
        """The form after one element has gone, which there must be."""
        low = self.low - 1 if self.low.is_at_least(1) else Size(0)
        return replace(self, low=low, high=self.high if self.high.known == 0 else self.high - 1)

    def values(self, elements: Sequence[Any]) -> list[Value]:
        """A list of this form as values: the parts of its elements, how many there are, and, in a ring, where the first
        one lies."""
        front, rest = _parts(elements)
        kinds = self.element.kinds
        start = [const(0, "i64")] if self.is_ring else []
        if front is None:
            share(rest)
            made = columns(rest, self.element) if rest else [ir.operators.zeros(k.type.stacked(0)) for k in kinds]
            return [*[_roomy(column, self.room) for column in made], const(len(rest), "i64"), *start]
        if not self.is_ring or front.columns[0].shape[0] != self.room:
            front = front.in_order()
        start = start if front.first is None else [front.first]
        pairs = zip(front.columns, kinds, strict=True)
        made = [_roomy(cast_value(column, kind.type.dtype), self.room) for column, kind in pairs]
        roomy = Front(self, made, front.count, *start or [None])
        share(rest)
        for j, x in enumerate(rest):
            place = roomy.place((front.length + j).value)
            for n, (leaf, kind) in enumerate(zip(self.element.leaves(x), kinds, strict=True)):
                made[n] = scatter_set(made[n], (place,), value_of(leaf, kind.type.dtype), unique=True)
        return [*made, (front.length + len(rest)).value, *start]

    def listed(self, values: Sequence[Value]) -> list[Any]:
        """A list of these elements; without a front, if it is known how many there are."""
        known = taken_apart(values[len(self.element.kinds)]).known  # data may decide it
        if known is None and self.high.known == self.low.known == self.room:
            known = self.room
        if known is None:
            return [self.front(values)]
        columns = self.front(values).in_order().columns if self.is_ring else values[:-1]
        made = rows([fresh(column, is_array=True)[:known].value for column in columns], self.element)
        if self.element.has_arrays or has_objects(made):  # copies of what may be seen elsewhere
            share(made)  # who writes to them is traced again
            current().outermost.lengths.are_unknown = True
        return made

    def front(self, values: Sequence[Value]) -> Front:
        """The elements that these are the values of."""
        made, (count, *first) = values[: len(self.element.kinds)], values[len(self.element.kinds) :]
        if taken_apart(count).range[1] is None:
            note_range(count, self.low, self.high)
        for row in first:
            note_range(row, 0, max(self.room - 1, 0))
        lengths = current().outermost.lengths
        lengths.are_unknown, lengths.made[count] = True, self.loops
        return Front(self, made, count, *first or [None])


def front_of(x: Any) -> Front | None:
    """The elements of a list or tuple of which it is not known how many it has; None for anything else. An error if
    they have no form."""
    if type(x) not in (list, tuple) or not is_tracing() or not current().outermost.lengths.are_unknown:
        return None
    elements = cast("Sequence[Any]", x)
    if type(next(iter(elements), None)) is not Front:
        for x in elements:
            if type(x) is Front:
                raise x.refused()
        return None
    front: Front = elements[0]
    if len(elements) == 1:
        return front
    form = Form.of(elements)
    if form is None:
        raise front.refused("a list of different elements: this use")
    return form.front(form.values(elements))


def first_front(*lists: Any) -> Front | None:
    """The front of the first of some objects that has one; None if there is none."""
    return next((front for x in lists if (front := front_of(x)) is not None), None)


def check_left(before: Sequence[Any], now: Any) -> None:
    """UnsupportedError if a list from outside is left with elements that can be told from what Python would leave:
    numbers of another kind, or copies of containers that it held before the call."""
    front = now[0] if now and type(now[0]) is Front else None
    if front is None:
        return
    element = front.form.element
    is_same = not before or (like([*before], is_own) == element and not containers([*before])[1:])
    if element.is_mixed or not is_same:
        raise front.returned()


def as_list(x: Any) -> Any:
    """The elements of an array of which it is known only at run time how many it has, as a list; anything else as it
    is."""
    array = all_listed(x)
    if type(array) is not Bounded or type(array.extents[0]) is not Size or len(array.extents) < 1:
        return x
    if any([type(n) is Size for n in array.extents[1:]]):
        raise array.refused("a list")
    count, column = array.extents[0], array.whole.value
    shape = column.shape[1:]
    kind = Kind(Type(column.dtype, shape), is_scalar=not shape)
    form = Form(Element(LEAF, (kind,)), column.shape[0], Size(0), Size(column.shape[0]))
    return [form.front([column, count.value])]


def array_of_list(x: Any) -> Any:
    """`np.array` of a list that has a front; anything else as it is."""
    front = front_of(x) if cast("Any", type(x)) is list else None
    return x if front is None else front.array()


def as_argument(x: Any) -> Any:
    """What NumPy's functions are given: an array for a list that has a front, a list for a `deque`."""
    return [*cast("deque[Any]", x)] if isinstance(x, deque) else array_of_list(x)


def has_front(x: Any) -> bool:
    """Whether something is a list that has a front."""
    return type(x) is list and any([type(e) is Front for e in cast("list[Any]", x)])


def checked_place(key: Any, n: Size, error: IndexError) -> Size:
    """A place of n elements, which must be there, counted from the first."""
    i = wrapped(size_of(key), n)
    if not (i.is_at_least(0) and n.is_at_least(i + 1)):
        is_before, is_after = less(i.value, const(0, "i64")), less((n - 1).value, i.value)
        fail_if(logical_or(is_before, is_after), error)
    return i


def _parts(elements: Sequence[Any]) -> tuple[Front | None, list[Any]]:
    """The front of a list, and what comes after it."""
    is_first = bool(elements) and type(elements[0]) is Front
    front, rest = (elements[0], [*elements[1:]]) if is_first else (None, [*elements])
    for x in rest:
        if type(x) is Front:
            raise x.refused()
    return front, rest


def extent_of(elements: Sequence[Any]) -> tuple[Size, Size]:
    """How many elements a list has at least, and at most."""
    front, rest = _parts(elements)
    if front is None:
        return Size(len(rest)), Size(len(rest))
    return _visible(front.form.low + len(rest), 0), _visible(front.form.high + len(rest), 1)


def length_of(elements: Sequence[Any]) -> Size:
    """How many elements a list has."""
    front, rest = _parts(elements)
    return Size(len(rest)) if front is None else front.length + len(rest)


def _common(elements: Sequence[Element]) -> Element | None:
    """What the elements of several lists have in common."""
    found = elements[0] if elements else None
    for other in elements[1:]:
        found = None if found is None else merged(found, other)
    return found


def _greater(a: Size, b: Size) -> Size:
    """A size that is at least as great as both."""
    if a.is_at_least(b):
        return a
    return b if b.is_at_least(a) else Size(max(a.range[1] or 0, b.range[1] or 0))


def _lesser(a: Size, b: Size) -> Size:
    """A size that is at most as great as both."""
    if b.is_at_least(a):
        return a
    return b if a.is_at_least(b) else Size(min(a.range[0] or 0, b.range[0] or 0))


def _visible(size: Size, end: int) -> Size:
    """The same size, or the least or greatest that it can be if it depends on numbers of a block that has ended."""
    scopes = scopes_of(current())
    is_visible = all([atom.node.scope in scopes for atom, _ in size.terms])
    limit = size.range[end]
    return size if is_visible or limit is None else Size(limit)


def _roomy(column: Value, room: int) -> Value:
    """An array with room for so many rows, which are all that hold anything."""
    more = room - column.shape[0]
    if more < 0:
        return fresh(column, is_array=True)[:room].value
    rest = Type(column.dtype, (more, *column.shape[1:]))
    return concatenate((column, ir.operators.zeros(rest)), 0) if more > 0 else column
