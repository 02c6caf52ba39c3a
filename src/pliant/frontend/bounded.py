"""Arrays whose extents are known only at run time: what `x[:k]` is where k is a traced integer.

Such an array is one of the greatest extents it can have, and its extents. Elementwise functions act on
all of it and carry the extents along; whatever combines elements first replaces those beyond the
extents. So they never show, in values or in derivatives. Functions that would need the extents
as Python integers raise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache, partial
from inspect import signature
from typing import Any, ClassVar, cast, final

import numpy as np

from pliant.core.ir import Value, Values, const
from pliant.core.origin import here
from pliant.core.types import DTYPES
from pliant.errors import DTypeError, PliantError, ShapeError, TracedValueError, UnsupportedError
from pliant.frontend.array import TracedArray, fresh, not_weak
from pliant.frontend.blocks import Extent, Part, part_of
from pliant.frontend.convert import as_traced, broadcast_value, cast_value, result_dtype, stored, value_of
from pliant.frontend.kinds import as_tuple, is_sequence
from pliant.frontend.needs import sized
from pliant.frontend.operators import install
from pliant.frontend.sizes import Size, agreed, size_of, traced
from pliant.frontend.strides import unsure_order
from pliant.frontend.text import Number, Shown, noted
from pliant.frontend.tracing import is_tracing
from pliant.ops.bits import logical_and
from pliant.ops.compare import less
from pliant.ops.select import select
from pliant.ops.shape import broadcast, iota
from pliant.ops.update import pad, slice_window

HINT = "keep the whole array and use a mask, as in np.where(np.arange(n) < k, x, 0)"
_signature = cache(signature)


@final
class Bounded(Shown):
    """`x[:k]` inside a traced function, or what is made of it; `extents` has a `Size` for each unknown one."""

    __slots__ = ("extents", "origin", "whole")
    __array_priority__ = 2000.0
    functions: ClassVar[dict[Any, Callable[..., Any]]] = {}
    ufuncs: ClassVar[dict[np.ufunc, Callable[..., Any]]] = {}
    reductions: ClassVar[dict[np.ufunc, Callable[..., Any]]] = {}
    methods: ClassVar[dict[str, Callable[..., Any]]] = {}
    update_at: ClassVar[Callable[..., None]]
    accumulated: ClassVar[Callable[..., Any]]
    read_key: Callable[..., Any]
    write_key: Callable[..., None]

    def __init__(self, whole: TracedArray, extents: Sequence[Extent]) -> None:
        self.whole, self.extents, self.origin = whole, tuple(extents), here()
        sized(self.atoms)

    @property
    def atoms(self) -> Values:
        """What its extents depend on."""
        return tuple([atom for n in self.extents if isinstance(n, Size) for atom in n.atoms])

    # --- what it is

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy dtype."""
        return self.whole.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.extents)

    @property
    def shape(self) -> tuple[Any, ...]:
        """Extent of each axis, those known only at run time as traced integers."""
        return tuple([traced(n) if isinstance(n, Size) else n for n in self.extents])

    @shape.setter
    def shape(self, shape: Any) -> None:
        raise self.refused("x.shape = …")

    @property
    def size(self) -> Any:
        """Number of elements, a traced integer."""
        return math.prod(self.shape)

    @property
    def T(self) -> Any:
        """The transposed view."""
        return np.transpose(cast("Any", self))

    @property
    def real(self) -> Any:
        """The real part: a view of a complex array, the array itself otherwise."""
        return Bounded(self.whole.real, self.extents)

    @real.setter
    def real(self, y: Any) -> None:
        self.real[...] = not_weak(y)

    @property
    def imag(self) -> Any:
        """The imaginary part: a view of a complex array, read-only zeros otherwise."""
        return Bounded(self.whole.imag, self.extents)

    @imag.setter
    def imag(self, y: Any) -> None:
        if self.whole.type.kind != "c":
            raise DTypeError(f"{self.text} has no imaginary part to set").at(("here", here()))
        self.imag[...] = not_weak(y)

    @property
    def flat(self) -> Any:
        """The elements in row-major order, once it is known how many there are."""
        raise self.refused("x.flat")

    @flat.setter
    def flat(self, y: Any) -> None:
        raise self.refused("x.flat = …")

    def pliant_text(self, conversion: str, spec: str) -> str:
        if not is_tracing():
            return f"<traced {self.text}>"
        lengths = tuple([value_of(n, "i64") if type(n) is TracedArray else None for n in self.shape])
        return noted(Number(self.whole.value, False, False, ((conversion, spec),), lengths), self.text)

    @property
    def text(self) -> str:
        """Dtype and extents, such as `f64[k ≤ 6, 3]`."""
        pairs = zip(self.extents, self.whole.shape, strict=True)
        extents = [f"{n} ≤ {limit}" if isinstance(n, Size) else str(n) for n, limit in pairs]
        return f"{self.whole.type.dtype}[{', '.join(extents)}]"

    # --- NumPy's protocols

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **options: Any) -> Any:
        if any([hasattr(x.__class__, "listed") for x in args]):  # a selection says what a function of both is
            return NotImplemented
        out = options.pop("out", None)
        made = _laid_out(self._of_ufunc(ufunc, method, args, options), args)
        if out is None:
            return made
        for target, y in zip(as_tuple(out), as_tuple(made), strict=True):
            assign(target, y, casting="same_kind")
        return out[0] if len(as_tuple(out)) == 1 else out

    def _of_ufunc(self, ufunc: np.ufunc, method: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        if method == "reduce" and ufunc in self.reductions:
            return self.reductions[ufunc](*args, **{"axis": 0, **options})
        if method == "outer" and len(args) == 2:
            first, second = map(operand, args)
            return elementwise(ufunc, (first[(..., *(None,) * second.ndim)], second), options)
        if method == "at" and len(args) == 3 and isinstance(args[1], Bounded):
            return self.update_at(ufunc, *args)
        if method == "accumulate":
            return self.accumulated(ufunc, *args, **options)
        if method != "__call__":
            raise self.refused(f"np.{ufunc.__name__}.{method}")
        if ufunc in self.ufuncs:
            return self.ufuncs[ufunc](*args, **options)
        if ufunc.signature is not None:
            raise self.refused(f"np.{ufunc.__name__}")
        return elementwise(ufunc, args, options)

    def __array_function__(self, func: Any, types: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        if any([hasattr(kind, "listed") for kind in types]):
            return NotImplemented
        found = self.functions.get(func)
        if found is None:
            raise self.refused(f"np.{func.__name__}")
        return _called(self, f"np.{func.__name__}", found, *args, **options)

    def __getattr__(self, name: str) -> Any:
        found = self.methods.get(name)
        if found is not None:
            return partial(_called, self, f".{name}", found, self)
        if name.startswith("__"):
            raise AttributeError(name)
        if not hasattr(np.ndarray, name):
            raise AttributeError(f"'ndarray' object has no attribute {name!r}", name=name, obj=self)
        raise self.refused(f".{name}")

    # --- parts of it

    def __getitem__(self, key: Any) -> Any:
        if is_array_key(key):
            return self.read_key(key)
        return made_of(part_of(self.whole, self.extents, key))

    def __setitem__(self, key: Any, y: Any) -> None:
        y = y.listed if hasattr(y.__class__, "listed") else y
        if is_array_key(key):
            return self.write_key(key, y)
        return put(part_of(self.whole, self.extents, key), y)

    # --- what Python would have to know

    def __len__(self) -> int:
        raise self._needs("len()", "x.shape[0] is the traced integer")

    def __iter__(self) -> Any:
        if self.extents and isinstance(self.extents[0], int):
            return iter([self[n] for n in range(self.extents[0])])
        # Not a TypeError, which NumPy would replace by its own where it wants a sequence.
        raise self._needs(
            "iteration", "loop over range(k) with pliant.fori_loop, or use whole arrays", UnsupportedError
        )

    def __bool__(self) -> bool:
        raise self._needs("a bool", "use x.any() or x.all()")

    def __array__(self, *args: Any, **options: Any) -> Any:
        raise self._needs("conversion to a NumPy array", HINT)

    def __hash__(self) -> int:
        return id(self)

    def _needs(self, what: str, hint: str, kind: type[PliantError] = TracedValueError) -> PliantError:
        message = f"{what} needs to know how many elements there are, which {self.text} has only at run time"
        error = kind(message, hint=hint)
        return error.at(("needed here", here()), ("made here", self.origin)).needing(*self.atoms)

    def refused(self, what: str) -> UnsupportedError:
        """The error for what is not compiled for such arrays."""
        message = f"{what} of {self.text}, whose extents are known only at run time, is not supported"
        error = UnsupportedError(message, hint=HINT)
        return error.at(("here", here()), ("made here", self.origin)).needing(*self.atoms)

    def returned(self, what: str = "a result that shares its memory with others") -> UnsupportedError:
        """The error for a result of unknown extents where it cannot be one."""
        error = UnsupportedError(
            f"{self.text} cannot be {what}: its extents are known only at run time",
            hint="write it into an array of known size, as in y[:k] = ..., and return that; or return a reduction",
        )
        return error.at(("made here", self.origin)).needing(*self.atoms)


def is_array_key(key: Any) -> bool:
    """Whether a key has an array, or a list, in it."""
    items: tuple[Any, ...] = as_tuple(key) if isinstance(key, tuple) else (key,)
    kinds = (list, np.ndarray, Bounded)
    found = [type(k) in kinds or hasattr(k.__class__, "listed") or (type(k) is TracedArray and k.shape) for k in items]
    return any(found)


def made_of(part: Part) -> Any:
    """A view for the user: an array, a scalar, or one whose extents are known only at run time."""
    if part.is_bounded:
        return Bounded(part.whole, part.extents)
    return part.whole if part.extents else fresh(part.whole.value)


def getitem(x: TracedArray, key: Any) -> Any:
    """`x[key]` where a slice has a traced bound."""
    part = part_of(x, x.shape, key)
    assert part.whole.value is not None  # read now: an error of this slice shows this line, not that of its first use
    return made_of(part)


def setitem(x: TracedArray, key: Any, y: Any) -> None:
    """`x[key] = y` where a slice has a traced bound."""
    put(part_of(x, x.shape, key), y)


def put(part: Part, y: Any) -> None:
    """Write y to a view, unless `view op= z` has written it already."""
    whole = y.whole if isinstance(y, Bounded) else y
    if type(whole) is TracedArray and (whole.storage, whole.lenses) == (part.whole.storage, part.whole.lenses):
        return
    assign(Bounded(part.whole, part.extents), y)


def extents_of(x: Any) -> tuple[Extent, ...]:
    """The extents of anything array-like."""
    return x.extents if isinstance(x, Bounded) else as_traced(x).shape


def whole_of(x: Any) -> TracedArray:
    """Anything array-like as an array of its greatest extents."""
    return x.whole if isinstance(x, Bounded) else as_traced(x)


def _called(x: Bounded, name: str, function: Callable[..., Any], /, *args: Any, **options: Any) -> Any:
    """What a function of a table makes; UnsupportedError if it does not have those arguments."""
    try:
        _signature(function).bind(*args, **options)
    except TypeError as error:
        raise x.refused(f"{name} with these arguments ({error})") from None
    return _laid_out(function(*args, **options), (*args, *options.values()))


def _laid_out(made: Any, args: Sequence[Any]) -> Any:
    """What a function made, of which it is not known how NumPy lays it out if operands are not row-major."""
    unsure_order(_wholes((made,)), _wholes(args))
    return made


def _wholes(xs: Sequence[Any]) -> list[Any]:
    """Arrays of the greatest extents, in sequences too."""
    return [_wholes(x) if is_sequence(x) else x.whole if isinstance(x, Bounded) else x for x in xs]


def operand(x: Any) -> Any:
    """Anything array-like as an array, of extents known or not."""
    x = x.listed if hasattr(x.__class__, "listed") else x  # a selection
    return x if isinstance(x, Bounded) else as_traced(x)


def refused(what: str, *xs: Any) -> UnsupportedError:
    """The error for what is not compiled of such arrays, of which some of the operands are."""
    return next(x for x in xs if isinstance(x, Bounded)).refused(what)


def bounded(whole: Any, extents: Sequence[Extent]) -> Any:
    """An array with extents; a plain one where all are known."""
    known = [n.known if isinstance(n, Size) else n for n in extents]
    if None not in known:
        return whole if whole.shape == tuple(known) else whole[tuple(map(slice, known))]
    return Bounded(whole, extents) if any(isinstance(n, Size) for n in extents) else whole


def common_extents(name: str, xs: Sequence[Any]) -> tuple[Extent, ...]:
    """What operands broadcast to; ShapeError unless their extents are known to agree."""
    shapes = [extents_of(x) for x in xs]
    rank = max(map(len, shapes), default=0)
    found: list[Extent] = []
    for axis in range(-rank, 0):
        wide = list(dict.fromkeys([s[axis] for s in shapes if len(s) >= -axis and s[axis] != 1]))
        both: Extent | None = wide[0] if wide else 1
        for n in wide[1:]:
            both = None if both is None else common_extent(both, n)
        if both is None:
            counts = " and ".join(map(str, wide))
            raise ShapeError(
                f"{name}: operands of {counts} elements along axis {axis + rank} do not fit together",
                hint="slice both with the same bounds; an extent that is 1 only at run time is not repeated",
            ).at(("here", here()), *((x.text, x.origin) for x in xs if isinstance(x, Bounded)))
        found.append(both)
    return tuple(found)


def inside(extents: Sequence[Extent], shape: tuple[int, ...], axes: Sequence[int] | None = None) -> Value | None:
    """Where the elements within the extents are, along some axes; None if that is everywhere."""
    found: Value | None = None
    for axis, n in enumerate(extents):
        if isinstance(n, Size) and (axes is None or axis in axes):
            test = broadcast(less(iota(shape[axis]), n.value), shape, (axis,))
            found = test if found is None else logical_and(found, test)
    return found


def filled(x: Any, fill: Any, axes: Sequence[int] | None = None) -> TracedArray:
    """The whole array, with `fill` beyond its extents along some axes."""
    if not isinstance(x, Bounded):
        return as_traced(x)
    value = x.whole.value
    mask = inside(x.extents, value.shape, axes)
    return x.whole if mask is None else fresh(select(mask, value, const(fill, value.dtype)), is_array=True)


def elementwise(function: Callable[..., Any], args: Sequence[Any], options: dict[str, Any]) -> Any:
    """A function that acts on each element, of operands that broadcast together."""
    name = f"np.{function.__name__}"
    if options.get("where", True) is not True:
        raise UnsupportedError(f"{name}: where= beside extents known only at run time", hint=HINT).at(("here", here()))
    extents = common_extents(name, args)
    shape = _greatest(extents, args)
    made = function(*(_spread(x, extents, shape, args) for x in args), **options)
    results = tuple(bounded(m, extents) for m in as_tuple(made))
    return results if isinstance(made, tuple) else results[0]


def common_extent(a: Extent, b: Extent) -> Size | None:
    """What two extents are both, if they are equal at run time; None if they are known not to be."""
    return agreed(size_of(a), size_of(b)) if isinstance(a, Size) or isinstance(b, Size) else None


def _greatest(extents: Sequence[Extent], xs: Sequence[Any]) -> tuple[int, ...]:
    """The greatest extents that the result of operands can have."""
    found: list[int] = []
    for a, n in enumerate(extents, -len(extents)):
        own = [(extents_of(x)[a], whole_of(x).shape[a]) for x in xs if len(extents_of(x)) >= -a]
        found.append(min([m for k, m in own if k != 1]) if isinstance(n, Size) else n)
    return tuple(found)


def _spread(x: Any, extents: Sequence[Extent], shape: tuple[int, ...], xs: Sequence[Any]) -> Any:
    """An operand, repeated along axes that others have: only up to their extents, so that its
    derivative does not see what lies beyond."""
    whole, own = whole_of(x), extents_of(x)
    first = len(extents) - len(own)
    if any(m > n for m, n in zip(whole.shape, shape[first:], strict=True)):
        whole = whole[tuple(slice(n if m > n else None) for m, n in zip(whole.shape, shape[first:], strict=True))]
    axes = [a for a, n in enumerate(extents) if isinstance(n, Size) and (a < first or own[a - first] == 1)]
    if not axes or whole.concrete is not None or not whole.type.is_float:
        return whole
    value = value_of(whole, result_dtype(*map(whole_of, xs))) if whole.is_weak else whole.value
    mask = inside(extents, shape, axes)
    assert mask is not None
    return fresh(select(mask, broadcast_value(value, shape), const(1, value.dtype)), is_array=True)


def assign(target: Any, y: Any, casting: Any = "unsafe") -> None:
    """`target[...] = y`."""
    x = target if isinstance(target, Bounded) else Bounded(as_traced(target), as_traced(target).shape)
    source = whole_of(y)
    made = np.dtype(DTYPES[result_dtype(source, x.whole) if source.is_weak else source.type.dtype])
    if not np.can_cast(made, x.dtype, casting):
        message = f"cannot cast {source.type.dtype} to {x.whole.type.dtype} with casting rule {casting!r}"
        raise DTypeError(message, hint="convert one side with .astype(...)").at(("written here", here()))
    extents, type = common_extents("an assignment", (x, y)), x.whole.type
    if len(extents) != x.ndim or any(n == 1 != m for n, m in zip(x.extents, extents, strict=True)):
        given = y.text if isinstance(y, Bounded) else as_traced(y).type
        raise ShapeError(f"{given} does not fit into {x.text}").at(("written here", here()))
    given = cast_value(source.value, type.dtype) if isinstance(y, Bounded) else stored(y, type.dtype, is_view=True)
    value = broadcast_value(padded(given, extents, type.shape), type.shape)
    if extents != x.extents:  # they agree, or there is an error at run time
        mask = inside(extents, type.shape)
        value = value if mask is None else select(mask, value, x.whole.value)
    x.whole.replace(value)


def padded(value: Value, extents: Sequence[Extent], shape: tuple[int, ...]) -> Value:
    """An operand with the greatest extents of what it is written to, along the axes it has of it."""
    first = len(shape) - len(value.shape)
    wanted = [
        n if isinstance(k, Size) and m != 1 else m
        for k, m, n in zip(extents[first:], value.shape, shape[first:], strict=True)
    ]
    value = slice_window(value, (0,) * len(wanted), (1,) * len(wanted), tuple(map(min, value.shape, wanted)))
    return pad(value, (0,) * len(wanted), tuple(n - m for m, n in zip(value.shape, wanted, strict=True)))


def _inplace(ufunc: np.ufunc) -> Callable[[Bounded, Any], Bounded]:
    def update(self: Bounded, other: Any) -> Bounded:
        assign(self, cast("Any", ufunc)(self, other), casting="same_kind")
        return self

    return update


install(Bounded, _inplace)
