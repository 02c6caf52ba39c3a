"""`try` statements whose handlers are chosen at run time: statement by statement, a condition says whether one fails.

try:                            would it fail?  traced on trial, for nothing but the number of its exception
    a = cholesky(k)             number == 0:    a = cholesky(k), and the statements that follow
    b = 1.0                     else:           the handler, as things were before the statement
except LinAlgError:
    b = 0.0
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeAlias, cast, final

from pliant.core.ir import Node, Value, Values, const
from pliant.errors import PliantError
from pliant.frontend.control.branch import Block, joined
from pliant.frontend.control.handlers import kinds_of, must_not_see
from pliant.frontend.control.partly import settle
from pliant.frontend.control.region import CHANGED, Place, Region, cells_of, region, regions_from
from pliant.frontend.control.remade import with_numbers_of_here
from pliant.frontend.control.signals import FELL, TRUTH, Signal, before_the_end
from pliant.frontend.failures import HIDDEN, Catcher, is_marked, noted, numbers_of_failures, refused
from pliant.frontend.number import with_kind
from pliant.frontend.tracing import Storage, current, is_tracing
from pliant.ops.bits import logical_and
from pliant.ops.compare import equal
from pliant.transforms.replace import replaced

Kinds: TypeAlias = tuple[type[BaseException], ...]
Handler: TypeAlias = tuple[Callable[[], Any], Callable[[BaseException], Signal | None]]
"""What it catches, and its block."""

_ALONE: Final = "put what may fail into a statement of its own, before anything is changed"
_INSIDE: Final = (
    "put the try into the body of the loop, with a break in its handler: around the loop, it is compiled for each "
    "number of steps, which neither a batch nor a program for all data can be"
)


@final
class Asking(Catcher):
    """Only whether anything may be raised."""

    is_asking = is_trial = True
    is_needed = False
    errors = ()

    def note(self, condition: Value, error: BaseException) -> None:
        self.is_needed = True


@final
class Counting(Catcher):
    """Which of `errors` is raised by a statement that is run in a region, by its number from 1 on; 0 for none. names:
    those that it binds, with what they are before."""

    is_asking = is_trial = True

    def __init__(self, kinds: Kinds, inside: Region, names: dict[Place, Any]) -> None:
        super().__init__(kinds)
        self.inside, self.names = inside, names
        self.errors: list[BaseException] = []
        self.number = Storage.holding(inside.trace, const(0, "i64"))
        self.numbers = (self.number,)

    def note(self, condition: Value, error: BaseException) -> None:
        if _is_known(condition, error):
            return
        if hasattr(error, CHANGED) or self.has_changed():
            raise refused(error, _INSIDE if self.has_loop else _ALONE).needing(condition)
        same = [n for n, e in enumerate(self.errors) if type(e) is type(error) and e.args == error.args]
        self.errors += [] if same else [error]
        for other in numbers_of_failures():
            if other is not self.number and other.is_written:  # what is raised before, and is not caught here
                condition = logical_and(condition, equal(other.value, const(0, "i64")))
        noted(self.number, condition, (same[0] if same else len(self.errors) - 1) + 1)

    def has_changed(self) -> bool:
        """Whether the statement has changed anything so far that the handler sees."""
        own, inside = numbers_of_failures(), regions_from(self.inside)
        written = [s for r in inside for s in r.written if s not in own]
        before = [*self.names.items(), *[effect for r in inside for effect in r.effects.items()]]
        return bool(written) or any([_is_other(*place) for place in before])


@final
class Knowing(Catcher):
    """What is raised for sure is raised; of all else it has to be known that it is not."""

    is_asking = True

    def note(self, condition: Value, error: BaseException) -> None:
        if not _is_known(condition, error):
            raise refused(error, _INSIDE if self.has_loop else _ALONE).needing(condition)


def _is_known(condition: Value, error: BaseException) -> bool:
    """Whether it is known that an exception is not raised; it is raised if that is known."""
    holds = with_kind(condition, TRUTH).concrete
    if holds is not None and holds:
        raise error
    return holds is not None


def _is_other(place: Place, before: Any) -> bool:
    """Whether there is something else at a place than before."""
    now = place.get()
    if not place.is_whole or not isinstance(now, list):
        return now is not before
    elements = cast("list[Any]", now)
    return len(elements) != len(before) or any([a is not b for a, b in zip(elements, before, strict=True)])


@contextmanager
def _taken_back(block: Any) -> Generator[dict[Place, Any]]:
    """The names that a block may bind, with what they are, and are again at the end."""
    before = {place: place.get() for place in cells_of(block.__code__.co_freevars, block)}
    try:
        yield before
    finally:
        for place, content in before.items():
            place.set(content)


@contextmanager
def _catching(catcher: Catcher) -> Generator[None]:
    catchers = current().outermost.catchers
    catchers.append(catcher)
    try:
        yield
    finally:
        catchers.remove(catcher)


def may_fail(caught: Sequence[Callable[[], Any]], body: Block) -> bool:
    """Whether something that handlers catch may be raised in a body at run time."""
    if not is_tracing():
        return False
    catcher = Asking(kinds_of(caught))
    with contextlib.suppress(Exception), _taken_back(body), region(), _catching(catcher):
        body()  # what is raised for sure is raised again
    return catcher.is_needed


def attempt(
    statements: Sequence[Block], orelse: Block | None, handlers: Sequence[Handler], names: Sequence[str]
) -> Signal | None:
    """A `try` statement of which something may fail at run time."""
    cells = cells_of(names, *statements, orelse, *[block for _, block in handlers])
    kinds = kinds_of([caught for caught, _ in handlers])

    def after(signal: Signal | None, n: int) -> Signal | None:
        fell = True if signal is None else signal.is_one_of(FELL)
        if fell is False:
            return signal
        if fell is True:
            settle(cells, (FELL,))
            return run(n)
        return joined(fell, lambda: after(None, n), lambda: before_the_end(signal), cells)

    def run(n: int) -> Signal | None:
        if n == len(statements):
            return orelse() if orelse is not None else None
        number, errors, is_sure = _tried(statements[n], kinds)
        if number is None:
            return surely(statements[n]) if is_sure else after(statements[n](), n + 1)
        if is_sure:
            return failed(number, errors, 1)
        return joined(_is(number, 0), lambda: going_on(n), lambda: failed(number, errors, 1), cells)

    def going_on(n: int) -> Signal | None:
        with _catching(Catcher(kinds)):
            signal = statements[n]()
        return after(signal, n + 1)

    def surely(statement: Block) -> Signal | None:
        try:
            with _catching(Knowing(kinds)):
                statement()
        except kinds as error:
            return handled(error)
        raise AssertionError("what is raised for sure is raised again")

    def failed(number: Value, errors: Sequence[BaseException], first: int) -> Signal | None:
        if len(errors) == 1:
            return handled(errors[0])
        return joined(
            _is(number, first), lambda: handled(errors[0]), lambda: failed(number, errors[1:], first + 1), cells
        )

    def handled(error: BaseException) -> Signal | None:
        block = next(block for caught, block in handlers if isinstance(error, kinds_of([caught])))
        return block(with_numbers_of_here(error))

    return run(0)


def _is(number: Value, n: int) -> Any:
    return with_kind(equal(number, const(n, "i64")), TRUTH)


def _tried(block: Block, kinds: Kinds) -> tuple[Value | None, list[BaseException], bool]:
    """The number of the exception that a statement raises at run time, these, and whether it raises one for sure;
    without a number if that is the only one, or there is none."""
    is_sure = False
    with _taken_back(block) as names, region() as made:
        catcher = Counting(kinds, made, names)
        with _catching(catcher):
            try:
                block()
            except Exception as error:
                is_sure = _is_last(error, catcher)
            if not catcher.errors:
                return None, [], is_sure
        number = catcher.number.value
    free = made.free([number])
    return replaced(made.function("attempt", (), [number], free), _as_it_is)(*free)[0], catcher.errors, is_sure


def _is_last(error: Exception, catcher: Counting) -> bool:
    """Whether a handler catches what a statement raises for sure, noted after what it may have raised before. What
    none catches is raised again, here or where nothing was raised before."""
    if not isinstance(error, catcher.kinds):
        is_numpys = isinstance(error, PliantError | LookupError) and not isinstance(error, HIDDEN)
        if catcher.errors and (is_numpys or is_marked(error)):
            return False
        raise error
    must_not_see(error)
    if hasattr(error, CHANGED):
        raise refused(error) from error
    if catcher.errors:
        catcher.note(const(True, "bool"), error)
    return True


def _as_it_is(node: Node, args: Values) -> None:
    """Nothing in place of an operation."""
