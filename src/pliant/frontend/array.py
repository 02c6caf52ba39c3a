"""The array that a traced function sees: NumPy's protocols over a storage and a view."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, ClassVar, Final, cast, final

import numpy as np

from pliant.core.ir import Value
from pliant.core.origin import CodeOrigin, here, runs_in
from pliant.core.types import DTYPES, Type
from pliant.errors import (
    DTypeError,
    LayoutError,
    MissingError,
    ReadOnlyError,
    ShapeError,
    TracedValueError,
    UnsupportedError,
)
from pliant.frontend.alias import Shared
from pliant.frontend.needs import asked
from pliant.frontend.operators import Dispatch, binary, inplace, ordered, power, reflected, times, unary
from pliant.frontend.reading import read, write
from pliant.frontend.text import Number, Shown, as_text, is_unknown, noted
from pliant.frontend.tracing import Storage, current, is_tracing, short_of, strides_of, thread, type_of, unknown_dtype
from pliant.frontend.view import ImagLens, Lens, RealLens, WholeLens, chained, is_static, look
from pliant.frontend.whose import is_plain

_GROW = ": arrays do not grow; np.append(x, y) makes a new one"
NO_SCIPY: Final = (
    "say it with NumPy, or with what `python -m pliant coverage` lists of SciPy; or call it before or after the "
    "compiled function"
)
"""What to do instead of calling a function of SciPy that is not traced."""
INSTEAD: Final[dict[str, str]] = {"append": _GROW, "extend": _GROW}
"""Method of other sequences → what to do instead."""


@final
class TracedArray(Shown):
    """An array inside a traced function; it stands for what the caller will pass.

    It behaves as `numpy.ndarray` does. `is_scalar` marks what NumPy would return as a scalar
    (immutable), `is_weak` what would be a Python number (takes the dtype of what it meets).
    """

    __slots__ = ("is_scalar", "is_weak", "lenses", "made_in", "memo", "storage")
    __array_priority__ = 1000.0
    dispatch: ClassVar[Dispatch]

    def __init__(
        self, storage: Storage, lenses: tuple[Lens, ...] = (), *, is_scalar: bool = False, is_weak: bool = False
    ) -> None:
        self.storage, self.lenses, self.is_scalar, self.is_weak = storage, lenses, is_scalar, is_weak
        self.memo: tuple[Any, Any] = (None, None)
        self.made_in = thread.trace  # not that of the storage, if it is a view of what is outside

    # --- what it holds

    @property
    def value(self) -> Value:
        """The content now, as a value of the program."""
        storage = self.storage
        if not self.lenses:
            return storage.value
        key = storage.version, current().scope.number
        if self.memo[0] != key:
            self.memo = key, read(storage.value, self.lenses)
        return self.memo[1]

    @property
    def concrete(self) -> Any:
        """The content as a NumPy array, if it is known while tracing; else None."""
        array = self.storage.concrete
        if array is None:
            return thread.deciding.of(self.value) if thread.deciding is not None else None
        if not self.lenses:
            return array
        return look(array, self.lenses) if is_static(self.lenses) else None

    def replace(self, value: Value) -> None:
        """Write a value of the same type through the view."""
        if self.is_scalar or self.is_weak:
            raise TracedValueError("a NumPy scalar does not support item assignment").at(("here", here()))
        if not self.storage.may_be_written:
            raise _read_only(self.storage).at(("written here", here()))
        self.storage.write(write(self.storage.value, self.lenses, value) if self.lenses else value)

    @property
    def type(self) -> Type:
        """IR type: dtype and shape."""
        array = self.concrete
        return self.value.type if array is None else type_of(array)

    @property
    def shape(self) -> tuple[int, ...]:
        """Extent of each axis."""
        return self.type.shape

    @shape.setter
    def shape(self, shape: Any) -> None:
        self.check_own("x.shape = …", "x = x.reshape(...)")
        made = self.reshape(shape)
        if made.storage is not self.storage:
            raise LayoutError(
                "Incompatible shape for in-place modification. Use `.reshape()` to make a copy with the desired shape."
            ).at(("here", here()))
        self.lenses, self.memo = made.lenses, (None, None)

    def check_own(self, what: str, instead: str) -> None:
        """Refuse what would change an object of the caller, or one from outside of a branch or loop."""
        storage = self.storage
        if not self.lenses and (storage.index is not None or storage.source is not None):
            raise UnsupportedError(f"{what} of an array of the caller would change that array", hint=instead).at(
                ("here", here())
            )
        if self.made_in is not current():
            block = "block that may run any number of times" if current().is_region else "derivative or a batch"
            raise UnsupportedError(f"{what} in a {block}, of an array from outside of it", hint=instead).at(
                ("here", here())
            )

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy dtype; that of a caller's array may have the other order of bytes than this machine."""
        found = np.dtype(DTYPES[self.type.dtype])
        return found.newbyteorder() if not self.is_scalar and _is_swapped(self.storage) else found

    @dtype.setter
    def dtype(self, dtype: Any) -> None:
        if self.is_scalar or self.is_weak:
            raise MissingError(f"attribute 'dtype' of {self.stands_for!r} objects is not writable").at(("here", here()))
        self.check_own("x.dtype = …", "x = x.view(...)")
        made = self.view(dtype)
        self.lenses, self.memo = made.lenses, (None, None)

    @property
    def stands_for(self) -> str:
        """What Python calls the class of what it stands for."""
        return (
            weak_kind(self).__name__
            if self.is_weak
            else "numpy." + (self.dtype.type.__name__ if self.is_scalar else "ndarray")
        )

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.type.size

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    def __len__(self) -> int:
        if not self.shape:
            raise DTypeError("len() of unsized object").at(("here", here()))
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            text = (
                f"{weak_kind(self).__name__!r} object is not iterable" if self.is_weak else "iteration over a 0-d array"
            )
            raise DTypeError(text).at(("here", here()))
        return (self[i] for i in range(self.shape[0]))

    def pliant_text(self, conversion: str, spec: str) -> str:
        if conversion in ("", "%") and self.concrete is not None:
            return as_text(self.concrete.item() if self.is_weak else self.concrete[()], conversion, spec)
        if not is_tracing():
            return f"<traced {self.type}>"
        if self.is_weak:
            asked(self.value)
        steps = ((conversion, spec),)
        self._check_format(conversion, spec)
        return noted(Number(self.value, self.is_scalar or self.is_weak, self.is_weak, steps), str(self.type))

    def _check_format(self, conversion: str, spec: str) -> None:
        """What Python, or NumPy, raises of a format that is not for such arrays or numbers, at the user's line."""
        if not self.shape or not spec or is_unknown(spec):
            return
        try:
            as_text(np.broadcast_to(self.dtype.type(0), self.shape), conversion, spec)
        except TypeError as error:
            hint = "a format is for one number, as x[0]; {x} shows all elements"
            raise DTypeError(str(error), hint=hint).at(("here", here())) from None

    def __hash__(self) -> int:
        if self.is_weak or self.is_scalar:
            hint = "keep numbers in an array or a list, whose index may be traced, not in a dict or set; or say static="
            return self._known(lambda x: hash(x[()]), "a key", hint)
        raise TracedValueError(
            f"unhashable type: a traced array {self.type}, like numpy.ndarray", hint="use its shape, or an identifier"
        ).at(("here", here()))

    # --- NumPy's protocols

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> Any:
        if len(args) > 1 and any([is_above(cast("Any", type(a))) for a in args]):
            return NotImplemented
        return self.dispatch.ufunc(ufunc, method, args, kwargs)

    def __array_function__(self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if len(types) > 1 and any(is_above(t) for t in types):
            return NotImplemented
        return self.dispatch.function(func, args, kwargs)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return np

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        if self.concrete is not None:
            return np.asarray(self.concrete)
        raise self._needs_value(
            "a NumPy array with concrete elements",
            "arrays must be made by NumPy inside the traced function (np.zeros, np.array, …); "
            "a function that Pliant cannot see into needs the numbers themselves",
        )

    # --- Python's questions about the value

    def _needs_value(self, wanted: str, hint: str) -> TracedValueError:
        what = "a traced number" if not self.shape else "a traced array"
        who = "Python"
        if runs_in("scipy"):
            who, hint = "SciPy, whose functions are not traced,", NO_SCIPY
        error = TracedValueError(
            f"{who} needs {wanted} here, but {what} {self.type} has no value while tracing", hint=hint
        )
        asked(self.value)  # what asks may raise another error
        return error.at(("needed here", here()), ("made here", self.value.origin)).needing(self.value)

    def _known(self, convert: Callable[[Any], Any], wanted: str, hint: str) -> Any:
        if self.size != 1 and not (wanted == "a bool" and self.concrete is not None):
            raise TracedValueError(
                f"only an array of one element can become {wanted}, this is {self.type}",
                hint="math.* takes numbers, np.* whole arrays" if wanted == "a float" else "",
            ).at(("here", here()))
        if self.concrete is None:
            raise self._needs_value(wanted, hint)
        return convert(self.concrete)

    def __bool__(self) -> bool:
        if self.size > 1:
            raise ShapeError(
                "the truth value of an array with more than one element is ambiguous", hint="use x.any() or x.all()"
            ).at(("here", here()))
        if self.size == 0 and self.concrete is None:
            raise ShapeError("the truth value of an empty array is ambiguous", hint="use x.size > 0").at(
                ("here", here())
            )
        hint = (
            "write the condition itself after if, while, and, or, not, in a plain function with source; or use np.where"
        )
        return self._known(bool, "a bool", hint)

    def __int__(self) -> int:
        return self._known(lambda a: int(a.reshape(())), "an int", "use x.astype(int), or a Python integer")

    def __float__(self) -> float:
        return self._known(
            lambda a: float(a.reshape(())), "a float", "use x.astype(float); np.sqrt(x) for math.sqrt(x)"
        )

    def __complex__(self) -> complex:
        return self._known(lambda a: complex(a.reshape(())), "a complex number", "use x.astype(complex)")

    def __index__(self) -> int:
        hint = (
            "extents, and indices of lists, must be known while tracing: take them from x.shape, pass them as Python "
            "integers, or make the largest array and take a part of it, as in np.zeros(n)[:k]"
        )
        place = here()
        if isinstance(place, CodeOrigin) and not place.text:
            hint += "; so must the bounds of range in a function whose source is not at hand, as here"
        return self._known(lambda a: operator.index(a.item() if self.is_weak else a.reshape(())[()]), "an int", hint)

    def item(self, *args: int) -> Any:
        """The element as a Python number: a traced one, if it is not known while tracing."""
        array = self.concrete
        if array is not None:
            return array.item(*args)
        if not args and self.size != 1:
            raise ShapeError(f"x.item() needs an array of one element, got {self.type}", hint="name it: x.item(0)").at(
                ("here", here())
            )
        args = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
        x = self.reshape(-1)[args[0] if args else 0] if len(args) < 2 else self[args]
        made = x if self.type.dtype == "u64" else x.astype(weak_kind(self))  # no i64 holds all of those
        return TracedArray(made.storage, made.lenses, is_scalar=True, is_weak=True)

    def tolist(self) -> Any:
        """Nested lists of Python numbers: traced ones, if they are not known while tracing."""
        if self.concrete is not None:
            return self.concrete.tolist()
        return [x.tolist() for x in self] if self.shape else self.item()

    # --- reading and writing parts

    def __getitem__(self, key: Any) -> Any:
        return self.dispatch.getitem(self, key)

    def __setitem__(self, key: Any, y: Any) -> None:
        self.dispatch.setitem(self, key, y)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__"):
            bound = self.dispatch.method(self, name)
            if bound is not None:
                return bound
            message = f"{self.stands_for!r} object has no attribute {name!r}{INSTEAD.get(name, '')}"
            raise MissingError(message).at(("here", here()))
        raise AttributeError(f"{self.stands_for!r} object has no attribute {name!r}", name=name, obj=self)

    @property
    def real(self) -> Any:
        """The real part: a view of a complex array, the array itself otherwise."""
        return self if self.type.kind != "c" else self._part(RealLens())

    @real.setter
    def real(self, y: Any) -> None:
        self.real[...] = not_weak(y)

    @property
    def imag(self) -> Any:
        """The imaginary part: a view of a complex array, read-only zeros otherwise."""
        return self._part(ImagLens())

    @imag.setter
    def imag(self, y: Any) -> None:
        if self.type.kind != "c":
            raise DTypeError(f"{self.type} has no imaginary part to set").at(("here", here()))
        self.imag[...] = y

    @property
    def flat(self) -> Any:
        """The elements in row-major order: to read, and to write."""
        return self.dispatch.flat(self)

    @flat.setter
    def flat(self, y: Any) -> None:
        self.dispatch.flat(self)[:] = y

    def _part(self, lens: Lens) -> TracedArray:
        made = fresh(lens.get(self.value)) if self.is_scalar or self.is_weak else view(self, lens)
        return TracedArray(made.storage, made.lenses, is_scalar=made.is_scalar, is_weak=self.is_weak)

    @property
    def T(self) -> Any:
        """The transposed view."""
        return np.transpose(cast("Any", self))

    @property
    def mT(self) -> Any:
        """The view with the last two axes exchanged."""
        return np.swapaxes(cast("Any", self), -1, -2)

    # --- operators

    __add__, __radd__, __iadd__ = binary(np.add), reflected(np.add), inplace(np.add)
    __sub__, __rsub__, __isub__ = binary(np.subtract), reflected(np.subtract), inplace(np.subtract)
    __mul__, __rmul__, __imul__ = times(is_reflected=False), times(is_reflected=True), inplace(np.multiply)
    __truediv__, __rtruediv__, __itruediv__ = binary(np.divide), reflected(np.divide), inplace(np.divide)
    __floordiv__, __rfloordiv__ = binary(np.floor_divide), reflected(np.floor_divide)
    __mod__, __rmod__, __imod__ = binary(np.remainder), reflected(np.remainder), inplace(np.remainder)
    __pow__, __rpow__, __ipow__ = power, reflected(np.power), inplace(np.power)
    __matmul__, __rmatmul__, __imatmul__ = binary(np.matmul), reflected(np.matmul), inplace(np.matmul)
    __and__, __rand__, __iand__ = binary(np.bitwise_and), reflected(np.bitwise_and), inplace(np.bitwise_and)
    __or__, __ror__, __ior__ = binary(np.bitwise_or), reflected(np.bitwise_or), inplace(np.bitwise_or)
    __xor__, __rxor__, __ixor__ = binary(np.bitwise_xor), reflected(np.bitwise_xor), inplace(np.bitwise_xor)
    __lshift__, __rlshift__, __ilshift__ = binary(np.left_shift), reflected(np.left_shift), inplace(np.left_shift)
    __rshift__, __rrshift__, __irshift__ = binary(np.right_shift), reflected(np.right_shift), inplace(np.right_shift)
    __ifloordiv__ = inplace(np.floor_divide)
    __lt__, __le__ = ordered(np.less, "<"), ordered(np.less_equal, "<=")
    __gt__, __ge__ = ordered(np.greater, ">"), ordered(np.greater_equal, ">=")
    __eq__, __ne__ = binary(np.equal), binary(np.not_equal)  # type: ignore[assignment]
    __neg__, __pos__ = unary(np.negative), unary(np.positive)
    __abs__, __invert__ = unary(np.absolute), unary(np.invert)

    def __copy__(self, memo: Any = None) -> Any:
        return self if self.is_scalar or self.is_weak else np.copy(cast("Any", self), order="K")

    __deepcopy__ = __copy__

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __delitem__(self, key: Any) -> None:
        if self.is_scalar or self.is_weak:
            raise DTypeError(f"a number {self.type} has no elements to delete").at(("here", here()))
        hint = "np.delete(x, i) makes a new array"
        raise ShapeError("cannot delete array elements", hint=hint).at(("here", here()))

    def __round__(self, digits: int = 0) -> Any:
        if not (self.is_scalar or self.is_weak):
            message = "type numpy.ndarray doesn't define __round__ method"
            raise DTypeError(message, hint="np.round(x) rounds elements, round(x.item()) a number").at(("here", here()))
        return cast("Any", np.round)(self, digits)


@cache
def is_above(kind: type) -> bool:
    """Whether a kind of operand answers for traced arrays too, by NumPy's priorities."""
    priority: Any = getattr(kind, "__array_priority__", 0.0)
    return answers(kind) or (isinstance(priority, int | float) and priority > TracedArray.__array_priority__)


@cache
def answers(kind: type) -> bool:
    """Whether a class of the user's says what ufuncs make of it, or that they take none of it."""
    return is_plain(kind) and hasattr(kind, "__array_ufunc__")


def fresh(value: Value, *, is_array: bool = False) -> TracedArray:
    """A new array that holds `value`; of rank 0 a scalar, as NumPy's results are, unless `is_array`."""
    storage = object.__new__(Storage)  # no call: this runs for every operation; all else is left at its default
    storage.trace, storage.content = current(), value
    return TracedArray(storage, (), is_scalar=not is_array and not value.node.types[value.index].shape)


def _is_swapped(storage: Any) -> bool:
    """Whether what a storage stands for has the other order of bytes than this machine."""
    if type(storage) is not Storage:  # one of two
        return _is_swapped(storage.one.storage) and _is_swapped(storage.other.storage)
    array = storage.source
    if storage.index is not None:
        arguments = storage.trace.outermost.arguments
        array = arguments[storage.index] if arguments else None
    array = array.group if isinstance(array, Shared) else array
    dtype = getattr(array, "dtype", None)
    return isinstance(dtype, np.dtype) and not dtype.isnative


def fresh_concrete(array: Any, *, is_weak: bool = False) -> TracedArray:
    """A new array with content known while tracing; the array must not be written by others."""
    is_scalar = not isinstance(array, np.ndarray)
    made = np.asarray(array)
    if short_of(made.dtype) is None:
        raise unknown_dtype(made.dtype).at(("here", here()))
    storage = Storage(current(), concrete=made, strides=strides_of(array))
    return TracedArray(storage, is_scalar=is_scalar, is_weak=is_weak)


def view(x: TracedArray, *lenses: Lens) -> TracedArray:
    """A view of a view: the same storage through more lenses."""
    more = lenses or (WholeLens(),)
    is_member = isinstance(x.storage.source, Shared)  # whose lenses say which of several arrays it is a view of
    return TracedArray(x.storage, (*x.lenses, *more) if is_member else chained(x.lenses, more))


def _read_only(storage: Storage) -> ReadOnlyError:
    """The error about a write to an array of the caller's that is read-only, or to one that a loop or a branch left."""
    message = "assignment destination is read-only"
    if storage.is_callers_wish:
        place = storage.source if storage.index is None else storage.index
        current().outermost.locked[id(storage)] = place  # the program is made for such an array from now on
        return ReadOnlyError(message)
    return ReadOnlyError(
        f"{message}: a loop or a branch has copied this array, which Python would have under two names",
        hint="bind a copy, v = M[i].copy(), or write by one name only, M[i] = ...",
    ).needing(*storage.causes)


def not_weak(y: Any) -> Any:
    """What is written, a Python number as an array: it is cast as that is, whether it fits or not."""
    if isinstance(y, bool | int | float | complex) and not isinstance(y, np.generic):
        return fresh_concrete(np.asarray(y))
    return TracedArray(y.storage, y.lenses) if type(y) is TracedArray and y.is_weak else y


def weak_kind(x: TracedArray) -> type:
    """The Python type a weak scalar stands for."""
    return {"b": bool, "i": int, "u": int, "f": float, "c": complex}[x.type.kind]
