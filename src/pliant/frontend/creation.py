"""NumPy as a traced function sees it: what its functions make are traced arrays.

`np.zeros(3)` inside a traced function must be writable with traced values. So a traced function
gets this namespace for `numpy`: functions that meet traced arrays go through NumPy's own
protocols; arrays that NumPy makes become traced arrays that still know their content.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from itertools import islice
from typing import Any, Final, cast, final

import numpy as np

from pliant.core.origin import here
from pliant.errors import DomainError, UnsupportedError
from pliant.frontend import diagonals, ranges
from pliant.frontend.adopt import adopt, has_traced
from pliant.frontend.array import TracedArray, fresh, fresh_concrete, is_above
from pliant.frontend.bounded import Bounded, bounded
from pliant.frontend.control.fronts import as_argument
from pliant.frontend.convert import (
    as_traced,
    broadcast_value,
    check_real,
    extents_of,
    filled,
    said,
    short,
    stored,
)
from pliant.frontend.draws import RandomNamespace
from pliant.frontend.functions import asserted, buffers, windows
from pliant.frontend.joiners import joiner_of
from pliant.frontend.kinds import is_array, is_sequence
from pliant.frontend.makers import MAKERS, of_known_extents
from pliant.frontend.selection import all_listed
from pliant.frontend.strides import (
    contiguous,
    has_dtype,
    has_order,
    is_column_major,
    is_row_major,
    is_unsure,
    later_order,
    separate,
)
from pliant.frontend.tracing import is_other, is_tracing, not_plain
from pliant.frontend.whose import is_followed


def asarray(a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None, **options: Any) -> Any:
    """np.asarray, np.asanyarray: no copy of what is such an array already."""
    x = as_traced(a)
    is_such = (dtype is None or has_dtype(dtype, x)) and not (x.is_scalar or x.is_weak)
    if order in ("C", "F") and is_such and not copy and is_unsure(x):
        return separate(x, array(x, order=order))
    if is_such and not copy and _is_in(order, x):
        return x
    if copy is False:
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    return array(a, dtype, order=order or "K")


def _is_in(order: Any, x: TracedArray) -> bool:
    """Whether the elements of x lie in an order that a call asks for."""
    return is_row_major(x) if order == "C" else order != "F" or is_column_major(x)


def ascontiguousarray(a: Any, dtype: Any = None, **options: Any) -> Any:
    """np.ascontiguousarray: a copy of what is not row-major, of one axis at least."""
    x = asarray(a, dtype, "C")
    return x if x.ndim else x.reshape(1)


def asfortranarray(a: Any, dtype: Any = None, **options: Any) -> Any:
    """np.asfortranarray: a copy of what is not column-major, of one axis at least."""
    x = asarray(a, dtype, "F")
    return x if x.ndim else x.reshape(1)


def require(a: Any, dtype: Any = None, requirements: Any = None, **options: Any) -> Any:
    """np.require: arrays of a trace are aligned, and as writeable as what they are."""
    asked = {str(r).upper()[0] for r in requirements or ()}
    made = asarray(a, dtype, "F" if "F" in asked else "C" if "C" in asked else None)
    is_view = bool(made.lenses) or made.storage.index is not None or made.storage.source is not None
    is_copied = ("O" in asked and is_view) or ("W" in asked and not made.storage.writeable)
    return array(made) if is_copied else made


def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Any:
    """np.asarray_chkfinite: whether it raises depends on numbers."""
    raise UnsupportedError(
        "np.asarray_chkfinite raises an error where an element is not finite, which is known only at run time",
        hint="check before the call, or return np.isfinite(x).all() too",
    ).at(("here", here()))


def array(
    object: Any, dtype: Any = None, *, copy: Any = True, order: Any = "K", subok: bool = False, ndmin: int = 0,
    **options: Any,
) -> Any:  # fmt: skip
    """np.array: a new array, but for `copy=None` of what is such an array already."""
    x = as_traced(object)
    if copy:
        if dtype is not None:
            check_real(object, short(dtype))
        given = object if is_sequence(object) else x
        made = fresh(stored(given, short(dtype)) if dtype is not None else x.value, is_array=True)
        if order in ("F", "A") or (order != "C" and has_order((x,))):
            made = later_order(made, np.array, (x,), {"dtype": dtype, "order": order})
    else:
        made = asarray(object, dtype, order, copy=copy)
    return made[(None,) * (ndmin - made.ndim)] if ndmin > made.ndim else made


def full(shape: Any, fill_value: Any, dtype: Any = None, **options: Any) -> Any:
    """np.full."""
    x = as_traced(fill_value)
    value = x.value if dtype is None else filled(x, short(dtype))
    most, extents = ranges.extents_of(shape, "np.full")
    made = fresh(broadcast_value(value, extents_of(most)), is_array=True)
    if options.get("order") == "F":
        made.storage.strides = contiguous(made.shape[::-1])[::-1]
    return bounded(made, extents)


def fromiter(iter: Iterable[Any], dtype: Any, count: int = -1, **options: Any) -> Any:
    """np.fromiter, of numbers of which some may be traced."""
    made = list(iter if count < 0 else islice(iter, count))
    if not has_traced(made):
        return adopt(np.fromiter(made, dtype, count, **options))
    if len(made) < count:
        raise DomainError(f"np.fromiter: expected {count} elements, got {len(made)}").at(("here", here()))
    return array(made, dtype)


def isscalar(element: Any) -> bool:
    """np.isscalar: whether it is a number, not an array of rank 0."""
    return element.is_scalar or element.is_weak if type(element) is TracedArray else np.isscalar(element)


def of_shape(make: Callable[..., Any]) -> Callable[..., Any]:
    """A maker like np.zeros, of extents that are known while tracing or have bounds."""

    def made(shape: Any, *args: Any, **options: Any) -> Any:
        most, extents = ranges.extents_of(shape, f"np.{make.__name__}")
        return bounded(fresh_concrete(make(most, *args, **options)), extents)

    return made


def arange(*args: Any, **options: Any) -> Any:
    """np.arange."""
    made = ranges.arange(*args, **options) if not options.keys() - {"dtype", "device", "like"} else None
    return of_known_extents(np.arange)(*args, **options) if made is None else made


def bounded_array(
    object: Any, dtype: Any = None, *, copy: Any = True, order: Any = "K", subok: bool = False, ndmin: int = 0,
    **options: Any,
) -> Any:  # fmt: skip
    """np.array of what has extents known only at run time, listed or not; itself where it need be no copy."""
    is_such = dtype is None or has_dtype(dtype, object.whole)
    if copy is False and not is_such:
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    made = object
    if copy or not is_such or order == "F":
        made = all_listed(object)
        if type(made) is not Bounded:  # data have decided how many there are
            return array(made, dtype, copy=copy, order=order, ndmin=ndmin)
        if order == "F" and made.ndim > 1:
            raise made.refused("np.array with order=")
        made = Bounded(array(made.whole, dtype), made.extents)
    return made[(None,) * (ndmin - made.ndim)] if ndmin > made.ndim else made


def bounded_asarray(a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None, **options: Any) -> Any:
    """np.asarray of the same, and np.ascontiguousarray of what is row-major, as all of them are."""
    return bounded_array(a, dtype, copy=copy, order=order)


def bounded_stack(arrays: Any, axis: int = 0) -> Any:
    """np.stack of a list of arrays, as the array that their list is."""
    if axis == 0:
        return bounded_array(arrays)
    listed = all_listed(arrays)
    if type(listed) is Bounded:
        raise listed.refused("np.stack along another axis than the first")
    return np.stack(listed, axis)


BOUNDED: Final[dict[Any, Callable[..., Any]]] = {
    np.array: bounded_array,
    np.asarray: bounded_asarray,
    np.asanyarray: bounded_asarray,
    np.ascontiguousarray: bounded_asarray,
    np.stack: bounded_stack,
}
"""The same for arrays whose extents are known only at run time, as of lists of which that is so."""

OF_SEVERAL: Final = frozenset((
    np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack, np.block, np.select, np.choose,
    np.lexsort, np.ravel_multi_index, np.linalg.multi_dot, np.histogramdd,
))  # fmt: skip
"""Functions that take a list of arrays; others make one array of it."""

TRACED: Final[dict[Any, Callable[..., Any]]] = {
    **{make: of_shape(make) for make in (np.zeros, np.ones, np.empty)},
    **MAKERS,
    np.eye: diagonals.eye,
    np.identity: diagonals.identity,
    np.tri: diagonals.tri,
    np.arange: arange,
    np.array: array,
    np.asarray: asarray,
    np.asanyarray: asarray,
    np.require: require,
    np.asarray_chkfinite: asarray_chkfinite,
    np.ascontiguousarray: ascontiguousarray,
    np.asfortranarray: asfortranarray,
    np.full: full,
    np.linspace: ranges.linspace,
    np.isscalar: isscalar,
    np.lib.stride_tricks.as_strided: windows.as_strided,
    np.frombuffer: buffers.frombuffer,
}
"""What to do where NumPy offers no protocol and an argument is traced."""

WALKED: Final[dict[Any, Callable[..., Any]]] = {np.fromiter: fromiter}
"""What to do where an argument is an iterator, of which nothing is known before it is gone over."""

OF_POLYNOMIALS: Final = frozenset((np.polyadd, np.polysub, np.polymul, np.polydiv, np.polyder, np.polyint))
"""What makes polynomials of polynomials."""

_DISPATCHED: Final = cast("type[Any]", type(cast("Any", np.concatenate)))


def _class_made(function: Any) -> type | None:
    """The class of arrays, if they are no plain ones, that a function of NumPy's makes."""
    if function in (np.asmatrix, np.bmat):
        return np.matrix
    return np.ma.MaskedArray if (function.__module__ or "").startswith("numpy.ma.") else None


