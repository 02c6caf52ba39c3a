"""Lists that every step of a loop appends to, or puts elements in front of, as a step sees them.

    ys = []                        while a step is traced:
    for i in range(n):                 ys = [prefix]
        …; ys.append(y)                ys = [prefix, y]
        …; ys.insert(0, y)         or  ys = [y, prefix]

The prefix stands for what the list held before the step. Its elements are read from an array that the loop
carries; where none is read, there is no such array, and the loop stacks what is appended: see `grown`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from types import FunctionType
from typing import Any, Final, cast, final

from pliant.core import ir
from pliant.core.data import mutable
from pliant.core.ir import Value, param
from pliant.core.origin import here
from pliant.core.types import Type
from pliant.errors import UnsupportedError
from pliant.frontend.array import TracedArray
from pliant.frontend.control.copies import in_other_places
from pliant.frontend.control.objects import (
    Opened,
    flatten,
    has_objects,
    is_own,
    is_told_by_leaves,
    is_value,
    keep,
    seal,
    unflatten,
    with_nones,
)
from pliant.frontend.control.picked import note_picked
from pliant.frontend.control.region import Place, note, place_of
from pliant.frontend.control.signals import TRUTH
from pliant.frontend.control.states import words_of
from pliant.frontend.control.unbound import refusing
from pliant.frontend.convert import as_traced, value_of
from pliant.frontend.number import Kind, is_number, kind_of, with_kind
from pliant.frontend.sizes import Size, size_of
from pliant.frontend.tracing import Storage, current
from pliant.frontend.view import SliceLens
from pliant.frontend.whose import is_users
from pliant.ops.index import gather
from pliant.ops.shape import concatenate, reshape


@final
@refusing
class Prefix:
    """The elements that a list has before a step; its use as one element is an error."""

    __slots__ = ("growth",)

    def __init__(self, growth: Growth) -> None:
        self.growth = growth

    def refused(self, what: str = "") -> UnsupportedError:
        """The error of a use that needs the elements."""
        return self.growth.refused()


@final
@mutable
class Element:
    """What the elements of a list have in common. is_mixed: whether some are of other kinds, as numbers of Python's
    among NumPy's are."""

    structure: Any
    kinds: tuple[Kind, ...]
    is_mixed: bool = False

    @property
    def has_arrays(self) -> bool:
        """Whether some parts of it can be written."""
        return not all([kind.is_scalar or kind.is_weak for kind in self.kinds])

    @property
    def is_told_by_numbers(self) -> bool:
        """Whether two elements are equal if their parts are, which are numbers."""
        return is_told_by_leaves(self.structure) and not any([kind.type.shape for kind in self.kinds])

    def leaves(self, x: Any) -> list[Any]:
        """The parts of an element."""
        leaves, structure = flatten(x)
        if structure != self.structure:
            leaves, structure = flatten(x, is_own)
        if structure == self.structure:
            return leaves
        current().outermost.has_nones = True
        made = with_nones(x, unflatten(self.structure, self.kinds), _flag, _nothing)
        return flatten(made, is_own)[0]

    def made(self, parts: Sequence[TracedArray]) -> Any:
        """An element that was read: a copy, which must not be changed."""
        x = unflatten(self.structure, parts)
        seal(x)
        return x


