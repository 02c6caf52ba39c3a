"""What `map`, `filter`, `itertools` and NumPy's iterators make of elements, as something that loops can go over.

for i, j in product(range(n), xs): …        for i in range(n):
                                                for j in xs: …
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator
from typing import Any, Final, cast, final

import numpy as np

from pliant.core.data import frozen
from pliant.core.types import Type
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.control.branch import negated
from pliant.frontend.control.chosen import is_callable
from pliant.frontend.control.items import ENDLESS, Made, Mapped, Steps, items, scaled, steps_of
from pliant.frontend.control.offsets import are_known
from pliant.frontend.convert import as_traced, result_dtype, short, value_of
from pliant.frontend.kinds import is_sequence
from pliant.frontend.number import Kind, with_kind
from pliant.frontend.ranges import are_integers
from pliant.frontend.runs import run_of
from pliant.frontend.sizes import Size, larger, size_of, traced


@final
@frozen
class Nest:
    """The elements of `inner(a)` for each element a of `outer`, one after the other."""

    outer: Any
    inner: Callable[[Any], Any]

    def __iter__(self) -> Iterator[Any]:
        for a in self.outer:
            yield from self.inner(a)


@final
@frozen
class Chain:
    """The elements of each part."""

    parts: tuple[Any, ...]

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain(*self.parts)


@final
@frozen
class Filtered:
    """The elements for which a test holds."""

    elements: Any
    test: Any

    def __iter__(self) -> Iterator[Any]:
        return filter(self.test, self.elements)


@final
@frozen
class Taken:
    """The elements before the first one for which a test does not hold."""

    elements: Any
    test: Callable[[Any], Any]

    def __iter__(self) -> Iterator[Any]:
        return itertools.takewhile(self.test, self.elements)


def has_steps(elements: Any) -> bool:
    """Whether a loop of the program can go over elements, or over parts of them."""
    match elements:
        case Nest():
            return True
        case Mapped():
            return has_steps(elements.elements)
        case Chain():
            return any(map(has_steps, elements.parts))
        case Filtered() | Taken():
            return has_steps(elements.elements)
        case _:
            return steps_of(elements) is not None


def iterated(function: Any, /, *args: Any, **options: Any) -> Any:
    """`function(*args, **options)`, which a loop is about to go over."""
    make = _MAKERS.get(function)
    if make is None:
        return items(function, *args, **options)
    made = make(*args, **options)
    return function(*args, **options) if made is None else made


def plain(x: Any) -> Any:
    """What a function gets for an argument that was kept as what it is: an iterator, as Python makes it."""
    return iter(x) if isinstance(x, Made | Mapped | Nest | Chain | Filtered | Taken | Steps) else x


def name_of(elements: Any) -> str:
    """What elements are, in Python's words."""
    match elements:
        case Made():
            return str(elements.function.__name__)
        case Mapped():
            return "map"
        case _:
            return type(elements).__name__


def is_known(function: Any) -> bool:
    """Whether a function makes something to go over by number."""
    try:
        return function in _MAKERS or function in _PLAIN
    except TypeError:  # not hashable
        return False


def _product(*pools: Any, repeat: int = 1) -> Any:
    if all(map(are_known, pools)) and not any(map(has_steps, pools)):
        return tuple(itertools.product(*pools, repeat=repeat))
    if not any(map(has_steps, pools)) or any([hasattr(p, "__next__") for p in pools]):
        return None
    return _product_of(tuple(map(_pool, pools)) * repeat)


def _product_of(pools: tuple[Any, ...]) -> Any:
    if not pools:
        return [()]
    first, rest = pools[0], pools[1:]
    if not rest:
        return Mapped(first, lambda a: (a,))
    return Nest(first, lambda a: Mapped(_product_of(rest), lambda others: (a, *others)))


def _pool(elements: Any) -> Any:
    """Elements as they are now: a product keeps the numbers of an array, or views of its rows."""
    is_row = type(elements) is TracedArray and len(elements.shape) == 1
    return fresh(elements.value, is_array=True) if is_row else elements


def _pairs(shift: int) -> Callable[..., Any]:
    """The pairs of elements, of which the second comes at least `shift` after the first."""

    def made(elements: Any, count: int) -> Any:
        steps = steps_of(_pool(elements))
        if count != 2 or steps is None or not steps.is_static:
            return None

        def after(i: Any) -> Any:
            return Mapped(items(range, i + shift, steps.count), lambda j: (steps.at(i), steps.at(j)))

        return Nest(range(steps.count), after)

    return made


