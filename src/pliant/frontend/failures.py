"""Exceptions that a traced function raises under conditions known only at run time.

if x.sum() > 100:               a number, 0 at first, that becomes that of the exception where the condition holds;
    raise ValueError(x)         what follows is traced as if it did not, and a caller looks at the number first
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from pliant.core.ir import Value, const
from pliant.core.origin import here
from pliant.core.scope import current_scope, scope
from pliant.core.types import Type
from pliant.errors import IndexRangeError, PliantError, TracedValueError, UnboundError, UnsupportedError, errors_of
from pliant.frontend.convert import value_of
from pliant.frontend.number import Kind, with_kind
from pliant.frontend.signature import flatten
from pliant.frontend.text import Shown, is_unknown, without_unknown
from pliant.frontend.tracing import Storage, Trace, current, is_tracing
from pliant.ops.bits import logical_and, logical_not
from pliant.ops.compare import equal, greater
from pliant.ops.ensure import ensure
from pliant.ops.reduce import reduce_or
from pliant.ops.select import select

E = TypeVar("E", bound=Exception)

MARK = "__pliant_raised__"  # where a `raise` of the user has made an exception: text, since exceptions are pickled
HIDDEN: Final = (UnsupportedError, TracedValueError, UnboundError)
"""What NumPy and Python would not raise: no handler of the user's may see it."""
_TRUTH = Kind(Type("bool"), is_scalar=True, is_weak=True)


class Full(Exception):
    """A list gets more elements than there is room for, which is its argument: the call is traced again, with more."""


def raised(make: Callable[[], Any], plainly: Callable[[], Any]) -> Any:
    """What a `raise` statement raises, marked. plainly: makes it without numbers in its text."""
    try:
        error = make()
    except TracedValueError:  # a number that is put into text
        error = plainly()
    made = error() if isinstance(error, type) else error
    return marked(made) if isinstance(made, Exception) else made


def marked(error: E) -> E:
    """An exception that is one of the user's function, raised here."""
    setattr(error, MARK, here().short)
    return error


def is_marked(error: BaseException) -> bool:
    """Whether a `raise` of the user has made an exception."""
    return hasattr(error, MARK)


class Catcher:
    """What a `try` statement catches while its body is traced, and what becomes of it: nothing, where it is known that
    it is not raised."""

    is_asking = False
    is_refusing = False
    is_trial = False  # whether the body is run again
    has_loop = False  # whether there is a loop in the body
    numbers: Sequence[Storage] = ()  # what holds the number of what is raised, if it is to be known which

    def __init__(self, kinds: tuple[type[BaseException], ...]) -> None:
        self.kinds = kinds

    def note(self, condition: Value, error: BaseException) -> None:
        """An exception is raised where a condition holds."""


class Refusing(Catcher):
    """An error: the handlers are run only if something is raised while tracing."""

    is_asking = is_refusing = True

    def note(self, condition: Value, error: BaseException) -> None:
        raise refused(error) from error


def note_loop() -> None:
    """Note in the `try` statements around that a loop begins."""
    for catcher in current().outermost.catchers if is_tracing() else ():
        catcher.has_loop = True


def catcher_of(kind: type[BaseException]) -> Catcher | None:
    """What catches exceptions of a class that are raised here; None if nothing of the user's does."""
    catchers = current().outermost.catchers if is_tracing() and kind is not Full else []
    return next((c for c in reversed(catchers) if issubclass(kind, c.kinds)), None)


def is_caught(kind: type[BaseException]) -> bool:
    """Whether a handler of the user's may catch exceptions of a class here, of which nobody knows yet if they are
    raised."""
    catcher = catcher_of(kind)
    return catcher is not None and catcher.is_asking


def is_trial() -> bool:
    """Whether what is done here is done again, after it is known what may be raised."""
    return any([c.is_trial for c in current().outermost.catchers])


def may_raise(error: BaseException) -> bool:
    """Whether it can be told at run time that an exception is raised here: not if a handler catches it that is chosen
    while tracing."""
    catcher = catcher_of(type(error))
    return catcher is None or not catcher.is_refusing


def is_raised(error: BaseException) -> bool:
    """The same of an exception that a `raise` of the user has made."""
    return is_marked(error) and may_raise(error)


def is_seen(error: Exception) -> bool:
    """Whether a handler of the user's catches an error that leaves a block, and may see it."""
    return catcher_of(type(error)) is not None and not isinstance(error, HIDDEN)


def may_be_told(error: Exception) -> bool:
    """The same of an exception that leaves a block for sure: whether it is one of the user's function, or of NumPy's
    that a handler catches, and not of what tracing cannot do."""
    if isinstance(error, PliantError):
        return (isinstance(error, IndexRangeError) or is_seen(error)) and may_raise(error)
    return is_raised(error) or (isinstance(error, LookupError) and may_raise(error))


def can_fail() -> bool:
    """Whether it can be told here at run time that the call has failed."""
    return not current().outermost.catchers and current_scope() is current().scope


def ensured(x: Value, code: Value, failure: str, *, ours: Value | None = None) -> Value:
    """x; where a code is not 0, the error of that name and code, or what a handler of the user's does about it.

    The codes are not negative. ours: where only Pliant takes it for an error, which no handler sees.
    """
    errors = errors_of(failure)
    for n, error in enumerate(errors, 1):
        catcher = catcher_of(type(error))
        if catcher is not None:
            holds = greater(code, const(n - 1, "i64")) if n == len(errors) else equal(code, const(n, "i64"))
            holds = holds if ours is None else logical_and(holds, logical_not(ours))
            catcher.note(reduce_or(holds, tuple(range(holds.type.rank))), error)
            code = select(holds, const(0, "i64"), code)
    return ensure(x, code, failure)


