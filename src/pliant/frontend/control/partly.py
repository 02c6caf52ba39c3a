"""Names that have a value only if a block was left in some of its ways, or if a flag holds.

for v in xs:                    where the step breaks, `found` has a value; where it goes on, it has none:
    if v > 1:                   an `Unbound` that holds the value, and that it has it by BREAK
        found = v; break
else:
    found = 0.0                 what comes after a `break` sees that value

if v > 0 and (w := f(v)) > 1:   where the condition holds, `w` has a value: the truth of `a and b` is a way as well
    total += w

for v in xs:                    where nothing tells in which way a block was left, a flag does: the steps carry it
    if v > 1: last = v          beside the value
return last                     fails if the flag does not hold, as Python does
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from itertools import count
from typing import Any, Final

from pliant.core.ir import const
from pliant.frontend.array import TracedArray
from pliant.frontend.control.region import Place, cells_of, note_missed
from pliant.frontend.control.signals import CONTINUE, FELL, TRUTH, Signal, possible_of
from pliant.frontend.control.unbound import Unbound, is_chosen
from pliant.frontend.convert import value_of
from pliant.frontend.failures import fail_if, marked
from pliant.frontend.missing import MISSING
from pliant.frontend.number import with_kind
from pliant.frontend.tracing import current, thread
from pliant.ops.bits import logical_not

_TRUTHS: Final = count(100)  # beyond the ways to leave a block


def is_void(content: Any) -> bool:
    """Whether a name has no value, or only by some ways."""
    return content is MISSING or _is_unbound(content)


def _is_unbound(content: Any) -> bool:
    """Whether something is an `Unbound` that is not one of two objects, which a name may be bound to."""
    return type(content) is Unbound and not is_chosen(content)


def ways_of(contents: Sequence[Any], signals: Sequence[Signal | None]) -> frozenset[int]:
    """The ways to leave one of two blocks by which a name has a value."""
    held = frozenset[int]()
    void = frozenset[int]()
    for content, signal in zip(contents, signals, strict=True):
        possible = possible_of(signal)
        own = _ways(content) if is_void(content) else possible
        held, void = held | own & possible, void | possible - own
    return held - void


def _ways(content: Any) -> frozenset[int]:
    return content.ways if type(content) is Unbound else frozenset()


def value_in(content: Any) -> Any:
    """What a name is bound to, by the ways by which it is, or if its flag holds; MISSING if there is nothing."""
    return content.value if _is_unbound(content) else content


def are_told(contents: Sequence[Any], signals: Sequence[Signal | None]) -> bool:
    """Whether the ways by which two blocks were left say all about a name: no flag is necessary."""
    held, void = frozenset[int](), frozenset[int]()
    for content, signal in zip(contents, signals, strict=True):
        if type(content) is Unbound and content.is_flagged:
            return False
        own = possible_of(signal) & (_ways(content) if is_void(content) else possible_of(signal))
        held, void = held | own, void | possible_of(signal) - own
    return not held & void


def may_be_asked(content: Any) -> bool:
    """Whether it can be told if a name has a value, at run time at the latest."""
    return content is not MISSING and (not _is_unbound(content) or content.flag is not None)


def flag_of(content: Any, signal: Any) -> Any:
    """Whether a name has a value where a block was left so; None if nothing says that."""
    if not _is_unbound(content):
        return None if content is MISSING else True
    if content.flag is False and content.ways:
        if signal is None:
            return FELL in content.ways
        return signal.is_one_of(*content.ways) if isinstance(signal, Signal) else None
    return content.flag


def is_flagged(content: Any) -> bool:
    """Whether a name has a value if a traced flag holds."""
    return type(content) is Unbound and content.is_flagged


def is_passed_on(content: Any) -> bool:
    """Whether a name may have a value after a step which others follow, and none after others, and that can be told."""
    return may_be_asked(content) and (is_flagged(content) or bool(_ways(content) & {FELL, CONTINUE}))


def unbound(before: Any) -> Any:
    """What a name is that has no value; before: what it was at first."""
    if type(before) is not Unbound or before.flag is not False:
        return MISSING
    return before.plain() if before.ways else before


def flagged(name: str, content: Any, signal: Signal | None = None) -> Unbound:
    """A name with a flag, whatever it is bound to. signal: how the block was left that did this."""
    flag = flag_of(content, signal)
    is_traced = type(flag) is TracedArray
    return Unbound.local(name, flag if is_traced else truth(is_true=flag is True), value_in(content))


def truth(*, is_true: bool) -> TracedArray:
    """A flag that is known."""
    return with_kind(const(is_true, "bool"), TRUTH)


def bound(content: Any) -> Any:
    """What a local name is bound to that may have no value where it is read, which is here."""
    if type(content) is not Unbound or content.flag is None:
        return content
    flag = content.flag
    if flag is not False and flag.concrete is not None:
        flag = bool(flag.concrete)
    if flag is True:
        return content.value
    note_missed(content.name)
    missing = UnboundLocalError(
        f"cannot access local variable {content.name!r} where it is not associated with a value", name=content.name
    )
    if flag is False:
        raise marked(missing)
    fail_if(logical_not(value_of(flag, "bool")), missing)
    return content.value


def settle(cells: Iterable[Place], ways: Iterable[int] = (), signal: Signal | None = None) -> None:
    """Bind names to the values that they have by all of the ways in which the block before was left; those that
    have none by one of them, or by ways that are not told, lose it, or get a flag if a signal tells the way."""
    known = frozenset(ways)
    for place in cells:
        content = place.get()
        if type(content) is Unbound and content.ways:
            if known and known <= content.ways:
                place.set(content.value)
            elif signal is not None and content.flag is False and known & content.ways:
                place.set(flagged(content.name, content, signal))
            else:
                place.set(content.plain())


def pass_on(cells: Iterable[Place], signal: Signal | None) -> None:
    """Leave names after a step, left so, to the steps that follow: for those a `continue` is as good as the end."""
    going = possible_of(signal) & {FELL, CONTINUE}
    for place in cells:
        content = place.get()
        if type(content) is not Unbound or not content.ways & going:
            continue
        ways = content.ways - going
        if possible_of(signal) <= content.ways:
            place.set(content.value)
        elif going <= content.ways:
            place.set(content.held(ways | {FELL}, content.value))
        elif content.flag is False:
            place.set(flagged(content.name, content, signal).held(ways, content.value))
        else:
            place.set(content.held(ways, content.value))


def partly_bound(block: Callable[..., Any]) -> list[Place]:
    """The names that a block shares which have a value only by some ways."""
    contents = [(place, place.get()) for place in cells_of(block.__code__.co_freevars, block)]
    return [place for place, content in contents if type(content) is Unbound and content.ways]


def new_truth() -> int:
    """The way of a condition that is being made."""
    return next(_TRUTHS)


def is_truth_of(test: Any, truth: int) -> None:
    """Note the way of a condition, a traced number."""
    current().outermost.truths[test.value] = truth


def truth_of(test: Any) -> int | None:
    """The way of a condition; None if it binds no names."""
    if type(test) is not TracedArray or thread.trace is None or not (truths := thread.trace.outermost.truths):
        return None
    return truths.get(test.value)


def value_if(content: Any, test: Any) -> Any:
    """What a name is bound to if a condition holds; MISSING if nothing is known of that."""
    if type(content) is Unbound and truth_of(test) in content.ways:
        return content.value
    return MISSING if is_void(content) else content


def settle_if(cells: Iterable[Place], test: Any, kept: Container[str] = ()) -> list[Place]:
    """Bind names to the values that they have if a condition holds, which does where they are read; but not those
    that are `kept` for reads where it does not hold: these are returned."""
    left: list[Place] = []
    for place in cells:
        content = place.get()
        if not _is_unbound(content) or (value := value_if(content, test)) is MISSING:
            continue
        if place.key in kept:
            left.append(place)
        else:
            place.set(value)
    return left
