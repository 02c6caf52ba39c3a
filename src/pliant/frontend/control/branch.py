"""`if`, conditional expressions, `and`, `or`, `not`, chained comparisons: plain Python where the condition
is known while tracing, else a `cond` of both blocks."""

from __future__ import annotations

from collections.abc import Callable, MappingView, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, NoReturn, TypeVar, cast, final

from pliant.core.data import frozen
from pliant.core.ir import Value
from pliant.errors import PliantError
from pliant.frontend.array import TracedArray
from pliant.frontend.bounded import Bounded
from pliant.frontend.certain import truth_by_ranges
from pliant.frontend.control import chosen, lists
from pliant.frontend.control.fronts import array_of_list, first_front, front_of
from pliant.frontend.control.growth import growth_of
from pliant.frontend.control.join import Join
from pliant.frontend.control.keyed import is_among, is_asked
from pliant.frontend.control.narrowed import follows, narrowed
from pliant.frontend.control.ornone import OrNone, equal, object_of
from pliant.frontend.control.ornone import truth as truth_of_object
from pliant.frontend.control.partly import is_truth_of, new_truth, partly_bound, settle, settle_if, truth_of
from pliant.frontend.control.perhaps import compared, whole
from pliant.frontend.control.recursion import under
from pliant.frontend.control.region import Outcome, Place, cells_of, outcome
from pliant.frontend.control.sections import are_equal, are_equal_to
from pliant.frontend.control.signals import FELL, TRUTH, Signal, before_the_end
from pliant.frontend.control.specials import binary, told
from pliant.frontend.control.syntax import COMPARISONS
from pliant.frontend.control.unbound import Unbound, choice_of
from pliant.frontend.convert import value_of
from pliant.frontend.failures import fail_if, failures_noted, is_seen, may_be_told, numbers_of_failures, refused
from pliant.frontend.guards import special
from pliant.frontend.number import with_kind
from pliant.frontend.printing import PRINTED
from pliant.frontend.selection import Selection
from pliant.frontend.tracing import current, is_tracing
from pliant.ops.bits import logical_not

Block = Callable[[], Any]
B = TypeVar("B", Block, "Block | None")


def is_open(test: Any) -> bool:
    """Whether a condition is a traced number without a value."""
    if growth_of(test) is not None or front_of(test) is not None:
        raise test[0].refused()
    return type(test) is TracedArray and test.concrete is None and is_tracing() and test.size == 1


def branch(
    test: Any, then: Block | None, otherwise: Block | None, rest: Block | None, names: Sequence[str], jumps: int
) -> Signal | None:
    """`if test: then` `else: otherwise`, and what follows if one of them may leave the block around it.

    names: what the blocks bind. jumps: 1 if `then` may leave, 2 if `otherwise` may, 3 if both.
    """
    test = _certain(test)
    if not is_open(test):
        chosen = then if test else otherwise
        signal = chosen() if chosen is not None else None
        return follow(signal, rest, names)
    cells = cells_of(names, then, otherwise, rest)
    then, cells = _settled(test, then, cells)
    if rest is None:
        return joined(test, then, otherwise, cells)
    current().outermost.branched.add(test.value)
    with under(test.value):
        return _with_rest(test, then, otherwise, rest, names, jumps, cells)


def _with_rest(
    test: Any, then: Block | None, otherwise: Block | None, rest: Block, names: Sequence[str], jumps: int,
    cells: Sequence[Place],
) -> Signal | None:  # fmt: skip
    """A branch by a traced condition, and what follows."""
    first, second = (otherwise, then) if jumps == 2 else (then, otherwise)
    left = trial(narrowed(test, first, cells, holds=jumps != 2), cells)
    second = narrowed(test, second, cells, holds=jumps == 2)
    later: Block = narrowed(test, partial(_followed, second, rest, names), cells, holds=jumps == 2)
    if isinstance(left, Raised):
        return _one_raises(test, left, later, is_then=jumps != 2)
    is_ended = left.result is not None and left.result.is_known
    right = trial(later if is_ended else second, cells)
    if isinstance(right, Raised):
        return _one_raises(test, right, partial(_followed, first, rest, names), is_then=jumps == 2)
    one, two = (right, left) if jumps == 2 else (left, right)
    signal = Join(value_of_test(test), one, two).finish(is_signal=True)
    return signal if is_ended else follow(signal, rest, names)


