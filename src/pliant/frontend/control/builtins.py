"""Python's functions that ask numbers for their truth, and NumPy's types of scalars, for traced numbers."""

from __future__ import annotations

import bisect
import builtins
import collections
import contextlib
import functools
import heapq
import itertools
import operator
from collections.abc import Callable, Iterable
from functools import partial
from types import BuiltinFunctionType
from typing import Any, Final, cast

import numpy as np

from pliant.core.origin import here
from pliant.errors import UnsupportedError
from pliant.frontend.adopt import has_traced
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.control import bisection
from pliant.frontend.control.branch import both, choose, either, in_order, is_open, negated
from pliant.frontend.control.classes import class_of, is_instance
from pliant.frontend.control.comprehension import (
    FOLDS,
    VALUE,
    Clause,
    Scope,
    accumulated,
    best,
    every_one,
    first_of,
    folded,
    generated,
    has_elements,
    is_long,
    is_open_ended,
    listed,
    over,
    precedes,
    reduction,
    undecided,
    walk,
)
from pliant.frontend.control.deques import made_of
from pliant.frontend.control.effects import advanced, assign, deleted, dict_of, put_item, store, undone
from pliant.frontend.control.fronts import front_of
from pliant.frontend.control.handlers import Suppressed
from pliant.frontend.control.items import Mapped, steps_of
from pliant.frontend.control.iterators import iterated, part
from pliant.frontend.control.lists import asked, length
from pliant.frontend.control.numbers import NUMBERS, truth
from pliant.frontend.control.ordering import largest, ordered, smallest
from pliant.frontend.control.ornone import present
from pliant.frontend.control.pushed import Pushed
from pliant.frontend.control.region import born, changes
from pliant.frontend.control.specials import binary, operator_of, unary
from pliant.frontend.control.unbound import ends_of, is_chosen
from pliant.frontend.control.walked import left_early
from pliant.frontend.convert import as_traced, check_real, short, stored
from pliant.frontend.failures import failing_while
from pliant.frontend.guards import special
from pliant.frontend.kinds import as_tuple, is_sequence
from pliant.frontend.nditer import Broadcast, NdIter
from pliant.frontend.number import is_number
from pliant.frontend.sizes import note_range, size_of
from pliant.frontend.tracing import current, is_tracing


def least(*args: Any, key: Callable[[Any], Any] | None = None, **default: Any) -> Any:
    """`min`: the first of the smallest."""
    return _chosen(builtins.min, partial(in_order, "lt"), args, key, default)


def greatest(*args: Any, key: Callable[[Any], Any] | None = None, **default: Any) -> Any:
    """`max`: the first of the largest."""
    return _chosen(builtins.max, partial(in_order, "gt"), args, key, default)


def _chosen(
    plain: Callable[..., Any],
    less: Callable[[Any, Any], Any],
    args: tuple[Any, ...],
    key: Callable[[Any], Any] | None,
    default: dict[str, Any],
) -> Any:
    is_open_one = len(args) == 1 and is_tracing() and is_open_ended(args[0])
    if default and is_open_one:
        return choose(has_elements(args[0]), lambda: _chosen(plain, less, args, key, {}), lambda: default["default"])
    if len(args) == 1 and key is None and is_long(args[0]):
        return folded(plain, over(args[0]), *first_of(args[0], plain.__name__))
    if key is not None and is_open_one:
        (first,) = first_of(args[0], plain.__name__)
        pairs = Mapped(args[0], lambda x: (x, key(x)))
        return reduction(lambda b, x: _better(precedes(x[1], b[1], less), x, b), pairs, (first, key(first)))[0]
    items = list(args[0]) if len(args) == 1 else list(args)
    keys = items if key is None else [key(item) for item in items]
    parts = [part for k in keys for part in as_tuple(k)]
    if not any([type(x) is TracedArray or special(x, "__lt__") or special(x, "__gt__") for x in parts]):
        return plain(items, key=key, **default)
    chosen = items[0], keys[0]
    for found in zip(items[1:], keys[1:], strict=True):
        chosen = _better(precedes(found[1], chosen[1], less), found, chosen)
    return _named(chosen[0], plain.__name__)


def _named(x: Any, name: str) -> Any:
    """One of several elements; an error of its use speaks of the function that chose it."""
    if not is_chosen(x) or not all(map(is_number, ends_of(x))):
        return x
    kinds = " or ".join(sorted({str(as_traced(end).type) for end in ends_of(x)}))
    return x.saying(
        f"{name} returns an element that is {kinds}, and which one is known only at run time",
        f"make them alike, as by float(x) or x.item() of arrays that hold one number, before {name} compares them",
    )


def _better(test: Any, found: tuple[Any, Any], best: tuple[Any, Any]) -> tuple[Any, Any]:
    """The item and key to keep, by a test that may be open."""
    test = asked(test)
    if not is_open(test):
        return found if test else best
    chosen = choose(test, lambda: found[1], lambda: best[1])
    is_own_key = found[0] is found[1] and best[0] is best[1]
    return (chosen if is_own_key else choose(test, lambda: found[0], lambda: best[0])), chosen


