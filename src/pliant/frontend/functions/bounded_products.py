"""Products of arrays whose extents are known only at run time: beyond them stand zeros."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from pliant.core.origin import here
from pliant.errors import ShapeError
from pliant.frontend.blocks import Extent
from pliant.frontend.bounded import (
    Bounded,
    bounded,
    common_extents,
    elementwise,
    extents_of,
    filled,
    operand,
    refused,
    whole_of,
)
from pliant.frontend.functions.bounded_folds import any_, stored, sum_
from pliant.frontend.functions.common import solid, unsupported, xp
from pliant.frontend.sizes import size_of
from pliant.ops import einsum as products


def dot(a: Any, b: Any, out: Any = None) -> Any:
    """np.dot, of a second operand of up to two axes."""
    a, b = [x if isinstance(x, Bounded) else solid(x) for x in (a, b)]
    if b.ndim > 2:
        raise refused("np.dot with more axes of the second operand", a, b)
    if not a.ndim or not b.ndim:
        return stored(elementwise(np.multiply, (a, b), {}), out)
    return matmul(a, b, out)


def matmul(a: Any, b: Any, out: Any = None) -> Any:
    """np.matmul. Products with a vector are sums of the elements there are."""
    a, b = map(operand, (a, b))
    first, second = a.ndim, b.ndim
    if not first or not second:
        raise ShapeError("matmul: operands need at least one axis").at(("here", here()))
    if second == 1:
        return stored(_added(elementwise(np.multiply, (a, b), {}), -1), out)
    if first == 1:
        return stored(_added(elementwise(np.multiply, (a[:, None], b), {}), -2), out)
    common_extents("matmul", (_axis(a, -1), _axis(b, -2)))
    lead = common_extents("matmul", (_lead(a), _lead(b)))
    extents = (*lead, extents_of(a)[-2], extents_of(b)[-1])
    return stored(_masked_product(xp.matmul, (a, b), extents), out)


def _added(x: Any, axis: int) -> Any:
    """The sum along an axis, of the dtype of the elements."""
    return any_(x, axis) if x.dtype == bool else sum_(x, axis, x.dtype)


def _axis(x: Any, axis: int) -> Any:
    """Something with the extent of one axis."""
    whole = whole_of(x)
    return bounded(xp.zeros((whole.shape[axis],)), (extents_of(x)[axis],))


def _lead(x: Any) -> Any:
    """Something with the extents of all but the last two axes."""
    return bounded(xp.zeros(whole_of(x).shape[:-2]), extents_of(x)[:-2])


def _masked_product(function: Callable[..., Any], xs: Sequence[Any], extents: Sequence[Extent]) -> Any:
    """A product of arrays with zeros beyond their extents, and so the result."""
    made = bounded(function(*(filled(x, 0) for x in xs)), extents)
    return Bounded(filled(made, 0), extents) if isinstance(made, Bounded) else made


def vdot(a: Any, b: Any) -> Any:
    """np.vdot: of all elements one after the other."""
    return dot(xp.conj(xp.ravel(operand(a))), xp.ravel(operand(b)))


def inner(a: Any, b: Any) -> Any:
    """np.inner of vectors, and of matrices with one."""
    if len(extents_of(b)) > 1:
        raise unsupported("np.inner: a second matrix whose extents are known only at run time", "write a @ b.T")
    return dot(a, b)


def outer(a: Any, b: Any, out: Any = None) -> Any:
    """np.outer of vectors."""
    a, b = map(operand, (a, b))
    if a.ndim != 1 or b.ndim != 1:
        raise unsupported("np.outer of other arrays than vectors, some extents known only at run time")
    return stored(elementwise(np.multiply, (a[:, None], b[None, :]), {}), out)


def einsum(subscripts: Any, *operands: Any, out: Any = None, optimize: Any = False) -> Any:
    """np.einsum with a string."""
    if not isinstance(subscripts, str):
        raise unsupported("np.einsum of lists of axes, some extents known only at run time", "write a string")
    labels, result = products.parse_subscripts(subscripts, tuple(len(extents_of(x)) for x in operands))[:2]
    found: dict[Any, Extent] = {}
    for names, x in zip(labels, operands, strict=True):
        for label, n in zip(names, extents_of(x), strict=True):
            if size_of(found.setdefault(label, n)) != size_of(n):
                message = f"np.einsum: axes {label!r} of {found[label]} and {n} elements are not known to fit together"
                raise ShapeError(message).at(("here", here()))
    made = _masked_product(lambda *xs: xp.einsum(subscripts, *xs), operands, [found[label] for label in result])
    return stored(made, out)


FUNCTIONS: Final[dict[Any, Callable[..., Any]]] = {
    np.dot: dot, np.vdot: vdot, np.inner: inner, np.outer: outer, np.einsum: einsum,
}  # fmt: skip
METHODS: Final[dict[str, Callable[..., Any]]] = {"dot": dot}
UFUNCS: Final[dict[np.ufunc, Callable[..., Any]]] = {np.matmul: matmul}
