"""NumPy's ufuncs on traced arrays: promotion, casting, out=, where=, and their methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, cast

import numpy as np

from pliant.core.ir import Op, Value
from pliant.core.origin import here
from pliant.core.types import DTYPES
from pliant.errors import ArgumentError, DomainError, DTypeError, ShapeError, UnsupportedError
from pliant.frontend.array import TracedArray, answers, fresh, fresh_concrete, is_above, weak_kind
from pliant.frontend.comparisons import COMPARISONS, beside_integers, compared, is_beyond
from pliant.frontend.convert import (
    as_traced,
    broadcast_shapes,
    broadcast_value,
    cast_value,
    fitting,
    is_large,
    loop_dtypes,
    mask_of,
    sample,
    value_of,
    with_type,
)
from pliant.frontend.gufuncs import KEYWORDS, at_axes
from pliant.frontend.kinds import as_tuple, is_traced
from pliant.frontend.strides import has_order, keep_order
from pliant.ops.select import select

Builder = Callable[..., Any]  # values of the loop dtypes → value(s) of the result dtypes


def call(builders: dict[np.ufunc, Builder], ufunc: np.ufunc, args: tuple[Any, ...], **options: Any) -> Any:
    """`ufunc(*args)` with NumPy's keywords."""
    out, where, dtype = options.pop("out", None), options.pop("where", True), options.pop("dtype", None)
    casting = options.pop("casting", "same_kind")
    if options.keys() & {"order"} or casting not in _CASTING:
        check_keywords(casting, options.get("order"))
    axes = {k: options.pop(k) for k in KEYWORDS & options.keys()} if ufunc.signature is not None else {}
    unknown = {k: v for k, v in options.items() if k not in ("subok", "order")}
    if unknown:
        raise UnsupportedError(f"np.{ufunc.__name__}: keyword {', '.join(unknown)} is not supported").at(
            ("here", here())
        )
    if not ufunc.nin <= len(args) <= ufunc.nargs:
        takes = f"takes from {ufunc.nin} to {ufunc.nargs} positional arguments"
        raise ArgumentError(f"np.{ufunc.__name__}() {takes} but {len(args)} were given").at(("here", here()))
    args, outs = args[: ufunc.nin], args[ufunc.nin :] or (() if out is None else as_tuple(out))
    if any(map(is_large, args)):
        args = _with_large(ufunc, args)
    xs = [as_traced(a, f"an array for np.{ufunc.__name__}") for a in args]
    if axes:
        along = partial(call, builders, ufunc, dtype=dtype, casting=casting)
        values = (at_axes(ufunc, xs, lambda *moved: along(moved), **axes).value,)
    elif not any(o is not None for o in outs) and where is True and all(x.concrete is not None for x in xs):
        return _concrete(ufunc, xs, dtype, casting)
    else:
        values = results(builders, ufunc, xs, dtype, casting)
    mask = None if where is True else _mask(where, outs, ufunc)
    if not any(o is not None for o in outs):
        made = tuple(fresh(v) for v in values)
        return made[0] if ufunc.nout == 1 else made
    given = tuple(store(v, o, casting, ufunc, mask) for v, o in zip(values, outs, strict=True))
    return given[0] if ufunc.nout == 1 else given


_CASTING: Final = ("no", "equiv", "safe", "same_kind", "unsafe")


def check_keywords(casting: Any, order: Any) -> None:
    """DomainError for rules of casting, and orders of elements, that there are not."""
    for name, given, choices in (("casting", casting, _CASTING), ("order", order, (None, "C", "F", "A", "K"))):
        if given not in choices:
            known = ", ".join([repr(c) for c in choices if c])
            raise DomainError(f"{name} must be one of {known} (got {given!r})").at(("here", here()))


_Loop = tuple[tuple[str, ...], str, Callable[..., Any]]  # dtypes of operands and result, what makes it
_loops: dict[tuple[Any, ...], _Loop] = {}  # by ufunc and kinds of operands