def _errstate(**options: Any) -> Any:
    """`np.errstate`: what it ignores or warns of needs no care."""
    for name, way in options.items():
        if way in ("raise", "call"):
            raise UnsupportedError(
                f"np.errstate({name}={way!r}) has no effect on compiled code",
                hint="look at the result: if not np.isfinite(y).all(): raise FloatingPointError",
            ).at(("here", here()))
    return np.errstate(**options)


def _unchanging(items: Any, function: Any) -> None:
    """An error if to make the elements of `map`, or of a generator, changes something, which is not done for those
    after the decision."""
    if not is_tracing():
        return
    is_map = isinstance(items, Mapped) and not hasattr(items.elements, "__next__")
    is_generator = type(items) is Pushed and items.running is None
    if (is_map or is_generator) and changes(lambda: over(items)(lambda _: None)):
        raise UnsupportedError(
            f"{function.__name__}({'map(f, xs)' if is_map else 'generator()'}) of a function that changes something",
            hint=f"write {function.__name__}(f(x) for x in xs), or a for loop with a break",
        ).at(("here", here()))


def _told(items: Any, found: Any) -> Any:
    """What `any` or `all` has found. An iterator is where that was: nobody knows where, if nobody knows what."""
    if is_open(found) and hasattr(items, "__next__"):
        left_early(items)
    return found


def some(items: Iterable[Any]) -> Any:
    """`any`."""
    _unchanging(items, any)
    if is_long(items):
        return _told(items, folded(any, over(items)))
    found: Any = False
    with failing_while(lambda: negated(found)):
        for item in items:
            found = either(found, lambda item=item: truth(item))
            if found is True:
                break
    return _told(items, found)


def every(items: Iterable[Any]) -> Any:
    """`all`."""
    _unchanging(items, all)
    if is_long(items):
        return _told(items, folded(all, over(items)))
    found: Any = True
    with failing_while(lambda: found):
        for item in items:
            found = both(found, lambda item=item: truth(item))
            if found is False:
                break
    return _told(items, found)


def total(items: Iterable[Any], start: Any = 0) -> Any:
    """`sum`."""
    front = front_of(items)
    if front is not None and front.form.low.is_at_least(1):  # it starts from what may be an array
        return folded(sum, over(part(items, 1, None)), start + front.item(0))
    if is_long(items):
        return folded(sum, over(items), *([start] if type(start) is not int or start else []))
    found = list(items)
    is_of_objects = any([special(x, "__add__") or special(x, "__radd__") for x in found])
    return functools.reduce(partial(binary, "add"), found, start) if is_of_objects else builtins.sum(found, start)


def reduced(
    function: Any, is_list: bool, depth: int, elements: Any, clause: Clause, /, *more: Any, **options: Any
) -> Any:
    """`function(generator, *more)`. is_list: it is a list comprehension, which a function gets that is not Python's of
    this name."""
    if function not in _GIVEN_ELEMENTS:
        made = listed(depth, elements, clause) if is_list else generated(depth, elements, clause)
        return (current().outermost.see(function) if is_tracing() else function)(made, *more, **options)
    if function is list:
        return listed(depth, elements, clause)
    if function is tuple:
        return tuple(listed(depth, elements, clause))
    if function is sorted:
        return ordered(listed(depth, elements, clause), **options)
    is_walked = is_long(elements) or (function in _OF_ALL and is_tracing())
    if function not in FOLDS or not is_walked:
        plain: Callable[..., Any] = BUILTINS[function]
        made = generated(depth, elements, clause)
        return plain(list(made) if function in (any, all) else made, *more, **options)
    if function in (builtins.max, builtins.min):
        if is_open_ended(elements) and "default" not in options:
            return BUILTINS[function](listed(depth, elements, clause), **options)
        return best(function, depth, elements, clause, **options)
    start = [options["start"]] if "start" in options else more  # of a sum
    made = folded(function, partial(walk, depth, elements, clause), *start, is_lazy=False)
    steps = steps_of(elements) if function is len and depth == 1 and is_open(made) else None
    if steps is not None:  # there are not more than it goes over
        note_range(made, 0, size_of(steps.count).range[1])
    return made


def _found(elements: Iterable[Any], clause: Clause, *, is_any: bool) -> Any:
    """`any` or `all` of a generator over a few elements."""
    scope, found = Scope.of(clause), cast("Any", not is_any)

    def holding(holds: Any, made: Callable[[], Any]) -> Any:
        """What an element adds whose condition is known only at run time."""
        test = holds if is_any else negated(holds)
        return (both if is_any else either)(test, lambda: truth(made()))

    with failing_while(lambda: negated(found) if is_any else found):
        for item in elements:
            holds, made = scope.entered(item)
            if not is_open(holds) and not holds:
                continue
            x = None if is_open(holds) else made()
            rest = partial(holding, holds, made) if is_open(holds) else partial(truth, x)
            found = (either if is_any else both)(found, rest)
            if found is is_any:
                break
    return found


