"""What a `for` goes over, by number: ranges, rows of arrays, and `enumerate`, `zip`, `reversed` of them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice, takewhile
from typing import Any, Final, cast, final

import numpy as np

from pliant.core.data import frozen
from pliant.core.ir import Value, Values, const
from pliant.core.origin import here
from pliant.core.types import Type
from pliant.errors import TracedValueError
from pliant.frontend.array import TracedArray
from pliant.frontend.bounded import Bounded, bounded
from pliant.frontend.control.fronts import front_of
from pliant.frontend.control.growth import growth_of, item, standing_for
from pliant.frontend.control.objects import flatten, unflatten
from pliant.frontend.control.tables import FEW, are_mostly_rows, like
from pliant.frontend.convert import as_traced, value_of
from pliant.frontend.failures import fail_if
from pliant.frontend.number import Kind, kind_of, with_kind
from pliant.frontend.ranges import bounds_of
from pliant.frontend.rows import rows_of
from pliant.frontend.selection import Selection, all_listed
from pliant.frontend.sizes import Size, larger, note_range, size_of, traced
from pliant.frontend.tracing import is_tracing
from pliant.ops.bits import logical_and
from pliant.ops.compare import equal, less

INDEX: Final = Kind(Type("i64"), is_scalar=True, is_weak=True)


@final
@frozen
class Range:
    """`range` with bounds or a step known only at run time. count: of its numbers, if that is known."""

    start: Any
    stop: Any
    step: Any
    count: int | None = None

    @property
    def open(self) -> Values:
        """What of it is not known."""
        return tuple([b.value for b in (self.start, self.stop, self.step) if type(b) is TracedArray])

    def __iter__(self) -> Iterator[Any]:
        raise (
            TracedValueError(
                "Python needs the number of steps here, but a bound of this range is known only at run time",
                hint="iterate with a for statement over range(...)",
            )
            .at(("needed here", here()))
            .needing(*self.open)
        )


@final
@frozen
class Made:
    """`enumerate`, `zip` or `reversed` of something."""

    function: Any
    parts: tuple[Any, ...]
    is_strict: bool = False

    def __iter__(self) -> Iterator[Any]:
        if self.function is reversed:
            return _backwards(*self.parts)
        parts = [walked(x) if type(x) is list else x for x in self.parts]
        return iter(self.function(*parts, strict=True) if self.is_strict else self.function(*parts))


@final
@frozen
class Mapped:
    """What a function makes of each element."""

    elements: Any
    function: Callable[[Any], Any]

    def __iter__(self) -> Iterator[Any]:
        return map(self.function, self.elements)


def items(function: Callable[..., Any], /, *args: Any, **options: Any) -> Any:
    """`function(*args)`, kept as what it is where a loop can go over it by number."""
    if not is_tracing():
        return function(*args, **options)
    if function is range and any([type(a) is TracedArray and a.concrete is None for a in args]):
        start, stop, step = bounds_of(args, 0, 1)
        is_open = type(step) is TracedArray and step.concrete is None
        return Range(_bound(start), _bound(stop), _checked(_bound(step)) if is_open else int(step))
    if function is enumerate and args:
        return Made(function, (*args, *options.values()))
    if function in (zip, reversed) and not options.keys() - {"strict"}:
        return Made(function, args, bool(options.get("strict")))
    return cast("Any", function)(*args, **options)


def _bound(x: Any) -> Any:
    """A bound of a range as a Python integer, known or traced."""
    traced = as_traced(x)
    if traced.shape or traced.type.kind not in "iub":
        raise TracedValueError(
            f"range: expected integers, got {traced.type}", hint="int(n) of a number, len(x) of an array"
        ).at(("here", here()))
    return traced if traced.is_weak else with_kind(value_of(traced, "i64"), INDEX)


def _checked(step: TracedArray) -> TracedArray:
    """A traced step of a range, which raises where it is zero, as `range` does."""
    if not size_of(step).is_at_least(1):
        fail_if(equal(value_of(step, "i64"), const(0, "i64")), ValueError("range() arg 3 must not be zero"))
    return step


ENDLESS: Final = 2**63 - 1  # steps of a loop that only a step ends


@final
@frozen
class Steps:
    """The elements of a loop: how many, an int or a traced one, and the one at a number. ended: what asking for one
    more does, where that may raise. known: the tuple or list that has the elements, if they are numbers that are known
    while tracing. lists: those that have the elements, which a step may change; the one at a number that is known is
    what they have there now. now: whether they have one more, after so many."""

    count: Any
    at: Callable[[Any], Any]
    ended: Callable[[], None] | None = None
    known: Sequence[Any] | None = None
    lists: tuple[list[Any], ...] = ()
    now: Callable[[int], bool] | None = None

    @property
    def is_static(self) -> bool:
        """Whether the number of steps is known while tracing."""
        return isinstance(self.count, int)

    @property
    def is_endless(self) -> bool:
        """Whether there is one more element, whenever one is asked for."""
        return self.is_static and self.count >= ENDLESS

    @property
    def is_same(self) -> bool:
        """Whether known elements are still those that they were before."""
        found = self.known
        return found is None or (len(found) == self.count and all([x is self.at(n) for n, x in enumerate(found)]))

    @property
    def content(self) -> list[list[Any]]:
        """What the lists hold."""
        return [[*elements] for elements in self.lists]

    def has_still(self, content: list[list[Any]]) -> bool:
        """Whether the lists hold what they did."""
        pairs = zip(self.lists, content, strict=True)
        return all([len(x) == len(y) and all(map(operator.is_, x, y)) for x, y in pairs])

    def with_each(self, made: Callable[[Any, Any], Any]) -> Steps:
        """What is made of each element and its number."""
        return Steps(self.count, lambda k: made(self.at(k), k), self.ended, lists=self.lists, now=self.now)

    def has(self, n: int) -> bool:
        """Whether there is an element at a number."""
        return n < self.count if self.now is None else self.now(n)

    def __iter__(self) -> Iterator[Any]:
        return map(self.at, range(self.count))


def steps_of(elements: Any) -> Steps | None:
    """Elements by number; None if they are none that a loop of the program can go over."""
    if isinstance(elements, range):
        return Steps(len(elements), lambda k: scaled(k, elements.start, elements.step))
    if isinstance(elements, Steps):
        return elements
    if isinstance(elements, Mapped):
        inner = steps_of(elements.elements)
        return None if inner is None else inner.with_each(lambda x, _: elements.function(x))
    if isinstance(elements, Range):
        return _dynamic(elements)
    if type(elements) is TracedArray and elements.shape:
        return Steps(elements.shape[0], lambda k: elements[k])
    if type(elements) is Selection:
        return steps_of(all_listed(elements))
    if type(elements) is Bounded and elements.extents:
        count = elements.extents[0]
        row, rest = elements.whole, elements.extents[1:]  # a step is of one that exists
        return Steps(traced(count) if isinstance(count, Size) else count, lambda k: bounded(row[k], rest))
    front = front_of(elements)
    if front is not None:
        return Steps(traced(front.length), lambda k: front.read(larger(size_of(k), Size(0))))
    growth = growth_of(elements)
    if growth is not None:
        return Steps(traced(growth.first), lambda k: growth.nth(size_of(k))) if growth.is_counted else None
    if type(elements) is list:
        listed = cast("list[Any]", elements)
        rows = rows_of(listed)
        found = _pythons(listed) or _tuples(listed) or _left_by_loops(listed) if rows is None else steps_of(rows)
        return None if found is None else _of_list(listed, found.at)
    return _made(elements) if isinstance(elements, Made) else None


def _of_list(elements: list[Any], at: Callable[[Any], Any]) -> Steps:
    """The elements of a list, of which one at a traced place is found by other means."""

    def element(k: Any) -> Any:
        return elements[k] if type(k) is int else at(k)

    return Steps(len(elements), element, lists=(elements,), now=lambda n: has(elements, n))


def has(elements: Sequence[Any], n: int) -> bool:
    """Whether there is an element at a number: an error if a step has left that to data."""
    front = front_of(elements)
    if front is not None:
        raise front.refused("a step that changes, under a condition, the list that it is of: the next one")
    return n < len(elements)


def walked(elements: Any, done: int = 0) -> Iterator[Any]:
    """The elements from a number on, of a list those that it has when they are asked for."""
    if type(elements) is not list:
        yield from islice(elements, done, None)
        return
    listed = cast("list[Any]", elements)
    while has(listed, done):
        yield listed[done]
        done += 1


def _backwards(elements: Any) -> Iterator[Any]:
    """`reversed`, of a list those elements that it has when they are asked for."""
    if type(elements) is not list:
        return reversed(elements)
    listed = cast("list[Any]", elements)
    return (listed[n] for n in takewhile(partial(has, listed), range(len(listed) - 1, -1, -1)))


def of_one(elements: Any) -> Steps | None:
    """The elements of a list or tuple that are one object, as those of `[x] * n`; None of others."""
    kind: Any = cast("Any", type(elements))
    some: Any = elements
    if kind not in (list, tuple) or not is_one(some):
        return None
    x = some[0]
    return _of_list(some, lambda k: x) if kind is list else Steps(len(some), lambda k: x)


def is_one(elements: Sequence[Any]) -> bool:
    """Whether elements are the same object, there more than once."""
    return len(elements) > 1 and all([x is elements[0] for x in elements])


def _pythons(elements: list[Any]) -> Steps | None:
    """The elements of a list that are Python's numbers, and lie in one array."""
    rows = rows_of(elements, is_weak=True)
    if rows is None:
        return None
    kind = Kind(elements[0].type, is_scalar=True, is_weak=True)
    return Steps(len(elements), lambda k: with_kind(rows[k].value, kind))


