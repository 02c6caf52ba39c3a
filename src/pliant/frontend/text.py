"""Text made of what is known only at run time: it may be printed, and put into an error, and no more.

f"{x.sum():.1f}"               "<traced f64[] #3>": a mark, whose number `Trace.texts` has; `print` looks it up
f"{x.sum():.1f}" == "1.0"      an error: so is its length, and what it is returned as
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any, Final, cast, final

from pliant.core.data import frozen
from pliant.core.ir import Value
from pliant.core.origin import here
from pliant.errors import TracedValueError, UnsupportedError
from pliant.frontend.tracing import current, is_tracing
from pliant.ops.show import Steps, formatted

_MARK: Final = re.compile(r"<traced [^<>]*>|<unbound>")
_NUMBER: Final = re.compile(r"<traced [^<>]* #(\d+)>")
_marks: Final = itertools.count()
_PERCENT: Final = re.compile(r"%(?:\(([^)]*)\))?[#0\- +]*\d*(?:\.\d*)?[hlL]?([diouxXeEfFgGcrsa%])")
_SHOWN: Final = frozenset((
    "__new__ __init__ __init_subclass__ __subclasshook__ __class__ __doc__ __getattribute__ __setattr__ __delattr__ "
    "__dir__ __repr__ __str__ __format__ __reduce__ __reduce_ex__ __getnewargs__ __getstate__ __sizeof__"
).split())  # fmt: skip


MAKING: Final = frozenset(("join", "format", "format_map"))
"""The methods of text that put together what they are given."""


@final
class Text(str):
    """Text that holds the type of a number in place of the number. Whatever is asked of it, but to be shown or to
    become part of other text, is an error while tracing."""

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        return self if is_tracing() else str.__str__(self)

    def __repr__(self) -> str:
        return str(str.__repr__(self))

    def __format__(self, spec: str) -> str:
        return self.pliant_text("", spec) if spec and is_tracing() else text(str.__format__(self, spec))

    def pliant_text(self, conversion: str, spec: str) -> str:
        """Text that this is put into."""
        return noted(Whole(str.__str__(self), ((conversion, spec),)), "text")

    def __add__(self, other: Any) -> Text:
        return Text(str.__add__(self, other))

    def __radd__(self, other: Any) -> Text:
        return Text(str.__add__(other, self))


def _refusing(name: str) -> Callable[..., Any]:
    plain = getattr(str, name, None)

    def refusing(self: Text, *args: Any, **options: Any) -> Any:
        if plain is not None and not is_tracing():
            return plain(self, *args, **options)
        raise (
            TracedValueError(
                "Python needs the text of a number that is known only at run time",
                hint="ask the number itself, or make the text of it after the call",
            )
            .at(("needed here", here()))
            .needing(*_behind(self))
        )

    return refusing


def _behind(made: str) -> list[Value]:
    """The numbers, and conditions, on which text depends."""
    texts = current().outermost.texts
    found = [texts.get(int(number)) for number in _NUMBER.findall(str.__str__(made))]
    more = [v for x in found if type(x) is Whole for v in _behind(x.text)]
    numbers = [x.value for x in found if type(x) is Number] + [x.condition for x in found if type(x) is Either]
    return [*more, *numbers]


for _name in (*dir(str), "__int__", "__float__"):
    if (_name not in _SHOWN and _name not in Text.__dict__) or _name == "__hash__":
        setattr(Text, _name, _refusing(_name))


def text(made: str) -> str:
    """Text that may hold the type of a number: a `Text` then, as long as there is a trace that could ask it."""
    return Text(made) if is_unknown(made) and is_tracing() else made


@frozen
class Number:
    """An array, or a number: a scalar of NumPy's, or one of Python's."""

    value: Value
    is_scalar: bool
    is_weak: bool
    steps: Steps
    lengths: tuple[Value | None, ...] = ()


@frozen
class Either:
    """One of two texts, by a condition."""

    condition: Value
    one: str
    two: str


@frozen
class Whole:
    """Text that is put into a format."""

    text: str
    steps: Steps


def noted(content: Number | Either | Whole, shown: str) -> str:
    """What stands for something in text. shown: what it is called."""
    if not isinstance(content, Either) and any([is_unknown(spec) for _, spec in content.steps]):
        raise TracedValueError(
            "Python needs a format, but part of it is a number that is known only at run time",
            hint="write the width and the precision as numbers, or pass them as Python's from outside",
        ).at(("needed here", here()))
    number = next(_marks)
    current().outermost.texts[number] = content
    return text(f"<traced {_without_marks(shown)} #{number}>")


def _without_marks(shown: str) -> str:
    return unmarked(shown).replace("<traced ", "").translate({ord("<"): None, ord(">"): None})


def unmarked(made: str) -> str:
    """Text in which what is known only at run time has no number."""
    return _NUMBER.sub(lambda found: found[0].rpartition(" #")[0] + ">", str.__str__(made))


def pieces_of(made: str) -> list[Any]:
    """Text, as what is known of it and the contents of its marks; those of another call are text."""
    texts, found = current().outermost.texts, list[Any]()
    end = 0
    for mark in _NUMBER.finditer(made):
        content = texts.get(int(mark[1]))
        if content is not None:
            found += [made[end : mark.start()], content]
            end = mark.end()
    return [piece for piece in [*found, made[end:]] if piece != ""]


class Shown:
    """What stands for something that is known only at run time, and makes its text."""

    __slots__ = ()

    def pliant_text(self, conversion: str, spec: str) -> str:
        """Its text, by a step of `show.Steps`."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.pliant_text("r", "")

    def __str__(self) -> str:
        return self.pliant_text("s", "")

    def __format__(self, spec: str) -> str:
        return self.pliant_text("", spec)


