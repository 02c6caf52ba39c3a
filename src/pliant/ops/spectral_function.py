"""Functions of a Hermitian matrix: v·diag(f(w))·vᴴ of its eigenvalues w and vectors v.

Such a product is smooth in the matrix also where eigenvalues are equal, but v is not: what it turns by
there is not determined, and `Eigh` takes it as 0. So the product is found as a whole, wherever it is
written and however (`(v * f(w)) @ v.T`, the gradient of `np.sum(f(np.linalg.eigvalsh(a)))`, …), and is
differentiated as a whole, by divided differences (Daleckii and Krein, 1951).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from typing import final

from pliant.core.build import abstract
from pliant.core.data import frozen
from pliant.core.ir import Const, Node, Tangents, Value, Values, const, nodes
from pliant.core.types import Type
from pliant.errors import ShapeError
from pliant.ops.base import Elementwise, Linear, fit, sum_of
from pliant.ops.compare import equal
from pliant.ops.complex import Conj, conj
from pliant.ops.contract import Dot
from pliant.ops.elementwise import Convert, Mul, convert, mul
from pliant.ops.matrix import Matrices, adjoint, diagonals, on_diagonal, products, scale_columns, swap, symmetric
from pliant.ops.select import select
from pliant.ops.shape import Broadcast, Permute, Reshape
from pliant.ops.spectral import Determined, Eigh, Eigvalsh, differences, gaps, sums
from pliant.ops.update import UpdateSlice
from pliant.rewrite.rule import rewrite
from pliant.transforms.jvp import push

DEPTH = 5  # how many products, orders and scalings a factor may lie behind


class Recombined(Linear, Matrices):
    """A matrix of the vectors of a decomposition of a, and of numbers c = f(w) in place of its own.

    The third operand is f'(w), which only the derivative reads. Linear in c.
    """

    linear = (1,)

    @abstractmethod
    def turned(self, a: Value, c: Value, slope: Value, da: Value) -> Value:
        """What da changes but for c, whose tangent holds the diagonal of da between the vectors."""

    def jvp(self, xs: Values, dxs: Tangents) -> tuple[Values, Tangents]:
        (a, c, slope), (da, dc, dslope) = xs, dxs
        terms = list[Value]()
        if dc is not None:
            terms.append(self(a, dc, fit(const(0, c.dtype), c.type) if dslope is None else dslope))
        if da is not None:
            terms.append(self.turned(a, c, slope, da))
        return (self(*xs),), (sum_of(terms) if terms else None,)


@final
class FromSpectrum(Recombined):
    """v·diag(c)·vᴴ, with v the eigenvectors of a Hermitian a: `t[…, n, n], t[…, n], t[…, n] → t[…, n, n]`.

    c = f(w) of the eigenvalues w.
    """

    def infer(self, a: Type, c: Type, slope: Type) -> Type:
        lead, n, _ = self.matrices(a, square=True)
        if c != slope or c != Type(a.dtype, (*lead, n)):
            raise ShapeError(f"{self.name}: {c} and {slope} are not of one number for each eigenvalue of {a}")
        return a

    def expand(self, a: Value, c: Value, slope: Value) -> Value:
        v = Eigh().apply(a)[1]
        return products(scale_columns(v, c), adjoint(v))

    def turned(self, a: Value, c: Value, slope: Value, da: Value) -> Value:
        # off the diagonal vᴴ·da·v is multiplied by (c_j - c_i)/(w_j - w_i)
        w, v = Eigh().apply(a)
        v = Determined()(v, w)
        rate = products(adjoint(v), symmetric(da), v)
        return products(v, select(on_diagonal(rate.shape), 0, divided(c, slope, w) * rate), adjoint(v))

    def transpose(self, ct: Value, a: Value | Type, c: Value | Type, slope: Value | Type) -> Tangents:
        assert isinstance(a, Value)
        v = Eigh().apply(a)[1]
        return None, diagonals(products(adjoint(v), ct, v)), None


def divided(c: Value, slope: Value, w: Value) -> Value:
    """(c_j - c_i)/(w_j - w_i) at (i, j) of c = f(w), and f'(w) where these are equal: `t[…, n] → t[…, n, n]`."""
    apart = convert(gaps(w), c.dtype)
    is_tie = equal(apart, 0)
    return select(is_tie, 0.5 * sums(slope), differences(c) / select(is_tie, 1, apart))


@final
@frozen
class Factor:
    """One matrix of a product: an array, perhaps transposed or conjugated, or the diagonal of a diagonal matrix."""

    value: Value
    is_diagonal: bool = False
    is_transposed: bool = False
    is_conjugated: bool = False


def factors(x: Value, depth: int = DEPTH) -> list[Factor]:
    """The factors of a matrix that is written as a product, from the left."""
    if not depth or x.type.rank < 2:
        return [Factor(x)]
    *lead, rows, columns = range(x.type.rank)
    stacked = tuple(lead)
    match x.op:
        case Permute(order) if order == (*lead, columns, rows):
            return _transposed(factors(x.args[0], depth - 1))
        case Conj():
            return [replace(f, is_conjugated=not f.is_conjugated) for f in factors(x.args[0], depth - 1)]
        case Dot(((i,), (j,)), batch) if batch == (stacked, stacked) and x.args[0].type.rank == x.type.rank:
            left, right = (factors(a, depth - 1) for a in x.args)
            return (left if i == columns else _transposed(left)) + (right if j == rows else _transposed(right))
        case Mul():
            return _scaled(x, depth)
        case Reshape() | Convert() if (diagonal := _diagonal_of(x)) is not None:
            return [Factor(diagonal, is_diagonal=True)]
        case _:
            return [Factor(x)]


