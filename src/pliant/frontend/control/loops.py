"""`for` and `while` of the user's program: one loop of the program where a step keeps the form of its state,
else as many copies of the body as there are steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import CodeType
from typing import Any, Final, final

from pliant.core.frozen import frozen
from pliant.core.ir import Value
from pliant.core.origin import Origin, here
from pliant.core.scope import current_scope
from pliant.errors import PliantError, UnsupportedError
from pliant.frontend.control.branch import Block, both, choose, is_open, joined
from pliant.frontend.control.emit import counted, repeated
from pliant.frontend.control.induction import captured
from pliant.frontend.control.items import Mapped, Steps, offset, steps_of
from pliant.frontend.control.iterators import Chain, Filtered, Nest, has_steps, name_of
from pliant.frontend.control.partly import partly_bound, settle, settle_if
from pliant.frontend.control.plan import Captured, NotInductive, Plan
from pliant.frontend.control.region import Place, cells_of, depth
from pliant.frontend.control.report import Report, failed_before, report
from pliant.frontend.control.signals import BREAK, CONTINUE, FELL, RETURN, Signal, possible_of, without
from pliant.frontend.convert import value_of
from pliant.frontend.failures import is_going_on
from pliant.frontend.needs import can_be_known, needing
from pliant.frontend.sizes import size_of
from pliant.frontend.tracing import is_tracing

FEW: Final = 4  # steps that are not worth a loop
HEAVY: Final = 200  # operations of a step of which no two are to be compiled
PEELED: Final = 2  # steps that may come before the state has a form
PLAIN_STEPS: Final = 50  # of a `while` whose condition is known, before it is tried as a loop
LIMIT: Final = 10_000  # copies of a body
NESTED: Final = 40  # copies of a body, each under a condition inside the one before


@final
@frozen
class Ending:
    """No elements: what happens where one is asked for after the last."""

    reached: Callable[[], None]


@final
@dataclass
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
    is_part: bool = False  # of a loop, to which it leaves what a `break` means
    reason: str = ""  # why it could not be captured at first

    @classmethod
    def of(cls, body: Callable[..., Any], orelse: Block | None, names: Sequence[Any]) -> Site:
        """The loop with a body; names: what it binds, reads first, what is read after it, whether it may
        end itself, and what the `else` binds."""
        bound, live, kept, ends, more = names
        return cls(
            body, orelse, cells_of(bound, body), frozenset(live), frozenset(kept), ends, more, here(), body.__code__
        )

    def finished(self, signal: Signal | None) -> Signal | None:
        """The `else` of the loop, unless it was left; how the whole statement was left."""
        if self.is_part:
            return signal
        after = without(signal, BREAK)
        fell = True if signal is None else signal.is_one_of(FELL)
        ways = possible_of(signal) - {FELL}
        if self.orelse is None or fell is False:
            settle(self.cells, ways if fell is False else ())
            return after
        if fell is True:
            settle(self.cells)
            return self.orelse()
        return joined(fell, self.fallen(self.orelse), self.going_on(ways, after), self.all_cells)

    def fallen(self, block: Block) -> Block:
        """A block that follows steps which were not left."""

        def run() -> Signal | None:
            settle(self.cells)
            return block()

        return run

    def going_on(self, ways: frozenset[int], signal: Signal | None) -> Block:
        """The block of no statements after steps which were left in some of the ways."""

        def run() -> Signal | None:
            settle(self.cells, ways)
            return signal

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
        left = self.going_on(signal.possible - {FELL}, signal if self.is_part else without(signal, BREAK))
        return joined(going, self.fallen(rest), left, self.all_cells)


def loop(elements: Any, body: Callable[[Any], Any], orelse: Block | None, *names: Any) -> Signal | None:
    """`for item in elements: body(item)`."""
    return _run(Site.of(body, orelse, names), elements)


def loop_of(elements: Any, step: Callable[[Any], None], code: CodeType) -> None:
    """The same loop of a step that binds no names, and neither returns nor breaks."""
    _run(Site(step, None, [], frozenset(), frozenset(), ends=False, more=(), where=here(), code=code), elements)


def _run(site: Site, elements: Any) -> Signal | None:
    match elements if is_tracing() else None:
        case Nest():
            inside = site.part(site.body, is_last=False)
            outer = site.part(lambda a: _run(inside, elements.inner(a)), is_last=True)
            return site.finished(_run(outer, elements.outer))
        case Mapped() if steps_of(elements) is None and has_steps(elements):
            mapped = site.part(lambda a: site.body(elements.function(a)), is_last=True)
            return site.finished(_run(mapped, elements.elements))
        case Ending():
            elements.reached()
            return None
        case Chain():
            return site.finished(_chained(site, elements.parts))
        case Filtered():
            return site.finished(_run(site.part(_under(site, elements.test), is_last=True), elements.elements))
        case _:
            return _counted(site, elements)


def _chained(site: Site, parts: Sequence[Any]) -> Signal | None:
    """One loop after the other, of the same body."""
    if not parts:
        return None
    part = site.part(site.body, is_last=len(parts) == 1)
    signal = _run(part, parts[0])
    return _chained(site, parts[1:]) if signal is None else part.left(signal, lambda: _chained(site, parts[1:]))


def _under(site: Site, test: Any) -> Callable[[Any], Signal | None]:
    """The body, run for the elements for which a test holds."""

    def body(item: Any) -> Signal | None:
        holds = item if test is None else test(item)
        if not is_open(holds):
            return site.body(item) if holds else None
        return joined(holds, lambda: site.body(item), None, site.cells)

    return body


def _counted(site: Site, elements: Any) -> Signal | None:
    steps = steps_of(elements) if is_tracing() else None
    if steps is None:
        return _plain(site, iter(elements), name_of(elements))
    if steps.ended is not None:
        return site.finished(_chained(site, (replace(steps, ended=None), Ending(steps.ended))))
    if not steps.is_static:
        return _dynamic(site, steps)
    return _static(site, steps, 0, 0)


def _plain(site: Site, elements: Iterator[Any], what: str, done: int = 0) -> Signal | None:
    """The loop as Python runs it, over a `what`."""
    for item in elements:
        signal = without(site.body(item), CONTINUE)
        done += 1
        if signal is not None:
            return site.left(signal, partial(_plain, site, elements, what, done))
    if done > FEW and is_tracing():
        report(site.code, Report(site.where, "unrolled", done, f"it goes over a Python {what}"), depth())
    return site.finished(None)


def _static(site: Site, steps: Steps, done: int, peeled: int) -> Signal | None:
    """The steps from `done` on of a loop whose number of steps is known."""
    is_tried = bool(failed_before(site.code, depth()))
    is_heavy = False
    while done < steps.count:
        left = steps.count - done
        if not is_tried and (left > FEW or (is_heavy and left > 1)) and peeled <= PEELED:
            found = _captured(site, steps, done)
            if type(found) is Captured:
                return _run_static(site, steps, done, found)
            is_tried = not found
            peeled += 1
        if done > LIMIT:
            raise _too_long(site, steps.count)
        before = operations()
        signal = without(site.body(steps.at(done)), CONTINUE)
        is_heavy = operations() - before > HEAVY
        done += 1
        if signal is not None:
            if not signal.is_known and done > NESTED:
                raise _too_long(site, steps.count)
            return site.left(signal, partial(_static, site, steps, done, peeled))
    return site.finished(None)


def operations() -> int:
    """How many operations the trace has so far."""
    current = current_scope()
    return len(current.table) if current else 0


def _captured(site: Site, steps: Steps, done: int) -> Captured | bool:
    """The steps from `done` on as one that is repeated; else whether to try again after the next step."""
    plan = _plan(site, steps, done)
    try:
        found = captured(plan)
        if found.signal is not None and found.signal.is_known and found.signal.code != CONTINUE:
            raise NotInductive("it ends after one step")
        return found
    except NotInductive as error:
        if error.is_late and done < PEELED:
            return True
        report(site.code, Report(site.where, "unrolled", steps.count, error.reason), depth())
        return False
    except Exception as error:  # whatever the body cannot do with a traced number of a step, it may do with a known one
        cause = error.__context__  # of a loop inside: what it cannot do at the first step, it may do later
        if isinstance(cause, NotInductive) and cause.is_late and done < PEELED:
            return True
        report(site.code, Report(site.where, "unrolled", steps.count, _reason(error)), depth())
        return False


def _reason(error: Exception) -> str:
    """What an error says, and where it arose."""
    if not isinstance(error, PliantError):
        return f"{type(error).__name__}: {error}"
    return error.message + "".join([f" ({origin.short})" for _, origin in error.places[:1]])


def _plan(site: Site, steps: Steps, done: int) -> Plan:
    """The search for a step's form, from step `done` on."""

    def step(index: Value, j: int) -> Signal | None:
        return site.body(steps.at(offset(index, plan.period, done + j)))

    count = steps.count - done if done else steps.count
    ran = True if steps.is_static or size_of(count).is_at_least(1) else count > 0
    plan = Plan(step, site.cells, site.live, site.kept, is_first=done == 0, count=count, ends=site.ends, ran=ran)
    return plan


