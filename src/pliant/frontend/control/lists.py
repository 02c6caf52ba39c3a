"""What Python does with lists that a loop extends, or that conditions do: see `growth` and `fronts`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

from pliant.core.ir import const
from pliant.core.origin import here
from pliant.errors import DTypeError, PliantError, TracedValueError, UnsupportedError
from pliant.frontend.array import TracedArray
from pliant.frontend.bounded import Bounded
from pliant.frontend.control.chosen import truth_of_two
from pliant.frontend.control.copies import seen_too
from pliant.frontend.control.fronts import Front, as_list, checked_place, first_front, front_of
from pliant.frontend.control.growth import growth_of
from pliant.frontend.control.items import Range, is_one, steps_of
from pliant.frontend.control.objects import flatten
from pliant.frontend.control.ornone import OrNone, present, truth
from pliant.frontend.control.perhaps import in_known_order, whole
from pliant.frontend.control.region import note, place_of
from pliant.frontend.control.sections import joined, part, without
from pliant.frontend.control.signals import TRUTH
from pliant.frontend.control.specials import told
from pliant.frontend.control.unbound import is_chosen
from pliant.frontend.convert import value_of
from pliant.frontend.failures import fail_if
from pliant.frontend.guards import special
from pliant.frontend.number import with_kind
from pliant.frontend.runs import run_of
from pliant.frontend.selection import Selection
from pliant.frontend.sizes import Size, larger, size_of, traced
from pliant.ops.compare import less

T = TypeVar("T")

ASKING: Final = frozenset((
    id, isinstance, type, callable, super, locals, globals, vars, dir, eval, exec,
))  # fmt: skip
"""Functions that do not look at the elements of a list, or look at who calls them."""


def asked(x: Any) -> Any:
    """What is asked for its truth: of a list, whether it has elements, of an object, what its class says, of a number,
    or an array of one, whether that is not zero."""
    if type(x) is OrNone:
        return truth(x, asked)
    if is_chosen(x):
        return truth_of_two(x, asked)
    if type(x) is TracedArray and x.size == 1 and (x.shape or x.type.dtype != "bool"):
        number = x.reshape(()) if x.shape else x  # which may be known, as one that the program is made for
        return with_kind(value_of(number, "bool"), TRUTH) if number.concrete is None else bool(number)
    whole(x)
    front = front_of(x)
    if front is None:
        return told(x)
    return True if front.form.low.is_at_least(1) else with_kind(less(const(0, "i64"), front.count), TRUTH)


def length(x: Any) -> Any:
    """`len`."""
    if type(x) is Selection and not x.axis:
        return x.count
    count = special(x, "__len__")
    if count is not None:
        return count()
    if type(x) is Bounded and x.extents:
        return x.shape[0]
    if type(x) is Range:
        return traced(larger(size_of(cast("Any", steps_of(x)).count), Size(0)))
    whole(x)
    front, growth = front_of(x), growth_of(x)
    counted = growth if front is None else front
    return len(x) if counted is None else traced(counted.length)


def item(holder: Any, key: Any) -> Any:
    """`holder[key]` of a list or tuple that has a front, or where a bound of a slice is traced; None for others. What
    was appended last is known."""
    front = front_of(holder)
    if is_slice(key):
        if front is None and not _is_open_key(key):
            return None
        return _like(holder, found(holder, "a slice", part(holder, key)))
    if front is None:
        is_open_place = type(key) is TracedArray and key.concrete is None and not key.shape and key.type.kind in "iu"
        if not is_open_place or not is_one(holder):
            return None
        checked_place(key, Size(len(holder)), IndexError(f"{type(holder).__name__} index out of range"))
        return holder[0]
    is_last = isinstance(key, int) and -len(holder) < key < 0
    return holder[key] if is_last else front.item(key)


def put(holder: Any, key: Any, x: Any) -> bool:
    """`holder[key] = x`, where a list has a front or a bound of a slice is traced; whether it is one."""
    front = front_of(holder)
    if is_slice(key):
        is_plain = first_front(holder, x) is None and not is_open(key.start, key.stop)
        if is_plain or growth_of(holder) is not None:
            return False
        change(holder, "a slice", _replaced(holder, key, x))
        return True
    if front is not None:
        change(holder, "an item", [front.put(key, x)])
    return front is not None


def remove(holder: Any, key: Any) -> None:
    """`del holder[key]`."""
    checked(holder, key)
    if front_of(holder) is None and not _is_open_key(key):
        del holder[key]
    elif is_slice(key):
        put(holder, key, [])
    else:
        error = IndexError("list assignment index out of range")
        change(holder, "an item", without(holder, key, error))


def combined(name: str, x: Any, y: Any) -> Any:
    """`x + y` or `x * y` of lists or tuples of which one has a front; None for others."""
    in_known_order(x)
    in_known_order(y)
    front = first_front(x, y)
    if front is None or name not in ("add", "mul"):
        return None
    if name == "mul":
        elements, count = (y, x) if isinstance(x, int) else (x, y)
        made = joined(*[elements] * count) if isinstance(count, int) else None
        return _like(elements, found(elements, "a multiple", made))
    if type(x) is not type(y):
        return None
    made = joined(x, y)
    if made is None:
        raise front.refused("a sum")
    return _like(x, made)


def extend(holder: list[Any], elements: Any) -> None:
    """`holder.extend(elements)`."""
    elements = as_list(elements)
    if front_of(elements) is None:
        holder.extend(elements)
        return
    growth = growth_of(holder)
    if growth is not None:
        raise growth.refused()
    change(holder, ".extend", joined(holder, elements))


def gathered(x: Any) -> Any:
    """A list that was written down, in which `*a` has put a front at another place than the first; others as it is."""
    elements: list[Any] = x if cast("Any", type(x)) is list else []
    if not any([type(x) is Front for x in elements[1:]]):
        return x
    places = [n for n, x in enumerate(elements) if type(x) is Front and n]
    parts = [elements[i:j] for i, j in zip([0, *places], [*places, len(elements)], strict=True)]
    made = joined(*parts)
    if made is None:
        raise elements[places[0]].refused("a list of different elements: this use")
    return made


def unpacked(elements: Any, before: int, after: int, has_rest: bool) -> Any:
    """What `a, *b, c = elements` takes apart: so many names before and after the rest, if there is one."""
    elements = present(elements, TypeError("cannot unpack non-iterable NoneType object"))
    front = front_of(elements)
    if front is None:
        return elements
    least = before + after
    if not front.form.low.is_at_least(least):
        text = f"not enough values to unpack (expected {'at least ' if has_rest else ''}{least})"
        fail_if(less(front.count, const(least, "i64")), ValueError(text))
    if not has_rest and not Size(least).is_at_least(front.form.high):
        fail_if(less(const(least, "i64"), front.count), ValueError(f"too many values to unpack (expected {least})"))
    rest = found(elements, "unpacking", part(elements, slice(before, -after or None))) if has_rest else []
    return [*(front.item(n) for n in range(before)), *rest, *(front.item(n - after) for n in range(after))]


def is_slice(key: Any) -> bool:
    """Whether a key asks for a part."""
    return isinstance(key, slice)


def _is_open_key(key: Any) -> bool:
    """Whether an index or a bound of a slice is known only at run time."""
    return is_open(key.start, key.stop) if is_slice(key) else is_open(key)


def is_open(*args: Any) -> bool:
    """Whether something is a number that is known only at run time, or holds one."""
    return any([type(leaf) is TracedArray and leaf.concrete is None for leaf in flatten(args)[0]])


def found(elements: Any, what: str, made: T | None) -> T:
    """What was made of a list; an error if that is nothing."""
    if made is not None:
        return made
    front = front_of(elements)
    if front is not None:
        raise front.refused(what)
    raise UnsupportedError(
        f"{what} of a list of different elements, at a place that is known only at run time",
        hint="keep elements of one type and shape, or use an array",
    ).at(("here", here()))


def change(holder: list[Any], what: str, made: list[Any] | None) -> None:
    """Put what was made of a list into it."""
    elements = found(holder, what, made)
    seen_too(holder, is_item=False)
    note(place_of("whole", holder))
    holder[:] = elements


def _replaced(holder: list[Any], key: slice, x: Any) -> list[Any] | None:
    """The elements after `holder[key] = x`."""
    if key.step not in (None, 1):
        return None
    elements = [*x] if front_of(x) is None else x
    n = length(holder)
    start = 0 if key.start is None else key.start
    first = part(holder, slice(0, start))
    run = run_of(slice(start, key.stop), size_of(n))
    last = part(holder, slice(traced(run.start + run.count), None))
    return None if first is None or last is None else joined(first, elements, last)


def _like(x: Any, made: list[Any]) -> Any:
    """A list or tuple, as x is one."""
    return tuple(made) if isinstance(x, tuple) else made


def checked(holder: Any, key: Any) -> None:
    """An item of a list is about to be written: of one that grows in a loop, only those that the step has added."""
    growth = growth_of(holder)
    if growth is not None and not growth.has_new(key):
        raise growth.refused()


def knowing(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of Python's, which refuses lists that have a front: it would take that for an element."""
    if function in ASKING:
        return function

    def run(*args: Any, **options: Any) -> Any:
        for x in (*args, *options.values()):
            front = front_of(x)
            if front is not None:
                raise front.refused(cast("Any", function).__name__)
        try:
            return function(*args, **options)
        except TypeError as error:
            is_asked = type(error) is DTypeError and _maker_of(function) is not None
            if not is_asked and (isinstance(error, PliantError) or TracedArray.__name__ not in str(error)):
                raise
            raise _unknown(function, (args, options)) from error

    return run


