"""Products of arrays: dot, einsum, tensordot, kron, cross, convolve and their like."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, cast

import numpy as np

from pliant.core.ir import Value
from pliant.core.origin import here
from pliant.errors import DTypeError, MatrixError, PliantError, ShapeError
from pliant.frontend.array import TracedArray, fresh, view
from pliant.frontend.convert import as_traced, axis_of, broadcast_shapes, broadcast_value, result_dtype, value_of
from pliant.frontend.functions.common import known, one_of, only, solid, store_out
from pliant.frontend.order import UNSURE
from pliant.frontend.strides import later_order, product_order
from pliant.frontend.view import DiagonalLens, PermuteLens
from pliant.ops import convolve as convolution
from pliant.ops import einsum as products
from pliant.ops.complex import conj
from pliant.ops.elementwise import add, mul, sub
from pliant.ops.shape import concatenate, permute, reshape, slice_axis


def promoted(*xs: Any) -> tuple[Value, ...]:
    """Values of one dtype."""
    arrays = [solid(x) for x in xs]
    dtype = result_dtype(*arrays)
    return tuple(value_of(x, dtype) for x in arrays)


def _checked(build: Callable[..., Any], *xs: Any, **options: Any) -> Any:
    """What `build` makes, its errors at the user's line."""
    try:
        return build(*xs, **options)
    except PliantError as error:
        raise error.at(("here", here())) from None


def dot(a: Any, b: Any, out: Any = None) -> Any:
    """np.dot."""
    return store_out(_checked(products.dot, *promoted(a, b)), out, "np.dot", casting="no")


def vdot(a: Any, b: Any, /) -> Any:
    """np.vdot."""
    return fresh(_checked(products.vdot, *promoted(a, b)))


def inner(a: Any, b: Any, /) -> Any:
    """np.inner."""
    return fresh(_checked(products.inner, *promoted(a, b)))


def outer(a: Any, b: Any, out: Any = None) -> Any:
    """np.outer."""
    return store_out(products.outer(*promoted(a, b)), out, "np.outer")


def outer_of_vectors(x1: Any, x2: Any, /) -> Any:
    """np.linalg.outer: of vectors only."""
    x, y = promoted(x1, x2)
    if x.type.rank != 1 or y.type.rank != 1:
        raise ShapeError(f"np.linalg.outer: expected two vectors, got {x.type} and {y.type}").at(("here", here()))
    return fresh(products.outer(x, y))


def kron(a: Any, b: Any) -> Any:
    """np.kron."""
    return fresh(products.kron(*promoted(a, b)))


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """np.tensordot."""
    x, y = promoted(a, b)
    axes = known(axes, "axes= of np.tensordot")
    if np.ndim(axes) == 0:
        n = int(axes)
        pairs = (tuple(range(x.type.rank - n, x.type.rank)), tuple(range(n)))
    else:
        first, second = (np.atleast_1d(v).tolist() for v in axes)
        pairs = tuple(axis_of(i, x.type.rank) for i in first), tuple(axis_of(i, y.type.rank) for i in second)
    return fresh(_checked(products.tensordot, x, y, pairs), is_array=True)


def einsum(*operands: Any, out: Any = None, optimize: Any = False, **options: Any) -> Any:
    """np.einsum, in both of its forms. The order of contraction is always chosen; `optimize` is not needed."""
    dtype, casting = options.pop("dtype", None), options.pop("casting", "safe")
    only("einsum", **{k: v for k, v in options.items() if (k, v) != ("order", "K")})
    if isinstance(operands[0], str):
        subscripts, arrays = operands[0], operands[1:]
    else:
        subscripts, arrays = _from_lists(operands)
    xs = [solid(x) for x in arrays]
    if len(arrays) == 1 and out is None:
        shown = _shown(subscripts, as_traced(arrays[0]))
        if shown is not None:
            return shown
    if dtype is not None:
        xs = [_cast(x, np.dtype(dtype), casting) for x in xs]
    y = _checked(products.einsum, subscripts, *promoted(*xs))
    if out is not None or y.type.rank < 2:
        return store_out(y, out, "np.einsum", casting=casting)
    made = fresh(y)
    labels, output = products.parse_subscripts(subscripts, [x.ndim for x in xs])
    made.storage.strides = product_order(labels, output, xs, y.shape)
    return later_order(made, np.einsum, (subscripts, *xs)) if made.storage.strides is UNSURE else made


