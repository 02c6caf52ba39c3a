"""What the entry of a compiled program is told of the calls that it takes: arguments, conditions, results.

An entry answers calls of exactly one form, at once; any other it refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Any, Final, TypeAlias, final

from pliant.core.data import frozen

Part: TypeAlias = "Array | Number | Numbers | Constant | Container | Whole | Target"
Made: TypeAlias = "Result | Element | Elements | Given | Passed | Came | View | Front | Constant | Container | Choice"


@final
@frozen
class Array:
    """An argument that is a parameter's array. `strides` in bytes, if it is not row-major; `order` of its axes, if that
    is not the parameter's; `shape`, if the parameter is its memory from the lowest element to the highest.

    If it is not `is_aligned`, it may lie anywhere and is copied. An object of class `kind` that is no NumPy array
    becomes one by `convert`, which shares its memory.
    """

    number: int
    strides: tuple[int, ...] | None = None
    kind: type | None = None
    convert: Callable[[Any], Any] | None = None
    order: tuple[int, ...] | None = None
    shape: tuple[int, ...] | None = None
    is_aligned: bool = True


@final
@frozen
class Number:
    """An argument that is a parameter's scalar: a Python number, or NumPy's of the parameter's dtype.

    A Python int between `limits` only, if there are any. `offset`: in bytes, of the element that it is of a parameter
    that is a vector; in `Numbers`, at each step of these `steps` further on, the outermost first.
    """

    number: int
    kind: type
    limits: tuple[int, int] | None = None
    offset: int | None = None
    steps: tuple[int, ...] = ()


@final
@frozen
class Numbers:
    """A list or tuple of just so many numbers that are elements of parameters, or of lists of such."""

    kind: type
    count: int
    item: Number | Container | Numbers


@final
@frozen
class Constant:
    """An object that is known: as an argument it is this one, or equals it."""

    value: Any


@final
@frozen
class Target:
    """An array of `out=` that receives a result. `parameter`: the one that it lies in the memory of, if any."""

    result: int
    strides: tuple[int, ...] | None = None
    parameter: int | None = None


@final
@frozen
class Container:
    """A tuple, named tuple, list or dict of exactly this class, or an object with attributes; `keys` of a dict, or the
    names of attributes, in their order. What a name is bound to, if it is `bound` in a cell, or in a dict of names."""

    kind: type
    parts: tuple[Any, ...]
    keys: tuple[Any, ...] = ()
    bound: tuple[Any, str] | None = None


@final
@frozen
class Whole:
    """A list, whatever it holds, but for whether it is empty."""

    is_empty: bool


@final
@frozen
class Result:
    """A new object for a result of the program: kind "array", "scalar" (NumPy's) or "python"."""

    number: int
    kind: str


@final
@frozen
class Element:
    """A number, of kind "scalar" (NumPy's) or "python", that lies in a result so many bytes from its beginning; in
    `Elements`, at each step of these `steps` further on, the outermost first."""

    of: int
    kind: str
    offset: int
    steps: tuple[int, ...] = ()


@final
@frozen
class Elements:
    """A list or tuple of just so many numbers or views, or of lists of such."""

    kind: type
    count: int
    item: Element | View | Container | Elements


@final
@frozen
class Given:
    """The very array that came for a parameter."""

    number: int


@final
@frozen
class Passed:
    """The argument at a place: positional ones first, then those by keyword."""

    place: int


@final
@frozen
class Came:
    """The object that came as an argument, or as a part of one."""

    part: Part


@final
@frozen
class Put:
    """What a list or dict is given at a place, or an object as an attribute; what is appended to a list, if that is
    `Whole`."""

    into: Container | Whole
    key: Any
    content: Made


@final
@frozen
class Choice:
    """One of several objects, of which the result `number` is its number; none is a view."""

    number: int
    sides: tuple[Made, ...]


@final
@frozen
class View:
    """A view of the memory of an array; strides and offset in bytes, and `steps` as of `Element`."""

    of: Result | Given | Constant
    dtype: Any
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    is_writeable: bool
    steps: tuple[int, ...] = ()


@final
@frozen
class Front:
    """The first elements along each axis of a new array: as many as the result of that number says, or all. They are
    a copy where they are at most half of the array."""

    of: Result
    counts: tuple[int | None, ...]


@final
@frozen
class Conditions:
    """What must hold outside the arguments."""

    items: tuple[tuple[dict[Any, Any], str, Any], ...] = ()  # (dict, key, the value there)
    elements: tuple[tuple[list[Any], int, Any], ...] = ()  # (list, index, the element)
    sizes: tuple[tuple[Any, int], ...] = ()  # (container, its length)
    keys: tuple[tuple[dict[Any, Any], tuple[Any, ...]], ...] = ()  # (dict, its keys in their order)
    cells: tuple[tuple[Any, Any], ...] = ()  # (cell, what it holds)
    others: Callable[[], bool] | None = None
    absent: tuple[tuple[dict[Any, Any], str], ...] = ()  # (dict, a key that it does not have)
    functions: tuple[tuple[Any, Any, Any, Any], ...] = ()  # (function, its code, defaults, those by name)


@final
@frozen
class Call:
    """The calls that an entry takes.

    outside: objects that are read before the arguments. captured: the arrays of the last parameters, with what they
    are. written: (parameter, result) that is to be left there. puts: what containers are given at the end.
    are_different: whether no list, dict or object may be there twice, however many there are. apart: pairs of
    parameters that may have no byte in common. rebuild: makes what is returned of a tuple, if it is more than tuples,
    lists and dicts. failed: the result that is not 0 if the function raises: then nothing is written, and the call is
    not taken. decided: code for numbers, of the same parameters, and what they are: a call of others is not taken.
    vectors: the parameters whose elements are numbers among the arguments.
    """

    positional: tuple[Part, ...]
    returned: Made
    keywords: tuple[tuple[str, Part], ...] = ()
    outside: tuple[tuple[Any, Part], ...] = ()
    captured: tuple[tuple[Any, Array], ...] = ()
    written: tuple[tuple[int, int], ...] = ()
    puts: tuple[Put, ...] = ()
    are_different: bool = False
    apart: tuple[tuple[int, int], ...] = ()
    conditions: Conditions = field(default_factory=Conditions)
    rebuild: Callable[[Any], Any] | None = None
    failed: int | None = None
    decided: tuple[Any, tuple[Any, ...]] | None = None
    vectors: tuple[int, ...] = ()


def looped(parts: Sequence[Any]) -> Any:
    """What a loop reads or makes in place of parts: each of them, at its step; None if they are too few, or not each as
    much further on than the one before."""
    item = _in_steps(parts[0], parts[1]) if len(parts) >= MANY else None
    return item if item is not None and all([_at_step(item, n) == x for n, x in enumerate(parts)]) else None


def _in_steps(a: Any, b: Any) -> Any:
    """What is `a` at the first step of a loop and `b` at the second, each part further on by as much; None if nothing
    is."""
    if type(a) is not type(b):
        return None
    if isinstance(a, Element | View | Number):
        return None if a.offset is None or b.offset is None else replace(a, steps=(b.offset - a.offset, *a.steps))
    if isinstance(a, Elements | Numbers):
        item = _in_steps(a.item, b.item)
        return None if item is None else replace(a, item=item)
    if isinstance(a, Container) and a.kind in (list, tuple) and len(a.parts) == len(b.parts):
        parts = tuple([_in_steps(x, y) for x, y in zip(a.parts, b.parts, strict=True)])
        return None if None in parts else replace(a, parts=parts)
    return None


def _at_step(x: Any, n: int) -> Any:
    """What something that is made, or read, in steps is at the n-th."""
    if isinstance(x, Elements | Numbers):
        return replace(x, item=_at_step(x.item, n))
    if isinstance(x, Container):
        return replace(x, parts=tuple([_at_step(part, n) for part in x.parts]))
    return replace(x, offset=x.offset + n * x.steps[0], steps=x.steps[1:])


MANY: Final = 8  # parts of a list that a loop reads or makes

MISSED: Final = object()
"""What an entry returns for a call that it does not take."""
