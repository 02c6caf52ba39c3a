"""Methods of ndarray, on traced arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from pliant.core.origin import here
from pliant.core.types import itemsize
from pliant.errors import DTypeError, ReadOnlyError, ShapeError
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.convert import cast_value, shape_of, short, warn_of_lost_parts
from pliant.frontend.functions import index, shape
from pliant.frontend.functions.at import AtIndexer
from pliant.frontend.functions.common import unsupported, xp
from pliant.frontend.functions.join import repeat
from pliant.frontend.kinds import is_array
from pliant.frontend.strides import has_dtype, is_row_major, is_unsure, settled, sides_of
from pliant.frontend.tracing import current
from pliant.frontend.view import DTypeLens

Method = Callable[..., Any]
_class = type  # `view` has an argument of that name


def _shape_args(args: tuple[Any, ...]) -> Any:
    """`x.reshape(2, 3)` and `x.reshape((2, 3))` are the same."""
    return args[0] if len(args) == 1 else args


def reshape(x: TracedArray, *shape_: Any, order: str = "C", copy: Any = None) -> TracedArray:
    """ndarray.reshape."""
    return shape.reshape(x, _shape_args(shape_), order, copy=copy)


def transpose(x: TracedArray, *axes: Any) -> TracedArray:
    """ndarray.transpose."""
    return shape.transpose(x, _shape_args(axes) if axes else None)


def astype(
    x: TracedArray, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
) -> TracedArray:
    """ndarray.astype."""
    to = np.dtype(dtype)
    if not xp.can_cast(x.dtype, to, casting):
        raise DTypeError(
            f"Cannot cast array data from {x.dtype!r} to {to!r} according to the rule {casting!r}",
            hint="leave casting= out: .astype casts to any dtype",
        ).at(("here", here()))
    if not copy and has_dtype(to, x) and not x.is_weak:
        return x
    warn_of_lost_parts(x.dtype, short(to))
    return fresh(cast_value(x.value, short(to)), is_array=not x.is_scalar and not x.is_weak)


def copy(x: TracedArray, order: str = "C") -> TracedArray:
    """ndarray.copy."""
    return fresh(x.value, is_array=not x.is_scalar)


def fill(x: TracedArray, value: Any) -> None:
    """ndarray.fill: writes into the array."""
    x[...] = value


def sort(x: TracedArray, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> None:
    """ndarray.sort: writes into the array."""
    x[...] = xp.sort(x, axis, kind, order, stable=stable)


def partition(x: TracedArray, kth: Any, axis: int = -1, kind: str = "introselect", order: Any = None) -> None:
    """ndarray.partition: writes into the array."""
    x[...] = xp.partition(x, kth, axis, kind, order)


def compress(x: TracedArray, condition: Any, axis: Any = None, out: Any = None) -> Any:
    """ndarray.compress."""
    return index.compress(condition, x, axis, out)


def clip(x: TracedArray, min: Any = None, max: Any = None, out: Any = None, **options: Any) -> Any:
    """ndarray.clip."""
    return index.clip(x, min, max, out, **options)


def resize(x: TracedArray, *new_shape: Any, refcheck: bool = True) -> None:
    """ndarray.resize of an array that owns its memory: the first elements stay, new ones are zero."""
    if not is_row_major(x):
        raise unsupported("ndarray.resize of an array that is not row-major", "x = x.copy() first")
    if new_shape in ((), (None,)):
        return
    wanted = shape_of(new_shape[0] if len(new_shape) == 1 else new_shape)
    if wanted == x.shape:
        return
    x.check_own("ndarray.resize", "np.resize(x, shape) and np.pad make a new array")
    if x.lenses or x.is_scalar:
        raise ShapeError("cannot resize this array: it does not own its data").at(("here", here()))
    size, flat = math.prod(wanted), shape.ravel(x)
    if size > x.size:
        flat = xp.concatenate([flat, np.zeros(size - x.size, x.dtype)])
    x.storage, x.memo = fresh(shape.reshape(flat[:size], wanted).value, is_array=True).storage, (None, None)


def view(x: TracedArray, dtype: Any = None, type: Any = None) -> TracedArray:
    """ndarray.view: the same bytes as elements of another dtype."""
    if dtype is None or (isinstance(dtype, _class) and issubclass(dtype, np.ndarray)):
        return shape.view(x)
    if not np.dtype(cast("Any", dtype)).isnative:
        raise unsupported("a view in another order of bytes", "x.byteswap() before the call, or x.view(np.uint8)")
    to = short(dtype)
    if _may_be_swapped():
        hint = "x.astype(x.dtype.newbyteorder('=')), before the call, turns it over"
        raise unsupported("a view as a dtype, in a function of arrays in another order of bytes", hint)
    if to == x.type.dtype:
        return shape.view(x)
    _check_view(x, itemsize(x.type.dtype), itemsize(to))
    lens = DTypeLens(x.type.dtype, to)
    return fresh(lens.get(x.value)) if x.is_scalar else shape.view(x, lens)


def _may_be_swapped() -> bool:
    """Whether an array may have another order of bytes than this machine: the program knows elements alone."""
    trace = current().outermost
    given = [*trace.arguments, *trace.met.values(), *[storage.source for storage in trace.captured.values()]]
    return any([is_array(x) and not x.dtype.isnative for x in given])


def _check_view(x: TracedArray, old: int, new: int) -> None:
    """ShapeError where NumPy cannot show x as elements of another size."""
    if old == new:
        return
    if not x.shape:
        message = "Changing the dtype of a 0d array is only supported if the itemsize is unchanged"
        raise ShapeError(message).at(("here", here()))
    found = settled(x)
    if found is None:
        raise unsupported("a view as a dtype of another size, of an array of unknown strides", "copy it first")
    if x.shape[-1] != 1 and x.size and found[1][-1] != 1:
        message = "To change to a dtype of a different size, the last axis must be contiguous"
        raise ShapeError(message).at(("here", here()))
    if x.shape[-1] * old % new:
        message = (
            "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last axis "
            f"of the array: {x.shape[-1]} elements of {old} bytes"
        )
        raise ShapeError(message).at(("here", here()))


def bytes_apart(x: TracedArray) -> tuple[int, ...]:
    """ndarray.strides; 0 along axes of one element of a view, as NumPy has it for new ones."""
    found = {None if is_unsure(side) else settled(side) for side in sides_of(x)}
    at = found.pop() if len(found) == 1 else None
    if at is None:
        raise unsupported("ndarray.strides of an array whose layout is not known", "copy it first")
    steps = [0 if n == 1 and x.lenses else step for n, step in zip(*at, strict=True)]
    return tuple([step * itemsize(x.type.dtype) for step in steps])


def setflags(x: TracedArray, write: Any = None, align: Any = None, uic: Any = None) -> None:
    """ndarray.setflags: only `write=True` on what is writeable changes nothing."""
    if write is False or (write and not x.storage.writeable):
        raise ReadOnlyError("setflags is not supported in a traced function", hint="leave the flags as they are").at(
            ("here", here())
        )


def put(x: TracedArray, indices: Any, values: Any, mode: str = "raise") -> None:
    """ndarray.put: writes into the array."""
    index.put(x, indices, values, mode)


def conj(x: TracedArray) -> Any:
    """ndarray.conj; of numbers that are not complex the array itself, bools too."""
    return xp.conjugate(x) if x.type.kind == "c" else x


def _through_numpy(function: Callable[..., Any]) -> Method:
    """The method that is NumPy's function of the same name, with the array first."""

    def method(x: TracedArray, *args: Any, **options: Any) -> Any:
        return TracedArray.dispatch.function(function, (x, *args), options)

    method.__name__ = function.__name__
    return method