def _cast(x: TracedArray, dtype: np.dtype[Any], casting: str) -> TracedArray:
    """An operand as `dtype=` wants it; DTypeError if `casting=` forbids that."""
    if not np.can_cast(x.dtype, dtype, cast("Any", casting)):
        message = f"np.einsum: cannot cast {x.type} to {dtype} according to the rule {casting!r}"
        raise DTypeError(message, hint="casting='unsafe' casts to any dtype").at(("here", here()))
    return x if x.dtype == dtype else x.astype(dtype)


def _shown(subscripts: str, x: TracedArray) -> TracedArray | None:
    """A view with the axes in another order, or of diagonals, that can be written; None where einsum sums."""
    if x.is_scalar or x.is_weak:
        return None
    parsed: Any = _checked(products.parse_subscripts, subscripts, (x.ndim,))
    labels: tuple[str, ...] = parsed[0][0]
    output: tuple[str, ...] = parsed[1]
    groups = [[i for i, a in enumerate(labels) if a == label] for label in output]
    if set(labels) != set(output) or any(x.shape[i] != x.shape[g[0]] for g in groups for i in g):
        return None
    turned = view(x, PermuteLens(tuple(i for g in groups for i in g)))
    return turned if len(labels) == len(output) else view(turned, DiagonalLens(tuple(map(len, groups))))


def _from_lists(operands: Sequence[Any]) -> tuple[str, Sequence[Any]]:
    """The string form of `einsum(x, [0, 1], y, [1, 2], [0, 2])`."""

    def letters(labels: Any) -> str:
        return "".join("..." if n is Ellipsis else products.LETTERS[int(n)] for n in labels)

    count = len(operands) // 2
    terms = ",".join(letters(operands[2 * i + 1]) for i in range(count))
    result = "->" + letters(operands[-1]) if len(operands) % 2 else ""
    return terms + result, [operands[2 * i] for i in range(count)]


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    """np.cross; also of vectors in the plane, as NumPy."""
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = (_axis_last(v, k) for v, k in zip(promoted(a, b), (axisa, axisb), strict=True))
    m, n = x.shape[-1], y.shape[-1]
    if m not in (2, 3) or n not in (2, 3):
        raise ShapeError(f"np.cross: expected vectors of 2 or 3 elements, got {x.type} and {y.type}").at(
            ("here", here())
        )
    lead = broadcast_shapes(x.shape[:-1], y.shape[:-1])
    x, y = broadcast_value(x, (*lead, m)), broadcast_value(y, (*lead, n))
    if m == n == 2:
        x0, x1, y0, y1 = (reshape(slice_axis(v, len(lead), i, 1), lead) for v in (x, y) for i in (0, 1))
        return fresh(sub(mul(x0, y1), mul(x1, y0)), is_array=True)
    z = products.cross(_in_space(x), _in_space(y))
    axis_to = axis_of(axisc, z.type.rank, "axisc")
    order = [*range(len(lead))]
    order.insert(axis_to, len(lead))
    return fresh(permute(z, order))


def _axis_last(x: Value, axis: int) -> Value:
    at = axis_of(axis, x.type.rank)
    return permute(x, (*(a for a in range(x.type.rank) if a != at), at))


def _in_space(x: Value) -> Value:
    """Vectors in the plane with a third coordinate 0."""
    if x.shape[-1] == 3:
        return x
    zero = value_of(np.zeros((), bool)[()], x.dtype)
    return concatenate((x, broadcast_value(zero, (*x.shape[:-1], 1))), x.type.rank - 1)


