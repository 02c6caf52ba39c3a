"""`for` of the user's program: one loop of the program where a step keeps the form of its state,
else as many copies of the body as there are steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from types import CodeType
from typing import Any, Final, cast, final

from pliant.core.data import frozen
from pliant.core.ir import Value
from pliant.core.origin import here
from pliant.frontend.array import TracedArray
from pliant.frontend.control.branch import Block, is_open, joined
from pliant.frontend.control.emit import counted, repeated
from pliant.frontend.control.items import Mapped, Steps, of_one, offset, steps_of, walked
from pliant.frontend.control.iterators import Chain, Filtered, Nest, Taken, has_steps, name_of
from pliant.frontend.control.offsets import offsets, told
from pliant.frontend.control.plan import Captured, NotInductive, Plan
from pliant.frontend.control.pushed import Pushed
from pliant.frontend.control.pushes import pushed_through
from pliant.frontend.control.recalled import captured
from pliant.frontend.control.region import depth
from pliant.frontend.control.report import Report, failed_before, report
from pliant.frontend.control.signals import BREAK, BROKEN, CONTINUE, RETURN, Signal, possible_of, without
from pliant.frontend.control.site import LIMIT, PEELED, Site, hint_of, reason_of
from pliant.frontend.control.sizing import is_heavy, note_size, operations, operations_since
from pliant.frontend.control.walked import left_early
from pliant.frontend.convert import value_of
from pliant.frontend.failures import is_going_on, note_loop
from pliant.frontend.needs import can_be_known
from pliant.frontend.sizes import size_of
from pliant.frontend.tracing import current, is_tracing

FEW: Final = 4  # steps that are not worth a loop
PLAIN_STEPS: Final = 50  # that are known to go on, of a loop without an end
NESTED: Final = 40  # copies of a body, each under a condition inside the one before


@final
@frozen
class Ending:
    """No elements: what happens where one is asked for after the last."""

    reached: Callable[[], None]


def loop(elements: Any, body: Callable[[Any], Any], orelse: Block | None, *names: Any) -> Signal | None:
    """`for item in elements: body(item)`."""
    note_loop()
    return _run(Site.of(body, orelse, names), elements)


def loop_of(elements: Any, step: Callable[[Any], None], code: CodeType) -> None:
    """The same loop of a step that binds no names, and neither returns nor breaks."""
    _run(Site(step, None, [], frozenset(), frozenset(), ends=False, more=(), where=here(), code=code), elements)


def _run(site: Site, elements: Any) -> Signal | None:
    if not is_tracing():
        return _counted(site, elements)
    with current().outermost.lengths.inside(site.code):
        return _run_inside(site, elements)


def _run_inside(site: Site, elements: Any) -> Signal | None:
    match elements:
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
        case Pushed(running=None):
            return pushed_through(site, elements)
        case Filtered():
            return site.finished(_run(site.part(_under(site, elements.test), is_last=True), elements.elements))
        case Taken() if site.orelse is None and not site.is_part:
            part = replace(site.part(_until(site, elements.test), is_last=True), ends=True)
            return without(_run(part, elements.elements), BREAK)
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


def _until(site: Site, test: Callable[[Any], Any]) -> Callable[[Any], Signal | None]:
    """The body, up to the first element for which a test does not hold."""

    def body(item: Any) -> Signal | None:
        holds = test(item)
        if not is_open(holds):
            return site.body(item) if holds else BROKEN
        return joined(holds, lambda: site.body(item), lambda: BROKEN, site.cells)

    return body


def _counted(site: Site, elements: Any) -> Signal | None:
    steps = steps_of(elements) or offsets(elements) or of_one(elements) if is_tracing() else None
    if steps is None:
        is_list = cast("Any", type(elements)) is list and is_tracing()
        return _plain(site, walked(elements) if is_list else iter(elements), name_of(elements))
    if steps.ended is not None:
        return site.finished(_chained(site, (replace(steps, ended=None), Ending(steps.ended))))
    if type(steps.count) is TracedArray and steps.count.concrete is not None:
        steps = replace(steps, count=max(int(steps.count), 0))
    if not steps.is_static:
        return _dynamic(site, steps)
    return _endless(site, steps, 0) if steps.is_endless else _static(site, steps, 0, 0)


def _endless(site: Site, steps: Steps, done: int) -> Signal | None:
    """A loop that only a step ends: as Python runs it, until it is known only at run time whether one does."""
    while done < PLAIN_STEPS and is_going_on() is True:
        signal = site.step(steps.at(done))
        done += 1
        if signal is not None:
            return site.left(signal, partial(_static, site, steps, done, 0))
    return _static(site, steps, done, 0)


def _plain(site: Site, elements: Iterator[Any], what: str, done: int = 0) -> Signal | None:
    """The loop as Python runs it, over a `what`."""
    for item in elements:
        signal = site.step(item)
        done += 1
        if signal is not None:
            if not signal.is_known:
                left_early(elements)
            return site.left(signal, partial(_plain, site, elements, what, done))
    if done > FEW and is_tracing():
        report(site.code, Report(site.where, "unrolled", done, f"it goes over a Python {what}"), depth())
    return site.finished(None)


def _static(site: Site, steps: Steps, done: int, peeled: int) -> Signal | None:
    """The steps from `done` on of a loop whose number of steps is known."""
    is_tried = any(failed_before(site.code, depth()))
    content = steps.content
    while steps.has(done) and steps.is_same:
        left = steps.count - done
        is_worth = (left > FEW and steps.known is None) or (left > 1 and is_heavy(site.code))
        if is_worth and not is_tried and peeled <= PEELED and steps.has_still(content):
            found = _captured(site, steps, done)
            if type(found) is Captured:
                return _run_static(site, steps, done, found)
            is_tried = not found
            peeled += 1
        if done > LIMIT:
            raise site.too_long(steps.count)
        before = operations()
        signal = site.step(steps.at(done))
        if not is_tried:
            note_size(site.code, operations_since(before), left)
        done += 1
        if signal is not None:
            if not signal.is_known and done > NESTED and steps.known is None:
                why = failed_before(site.code, depth())
                raise site.unending(*why) if steps.is_endless else site.too_long(steps.count)
            return site.left(signal, partial(_static, site, steps, done, peeled))
    if steps.known is None or (is_tried and steps.is_same):
        return site.finished(None)
    return _plain(site, walked(steps.known, done), name_of(steps.known), done)


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
        if needed := [value for value in error.needs if can_be_known(value)]:
            raise site.too_long(steps.count).needing(*needed) from None
        return False
    except Exception as error:  # whatever the body cannot do with a traced number of a step, it may do with a known one
        cause = error.__context__  # of a loop inside: what it cannot do at the first step, it may do later
        if isinstance(cause, NotInductive) and cause.is_late and done < PEELED:
            return True
        made = Report(site.where, "unrolled", steps.count, reason_of(error), hint=hint_of(error))
        report(site.code, made, depth())
        return False


def _plan(site: Site, steps: Steps, done: int) -> Plan:
    """The search for a step's form, from step `done` on."""

    def step(index: Value, j: int) -> Signal | None:
        content = steps.content
        item = steps.at(offset(index, plan.period, done + j))
        if steps.known is not None:
            plan.told.update(told(item, steps.at(steps.count - (steps.count - done) % plan.period - plan.period + j)))
        signal = site.body(item)
        if not (steps.is_same and steps.has_still(content)):
            raise NotInductive("the list that it goes over changes")
        return signal

    count: Any = steps.count - done if done else steps.count
    ran = True if steps.is_static or size_of(count).is_at_least(1) else count > 0
    if steps.is_endless:
        count = None
    plan = Plan(step, site.cells, site.live, site.kept, is_first=done == 0, count=count, ends=site.ends, ran=ran)
    plan.body, plan.items, plan.code, plan.lone = site.body, steps, site.code, site.lone
    if steps.is_endless:  # what is raised ends it, too
        plan.finish = lambda _: None if (going := is_going_on()) is True else going
    return plan


