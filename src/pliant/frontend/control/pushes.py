"""What is done with each element that a generator yields, where it is pushed: see `pushing`."""

from __future__ import annotations

from typing import Any, final

from pliant.frontend.array import TracedArray
from pliant.frontend.control.branch import choose
from pliant.frontend.control.effects import advanced
from pliant.frontend.control.iterators import iterated
from pliant.frontend.control.ornone import flag_of, object_of, present
from pliant.frontend.control.partly import settle
from pliant.frontend.control.pushed import Pushed
from pliant.frontend.control.region import born, note, note_name, on_trial, place_of
from pliant.frontend.control.signals import BREAK, FELL, RETURN, Signal, possible_of
from pliant.frontend.control.site import Site
from pliant.frontend.control.walked import left_early
from pliant.frontend.failures import marked
from pliant.frontend.missing import MISSING
from pliant.frontend.tracing import is_tracing


def pushed_through(site: Site, elements: Pushed) -> Signal | None:
    """A loop over what a generator yields: its body is run where that is handed on."""
    carried = site.live | site.kept
    own = [place for place in site.cells if place.key not in carried and place.get() is MISSING]
    left = Left()

    def emit(item: Any) -> Any:
        for place in site.cells:
            if place not in own:
                note_name(place)
        signal = site.step(item)
        settle(site.cells, possible_of(signal), signal)
        for place in own:  # nobody reads it in the next step, or later
            place.set(MISSING)
        return left.noted(signal)

    (elements.push_until if site.ends else elements.push)(emit)
    if not on_trial():  # what else is done on trial may be done again
        left_early(elements)
    return site.finished(left.signal())


@final
class Left:
    """How a loop was left, while the generator that it goes over comes to its end."""

    def __init__(self) -> None:
        self.possible = {FELL}
        self.held = Held(code=FELL, result=None)

    def noted(self, signal: Signal | None) -> Any:
        """Whether a step has left the loop, which is noted."""
        if signal is None:
            return False
        self.possible |= signal.possible
        self.held.put("code", signal.code)
        if signal.result is not MISSING:
            self.held.put("result", (signal.result,))
        return signal.is_one_of(BREAK, RETURN)

    def signal(self) -> Signal | None:
        """How the loop was left."""
        if self.possible == {FELL}:
            return None
        code, result = self.held.parts["code"], object_of(self.held.parts["result"])
        known = int(code.concrete) if type(code) is TracedArray and code.concrete is not None else code
        return Signal(frozenset(self.possible), known, MISSING if result is MISSING else result[0])


@final
class Held:
    """What steps leave for after them, as the items of a dict of the user's would be."""

    def __init__(self, **parts: Any) -> None:
        self.parts: dict[str, Any] = born(parts)

    def put(self, key: str, content: Any) -> None:
        """Change what is held, as far as a region around this allows."""
        note(place_of("item", self.parts, key))
        self.parts[key] = content


def first_of(elements: Any, *default: Any) -> Any:
    """`next(elements, default)` of what nobody else has."""
    if not is_tracing() or type(elements) is not Pushed or elements.running is not None:
        return advanced(elements, *default) if is_tracing() else next(elements, *default)
    held = Held(first=None)

    def emit(item: Any) -> bool:
        held.put("first", (item,))
        return True

    elements.push_until(emit)
    found = held.parts["first"]
    if not default and found is None:
        raise marked(StopIteration())
    if not default:
        return present(found, StopIteration())[0]
    return choose(flag_of(found), lambda: object_of(found)[0], lambda: default[0])


def items(function: Any, /, *args: Any, **options: Any) -> Any:
    """What a loop goes over, which a function makes of other elements."""
    is_pushed = function is enumerate and bool(args) and type(args[0]) is Pushed and args[0].running is None
    return _counted(*args, **options) if is_pushed else iterated(function, *args, **options)


def _counted(elements: Pushed, start: Any = 0) -> Pushed:
    """`enumerate(elements, start)`."""

    def of(push: Any) -> Any:
        def run(emit: Any) -> None:
            held = Held(number=start)

            def each(item: Any) -> Any:
                number = held.parts["number"]
                held.put("number", number + 1)
                return emit((number, item))

            push(each)

        return run

    return Pushed(lambda: enumerate(elements, start), of(elements.push), of(elements.push_until))
