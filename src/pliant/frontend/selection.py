"""`x[mask]` with a traced mask: how many elements it has is not known, so they stay in place.

A selection holds a value of the whole shape and the mask, which stands for the axes from `axis` on.
Elementwise operations act on all places; what is written back, or reduced, is what the mask selects.
For anything else they are put one after the other (`listed`), as an array whose extent is known at run time;
from the first write to that on, it alone says what the elements are.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any, Final, cast, final

import numpy as np

from pliant.core.ir import Value
from pliant.core.origin import here
from pliant.errors import DTypeError, UnsupportedError
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.bounded import Bounded, whole_of
from pliant.frontend.convert import axes_of, broadcast_value, value_of
from pliant.frontend.failures import fail_if, nothing_to_fold
from pliant.frontend.kinds import as_tuple
from pliant.frontend.listed import listed
from pliant.frontend.operators import install
from pliant.frontend.ranks import dealt
from pliant.frontend.text import Shown, as_text
from pliant.frontend.tracing import back_in, current
from pliant.ops.bits import logical_not
from pliant.ops.folds import start_of

REDUCTIONS = {"sum", "prod", "mean", "any", "all", "var", "std", "max", "min"}

EXTREMA = {"max": ("maximum", False), "min": ("minimum", True)}
"""The name of the ufunc of each, and the bool that changes nothing."""

OPTIONS = {"axis", "ddof", "dtype"}


@final
class Selection(Shown):
    """The elements of `whole` where `mask` holds, in order; `x[mask]` inside a traced function: a copy, as NumPy's."""

    __slots__ = ("_line", "axis", "mask", "whole")
    __array_priority__ = 3000.0

    def __init__(self, whole: TracedArray, mask: TracedArray, axis: int = 0) -> None:
        self.whole, self.mask, self.axis = fresh(whole.value, is_array=True), fresh(mask.value, is_array=True), axis
        self._line: tuple[Any, Value] | None = None  # what `listed` is, and what it held at first

    def pliant_text(self, conversion: str, spec: str) -> str:
        return as_text(self.listed, conversion, spec)

    def like(self, whole: Any) -> Selection:
        """Other elements at the same places."""
        return Selection(whole, self.mask, self.axis)

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy dtype."""
        return self.whole.dtype

    @property
    def listed(self) -> Any:
        """The elements one after the other: an array whose extent is known only at run time.

        It is made once, and where the selection was, so that what is written to it, or to a view of it, is seen.
        """
        if self._line is None:
            trace = self.whole.storage.trace
            with nullcontext() if trace is current() else back_in(trace):
                made = listed(self.whole, self.mask, self.axis)
                self._line = made, whole_of(made).storage.value
        return self._line[0]

    @property
    def is_own(self) -> bool:
        """Whether writes may go to `whole`: there is no view of the elements, and no branch or loop in between."""
        return self._line is None and self.whole.storage.trace is current()

    @property
    def is_spread(self) -> bool:
        """Whether `whole` says what the elements are, since nothing was written to them one after the other."""
        return self._line is None or whole_of(self._line[0]).storage.value is self._line[1]

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> Any:
        wholes = None if method != "__call__" or kwargs or _may_fail(ufunc, args) else [self._whole_of(a) for a in args]
        if wholes is None or any([whole is None for whole in wholes]):
            return getattr(ufunc, method)(*all_listed(args), **all_listed(kwargs))
        made = ufunc(*wholes)
        parts = tuple([Selection(m, self.mask, m.ndim - self.rest - self.mask.ndim) for m in as_tuple(made)])
        return parts if isinstance(made, tuple) else parts[0]

    def _whole_of(self, other: Any) -> Any:
        """An operand at all places: another selection by the same mask, or a number; None for others."""
        if isinstance(other, Selection):
            return other.whole if self._is_along(other) and other.is_spread else None
        if isinstance(other, Bounded) or np.ndim(other) > self.whole.ndim - self.mask.ndim + 1:
            return None
        if not np.ndim(other):
            return other
        shape = spread(np.shape(other), self.mask.ndim, self.whole.ndim - self.axis - self.mask.ndim)
        if shape is not None:
            return np.reshape(other, shape)
        if self.axis:
            return None
        rows = np.shape(other)[0], *self.whole.shape[self.mask.ndim :]  # an element for each one
        return fresh(dealt(self.mask.value, broadcast_value(value_of(other), rows), "operands"), is_array=True)

    @property
    def rest(self) -> int:
        """How many axes there are after those of the mask."""
        return self.whole.ndim - self.axis - self.mask.ndim

    def _is_along(self, other: Selection) -> bool:
        """Whether another broadcasts to elements at the same places: their axes are the same from the last one on."""
        return other.mask.value is self.mask.value and other.rest == self.rest

    def _is_beside(self, other: Any) -> bool:
        """Whether another has elements at the same places."""
        return isinstance(other, Selection) and other.mask.value is self.mask.value and other.axis == self.axis

    def __array_function__(self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        name = _NAMES.get(func.__name__, func.__name__)
        if name in REDUCTIONS and args[:1] == (self,) and len(args) <= 2:
            return self._reduction(name, *args[1:], **kwargs)
        return func(*all_listed(args), **all_listed(kwargs))

    def _reduced(self, name: str, axis: Any = None, **options: Any) -> Any:
        """A reduction of the selected elements, or along other axes than theirs: a selection then."""
        more = self.mask.ndim - 1
        axes = axes_of(axis, self.whole.ndim - more)
        whole = [a + more if a > self.axis else a for a in axes if a != self.axis]
        if self.axis not in axes:
            made = getattr(np, name)(self.whole, axis=tuple(whole), **options)
            return Selection(made, self.mask, self.axis - sum([a < self.axis for a in axes]))
        whole += range(self.axis, self.axis + more + 1)
        shape = (*self.mask.shape, *(1,) * (self.whole.ndim - self.axis - self.mask.ndim))
        where = np.reshape(cast("Any", self.mask), shape)
        if name in EXTREMA:
            options["initial"] = self._least(name)
        return getattr(np, name)(self.whole, axis=tuple(whole), where=where, **options)

    def _least(self, name: str) -> Any:
        """What an extremum starts from; the call raises if there is no element."""
        ufunc, truth = EXTREMA[name]
        fail_if(logical_not(self.mask.any().value), nothing_to_fold(ufunc))
        dtype = self.whole.type.dtype
        return truth if dtype == "bool" else start_of(name, dtype)

    @property
    def count(self) -> Any:
        """How many places the mask selects: a number known only at run time."""
        made = self.mask.sum()
        return TracedArray(made.storage, made.lenses, is_scalar=True, is_weak=True)

    @property
    def size(self) -> Any:
        """How many elements there are."""
        return self.count * (self.whole.size // self.mask.size if self.mask.size else 0)

    def __matmul__(self, other: Any) -> Any:
        is_beside = self._is_beside(other) and self.is_spread and other.is_spread
        if not is_beside or self.whole.ndim != self.mask.ndim or other.whole.ndim != self.mask.ndim:
            return np.matmul(self.listed, all_listed(other))
        made = cast("Any", self).__mul__(other)
        return made.any() if made.dtype == bool else made.sum(dtype=made.dtype)

    def __rmatmul__(self, other: Any) -> Any:
        return np.matmul(all_listed(other), self.listed)

    def __getattr__(self, name: str) -> Any:
        if name in REDUCTIONS:
            return partial(self._reduction, name)
        if name == "copy" and self.is_spread and not self.axis:  # else it would be laid out as this
            return lambda: self.like(self.whole)
        if name == "astype" and self.is_spread:
            return self._as_type
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.listed, name)

    def __setattr__(self, name: str, y: Any) -> None:
        if name in self.__slots__:
            object.__setattr__(self, name, y)
        else:
            setattr(self.listed, name, all_listed(y))

    def _reduction(self, name: str, *args: Any, **options: Any) -> Any:
        if len(args) > 1 or options.keys() - OPTIONS or not self.is_spread:
            return getattr(self.listed, name)(*args, **options)
        return self._reduced(name, *args, **options)

    def _as_type(self, dtype: Any) -> Selection:
        return self.like(self.whole.astype(dtype))

    def __getitem__(self, key: Any) -> Any:
        if self._is_mask(key):
            return Selection(self.whole, self.mask & key.whole, self.axis)
        return self.listed[all_listed(key)]

    def __setitem__(self, key: Any, y: Any) -> None:
        if self.is_own and self._is_mask(key) and not np.ndim(y):
            self.whole[key.whole] = y
        else:
            self.listed[all_listed(key)] = all_listed(y)

    def _is_mask(self, key: Any) -> bool:
        """Whether a key says of each element whether it is among those wanted, at its place."""
        is_mask = self._is_beside(key) and key.dtype == bool and key.whole.shape == self.mask.shape
        return is_mask and self.is_spread and key.is_spread

    def __len__(self) -> int:
        return len(self.listed)

    def __iter__(self) -> Any:
        return iter(self.listed)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise self.refused("conversion to a NumPy array")

    def __hash__(self) -> int:
        return id(self)

    def refused(self, what: str) -> UnsupportedError:
        """The error for what needs to know how many elements there are."""
        error = UnsupportedError(
            f"the number of elements that a traced mask selects is not known while tracing: {what} needs it",
            hint="np.where(mask, x, fill) keeps the shape; x[mask].sum(), .max(), .size and x[mask] = y work",
        )
        places = ("needed here", here()), ("the mask was made here", self.mask.value.origin)
        return error.at(*places).needing(self.mask.value)


_NAMES: Final = {"amax": "max", "amin": "min"}


def _may_fail(ufunc: np.ufunc, args: tuple[Any, ...]) -> bool:
    """Whether elements that are not selected could be an error: whole numbers have no negative powers."""
    if ufunc is not np.power:
        return False
    operands = [a.whole if isinstance(a, Selection) else whole_of(a) for a in args]
    return all([x.type.kind in "biu" for x in operands])


_FAR: Final = 1 << 62  # beyond the end of any axis


def all_listed(x: Any) -> Any:
    """Arguments, in which selections are arrays of one element after the other."""
    if isinstance(x, Selection):
        return x.listed
    held = getattr(cast("Any", type(x)), "pliant_object", None)  # of what may be None: see `control.ornone`
    if held is not None:
        return all_listed(held(x))
    if type(x) is slice:
        return _bounded(x)
    if type(x) is dict:
        return {name: all_listed(y) for name, y in cast("dict[Any, Any]", x).items()}
    return type(x)([all_listed(y) for y in x]) if type(x) in (tuple, list) else x


def _bounded(x: slice) -> slice:
    """A slice whose bounds are numbers, or known to be None."""
    bounds: list[Any] = [x.start, x.stop]
    may_be = [getattr(cast("Any", type(bound)), "pliant_bound", None) for bound in bounds]
    is_up = x.step is None or x.step > 0
    ends = (0, _FAR) if is_up else (_FAR, -_FAR)
    rows = zip(bounds, may_be, ends, strict=True)
    start, stop = [bound if held is None else held(bound, end) for bound, held, end in rows]
    return slice(start, stop, x.step)


def spread(shape: tuple[int, ...], rank: int, rest: int) -> tuple[int, ...] | None:
    """The shape of an operand of `x[mask]` as one of x, where a mask of that rank stands before `rest` axes; None if
    it has an element for each one that is selected."""
    at = len(shape) - rest - 1
    if at < 0:
        return shape
    return (*shape[:at], *(1,) * rank, *shape[at + 1 :]) if shape[at] == 1 else None


def _inplace(ufunc: np.ufunc) -> Callable[[Selection, Any], Any]:
    """`y op= z` of y = x[mask], seen under all names of y; the dtype stays, if the result is of the same kind."""

    def updated(self: Selection, other: Any) -> Selection:
        made = self.__array_ufunc__(ufunc, "__call__", self, other) if self.is_own else None
        if not isinstance(made, Selection):
            cast("Any", ufunc)(self.listed, all_listed(other), out=self.listed)
            return self
        if not np.can_cast(made.dtype, self.dtype, "same_kind"):
            raise DTypeError(
                f"np.{ufunc.__name__}: cannot cast the result from {made.dtype} to {self.dtype} of the array",
                hint="convert one side with .astype(...)",
            ).at(("written here", here()))
        self.whole[...] = made.whole
        return self

    return updated


install(Selection, _inplace)
