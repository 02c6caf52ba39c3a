"""Where NumPy's protocols arrive: which table answers for a function, ufunc, operator or method."""

from __future__ import annotations

import inspect
import operator
import re
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, Final, cast, final

import numpy as np

from pliant.core.origin import here
from pliant.errors import ArgumentError, DTypeError, IndexRangeError, PliantError, UnsupportedError
from pliant.frontend import index, ufunc
from pliant.frontend.adopt import adopt, has_traced
from pliant.frontend.array import TracedArray
from pliant.frontend.bounded import Bounded
from pliant.frontend.flat import Flat
from pliant.frontend.functions import (
    ACCUMULATIONS,
    AT,
    FUNCTIONS,
    METHODS,
    NAMED_UFUNCS,
    PARTS,
    PROPERTIES,
    REDUCTIONS,
    UFUNCS,
)
from pliant.frontend.gufuncs import KEYWORDS
from pliant.frontend.integers import of_power, of_shift
from pliant.frontend.kinds import as_tuple, is_array, is_sequence, stood_for
from pliant.frontend.strides import asks_order, has_order, keep_order, later_order

ROW_MAJOR: Final = frozenset(
    (
        np.copyto,
        np.dot,
        np.einsum,
        np.inner,
        np.kron,
        np.outer,
        np.ravel,
        np.repeat,
        np.reshape,
        np.take,
        np.tensordot,
        np.tile,
    )
)
"""NumPy functions whose results are row-major, or know how they lie, whatever their operands are."""

TURNED: Final = frozenset(
    (np.cross, np.delete, np.histogram2d, np.histogramdd, np.linalg.cross, np.nanpercentile, np.nanquantile)
)
"""NumPy functions that may turn the axes of their results, or cut them out of others, also where operands are
row-major."""


