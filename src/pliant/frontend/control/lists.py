"""What Python does with lists that a loop extends, or that conditions do: see `growth` and `fronts`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, cast

from pliant.core.ir import const
from pliant.frontend.control.fronts import Front, front_of
from pliant.frontend.control.growth import Growth, growth_of
from pliant.frontend.control.perhaps import whole
from pliant.frontend.control.region import note, place_of
from pliant.frontend.control.signals import TRUTH
from pliant.frontend.failures import fail_if
from pliant.frontend.number import with_kind
from pliant.frontend.selection import Selection
from pliant.frontend.sizes import Size, traced
from pliant.ops.compare import equal, less

PLAIN: Final = frozenset(("append", "extend", "clear", "copy"))
"""Methods that need not know how many elements there are."""

ASKING: Final = frozenset((
    id, isinstance, type, callable, hasattr, getattr, super, locals, globals, vars, dir, eval, exec,
))  # fmt: skip
"""Functions that do not look at the elements of a list, or look at who calls them."""


def asked(x: Any) -> Any:
    """What is asked for its truth: of a list, whether it has elements."""
    whole(x)
    front = front_of(x)
    if front is None:
        return x
    return True if front.form.low.is_at_least(1) else with_kind(less(const(0, "i64"), front.count), TRUTH)


def length(x: Any) -> Any:
    """`len`."""
    if type(x) is Selection and not x.axis:
        return x.count
    whole(x)
    front, growth = front_of(x), growth_of(x)
    found = growth if front is None else front
    return len(x) if found is None else traced(found.length)


def first_of(elements: Any, name: str) -> tuple[Any, ...]:
    """The first element, if a fold starts from it; name: of the fold, which is an error without elements."""
    growth, front = growth_of(elements), front_of(elements)
    if front is not None:
        if not front.form.low.is_at_least(1):
            fail_if(equal(front.count, const(0, "i64")), ValueError(f"{name}() iterable argument is empty"))
        return (front.read(Size(0)),)
    return () if growth is None or not growth.before else (growth.item(0),)


def item(holder: Any, front: Front, key: Any) -> Any:
    """`holder[key]`: what was appended last is known."""
    is_last = isinstance(key, int) and -len(holder) < key < 0
    return holder[key] if is_last else front.item(key)


def put(holder: Any, front: Front, key: Any, x: Any) -> None:
    """`holder[key] = x`."""
    note(place_of("whole", holder))
    holder[:] = [front.put(key, x)]


def method(holder: Any, name: str) -> Callable[..., Any] | None:
    """A method of a list that has a front; None for anything else."""
    front, growth = (front_of(holder), growth_of(holder)) if type(holder) is list else (None, None)
    if growth is not None and name not in PLAIN and not name.startswith("__"):
        return partial(_of_ends, holder, growth, name)
    if front is None or name in PLAIN or name == "sort" or name.startswith("__"):
        return None
    if name != "pop":
        raise front.refused(f".{name}")
    return partial(_pop, holder)


def _of_ends(holder: list[Any], growth: Growth, name: str, *args: Any) -> Any:
    """A method of a list that grows in a loop: elements may be put in front, and those be taken from an end that the
    step has put there."""
    key = args[0] if args else -1
    if (name == "insert" and type(key) is int and not key) or (name == "pop" and growth.has_new(key)):
        return getattr(holder, name)(*args)
    raise growth.refused()


def checked(holder: Any, key: Any) -> None:
    """An item of a list is about to be written: of one that grows in a loop, only those that the step has added."""
    growth = growth_of(holder)
    if growth is not None and not growth.has_new(key):
        raise growth.refused()


def _pop(holder: list[Any], key: int = -1) -> Any:
    """`holder.pop()`."""
    front = front_of(holder)
    assert front is not None
    if key != -1:
        raise front.refused(".pop of another element than the last")
    if not front.form.low.is_at_least(1):
        fail_if(equal(front.count, const(0, "i64")), IndexError("pop from empty list"))
    made = item(holder, front, -1)
    note(place_of("whole", holder))
    holder[:] = holder[:-1] if len(holder) > 1 else [front.without_last()]
    return made


def knowing(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of Python's, which refuses lists that have a front: it would take that for an element."""
    if function in ASKING:
        return function

    def run(*args: Any, **options: Any) -> Any:
        for x in (*args, *options.values()):
            front = front_of(x)
            if front is not None:
                raise front.refused(cast("Any", function).__name__)
        return function(*args, **options)

    return run
