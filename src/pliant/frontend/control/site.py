"""A loop of the user's program while it is run: what it binds, how it is left, and what follows it then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from types import CodeType
from typing import Any, Final, final

from pliant.core.data import mutable
from pliant.core.ir import Value
from pliant.core.origin import Origin, here
from pliant.errors import PliantError, UnsupportedError
from pliant.frontend.control.branch import Block, joined, raise_if_run
from pliant.frontend.control.partly import pass_on, settle, settle_if
from pliant.frontend.control.plan import Captured, NotInductive, Plan
from pliant.frontend.control.recalled import captured
from pliant.frontend.control.region import Place, cells_of, depth
from pliant.frontend.control.report import failed_before
from pliant.frontend.control.signals import BREAK, CONTINUE, FELL, Signal, before_the_end, possible_of, without
from pliant.frontend.failures import may_be_told
from pliant.frontend.needs import can_be_known, needing

PEELED: Final = 2  # steps that may come before the state has a form
LIMIT: Final = 10_000  # copies of a body


@final
@mutable
class Site:
    """A loop of the user's program, being run."""

    body: Callable[..., Any]
    orelse: Block | None
    cells: list[Place]
    live: frozenset[str]
    kept: frozenset[str]
    ends: bool
    more: Sequence[str]
    where: Origin
    code: CodeType  # by which it is known
    lone: frozenset[str] = frozenset()  # names of lists that nothing else refers to
    is_part: bool = False  # of a loop, to which it leaves what a `break` means
    reason: str = ""  # why it could not be captured at first
    changed: Origin | None = None  # what changes its state so
    is_late: bool = False  # whether it may be after one more step
    needed: Value | None = None  # if its step raises for sure: the number of steps, or whether there is one

    @classmethod
    def of(cls, body: Callable[..., Any], orelse: Block | None, names: Sequence[Any]) -> Site:
        """The loop with a body; names: what it binds, reads first, what is read after it, whether it may
        end itself, what the `else` binds, and maybe which are of lists that nothing else refers to."""
        bound, live, kept, ends, more, *lone = names
        sets = frozenset(live), frozenset(kept)
        return cls(body, orelse, cells_of(bound, body), *sets, ends, more, here(), body.__code__, frozenset(*lone))

    def finished(self, signal: Signal | None) -> Signal | None:
        """The `else` of the loop, unless it was left; how the whole statement was left."""
        if self.is_part:
            return signal
        fell = True if signal is None else signal.is_one_of(FELL)
        if self.orelse is None or fell is False:
            settle(self.cells, possible_of(signal), signal)
            return without(signal, BREAK)
        if fell is True:
            settle(self.cells, (FELL,))
            return self.orelse()
        after = without(before_the_end(signal), BREAK)
        ways = possible_of(signal) - {FELL}
        return joined(fell, self.fallen(self.orelse), self.going_on(ways, signal, after), self.all_cells)

    def step(self, *item: Any) -> Signal | None:
        """A step that is run by itself, and how it was left: a `continue` is as good as the end."""
        signal = self.body(*item)
        pass_on(self.cells, signal)
        return without(signal, CONTINUE)

    def fallen(self, block: Block) -> Block:
        """A block that follows steps which were not left."""

        def run() -> Signal | None:
            settle(self.cells, (FELL,))
            return block()

        return run

    def going_on(self, ways: frozenset[int], signal: Signal | None, after: Signal | None) -> Block:
        """The block of no statements after steps which were left in some of the ways. after: how it is left itself."""

        def run() -> Signal | None:
            settle(self.cells, ways, signal)
            return after

        return run

    def part(self, body: Callable[[Any], Any], *, is_last: bool) -> Site:
        """The same loop over some of its elements, with another body. is_last: whether nothing comes after them."""
        carried = self.live | self.kept
        kept = self.kept if is_last else carried
        return replace(self, body=body, orelse=None, live=carried, kept=kept, is_part=True)

    @property
    def all_cells(self) -> list[Place]:
        """What the loop and its `else` bind."""
        return [*self.cells, *cells_of(self.more, self.orelse)]

    def left(self, signal: Signal, rest: Block) -> Signal | None:
        """The rest of a loop after a step that ended it, or may have."""
        going = signal.is_one_of(FELL)
        if going is False:
            return self.finished(signal)
        after = before_the_end(signal)
        after = after if self.is_part else without(after, BREAK)
        left = self.going_on(signal.possible - {FELL}, signal, after)
        return joined(going, self.fallen(rest), left, self.all_cells)

    def after_one(self, holds: Any, first: Block, rest: Block) -> Signal | None:
        """A step, if there is one, and the loop that follows: what is a Python number before the first step may be one
        of NumPy's after it, and what every step raises is raised only if there is one."""

        def run() -> Signal | None:
            settle_if(self.cells, holds)
            signal = first()
            return rest() if signal is None else self.left(signal, rest)

        with nullcontext() if self.needed is None else needing(self.needed):
            return joined(holds, run, lambda: self.finished(None), self.all_cells)

    def required(self, plan: Plan, holds: Any, peeled: int, count: Any = None) -> Captured | None:
        """The step of a loop that cannot be unrolled; None if one more than `peeled` steps have to come before it, or
        if it raises for sure. holds: whether there is one. count: how many there are, if that is known before them."""
        needed = holds.value if count is None else count.value
        try:
            with needing(needed):
                return captured(plan)
        except NotInductive as error:
            if not self.reason:
                self.reason, self.changed = error.reason, error.where
            if error.is_of_types and peeled < PEELED and not can_be_known(holds.value):
                return None
            raise self.unending(self.reason).needing(needed) from None
        except Exception as error:
            if not may_be_told(error):
                with needing(needed):
                    raise_if_run(error)
            if peeled > PEELED:
                raise
            self.needed = needed
            return None

    def unending(self, reason: str, hint: str = "") -> UnsupportedError:
        """The error of a loop that is none of the program and cannot be unrolled. hint: what to do about the reason."""
        places = [("in this loop", self.where)]
        if self.changed is not None:
            places = [("changed here", self.changed), *places]
        return UnsupportedError(
            f"how many steps this loop has is known only at run time, and {reason}",
            hint=hint
            or "keep the state of one type and shape; lists that grow need a bound: for _ in range(most), and a break",
        ).at(*places)

    def too_long(self, count: int) -> UnsupportedError:
        """The error of a loop that would be copied too often."""
        reason, _ = failed_before(self.code, depth())
        return UnsupportedError(
            f"this loop would be unrolled {count} times, as it is no loop of the program: {reason or count}",
            hint="pliant.explain says what keeps each loop from being one",
        ).at(("this loop", self.where))


def hint_of(error: Exception) -> str:
    """What an error tells to do instead."""
    return error.hint if isinstance(error, PliantError) else ""


def reason_of(error: Exception) -> str:
    """What an error says, and where it arose."""
    if not isinstance(error, PliantError):
        return f"{type(error).__name__}: {error}"
    return error.message + "".join([f" ({origin.short})" for _, origin in error.places[:1]])