ZEROS: Final[dict[Any, Callable[..., Any]]] = {np.empty: np.zeros, np.empty_like: np.zeros_like}
"""What makes arrays of any numbers, and what makes such that are the same at every call and in any memory."""


@final
class Maker:
    """A NumPy function as a traced function sees it."""

    __slots__ = ("function", "other")

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.other = _class_made(function)

    @property
    def pliant_itself(self) -> Callable[..., Any]:
        """What it stands for."""
        return self.function

    def __call__(self, *args: Any, **options: Any) -> Any:
        if not is_tracing():
            return self.function(*args, **options)
        if self.other is not None:
            raise not_plain(self.other)
        function = ZEROS.get(self.function, self.function)
        if function in WALKED:
            return WALKED[function](*args, **options)
        protocol = "__array_function__" if isinstance(function, _DISPATCHED) else ""
        args = tuple([said(as_argument(a), protocol) for a in args])
        options = {k: said(as_argument(a), protocol) for k, a in options.items()} if options else options
        if np.poly1d in map(type, args) and function in OF_POLYNOMIALS:
            made = self(*[a.coeffs if isinstance(a, np.poly1d) else a for a in args], **options)
            return tuple([np.poly1d(m) for m in made]) if is_sequence(made) else np.poly1d(made)
        if function not in OF_SEVERAL:
            args = tuple([_stacked(a) if is_sequence(a) else a for a in args])
        if function in BOUNDED and args and is_part(args[0]):
            return BOUNDED[function](*args, **options)
        if has_traced(args) or has_traced(tuple(options.values())):
            if isinstance(function, _DISPATCHED) and function not in TRACED and not _is_left_to_numpy(args):
                # np.sum([x, y]), np.take([x, y], i): NumPy looks into no list, and not at all arguments
                given = [part for a in (*args, *options.values()) for part in (a if is_sequence(a) else (a,))]
                above = next((x for x in given if is_above(cast("Any", type(x)))), None)
                if above is not None:
                    return above.__array_function__(function, (type(above),), args, options)
                return TracedArray.dispatch.function(function, args, options)
            return (TRACED.get(function) or asserted.traced(function) or function)(*args, **options)
        seen = [_entered(a) for a in args]
        if any(s is not a for s, a in zip(seen, args, strict=True)):  # met outside: it is read anew at every call
            return self(*seen, **options)
        return adopt(function(*args, **options))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.function, name)

    def __repr__(self) -> str:
        return repr(self.function)

    def __eq__(self, other: object) -> bool:
        return self.function == (other.function if isinstance(other, Maker) else other)

    def __hash__(self) -> int:
        return hash(self.function)


