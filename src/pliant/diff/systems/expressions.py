"""NumPy arrays of the scalar expressions of CasADi or SymPy.

NumPy's functions of such an array work element by element on the expressions: `functions` of its
class gives a function of scalars for each of NumPy's names.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, cast

import numpy as np

from pliant.errors import UnsupportedError
from pliant.frontend.kinds import is_array

# what Python's operators do on any expression
_OWN = ("add", "subtract", "multiply", "divide", "negative", "positive", "power", "matmul", "conjugate")
# what depends on how numbers compare
_BY_VALUE = ("sort", "argsort", "argmax", "argmin", "searchsorted", "partition", "argpartition", "unique", "nonzero")


class ExpressionArray(np.ndarray[Any, Any]):
    """An array of dtype object; one of rank 0 stays an array."""

    library: ClassVar[str]
    functions: ClassVar[Mapping[str, Callable[..., Any]]]

    def __getitem__(self, key: Any) -> Any:
        """A part; an element as an array of rank 0."""
        made = np.asarray(self)[self._place(key)]
        return filled(type(self), made)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Write a part: an array of rank 0 as the expression that it holds."""
        is_single = is_array(value) and not value.shape
        np.asarray(self)[self._place(key)] = np.asarray(value)[()] if is_single else value

    def _place(self, key: Any) -> Any:
        """A key; UnsupportedError if it depends on symbols."""
        parts = cast("tuple[Any, ...]", key) if isinstance(key, tuple) else (key,)
        if any([isinstance(k, ExpressionArray) for k in parts]):
            raise self.unknown("an index")
        return cast("Any", key)

    @property
    def truth(self) -> bool | None:
        """Whether the single element holds; None if that depends on symbols."""
        element = np.asarray(self).item()
        if getattr(element, "free_symbols", None):  # SymPy's sums of them would be true
            return None
        try:
            return bool(element)
        except (RuntimeError, TypeError):
            return None

    def __bool__(self) -> bool:
        if self.truth is None:
            raise self.unknown("a condition")
        return self.truth

    def __index__(self) -> int:
        try:
            return operator.index(np.asarray(self).item())
        except (RuntimeError, TypeError):
            raise self.unknown("an integer") from None

    __int__ = __index__

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """NumPy's operator on expressions, or the library's function of them."""
        raw = [np.asarray(x) if is_array(x) else x for x in inputs]
        if "out" in options:
            options["out"] = tuple([np.asarray(x) for x in options["out"]])
        options.pop("dtype", None)
        if ufunc is np.square:
            return self * self
        if ufunc is np.reciprocal:
            return 1 / self
        if ufunc is np.power:
            raw[1] = np.asarray(filled(type(self), whole(raw[1])))  # one of CasADi's expressions would do it all
        if ufunc.__name__ in _OWN:
            return filled(type(self), getattr(ufunc, method)(*raw, **options))
        scalar = self.function(ufunc.__name__)
        if method == "__call__":
            return filled(type(self), np.frompyfunc(scalar, ufunc.nin, 1)(*raw, **options))
        if method == "reduce" and ufunc.nin == 2:
            return filled(type(self), _reduced(scalar, raw[0], **options))
        raise self.unsupported(f"{ufunc.__name__}.{method}")

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """`where` of expressions; NumPy's own function for all that moves elements."""
        if func is np.where and len(args) == 3:
            return filled(type(self), np.frompyfunc(self.function("where"), 3, 1)(*map(np.asarray, args)))
        if func.__name__ in _BY_VALUE or (func.__module__ == "numpy.linalg" and func is not np.linalg.norm):
            raise self.unsupported(func.__name__)
        made: Any = np.ndarray.__array_function__(self, func, types, args, kwargs)
        if isinstance(made, list | tuple):
            return type(cast("Any", made))([_kept(type(self), part) for part in cast("Any", made)])
        return _kept(type(self), made)  # some of NumPy's functions drop subclasses

    @classmethod
    def function(cls, name: str) -> Callable[..., Any]:
        """The library's function for one of NumPy's names."""
        if name not in cls.functions:
            raise cls.unsupported(name)
        return cls.functions[name]

    @classmethod
    def unsupported(cls, name: str) -> UnsupportedError:
        """The error for what has no expression."""
        return UnsupportedError(
            f"{cls.library} has no expression for numpy.{name}", hint="use Pliant(), or JAX(plain=True)"
        )

    @classmethod
    def unknown(cls, what: str) -> UnsupportedError:
        """The error for what a program needs to know that depends on symbols."""
        return UnsupportedError(
            f"{cls.library} makes expressions, and {what} of the program depends on what numbers they stand for",
            hint="use Pliant(); or np.where, and for loops of a known number of steps",
        )


def array_class(library: str, functions: Mapping[str, Callable[..., Any]]) -> type[ExpressionArray]:
    """The arrays of a library, by its functions of scalars under NumPy's names."""
    return type("Expressions", (ExpressionArray,), {"library": library, "functions": functions})


def filled(kind: type[ExpressionArray], made: Any) -> Any:
    """An object array, or a single expression or number, as an array of this kind; other arrays as they are."""
    if is_array(made):
        return made.view(kind) if made.dtype == object else made
    array = np.empty((), object)
    array[()] = made
    return array.view(kind)


def is_condition(e: Any) -> bool:
    """Whether an expression is one of SymPy's that hold or do not; those of CasADi are 0 and 1."""
    return getattr(e, "is_Boolean", False) or getattr(e, "is_Relational", False)


def whole(numbers: Any) -> Any:
    """Numbers with 2.0 as 2: libraries know then that x**2 is no root, and that 1*x is x."""
    return np.frompyfunc(lambda e: int(e) if isinstance(e, float) and e.is_integer() else e, 1, 1)(numbers)


def _kept(kind: type[ExpressionArray], made: Any) -> Any:
    """What a function of NumPy returned, with object arrays as arrays of this kind."""
    return filled(kind, made) if is_array(made) else made


def _reduced(scalar: Callable[..., Any], x: Any, axis: Any = 0, keepdims: bool = False, **_: Any) -> Any:
    """A function of two scalars, folded over axes."""
    axes = range(x.ndim) if axis is None else [a % x.ndim for a in np.atleast_1d(axis)]
    fold = np.frompyfunc(scalar, 2, 1)
    for a in sorted(axes, reverse=True):
        x = fold.reduce(x, axis=a, keepdims=keepdims)
    return x


def expressions(kind: type[ExpressionArray], values: Any, shape: tuple[int, ...]) -> Any:
    """An array of these expressions, in row-major order."""
    made = np.empty(len(values), object)
    for n, value in enumerate(values):
        made[n] = value
    return made.reshape(shape).view(kind)