@final
@mutable(eq=False)
class Growth:
    """A list that each step adds `more` elements to. `element` is None where they are not alike. The arrays hold them
    in the order in which they were added, which is the reverse of that of the list where they are put in front."""

    place: Place
    before: list[Any]
    more: int
    is_front: bool = False
    element: Element | None = None
    index: Value | None = None  # the number of the step
    arrays: list[Value] = field(default_factory=list[Value])  # all elements, one array for each leaf
    is_read: bool = False

    def enter(self, index: Value, length: int | None) -> None:
        """Put the prefix into the list."""
        note(self.place)
        self.place.set([Prefix(self)])
        self.index, self.is_read = index, False
        kinds = self.element.kinds if self.element and length is not None else ()
        count = len(self.before) + self.more * (length or 0)
        self.arrays = [param(k.type.stacked(count), str(self.place.key or "rows")) for k in kinds]

    def added(self) -> list[Any] | None:
        """What the step added, in this order; None if it did something else to the list."""
        self.turn()
        now: list[Any] = self.place.holder[::-1] if self.is_front else self.place.holder
        is_prefix = bool(now) and type(now[0]) is Prefix and now[0].growth is self
        return now[1:] if is_prefix and len(now) == 1 + self.more else None

    def refused(self) -> UnsupportedError:
        """The error of a use that needs the elements."""
        return UnsupportedError(
            "a list that grows in a loop is used here as a whole",
            hint="read elements by index, or allocate an array before the loop and write its rows",
        ).at(("here", here()))

    def has_new(self, key: Any) -> bool:
        """Whether `ys[key]` is an element that the step has added, by its distance from the end that grows."""
        distance = -1 - key if isinstance(key, int) and not self.is_front else key
        return isinstance(distance, int) and 0 <= distance < len(self.place.holder) - 1

    def turn(self) -> None:
        """Note that the step has put elements in front of none, which shows where the list grows."""
        now: list[Any] = self.place.holder
        if not self.before and not self.is_read and len(now) > 1:
            self.is_front = self.is_front or (type(now[-1]) is Prefix and now[-1].growth is self)

    @property
    def earlier(self) -> list[Any]:
        """What the list holds before the loop, as if it had been added in this order."""
        return self.before[::-1] if self.is_front else self.before

    def start(self, n: int) -> Value:
        """What the n-th array holds before the loop."""
        assert self.element is not None
        type = self.arrays[n].type
        rows = [self.element.leaves(e)[n] for e in self.earlier]
        known = [reshape(value_of(x, type.dtype), (1, *type.shape[1:])) for x in rows]
        rest = Type(type.dtype, (type.shape[0] - len(rows), *type.shape[1:]))
        return concatenate((*known, ir.operators.zeros(rest)), 0) if rest.size else concatenate(tuple(known), 0)

    @property
    def first(self) -> Size:
        """The number of elements before the step."""
        assert self.index is not None
        return Size(len(self.before)) + Size(0, ((self.index, 1),)) * self.more

    @property
    def length(self) -> Size:
        """The number of elements now."""
        return self.first + (len(self.place.holder) - 1)

    def item(self, key: Any) -> Any:
        """`ys[key]`."""
        if isinstance(key, slice):
            raise self.refused()
        length, i = self.length, size_of(key)
        if not i.is_at_least(0):
            i = length + i if (i * -1).is_at_least(1) else i
        i = length - (i + 1) if self.is_front else i
        back = (length - i).known
        if back is not None and 1 <= back < len(self.place.holder):
            return self.place.holder[back - 1 if self.is_front else -back]
        if i.known is not None and 0 <= i.known < len(self.before):
            return self.earlier[i.known]
        if not self.arrays or not i.is_at_least(0) or not self.first.is_at_least(i + 1):
            raise UnsupportedError(
                "an element of a list that grows in the loop is read, and which one it is, or what it is, is not known",
                hint="keep the elements of one type, or allocate an array before the loop and write its rows",
            ).at(("here", here()))
        return self.read(i)

    @property
    def is_counted(self) -> bool:
        """Whether what the list holds are the elements from before the step, and known to be alike."""
        return bool(self.arrays) and len(self.place.holder) == 1

    def nth(self, k: Size) -> Any:
        """`ys[k]`, one of the elements from before the step, where these are all."""
        return self.read(self.first - (k + 1) if self.is_front else k)

    def read(self, i: Size) -> Any:
        """The i-th element that was added, one of those from before the step."""
        self.is_read = True
        assert self.element is not None
        pairs = zip(self.arrays, self.element.kinds, strict=True)
        return self.element.made([read_element(gather(a, i.value), kind) for a, kind in pairs])


def item(holder: Any, key: Any) -> Any:
    """`holder[key]` of a list or tuple."""
    growth = growth_of(holder)
    if growth is not None:
        return growth.item(key)
    if type(key) is not TracedArray or key.concrete is not None or not holder or key.shape:
        return plainly(holder, key)
    opened = is_own if all(map(is_own, holder)) else None
    element = element_of(holder, opened) if all(map(is_value, unlike(holder))) else None
    if element is None:
        return plainly(holder, key)
    if element.has_arrays:  # they are stacked only if there is no other way
        note(place_of("whole", holder))
    parts = zip(*[element.leaves(x) for x in holder], strict=True)
    read = [_picked([*part], key, kind) for part, kind in zip(parts, element.kinds, strict=True)]
    made = unflatten(element.structure, read)
    return standing_for(made, holder, key)


def standing_for(made: Any, elements: Sequence[Any], key: TracedArray) -> Any:
    """A copy of the element of a list at a traced place: what is changed in it is changed in that element."""
    if has_objects(elements):
        keep([made, *elements])
        in_other_places([made], elements, [key % len(elements)])
    return made