def _run_static(site: Site, steps: Steps, done: int, found: Captured) -> Signal | None:
    """The loop that was captured, and the steps that are left if several are taken together."""
    length, left = divmod(steps.count - done, found.period)
    report(site.code, Report(site.where, "loop", length, "", len(found.carries), found.period, done), depth())
    if possible_of(found.signal) & {BREAK, RETURN}:
        return site.finished(repeated(found, length))
    counted(found, length)
    for n in range(steps.count - left, steps.count):
        site.body(steps.at(n))
    return site.finished(None)


def _dynamic(site: Site, steps: Steps, done: int = 0) -> Signal | None:
    """The steps from `done` on of a loop whose number of steps is known only at run time."""
    holds = steps.count > done
    found = _required(_plan(site, steps, done), site, holds, done)
    if found is None:
        first = partial(site.body, steps.at(done))
        return _one_first(site, holds, first, lambda: _dynamic(site, steps, done + 1))
    report(site.code, Report(site.where, "loop of unknown length", None, "", len(found.carries), peeled=done), depth())
    count = steps.count - done if done else steps.count
    high = size_of(count).range[1]
    if high is None or possible_of(found.signal) & {BREAK, RETURN}:
        return site.finished(repeated(found, count))
    counted(found, max(high, 1), value_of(count, "i64"))
    return site.finished(None)