def _mapped(function: Any, *elements: Any) -> Any:
    return Mapped(elements[0], function) if len(elements) == 1 else _star(function, Made(zip, elements))


def _star(function: Any, rows: Any) -> Any:
    return Mapped(rows, lambda row: function(*row))


def _filtered(test: Any, elements: Any) -> Any:
    return Filtered(elements, test)


def _filtered_out(test: Any, elements: Any) -> Any:
    def fails(x: Any) -> Any:
        return negated(x if test is None else test(x))

    return Filtered(elements, fails)


def _compressed(elements: Any, selectors: Any) -> Any:
    pairs = Made(zip, (elements, selectors))
    return Mapped(Filtered(pairs, operator.itemgetter(1)), operator.itemgetter(0))


def _taken(test: Any, elements: Any) -> Any:
    return Taken(elements, test)


def _from(start: Any = 0, step: Any = 1) -> Any:
    return Steps(ENDLESS, lambda k: scaled(k, start, step)) if are_integers((start, step)) else None


def _cycle(elements: Any) -> Any:
    steps = steps_of(_pool(elements))
    if steps is None or not steps.is_static or not steps.count or steps.is_endless:
        return None
    return Steps(ENDLESS, lambda k: steps.at(k % steps.count))


def _repeated(x: Any, times: Any = None) -> Any:
    return Mapped(range(ENDLESS) if times is None else items(range, times), lambda _: x)


def _chain(*parts: Any) -> Any:
    return Chain(parts)


def _joined(parts: Any) -> Any:
    return Nest(parts, lambda part: part)


def _pairwise(elements: Any) -> Any:
    steps = steps_of(elements)
    if steps is None:
        return None
    count = larger(size_of(steps.count) - 1, Size(0))
    return Steps(traced(count), lambda k: (steps.at(k), steps.at(k + 1)), steps.ended)


def part(elements: Any, *bounds: Any) -> Any:
    """`islice`; None where it is no part of counted elements."""
    steps = steps_of(elements)
    if steps is None or not all([b is None or isinstance(b, int) for b in bounds]):
        return None
    run = run_of(slice(*bounds), size_of(steps.count))
    return Steps(traced(run.count), lambda k: steps.at(scaled(k, traced(run.start), run.step)))


def _indices(*shape: Any) -> Any:
    extents: tuple[Any, ...] = tuple(shape[0]) if len(shape) == 1 and is_sequence(shape[0]) else shape
    return _product_of(tuple(map(range, extents))) if extents and all([type(n) is int for n in extents]) else None


def _arange(*args: Any, dtype: Any = None) -> Any:
    if not any([type(a) is TracedArray and a.concrete is None for a in args]) or not are_integers(args):
        return None
    kind = Kind(Type(short(dtype) if dtype is not None else result_dtype(*map(as_traced, args))), is_scalar=True)
    return Mapped(items(range, *args), lambda k: with_kind(value_of(k, kind.type.dtype), kind))


def _enumerated(array: Any) -> Any:
    if type(array) is not TracedArray or not array.shape:
        return None
    return Mapped(_indices(*array.shape), lambda place: (place, array[place]))


def is_called(function: Any, number: int, argument: Any) -> bool:
    """Whether an argument of a function that makes iterators is one that it calls, and not something to go over, such
    as a class of an Enum."""
    is_first = number == 0 and function in _CALLING
    return is_callable(argument) and (is_first or not hasattr(cast("Any", type(argument)), "__iter__"))


_CALLING: Final = frozenset((
    map, filter, itertools.starmap, itertools.takewhile, itertools.dropwhile, itertools.filterfalse,
))  # fmt: skip
_PLAIN: Final = frozenset({range, enumerate, zip, reversed})
_MAKERS: Final[dict[Any, Callable[..., Any]]] = {
    map: _mapped,
    filter: _filtered,
    itertools.product: _product,
    itertools.combinations: _pairs(1),
    itertools.combinations_with_replacement: _pairs(0),
    itertools.chain: _chain,
    itertools.chain.from_iterable: _joined,
    itertools.starmap: _star,
    itertools.pairwise: _pairwise,
    itertools.islice: part,
    itertools.filterfalse: _filtered_out,
    itertools.compress: _compressed,
    itertools.takewhile: _taken,
    itertools.count: _from,
    itertools.cycle: _cycle,
    itertools.repeat: _repeated,
    np.arange: _arange,
    np.ndindex: _indices,
    np.ndenumerate: _enumerated,
}