def plainly(holder: Any, key: Any) -> Any:
    """`holder[key]`, whatever a subclass of the user's makes of it."""
    kinds: tuple[Any, ...] = (list, tuple, dict)
    read = getattr(cast("Any", type(holder)), "__getitem__", None)
    if isinstance(read, FunctionType) and is_users(read):
        for kind in kinds:
            if isinstance(holder, kind):
                return kind.__getitem__(holder, key)
    return holder[key]


def _picked(parts: list[Any], key: TracedArray, kind: Kind) -> TracedArray:
    """One of the parts; Python's numbers among them are of the dtype of the others, whatever an array would be."""
    made = read_element(value_of(as_traced(parts)[key], kind.type.dtype), kind)
    made.storage.causes = (key.value,)
    if not (kind.is_scalar or kind.is_weak):
        note_picked(made.storage, parts, key)
    return made


def element_of(elements: Sequence[Any], opened: Opened | None = None) -> Element | None:
    """What the elements of a list have in common; None if they are not alike."""
    found: Element | None = None
    for x in unlike(elements):
        leaves, structure = flatten(x, opened)
        if not leaves or not all([is_number(leaf) and words_of(leaf) is None for leaf in leaves]):
            return None
        element = Element(structure, tuple([kind_of(as_traced(leaf)) for leaf in leaves]))
        found = merged(found or element, element)
        if found is None:
            return None
    return found


def unlike(elements: Sequence[Any]) -> list[Any]:
    """Some of the elements of a list, with which the others have all in common that `Element` tells."""
    return [*{_likeness(x): x for x in elements}.values()]


def _likeness(x: Any) -> Any:
    """What two elements have in common only if they are of one kind."""
    kind = cast("Any", type(x))
    if kind in _PYTHONS:
        return kind
    if isinstance(x, tuple):
        return kind, *map(_likeness, cast("tuple[Any, ...]", x))
    if kind is TracedArray and len(x.lenses) == 2 and type(x.lenses[0]) is SliceLens:
        return id(x.storage), x.lenses[0].length, x.lenses[1], x.is_scalar, x.is_weak
    return id(x)


_PYTHONS: Final = frozenset((bool, int, float, complex))


def merged(found: Element, other: Element) -> Element | None:
    """What elements of two forms have in common; None if they are not alike."""
    if found.structure != other.structure:
        one, two = [unflatten(x.structure, x.kinds) for x in (found, other)]
        pairs = (found.is_mixed, one, two), (other.is_mixed, two, one)
        found, other = [Element(*_kinds(with_nones(a, b, lambda _: TRUTH, lambda k: k)), m) for m, a, b in pairs]
    if found.structure != other.structure:
        return None
    pairs = [(a, a.joined(b)) for a, b in zip(found.kinds, other.kinds, strict=True)]
    if any([k is None or (k.type.dtype != a.type.dtype and not a.is_weak) for a, k in pairs]):
        return None
    is_mixed = found.is_mixed or other.is_mixed or not all(map(Kind.is_like, found.kinds, other.kinds))
    return Element(found.structure, tuple([k for _, k in pairs if k is not None]), is_mixed)


def _kinds(tree: Any) -> tuple[Any, tuple[Kind, ...]]:
    """The structure of a tree of kinds, and these."""
    kinds, structure = flatten(tree, is_own)
    return structure, tuple(kinds)


def _flag(holds: bool) -> TracedArray:
    """A truth value that is known, as one of an array."""
    return with_kind(ir.const(holds, "bool"), TRUTH)


def _nothing(kind: Kind) -> TracedArray:
    """What lies in the place of a number where there is None."""
    return with_kind(ir.operators.zeros(kind.type), kind)


def read_element(value: Value, kind: Kind) -> TracedArray:
    """An element that was read: a copy, which must not be written."""
    made = with_kind(value, kind)
    made.storage.writeable, made.storage.is_copy = False, True
    return made


def is_copied(storage: Storage) -> bool:
    """Whether an allocation stands for another one, and so must not be bound to a name after the loop."""
    return not storage.writeable


def growth_of(x: Any) -> Growth | None:
    """How a list grows in the loop being traced; None for anything else."""
    if type(x) is not list or not x:
        return None
    first, last = cast("list[Any]", x)[0], cast("list[Any]", x)[-1]
    if type(first) is Prefix and (first is last or not first.growth.is_front):
        return first.growth
    if type(last) is not Prefix:
        return None
    last.growth.turn()
    if not last.growth.is_front:
        raise last.refused()
    return last.growth