def _run_static(site: Site, steps: Steps, done: int, found: Captured) -> Signal | None:
    """The loop that was captured, and the steps that are left if several are taken together."""
    length, left = divmod(steps.count - done, found.period)
    report(site.code, Report(site.where, "loop", length, "", len(found.carries), found.period, done), depth())
    if steps.is_endless or possible_of(found.signal) & {BREAK, RETURN}:
        return site.finished(repeated(found, length, is_going_on() if steps.is_endless else True))
    counted(found, length)
    for n in range(steps.count - left, steps.count):
        site.step(steps.at(n))
    return site.finished(None)


def _dynamic(site: Site, steps: Steps, done: int = 0) -> Signal | None:
    """The steps from `done` on of a loop whose number of steps is known only at run time."""
    holds = steps.count > done
    plan = _plan(site, steps, done)
    plan.finish = lambda _: plan.is_held()
    found = site.required(plan, holds, done, steps.count)
    if found is None:
        first = partial(site.step, steps.at(done))
        return site.after_one(holds, first, lambda: _dynamic(site, steps, done + 1))
    report(site.code, Report(site.where, "loop of unknown length", None, "", len(found.carries), peeled=done), depth())
    count = steps.count - done if done else steps.count
    high = size_of(count).range[1]
    if high is None or possible_of(found.signal) & {BREAK, RETURN}:
        return site.finished(repeated(found, count))
    counted(found, max(high, 1), value_of(count, "i64"))
    return site.finished(None)
