"""What stands for a name that may have no value, or none that a program can hold: its use is an error."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from traceback import walk_tb
from typing import Any, NoReturn, TypeVar, final

from pliant.core.ir import Value, Values
from pliant.core.origin import Origin, here
from pliant.errors import UnboundError
from pliant.frontend.attributes import HELD
from pliant.frontend.control.rewrite import BLOCK
from pliant.frontend.missing import MISSING
from pliant.frontend.text import Either, Shown, as_text, noted, shown, text
from pliant.frontend.tracing import current, is_tracing

T = TypeVar("T")

_USES = (
    "add sub mul truediv floordiv mod divmod pow matmul and or xor lshift rshift radd rsub rmul rtruediv rfloordiv "
    "rmod rdivmod rpow rmatmul rand ror rxor rlshift rrshift iadd isub imul itruediv ifloordiv imod ipow imatmul "
    "iand ior ixor ilshift irshift lt le gt ge eq ne neg pos abs invert bool int float complex index len iter next "
    "getitem setitem delitem contains call enter round array array_ufunc array_function"
).split()


def _refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise self.refused()


def _refuse_attribute(self: Any, name: str) -> NoReturn:
    raise AttributeError(name) if name == "__dict__" else self.refused()


def refusing(kind: type[T]) -> type[T]:
    """A class whose objects raise what their `refused` returns, whatever is done with them. They hold nothing."""
    for use in _USES:
        setattr(kind, f"__{use}__", _refuse)
    setattr(kind, "__getattr__", _refuse_attribute)  # noqa: B010
    setattr(kind, HELD, ())
    setattr(kind, "__hash__", object.__hash__)  # noqa: B010
    return kind


@final
@refusing
class Unbound(Shown):
    """A name without a value, and why. `value` is what it is if the block before was left in one of some `ways`, or
    if a `flag` holds: see `partly`. `needs`: what would have to be known for it to have one. `choice`: the condition by
    which it would be one of two objects, and these: see `chosen`."""

    __slots__ = ("_hint", "_message", "_needs", "_place", "choice", "flag", "name", "value", "ways")

    def __init__(self, message: str, hint: str, place: Origin | None = None, needs: Values = ()) -> None:
        self._message, self._hint, self._place, self._needs = message, hint, place or here(), needs
        self.ways: frozenset[int] = frozenset()
        self.value: Any = MISSING
        self.name = ""
        self.choice: tuple[Value, Any, Any] | None = None
        self.flag: Any = None  # a traced one; False if only the ways tell; None if nobody may look at the value

    @classmethod
    def local(cls, name: str, flag: Any = False, value: Any = MISSING) -> Unbound:
        """A local name of the user's function, which has a value if a flag holds."""
        made = cls(
            f"{name} has a value only if a condition holds that is known only at run time",
            "give it a value before the if, or in both branches",
        )
        made.name, made.flag, made.value = name, flag, value
        return made

    @property
    def message(self) -> str:
        """Why it has no value."""
        return self._message

    @property
    def needs(self) -> Values:
        """What would have to be known for it to have a value."""
        return self._needs

    @property
    def is_flagged(self) -> bool:
        """Whether a traced flag says if it has a value."""
        return self.flag is not None and self.flag is not False

    def held(self, ways: frozenset[int], value: Any) -> Unbound:
        """The same, but with a value in some ways."""
        made = self.plain()
        made.ways = ways
        if ways or self.is_flagged:
            made.value = value
        return made

    def plain(self) -> Unbound:
        """The same without a value in any way."""
        made = Unbound(self._message, self._hint, self._place, self._needs)
        made.name, made.flag = self.name, self.flag
        if self.is_flagged:
            made.value = self.value
        return made

    def untold(self) -> Unbound:
        """The same, of which nobody can say any more if it has a value."""
        return Unbound(self._message, self._hint, self._place, self._needs)

    def saying(self, message: str, hint: str) -> Unbound:
        """The same one of two objects, with another reason why nobody knows which."""
        made = Unbound(message, hint, self._place, self._needs)
        made.choice = self.choice
        return made

    def refused(self, what: str = "", *, is_returned: bool = False) -> UnboundError:
        """The error of its use, here."""
        left = "left so here", self._place
        places = (left,) if is_returned else (("used here", here()), left)
        return UnboundError(self._message, hint=self._hint).at(*places).needing(*self._needs)

    def pliant_text(self, conversion: str, spec: str) -> str:
        if self.choice is None:
            if conversion == "%":
                raise self.refused()
            return text("<unbound>")
        condition, *both = self.choice
        one, two = (shown(as_text(x, conversion, spec)) for x in both)
        return noted(Either(condition, one, two), f"{one} or {two}") if is_tracing() else f"<{one} or {two}>"


def note_which(made: Any, condition: Value, one: Any, two: Any) -> None:
    """Remember that an object is one of two others."""
    current().outermost.choices[id(made)] = made, (condition, one, two)


def choice_of(x: Any) -> tuple[Value, Any, Any] | None:
    """The condition by which something is one of two others, and these; None if it is not."""
    if type(x) is Unbound:
        return x.choice
    if not is_tracing() or not (known := current().outermost.choices) or id(x) not in known:
        return None
    made, choice = known[id(x)]
    return choice if made is x else None


def is_chosen(x: Any) -> bool:
    """Whether something is one of two objects, and a condition says which."""
    return type(x) is Unbound and x.choice is not None


def ends_of(x: Any) -> list[Any]:
    """The objects that something may be, by conditions; itself if it is no one of two."""
    return [end for part in x.choice[1:] for end in ends_of(part)] if is_chosen(x) else [x]


setattr(Unbound, "__hash__", _refuse)  # noqa: B010  (as a key of a dict or an element of a set it would be one of its own)


@contextmanager
def as_of_one_function() -> Generator[None]:
    """Python's error about a name without a value, as if a function and its blocks were one: it is a local name."""
    try:
        yield
    except UnboundLocalError:
        raise
    except NameError as error:
        if not _is_local(error):
            raise
        message = f"cannot access local variable {error.name!r} where it is not associated with a value"
        raise UnboundLocalError(message, name=error.name).with_traceback(error.__traceback__) from None


def _is_local(error: NameError) -> bool:
    """Whether the name is one of the function that the block where the error arose is part of, and called as."""
    codes = [frame.f_code for frame, _ in walk_tb(error.__traceback__)]
    owners = [n for n, code in enumerate(codes) if error.name in code.co_cellvars]
    if not owners or error.name not in codes[-1].co_freevars:
        return False
    inside = [code.co_name for code in codes[owners[-1] + 1 :] if error.name in code.co_freevars]
    return all([name.startswith(BLOCK) or name == codes[owners[-1]].co_name for name in inside])