def _followed(block: Block | None, rest: Block, names: Sequence[str]) -> Signal | None:
    """A block and what follows."""
    return follow(block() if block is not None else None, rest, names)


@final
@frozen
class Raised:
    """A block of a branch that the user's function leaves by an exception."""

    error: Exception
    block: Block | None
    cells: Sequence[Place]
    is_more: bool  # whether it prints before, or may raise something else


def _one_raises(test: Any, side: Raised, other: Block | None, *, is_then: bool) -> Any:
    """The other one of two blocks, run as if nothing was raised: a call raises before anybody sees its results."""
    condition = value_of_test(test)
    if isinstance(side.error, StopIteration):  # of a `__next__`: the loop over that would not see it
        raise refused(side.error) from side.error
    condition = condition if is_then else logical_not(condition)
    if side.is_more:
        _leave_before(condition, side)
    fail_if(condition, side.error)
    return other() if other is not None else None


def _leave_before(condition: Value, side: Raised) -> None:
    """What a block prints, and may raise, before what it raises for sure; nothing else is left of it."""

    def block() -> None:
        with suppress(type(side.error)):
            (side.block or _nothing)()

    made = outcome(block, side.cells)
    left = numbers_of_failures()
    written = {s: value for s, value in made.written.items() if s.source is PRINTED or s in left}
    Join(condition, Outcome(made.region, None, {}, written), outcome(_nothing, ())).finish(is_signal=False)


def _one_of(
    test: Any, then: Block | None, otherwise: Block | None, cells: Sequence[Place], *, is_signal: bool,
    truth: int | None = None,
) -> Any:  # fmt: skip
    current().outermost.branched.add(test.value)
    with under(test.value):
        then = narrowed(test, then, cells, holds=True)
        otherwise = narrowed(test, otherwise, cells, holds=False)
        one, two = trial(then, cells), trial(otherwise, cells)
        if isinstance(one, Raised):
            return _one_raises(test, one, otherwise, is_then=True)
        if isinstance(two, Raised):
            return _one_raises(test, two, then, is_then=False)
        return Join(value_of_test(test), one, two).finish(is_signal=is_signal, truth=truth)


def follow(signal: Signal | None, rest: Block | None, names: Sequence[str]) -> Signal | None:
    """What follows a block, run if that ran to its end."""
    fell = True if signal is None else signal.is_one_of(FELL)
    if rest is None or fell is False:
        return signal
    partly = partly_bound(rest)
    if fell is True:
        settle(partly, (FELL,))
        return rest()

    def run() -> Signal | None:
        settle(partly, (FELL,))
        return rest()

    return joined(fell, run, lambda: before_the_end(signal), list(dict.fromkeys([*cells_of(names, rest), *partly])))


def joined(test: Any, then: Block | None, otherwise: Block | None, cells: Sequence[Place]) -> Any:
    """One of two blocks, by a traced condition."""
    return _one_of(test, then, otherwise, cells, is_signal=True)


def trial(block: Block | None, cells: Sequence[Place]) -> Outcome | Raised:
    """A block of a branch, in a region."""
    before = _said_and_raised()
    try:
        return outcome(block or _nothing, cells)
    except Exception as error:
        if may_be_told(error):
            return Raised(error, block, cells, _said_and_raised() > before)
        raise_if_run(error)


def raise_if_run(error: Exception) -> NoReturn:
    """Raise what a block fails with that may not be run: whether it is has to be known."""
    if isinstance(error, PliantError) and not is_seen(error):
        raise error
    is_deep = isinstance(error, RecursionError)
    hint = "a function may call itself as often as is known while tracing; write a while loop" if is_deep else ""
    raise refused(error, hint) from error


def _said_and_raised() -> int:
    """How often something was printed so far, or may have been raised."""
    return len(current().outermost.lines) + failures_noted()


def _nothing() -> None:
    """A block without statements."""


def value_of_test(test: Any) -> Any:
    """A traced condition as a value."""
    return value_of(test if not test.shape else test.reshape(()), "bool")