def _tuples(elements: list[Any]) -> Steps | None:
    """The elements of a list of tuples, of which each number lies in one array for all elements."""
    first = elements[0] if elements else None
    if len(elements) <= FEW or type(first) is not tuple or not all([type(x) is tuple for x in elements]):
        return None
    found = [flatten(x) for x in elements]
    if not found[0][0] or any([structure != found[0][1] for _, structure in found]):
        return None
    columns = [_column(list(parts)) for parts in zip(*[leaves for leaves, _ in found], strict=True)]
    if any([column is None for column in columns]):
        return None

    def at(k: Any) -> Any:
        return standing_for(unflatten(found[0][1], [cast("Steps", column).at(k) for column in columns]), elements, k)

    return Steps(len(elements), at)


def _column(elements: list[Any]) -> Steps | None:
    rows = rows_of(elements)
    return _pythons(elements) if rows is None else Steps(len(elements), lambda k: rows[k])


def _left_by_loops(elements: list[Any]) -> Steps | None:
    """The elements of a list of arrays, or of tuples of them, that loops have left, up to a few."""
    if len(elements) <= FEW or not isinstance(elements[len(elements) // 2], TracedArray | tuple):
        return None
    common = like(elements)
    if common is None or not are_mostly_rows(elements):
        return None
    parts = [(leaf, kind) for x in elements for leaf, kind in zip(common.leaves(x), common.kinds, strict=True)]
    are_of_one_kind = all([kind_of(as_traced(leaf)).is_like(kind) for leaf, kind in parts])
    return Steps(len(elements), lambda k: item(elements, k)) if are_of_one_kind else None


def scaled(k: Any, start: Any, step: Any) -> Any:
    """The k-th number of a range."""
    reached = k if isinstance(step, int) and step == 1 else k * step
    return reached if isinstance(start, int) and start == 0 else reached + start


def _dynamic(elements: Range) -> Steps:
    start, stop, step = elements.start, elements.stop, elements.step
    if elements.count is not None:
        return Steps(elements.count, lambda k: scaled(k, start, step))
    if not isinstance(step, int):
        return _by_traced_steps(start, stop, step)
    reach = stop - start if step > 0 else start - stop
    size = abs(step)
    count = reach if size == 1 else (reach + (size - 1)) // size
    return Steps(count, lambda k: scaled(k, start, step))


def _by_traced_steps(start: Any, stop: Any, step: Any) -> Steps:
    """The numbers of a range by a step that is not zero."""
    xp = cast("Any", np)
    if size_of(step).is_at_least(1):
        reach, size = stop - start, step
    else:
        is_up = step > 0
        reach, size = xp.where(is_up, stop - start, start - stop), xp.maximum(xp.abs(step), 1)
    count = with_kind(value_of(xp.maximum(reach + (size - 1), 0) // size, "i64"), INDEX)
    most = size_of(with_kind(value_of(reach, "i64"), INDEX)).range[1]
    note_range(count, 0, None if most is None else max(most, 0))
    return Steps(count, lambda k: scaled(k, start, step))


def _made(elements: Made) -> Steps | None:
    start = 0
    parts = elements.parts
    if elements.function is enumerate:
        start = parts[1] if len(parts) == 2 else 0
        parts = parts[:1]
    found = [steps_of(p) or of_one(p) for p in parts]
    if not found or any([s is None for s in found]):
        return None
    inner = cast("list[Steps]", found)
    first = inner[0]
    if elements.function is enumerate:
        return first.with_each(lambda x, k: (scaled(k, start, 1), x))
    if any([s.ended is not None for s in inner]):
        return None
    if elements.function is reversed:
        if first.is_endless:
            return None
        last = first.count - 1

        def is_left(n: int) -> bool:
            return n <= last and first.has(last - n)

        now = is_left if first.lists else None
        return Steps(first.count, lambda k: first.at(last - k), lists=first.lists, now=now)
    return _zipped(inner, is_strict=elements.is_strict)


def _zipped(parts: Sequence[Steps], *, is_strict: bool) -> Steps | None:
    """The tuples of `zip`, as many as the shortest part has elements."""
    counts = list(dict.fromkeys([size_of(s.count) for s in parts]))
    is_static = all([s.is_static for s in parts])
    if is_strict and is_static and len(counts) > 1:
        return None
    if is_static:
        count = min([s.count for s in parts])
    else:
        count = traced(counts[0])
        for other in counts[1:]:
            count = with_kind(value_of(cast("Any", np.minimum)(count, traced(other)), "i64"), INDEX)
    ended = partial(_unequal, parts, count) if is_strict and len(counts) > 1 else None
    lists = tuple([elements for s in parts for elements in s.lists])

    def have(n: int) -> bool:
        return all([s.has(n) for s in parts])

    now = have if lists and is_static else None
    return Steps(count, lambda k: tuple([s.at(k) for s in parts]), ended, lists=lists, now=now)


def _unequal(parts: Sequence[Steps], least: Any) -> None:
    """What `zip(…, strict=True)` raises after its last tuple, where its parts have not all `least` elements."""
    first, *others = [size_of(s.count).value for s in parts]
    low = size_of(least).value
    for n, count in enumerate(others, 1):
        text = f"than argument {n}" if n == 1 else f"than arguments 1-{n}"
        ends_first = logical_and(equal(count, low), less(count, first))
        goes_on = logical_and(equal(first, low), less(first, count))
        fail_if(ends_first, ValueError(f"zip() argument {n + 1} is shorter {text}"))
        fail_if(goes_on, ValueError(f"zip() argument {n + 1} is longer {text}"))


def offset(index: Value, factor: int, shift: int) -> Any:
    """The number of a step as a Python integer that is traced."""
    k = with_kind(index, INDEX)
    return scaled(k, shift, factor)
