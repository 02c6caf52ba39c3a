"""`while` of the user's program: one loop of the program where a step keeps the form of its state and its condition is
known only at run time, else as many copies of the body as there are steps."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from pliant.frontend.control.branch import Block, both, choose, is_open
from pliant.frontend.control.emit import repeated
from pliant.frontend.control.partly import is_flagged, partly_bound, settle, settle_if, value_in
from pliant.frontend.control.plan import Captured, NotInductive, Plan
from pliant.frontend.control.recalled import captured
from pliant.frontend.control.region import Place, cells_of, depth
from pliant.frontend.control.report import Report, failed_before, report, was_while
from pliant.frontend.control.signals import CONTINUE, FELL, Signal, possible_of
from pliant.frontend.control.site import LIMIT, PEELED, Site, hint_of, reason_of
from pliant.frontend.control.sizing import MANY, operations, operations_since
from pliant.frontend.failures import is_going_on, note_loop
from pliant.frontend.tracing import current, is_tracing

PLAIN_STEPS: Final = 50  # of a `while` whose condition is known, before it is tried as a loop


def repeat(test: Block, asked: Sequence[str], body: Block, orelse: Block | None, *names: Any) -> Signal | None:
    """`while test(): body()`. asked: the names that the test binds."""
    note_loop()
    site = Site.of(body, orelse, names)
    site.cells = cells_of(names[0], test, body)
    if not is_tracing():
        return _repeat(site, test, asked, 0)
    with current().outermost.lengths.inside(site.code):
        return _repeat(site, test, asked, 0)


def _repeat(site: Site, test: Block, asked: Sequence[str], peeled: int) -> Signal | None:
    """A `while` after `peeled` steps, each under its condition."""
    done, made = peeled, 0
    is_tried, was_one = False, was_while(site.code)
    while True:
        holds = test()
        if not is_open(holds) and not holds:
            return site.finished(None)
        is_worth = was_one or done >= PLAIN_STEPS or made > MANY or (site.ends and is_tracing())
        sure = settle_if(site.cells, holds, site.kept if is_open(holds) else ())
        if is_open(holds) or (is_worth and not is_tried):
            untold = {place: place.get() for place in sure if not is_flagged(place.get())}
            for place, content in untold.items():  # what reads it after the loop does not ask: see `unsure`
                place.set(value_in(content))
            emptied: list[Place] = []
            found = _conditional(site, test, asked, holds, peeled, sure, emptied, is_first=not done)
            signal = None if found is None else repeated(found, None, _as_bool(holds))
            for place in emptied if found is not None and signal is None else ():
                place.set([])
            for place, content in untold.items():
                place.set(content if found is None else content.untold())
            if found is not None:
                return site.finished(signal)
            is_tried = True
        if is_open(holds):
            return site.after_one(holds, site.step, partial(_repeat, site, test, asked, peeled + 1))
        if done > LIMIT:
            raise site.too_long(done)
        before = operations()
        signal = site.step()
        done, made = done + 1, made + operations_since(before)
        if signal is not None and not signal.is_known:
            if site.is_late and peeled < PEELED:
                return site.left(signal, partial(_repeat, site, test, asked, peeled + 1))
            raise site.unending(*failed_before(site.code, depth()))
        if signal is not None:
            return site.finished(signal)


def _conditional(
    site: Site, test: Block, asked: Sequence[str], holds: Any, peeled: int, sure: Sequence[Place],
    emptied: list[Place], *, is_first: bool,
) -> Captured | None:  # fmt: skip
    """A `while` as a loop of the program: the body, and then the condition for the next step. sure: the names that
    have a value in a step, as the condition has bound them, and maybe none after the loop. emptied: gets the lists
    that have no elements once the condition does not hold."""

    def step(_: Any, __: Any) -> Signal | None:
        for place in sure:
            place.set(value_in(place.get()))
        return site.body()

    def going(signal: Signal | None) -> Any:
        stays = True if signal is None else signal.is_one_of(FELL, CONTINUE)
        stays, partly = both(stays, is_going_on), partly_bound(test)

        def again() -> Any:
            settle(partly, possible_of(signal) & {FELL, CONTINUE})
            holds = _as_bool(test())
            emptied[:] = plan.emptied(holds)
            settle_if(bound, holds, site.kept)
            return holds

        return choose(stays, again, lambda: False, cells=[*dict.fromkeys([*bound, *partly])])

    bound = [place for place in site.cells if place.key in asked]
    is_required = is_open(holds)
    plan = Plan(step, site.cells, site.live, site.kept, is_first, None, ends=True, finish=going)
    plan.ran = holds if is_required else True
    plan.body, plan.code, plan.lone = site.body, site.code, site.lone
    try:
        found = site.required(plan, holds, peeled) if is_required else captured(plan)
    except NotInductive as error:
        report(site.code, Report(site.where, "unrolled", None, error.reason), depth())
        site.is_late = error.is_late
        return None
    except Exception as error:
        if is_required:
            raise
        report(site.code, Report(site.where, "unrolled", None, reason_of(error), hint=hint_of(error)), depth())
        return None
    if is_required:  # there may be no step: before the loop too it is they that are asked for
        emptied[:] = [place for place in plan.emptied(holds) if place in emptied]
    if found is not None:
        report(site.code, Report(site.where, "while", None, "", len(found.carries)), depth())
    return found


def _as_bool(holds: Any) -> Any:
    return holds if is_open(holds) else bool(holds)