def _has_protocol(kind: type) -> bool:
    """Whether NumPy asks a class, which is none of ours or its own, what its functions make of it."""
    return kind not in (TracedArray, np.ndarray) and hasattr(kind, "__array_function__")


def _is_left_to_numpy(args: tuple[Any, ...]) -> bool:
    """Whether NumPy sees the traced arrays among them, or another class that it may have to ask first."""
    if not any([type(a) is TracedArray for a in args]):
        return False
    return not is_sequence(args[0]) or any([_has_protocol(cast("Any", type(a))) for a in args])


def _stacked(parts: Any) -> Any:
    """A list of arrays, if it is known only at run time how many elements they have, as one array."""
    return cast("Any", np.stack)(parts) if any(map(is_part, parts)) else parts


def is_part(x: Any) -> bool:
    """Whether it is an array of which it is known only at run time how many elements it has."""
    return type(x) is Bounded or hasattr(cast("Any", type(x)), "listed")


def _entered(a: Any) -> Any:
    """An argument with its NumPy arrays as implicit arguments of the trace, in lists and tuples too."""
    if isinstance(a, np.ndarray):
        return as_traced(a)
    if type(a) in (list, tuple):
        parts = [_entered(p) for p in a]
        return type(a)(parts) if any(p is not q for p, q in zip(parts, a, strict=True)) else a
    return a


