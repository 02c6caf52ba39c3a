"""Python's operators of traced arrays as ufuncs, and what an array does not know itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

import numpy as np

from pliant.core.origin import here
from pliant.errors import DTypeError

if TYPE_CHECKING:
    from pliant.frontend.array import TracedArray


class Dispatch(Protocol):
    """What an array does not know itself; installed by `pliant.frontend`."""

    def ufunc(self, which: np.ufunc, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Apply a ufunc or one of its methods."""
        ...

    def operator(self, which: np.ufunc, *args: Any) -> Any:
        """Apply a Python operator."""
        ...

    def function(self, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Apply a NumPy function."""
        ...

    def getitem(self, x: TracedArray, key: Any) -> Any:
        """`x[key]`."""
        ...

    def setitem(self, x: TracedArray, key: Any, y: Any) -> None:
        """`x[key] = y`."""
        ...

    def inplace(self, which: np.ufunc, x: TracedArray, y: Any) -> TracedArray:
        """`x op= y`."""
        ...

    def method(self, x: TracedArray, name: str) -> Callable[..., Any] | None:
        """A method of ndarray, bound to x."""
        ...

    def flat(self, x: TracedArray) -> Any:
        """`x.flat`."""
        ...


def binary(ufunc: np.ufunc) -> Callable[[TracedArray, Any], Any]:
    """`x op y`."""
    return lambda self, other: self.dispatch.operator(ufunc, self, other)


def ordered(ufunc: np.ufunc, symbol: str) -> Callable[[TracedArray, Any], Any]:
    """`x < y` and its like, which Python's complex numbers do not have."""

    def compare(self: TracedArray, other: Any) -> Any:
        if self.is_weak:
            names = _name_of(self), _name_of(other)
            if "complex" in names and None not in names:
                text = f"{symbol!r} not supported between instances of {names[0]!r} and {names[1]!r}"
                raise DTypeError(text, hint="compare abs(z), z.real or z.imag").at(("here", here()))
        return self.dispatch.operator(ufunc, self, other)

    return compare


def _name_of(x: Any) -> str | None:
    """The type of a number of Python's; None for anything else."""
    if getattr(x, "is_weak", False):
        return {"b": "bool", "i": "int", "f": "float", "c": "complex"}[x.type.kind]
    return cast("Any", type(x)).__name__ if type(x) in (bool, int, float, complex) else None


def reflected(ufunc: np.ufunc) -> Callable[[TracedArray, Any], Any]:
    """`y op x`, where y leaves it to x."""
    return lambda self, other: self.dispatch.operator(ufunc, other, self)


def unary(ufunc: np.ufunc) -> Callable[[TracedArray], Any]:
    """`op x`."""
    return lambda self: self.dispatch.operator(ufunc, self)


def inplace(ufunc: np.ufunc) -> Callable[[TracedArray, Any], Any]:
    """`x op= y`."""
    return lambda self, other: self.dispatch.inplace(ufunc, self, other)


def times(*, is_reflected: bool) -> Callable[[TracedArray, Any], Any]:
    """`x * y`; an integer says how often to repeat a list, tuple or text, and no other number does."""
    plain = (reflected if is_reflected else binary)(np.multiply)

    def multiply(self: TracedArray, other: Any) -> Any:
        if not isinstance(other, list | tuple | str | bytes) or not (self.is_scalar or self.is_weak):
            return plain(self, other)
        if self.type.kind not in ("iub" if self.is_weak else "iu"):
            name = _name_of(self) or f"numpy.{self.dtype.type.__name__}"
            raise DTypeError(f"can't multiply sequence by non-int of type {name!r}").at(("here", here()))
        if self.is_weak:  # Python repeats a list in place
            return NotImplemented
        return cast("Any", other) * self.__index__()

    return multiply


def power(self: TracedArray, other: Any) -> Any:
    """`x ** y`; as in NumPy, an array of bools to the power of Python's 2 is its square, i8, and one of complex numbers
    to that of 0.5 its root, which differs at ends."""
    is_square = type(other) is int and other == 2 and self.type.kind == "b"
    is_root = type(other) is float and other == 0.5 and self.type.kind == "c"
    if (is_square or is_root) and not (self.is_scalar or self.is_weak):
        return self.dispatch.operator(np.square if is_square else np.sqrt, self)
    return self.dispatch.operator(np.power, self, other)


BINARY: Final = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.divide, "floordiv": np.floor_divide,
    "mod": np.remainder, "pow": np.power, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
    "lshift": np.left_shift, "rshift": np.right_shift, "matmul": np.matmul,
}  # fmt: skip
COMPARED: Final = {
    "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal
}  # fmt: skip
UNARY: Final = {"neg": np.negative, "abs": np.absolute, "invert": np.invert, "pos": np.positive}


def install(kind: type, updating: Callable[[np.ufunc], Callable[[Any, Any], Any]]) -> None:
    """Give a class Python's operators, and divmod, by its `__array_ufunc__`, but those that it has. updating: makes
    `x op= y`."""
    own = vars(kind)
    made: dict[str, Any] = {f"__{name}__": _applied(ufunc) for name, ufunc in (BINARY | COMPARED).items()}
    made |= {f"__r{name}__": _applied(ufunc, is_reflected=True) for name, ufunc in BINARY.items()}
    made |= {"__divmod__": _applied(np.divmod), "__rdivmod__": _applied(np.divmod, is_reflected=True)}
    made |= {f"__i{name}__": updating(ufunc) for name, ufunc in BINARY.items()}
    made |= {f"__{name}__": _applied_to_one(ufunc) for name, ufunc in UNARY.items()}
    for name in made.keys() - own.keys():
        setattr(kind, name, made[name])


def _applied(ufunc: Any, *, is_reflected: bool = False) -> Callable[[Any, Any], Any]:
    def apply(self: Any, other: Any) -> Any:
        return ufunc(other, self) if is_reflected else ufunc(self, other)

    return apply


def _applied_to_one(ufunc: Any) -> Callable[[Any], Any]:
    def apply(self: Any) -> Any:
        return ufunc(self)

    return apply