def as_text(x: Any, conversion: str, spec: str) -> str:
    """The text of anything, by a step of `show.Steps`."""
    return x.pliant_text(conversion, spec) if isinstance(x, Shown | Text) else formatted(x, ((conversion, spec),))


def percent(template: str, given: Any) -> str:
    """`template % given`, of what may be known only at run time."""
    rest, taken = [*parts_of(given)], list[Any]()
    if not any([isinstance(x, Shown | Text) for x in rest]):
        return template % given

    def one(found: re.Match[str]) -> str:
        key, spec = found[1], found[0].replace(f"({found[1]})", "", 1)
        if found[2] == "%" or (key is None and not rest):
            return found[0]
        x: Any = rest.pop(0) if key is None else given[key]
        is_shown = isinstance(x, Shown | Text)
        taken.append(x.pliant_text("%", spec) if is_shown else x)
        return "%s" if is_shown else spec

    made = _PERCENT.sub(one, template)
    return made % tuple(taken if isinstance(given, dict) else [*taken, *rest])


def parts_of(given: Any) -> list[Any]:
    """What a template with % is given."""
    if isinstance(given, dict):
        return [*cast("dict[Any, Any]", given).values()]
    return [*cast("tuple[Any, ...]", given)] if isinstance(given, tuple) else [given]


def shown(x: Any) -> Any:
    """The plain text that a `Text` is; anything else as it is."""
    return str.__str__(x) if type(x) is Text else x


def is_unknown(x: Any) -> bool:
    """Whether something is text made of what is known only at run time."""
    return isinstance(x, str) and _MARK.search(x) is not None


def without_unknown(x: Any) -> Any:
    """The same text with dots for what is known only at run time; anything else as it is."""
    return _MARK.sub("…", x) if isinstance(x, str) else x


def known_text(x: Any, what: str) -> Any:
    """An object that outlives a step, or a call, of which `what` says; an error if it is text made of a number."""
    if is_unknown(x):
        behind = _behind(x)
        error = UnsupportedError(
            f"text made of a number that is known only at run time is {what}",
            hint="keep the number, and make the text of it after the call",
        ).at(*[("of the number made here", value.origin) for value in behind[:1]], ("here", here()))
        raise error.needing(*behind) if all([value.dtype == "bool" for value in behind]) else error  # it is of words
    return x


def method(holder: str, name: str) -> Callable[..., Any]:
    """A method of text that makes text."""
    return lambda *args, **options: text(getattr(holder, name)(*args, **options))
