"""Comprehensions, and what Python's functions make of generators, as loops.

    sum(f(a) for a in xs if a > 0)      reduced(sum, False, 1, xs, lambda item: ((a > 0, lambda: f(a)) for a in item))

A clause is a function that yields, for each element it is given, whether it counts, and how to make what
comes of it: the element of the result or, if other clauses follow, what the next one goes over, and that clause.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from types import CodeType
from typing import Any, Final, TypeAlias, cast, final

from pliant.core.origin import here
from pliant.errors import UnboundError, UnsupportedError
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.control.branch import both, branch, choose, either, is_open, negated, only_if
from pliant.frontend.control.effects import changing, store
from pliant.frontend.control.fronts import as_list, front_of
from pliant.frontend.control.growth import growth_of
from pliant.frontend.control.items import Made, Mapped, steps_of
from pliant.frontend.control.iterators import Filtered, Taken, has_steps, part
from pliant.frontend.control.loops import FEW, loop_of
from pliant.frontend.control.numbers import truth
from pliant.frontend.control.ornone import OrNone, object_of
from pliant.frontend.control.perhaps import in_known_order
from pliant.frontend.control.region import born
from pliant.frontend.control.specials import binary
from pliant.frontend.control.tables import held, number_kind, numbers
from pliant.frontend.control.unbound import Unbound
from pliant.frontend.convert import value_of
from pliant.frontend.failures import fail_if, failing_while
from pliant.frontend.sizes import Size, size_of
from pliant.frontend.tracing import is_tracing

Clause: TypeAlias = Callable[[Any], Iterable[tuple[Any, Callable[[], Any]]]]
Use: TypeAlias = Callable[[Any], None]
Last: TypeAlias = Callable[[Any, Callable[[], Any]], None]

VALUE: Final = "value"
KEY: Final = "key"
FOUND: Final = "found"


@final
class Scope:
    """The one scope in which a clause runs for all of its elements, so that functions made in it see, as Python's do,
    what the last element bound; it gives the clause its elements."""

    def __init__(self, clause: Clause) -> None:
        self.clause = clause
        self.item: Any = None
        self.inner: Scope | None = None
        self.running = iter(clause(self))

    @classmethod
    def of(cls, clause: Clause | Scope) -> Scope:
        """The scope of a clause, a new one if it has none yet."""
        return clause if isinstance(clause, Scope) else cls(clause)

    def __iter__(self) -> Scope:
        return self

    def __next__(self) -> Any:
        return self.item

    def entered(self, item: Any) -> tuple[Any, Callable[[], Any]]:
        """What the clause yields for an element."""
        self.item = item
        try:
            return next(self.running)
        except StopIteration:  # an error in a step that was tried has ended it
            self.running, self.inner = iter(self.clause(self)), None
            return next(self.running)

    def next_clause(self, made: tuple[Any, Clause]) -> tuple[Any, Scope]:
        """What the next clause goes over, and its scope: the same for all elements of this one."""
        self.inner = self.inner or Scope(made[1])
        return made[0], self.inner


def is_long(elements: Any) -> bool:
    """Whether it is worth a try to go over elements in a loop of the program."""
    if not is_tracing() or not has_steps(elements):
        return False
    steps = steps_of(elements)
    return steps is None or not steps.is_static or steps.count > FEW


def is_open_ended(elements: Any) -> bool:
    """Whether it is known only at run time how many elements there are."""
    steps = steps_of(elements)
    return steps is not None and not steps.is_static


def has_elements(elements: Any) -> Any:
    """Whether there are elements, of what may have none."""
    steps = steps_of(elements)
    count = 0 if steps is None else steps.count
    return True if size_of(count).is_at_least(1) else count > 0


def first_of(elements: Any, name: str) -> tuple[Any, ...]:
    """The first element, if a fold starts from it; name: of the fold, which is an error without elements."""
    steps = steps_of(elements)
    if steps is not None and not steps.is_static:
        fail_if(value_of(negated(has_elements(elements)), "bool"), ValueError(f"{name}() iterable argument is empty"))
        return (steps.at(0),)
    growth = growth_of(elements)
    return () if growth is None or not growth.before else (growth.item(0),)


def listed(depth: int, elements: Any, clause: Clause) -> list[Any]:
    """A list comprehension of so many clauses."""
    is_walked = isinstance(elements, list | tuple) and _are_few_or_traced(cast("list[Any]", elements))
    if not is_tracing() or not (is_walked or has_steps(elements)):
        return born(list(generated(depth, elements, clause)))
    out = born(list[Any]())
    walk(depth, elements, clause, partial(_append, out))
    return out


def _are_few_or_traced(elements: Sequence[Any]) -> bool:
    """Whether conditions on elements may be known only at run time, or there are so few that nothing is lost."""
    return len(elements) <= FEW or any([type(x) is TracedArray for x in elements])


def generated(depth: int, elements: Any, clause: Clause | Scope) -> Iterator[Any]:
    """The elements of a generator, one by one."""
    scope = Scope.of(clause)
    for item in elements:
        holds, made = scope.entered(item)
        if holds:
            if depth > 1:
                yield from generated(depth - 1, *scope.next_clause(made()))
            else:
                yield made()


def walk(depth: int, elements: Any, clause: Clause | Scope, use: Use, *, last: Last | None = None) -> None:
    """Use every element of a generator, in a loop of the program. last: what is done instead with the last
    clause's condition and how to make its element."""

    scope = Scope.of(clause)

    def step(item: Any) -> None:
        holds, made = scope.entered(item)
        if last is not None and (depth == 1 or is_open(holds)):
            if depth > 1:
                raise _without_elements()
            if is_open(holds) or holds:
                last(holds, made)
            return

        def rest() -> None:
            x = made()
            if depth > 1:
                walk(depth - 1, *scope.next_clause(x), use, last=last)
            else:
                use(x)

        branch(holds, rest, None, None, (), 0)

    loop_of(elements, step, _code_of(scope.clause))