def quick(builders: dict[np.ufunc, Builder], ufunc: np.ufunc, args: tuple[Any, ...]) -> TracedArray | None:
    """The usual call, fast: traced arrays and Python numbers, one result; None for anything else."""
    kinds: list[Any] = [ufunc]
    values: list[Any] = []
    shape: tuple[int, ...] = ()
    is_row_major = is_alike = True
    for a in args:
        kind: Any = type(a)  # pyright: ignore[reportUnknownVariableType]  # no call: this runs for every operand
        if kind is TracedArray:
            storage = a.storage
            if storage.concrete is not None or a.is_weak:
                return None
            is_row_major = is_row_major and not a.lenses and storage.strides is None
            value = a.value if a.lenses or storage.content is None else storage.content
            type_ = value.node.types[value.index]
            if type_.shape != shape and type_.shape:
                is_alike = not shape
                shape = shape or type_.shape
            values.append(value)
            kinds.append(type_.dtype)
        elif kind is float or kind is int:
            values.append(a)
            kinds.append(kind)
        else:
            return None
    loop = _loops.get(tuple(kinds)) or _loop_of(builders, ufunc, args, tuple(kinds))
    if loop is None:
        return None
    ins, dtype, build = loop
    for n, t in enumerate(ins):
        if kinds[n + 1] is not t:
            values[n] = value_of(args[n], t)
    if not is_alike:
        try:
            shape = broadcast_shapes(*[v.shape for v in values])
        except ShapeError:
            return None  # the usual way says more
        values = [broadcast_value(v, shape) if v.shape else v for v in values]
    made = build(*values)
    if type(made) is tuple:  # all the results of a primitive
        made = cast("tuple[Any, ...]", made)[0]
    if type(made) is not Value:
        return None
    result = fresh(made if made.dtype == dtype else cast_value(made, dtype))
    return result if is_row_major or not has_order(args) else keep_order(result, ufunc, args)


def _loop_of(
    builders: dict[np.ufunc, Builder], ufunc: np.ufunc, args: tuple[Any, ...], kinds: tuple[Any, ...]
) -> _Loop | None:
    """The loop of a usual call, kept; None where they are not all there is to it."""
    if len(args) != ufunc.nin or ufunc.nout != 1 or ufunc.signature is not None or ufunc not in builders:
        return None
    if any(map(is_large, args)):
        return None
    xs = [as_traced(a) for a in args]
    if all(x.concrete is not None for x in xs):
        return None
    if ufunc in COMPARISONS and (
        is_beyond(xs) or (int in kinds and xs[0].type.kind in "iu" and xs[-1].type.kind in "iu")
    ):
        return None  # by their numbers
    ins, outs = _loop(ufunc, xs, None)
    builder = builders[ufunc]
    found = _loops[kinds] = ins, outs[0], builder.apply if isinstance(builder, Op) else builder
    return found


