"""Special methods of the user's classes, where Python itself would call them: their conditions and loops are those of
the program too, and they may return what is traced.

v + w, -v, v < w, v[i] = x        as the methods that the classes of v and w define, or inherit from the user's
if stack: …, len(stack), x in s   by `__bool__`, `__len__` and `__contains__`
with timer as t: …                by `__enter__` and `__exit__`
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable
from functools import partial
from typing import Any, Final, cast, final

import numpy as np

from pliant.core.origin import here
from pliant.core.types import Type
from pliant.errors import DTypeError, PliantError
from pliant.frontend.array import TracedArray, answers
from pliant.frontend.convert import value_of
from pliant.frontend.functions.caught import divisor
from pliant.frontend.guards import note_class, special
from pliant.frontend.kinds import is_of, stood_for
from pliant.frontend.number import Kind, with_kind
from pliant.frontend.tracing import thread
from pliant.frontend.whose import is_plain, is_users

FUNCTIONS: Final[Any] = np

_OPERATORS: Final = {"and": "and_", "or": "or_"}
_DIVIDING: Final = ("truediv", "floordiv", "mod", "divmod")
_REFLECTED: Final = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}
_PYTHONS: Final = {"b": "bool", "i": "i64", "u": "i64", "f": "f64", "c": "c128"}


def class_attribute(kind: Any, name: str) -> Any:
    """What a class, or one above it, says of a name; None if nothing."""
    return next((base.__dict__[name] for base in kind.__mro__ if name in base.__dict__), None)


def descriptor_method(found: Any, name: str) -> Any:
    """`__get__` or `__set__` of an object of the user's that a class has; None if it has none."""
    method: Any = getattr(cast("Any", type(found)), name, None)
    return method if isinstance(method, types.FunctionType) and is_users(method) else None


def own_item(holder: Any) -> Callable[..., Any] | None:
    """`__getitem__` of an object of the user's, of a subclass of a container too, as the trace sees it."""
    trace, kind = thread.trace, cast("Any", type(holder))
    if trace is None or trace.outermost.see is None or not is_of(holder, list | tuple | dict):
        return special(holder, "__getitem__")
    found = next(c.__dict__["__getitem__"] for c in kind.__mro__ if "__getitem__" in c.__dict__)
    if isinstance(found, staticmethod):
        return trace.outermost.see(found.__func__)
    is_own = isinstance(found, types.FunctionType) and is_users(found)
    return partial(trace.outermost.see(found), holder) if is_own else None


def reads_item(fn: Any) -> tuple[Any, ...] | None:
    """The container of a bound `__getitem__` of Python's own, as `super().__getitem__`; () for one that is not bound,
    as `list.__getitem__`; None for any other."""
    if getattr(fn, "__name__", "") != "__getitem__" or isinstance(fn, types.FunctionType | types.MethodType):
        return None
    if is_of(holder := getattr(fn, "__self__", None), list | tuple | dict):
        return (holder,)
    return () if getattr(fn, "__objclass__", None) in (list, tuple, dict) else None


def writes_item(fn: Any) -> Any:
    """The list or dict of a bound `__setitem__` of Python's own; None for any other function."""
    holder: Any = getattr(fn, "__self__", None) if getattr(fn, "__name__", "") == "__setitem__" else None
    is_pythons = not isinstance(fn, types.MethodType)
    return holder if is_pythons and is_of(holder, list | dict) else None


@final
class Managed:
    """An object of the user's in a `with` statement."""

    def __init__(self, enter: Callable[..., Any], exit: Callable[..., Any]) -> None:
        self.enter, self.exit = enter, exit

    def __enter__(self) -> Any:
        return self.enter()

    def __exit__(self, *error: Any) -> Any:
        return self.exit(*error)