def best(
    function: Any,
    depth: int,
    elements: Any,
    clause: Clause,
    key: Callable[[Any], Any] | None = None,
    **default: Any,
) -> Any:
    """`max` or `min` of a generator, by a key; where conditions leave no element, the default, or Python's error."""
    less = operator.gt if function is max else operator.lt
    # a loop that may have no step must know what the best one is: as the default, whatever it is taken for
    start = default["default"] if default and is_open_ended(elements) else None
    by = start if start is None or key is None else key(start)
    state: dict[str, Any] = born({VALUE: start, KEY: by, FOUND: False})
    may_be_none = False  # an element, or its key

    def there(name: str) -> Any:
        """What was found, if something was: where None is only what it starts from, nobody looks at it."""
        x = state[name]
        return object_of(x) if type(x) is OrNone and not may_be_none else x

    def keyed(made: Callable[[], Any]) -> tuple[Any, Any]:
        x = made()
        return x, x if key is None else key(x)

    def use(holds: Any, made: Callable[[], Any]) -> None:
        nonlocal may_be_none
        x, k = only_if(holds, lambda: keyed(made)) if is_open(holds) else keyed(made)
        may_be_none = may_be_none or any([one is None or type(one) is OrNone for one in (x, k)])
        found, old = state[FOUND], state[VALUE]
        better = both(holds, lambda: either(negated(found), lambda: precedes(k, there(KEY), less)))
        if found is False:  # so far nothing was looked at
            better = True
        chosen = choose(better, lambda: k, lambda: state[KEY])
        store(chosen if x is k else choose(better, lambda: x, lambda: old), state, VALUE)
        store(chosen, state, KEY)
        store(holds if found is False else either(found, lambda: holds), state, FOUND)

    walk(depth, elements, clause, lambda x: use(True, lambda: x), last=use)
    found = state[FOUND]
    if found is False:
        return function([], **default)
    if is_open(found) and not default:
        fail_if(value_of(negated(found)), _nothing_to_choose(function))
        return there(VALUE)
    return choose(found, lambda: there(VALUE), lambda: default["default"])


def _nothing_to_choose(function: Any) -> ValueError:
    """Python's error of a `max` or `min` of nothing."""
    try:
        function([])
    except ValueError as error:
        return error.with_traceback(None)
    raise AssertionError(function)


