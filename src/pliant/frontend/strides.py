"""Which elements of its storage a view shows: decides, as NumPy does, whether a reshape is a view.

NumPy lays out what a ufunc makes in the order of its operands' strides; so do we, in name: values
have no strides, but reshapes and writes must see the same views. For other functions NumPy is asked
when it matters; where it cannot be asked the order is UNSURE, and writing to such an array or to
its reshaped copy, while both live, is refused.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.lib.stride_tricks import as_strided

from pliant.core.ir import Values
from pliant.core.origin import here
from pliant.core.types import itemsize
from pliant.errors import UnsupportedError
from pliant.frontend.alias import StridedLens
from pliant.frontend.array import TracedArray
from pliant.frontend.convert import short
from pliant.frontend.kinds import is_array, is_sequence
from pliant.frontend.order import UNSURE, Later, settle
from pliant.frontend.tracing import Storage
from pliant.frontend.tracing import strides_of as array_strides
from pliant.frontend.view import (
    BlockLens,
    DiagonalLens,
    DTypeLens,
    DynamicLens,
    ImagLens,
    Lens,
    PermuteLens,
    ReadOnlyLens,
    RealLens,
    ReshapeLens,
    SliceLens,
    StoppedLens,
    WholeLens,
)

Extents: TypeAlias = "tuple[int, ...]"
WIDEST: Final = 16  # bytes of an element
_OF_ELEMENTS: Final = (SliceLens, WholeLens, PermuteLens, ReshapeLens, DiagonalLens, ReadOnlyLens)


def contiguous(shape: Extents) -> Extents:
    """The strides, in elements, of an array in row-major order."""
    return tuple(math.prod(shape[a + 1 :]) for a in range(len(shape)))


def strides_of(x: TracedArray) -> Extents | None:
    """Strides of a view in a row-major storage, in elements; None where it has none."""
    found = layout(x)
    return found[1] if found is not None else None


def layout(x: TracedArray) -> tuple[Extents, Extents] | None:
    """Shape and strides of a view in its storage, if they are known by now."""
    storage = x.storage
    shape = tuple(storage.concrete.shape) if storage.concrete is not None else storage.value.shape
    if storage.strides is UNSURE or isinstance(storage.strides, Later):
        return None
    at: tuple[Extents, Extents] | None = shape, storage.strides or contiguous(shape)
    for lens in x.lenses:
        at = _through(lens, *at) if at is not None else None
    return at


def settled(x: TracedArray) -> tuple[Extents, Extents] | None:
    """Shape and strides of a view in its storage; NumPy is asked where they are not known yet."""
    settle(x.storage)
    return layout(x)


def has_strides(x: TracedArray) -> bool:
    """Whether x may be anything but row-major."""
    return bool(x.lenses) or x.storage.strides is not None


def order_of(x: TracedArray) -> Any:
    """Strides that an array of x's layout has as a storage of its own: None if it is row-major, UNSURE if unknown."""
    if not has_strides(x):
        return None
    found = settled(x)
    if found is None:
        return UNSURE if len(x.shape) > 1 else None
    return None if _agrees(*found, contiguous(found[0])) else found[1]


def common_order(one: Any, other: Any) -> Any:
    """The strides of what is one of two arrays."""
    return one if one == other else UNSURE


def _through(lens: Lens, shape: Extents, strides: Extents) -> tuple[Extents, Extents] | None:
    if isinstance(lens, SliceLens | BlockLens):
        most = lens.length if isinstance(lens, SliceLens) else lens.shape
        return most, tuple(s * d for s, d in zip(strides, lens.step, strict=True))
    if isinstance(lens, WholeLens | StoppedLens):
        return shape, strides
    if isinstance(lens, DynamicLens):
        return lens.length, strides
    if isinstance(lens, PermuteLens):
        return tuple(shape[a] for a in lens.order), tuple(strides[a] for a in lens.order)
    if isinstance(lens, ReshapeLens):
        new = reshaped(shape, strides, lens.shape)
        return (lens.shape, new) if new is not None else None
    if isinstance(lens, RealLens | ImagLens):
        return shape, tuple(2 * s for s in strides)
    if isinstance(lens, DTypeLens):
        return _rescaled(shape, strides, itemsize(lens.before), itemsize(lens.dtype))
    if isinstance(lens, StridedLens):
        return lens.shape, tuple(s * strides[0] for s in lens.strides)
    if isinstance(lens, DiagonalLens | ReadOnlyLens):
        return _asked(lens, shape, strides)
    return None


