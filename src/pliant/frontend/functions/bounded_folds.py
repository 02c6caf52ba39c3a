"""NumPy's reductions and scans of arrays whose extents are known only at run time; see `pliant.frontend.bounded`.

Beyond the extents stands what changes nothing: the identity of a reduction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from pliant.core import ir
from pliant.frontend.array import fresh
from pliant.frontend.blocks import Extent
from pliant.frontend.bounded import Bounded, assign, bounded, extents_of, filled, whole_of
from pliant.frontend.convert import as_traced, axes_of, axis_of, broadcast_value, value_of
from pliant.frontend.failures import fail_if, nothing_to_fold
from pliant.frontend.functions.common import NO_VALUE, only, xp
from pliant.frontend.functions.reduce import is_given
from pliant.frontend.functions.statistics import ddof_of
from pliant.frontend.kinds import as_tuple
from pliant.frontend.sizes import size_of, traced
from pliant.ops.compare import less
from pliant.ops.folds import start_of
from pliant.ops.length import length


def least(dtype: str) -> Any:
    """What every maximum is at least."""
    return False if dtype == "bool" else start_of("max", dtype)


def greatest(dtype: str) -> Any:
    """What every minimum is at most."""
    return True if dtype == "bool" else start_of("min", dtype)


def at_least(extent: Extent, count: int, error: Exception) -> None:
    """Note the error of an axis that has too few elements."""
    size = size_of(extent)
    if not size.is_at_least(count):
        fail_if(less(size.value, ir.const(count, "i64")), error)


def is_kept(keepdims: Any) -> bool:
    """Whether an optional `keepdims=` is true."""
    return bool(keepdims) and keepdims is not NO_VALUE


def _mask(a: Any, where: Any) -> Any:
    """`where=` for each element of an array."""
    return xp.logical_and(where, xp.ones_like(a, dtype=bool))


def _fold(name: str, fill: Callable[[str], Any], of: str = "") -> Callable[..., Any]:
    """A reduction of the elements there are; `fill` gives the number that changes nothing; of: the name of a ufunc
    that starts from an element."""

    def reduce(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **options: Any
    ) -> Any:
        first = options.pop("initial", NO_VALUE) if name in _STARTED else NO_VALUE
        where = options.pop("where", True) if name != "count_nonzero" else True
        only(name, **options)
        axes = axes_of(axis, len(extents_of(a)))
        if of and not is_given(first):
            for folded in axes:
                at_least(extents_of(a)[folded], 1, nothing_to_fold(of))
        given = ({} if dtype is None else {"dtype": dtype}) | ({"initial": first} if is_given(first) else {})
        if where is not True and where is not NO_VALUE:
            mask = _mask(a, where)
            a = xp.where(mask, a, a)  # of the extents of both
            given["where"] = whole_of(mask)
        kept = is_kept(keepdims)
        whole = filled(a, fill(whole_of(a).type.dtype), axes)
        made = getattr(xp, name)(whole, axis=tuple(axes), keepdims=kept, **given)
        return stored(bounded(made, remaining(extents_of(a), axes, kept)), out)

    reduce.__name__ = name
    return reduce


_STARTED: Final = ("sum", "prod", "max", "min")  # that have `initial=`


def remaining(extents: Sequence[Extent], axes: Sequence[int], kept: bool) -> list[Extent]:
    """The extents after a reduction."""
    return [1 if a in axes else n for a, n in enumerate(extents) if kept or a not in axes]


def stored(made: Any, out: Any) -> Any:
    """A result, in the array of `out=` if there is one."""
    if out is None:
        return made
    (target,) = as_tuple(out)
    assign(target, made, casting="same_kind")
    return target


sum_, prod = _fold("sum", lambda dtype: 0), _fold("prod", lambda dtype: 1)
max_, min_ = _fold("max", least, "maximum"), _fold("min", greatest, "minimum")
any_, all_ = _fold("any", lambda dtype: 0), _fold("all", lambda dtype: 1)
count_nonzero = _fold("count_nonzero", lambda dtype: 0)


def count_of(a: Any, dtype: Any, axis: Any, keepdims: Any, where: Any) -> Any:
    """How many elements a reduction takes together, as a number that leaves a dtype as it is."""
    if where is not True and where is not NO_VALUE:
        return sum_(_mask(a, where), axis, np.zeros(0, dtype).real.dtype, keepdims=keepdims)
    total: Any = 1
    for at in axes_of(axis, a.ndim):
        total = total * traced(size_of(a.extents[at]))
    return total


def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True
) -> Any:
    """np.mean."""
    kind = whole_of(a).type.dtype
    wide = dtype or (np.float32 if kind == "f16" else None if kind[0] in "fc" else float)
    total = sum_(a, axis, wide, keepdims=keepdims, where=where)
    made = total / count_of(a, total.dtype, axis, keepdims, where)
    to = dtype or (np.float16 if kind == "f16" else None)
    return stored(made if to is None else made.astype(to), out)


def var(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *,
    where: Any = True, mean: Any = NO_VALUE, correction: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """np.var; that of float16 is computed in float32."""
    if whole_of(a).type.dtype == "f16" and dtype is None:
        made = var(
            a.astype(np.float32), axis, None, None, ddof, keepdims, where=where, mean=mean, correction=correction
        )
        return stored(made.astype(np.float16), out)
    center = _mean(a, axis, dtype, keepdims=True, where=where) if mean is NO_VALUE else mean
    distance = abs(a - center)
    total = sum_(distance * distance, axis, dtype, keepdims=keepdims, where=where)
    free = count_of(a, total.dtype, axis, keepdims, where) - ddof_of(ddof, correction)
    return stored(total / xp.maximum(free, 0).astype(total.dtype), out)


def std(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, *args: Any, **options: Any) -> Any:
    """np.std; its gradient where all elements are equal is 0."""
    made = var(a, axis, dtype, None, *args, **options)
    return stored(bounded(fresh(length(whole_of(made).value)), extents_of(made)), out)


def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    """np.ptp."""
    return stored(max_(a, axis, keepdims=keepdims) - min_(a, axis, keepdims=keepdims), out)


def line_of(a: Any, axis: Any) -> tuple[Any, int]:
    """What a function acts on along an axis: with None on all elements one after the other."""
    return (xp.ravel(a), 0) if axis is None else (a, axis_of(axis, a.ndim))


def _arg(name: str, fill: Callable[[str], Any]) -> Callable[..., Any]:
    """np.argmax or np.argmin."""

    def arg(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
        line, at = line_of(a, axis)
        at_least(line.extents[at], 1, ValueError(f"attempt to get {name} of an empty sequence"))
        made = getattr(xp, name)(filled(line, fill(a.whole.type.dtype), (at,)), axis=at, keepdims=is_kept(keepdims))
        if axis is None:
            return stored(xp.reshape(made, (1,) * a.ndim) if is_kept(keepdims) else made, out)
        return stored(bounded(made, remaining(a.extents, (at,), is_kept(keepdims))), out)

    arg.__name__ = name
    return arg


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    """np.linalg.norm of vectors; of all elements, or several axes, without `ord`."""
    axes = axes_of(axis, x.ndim)
    if ord not in (None, 1, 2, np.inf) or (ord is not None and len(axes) > 1):
        raise x.refused(f"np.linalg.norm with ord={ord}")
    x = x if whole_of(x).type.is_float else x.astype(np.float64)
    if ord == 1:
        return sum_(abs(x), axis, keepdims=keepdims)
    if ord == np.inf:
        return _fold("max", lambda dtype: 0)(abs(x), axis, keepdims=keepdims)
    return xp.sqrt(sum_(xp.square(abs(x)), axis, keepdims=keepdims))


def _scan(name: str, fill: int) -> Callable[..., Any]:
    """np.cumsum or np.cumprod."""

    def scan(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        line, at = line_of(a, axis)
        made = getattr(xp, name)(filled(line, fill, (at,)), axis=at, dtype=dtype)
        return stored(Bounded(filled(Bounded(made, line.extents), 0, (at,)), line.extents), out)

    scan.__name__ = name
    return scan


cumsum, cumprod = _scan("cumsum", 0), _scan("cumprod", 1)


def _cumulative(scan: Callable[..., Any], start: int) -> Callable[..., Any]:
    """np.cumulative_sum or np.cumulative_prod."""

    def call(x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False) -> Any:
        if axis is None and x.ndim > 1:
            raise x.refused("a scan without axis=")
        made = scan(x, axis or 0, dtype)
        at = axis_of(axis or 0, x.ndim)
        return stored(
            xp.concatenate((repeated(made, at, 1, start).astype(made.dtype), made), at) if include_initial else made,
            out,
        )

    return call


def repeated(a: Any, axis: int, count: int, number: Any) -> Any:
    """An array as long as another one along all axes but one, and so long along that, of one number."""
    shape, extents = list(whole_of(a).shape), list(extents_of(a))
    shape[axis] = extents[axis] = count
    return bounded(fresh(broadcast_value(value_of(as_traced(number)), tuple(shape)), is_array=True), extents)


argmax, argmin = _arg("argmax", least), _arg("argmin", greatest)
_mean = mean
FUNCTIONS: Final[dict[Any, Callable[..., Any]]] = {
    np.sum: sum_, np.prod: prod, np.max: max_, np.amax: max_, np.min: min_, np.amin: min_, np.any: any_, np.all: all_,
    np.count_nonzero: count_nonzero, np.mean: mean, np.var: var, np.std: std, np.ptp: ptp,
    np.argmax: argmax, np.argmin: argmin, np.cumsum: cumsum, np.cumprod: cumprod, np.linalg.norm: norm,
    np.cumulative_sum: _cumulative(cumsum, 0), np.cumulative_prod: _cumulative(cumprod, 1),
}  # fmt: skip
METHODS: Final[dict[str, Callable[..., Any]]] = {
    f.__name__: f for f in (sum_, prod, max_, min_, any_, all_, mean, var, std, argmax, argmin, cumsum, cumprod)
}
REDUCTIONS: Final[dict[np.ufunc, Callable[..., Any]]] = {
    np.add: sum_, np.multiply: prod, np.maximum: max_, np.minimum: min_, np.logical_or: any_, np.logical_and: all_
}  # fmt: skip