def managed(x: Any) -> Any:
    """What a `with` statement enters and leaves in place of x."""
    trace, kind = thread.trace, cast("Any", type(x))
    see = None if trace is None else trace.outermost.see
    names = "__enter__", "__exit__"
    found = [next((c.__dict__[name] for c in kind.__mro__ if name in c.__dict__), None) for name in names]
    functions = [method for method in found if isinstance(method, types.FunctionType)]
    if trace is None or see is None or len(functions) < len(names) or not any(map(is_users, functions)):
        return x
    for name in names:
        note_class(trace.outermost, kind, name)
    return Managed(*[partial(see(method), x) for method in functions])


def told(x: Any) -> Any:
    """What is asked for its truth in place of an object whose class says what that is."""
    test = special(x, "__bool__")
    if test is not None:
        return test()
    count = special(x, "__len__")
    return x if count is None else count() != 0


def binary(name: str, x: Any, y: Any) -> Any:
    """`x op y`."""
    if name in _DIVIDING:
        divisor(x, y)
    if is_plain(cast("Any", type(x))) or is_plain(cast("Any", type(y))):
        made = _by_methods(name, x, y)
        if made is not NotImplemented:
            return made
    return _named(operator_of(name), x, y)


def _named(apply: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    """What an operator makes, or Python's error about operands that it does not take, by what they stand for."""
    try:
        return apply(x, y)
    except TypeError as error:
        traced = next((z for z in (x, y) if type(z) is TracedArray), None)
        if traced is None or isinstance(error, PliantError) or TracedArray.__name__ not in str(error):
            raise
        kind = stood_for(traced)
        name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
        raise DTypeError(str(error).replace(TracedArray.__name__, name)).at(("here", here())) from None


def operator_of(name: str) -> Callable[[Any, Any], Any]:
    """The function of `operator` for a special method of two operands."""
    return getattr(operator, _OPERATORS.get(name, name))


def unary(name: str, x: Any) -> Any:
    """`op x`."""
    method = special(x, f"__{name}__")
    return getattr(operator, name)(x) if method is None else method()


def updated(name: str, x: Any, y: Any) -> Any:
    """`x op= y`, by the name of the method: what x is bound to after it."""
    if name.removeprefix("i") in _DIVIDING:
        divisor(x, y)
    is_written = type(x) is TracedArray and not (x.is_scalar or x.is_weak) and answers(cast("Any", type(y)))
    if is_written or not (is_plain(cast("Any", type(x))) or is_plain(cast("Any", type(y)))):
        return _named(getattr(operator, name), x, y)
    method = special(x, f"__{name}__")
    made = NotImplemented if method is None else method(y)
    return binary(name.removeprefix("i"), x, y) if made is NotImplemented else made


def _by_methods(name: str, x: Any, y: Any) -> Any:
    """`x op y` by the methods of objects; NotImplemented if they have none."""
    reflected = f"__{_REFLECTED.get(name, f'r{name}')}__"
    pairs = ((x, y, f"__{name}__"), (y, x, reflected))
    for holder, other, method in pairs:
        found = special(holder, method)
        given = _given(other, holder) if holder is y else other
        if found is not None and given is not NotImplemented:
            made = found(given)
            if made is not NotImplemented:
                return made
    if name != "ne":
        return NotImplemented
    equal = _by_methods("eq", x, y)
    if equal is NotImplemented:
        return equal
    return FUNCTIONS.logical_not(equal) if type(equal) is TracedArray else not equal


def _given(x: Any, y: Any) -> Any:
    """What the reflected method of y gets for x: NumPy hands its scalars on as Python's numbers; what it does with an
    array, or a sequence, and an object is no number."""
    if type(x) is not TracedArray or x.is_weak:
        return x
    if not x.is_scalar or any([hasattr(y, name) for name in ("__len__", "__array__", "__array_ufunc__")]):
        return NotImplemented
    dtype = _PYTHONS[x.type.kind]
    return with_kind(value_of(x, dtype), Kind(Type(dtype), is_scalar=True, is_weak=True))