def choose(test: Any, then: Block, otherwise: Block, *, cells: Sequence[Place] = ()) -> Any:
    """`then if test else otherwise`. cells: the names that these bind."""
    test = _certain(test)
    if not is_open(test):
        return then() if test else otherwise()
    then, cells = _settled(test, then, cells)
    return _one_of(test, then, otherwise, cells, is_signal=False)


def _certain(test: Any) -> Any:
    """A condition, or what it is for certain."""
    found = truth_by_ranges(test.value) if is_open(test) else None
    return test if found is None else found


def _settled(test: Any, then: B, cells: Sequence[Place]) -> tuple[B, Sequence[Place]]:
    """A block that is run if a condition holds, with the names that this one binds, and the places it changes."""
    if then is None or truth_of(test) is None:
        return then, cells
    block, partly = then, partly_bound(then)

    def run() -> Any:
        settle_if(partly, test)
        return block()

    return cast("B", run), [*dict.fromkeys([*cells, *partly])]


def only_if(test: Any, block: Block) -> Any:
    """`block()`, run only if a condition holds; else something of the same kind that nobody looks at."""
    one, two = trial(block, ()), trial(None, ())
    if isinstance(one, Raised):
        raise one.error
    assert isinstance(two, Outcome)
    return Join(value_of_test(test), one, two).finish(is_signal=False, is_lone=True)


def both(first: Any, second: Block) -> Any:
    """`first and second`."""
    if type(first) is OrNone:
        return choose(truth_of_object(first, lists.asked), second, lambda: first)
    first = _certain(first)
    if not is_open(first):
        return first and second()
    last, run = _kept(second)
    truth = new_truth()
    made = _one_of(first, run, lambda: first, (), is_signal=False, truth=truth)
    follows(made, [first, *last], holds=True, of=True)
    if type(made) is TracedArray:
        is_truth_of(made, truth)
    return False if is_truth(first) and _is_known(last, value=False) else made


def either(first: Any, second: Block) -> Any:
    """`first or second`."""
    if type(first) is OrNone:
        return choose(truth_of_object(first, lists.asked), lambda: object_of(first), second)
    first = _certain(first)
    if not is_open(first):
        return first or second()
    last, run = _kept(second)
    made = choose(first, lambda: first, run)
    follows(made, [first, *last], holds=False, of=False)
    return True if is_truth(first) and _is_known(last, value=True) else made


def is_truth(x: TracedArray) -> bool:
    """Whether a condition is a truth value, and not a number that stands for one."""
    return x.type.dtype == "bool" and not x.shape


def _kept(block: Block) -> tuple[list[Any], Block]:
    """A block, and a list that will hold what it returns."""
    found: list[Any] = []

    def run() -> Any:
        found.append(block())
        return found[-1]

    return found, run


def _is_known(found: list[Any], *, value: bool) -> bool:
    """Whether a block has returned a truth value that is known while tracing."""
    return len(found) == 1 and type(found[0]) is bool and found[0] is value


def negated(x: Any) -> Any:
    """`not x`."""
    if not is_open(x):
        return not x
    made = choose(x, lambda: False, lambda: True)
    follows(made, [x], holds=True, of=False)
    follows(made, [x], holds=False, of=True)
    return made


def _is_in(x: Any, container: Any) -> Any:
    """`x in container`."""
    contains, is_tuple = special(container, "__contains__"), cast("Any", type(x)) is tuple
    if contains is not None:
        found = told(contains(x))
        return found if is_open(found) else bool(found)
    if type(container) in (Bounded, Selection) or (type(container) is TracedArray and container.concrete is None):
        return (container == x).any()
    if front_of(container) is not None:
        several = are_equal_to(cast("Any", container), x) if is_tuple else array_of_list(container) == x
        return lists.found(container, "in", several).any()
    if isinstance(container, range) and is_open(x):
        up = container if container.step > 0 else container[::-1]
        return both(up.start <= x, lambda: both(x < up.stop, lambda: (x - up.start) % up.step == 0))
    whole(container)
    is_listed = isinstance(container, list | tuple | set | frozenset | dict | MappingView)
    elements: list[Any] = [*cast("Any", container)] if is_listed else []
    if is_tuple and is_asked(elements, x):
        return is_among(elements, x)
    if not any(map(_is_undecided, (x, *elements))) or not is_listed:
        return x in cast("Any", container)
    found: Any = False
    for y in elements:
        found = either(found, lambda y=y: _are_alike(x, y))
    return found