def _one_first(site: Site, holds: Any, first: Block, rest: Block) -> Signal | None:
    """A step, if there is one, and the loop that follows: what is a Python number before the first step may be one of
    NumPy's after it."""

    def run() -> Signal | None:
        settle_if(site.cells, holds)
        signal = without(first(), CONTINUE)
        return rest() if signal is None else site.left(signal, rest)

    return joined(holds, run, lambda: site.finished(None), site.all_cells)


def repeat(test: Block, asked: Sequence[str], body: Block, orelse: Block | None, *names: Any) -> Signal | None:
    """`while test(): body()`. asked: the names that the test binds."""
    site = Site.of(body, orelse, names)
    site.cells = cells_of(names[0], test, body)
    return _repeat(site, test, asked, 0)


def _repeat(site: Site, test: Block, asked: Sequence[str], peeled: int) -> Signal | None:
    """A `while` after `peeled` steps, each under its condition."""
    done = peeled
    is_tried = False
    while True:
        holds = test()
        if not is_open(holds) and not holds:
            return site.finished(None)
        is_worth = done >= PLAIN_STEPS or (site.ends and is_tracing())
        settle_if(site.cells, holds)
        if is_open(holds) or (is_worth and not is_tried):
            found = _conditional(site, test, asked, holds, peeled, is_first=not done)
            if found is not None:
                return site.finished(repeated(found, None, holds))
            is_tried = True
        if is_open(holds):
            return _one_first(site, holds, site.body, partial(_repeat, site, test, asked, peeled + 1))
        if done > LIMIT:
            raise _too_long(site, done)
        signal = without(site.body(), CONTINUE)
        done += 1
        if signal is not None and not signal.is_known:
            raise _unending(site, failed_before(site.code, depth()))
        if signal is not None:
            return site.finished(signal)


def _conditional(
    site: Site, test: Block, asked: Sequence[str], holds: Any, peeled: int, *, is_first: bool
) -> Captured | None:
    """A `while` as a loop of the program: the body, and then the condition for the next step."""

    def going(signal: Signal | None) -> Any:
        stays = True if signal is None else signal.is_one_of(FELL, CONTINUE)
        stays, partly = both(stays, is_going_on), partly_bound(test)

        def again() -> Any:
            settle(partly, possible_of(signal) & {FELL, CONTINUE})
            holds = _as_bool(test())
            settle_if(bound, holds)
            return holds

        return choose(stays, again, lambda: False, cells=[*dict.fromkeys([*bound, *partly])])

    bound = [place for place in site.cells if place.key in asked]
    is_required = is_open(holds)
    plan = Plan(lambda _, __: site.body(), site.cells, site.live, site.kept, is_first, None, ends=True, finish=going)
    plan.ran = holds if is_required else True
    try:
        found = _required(plan, site, holds, peeled) if is_required else captured(plan)
    except NotInductive as error:
        report(site.code, Report(site.where, "unrolled", None, error.reason), depth())
        return None
    except Exception as error:
        if is_required:
            raise
        report(site.code, Report(site.where, "unrolled", None, _reason(error)), depth())
        return None
    if found is not None:
        report(site.code, Report(site.where, "while", None, "", len(found.carries)), depth())
    return found


def _as_bool(holds: Any) -> Any:
    return holds if is_open(holds) else bool(holds)


def _required(plan: Plan, site: Site, holds: Any, peeled: int) -> Captured | None:
    """The step of a loop that cannot be unrolled; None if one more than `peeled` steps have to come before it."""
    try:
        with needing(holds.value):
            return captured(plan)
    except NotInductive as error:
        site.reason = site.reason or error.reason
        if error.is_of_types and peeled < PEELED and not can_be_known(holds.value):
            return None
        raise _unending(site, site.reason) from None


def _unending(site: Site, reason: str) -> UnsupportedError:
    """The error of a loop that is none of the program and cannot be unrolled."""
    return UnsupportedError(
        f"how many steps this loop has is known only at run time, and {reason}",
        hint="keep the state of one type and shape; lists that grow need a bound: for _ in range(most), and a break",
    ).at(("in this loop", site.where))


def _too_long(site: Site, count: int) -> UnsupportedError:
    reason = failed_before(site.code, depth())
    return UnsupportedError(
        f"this loop would be unrolled {count} times, as it is no loop of the program: {reason or count}",
        hint="pliant.explain says what keeps each loop from being one",
    ).at(("this loop", site.where))