_MAKERS: Final = {"jax": "from_jax", "jaxlib": "from_jax", "torch": "from_torch"}
"""What makes functions on arrays of those of another library."""


def _maker_of(function: Any) -> str | None:
    """What makes a function on arrays of one like this, if it is of another library."""
    modules = [getattr(x, "__module__", None) or "" for x in (function, cast("Any", type(function)))]
    return next((_MAKERS[m] for name in modules if (m := name.partition(".")[0]) in _MAKERS), None)


def _unknown(function: Any, given: Any) -> TracedValueError:
    """The error of a function of Python's that takes none of the numbers that are known only at run time."""
    values = [x.value for x in flatten(given)[0] if type(x) is TracedArray]
    name = f"{function.__module__}.{function.__name__}"
    message = f"{name} is a function of Python's that needs numbers, and these are known only at run time"
    hint = "call it after the compiled function, with what that returns"
    maker = _maker_of(function)
    hint += f"; pliant.{maker}(f) makes a function of arrays of one that is written with it" if maker else ""
    return TracedValueError(message, hint=hint).at(("here", here())).needing(*values)


def on_heap(plain: Callable[..., Any], traced: Callable[..., Any], /, *args: Any) -> Any:
    """A call of a function of `heapq`: of Python's, or of that which a trace looks into."""
    return (traced if is_open(*args) or first_front(*args) is not None else plain)(*args)