@final
class Tables:
    """`array.Dispatch` by the tables of `pliant.frontend.functions`."""

    def ufunc(self, which: np.ufunc, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Apply a ufunc or one of its methods."""
        try:
            made = ufunc.quick(UFUNCS, which, args) if method == "__call__" and not kwargs else None
            return self._ufunc(which, method, args, kwargs) if made is None else made
        except PliantError as error:
            error.at(("here", here()))
            raise

    def _ufunc(self, which: np.ufunc, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if method == "__call__":
            made = ufunc.call(self.builders(which), which, args, **kwargs)
            is_turned = not KEYWORDS.isdisjoint(kwargs) or asks_order(args, kwargs)
            if len(args) > which.nin or kwargs.get("out") is not None or not (is_turned or has_order(args)):
                return made
            if is_turned or which.signature is not None:
                return later_order(made, which, args, kwargs)
            return keep_order(made, which, args)
        made = self._ufunc_method(which, method, args, dict(kwargs))
        return later_order(made, getattr(which, method), args, kwargs) if has_order(args) else made

    def _ufunc_method(self, which: np.ufunc, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if method == "reduce":
            return ufunc.reduce(REDUCTIONS, which, *args, **kwargs)
        if method == "outer":
            return ufunc.outer(self.builders(which), which, *args, **kwargs)
        table = {"accumulate": ACCUMULATIONS, "reduceat": PARTS, "at": AT}.get(method, {})
        if which not in table:
            raise UnsupportedError(f"np.{which.__name__}.{method} is not supported").at(("here", here()))
        if method == "accumulate" and len(args) == 1:
            kwargs.setdefault("axis", 0)
        out = kwargs.pop("out", None)
        return table[which](*args, **kwargs, **({"out": out[0]} if out else {}))

    def builders(self, which: np.ufunc) -> dict[np.ufunc, Any]:
        """The table that knows a ufunc; SciPy's are known by name."""
        named = NAMED_UFUNCS.get(which.__name__) if which not in UFUNCS else None
        return {which: named} if named else UFUNCS

    def operator(self, which: np.ufunc, *args: Any) -> Any:
        """Apply a Python operator."""
        if which is np.power:
            args = of_power(*args)
        if which is np.left_shift or which is np.right_shift:
            of_shift(*args)
        try:
            made = ufunc.quick(UFUNCS, which, args)
            if made is not None:
                return made
            made = ufunc.operator(UFUNCS, which, *args)
        except PliantError as error:
            error.at(("here", here()))
            raise
        if not has_order(args):
            return made
        return keep_order(made, which, args) if which.signature is None else later_order(made, which, args)

    def inplace(self, which: np.ufunc, x: TracedArray, y: Any) -> Any:
        """`x op= y`."""
        if x.is_weak and which in (np.power, np.left_shift, np.right_shift):
            return self.operator(which, x, y)
        try:
            return ufunc.inplace(UFUNCS, which, x, y)
        except PliantError as error:
            error.at(("written here", here()))
            raise

    def function(self, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Apply a NumPy function: by NumPy itself if all arrays are known, else by the table."""
        plain = known(func, args, kwargs)
        if plain is not None:
            return plain
        found = FUNCTIONS.get(func)
        if found is None:
            name = f"{getattr(func, '__module__', 'numpy').replace('numpy', 'np')}.{func.__name__}"
            raise UnsupportedError(f"{name} is not supported", hint="`python -m pliant coverage` lists what is").at(
                ("here", here())
            )
        try:
            made = found(*args, **kwargs)
            is_ordered = func in TURNED or (func not in ROW_MAJOR and has_order(args)) or asks_order(args, kwargs)
            return later_order(made, func, args, kwargs) if is_ordered else made
        except PliantError as error:
            error.at(("here", here()))
            raise
        except TypeError as error:
            if "argument" not in str(error):
                raise
            message = re.sub(r"^[\w.<>]+\(\)", f"np.{func.__name__}()", str(error))
            kind = ArgumentError if _has_no_such(message, func) else UnsupportedError
            raise kind(message, hint=_meant(message, found)).at(("here", here())) from error

    def getitem(self, x: TracedArray, key: Any) -> Any:
        """`x[key]`."""
        try:
            made = index.getitem(x, key)
        except IndexRangeError as error:
            raise _of_a_number(x, error, "is not subscriptable") from None
        if (
            type(made) is TracedArray
            and made.storage is not x.storage
            and len(made.shape) > 1
            and not _is_leading(x, key)
        ):
            return later_order(made, operator.getitem, (x, key))
        return made

    def setitem(self, x: TracedArray, key: Any, y: Any) -> None:
        """`x[key] = y`."""
        try:
            index.setitem(x, key, y)
        except PliantError as error:
            error.at(("written here", here()))
            raise _of_a_number(x, error, "does not support item assignment") from None

    def flat(self, x: TracedArray) -> Flat:
        """`x.flat`."""
        return Flat(x)

    def method(self, x: TracedArray, name: str) -> Callable[..., Any] | None:
        """A method of ndarray, bound to x; what `x.at` and the like are."""
        if name in PROPERTIES:
            return PROPERTIES[name](x)
        found = METHODS.get(name)
        if found is None:
            return None
        keeps_order = name not in ("copy", "flatten", "ravel", "reshape", "view", "__array__") and has_order((x,))
        if not keeps_order and name not in ("copy", "reshape", "astype"):
            return partial(found, x)

        def ordered(*args: Any, **kwargs: Any) -> Any:
            made = found(x, *args, **kwargs)
            if not keeps_order and not asks_order(args, kwargs):
                return made
            return later_order(made, partial(_call_method, name), (x, *args), kwargs)

        return ordered


_CALLING: Final = frozenset((np.apply_along_axis, np.apply_over_axes, np.piecewise))
"""NumPy's functions that call others, which may take and make traced arrays."""


def known(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What NumPy makes of arrays known while tracing; None if one is not, or the result is a view."""
    if func in _CALLING:
        return None
    arrays: list[Any] = []

    def plain(x: Any) -> Any:
        if type(x) is TracedArray:
            arrays.append(x.concrete)
            return x.concrete if not (x.is_scalar or x.is_weak) or x.concrete is None else x.concrete[()]
        if is_array(x) or isinstance(x, Bounded) or hasattr(cast("Any", type(x)), "listed"):
            arrays.append(None)  # met outside: read anew at every call; or of unknown extents
        return (
            cast("Any", type(x))(map(plain, x)) if is_sequence(x) and not hasattr(x, "_fields") and has_traced(x) else x
        )

    new_args, new_kwargs = [plain(a) for a in args], {k: plain(v) for k, v in kwargs.items()}
    if not arrays or any(a is None for a in arrays) or "out" in kwargs:
        return None
    made: Any = func(*new_args, **new_kwargs)
    parts = as_tuple(made)
    if made is None or any(is_array(m) and np.may_share_memory(m, a) for m in parts for a in arrays):
        return None
    return adopt(made)


def _of_a_number(x: TracedArray, error: PliantError, text: str) -> PliantError:
    """What a key raises: of a Python number, which has no elements, another error than of an array."""
    if not x.is_weak or not isinstance(error, IndexRangeError):
        return error
    return DTypeError(f"'{stood_for(x).__name__}' object {text}").at(("here", here()))


_KEYWORD: Final = "unexpected keyword argument '(.*)'"
_OF_OTHERS: Final = {"dim": "axis", "keepdim": "keepdims", "dims": "axis"}
"""Keywords of other libraries → NumPy's."""


def _has_no_such(message: str, func: Callable[..., Any]) -> bool:
    """Whether a keyword that a function does not have is none of NumPy's either."""
    wrong = re.search(_KEYWORD, message)
    try:
        names = inspect.signature(func).parameters
    except ValueError:  # NumPy's functions in C have none
        return False
    return wrong is not None and wrong[1] not in names


def _meant(message: str, found: Callable[..., Any]) -> str:
    """A hint for a keyword that a function does not have: one that is written almost like it."""
    wrong = re.search(_KEYWORD, message)
    if wrong and wrong[1] in _OF_OTHERS:
        return f"NumPy calls it {_OF_OTHERS[wrong[1]]}="
    close: list[str] = (
        import_module("difflib").get_close_matches(wrong[1], inspect.signature(found).parameters) if wrong else []
    )
    return f"did you mean {close[0]}=?" if close else ""


def _call_method(name: str, x: Any, *args: Any, **kwargs: Any) -> Any:
    return getattr(x, name)(*args, **kwargs)


def _is_leading(x: TracedArray, key: Any) -> bool:
    """Whether NumPy lays out `x[key]`, a copy, in row-major order: index arrays come first, x is row-major."""
    first: Any = next(iter(cast("Any", key)), None) if isinstance(key, tuple) else key
    return not isinstance(first, slice) and first is not Ellipsis and first is not None and not has_order((x,))