def _refused(name: str, hint: str) -> Method:
    def method(x: TracedArray, *args: Any, **options: Any) -> Any:
        raise unsupported(f"ndarray.{name} is not supported in a traced function", hint)

    return method


_BYTES = "a traced array has no bytes yet: do this outside, with the result"
_LAYOUT = "where elements lie in memory is decided after tracing"

REFUSED_METHODS: dict[str, str] = {
    "ptp": "NumPy 2 removed it: use np.ptp(x)",
    "byteswap": "convert the array before the call",
    "setfield": _BYTES,
    "getfield": _BYTES,
    "tobytes": _BYTES,
    "tofile": _BYTES,
    "dump": _BYTES,
    "dumps": _BYTES,
}
"""Name of a method of ndarray that is not compiled → what to do instead."""

REFUSED_PROPERTIES: dict[str, str] = {
    "flags": _LAYOUT,
    "base": _LAYOUT,
    "data": _BYTES,
    "ctypes": _BYTES,
}
"""Name of an attribute of ndarray that a traced array does not have → what to do instead."""

METHODS: dict[str, Method] = {
    "sum": _through_numpy(np.sum),
    "prod": _through_numpy(np.prod),
    "max": _through_numpy(np.max),
    "min": _through_numpy(np.min),
    "mean": _through_numpy(np.mean),
    "var": _through_numpy(np.var),
    "std": _through_numpy(np.std),
    "all": _through_numpy(np.all),
    "any": _through_numpy(np.any),
    "argmax": _through_numpy(np.argmax),
    "argmin": _through_numpy(np.argmin),
    "argsort": _through_numpy(np.argsort),
    "argpartition": _through_numpy(np.argpartition),
    "cumsum": _through_numpy(np.cumsum),
    "cumprod": _through_numpy(np.cumprod),
    "dot": _through_numpy(np.dot),
    "trace": _through_numpy(np.trace),
    "round": _through_numpy(np.round),
    "nonzero": _through_numpy(np.nonzero),
    "searchsorted": _through_numpy(np.searchsorted),
    "choose": _through_numpy(np.choose),
    "diagonal": shape.diagonal,
    "ravel": shape.ravel,
    "flatten": shape.flatten,
    "squeeze": shape.squeeze,
    "swapaxes": shape.swapaxes,
    "take": index.take,
    "repeat": repeat,
    "reshape": reshape,
    "transpose": transpose,
    "astype": astype,
    "copy": copy,
    "fill": fill,
    "sort": sort,
    "partition": partition,
    "compress": compress,
    "clip": clip,
    "put": put,
    "conj": conj,
    "conjugate": conj,
    "view": view,
    "resize": resize,
    "setflags": setflags,
    **{name: _refused(name, hint) for name, hint in REFUSED_METHODS.items()},
}
"""Name of a method of ndarray → the function of the array and its arguments."""

PROPERTIES: dict[str, Callable[[TracedArray], Any]] = {
    "at": AtIndexer,
    "strides": bytes_apart,
    **{name: _refused(name, hint) for name, hint in REFUSED_PROPERTIES.items()},
}
"""Name of an attribute of ndarray → the function that answers for it."""
