"""`x.flat`: the elements of an array in row-major order, to read, to write, and one after the other."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, cast, final

import numpy as np

from pliant.core.origin import here
from pliant.errors import DTypeError, IndexRangeError, NumberRangeError, ShapeError
from pliant.frontend.array import TracedArray, fresh, view
from pliant.frontend.convert import stored, value_of
from pliant.frontend.kinds import as_tuple, is_sequence
from pliant.frontend.view import ReshapeLens
from pliant.ops.shape import reshape


@final
class Flat:
    """NumPy's `flatiter`. What is read is a copy; fewer values than places are written again from the first."""

    __slots__ = ("base",)

    def __init__(self, base: TracedArray) -> None:
        self.base = base

    def __len__(self) -> int:
        return self.base.size

    def __iter__(self) -> Iterator[Any]:
        return iter(self.copy())

    @property
    def elements(self) -> TracedArray:
        """All elements, as they are at any time, as an array of one axis."""
        return view(self.base, ReshapeLens((self.base.size,)))

    def copy(self) -> TracedArray:
        """All elements as a new array of one axis."""
        return fresh(reshape(self.base.value, (self.base.size,)), is_array=True)

    __traced__ = copy

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **options: Any) -> Any:
        return getattr(ufunc, method)(*map(_read, args), **options)

    def __array_function__(self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return func(*map(_read, args), **{k: _read(v) for k, v in kwargs.items()})

    def __getitem__(self, key: Any) -> Any:
        part = self.copy()[_key(key)]
        return fresh(part.value, is_array=True) if part.shape else part

    def __setitem__(self, key: Any, y: Any) -> None:
        elements, key = self.copy(), _key(key)
        shape = elements[key].shape
        try:
            new = fresh(stored(y, self.base.type.dtype, is_view=not shape), is_array=True)
        except (NumberRangeError, DTypeError) as error:
            raise error if shape else _of_one() from None
        if not shape and new.shape:
            raise _of_one()
        if not new.size:
            return
        value = fresh(reshape(new.value, (new.size,)), is_array=True) if new.size != 1 else new.reshape(())
        elements[key] = np.resize(value, shape) if new.size > 1 else value
        self.base.replace(reshape(value_of(elements), self.base.shape))


def _of_one() -> ShapeError:
    hint = "a number that fits the dtype of the array, or an index of several elements"
    return ShapeError("Error setting single item of array.", hint=hint).at(("written here", here()))


def _read(x: Any) -> Any:
    """An argument of NumPy's functions, which make arrays of flat iterators."""
    if is_sequence(x) and not hasattr(x, "_fields"):
        return cast("Any", type(x))([_read(part) for part in x])
    return x.copy() if type(x) is Flat else x


def _compared(compare: Callable[[Any, Any], Any]) -> Callable[[Flat, Any], Any]:
    return lambda self, y: compare(self.copy(), _read(y))


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Flat, f"__{_name}__", _compared(getattr(operator, _name)))


def _key(key: Any) -> Any:
    """An index of an array of one axis."""
    if isinstance(key, tuple):
        keys = as_tuple(key)
        if len(keys) != 1:
            message = f"too many indices for flat iterator: it has one axis, but {len(keys)} were indexed"
            raise IndexRangeError(message).at(("indexed here", here()))
        return keys[0]
    return slice(None) if key is Ellipsis else key