def _transposed(product: Sequence[Factor]) -> list[Factor]:
    return [replace(f, is_transposed=not f.is_transposed) for f in reversed(product)]


def _scaled(x: Value, depth: int) -> list[Factor]:
    """The factors of a matrix with its rows or columns multiplied by numbers."""
    rank = x.type.rank
    for matrix, scale in (x.args, x.args[::-1]):
        repeated = scale.args[0] if isinstance(scale.op, Convert) else scale
        if not isinstance(repeated.op, Broadcast) or matrix.type.rank != rank:
            continue
        numbers, axes = repeated.args[0], repeated.op.axes
        if axes in ((*range(rank - 1),), (*range(rank - 2), rank - 1)):
            diagonal = [Factor(convert(numbers, x.dtype), is_diagonal=True)]
            inner = factors(matrix, depth - 1)
            return inner + diagonal if axes[-1] == rank - 1 else diagonal + inner
    return [Factor(x)]


def _diagonal_of(x: Value) -> Value | None:
    """What is on the diagonal of a matrix made by writing it into zeros."""
    (inner,), shape = x.args, x.shape
    if isinstance(x.op, Convert):
        found = _diagonal_of(inner) if isinstance(inner.op, Reshape) else None
        return None if found is None else convert(found, x.dtype)
    *lead, n = shape[:-1]
    if shape[-1] != n or inner.op != UpdateSlice((0,) * len(shape[1:]), (*(1 for _ in lead), n + 1)):
        return None
    zeros, diagonal = inner.args
    is_zero = isinstance(zeros.op, Broadcast) and isinstance(zeros.args[0].op, Const) and zeros.args[0].op.value == 0
    return diagonal if is_zero and diagonal.shape == shape[:-1] else None


def product_of_numbers(middle: Sequence[Factor]) -> Value | None:
    """The diagonal of a product of diagonal matrices; None if there are others among them, or none at all."""
    if not middle or not all([f.is_diagonal for f in middle]):
        return None
    numbers = [conj(f.value) if f.is_conjugated else f.value for f in middle]
    return reduce(mul, numbers)


def slope_of(c: Value, numbers: Sequence[Value]) -> Value | None:
    """f'(w) of c = f(w), each number made from one of w alone and from numbers common to all; None if it is not.

    numbers: the values that are w.
    """
    common = [x for node in nodes((c,), stop=numbers) if (x := _common(node, c)) is not None]
    between = nodes((c,), stop=(*numbers, *common))
    if not all([isinstance(n.op, Elementwise | Broadcast | Reshape) and _is_row(n.values[0], c) for n in between]):
        return None
    over = tuple(dict.fromkeys((*numbers, *common)))
    ones: Tangents = (*(fit(const(1, w.dtype), w.type) for w in numbers), *(None for _ in over[len(numbers) :]))
    slope = push(abstract((c,), over), over, ones)[1][0]
    return fit(const(0, c.dtype), c.type) if slope is None else slope


def _is_row(x: Value, c: Value) -> bool:
    """Whether x holds as many numbers as c, along the same axes."""
    return tuple(n for n in x.shape if n != 1) == tuple(n for n in c.shape if n != 1)


def _common(node: Node, c: Value) -> Value | None:
    """What a node makes, or repeats, if that is one number for all of a matrix."""
    if not node.values[0].shape:
        return node.values[0]
    axes = node.op.axes if isinstance(node.op, Broadcast) else None
    return node.args[0] if axes is not None and len(axes) < c.type.rank and axes == tuple(range(len(axes))) else None


def upright(product: Sequence[Factor]) -> tuple[list[Factor], Callable[[Value], Value]]:
    """A product turned such that its first factor is not, and what turns the result back."""
    is_transposed, is_conjugated = product[0].is_transposed, False
    turned = _transposed(product) if is_transposed else list(product)
    if turned[0].is_conjugated:
        is_conjugated = True
        turned = [replace(f, is_conjugated=not f.is_conjugated) for f in turned]

    def back(x: Value) -> Value:
        x = conj(x) if is_conjugated else x
        return swap(x) if is_transposed else x

    return turned, back


@rewrite(Dot)
def function_of_hermitian(value: Value) -> Value | None:
    """v·diag(f(w))·vᴴ → from_spectrum(a, f(w), f'(w)), of the eigenvalues w and vectors v of a."""
    product = factors(value)
    if len(product) < 3:
        return None
    (first, *middle, last), back = upright(product)
    vectors, c = first.value, product_of_numbers(middle)
    if c is None or not isinstance(vectors.op, Eigh) or vectors.index != 1 or first != Factor(vectors):
        return None
    if last != Factor(vectors, is_transposed=True, is_conjugated=value.type.kind == "c"):
        return None
    (a,) = vectors.args
    slope = slope_of(c, [n.values[0] for n in nodes((c,)) if n.args == (a,) and isinstance(n.op, Eigh | Eigvalsh)])
    return None if slope is None else back(FromSpectrum()(a, c, slope))


RULES = (function_of_hermitian,)