def _with_large(ufunc: np.ufunc, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Operands with Python ints of any size as NumPy takes them."""
    is_exact = all([is_large(a) or as_traced(a).type.kind in "iub" for a in args])
    if ufunc in COMPARISONS and is_exact:  # by their numbers: none of 64 bits is as large, but one without a sign
        return tuple([beside_integers(a) if is_large(a) else a for a in args])
    try:
        makes_floats = loop_dtypes(ufunc, (np.dtype(np.int64),) * ufunc.nin)[0][0][0] == "f"
    except TypeError:
        makes_floats = False
    return fitting(args, as_floats=makes_floats)


def results(
    builders: dict[np.ufunc, Builder], ufunc: np.ufunc, xs: list[TracedArray], dtype: Any = None,
    casting: str = "same_kind",
) -> tuple[Value, ...]:  # fmt: skip
    """The values of `ufunc(*xs)`, in NumPy's loop dtypes."""
    builder = builders.get(ufunc)
    if builder is None:
        is_of_objects = set("".join(ufunc.types)) <= {*"O->"}
        hint = "np.vectorize(f)(x) makes arrays of numbers" if is_of_objects else _COVERAGE
        raise UnsupportedError(
            f"{_where_from(ufunc)} is not supported{': it makes arrays of objects' if is_of_objects else ''}",
            hint=hint,
        ).at(("here", here()))
    if ufunc in COMPARISONS and is_beyond(xs):
        return (compared(builder, ufunc, xs),)
    ins, outs = _loop(ufunc, xs, dtype, casting)
    values = [value_of(x, t) for x, t in zip(xs, ins, strict=True)]
    if ufunc.signature is not None:  # matmul and the like: shapes are the builder's business
        return tuple([cast_value(v, t) for v, t in zip(_tuple(builder(*values)), outs, strict=True)])
    shapes = {v.shape for v in values if v.shape}
    if len(shapes) > 1:
        try:
            shape = broadcast_shapes(*(v.shape for v in values))
        except ShapeError as error:
            fresh_error = ShapeError(f"np.{ufunc.__name__}: {error.message}")
            raise fresh_error.at(("here", here()), *((str(v.type), v.origin) for v in values)) from None
        values = [v if not v.shape else broadcast_value(v, shape) for v in values]
    made = _tuple(builder(*values))
    return tuple(cast_value(v, t) for v, t in zip(made, outs, strict=True))


def _loop(
    ufunc: np.ufunc, xs: list[TracedArray], dtype: Any, casting: str = "same_kind"
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    samples: list[Any] = [sample(x) for x in xs]
    if all(not isinstance(s, np.dtype) for s in samples):
        samples = [np.result_type(s) for s in samples]
    operands = tuple(map(_operand, samples))
    try:
        return loop_dtypes(ufunc, operands, dtype, casting)
    except TypeError:
        types = " and ".join(str(x.type) for x in xs)
        chosen = [] if dtype is None else [f"dtype={np.dtype(dtype)}"]
        chosen += [f"casting rule {casting!r}"] if chosen or casting != "same_kind" else []
        how = f" with {' and '.join(chosen)}" if chosen else ""
        raise DTypeError(f"np.{ufunc.__name__} is not defined for {types}{how}").at(
            ("here", here()), *((str(x.type), x.value.origin) for x in xs)
        ) from None


def _operand(sample: Any) -> Any:
    """What NumPy's resolution takes for an operand: a dtype, or the type of a Python number."""
    if isinstance(sample, bool):
        return np.dtype(bool)
    return cast("Any", type(sample)) if isinstance(sample, int | float | complex) else sample


def _concrete(ufunc: np.ufunc, xs: list[TracedArray], dtype: Any, casting: Any) -> Any:
    """Operands known while tracing: NumPy itself computes the result."""
    plain = [weak_kind(x)(x.concrete[()]) if x.is_weak else (x.concrete[()] if x.is_scalar else x.concrete) for x in xs]
    made = ufunc(*plain, dtype=dtype, casting=casting)
    wrapped = tuple(fresh_concrete(m) for m in as_tuple(made))
    return wrapped if isinstance(made, tuple) else wrapped[0]


LOGICAL = frozenset((np.bitwise_and, np.bitwise_or, np.bitwise_xor))  # what Python's bools have of their own


def operator(builders: dict[np.ufunc, Builder], ufunc: np.ufunc, *args: Any) -> Any:
    """A Python operator: as the ufunc, but Python numbers among themselves stay Python's."""
    others: list[Any] = [a for a in args if answers(cast("Any", type(a)))]
    if others:
        return NotImplemented if any([a.__array_ufunc__ is None for a in others]) else ufunc(*args)
    if type(args[-1]) is not TracedArray or args[-1].is_weak:  # perhaps numbers only
        if any(a is None or isinstance(a, str | dict | set) or is_above(cast("Any", type(a))) for a in args):
            return _unlike(ufunc, args)
        if any([isinstance(a, list | tuple) for a in args]) and any([is_traced(a) and a.is_weak for a in args]):
            return NotImplemented
        # what is a number or None is a number here
        args = tuple([a if type(a) is TracedArray or not hasattr(a, "__traced__") else a.__traced__() for a in args])
        if all(_is_python(a) for a in args):
            numbers = args if ufunc in LOGICAL or ufunc in COMPARISONS else tuple(_unbool(a) for a in args)
            return _weak(call(builders, ufunc, numbers))
    elif len(args) == 2 and _are_complex_and_float(*args):
        return _weak(call(builders, ufunc, args))
    return call(builders, ufunc, args)


def _are_complex_and_float(x: Any, y: TracedArray) -> bool:
    """Whether Python's complex number answers for both: it takes NumPy's float64, which is a float, for one."""
    is_complex = x.is_weak and x.type.kind == "c" if type(x) is TracedArray else type(x) is complex
    return is_complex and y.is_scalar and y.type.dtype == "f64"


def _weak(made: TracedArray) -> TracedArray:
    """The same as a number of Python's."""
    return TracedArray(made.storage, made.lenses, is_scalar=True, is_weak=True)


def _unlike(ufunc: np.ufunc, args: Sequence[Any]) -> Any:
    """What an array makes of None, text and other objects: none of its elements is equal to these."""
    arrays = [a for a in args if type(a) is TracedArray and not (a.is_weak or a.is_scalar)]
    if not arrays or ufunc not in _LIKE or any(is_above(cast("Any", type(a))) for a in args):
        return NotImplemented
    return _LIKE[ufunc](arrays[0], dtype=bool)


_LIKE: Final[dict[np.ufunc, Any]] = {np.equal: np.zeros_like, np.not_equal: np.ones_like}


def _is_python(x: Any) -> bool:
    """Whether x stands for a Python number."""
    return (
        x.is_weak if type(x) is TracedArray else isinstance(x, int | float | complex) and not isinstance(x, np.generic)
    )


def _unbool(x: Any) -> Any:
    """A Python bool as the int that it is in arithmetic."""
    if type(x) is TracedArray:
        is_bool = x.type.dtype == "bool"
        return TracedArray(fresh(cast_value(x.value, "i64")).storage, is_scalar=True, is_weak=True) if is_bool else x
    return int(x) if type(x) is bool else x


def inplace(builders: dict[np.ufunc, Builder], ufunc: np.ufunc, x: TracedArray, y: Any) -> Any:
    """`x op= y`: writes into an array; a scalar is rebound, as in NumPy."""
    if x.is_scalar or x.is_weak:
        return operator(builders, ufunc, x, y)
    if answers(cast("Any", type(y))):
        if y.__array_ufunc__ is None:
            message = f"operand {type(y).__name__!r} does not support ufuncs (__array_ufunc__=None)"
            raise DTypeError(message).at(("here", here()))
        return ufunc(x, y, out=(x,))
    call(builders, ufunc, (x, y), out=(x,))
    return x


def store(value: Value, out: Any, casting: str, ufunc: np.ufunc, mask: Value | None = None) -> Any:
    """Write a ufunc's result into `out`, with NumPy's casting rule, where a mask holds."""
    if out is None:
        return fresh(value)
    target = as_traced(out)
    to, made = target.type, DTYPES[value.dtype]
    if not np.can_cast(np.dtype(made), target.dtype, cast("Any", casting)):
        which = f"from {value.dtype} to {to.dtype} with casting rule {casting!r}"
        raise DTypeError(
            f"np.{ufunc.__name__}: cannot cast the result {which}",
            hint=f"x = x {_symbol(ufunc)} y makes a new array; or convert one side with .astype(...)",
        ).at(("written here", here()))
    shapes = [value.shape, *(() if mask is None else (mask.shape,)), to.shape]
    if any([shape != to.shape for shape in shapes]) and broadcast_shapes(*shapes) != to.shape:
        raise ShapeError(f"np.{ufunc.__name__}: the result {value.type} does not fit into {to}").at(
            ("written here", here())
        )
    result = with_type(value, to)
    target.replace(result if mask is None else select(broadcast_value(mask, to.shape), result, target.value))
    return out


_COVERAGE: Final = "`python -m pliant coverage` lists what is"
_FROM_PYTHON: Final = " (vectorized)"  # how NumPy names a ufunc of a Python function


def _where_from(ufunc: np.ufunc) -> str:
    """A ufunc's name with that of its library: NumPy's, or else SciPy's."""
    name = ufunc.__name__
    if name.endswith(_FROM_PYTHON):
        return f"np.frompyfunc of {name.removesuffix(_FROM_PYTHON)}"
    return f"np.{name}" if getattr(np, name, None) is ufunc else f"the ufunc {name} (of scipy.special?)"


def _symbol(ufunc: np.ufunc) -> str:
    names = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "matmul": "@", "power": "**"}
    return names.get(ufunc.__name__, "op")


def _mask(where: Any, outs: Sequence[Any], ufunc: np.ufunc) -> Value:
    """The mask of a call whose results have elements elsewhere too."""
    mask = mask_of(where)
    if not outs or any([out is None for out in outs]):
        raise UnsupportedError(
            f"np.{ufunc.__name__}: where= without out= leaves elements undefined", hint="give out=, or use np.where"
        ).at(("here", here()))
    return mask


def reduce(
    reductions: dict[np.ufunc, Callable[..., Any]], ufunc: np.ufunc, x: Any, axis: Any = 0, dtype: Any = None,
    out: Any = None, keepdims: bool = False, where: Any = True, **initial: Any,
) -> Any:  # fmt: skip
    """`ufunc.reduce`, for ufuncs that have a reduction among NumPy's functions."""
    function = reductions.get(ufunc)
    if function is None:
        raise UnsupportedError(f"np.{ufunc.__name__}.reduce is not supported").at(("here", here()))
    options: dict[str, Any] = {"axis": axis, "out": out[0] if isinstance(out, tuple) else out, "keepdims": keepdims}
    options |= {"dtype": dtype} if dtype is not None else {}
    options |= {"where": where} if where is not True else {}
    return function(x, **options, **initial)


def outer(builders: dict[np.ufunc, Builder], ufunc: np.ufunc, a: Any, b: Any, **options: Any) -> Any:
    """`ufunc.outer`: every pair of elements."""
    x, y = (TracedArray(t.storage, t.lenses, is_scalar=t.is_scalar) for t in (as_traced(a), as_traced(b)))  # not weak
    expanded = x[(..., *(None,) * y.ndim)] if y.ndim else x
    return call(builders, ufunc, (expanded, y), **options)


def _tuple(x: Any) -> tuple[Any, ...]:
    return tuple(m.value if is_traced(m) else m for m in as_tuple(x))