def precedes(x: Any, y: Any, less: Callable[[Any, Any], Any]) -> Any:
    """Whether an object comes before another one, by an order of numbers; tuples by the first part that differs."""
    if not isinstance(x, tuple) or not isinstance(y, tuple):
        return less(x, y)
    one, two = cast("tuple[Any, ...]", x), cast("tuple[Any, ...]", y)
    if not one or not two:
        return less(len(one), len(two))
    return either(less(one[0], two[0]), lambda: both(one[0] == two[0], lambda: precedes(one[1:], two[1:], less)))


def _without_elements() -> UnsupportedError:
    return UnsupportedError(
        "there may be no element to choose from, as conditions are known only at run time",
        hint="make a list of them first, and choose from that",
    ).at(("here", here()))


def _code_of(function: Callable[..., Any]) -> CodeType:
    return cast("Any", function).__code__


def folded(function: Any, go: Callable[[Use], None], *start: Any, is_lazy: bool = True) -> Any:
    """`sum`, `any`, `all`, `max` or `min` of what `go` goes over. is_lazy: Python makes no element that is not asked
    for."""
    first, step = FOLDS[function]
    state = born({VALUE: start[0] if start else first})

    def use(x: Any) -> None:
        store(step(state[VALUE], x), state, VALUE)

    try:
        if is_lazy and function in (any, all):
            with failing_while(undecided(function, state)):
                go(use)
        else:
            go(use)
    except UnboundError as error:
        if function is not sum or start or f"[{VALUE!r}]" not in error.message:
            raise
        raise _of_nothing() from error
    if function is sum and type(state[VALUE]) is Unbound:
        raise _of_nothing()
    return state[VALUE]


def _of_nothing() -> UnsupportedError:
    """The error of a `sum` of arrays of which there may be none."""
    return UnsupportedError(
        "sum() is an array, or 0 where conditions that are known only at run time leave nothing to add",
        hint="say what it starts from: sum(xs, np.zeros(3))",
    ).at(("here", here()))


def undecided(function: Any, state: dict[str, Any]) -> Callable[[], Any]:
    """Whether `any` or `all` asks for one more element, by what it has found."""
    return lambda: negated(state[VALUE]) if function is any else state[VALUE]


def over(elements: Any) -> Callable[[Use], None]:
    """A walk over elements themselves."""
    return lambda use: loop_of(elements, use, _code_of(folded))


def every_one(elements: Any = ()) -> list[Any]:
    """`list`."""
    in_known_order(elements)
    elements = as_list(elements)
    is_chosen = isinstance(elements, Filtered | Taken) and is_tracing() and has_steps(elements)
    if not is_chosen and (not is_long(elements) or not (isinstance(elements, Mapped) or is_open_ended(elements))):
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
    add = function or partial(binary, "add")
    front = front_of(elements)
    if front is not None:
        return _accumulated_front(elements, add, front.read(Size(0)) if initial is None else initial, initial is None)
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


def _accumulated_front(elements: list[Any], add: Callable[[Any, Any], Any], first: Any, is_own: bool) -> list[Any]:
    """The same of a list of which it is known only at run time how many elements it has. is_own: whether what it
    starts from is the first of them."""
    state, out = born({VALUE: first}), born([] if is_own else [first])

    def use(row: tuple[Any, Any]) -> None:
        k, x = row
        old = state[VALUE]
        store(choose(k == 0, lambda: x, lambda: add(old, x)) if is_own else add(old, x), state, VALUE)
        _append(out, state[VALUE])

    over(Made(enumerate, (elements,)))(use)
    return out


def _preferred(is_better: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda best, x: x if best is None else choose(is_better(x, best), lambda: x, lambda: best)


FOLDS: Final[dict[Any, tuple[Any, Callable[[Any, Any], Any]]]] = {
    sum: (0, partial(binary, "add")),
    any: (False, lambda found, x: either(found, lambda: truth(x))),
    len: (0, lambda count, _: count + 1),
    all: (True, lambda found, x: both(found, lambda: truth(x))),
    max: (None, _preferred(lambda x, best: precedes(x, best, operator.gt))),
    min: (None, _preferred(lambda x, best: precedes(x, best, operator.lt))),
}
"""What each starts from, and how an element changes that."""
