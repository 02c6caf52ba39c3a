"""Names from outside that a function binds to what it computes: arguments, as objects of one attribute.

w = np.zeros(3)
def step(g):                `step` gets what `w` is bound to as an argument; what it binds `w` to is a result, to which
    global w                each call binds the name
    w = w - 0.5 * g
"""

from __future__ import annotations

from collections.abc import Iterable
from types import CellType
from typing import Any, Final, final

from pliant.frontend.attributes import HELD, attributes
from pliant.frontend.control.region import Place, place_of
from pliant.frontend.guards import is_module
from pliant.frontend.kinds import is_of
from pliant.frontend.missing import MISSING
from pliant.frontend.records import OPENED, register
from pliant.frontend.reference import NAMESPACE
from pliant.frontend.signature import UNNAMED
from pliant.frontend.tracing import Trace

LIMITS: Final = -(2**31), 2**31 - 1
"""Of Python's integers that are arguments because a name holds them: programs compute in 64 bits, Python does not."""


@final
class Name:
    """A global name, or one of a function around, as an object that has what it is bound to."""

    __slots__ = ("place",)

    def __init__(self, place: Place) -> None:
        self.place = place

    @classmethod
    def of(cls, holder: Any, key: str) -> Name:
        """A name in a cell, or among the global ones of a module."""
        return cls(place_of("name" if is_of(holder, CellType) else "item", holder, key))

    @property
    def content(self) -> Any:
        """What the name is bound to."""
        content = self.place.get()
        if content is MISSING:
            raise AttributeError(self.place.key)
        return content

    @content.setter
    def content(self, content: Any) -> None:
        self.place.set(content)

    @content.deleter
    def content(self) -> None:
        self.place.set(MISSING)

    @property
    def bound(self) -> tuple[Any, str]:
        """The cell, or the dict of names, in which it is, and its name there."""
        return self.place.holder, self.place.key

    @property
    def is_large(self) -> bool:
        """Whether it is bound to an integer that only Python computes with as it should."""
        content = self.place.get()
        return type(content) is int and not LIMITS[0] <= content <= LIMITS[1]

    def collect(self, trace: Trace) -> int:
        """Have the name itself be bound to what a trace binds it to; the id of the cell that has held that."""
        number, is_cell = self.place.number, self.place.kind == "name"
        cell = trace.fronts.get(number) if is_cell else trace.rebound.get(number, {}).get(self.place.key)
        if cell is None:
            return self.place.number
        self.place.set(place_of("name", cell).get())
        return id(cell)


def is_named(holder: Any) -> bool:
    """Whether something holds what names are bound to: a cell, or the global names of a module."""
    return is_of(holder, CellType) or is_module(holder)


def which(x: Any) -> Any:
    """What tells something from outside from other such things."""
    return (x.place.number, x.place.key) if type(x) is Name else id(x)


def _apart(x: Name) -> tuple[tuple[Any, ...], tuple[str, ...], tuple[str, ...]]:
    held = attributes(x)
    return tuple(held.values()), tuple(held), tuple([UNNAMED for _ in held])


def _stand_in(_: Iterable[str], contents: Iterable[Any]) -> Name:
    """What has an argument while the function is traced."""
    return Name.of(CellType(*contents), "")


setattr(Name, HELD, ("content",))
register(Name, _apart, _stand_in, namespace=NAMESPACE)
OPENED.add(Name)