def fail_if(condition: Value, error: BaseException) -> None:
    """Note that the function raises where a condition holds."""
    catcher = catcher_of(type(error))
    if catcher is not None:
        catcher.note(condition, error)
        return
    if current_scope() is not current().scope or (type(error) is Full and _is_telling()):
        raise inside(error, here())
    failures = current().outermost.failures
    failures.append((error, here()))
    note(select(condition, const(len(failures), "i64"), const(0, "i64")))


def may_fail(kind: type[BaseException]) -> bool:
    """Whether such an exception can be noted here: not in what is a function of its own, as a step of `while_loop`."""
    if catcher_of(kind) is not None:
        return True
    around = [current()]
    while around[-1].parent is not None:
        around.append(around[-1].parent)
    return current_scope() is around[0].scope and not any([trace.is_silent for trace in around])


def is_of_run_time(error: Exception) -> bool:
    """Whether what the function raises for sure comes after what it may have raised before, or holds numbers or texts
    that only a call knows; noted, then."""
    is_last = failed_in(current()) is not None and isinstance(error, LookupError)
    if not is_last and not (is_marked(error) and (failed_in(current()) is not None or _holds_unknown(error))):
        return False
    fail_if(const(True, "bool"), error)
    return True


def _holds_unknown(error: Exception) -> bool:
    """Whether an exception holds what stands for numbers that are known only at run time."""
    held: list[Any] = flatten((error.args, vars(error)))[0]
    return any([isinstance(x, Shown) or is_unknown(x) for x in held])


def failures_noted() -> int:
    """How often it was noted so far that something may be raised."""
    return sum([storage.version for storage in numbers_of_failures()])


def inside(error: BaseException, place: Any) -> UnsupportedError:
    """The error of what is raised where nobody can look at it."""
    if isinstance(error, Full):
        return UnsupportedError(
            "a list gets as many elements as nothing bounds, in a function that is called many times or in a branch",
            hint="lists that grow need a bound here: for _ in range(most), and a break",
        ).at(("here", place))
    if isinstance(error, UnsupportedError):
        return error
    return UnsupportedError(
        f"{type(error).__name__} is raised, under a condition that is known only at run time, in a function that is "
        "called many times, as by while_loop, or has a derivative of its own",
        hint="return a value that says so, and raise outside of that function; or write a plain while",
    ).at(("here", place))


def refused(error: BaseException, hint: str = "") -> UnsupportedError:
    """The error for an exception under a condition that a handler may catch, or that is none of the user's."""
    if not is_caught(type(error)):
        hint = hint or "return a value that says so, or check it before the call"
    hint = hint or "a handler cannot be chosen at run time: write if and else in place of try"
    said = f": {error}" if str(error) else ""
    text = f"{type(error).__name__} is raised under a condition that is known only at run time{said}"
    return UnsupportedError(text, hint=hint).at(("here", here()))


@contextmanager
def failing_while(test: Callable[[], Any]) -> Generator[None]:
    """What fails inside raises only where a test holds at that time: else Python would not have come so far."""
    tests = current().outermost.tests if is_tracing() else []
    tests.append(test)
    try:
        yield
    finally:
        tests.pop()


def nothing_to_fold(name: str) -> ValueError:
    """NumPy's error about a reduction, by a ufunc of that name, that would start from an element and has none."""
    return ValueError(f"zero-size array to reduction operation {name} which has no identity")


def note(number: Value) -> None:
    """Note the number of an exception, which is 0 if there is none, after those before."""
    _add(_storage(), number)


def noted(storage: Storage, condition: Value, number: int) -> None:
    """Note an exception by its number where a condition holds, after those before."""
    _add(storage, select(condition, const(number, "i64"), const(0, "i64")))


def _add(storage: Storage, number: Value) -> None:
    for test in current().outermost.tests:
        number = select(value_of(test(), "bool"), number, const(0, "i64"))
    before = storage.value
    storage.write(select(equal(before, const(0, "i64")), number, before))


def _root() -> Trace:
    root = current()
    while (root.is_region or root.is_telling) and root.parent is not None:
        root = root.parent
    return root


def _is_telling() -> bool:
    """Whether what is raised here is raised in a trace around it: that of no step or branch that a function makes."""
    trace = current()
    while trace.is_region and trace.parent is not None:
        trace = trace.parent
    return trace.is_telling


def numbers_of_failures() -> list[Storage]:
    """The allocations that hold the numbers of what the function raises, and of what `try` statements catch."""
    failed = _root().failed
    found = [storage for c in current().outermost.catchers for storage in c.numbers]
    return found if failed is None else [failed, *found]


def _storage() -> Storage:
    root = _root()
    if root.failed is None:
        with scope(root.scope):
            root.failed = Storage.holding(root, const(0, "i64"))
            root.failed.is_effect = True
    return root.failed


def failed_in(trace: Trace) -> Value | None:
    """The number of the exception that a function raises; None if it raises none."""
    return trace.failed.value if trace.failed is not None and trace.failed.is_written else None


def is_going_on() -> Any:
    """Whether nothing was raised so far; True where that is known."""
    number = failed_in(_root())
    return True if number is None else with_kind(equal(number, const(0, "i64")), _TRUTH)


def exception(error: BaseException, place: Any) -> BaseException:
    """The exception of a call; numbers in its text that only a run in Python knows are left out."""
    made = copy.copy(error)
    made.args = tuple(["…" if isinstance(x, Shown) else without_unknown(x) for x in error.args])
    made.add_note(f"raised in {getattr(error, MARK, place.short)}")
    return made.with_traceback(None)