def _asked(lens: Lens, shape: Extents, strides: Extents) -> tuple[Extents, Extents]:
    """Shape and strides of a view as NumPy makes it of such an array, whose elements nobody looks at."""
    seen = lens.numpy(_empty(shape, strides))
    return seen.shape, tuple([s // WIDEST if s % WIDEST == 0 else s / WIDEST for s in seen.strides])


def _empty(shape: Extents, strides: Extents) -> Any:
    """An array whose elements nobody looks at, each of the widest size."""
    steps = [round(s * WIDEST) for s in strides]  # parts of records lie a fraction of their elements apart
    return as_strided(np.empty(1, np.int8), shape, steps, writeable=False)


def start_of(x: TracedArray) -> int | None:
    """Where the first element of a view lies in its storage, in elements; None if it is no view of these alone, or if
    that is not known."""
    if settled(x) is None or not all([isinstance(lens, _OF_ELEMENTS) for lens in x.lenses]):
        return None
    whole = _empty(*(layout(TracedArray(x.storage)) or ((), ())))
    seen = whole
    for lens in x.lenses:
        seen = lens.numpy(seen)
    first, last = [array.__array_interface__["data"][0] for array in (whole, seen)]
    return (last - first) // WIDEST


def _rescaled(shape: Extents, strides: Extents, old: int, new: int) -> tuple[Extents, Extents] | None:
    """Shape and strides, in elements, of the same bytes as elements of another size."""
    if old == new:
        return shape, strides
    steps = [s * old for s in strides[:-1]]
    if any([s % new for s in steps]):
        return None
    return (*shape[:-1], shape[-1] * old // new), (*(s // new for s in steps), 1)


def reshaped(shape: Extents, strides: Extents, new: Extents) -> Extents | None:
    """Strides that show the same elements in the same order under another shape, if there are any."""
    if 0 in shape:
        return contiguous(new)
    runs: list[tuple[int, int]] = []  # how many elements lie evenly spaced, and how far apart
    for n, stride in zip(shape, strides, strict=True):
        if runs and runs[-1][1] == n * stride:
            runs[-1] = (runs[-1][0] * n, stride)
        elif n != 1:
            runs.append((n, stride))
    made: list[int] = []
    left, step = 1, 1
    for n in reversed(new):
        if left == 1 and n != 1:
            left, step = runs.pop()
        if left % n:
            return None
        made.append(step)
        left, step = left // n, step * n
    return tuple(reversed(made))


def fits(x: TracedArray, shape: Extents, order: str) -> bool | None:
    """Whether NumPy shows x under another shape without a copy; None if that cannot be found out."""
    if order == "F":
        return _asked_of(x, lambda old, strides: reshaped(old[::-1], strides[::-1], shape[::-1]) is not None)
    return _asked_of(x, lambda old, strides: reshaped(old, strides, shape) is not None)


def is_whole(x: TracedArray, order: str) -> bool | None:
    """Whether a view's elements lie one after the other in its storage; None if that cannot be found out."""
    if order == "F":
        return _asked_of(x, lambda n, strides: _agrees(n[::-1], strides[::-1], contiguous(n[::-1])))
    return _asked_of(x, lambda n, strides: _agrees(n, strides, contiguous(n)))


def axes_in_memory(x: TracedArray) -> Extents | None:
    """The axes of a view, those with the longest steps first, as NumPy's iterator goes over it; None if that cannot be
    found out."""
    if 0 in x.shape:
        return tuple(range(x.ndim))
    if settled(x) is None:
        return None
    steps: Any = _kept(x.shape, [x]) or contiguous(x.shape)
    return tuple(sorted(range(x.ndim), key=lambda axis: -steps[axis]))


def is_row_major(x: TracedArray) -> bool:
    """Whether a view's elements lie one after the other in its storage."""
    return is_whole(x, "C") is True


def is_column_major(x: TracedArray) -> bool:
    """Whether a view's elements lie one after the other in its storage, the first axis fastest."""
    return is_whole(x, "F") is True


def _asked_of(x: TracedArray, question: Callable[[Extents, Extents], bool]) -> bool | None:
    """The answer for shape and strides of each array that x may be, by conditions; None if they differ."""
    sides = sides_of(x)
    if any(map(is_unsure, sides)):
        return None
    found = {at is not None and question(*at) for at in map(settled, sides)}
    return found.pop() if len(found) == 1 else None


def sides_of(x: TracedArray) -> list[TracedArray]:
    """The arrays that x may be: several if its storage is one of two, by a condition."""
    storage: Any = x.storage
    if type(storage) is Storage:
        return [x]
    return [s for y in (storage.one, storage.other) for s in sides_of(TracedArray(y.storage, (*y.lenses, *x.lenses)))]


def has_dtype(dtype: Any, x: TracedArray) -> bool:
    """Whether the elements of x are of a dtype, bytes in its order too: a caller's array may have another than this
    machine, and is copied to be of this one."""
    to = np.dtype(dtype)
    if short(to) != x.type.dtype:
        return False
    answers = {to.isnative == side.dtype.isnative for side in sides_of(x)}
    if len(answers) > 1:
        raise UnsupportedError(
            "whether this is a copy depends on data: it is one of two arrays, in different orders of bytes",
            hint="x.astype(x.dtype.newbyteorder('=')), before the call, turns one over",
        ).at(("here", here()))
    return answers == {True}


def _agrees(shape: Extents, strides: Extents, wanted: Extents) -> bool:
    return 0 in shape or all(n == 1 or s == w for n, s, w in zip(shape, strides, wanted, strict=True))


def is_unsure(x: TracedArray) -> bool:
    """Whether it cannot be found out how NumPy lays out x."""
    settle(x.storage)
    return x.storage.strides is UNSURE


def has_order(args: Sequence[Any]) -> bool:
    """Whether an operand may have its axes in another order than row-major ones."""
    for a in args:
        if type(a) is TracedArray:
            if (a.lenses or a.storage.strides is not None) and len(a.shape) > 1 and not _descends(layout(a)):
                return True
        elif is_array(a):
            if a.ndim > 1 and not a.flags.c_contiguous and not _descends((tuple(map(int, a.shape)), a.strides)):
                return True
        elif is_sequence(a) and has_order(a):
            return True
    return False


def asks_order(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether a call names an order of axes that may not be row-major."""
    return kwargs.get("order") in ("F", "A", "K") or any([type(a) is str and a in ("F", "A", "K") for a in args])


def _descends(found: tuple[Extents, Extents] | None) -> bool:
    """Whether the last axes are the nearest in memory."""
    if found is None:
        return False
    steps = [abs(s) for n, s in zip(*found, strict=True) if n > 1]
    return steps == sorted(steps, reverse=True)


def keep_order(made: Any, ufunc: Callable[..., Any], args: Sequence[Any]) -> Any:
    """What a ufunc made of operands, some of them not row-major, laid out as NumPy does it."""
    for number, m in enumerate(made if is_sequence(made) else (made,)):
        if type(m) is TracedArray and len(m.shape) > 1 and 0 not in m.shape:
            kept = _kept(m.shape, args)
            if kept is UNSURE:
                kept = Later(settled, ufunc, args, number=number if is_sequence(made) else None)
            m.storage.strides = kept
    return made


def later_order(made: Any, call: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any] | None = None) -> Any:
    """What another function made, to be laid out as NumPy does it; views, and arrays that it filled, stay what they
    are."""
    olds = [a.storage for a in _arrays([*args, *(kwargs or {}).values()])]
    for number, m in enumerate(made if is_sequence(made) else (made,)):
        if type(m) is TracedArray and _has_axes(m) and not m.lenses and not any(m.storage is s for s in olds):
            place = number if is_sequence(made) else None
            m.storage.strides = Later(settled, call, args, kwargs or {}, place)
    return made


def _has_axes(m: TracedArray) -> bool:
    """Whether an array has several axes, which may come in another order: those of one element lie anywhere."""
    return sum([n != 1 for n in m.shape]) > 1


def _arrays(args: Sequence[Any]) -> list[TracedArray]:
    nested = [b for a in args if is_sequence(a) for b in _arrays(a)]
    return [a for a in args if type(a) is TracedArray] + nested


def _kept(shape: Extents, args: Sequence[Any]) -> tuple[Any, ...] | None:
    """Strides of the array that NumPy's iterator makes for these operands: asked of it, on two elements an axis."""
    dummies: list[Any] = []
    for a in args:
        if is_array(a):
            found: Any = a.shape, array_strides(a) or contiguous(a.shape)
        elif type(a) is TracedArray:
            found = layout(a)
        else:
            continue
        if found is None:
            return UNSURE
        dummies.append(_dummy(*found))
    return _as_laid_out(shape, np.nditer([*dummies, None], ["zerosize_ok"]).operands[-1])  # type: ignore[list-item]


def product_order(
    inputs: Sequence[Sequence[str]], output: Sequence[str], xs: Sequence[TracedArray], shape: Extents
) -> tuple[Any, ...] | None:
    """Strides of what `np.einsum` makes, by the labels of its operands' axes: asked in the same way."""
    every = (*output, *sorted({label for labels in inputs for label in labels} - {*output}))
    dummies: list[Any] = []
    places: list[list[int]] = []
    for x, labels in zip(xs, inputs, strict=True):
        found = layout(x)
        if found is None:
            return UNSURE
        own = [*dict.fromkeys(labels)]
        axes = [[n for n, label in enumerate(labels) if label == each] for each in own]  # diagonals are views
        dummies.append(_dummy([found[0][n[0]] for n in axes], [sum([found[1][m] for m in n]) for n in axes]))
        places.append([own.index(label) if label in own else -1 for label in every])
    places.append([n if n < len(output) else -1 for n in range(len(every))])
    flags = [*[["readonly"]] * len(dummies), ["readwrite", "allocate"]]
    made = np.nditer([*dummies, None], ["reduce_ok", "zerosize_ok"], flags, op_axes=places)  # type: ignore[list-item]
    return _as_laid_out(shape, made.operands[-1])


def _dummy(extents: Sequence[int], strides: Sequence[Any]) -> Any:
    """An array that nobody looks at, of two elements an axis."""
    shape = [min(n, 2) for n in extents]
    return as_strided(np.empty(1, np.int8), shape, [int(s) for s in strides], writeable=False)


def _as_laid_out(shape: Extents, made: Any) -> tuple[Any, ...] | None:
    """Strides of an array whose axes lie in the order of those of another one; None if it is row-major."""
    axes = sorted(range(len(shape)), key=lambda axis: (made.strides[axis], -axis))
    strides, step = [0] * len(shape), 1
    for axis in axes:
        strides[axis] = step
        step *= shape[axis]
    return None if _agrees(shape, tuple(strides), contiguous(shape)) else tuple(strides)


def unsure_order(made: Any, args: Sequence[Any]) -> Any:
    """What a function made of operands, some of them not row-major, whose order of axes NumPy is not asked for."""
    if has_order(args):
        olds = [a.storage for a in _arrays(args)]
        for m in _arrays(made if is_sequence(made) else (made,)):
            if _has_axes(m) and not has_strides(m) and not any([m.storage is s for s in olds]):
                m.storage.strides = UNSURE
    return made


def separate(x: TracedArray, copy: TracedArray, causes: Values = ()) -> TracedArray:
    """`copy`, which NumPy may make as a view of x: from now on neither may be written while the other lives. causes:
    numbers that would tell whether it does."""
    for side in sides_of(x):
        side.storage.twins += (weakref.ref(copy.storage),)
        copy.storage.twins += (weakref.ref(side.storage),)
        side.storage.causes += causes
    copy.storage.causes += causes
    return copy
