"""Comprehensions, and what Python's functions make of generators, as loops.

    sum(f(a) for a in xs if a > 0)      reduced(sum, 1, xs, lambda item: ((a > 0, lambda: f(a)) for a in item))

A clause is a function that yields, for each element it is given, whether it counts, and how to make what
comes of it: the element of the result or, if other clauses follow, what the next one goes over, and that clause.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import CodeType
from typing import Any, Final, TypeAlias, cast

from pliant.core.origin import here
from pliant.errors import UnsupportedError
from pliant.frontend.array import fresh
from pliant.frontend.control.branch import both, branch, choose, either, is_open
from pliant.frontend.control.effects import changing, store
from pliant.frontend.control.items import Mapped, steps_of
from pliant.frontend.control.iterators import has_steps, part
from pliant.frontend.control.loops import FEW, loop_of
from pliant.frontend.control.region import born
from pliant.frontend.control.tables import held, number_kind, numbers
from pliant.frontend.tracing import is_tracing

Clause: TypeAlias = Callable[[Any], Iterable[tuple[Any, Callable[[], Any]]]]
Use: TypeAlias = Callable[[Any], None]

VALUE: Final = "value"


def is_long(elements: Any) -> bool:
    """Whether it is worth a try to go over elements in a loop of the program."""
    if not is_tracing() or not has_steps(elements):
        return False
    steps = steps_of(elements)
    return steps is None or not steps.is_static or steps.count > FEW


def listed(depth: int, elements: Any, clause: Clause) -> list[Any]:
    """A list comprehension of so many clauses."""
    if not is_long(elements):
        return list(generated(depth, elements, clause))
    out = born(list[Any]())
    walk(depth, elements, clause, partial(_append, out))
    return out


def generated(depth: int, elements: Any, clause: Clause) -> Iterator[Any]:
    """The elements of a generator, one by one."""
    for holds, made in clause(elements):
        if holds:
            if depth > 1:
                yield from generated(depth - 1, *made())
            else:
                yield made()


def walk(depth: int, elements: Any, clause: Clause, use: Use, *, may_skip: bool = True) -> None:
    """Use every element of a generator, in a loop of the program. may_skip: whether there may be none."""

    def step(item: Any) -> None:
        for holds, made in clause((item,)):
            if not may_skip and is_open(holds):
                raise _without_elements()

            def rest(made: Callable[[], Any] = made) -> None:
                x = made()
                if depth > 1:
                    walk(depth - 1, x[0], x[1], use, may_skip=may_skip)
                else:
                    use(x)

            branch(holds, rest, None, None, (), 0)

    loop_of(elements, step, _code_of(clause))


def _without_elements() -> UnsupportedError:
    return UnsupportedError(
        "there may be no element to choose from, as conditions are known only at run time",
        hint="give those that do not count a value that is never chosen: max(v if c else -np.inf for ...)",
    ).at(("here", here()))


def _code_of(function: Callable[..., Any]) -> CodeType:
    return cast("Any", function).__code__


def folded(function: Any, go: Callable[[Use], None], *start: Any) -> Any:
    """`sum`, `any`, `all`, `max` or `min` of what `go` goes over."""
    first, step = FOLDS[function]
    state = born({VALUE: start[0] if start else first})
    go(lambda x: store(step(state[VALUE], x), state, VALUE))
    return state[VALUE]


def over(elements: Any) -> Callable[[Use], None]:
    """A walk over elements themselves."""
    return lambda use: loop_of(elements, use, _code_of(folded))


def every_one(elements: Any = ()) -> list[Any]:
    """`list`."""
    if not isinstance(elements, Mapped) or not is_long(elements):
        return list(elements)
    out = born(list[Any]())
    over(elements)(partial(_append, out))
    return out


def _append(out: list[Any], x: Any) -> None:
    changing(out, "append")
    out.append(x)


def reduction(function: Callable[[Any, Any], Any], elements: Any, *start: Any) -> Any:
    """`functools.reduce`."""
    rest = elements if start else part(elements, 1, None)
    if rest is None or not is_long(rest):
        return functools.reduce(function, elements, *start)
    state = born({VALUE: start[0] if start else next(iter(elements))})
    over(rest)(lambda x: store(function(state[VALUE], x), state, VALUE))
    return state[VALUE]


def accumulated(elements: Any, function: Any = None, *, initial: Any = None) -> Any:
    """`itertools.accumulate`, at once where that is a loop."""
    add = function or operator.add
    rest = elements if initial is not None else part(elements, 1, None)
    if rest is None or not is_long(rest):
        return itertools.accumulate(elements, add, initial=initial)
    first = next(iter(elements)) if initial is None else initial
    state, out = born({VALUE: first}), born([first])

    def use(x: Any) -> None:
        store(add(state[VALUE], x), state, VALUE)
        _append(out, state[VALUE])

    over(rest)(use)
    kind = number_kind(out)
    return out if kind is None else born(numbers(fresh(held(out, kind), is_array=True), kind))


def truth(x: Any) -> Any:
    """`bool(x)`."""
    return x != 0 if is_open(x) else bool(x)


def _preferred(is_better: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda best, x: x if best is None else choose(is_better(x, best), lambda: x, lambda: best)


FOLDS: Final[dict[Any, tuple[Any, Callable[[Any, Any], Any]]]] = {
    sum: (0, lambda total, x: total + x),
    any: (False, lambda found, x: either(found, lambda: truth(x))),
    all: (True, lambda found, x: both(found, lambda: truth(x))),
    max: (None, _preferred(lambda x, best: x > best)),
    min: (None, _preferred(lambda x, best: x < best)),
}
"""What each starts from, and how an element changes that."""
