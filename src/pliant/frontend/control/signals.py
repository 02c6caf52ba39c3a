"""How a block was left: to its end (None), or by `break`, `continue` or `return`."""

from __future__ import annotations

from typing import Any, Final, final

from pliant.core.data import frozen
from pliant.core.ir import const
from pliant.core.origin import here
from pliant.core.types import Type
from pliant.errors import UnsupportedError
from pliant.frontend.convert import value_of
from pliant.frontend.missing import MISSING
from pliant.frontend.number import Kind, with_kind
from pliant.ops.bits import logical_or
from pliant.ops.compare import equal
from pliant.ops.select import select

FELL: Final = 0
CONTINUE: Final = 1
BREAK: Final = 2
RETURN: Final = 3
CODE: Final = Kind(Type("i64"), is_scalar=True, is_weak=True)
LEFT: Final = "__pliant_left__"
"""The name of the signal of the body of a `try` or `with`, while its other parts have theirs."""
TRUTH: Final = Kind(Type("bool"), is_scalar=True, is_weak=True)


@final
@frozen
class Signal:
    """How a block was left, and what it returned. The code is one of `possible`; an int if there is
    only one, else a traced number."""

    possible: frozenset[int]
    code: Any
    result: Any = MISSING

    @property
    def is_known(self) -> bool:
        """Whether it is known while tracing how the block was left."""
        return isinstance(self.code, int)

    def is_one_of(self, *codes: int) -> Any:
        """Whether the block was left that way: a bool if that is known, else a traced one."""
        wanted = self.possible & set(codes)
        if not wanted or wanted == self.possible:
            return bool(wanted)
        code = value_of(self.code, "i64")
        value, *more = [equal(code, const(c, "i64")) for c in sorted(wanted)]
        for other in more:
            value = logical_or(value, other)
        return with_kind(value, TRUTH)


BROKEN: Final = Signal(frozenset((BREAK,)), BREAK)
CONTINUED: Final = Signal(frozenset((CONTINUE,)), CONTINUE)


def returned(result: Any) -> Signal:
    """The signal of `return result`."""
    return Signal(frozenset((RETURN,)), RETURN, result)


def code_of(signal: Signal | None) -> Any:
    """The code of a signal."""
    return FELL if signal is None else signal.code


def possible_of(signal: Signal | None) -> frozenset[int]:
    """The codes that a signal may have."""
    return frozenset((FELL,)) if signal is None else signal.possible


def without(signal: Signal | None, code: int) -> Signal | None:
    """A signal with one way of leaving taken as running to the end."""
    if signal is None or code not in signal.possible:
        return signal
    possible = signal.possible - {code} | {FELL}
    if len(possible) == 1:
        return None
    old = value_of(signal.code, "i64")
    new = select(equal(old, const(code, "i64")), const(FELL, "i64"), old)
    return Signal(possible, with_kind(new, CODE), signal.result)


def before_the_end(signal: Signal | None) -> Signal | None:
    """A signal of a block that was not run to its end."""
    if signal is None or FELL not in signal.possible:
        return signal
    possible = signal.possible - {FELL}
    return Signal(possible, next(iter(possible)) if len(possible) == 1 else signal.code, signal.result)


def settled(signal: Signal | None) -> Signal | None:
    """A signal that must be known while tracing."""
    if signal is None or signal.is_known:
        return signal
    raise UnsupportedError(
        "a block inside try or with is left under a condition that is known only at run time",
        hint="put the whole statement into a function, or compute a flag and test it after the block",
    ).at(("here", here()))