def cross_last(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """np.linalg.cross."""
    return cross(x1, x2, axis=axis)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """np.linalg.vecdot."""
    x, y = (_axis_last(v, axis) for v in promoted(x1, x2))
    return fresh(_checked(products.einsum, "...i,...i->...", conj(x), y))


def matmul(x1: Any, x2: Any, /) -> Any:
    """np.linalg.matmul."""
    return np.matmul(x1, x2)


def _tensordot_of(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """np.linalg.tensordot."""
    return tensordot(x1, x2, axes)


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """np.convolve."""
    return _sequences(convolution.convolve, a, v, mode, "np.convolve")


def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """np.correlate."""
    return _sequences(convolution.correlate, a, v, mode, "np.correlate")


def _sequences(build: Callable[..., Value], a: Any, v: Any, mode: Any, name: str) -> TracedArray:
    x, y = (reshape(p, (1,)) if not p.shape else p for p in promoted(a, v))
    one_of(("full", "same", "valid"), mode, f"{name}: mode")
    if x.type.rank != 1 or y.type.rank != 1:
        raise ShapeError(f"{name}: expected two sequences, got {x.type} and {y.type}").at(("here", here()))
    return fresh(_checked(build, x, y, mode=mode))


def polyval(p: Any, x: Any) -> Any:
    """np.polyval, by Horner's rule; p is a sequence of coefficients, or of arrays of them, x numbers."""
    coefficients, at = promoted(p, x)
    if not coefficients.shape:
        raise DTypeError(f"np.polyval: expected a sequence of coefficients, got {coefficients.type}").at(
            ("here", here())
        )
    row = coefficients.shape[1:]
    if coefficients.shape[0]:
        at = broadcast_value(at, broadcast_shapes(at.shape, row))
    y = broadcast_value(value_of(0, at.dtype), at.shape)
    for i in range(coefficients.shape[0]):
        c = reshape(slice_axis(coefficients, 0, i, 1), row)
        y = add(mul(y, at), broadcast_value(c, at.shape) if row else c)
    return fresh(y)


def multi_dot(arrays: Sequence[Any], *, out: Any = None) -> Any:
    """np.linalg.multi_dot: the cheapest order by dynamic programming."""
    if len(arrays) < 2:
        raise ShapeError(f"np.linalg.multi_dot: expected at least two arrays, got {len(arrays)}").at(("here", here()))
    if len(arrays) == 2:
        return dot(arrays[0], arrays[1], out)
    xs = promoted(*arrays)
    for n, x in enumerate(xs):
        if x.type.rank != 2 and (x.type.rank != 1 or 0 < n < len(xs) - 1):
            which = "no matrix" if 0 < n < len(xs) - 1 else "neither a matrix nor a vector"
            raise MatrixError(f"np.linalg.multi_dot: {x.type}, its operand {n}, is {which}").at(("here", here()))
    xs = (reshape(xs[0], (1, *xs[0].shape)) if xs[0].type.rank == 1 else xs[0], *xs[1:])
    xs = (*xs[:-1], reshape(xs[-1], (*xs[-1].shape, 1)) if xs[-1].type.rank == 1 else xs[-1])
    y = _checked(_chain, xs)
    first, last = (as_traced(arrays[i]).type.rank for i in (0, -1))
    shape = (*(y.shape[:1] if first == 2 else ()), *(y.shape[1:] if last == 2 else ()))
    return store_out(reshape(y, shape), out, "np.linalg.multi_dot")


def _chain(xs: Sequence[Value]) -> Value:
    """The product of matrices in the order that needs the fewest multiplications."""
    n = len(xs)
    extents = [xs[0].shape[0], *(x.shape[1] for x in xs)]
    cost = {(i, i): (0, i) for i in range(n)}
    for width in range(1, n):
        for i in range(n - width):
            j = i + width
            cost[i, j] = min(
                (cost[i, k][0] + cost[k + 1, j][0] + extents[i] * extents[k + 1] * extents[j + 1], k)
                for k in range(i, j)
            )

    def product(i: int, j: int) -> Value:
        if i == j:
            return xs[i]
        k = cost[i, j][1]
        return products.matmul(product(i, k), product(k + 1, j))

    return product(0, n - 1)


FUNCTIONS: Final[dict[Any, Any]] = {
    np.dot: dot,
    np.vdot: vdot,
    np.inner: inner,
    np.outer: outer,
    np.linalg.outer: outer_of_vectors,
    np.kron: kron,
    np.tensordot: tensordot,
    np.linalg.tensordot: _tensordot_of,
    np.einsum: einsum,
    np.cross: cross,
    np.linalg.cross: cross_last,
    np.convolve: convolve,
    np.correlate: correlate,
    np.polyval: polyval,
    np.linalg.multi_dot: multi_dot,
    np.linalg.matmul: matmul,
    np.linalg.vecdot: vecdot,
}
