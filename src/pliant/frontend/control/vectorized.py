"""Calls of `np.vectorize` objects: a loop over the elements, as NumPy's is.

clip = np.vectorize(lambda a, b: a if a < b else b)       out = [f(a, b) for a, b in zip(x.flat, y.flat)]
clip(x, y)                                                np.array(out).reshape(shape)

Without `otypes` NumPy takes the dtype of what the function makes of the first elements, NumPy's scalars; here it is
one that holds all results.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from pliant.core.origin import here
from pliant.errors import ShapeError
from pliant.frontend.array import TracedArray, fresh
from pliant.frontend.control.comprehension import every_one
from pliant.frontend.control.items import Mapped, Steps
from pliant.frontend.convert import as_traced, broadcast_shapes, broadcast_value, from_sequence
from pliant.frontend.cores import cores_of
from pliant.ops.shape import reshape


def vectorized(vector: Any, function: Callable[..., Any], /, *args: Any, **options: Any) -> Any:
    """`vector(*args, **options)`, by the function that it was made of."""
    given: dict[Any, Any] = {**dict(enumerate(args)), **options}
    mapped: dict[Any, TracedArray] = {k: as_traced(x) for k, x in given.items() if k not in vector.excluded}
    if vector.signature is None:
        shape, rows = _elements([*mapped.values()])
    else:
        shape, rows = _parts([*mapped.values()], vector.signature)

    def call(parts: Sequence[Any]) -> Any:
        all_given = {**given, **dict(zip(mapped, parts, strict=True))}
        return function(*[all_given[n] for n in range(len(args))], **{k: all_given[k] for k in options})

    count = math.prod(shape)
    if not count:
        raise ShapeError("np.vectorize: there are no elements to call the function with").at(("here", here()))
    made = every_one(Mapped(Steps(count, lambda k: [row(k) for row in rows]), call))
    dtypes: Sequence[Any] = vector.otypes or ()
    if not isinstance(made[0], tuple):
        return _array(made, shape, dtypes[0] if dtypes else None)
    columns = list(zip(*made, strict=True))
    return tuple([_array(c, shape, dtypes[n] if dtypes else None) for n, c in enumerate(columns)])


def _elements(xs: Sequence[TracedArray]) -> tuple[tuple[int, ...], list[Callable[[Any], Any]]]:
    """The shape that arrays broadcast to, and how to read the elements of each."""
    shape = broadcast_shapes(*[x.shape for x in xs])
    return shape, [_row(x, shape) for x in xs]


def _row(x: TracedArray, shape: tuple[int, ...]) -> Callable[[Any], Any]:
    row = fresh(reshape(broadcast_value(x.value, shape), (math.prod(shape),)), is_array=True)
    return lambda k: row[k]


def _parts(xs: Sequence[TracedArray], signature: str) -> tuple[tuple[int, ...], list[Callable[[Any], Any]]]:
    """The shape that leading axes broadcast to, and how to read the parts that a signature names."""
    ranks = [x.ndim - len(core) for x, core in zip(xs, cores_of(signature.partition("->")[0]), strict=True)]
    if min(ranks) < 0:
        raise ShapeError(f"np.vectorize: an argument has fewer axes than {signature!r} says").at(("here", here()))
    shape = broadcast_shapes(*[x.shape[:rank] for x, rank in zip(xs, ranks, strict=True)])
    return shape, [_part(x, shape, rank) for x, rank in zip(xs, ranks, strict=True)]


def _part(x: TracedArray, shape: tuple[int, ...], rank: int) -> Callable[[Any], Any]:
    core = x.shape[rank:]
    value = reshape(x.value, (*(1,) * (len(shape) - rank), *x.shape))
    stack = fresh(reshape(broadcast_value(value, (*shape, *core)), (math.prod(shape), *core)), is_array=True)
    return lambda k: stack[k]


def _array(made: Sequence[Any], shape: tuple[int, ...], dtype: Any) -> Any:
    """Results as one array."""
    array: Any = from_sequence([*made])
    array = array if dtype is None else array.astype(dtype)
    return array.reshape((*shape, *array.shape[1:]))