def searched(function: Any, depth: int, elements: Any, clause: Clause, is_lazy: bool | None) -> Any:
    """`any(generator)` or `all(generator)`. is_lazy: no element is made after the one that decides, as they bind names;
    else they may be made, but nothing of that is seen. None: unless to make them changes something."""
    is_any = function is any
    if function not in (any, all):
        return reduced(function, False, depth, elements, clause)

    def eager() -> Any:
        if is_long(elements):
            return folded(function, partial(walk, depth, elements, clause))
        if depth == 1 and is_tracing():
            return _found(elements, clause, is_any=is_any)
        return BUILTINS[function](generated(depth, elements, clause))

    if is_lazy is None:
        is_lazy = is_tracing() and not hasattr(elements, "__next__") and changes(eager)
    if not is_lazy:
        return _told(elements, eager())
    state = born({VALUE: not is_any})

    def look(holds: Any, made: Callable[[], Any]) -> None:
        rest = (lambda: both(holds, lambda: truth(made()))) if is_any else (
            lambda: either(negated(holds), lambda: truth(made()))
        )  # fmt: skip
        store(either(state[VALUE], rest) if is_any else both(state[VALUE], rest), state, VALUE)

    with failing_while(undecided(function, state)):
        walk(depth, elements, clause, lambda x: look(True, lambda: x), last=look)
    return state[VALUE]


_GIVEN_ELEMENTS: Final = frozenset((*FOLDS, list, tuple, sorted))
_OF_ALL: Final = frozenset((builtins.sum, builtins.len, builtins.max, builtins.min))  # look at every element


def _maker(kind: Any) -> Callable[..., Any]:
    """A NumPy type of scalars, called: a cast of what is traced."""

    def made(*args: Any) -> Any:
        x = present(args[0]) if len(args) == 1 else None
        if is_sequence(x) and has_traced(x):
            return fresh(stored(x, short(kind)), is_array=True)
        if type(x) is not TracedArray or x.concrete is not None:
            return kind(*args)
        check_real(x, short(kind))
        return fresh(stored(x, short(kind))) if x.is_weak else x.astype(kind)

    return made


def _tuple(elements: Iterable[Any] = ()) -> tuple[Any, ...]:
    return tuple(every_one(elements))


def _places(array: Any) -> Any:
    """`np.ndenumerate`, where no loop goes over it."""
    return iter(iterated(np.ndenumerate, array))


def _traced(function: Any) -> Any:
    """A function that is passed on, as a traced function calls it."""
    return BUILTINS.get(function, function) if isinstance(function, type | BuiltinFunctionType) else function


def _reduction(function: Any, elements: Any, *start: Any) -> Any:
    return reduction(_traced(function), elements, *start)


def _accumulated(elements: Any, func: Any = None, *, initial: Any = None) -> Any:
    return accumulated(elements, _traced(func), initial=initial)


def _set(holder: Any, name: str, value: Any) -> None:
    """`setattr`."""
    assign(value, holder, name)


_SCALARS: Final = (
    np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64,
    np.float16, np.float32, np.float64, np.complex64, np.complex128,
)  # fmt: skip

_BINARY: Final = (
    "add sub mul truediv floordiv mod pow matmul lshift rshift and or xor lt le gt ge eq ne"
).split()  # fmt: skip

BUILTINS: Final[dict[Any, Callable[..., Any]]] = {
    builtins.min: least,
    builtins.max: greatest,
    builtins.any: some,
    builtins.all: every,
    builtins.len: length,
    builtins.abs: partial(unary, "abs"),
    builtins.sum: total,
    builtins.isinstance: is_instance,
    builtins.type: class_of,
    builtins.list: every_one,
    builtins.tuple: _tuple,
    builtins.sorted: ordered,
    functools.reduce: _reduction,
    itertools.accumulate: _accumulated,
    bisect.bisect_left: bisection.left,
    bisect.bisect_right: bisection.right,
    bisect.insort_left: bisection.insort_left,
    bisect.insort_right: bisection.insort_right,
    heapq.nlargest: largest,
    heapq.nsmallest: smallest,
    builtins.next: advanced,
    collections.deque: partial(made_of, every_one),
    builtins.setattr: _set,
    builtins.delattr: undone,
    builtins.vars: dict_of,
    contextlib.suppress: Suppressed,
    np.ndenumerate: _places,
    np.nditer: NdIter,
    np.broadcast: Broadcast,
    operator.setitem: put_item,
    operator.delitem: deleted,
    np.errstate: _errstate,
    **{kind: _maker(kind) for kind in _SCALARS},
    **{operator_of(name): partial(binary, name) for name in _BINARY},
    **NUMBERS,
}
"""What a traced function calls instead."""