def _as_bool(x: Any) -> Any:
    """A truth value as Python's, if it is known only at run time."""
    return with_kind(value_of_test(x), TRUTH) if is_open(x) else x


def _is_undecided(x: Any) -> bool:
    """Whether it may be known only at run time what an object is equal to."""
    is_sequence = type(x) in (list, tuple)
    return (
        any(map(_is_undecided, x))
        if is_sequence
        else type(x) in (Unbound, OrNone) or is_open(x) or chosen.is_stand_in(x)
    )


def _same(x: Any, y: Any) -> Any:
    """`x == y`: lists and tuples of traced numbers are equal if their elements are."""
    kind = cast("Any", type(x))
    compared(x, y)
    if OrNone in (kind, type(y)):
        return equal(x, y, _same)
    if Unbound in (kind, type(y)):
        return chosen.equal(x, y)
    if kind.__eq__ is object.__eq__ and type(y) is kind:
        return chosen.same(x, y)
    if kind not in (list, tuple) or type(y) is not kind or not is_tracing():
        return binary("eq", x, y)
    one, two = cast("tuple[Any, ...]", x), cast("tuple[Any, ...]", y)
    front = first_front(one, two)
    if front is None:
        found: Any = len(one) == len(two)
        for a, b in zip(one, two, strict=False):
            found = both(found, lambda a=a, b=b: _are_alike(a, b))
        return _as_bool(found)
    if not one or not two:
        return negated(lists.asked(one or two))
    made = are_equal(one, two)
    if made is None:
        raise front.refused("a comparison")
    return made


def _are_alike(x: Any, y: Any) -> Any:
    """Whether elements of two lists or tuples are equal: one object is, and what others say is asked for its truth."""
    if x is y:
        return True
    made = lists.asked(_same(x, y))
    return made if is_open(made) else bool(made)


def _differs(x: Any, y: Any) -> Any:
    """`x != y`."""
    kind = cast("Any", type(x))
    compared(x, y)
    is_asked = type(y) is kind and (kind in (list, tuple) or kind.__eq__ is object.__eq__)
    return negated(_same(x, y)) if is_asked or {Unbound, OrNone} & {kind, type(y)} else binary("ne", x, y)


def in_order(name: str, x: Any, y: Any) -> Any:
    """`x < y` and the like, by the name of the method: lists and tuples by the first elements that differ."""
    kind = cast("Any", type(x))
    if kind is Unbound and choice_of(x) is not None:  # of two words
        return chosen.told(x, lambda part: in_order(name, part, y))
    if type(y) is Unbound and choice_of(y) is not None:
        return chosen.told(y, lambda part: in_order(name, x, part))
    if kind not in (list, tuple) or type(y) is not kind or not is_tracing():
        return binary(name, x, y)
    one, two = cast("tuple[Any, ...]", x), cast("tuple[Any, ...]", y)
    front = first_front(one, two)
    if front is not None:
        raise front.refused("a comparison")

    def following(n: int) -> Any:
        if n == min(len(one), len(two)):
            return binary(name, len(one), len(two))
        a, b = one[n], two[n]
        return choose(_are_alike(a, b), lambda: following(n + 1), lambda: in_order(name, a, b))

    return following(0)


_COMPARISONS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    **{kind: partial(in_order, name) for kind, name in COMPARISONS.items()},
    "Eq": _same, "NotEq": _differs, "Is": chosen.same, "IsNot": lambda a, b: negated(chosen.same(a, b)),
    "In": lambda a, b: _as_bool(_is_in(a, b)), "NotIn": lambda a, b: negated(_is_in(a, b)),
}  # fmt: skip


def compare(kinds: Sequence[str], first: Any, *others: Block) -> Any:
    """`first < a < b`, each operand evaluated once, and only if it matters."""

    def following(left: Any, n: int) -> Any:
        right = others[n]()
        holds = _COMPARISONS[kinds[n]](left, right)
        return holds if n == len(others) - 1 else both(holds, lambda: following(right, n + 1))

    return following(first, 0)
