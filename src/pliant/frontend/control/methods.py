"""The methods of lists that a loop extends, or that conditions do, and of lists at places known only at run time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, Final, cast

from pliant.core.ir import Const, const
from pliant.frontend.array import TracedArray
from pliant.frontend.control.branch import choose, compare, either
from pliant.frontend.control.chosen import is_stand_in, same
from pliant.frontend.control.fronts import front_of
from pliant.frontend.control.growth import Growth, growth_of
from pliant.frontend.control.growth import item as plain_item
from pliant.frontend.control.items import INDEX
from pliant.frontend.control.lists import asked, change, extend, found, is_open, item
from pliant.frontend.control.sections import are_equal_to, part, place_in, with_new, without
from pliant.frontend.control.signals import TRUTH
from pliant.frontend.control.unbound import Unbound
from pliant.frontend.convert import as_traced, value_of
from pliant.frontend.failures import fail_if
from pliant.frontend.number import with_kind
from pliant.frontend.tracing import is_tracing
from pliant.ops.compare import equal

PLAIN: Final = frozenset(("append", "extend", "clear", "copy"))
"""Methods that need not know how many elements there are."""

OWN: Final = ("pop", "insert", "remove", "index", "count", "reverse", "extend")

ASKING: Final = ("index", "count")
"""Those that look at elements, and change none."""


def method(holder: Any, name: str) -> Callable[..., Any] | None:
    """A method of a list that has a front, or whose arguments or elements may be traced; None for anything else."""
    if type(holder) is not list or not is_tracing():
        return None
    front, growth = front_of(holder), growth_of(holder)
    if growth is not None and name not in PLAIN and not name.startswith("__"):
        return partial(_of_ends, holder, growth, name)
    if name in OWN and (front is not None or name != "reverse"):
        return partial(_method, holder, name)
    if front is None or name in PLAIN or name == "sort" or name.startswith("__"):
        return None
    raise front.refused(f".{name}")


def _method(holder: list[Any], name: str, *args: Any) -> Any:
    """`holder.name(*args)`."""
    if name == "extend":
        return extend(holder, *args)
    known = args[:1] if name in ("pop", "insert") else (*args, *holder)  # what decides which elements are meant
    if front_of(holder) is None and not is_open(*known) and not any(map(is_stand_in, known)):
        return getattr(holder, name)(*args)
    if name == "pop":
        return _pop(holder, *args)
    if name == "insert":
        key, x = args
        return change(holder, ".insert", with_new(holder, key, x))
    if name == "reverse":
        return change(holder, ".reverse", part(holder, slice(None, None, -1)))
    (x,) = args
    equals = found(holder, f".{name}", _are_equal_to(holder, x))
    if name == "count":
        return with_kind(equals.sum().value, INDEX)
    place = place_in(equals, ValueError(f"list.{name}(x): x not in list"))
    if name == "index":
        known = place.value.op  # a constant where the program is made for that place
        return cast("int", known.value) if isinstance(known, Const) else place
    after = without(holder, place, IndexError())
    return change(holder, ".remove", _without_one(holder, place) if after is None else after)


def _are_equal_to(holder: list[Any], x: Any) -> TracedArray | None:
    """Which of the elements are an object or equal it; None if they cannot be compared."""
    made = are_equal_to(holder, x)
    if made is not None or front_of(holder) is not None:
        return made
    answers = [either(same(y, x), lambda y=y: asked(compare(("Eq",), y, lambda: x))) for y in holder]
    return as_traced([with_kind(value_of(answer, "bool"), TRUTH) for answer in answers]) if answers else None


def _without_one(holder: list[Any], place: Any) -> list[Any] | None:
    """Lists, dicts and objects but for the one at a place known only at run time; None if they are not alike."""
    if front_of(holder) is not None:
        return None
    pairs = enumerate(pairwise(holder))
    made = [choose(place > n, lambda x=x: x, lambda y=y: y) for n, (x, y) in pairs]
    return None if any([type(x) is Unbound for x in made]) else made


def _of_ends(holder: list[Any], growth: Growth, name: str, *args: Any) -> Any:
    """A method of a list that grows in a loop: elements may be put in front, and those be taken from an end that the
    step has put there."""
    key = args[0] if args else -1
    if (name == "insert" and type(key) is int and not key) or (name == "pop" and growth.has_new(key)):
        return getattr(holder, name)(*args)
    raise growth.refused()


def _pop(holder: list[Any], key: Any = -1) -> Any:
    """`holder.pop(key)`."""
    front = front_of(holder)
    if front is not None and not front.form.room:
        raise IndexError("pop from empty list")
    if front is not None and isinstance(key, int) and key in (-1, 0):
        if not front.form.low.is_at_least(1):
            fail_if(equal(front.count, const(0, "i64")), IndexError("pop from empty list"))
        made = item(holder, key)
        rest = [front.without_first()] if not key else holder[:-1] if len(holder) > 1 else [front.without_last()]
        change(holder, ".pop", rest)
        return made
    after = found(holder, ".pop", without(holder, key, IndexError("pop index out of range")))
    made = plain_item(holder, key) if front is None else front.item(key)
    change(holder, ".pop", after)
    return made
