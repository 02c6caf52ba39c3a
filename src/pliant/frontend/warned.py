"""`warnings.warn` in a traced function: it warns whenever the program comes to it, as `print` prints.

What the function itself does with its warnings is done while tracing, as what `catch_warnings` records is a list of the
function's, and a handler is a block of it:

with warnings.catch_warnings(): …        the filters are those of the trace: it warns, or does not, there and then
try: … except UserWarning: …             if filters make an error of it, the warning is raised as by a `raise`
"""

from __future__ import annotations

import types
import warnings
from typing import Any, Final, cast, final

from pliant.core.data import frozen
from pliant.core.origin import here
from pliant.errors import UnsupportedError
from pliant.frontend.array import TracedArray
from pliant.frontend.failures import catcher_of, is_going_on, is_trial, marked
from pliant.frontend.guards import Slot
from pliant.frontend.printing import callers_frame, is_apart, noted_line
from pliant.frontend.signature import flatten
from pliant.frontend.text import is_unknown, shown, unmarked
from pliant.frontend.tracing import current
from pliant.ops.show import Holding, kind_named, registry_of

_ERROR: Final = "error"


@final
@frozen
class Given:
    """A warning that is given: its text, or itself, its class, and the user's line."""

    message: Any
    kind: type[Warning]
    file: str
    line: int
    module: str

    @property
    def text(self) -> str:
        """What it says."""
        return shown(str(self.message))

    @property
    def content(self) -> str:
        """What filters do with it now; an attribute, which guards look at."""
        for action, message, kind, module, line in cast("list[Any]", warnings.filters):
            is_fit = _fits(message, self.text) and _fits(module, self.module) and line in (0, self.line)
            if is_fit and issubclass(self.kind, kind):
                return action
        return cast("Any", warnings).defaultaction

    def show(self) -> None:
        """Warn, now."""
        message = self.message if isinstance(self.message, Warning) else unmarked(self.text)
        warnings.warn_explicit(message, self.kind, self.file, self.line, self.module, registry_of(self.module))

    def error(self) -> Warning:
        """The warning as an exception that the user's function raises."""
        return marked(self.message if isinstance(self.message, Warning) else self.kind(self.message))


def _fits(pattern: Any, text: str) -> bool:
    """Whether a filter is about a text: by an expression, or by what it has to be."""
    return pattern is None or (pattern == text if isinstance(pattern, str) else bool(pattern.match(text)))


def warned(message: Any, category: Any = None, stacklevel: int = 1, *more: Any, **options: Any) -> None:
    """`warnings.warn`; while tracing, once, in `catch_warnings` of the function, in a function that is traced apart,
    and if it is given more than a text, a class and a level."""
    frame = callers_frame(stacklevel)
    kind: Any = type(message) if isinstance(message, Warning) else category or UserWarning
    if not _is_class(kind):
        warnings.warn(message, kind, stacklevel=2)  # an error
    given = Given(message, kind, frame.f_code.co_filename, frame.f_lineno, frame.f_globals.get("__name__", "<unknown>"))
    if warnings.filters is not current().outermost.filters:
        _warned_inside(given)
    elif is_apart(current()) or more or options:
        if not is_trial():
            given.show()
    else:
        _raise_if_error(given)
        noted_line(given.text, ("warning", *_named(given), given.file, given.line, given.module))


def _named(given: Given) -> tuple[str, str]:
    """The module and the name of a class: of the nearest that is found by its name, and holds what is given. A warning
    itself if its text is known, and else its class: the nearest that is made of text alone."""
    kind, message = given.kind, given.message
    if isinstance(message, Warning) and not any([is_unknown(x) or type(x) is TracedArray for x in _parts(message)]):
        content: Any = message
    else:
        content = kind = next(k for k in kind.__mro__ if not any([_is_pythons(k, n) for n in ("__init__", "__str__")]))
    known = next(k for k in kind.__mro__ if kind_named(k.__module__, k.__qualname__) is k)
    name = known.__qualname__
    return known.__module__, name if content is known else Holding(name, content)


def _parts(message: Warning) -> list[Any]:
    """What a warning holds, and its text."""
    return [str(message), *flatten((message.args, vars(message)))[0]]


def _is_pythons(kind: type, name: str) -> bool:
    """Whether a method of a class is one of Python's code."""
    return isinstance(getattr(kind, name), types.FunctionType)


def _is_class(kind: Any) -> bool:
    """Whether something is a class of warnings."""
    return isinstance(kind, type) and issubclass(kind, Warning)


def _raise_if_error(given: Given) -> None:
    """Raise a warning that filters make an error, if a handler of the function's catches it; a guard on that."""
    if catcher_of(given.kind) is None:
        return
    owner, action = Slot(given), given.content
    current().outermost.roots[id(owner), "content"] = owner, "content", action
    if action == _ERROR:
        raise given.error()


def _warned_inside(given: Given) -> None:
    """A warning inside of `catch_warnings`, by the filters that are set there."""
    action = given.content
    if action == "ignore":
        return
    if action == _ERROR:
        raise given.error()
    if is_trial():
        return
    if not _is_sure() or is_unknown(given.text):
        raise UnsupportedError(
            "a warning that catch_warnings inside a traced function shows or records is given under a condition, in a "
            "loop, or with numbers, that are known only at run time",
            hint="put catch_warnings around the call, or silence the warning with simplefilter('ignore')",
        ).at(("given here", here()))
    given.show()


def _is_sure() -> bool:
    """Whether the function comes here once in every call: in no step, and in no arm of a branch."""
    trace = current()
    while not trace.is_region and trace.parent is not None:
        trace = trace.parent
    return not trace.is_region and is_going_on() is True