@final
class UfuncMaker:
    """A ufunc as a traced function sees it: it takes lists of traced numbers, and reads arrays met
    outside anew at every call."""

    __slots__ = ("ufunc",)

    def __init__(self, ufunc: np.ufunc) -> None:
        self.ufunc = ufunc

    @property
    def pliant_itself(self) -> np.ufunc:
        """What it stands for."""
        return self.ufunc

    def __call__(self, *args: Any, **options: Any) -> Any:
        if not is_tracing():
            return self.ufunc(*args, **options)
        if type(args[0] if args else None) is TracedArray and len(args) == 1:  # the usual case, fast
            return TracedArray.dispatch.ufunc(self.ufunc, "__call__", args, options)
        args = tuple([said(as_argument(a), "__array_ufunc__") for a in args])
        if not has_traced(args) and not has_traced(tuple(options.values())) and not any(map(is_array, args)):
            return adopt(self.ufunc(*args, **options))
        given = tuple([as_traced(a) if is_array(a) or (is_sequence(a) and has_traced(a)) else a for a in args])
        if any([is_above(cast("Any", type(a))) for a in given]):
            return self.ufunc(*given, **options)
        return TracedArray.dispatch.ufunc(self.ufunc, "__call__", given, options)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.ufunc, name)
        return partial(_of_lists, method) if name in ("reduce", "accumulate", "outer", "reduceat") else method

    def __repr__(self) -> str:
        return repr(self.ufunc)

    def __eq__(self, other: object) -> bool:
        return self.ufunc == (other.ufunc if isinstance(other, UfuncMaker) else other)

    def __hash__(self) -> int:
        return hash(self.ufunc)


def _of_lists(method: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """A method of a ufunc: NumPy looks into no list for traced arrays."""
    given = [as_argument(a) for a in args] if is_tracing() else args
    return method(*[as_traced(a) if is_sequence(a) and has_traced(a) else a for a in given], **options)


@final
class NumPyNamespace(types.ModuleType):
    """The module `numpy`, or one inside it, with its functions as makers."""

    def __init__(self, module: types.ModuleType = np) -> None:
        super().__init__(module.__name__)
        self.__dict__["module"] = module

    @property
    def pliant_itself(self) -> types.ModuleType:
        """What it stands for."""
        return self.__dict__["module"]

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.__dict__["module"], name)
        shown = self.__dict__[name] = namespace_of(value) or made_by(value) or joiner_of(value) or value
        return shown


def namespace_of(value: Any) -> types.ModuleType | None:
    """What a traced function sees for `numpy` and the modules in it; None for anything else."""
    return _namespace(value) if type(value) is types.ModuleType else None


@lru_cache(maxsize=256)
def _namespace(module: types.ModuleType) -> types.ModuleType | None:
    if module is np.random:
        return RandomNamespace()
    return NumPyNamespace(module) if module in (np, np.linalg, np.fft) else None


@lru_cache(maxsize=4096)
def _maker(value: Any) -> Maker | UfuncMaker:
    return UfuncMaker(value) if isinstance(value, np.ufunc) else Maker(value)


def made_by(value: Any) -> Maker | UfuncMaker | None:
    """A maker for a NumPy function or ufunc; None for anything else."""
    if isinstance(value, np.ufunc):
        return _maker(value) if value.__name__ in np.__dict__ else None
    is_function = isinstance(value, types.FunctionType | types.BuiltinFunctionType | type(np.concatenate))
    module = getattr(value, "__module__", None) or ""
    return _maker(value) if is_function and module.partition(".")[0] == "numpy" and not is_followed(value) else None


def class_called(kind: Any) -> Callable[..., Any] | None:
    """What traced functions call instead of one of NumPy's classes of arrays; None for anything else."""
    if kind is np.ndarray:
        return _uninitialised
    if not isinstance(kind, type) or not is_other(kind):
        return None

    def made(*_: Any, **__: Any) -> Any:
        raise not_plain(kind)

    return made


def _uninitialised(
    shape: Any, dtype: Any = float, buffer: Any = None, offset: Any = 0, strides: Any = None, order: Any = None
) -> Any:
    """`np.ndarray`, called: an array of any numbers."""
    if buffer is not None or offset or strides is not None:
        raise UnsupportedError(
            "np.ndarray(..., buffer=...) is not supported in a traced function",
            hint="np.frombuffer(x, dtype) is a view of the memory of x",
        ).at(("here", here()))
    return Maker(np.empty)(shape, dtype, order or "C")
